"""For tests of every layer type: a prototxt line of each, and the shapes of its bottoms in letters.

n images, c channels, k regions (or points, boxes, masks), h rows, w columns. A bottom is letters and numbers with
spaces between its axes, bottoms are separated by commas; a leading 0 and a colon fill one with zeros, such as labels,
in place of ones.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

SIZES = {"n": 2, "c": 8, "k": 3, "h": 6, "w": 7}  # where nothing is lacking
BINS = "pooled_h: 2 pooled_w: 2 spatial_scale: 0.5"
NONE: dict[str, str] = {}
ANCHORS = 'python_param { param_str: "{scales: [1], ratios: [1]}" }'


class Case(NamedTuple):
    """A layer: its text after `type`, its bottoms, how many tops, its phase, which bottoms have a gradient."""

    type: str
    text: str = ""
    bottoms: str = "n c h w"
    tops: int = 1
    phase: str = "TEST"
    down: tuple[int, ...] | None = (0,)  # None: no layer of this type goes backward
    listed: str | None = None  # its tops are as long as what is chosen: without which of the sizes nothing is
    refused: dict[str, str] = NONE  # what an error says without a size, by letters

    @property
    def letters(self) -> str:
        """The sizes that its bottoms have."""
        return "".join(x for x in SIZES if re.search(rf"\b{x}\b", self.bottoms))

    def arrays(self, **sizes: int) -> list[np.ndarray]:
        """Its bottoms in these sizes, others as in SIZES."""
        at = {**SIZES, **sizes}
        made = []
        for bottom in self.bottoms.split(","):
            zeros, _, axes = bottom.rpartition(":")
            shape = [eval(axis, {"__builtins__": {}}, at) for axis in axes.split()]
            made.append(np.zeros(shape) if zeros.strip() else np.ones(shape))
        return made


def plain(*types: str) -> list[Case]:
    return [Case(type) for type in types]


EMPTY, FIT = "without elements", "does not fit"
NO_MEAN, NO_CHANNELS = "has no value", "have no channels"
CONVOLUTION = (
    'convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" } bias_term: true }'
)
OFFSETS = """deformable_convolution_param {
    num_output: 4 kernel_size: 3 pad: 1 deformable_group: 1 weight_filler { type: "gaussian" } }"""
SSD = "num_classes: 2 nms_param { nms_threshold: 0.5 }"
LOSSES = "n c, n c"
LABELS = "n c h w, 0: n 1 h w"
RECURRENT = 'recurrent_param { num_output: 4 weight_filler { type: "uniform" } }'
BOXES = 'python_param { param_str: "num_classes: 3" }'

CASES: list[Case] = [
    # regions
    Case("Carafe", "python_param { param_str: \"{'kernel_size': 3}\" }", "n c h w, n 9 2*h 2*w", down=(0, 1)),
    Case("CornerPool", "python_param { param_str: \"{'mode': 'left'}\" }"),
    Case("CropAndResize", "python_param { param_str: \"{'crop_size': [2, 3]}\" }", "n c h w, k 4, 0: k", down=(0, 1)),
    Case("DeformROIPooling", f"deform_roi_pooling_param {{ {BINS} }}", "n c h w, k 5, k 2 2 2", down=(0, 2)),
    Case("DeformROIPooling", f"deform_roi_pooling_param {{ {BINS} sampling_ratio: 2 }}", "n c h w, k 5"),
    Case("DeformablePSROIPooling", "deformable_psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 "
         "pooled_size: 2 trans_std: 0.1 sample_per_part: 2 }", "n 8 h w, k 5, k 2 2 2", down=(0, 2)),
    Case("LocalCorrelation", "", "n c h w, n c h w", down=(0, 1)),
    Case("MaskPooling", "", "k c h w, k 1 h w", down=(0, 1)),
    Case("MaskResize", "mask_resize_param { output_height: 2 output_width: 3 }", "k c h w"),
    Case("ModulatedDeformROIPooling", f"deform_roi_pooling_param {{ {BINS} }}", "n c h w, k 5, k 2 2 2, k 1 2 2",
         down=(0, 2, 3)),
    Case("MultiScaleDeformableAttention", "", "n 42 2 c, 0: 1 2, 0: 1, n k 2 1 4 2, n k 2 1 4", down=(0, 3, 4)),
    Case("MultiScaleROIAlign", "roi_align_param { pooled_h: 2 pooled_w: 2 } "
         "python_param { param_str: \"{'spatial_scales': [0.5, 0.25]}\" }", "n c h w, n c 3 4, k 5", down=(0, 1)),
    Case("PointSample", "", "n c h w, n k 2", down=(0, 1)),
    Case("PrROIPooling", f"prroi_pooling_param {{ {BINS} }}", "n c h w, k 5", down=(0, 1)),
    Case("PSROIAlign", "psroi_align_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 sampling_ratio: 2 }",
         "n 8 h w, k 5"),
    Case("PSROIPooling", "psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 }", "n 8 h w, k 5"),
    Case("RiROIAlignRotated", f"riroi_align_rotated_param {{ {BINS} num_orientations: 4 }}", "n c h w, k 6",
         down=(0, 1)),
    Case("ROIAlign", f"roi_align_param {{ {BINS} sampling_ratio: 2 }}", "n c h w, k 5", down=(0, 1)),
    Case("ROIAlign", f"roi_align_param {{ {BINS} pool_mode: MAX }}", "n c h w, k 5"),
    Case("ROIAlignRotated", f"roi_align_rotated_param {{ {BINS} sampling_ratio: 2 }}", "n c h w, k 6", down=(0, 1)),
    Case("ROIPooling", f"roi_pooling_param {{ {BINS} }}", "n c h w, k 5"),
    Case("RegionPooling", f"region_pooling_param {{ {BINS} offset: 0 }}", "n c h w, k 9"),
    Case("SpatialTransformer", "st_param { output_H: 2 output_W: 3 }", "n c h w, n 6", down=(0, 1)),
    Case("ROIWarping", f"roi_warping_param {{ {BINS} }}", "n c h w, k 5", down=(0, 1)),
    Case("RotateROIPooling", f"rotate_pooling_param {{ {BINS} }}", "n c h w, k 6, 1 3"),
    # dense
    Case("Convolution", CONVOLUTION, refused={"c": EMPTY, "hw": FIT}),
    Case("ConvolutionRistretto",
         CONVOLUTION + " quantization_param { bw_params: 5 fl_params: 3 bw_layer_in: 6 fl_layer_in: 3 "
         "bw_layer_out: 8 fl_layer_out: 2 }", refused={"c": EMPTY, "hw": FIT}),
    Case("ConvolutionFixed", CONVOLUTION + " fixed_param {}", refused={"c": EMPTY, "hw": FIT}),
    Case("DeconvolutionFixed", CONVOLUTION + " fixed_param {}", refused={"c": EMPTY, "hw": "too large"}),
    Case("InnerProductFixed", 'inner_product_param { num_output: 4 weight_filler { type: "gaussian" } } fixed_param {}',
         refused={"chw": "hold no elements"}),
    Case("Deconvolution", CONVOLUTION, refused={"c": EMPTY, "hw": "too large"}),
    Case("DepthwiseConvolution",
         'convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" } }',
         refused={"c": "group must be at least 1", "hw": FIT}),
    Case("DeformableConvolution", OFFSETS, "n c h w, n 18 h w", down=(0, 1), refused={"c": EMPTY, "hw": FIT}),
    Case("ModulatedDeformableConvolution", OFFSETS, "n c h w, n 18 h w, n 9 h w", down=(0, 1, 2),
         refused={"c": EMPTY, "hw": FIT}),
    Case("Local", 'local_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" } }',
         refused={"c": EMPTY, "hw": FIT}),
    Case("Embed", 'embed_param { num_output: 4 input_dim: 6 weight_filler { type: "gaussian" } }', "0: n c", down=()),
    Case("Im2col", "convolution_param { kernel_size: 3 pad: 1 }", refused={"hw": FIT}),
    Case("InnerProduct", 'inner_product_param { num_output: 4 weight_filler { type: "gaussian" } }',
         refused={"chw": "hold no elements"}),
    Case("FcRistretto", 'inner_product_param { num_output: 4 weight_filler { type: "gaussian" } } quantization_param { '
         "bw_params: 5 fl_params: 3 bw_layer_in: 6 fl_layer_in: 3 bw_layer_out: 8 fl_layer_out: 2 }",
         refused={"chw": "hold no elements"}),
    Case("Similarity", "", "n c, k c", down=(0, 1), refused={"kc": "rows of"}),
    Case("ConvLSTM", "lstm_conv_param { num_output: 2 kernel_size: 3 pad: 1 }", "k n c h w, 0: k n",
         refused={"c": EMPTY, "hw": FIT}),
    Case("LSTM", RECURRENT, "n k c, n k", refused={"c": EMPTY}),
    Case("Lstm", 'lstm_param { num_output: 4 weight_filler { type: "uniform" } }', "n k c", refused={"c": EMPTY}),
    Case("LSTMUnit", "", "1 n c, 1 n 4*c, 1 n", tops=2, down=(0, 1)),
    Case("RNN", RECURRENT, "n k c, n k", refused={"c": EMPTY}),
    Case("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }"),
    Case("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"),
    Case("Pooling", "pooling_param { pool: AVE global_pooling: true }", refused={"hw": "empty image"}),
    Case("Pooling", "pooling_param { pool: MAX global_pooling: true }", refused={"hw": "empty image"}),
    Case("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }", phase="TRAIN",
         refused={"hw": "larger than the padded"}),
    Case("Pooling", "pooling_param { pool: RCM kernel_size: 3 stride: 2 pad: 1 }"),
    Case("Pooling3D", "pooling_param { kernel_size_3d: 2 stride_3d: 2 pad_3d: 1 }", "n c 4 h w"),
    Case("Pooling", "pooling_param { kernel_size: 2 dilation: 2 pad: 1 }", refused={"hw": "larger than the padded"}),
    Case("MarginInnerProduct", "margin_inner_product_param { num_output: 4 type: DOUBLE "
         'weight_filler { type: "gaussian" } }', "n c, 0: n", refused={"c": "hold no elements"}),
    Case("LargeMarginInnerProduct", "largemargin_inner_product_param { num_output: 4 type: TRIPLE "
         'weight_filler { type: "gaussian" } }', "n c, 0: n", refused={"c": "hold no elements"}),
    Case("InnerProduct", 'inner_product_param { num_output: 4 normalize: true weight_filler { type: "gaussian" } }',
         refused={"chw": "hold no elements"}),
    Case("DenseBlock", 'denseblock_param { numTransition: 2 growthRate: 2 Filter_Filler { type: "gaussian" } }',
         refused={"chw": "no elements"}),
    Case("GRIDPooling", "grid_pooling_param { pooled_h: 2 pooled_w: 3 }", refused={"hw": "the image is empty"}),
    Case("CrossCorrelation", "convolution_param { num_output: 3 kernel_size: 3 pad: 1 }", "n 4 h w, 3 4 3 3", down=(0, 1),
         refused={"hw": "does not fit"}),
    Case("InnerDistance", 'inner_distance_param { num_output: 4 weight_filler { type: "gaussian" } }', "n c",
         refused={"c": EMPTY}),
    Case("SPP", "spp_param { pyramid_height: 2 pool: MAX }", refused={"hw": "image is empty"}),
    # norm, neuron
    Case("BatchNorm"), Case("BatchNorm", phase="TRAIN"), Case("BN", "bn_param { eps: 0.01 }", phase="TRAIN"),
    Case("BN"), Case("BN", "bn_param { moving_average: true }"),
    Case("Bias"), Case("Bias", "bias_param { axis: 0 }", "n c h w, n c h w", down=(0, 1)),
    Case("Scale", "scale_param { bias_term: true }"),
    Case("Scale", "scale_param { axis: 0 }", "n c h w, n", down=(0, 1)), Case("LRN"),
    Case("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }"), Case("MVN"),
    Case("MVN", "mvn_param { across_channels: true }"),
    Case("ScaleFixed", "fixed_param {}"), Case("NormalizeFixed", "fixed_param {}"), Case("PReLUFixed", "fixed_param {}"),
    Case("FixedNeuron"), Case("FixedNeuron", phase="TRAIN"),
    Case("Normalize"), Case("Normalize", "norm_param { across_spatial: false channel_shared: false }"),
    Case("GroupNorm", "group_norm_param { group_num: 4 }"), Case("Softmax"), Case("NormalizationL2"), Case("GradientScaler"),
    *plain("AbsVal", "BNLL", "CReLU", "ELU", "Exp", "GELU", "HardSigmoid", "HardSwish", "Log", "Mish", "Power", "PReLU", "ReLU", "ReLU6", "SeLu", "Sigmoid",
           "SignedSqrt", "Softsign", "Swish", "TanH"),
    Case("Axpy", "", "n c, n c h w, n c h w", down=(0, 1, 2)),
    Case("Clip", "clip_param { min: -1 max: 2 }"), Case("BReLU"),
    Case("OutputDecay", "output_decay_param { output_decay: 0.5 }"), Case("ScaleTanH"), Case("ScaleTanH", phase="TRAIN"), Case("Noise"), Case("Noise", "noise_param { sigma: 1 }"),
    Case("Noise", "noise_param { gaussian_std: 1 }", phase="TRAIN"), Case("GuidedDropout", "", "n c h w, n c"),
    Case("GuidedDropout", 'guided_dropout_param { type: "stochastic" }', "n c h w, n c", phase="TRAIN"),
    Case("Dropout", phase="TRAIN"), Case("SeLuDropout", phase="TRAIN"), Case("SpatialDropout", phase="TRAIN"),
    Case("Eltwise", "", "n c h w, n c h w", down=(0, 1)),
    Case("Eltwise", "eltwise_param { operation: MAX }", "n c h w, n c h w", down=(0, 1)),
    Case("Eltwise", "eltwise_param { operation: PROD }", "n c h w, n c h w", down=(0, 1)),
    Case("Quantize", down=None), Case("Rescale", "rescale_param { rf: 10 }", tops=2, down=None),
    Case("Threshold", down=None),
    # shape
    Case("Padding", "padding_param { pad: 1 }"),
    Case("Pad", "pad_param { pad_l: 1 pad_d: 2 pad_type: REPLICATE }", refused={"hw": "without elements has nothing"}),
    Case("ArgMax", "argmax_param { axis: 1 }", down=None, refused={"c": "top_k"}),
    Case("BatchReindex", "", "n c h w, 0: k", refused={"n": "bottom 1 holds 0"}),
    Case("Concat", "", "n c h w, n 3 h w", down=(0, 1)),
    Case("Crop", "", "n c h w, n c 3 4", refused={"hw": "the crop asks"}),
    Case("Filter", "", "n c h w, n 1", down=(0,), listed="nchw"), Case("Flatten"), Case("Flip"),
    Case("Gather", "", "n 4 h w, 0: n 4", tops=2, down=None, listed=""),
    Case("Interp", "interp_param { height: 3 width: 4 }", refused={"hw": "leave nothing"}),
    Case("Interp", "interp_param { zoom_factor: 2 }", refused={"hw": "leave nothing"}),
    Case("Interp", "", "n c h w, n c 3 4", refused={"hw": "leave nothing"}),
    Case("ParseOutput", "", tops=2, down=None, refused={"c": "at least one channel"}),
    Case("Resize", "resize_param { height: 3 width: 4 }", refused={"hw": "needs pixels"}),
    Case("MergeCrop", "mergecrop_param { backward: true backward: true }", "n c h w, n 3 2*h 2*w", down=(0, 1)),
    Case("MergeCrop", "mergecrop_param { operation: ADD backward: true backward: true }", "n c h w, n c h w",
         down=(0, 1)),
    Case("Mask", "", "1 c h w, 1 1 h w", listed="chw"),
    Case("Maxout", "", "2*n c h w, 0: 1 4", down=None),
    Case("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"),
    Case("Reduction", "reduction_param { axis: 1 }"),
    Case("Reduction", "reduction_param { operation: MEAN axis: 1 }", refused={"chw": "no MEAN of no elements"}),
    Case("Reduction", "reduction_param { operation: ASUM }"),
    Case("Reorg", "reorg_param { stride: 2 }", "n c 2*h 2*w"),
    Case("Tiling", "tiling_param { tile_dim: 2 }", "n 4*c h w"),
    Case("NormalizeChannels", "", tops=2), Case("NormL2"), Case("Norm"), Case("GRN"), Case("ChannelScale", "", "n c h w, n 1 h w", down=(0, 1)),
    Case("Correlation", "correlation_param { kernel_size: 1 max_displacement: 2 pad: 2 }", "n c h w, n c h w", down=(0, 1),
         refused={"hw": "do not fit"}),
    Case("FlowWarp", "", "n c h w, n 2 h w", down=(0, 1)), Case("ChannelNorm"),
    Case("DataAugmentation", "augmentation_param { crop_width: 3 crop_height: 2 recompute_mean: 2 }", down=None,
         refused={"hw": "cannot cut 2 x 3 pixels out of"}),
    Case("Downsample", "downsample_param { top_height: 3 top_width: 4 }", down=None, refused={"hw": "cannot make 3 x 4 pixels"}),
    Case("Mean", "mean_param { value: 2 value: 1 input_scale: 3 }"),
    Case("Resample", "resample_param { height: 3 width: 4 }", down=None, refused={"hw": "cannot make 3 x 4 pixels"}),
    Case("MIL", "", refused={"hw": "has no elements"}), Case("MIL", "mil_param { context_per_roi: 2 }", "2*k c"),
    Case("PoseEvaluate", "pose_evaluate_param { num_joint: 9 }", "n 1 h w", down=None),
    Case("PoseCreate", "pose_create_param { num_joint: 8 }", "n 8 h w", tops=2, down=None, refused={"hw": "have no elements"}),
    Case("PoseCreate", "pose_create_param { num_joint: 4 }", "n 8, n c h w", down=None), Case("CreateGan", down=None),
    Case("Reshape", "reshape_param { shape { dim: 0 dim: 0 dim: -1 } }"),
    Case("Reverse", "reverse_param { axis: 1 }"),
    Case("ShuffleChannel", "shuffle_channel_param { group: 2 }"), Case("Silence", tops=0),
    Case("Slice", "slice_param { axis: 1 slice_point: 3 }", "n 4 h w", tops=2), Case("Slice", "", "n c h w", tops=2),
    Case("Split", tops=2), Case("Tile", "tile_param { tiles: 2 }"),
    Case("Transpose", "transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 }"),
    Case("Upsample", "upsample_param { scale: 2 }"), Case("Upsample", "", "n c h w, 0: n c h w"),
    Case("Unpooling", "unpooling_param { kernel_size: 2 stride: 2 }", "n c h w, 0: n c h w"),
    Case("Unpooling", "unpooling_param { unpool: AVE kernel_size: 3 stride: 2 }"),
    # losses
    Case("ClusterDetections", 'python_param { param_str: "24, 24, 8, 0.6, 1, 0.02, 4" }', "n 1 h w, n 4 h w", down=None,
         refused={"hw": "has 3 x 3 cells"}),
    Case("ClusterGroundtruth", 'python_param { param_str: "24, 24, 8" }', "n 1 h w, n 4 h w", down=None,
         refused={"hw": "has 3 x 3 cells"}),
    Case("PrecisionRecall", "", "n k 5", tops=3, down=None),
    Case("ScoreDetections", "", "n k 5, n k 5", down=None),
    Case("Accuracy", "", "n c, 0: n", down=None, refused={"c": "more than the 0 channels"}),
    Case("ContrastiveLoss", "", "n c, n c, 0: n", phase="TRAIN", down=(0, 1), refused={"nc": NO_MEAN}),
    Case("EuclideanLoss", "", LOSSES, down=(0, 1), refused={"n": NO_MEAN}),
    Case("CosLoss", "", LOSSES, refused={"nc": NO_MEAN}),
    Case("CenterLoss", 'center_loss_param { num_output: 4 }', "n c, 0: n", refused={"nc": NO_MEAN}),
    Case("CenterCosLoss", 'center_cos_loss_param { num_output: 4 center_cos_filler { type: "gaussian" } }', "n c, 0: n",
         refused={"nc": NO_MEAN}),
    Case("RankingLoss", "", "n c, 0: n", refused={"nc": NO_MEAN}),
    Case("MAE", "", "n c, 0: n", down=None, refused={"nc": NO_MEAN}),
    Case("MAE", "mae_param { ordinal: true }", "n 8, 0: n", down=None, refused={"n": NO_MEAN}),
    Case("LiftedStructSimilaritySoftmaxLoss", "", "n c, 0: n", refused={"nc": NO_MEAN}),
    Case("LabelSpecificAdd", "label_specific_add_param { bias: 0.5 }", "n c, 0: n", phase="TRAIN", refused={"nc": NO_MEAN}),
    Case("CosinAddm", "cosin_add_m_param { m: 0.25 }", "n c, 0: n", phase="TRAIN", refused={"nc": NO_MEAN}),
    Case("EuclideanLossHeatmap", "", "n c h w, n c h w, n 3 h w", refused={"nchw": NO_MEAN}),
    Case("LabelSpecificRescale", "label_specific_rescale_param { positive_weight: 0.5 }", "n c, 0: n", phase="TRAIN",
         refused={"nc": NO_MEAN}),
    Case("PairCosineLoss", "", "4*n c, 0: 4*n", refused={"nc": NO_MEAN}),
    Case("L1Loss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("ManhattanLoss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("CTCLoss", "", "k n c, 0: n 2", refused={"nck": NO_MEAN}),
    Case("WarpCTCLoss", "", "k n c, 0: n 2", refused={"nck": NO_MEAN}),
    Case("CTCGreedyDecoder", "", "k n c", down=None, refused={"nck": "spells nothing"}),
    Case("CTCGreedyDecoder", "", "k n c, 0: n 5", down=None, refused={"nck": "spells nothing"}),
    Case("CTCGreedyDecoder", "", "k n c, k n, 0: k n", 3, down=None, refused={"nck": "spells nothing"}),
    Case("DiceCoefLoss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("HashingLoss", "", "n c, 0: n", refused={"nc": NO_MEAN}),
    Case("K1_EuclideanLoss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("K2_EuclideanLoss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("TripletLoss", "triplet_loss_param { margin: 90 }", "n c, n c, n c", down=(0, 1, 2), refused={"nc": NO_MEAN}),
    Case("MMDLoss", "", "n c, k c", down=(0, 1), refused={"nck": NO_MEAN}),
    Case("ConsistencyLoss", "", "n 8, n 2 h w", refused={"nhw": "its shape is"}),
    Case("KLDivLoss", "", LOSSES, refused={"nc": NO_MEAN}),
    Case("NSSLoss", "", LOSSES, refused={"nc": NO_MEAN}),
    Case("EntropyLoss", refused={"c": NO_CHANNELS}), Case("MultiLabelLoss", "", "n c, n c", phase="TRAIN"),
    Case("SoftmaxKLDLoss", "", "n c h w, n c h w, n h w", refused={"c": NO_CHANNELS}),
    Case("SoftmaxWithViewLoss", "softmax_with_view_loss_param { period: 4 }", "n 8, 0: n", refused={"n": NO_MEAN}),
    Case("AccuracyView", "accuracy_view_param { period: 4 }", "n 8, 0: n", down=None, refused={"n": NO_MEAN}),
    Case("OrdinalRegressionLoss", "", "n 8, 0: n", refused={"n": NO_MEAN}),
    Case("RelevantLoss", "", LOSSES, down=(0, 1), refused={"nc": NO_MEAN}),
    Case("SequenceAccuracy", "", "n k c, 0: n 2", down=None, refused={"nck": NO_MEAN}),
    Case("SequenceAccuracy", "", "n k, 0: n k", 3, down=None, refused={"nk": NO_MEAN}),
    Case("SigmoidCrossEntropyBalanceLoss", "", LOSSES, refused={"nc": NO_MEAN}),
    Case("SigmoidCrossEntropyLossWeighted", "", "n c, n c, n c", refused={"nc": NO_MEAN}),
    Case("SiameseLogisticLoss", "", "n c, n c, n c", refused={"nc": NO_MEAN}),
    Case("FocalLoss", "", LABELS, refused={"c": NO_CHANNELS}),
    Case("HingeLoss", "", "n c, 0: n", phase="TRAIN", refused={"nc": NO_MEAN}),
    Case("InfogainLoss", "", "n 8, 0: n, 1 1 8 8", phase="TRAIN", refused={"n": NO_MEAN}),
    Case("MultinomialLogisticLoss", "", "n c, 0: n", phase="TRAIN", refused={"nc": NO_MEAN}),
    Case("SigmoidCrossEntropyLoss", "", "n c h w, n c h w", phase="TRAIN"),
    Case("SmoothL1Loss", "", "n c h w, n c h w", down=(0, 1)),
    Case("SmoothL1LossOHEM", "", "n c h w, n c h w", tops=2, phase="TRAIN"),
    Case("SoftmaxWithLoss", "", LABELS, phase="TRAIN", refused={"c": NO_CHANNELS}),
    Case("SoftmaxWithLoss", "loss_param { normalization: BATCH_SIZE }", LABELS, phase="TRAIN",
         refused={"c": NO_CHANNELS}),
    Case("SoftmaxWithLoss", "loss_param { weight_by_label_freqs: true class_weighting: [2, 2, 2, 2, 2, 2, 2, 2] }", LABELS,
         phase="TRAIN", refused={"c": NO_CHANNELS}),
    Case("MultiSoftmaxWithLoss", "", LABELS, phase="TRAIN", refused={"c": NO_CHANNELS}),
    Case("MultiSoftmaxLoss", "", "n c h w, n 1 h w", phase="TRAIN", refused={"c": NO_CHANNELS}),
    Case("AngleLoss", "", "n c h w, n c h w", refused={"nchw": NO_MEAN}),
    Case("SoftmaxWithLossOHEM", "", LABELS, tops=3, phase="TRAIN", refused={"c": NO_CHANNELS}),
    Case("YoloSeg", "", "n c h w, 0: n c h w", phase="TRAIN", refused={"nchw": NO_MEAN}),
    # detection
    Case("MultiStageMeanfield", "multi_stage_meanfield_param { num_iterations: 2 }", "n c h w, n c h w, n 3 h w",
         down=(0, 1)),
    Case("DomainTransform", "domain_transform_param { num_iter: 2 }", "n c h w, n 1 h w, n 2", down=(0, 1)),
    Case("DomainTransformForwardOnly", "domain_transform_param { num_iter: 2 }", "n c h w, n 1 h w, n 2", down=None),
    Case("DenseCRF", "dense_crf_param { max_iter: 2 pos_w: 3 pos_xy_std: 3 bi_w: 5 bi_xy_std: 50 bi_rgb_std: 10 }",
         "n c h w, n 2, n 3 h w", down=None),
    Case("AnchorTarget", ANCHORS, "1 2 h w, k 5, 1 3, 1 3 96 112", 4, "TRAIN", None),
    Case("YoloDetectionLoss", "detection_loss_param { side: 2 num_class: 3 num_object: 1 }", "n 32, 0: n 28"),
    Case("YoloV2Loss", "yolo_v2_loss_param { side: 2 num_classes: 3 num_object: 1 biaes: 0.5 biaes: 0.5 }", "n 32, 0: n 28"),
    Case("RegionEvalDetection", "eval_detection_param { side: 2 num_class: 3 num_object: 1 biases: 1 biases: 1 }",
         "n 8 2 2, 0: n k 5", down=None),
    Case("EvalDetection", "eval_detection_param { side: 2 num_class: 3 num_object: 1 }", "n 32, 0: n 28", down=None),
    Case("DontcareAnchorTarget", ANCHORS, "1 2 h w, k 5, 1 3, 1 3 96 112, k, n 4", 4, "TRAIN", None),
    Case("FrcnnAnchorTarget", ANCHORS, "1 2 h w, k 5, 1 3", 4, "TRAIN", None),
    Case("FPNAnchorTarget", 'python_param { param_str: "{feat_strides: [8, 16], scales: [2], ratios: [1]}" }',
         "1 2 2*h 2*w, 1 2 h w, k 5, 1 3", 4, "TRAIN", None),
    Case("RotateAnchorTarget", 'python_param { param_str: "{scales: [1], ratios: [1], angles: [0]}" }',
         "1 2 h w, k 6, 1 3, 1 3 96 112", 4, "TRAIN", None),
    Case("MNCAnchorTarget", ANCHORS, "1 2 h w, k 5, 1 3, k 2, 1 3", 4, "TRAIN", None),
    Case("SSHAnchorTarget", ANCHORS, "1 2 h w, k 5, 1 3", 4, "TRAIN", None),
    Case("RONAnchorTarget",
         'python_param { param_str: "{stride_scale_border_batchsize: [16, 1, 4, 9], base_size: 16, ratios: [1]}" }',
         "n 4 h w, 0: k 6, n 2", 4, "TRAIN", None),
    Case("RONTarget",
         'python_param { param_str: "{stride_scale_border_batchsize_numcls: [16, 1, 4, 9, 4], base_size: 16, '
         'ratios: [1]}" }', "n 4 h w, 0: k 6, n 2", 1, "TRAIN", None),
    Case("AssistedExcitation", 'python_param { param_str: "max_iter: 40" }', "n c h w, n k 5, n 1 h w", 1, "TRAIN"),
    Case("BboxAccuracy", "", "k 12, k 5, k 6", 2, down=None),
    Case("BoxAnnotatorOHEM", "box_annotator_ohem_param { roi_per_img: 1 }", "k 5, 0: k, k, k 8", 2, "TRAIN", None),
    Case("ClsAnnotatorOHEM", "box_annotator_ohem_param { roi_per_img: 1 }", "k 5, 0: k, k", 1, "TRAIN", None),
    Case("BoxGroupOutput", "box_group_output_param { box_group_param { field_w: 20 field_h: 20 stride: 32 } }",
         "n 2 h w, n 4 h w", 2, down=None, listed="nhw"),
    Case("BoxOutput", "box_output_param { field_w: 8 field_h: 8 downsample_rate: 8 }", "n 6 h w", 2, down=None,
         listed="nhw"),
    Case("CropAngles", 'python_param { param_str: "{viewp_bins: 8}" }', "k 8, k 8 1 1"),
    Case("DecodeBBox", "", "k 8, k 5", down=None), Case("DecodeBBox", "", "k 8, k 5, k 2", 1, "TRAIN", None, "k"),
    Case("DetectionAccuracy", "detection_accuracy_param { cls_num: 3 field_w: 10 field_h: 14 downsample_rate: 8 }",
         "n 7 h w, 0: n 6 h w", 2, down=None),
    Case("DetectionGroupAccuracy", "detection_group_accuracy_param { cls_num: 3 field_w: 10 field_h: 14 stride: 8 }",
         "n 3 h w, n 4 h w, 0: n 6 h w", 2, down=None),
    Case("DetectionLoss", "detection_loss_param { cls_num: 3 field_w: 10 field_h: 14 downsample_rate: 8 }",
         "n 7 h w, 0: n 6 h w", 1, "TRAIN"),
    Case("DetectionGroupLoss", "detection_group_loss_param { cls_num: 3 field_w: 10 field_h: 14 stride: 8 }",
         "n 3 h w, n 4 h w, 0: n 6 h w", 1, "TRAIN", (0, 1)),
    Case("DetectionEvaluate", "detection_evaluate_param { num_classes: 2 overlap_threshold: 0.5 }",
         "1 1 k 7, 1 1 n 8", down=None, listed=""),
    Case("DetectionOutput", f"detection_output_param {{ {SSD} }}", "n 4*k, n 2*k, 1 2 4*k", down=None, listed="n"),
    Case("MultiBoxLoss", "multibox_loss_param { num_classes: 2 }", "n 4*k, n 2*k, 1 2 4*k, 0: 1 1 0 8", 1, "TRAIN",
         (0, 1)),
    Case("MultiBoxLoss", "multibox_loss_param { num_classes: 2 }", "n 4*k, n 2*k, 1 2 4*k, 0: 1 1 0 8, n 2*k, n 4*k", 1,
         "TRAIN", (0, 1)),
    Case("FrcnnOutput", "", "k 3, k 12, 0: k 5, 1 2", down=None, listed=""),
    Case("InclinedProposalTarget", BOXES, "0: k 5, n 5, n 9", 8, "TRAIN", None, "n"),
    Case("MaskProposalTarget", 'python_param { param_str: "{num_classes: 3, out_size: 5}" }',
         "0: k 5, n 5, 1 1 60 60", 7, "TRAIN", None, ""),
    Case("ViewpointProposalTarget", 'python_param { param_str: "{num_classes: 3, viewp_bins: 4}" }', "0: k 5, n 6",
         7, "TRAIN",
         None, "n"),
    Case("FPNProposalTarget", BOXES, "0: k 5, n 5", 8, "TRAIN", None, ""),
    Case("FrcnnProposalTarget", BOXES, "0: k 5, n 5", 5, "TRAIN", None, ""),
    Case("ProposalTarget", BOXES, "0: k 5, n 5", 5, "TRAIN", None, "n"),
    Case("DontcareProposalTarget", BOXES, "0: k 5, n 5, n, h 4", 5, "TRAIN", None, "n"),
    Case("RotateProposalTarget", BOXES, "0: k 6, n 6", 5, "TRAIN", None, "n"),
    Case("MNCProposalTarget", BOXES, "0: k 5, n 5, 1 3", 5, "TRAIN", None, ""),
    Case("HardMining", "hard_mining_param { num_image: 2 num_roi_per_image: 2 }", "k, k 5, k 1", 2, down=None,
         listed="k"),
    Case("HardRegions", 'python_param { param_str: "{batch_size: 2}" }', "k 3, k 12, 0: k 5, 0: k", 2, down=None,
         listed="k"),
    Case("MNCMask", 'python_param { param_str: "{fg_seg_thresh: 0.6}" }', "k 81, k 20 20, k 12", 2, down=(0,)),
    Case("MNCStageBridge", 'python_param { param_str: "{num_classes: 4}" }', "k 5, k 16, k 4, 1 3", 1, down=(0, 1)),
    Case("NMS", "nms_param { iou_threshold: 0.5 }", "k 4, k", down=None, listed="k"),
    Case("NMSRotated", "nms_param { iou_threshold: 0.5 }", "k 5, k", down=None, listed="k"),
    Case("PriorBoxClustered", "prior_box_param { width: 10 height: 8 }", "n c h w, n 3 96 112", down=None,
         refused={"hw": "no cells"}),
    Case("PriorBox", "prior_box_param { min_size: 10 }", "n c h w, n 3 96 112", down=None,
         refused={"hw": "has no cells"}),
    Case("Proposal", ANCHORS, "n 2 h w, n 4 h w, n 3", 2, down=None, listed="nhw"),
    Case("FrcnnProposal", ANCHORS, "1 2 h w, 1 4 h w, 1 3", 2, down=None, listed="hw"),
    Case("MNCProposal", ANCHORS, "1 2 h w, 1 4 h w, 1 3", 2, down=None, listed="hw"),
    Case("SSHProposal", ANCHORS, "1 2 h w, 1 4 h w, 1 3", 2, down=None, listed="hw"),
    Case("RPN", "rpn_param { feat_stride: 16 basesize: 16 scale: 1 ratio: 1 nms_thresh: 0.7 }",
         "1 2 h w, 1 4 h w, 1 3", 2, down=None, listed="hw"),
    Case("RotateProposal", 'python_param { param_str: "{scales: [1], ratios: [1], angles: [0]}" }',
         "1 2 h w, 1 5 h w, 1 3", 2,
         down=None, listed="hw"),
    Case("TextProposal", 'python_param { param_str: "{feat_stride: 16, heights: [11, 16]}" }',
         "1 4 h w, 1 4 h w, 1 2", 2,
         down=None, listed="hw"),
    Case("FPNProposal", 'python_param { param_str: "{feat_strides: [8, 16], scales: [2], ratios: [1]}" }',
         "1 3, 1 4 2*h 2*w, 1 4 h w, 1 2 2*h 2*w, 1 2 h w", 3, down=None, listed=""),
    Case("PyramidRegions", "", "k 5", 4, down=None, listed=""),
    Case("Region", "region_param { classes: 3 boxes_of_each_grid: 2 softmax: true }", "n 16 h w", down=None),
    Case("RegionLoss", "region_loss_param { num_class: 3 num: 1 biases: 1 biases: 1 }", "n 8 h w, 0: n k 5", 1,
         "TRAIN"),
    Case("Yolov3", "yolov3_param { num_class: 2 num: 1 anchors_scale: 8 biases: 8 biases: 8 mask: 0 }",
         "n 7 h w, 0: n k 5", 1,
         "TRAIN"),
    Case("YoloDetectionOutput", "yolo_detection_output_param { num_classes: 1 num_box: 1 biases: 1 biases: 1 }",
         "n 6 h w",
         down=None, listed="n"),
    Case("Yolov3DetectionOutput",
         "yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 biases: 32 "
         "biases: 32 mask: 0 anchors_scale: 32 }", "n 6 h w", down=None, listed="n"),
    Case("RONDetection", 'python_param { param_str: "\'stride_scale_numcls\': 16,1,3" }',
         "n 20 h w, n 3 10*h w, n 40 h w", 2,
         down=None),
    Case("ScaleRoute", "scale_route_param { low_scale: 50 high_scale: 200 }", "k 5, k 3 2", 2, down=None, listed="k"),
    Case("SegAccuracy", "", "n c h w, 0: n 1 h w", down=None, refused={"c": "none of the 0 classes"}),
    Case("ParseEvaluate", "parse_evaluate_param { num_labels: 9 }", "0: n 1 h w, 0: n 1 h w", down=None),
    Case("SegmentationEvaluate", "", "n c h w, 0: n c h w", down=None, refused={"nchw": "needs an image"}),
]  # fmt: skip
