"""Every layer as ONNX, on what the real Caffe and the published region operators were recorded on: as the layer itself."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from exported import caffe_case, check, net_of, region_case
from places import TESTS
from shared import SHARED

from boxpresso import LayerError
from boxpresso.exports import onnx_model

MISSING = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed")

# Layers without a counterpart: losses and what measures a training; and fields that ONNX cannot say.
WITHOUT = {
    "Accuracy", "ContrastiveLoss", "DetectionEvaluate", "HingeLoss", "InfogainLoss", "MultiBoxLoss",
    "MultinomialLogisticLoss", "SigmoidCrossEntropyLoss", "SmoothL1Loss", "SoftmaxWithLoss", "Net", "PythonRPN", "Split",
    "RoIPool_mmcv", "PSRoIPool_torchvision",
}  # fmt: skip
# Cases that a reader computes otherwise, and why.
OTHERWISE = {
    ("DetectionOutput", "eta"): "refused: a threshold that changes",
    ("RoIAlign", "nan_inf_input_avg"): "NaN in the features spreads further in a product with weights",
    ("RoIAlign", "nan_inf_input_max"): "the same",
    ("PSRoIAlign", "roi_negative_size_sr0"): "a bin without samples is NaN in one sign and 0 in the other",
    ("RoIAlign", "no_rois"): "onnxruntime multiplies no empty matrices",
}
OPENVINO = {
    ("RoIAlign", "zero_size_al1_sr0_avg"): "OpenVINO divides by no samples",
    ("RiRoIAlignRotated", "theta_multiples"): "OpenVINO has no float64: an angle that is a multiple jumps",
}


def found(kind: str, where: str) -> list:
    """The recorded cases in the repository, or those of ../shared alone."""
    own = sorted((TESTS / "golden" / kind).glob("*/*.npz"))
    if where == "here":
        paths = own
    else:
        names = {(p.parent.name, p.name) for p in own}
        paths = [p for p in sorted((SHARED / "golden" / kind).glob("*/*.npz")) if (p.parent.name, p.name) not in names]
    return [
        pytest.param(p, marks=[pytest.mark.slow] if where != "here" else [], id=f"{p.parent.name}-{p.stem}")
        for p in paths
        if p.parent.name not in WITHOUT
    ]


def run(path, target, runner=""):
    known = {**OTHERWISE, **(OPENVINO if target == "openvino" else {})}
    if (path.parent.name, path.stem) in known:
        pytest.skip(known[path.parent.name, path.stem])
    text, bottoms, params, tops = caffe_case(path) if path.parts[-3] == "caffe" else (*region_case(path), [], 1)
    net = net_of(text, bottoms, params, tops)
    check(net, {f"bottom_{i}": np.asarray(b, np.float32) for i, b in enumerate(bottoms)}, target, runner)


@pytest.mark.parametrize("path", [*found("caffe", "here"), *found("caffe", "shared")])
def test_caffe(path):
    run(path, "onnxruntime")


@pytest.mark.parametrize("path", [*found("roi", "here"), *found("roi", "shared")])
def test_regions(path):
    run(path, "onnxruntime")


@pytest.mark.parametrize("target", ["opencv5", "tensorrt"])
@pytest.mark.parametrize(
    "path", [p for p in found("roi", "here") if p.id.startswith(("RoIPooling", "RoIAlign-", "DeformRoI"))]
)
def test_regions_of_programs_that_lack_operators(path, target):
    """The same numbers without MaxRoiPool and DeformConv, and for OpenCV 5 without RoiAlign."""
    run(path, target, "onnxruntime")


@pytest.mark.slow
@pytest.mark.parametrize("path", [*found("caffe", "here"), *found("roi", "here")])
def test_openvino(path):
    pytest.importorskip("openvino", reason="OpenVINO is not installed")
    run(path, "openvino")


RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((2, 8, 9, 11)).astype(np.float32)
ROIS = np.array([[0, 1, 2, 7, 8], [1, 3, 0, 9, 6], [0, 0, 0, 10, 8]], np.float32)
OFFSETS = RNG.uniform(-1.5, 1.5, (2, 2 * 4 * 9, 9, 11)).astype(np.float32)
MASKS = RNG.uniform(0, 1, (2, 4 * 9, 9, 11)).astype(np.float32)
UNPOOL = np.stack([RNG.permutation(22 * 18)[:99] for _ in range(16)]).reshape(2, 8, 9, 11).astype(np.float32)
YOLO = "num_classes: 3 num_box: 2"
MANY = {  # layers that nothing was recorded of, and settings of others: the layer and its bottoms
    "deformable convolution": ('type: "DeformableConvolution" deformable_convolution_param { num_output: 6 kernel_size: 3 '
                               'pad: 1 group: 2 weight_filler { type: "xavier" } }', [IMAGE, OFFSETS]),
    "modulated": ('type: "ModulatedDeformableConvolution" deformable_convolution_param { num_output: 6 kernel_size: 3 pad: 1 '
                  'weight_filler { type: "xavier" } }', [IMAGE, OFFSETS, MASKS]),
    "dilated": ('type: "DeformableConvolution" deformable_convolution_param { num_output: 4 kernel_size: 3 pad: 2 stride: 2 '
                'dilation: 2 deformable_group: 1 bias_term: false weight_filler { type: "xavier" } }',
                [IMAGE, OFFSETS[:, :18, :5, :6]]),
    "reorg": ('type: "Reorg" reorg_param { stride: 2 }', [IMAGE[:, :, :8, :10]]),
    "reorg back": ('type: "Reorg" reorg_param { stride: 2 reverse: true }', [IMAGE]),
    "upsample": ('type: "Upsample" upsample_param { scale: 3 }', [IMAGE]),
    "unpool": ('type: "Upsample" upsample_param { scale: 2 }', [IMAGE, UNPOOL]),
    "interp": ('type: "Interp" interp_param { height: 13 width: 29 }', [IMAGE]),
    "interp with cut": ('type: "Interp" interp_param { zoom_factor: 2 pad_beg: -1 pad_end: -1 }', [IMAGE]),
    "resize": ('type: "Resize" resize_param { height: 13 width: 5 }', [IMAGE]),
    "parse output": ('type: "ParseOutput"', [np.round(IMAGE)]),
    "multi softmax": ('type: "MultiSoftmax"', [IMAGE]),
    "tiling": ('type: "Tiling" tiling_param { tile_dim: 2 }', [IMAGE]),
    "normalize channels": ('type: "Normalize" normalize_param {}', [IMAGE]),
    "normalize channels by L1": ('type: "Normalize" normalize_param { normalize_type: "L1" }', [IMAGE]),
    "shuffle": ('type: "ShuffleChannel" shuffle_channel_param { group: 4 }', [IMAGE]),
    "reverse": ('type: "Reverse" reverse_param { axis: 1 axis: -1 }', [IMAGE]),
    "transpose": ('type: "Transpose" transpose_param { dim: 3 dim: 0 dim: 2 dim: 1 }', [IMAGE]),
    "gelu": ('type: "GELU" gelu_param { coeff: 1.7 }', [IMAGE]),
    "hard sigmoid": ('type: "HardSigmoid" hard_sigmoid_param { alpha: 0.3 beta: 0.4 }', [IMAGE]),
    "hard swish": ('type: "HardSwish"', [4 * IMAGE]),
    "mish": ('type: "Mish"', [4 * IMAGE]),
    "signed sqrt": ('type: "SignedSqrt"', [IMAGE]),
    "softsign": ('type: "Softsign"', [IMAGE]),
    "softplus": ('type: "Softplus"', [IMAGE]),
    "local": ('type: "Local" local_param { num_output: 3 kernel_size: 2 pad: 1 stride: 2 dilation: 3 weight_filler { type: "xavier" } '
              'bias_filler { type: "gaussian" } }', [IMAGE]),
    "local without bias": ('type: "Local" local_param { num_output: 2 kernel_size: 3 bias_term: false weight_filler { type: "xavier" } }',
                           [IMAGE]),
    "padding": ('type: "Padding" padding_param { pad_beg: 1 pad_end: 2 }', [IMAGE]),
    "padding taken away": ('type: "Padding" padding_param { pad_beg: -1 pad_end: -2 }', [IMAGE]),
    "padding by repetition": ('type: "Padding" padding_param { pad_l: 2 pad_b: 3 pad_method: REPEAT }', [IMAGE]),
    "pad by a value": ('type: "Pad" pad_param { paddings: [0, 0, 1, 2, 0, 3, 4, 0] constant_values: 5 }', [IMAGE]),
    "pad by a mirror": ('type: "Pad" pad_param { pad_u: 3 pad_r: 4 pad_type: REFLECT }', [IMAGE]),
    "grn": ('type: "GRN" grn_param { bias: 0.5 }', [IMAGE]),
    "norm": ('type: "Norm"', [IMAGE]),
    "normalization of images": ('type: "L2Normalize"', [IMAGE]),
    "normalization of rows": ('type: "L2Norm" l2norm_param { eps: 0.5 }', [IMAGE * (np.arange(len(IMAGE)) > 0).reshape(-1, 1, 1, 1)]),
    "mean": ('type: "Mean" mean_param { operation: SUBTRACT value: 1 value: 2 input_scale: 0.5 }', [IMAGE]),
    "swish": ('type: "Swish" swish_param { beta: 1.5 }', [IMAGE]),
    "clip": ('type: "Clip" clip_param { min: -0.5 max: 0.75 }', [IMAGE]),
    "brelu": ('type: "BReLU" brelu_param { minval: -0.5 }', [IMAGE]),
    "scale tanh": ('type: "ScaleTanH" scale_tanh_param { init_scale: 0.5 }', [IMAGE]),
    "noise": ('type: "Noise" noise_param { gaussian_std: 2 }', [IMAGE]),
    "guided dropout": ('type: "GuidedDropout"', [IMAGE, IMAGE[:, :, :1, :1]]),
    "group norm": ('type: "GroupNorm" group_norm_param { group_num: 4 eps: 0.5 }', [IMAGE]),
    "group norm of volumes": ('type: "GroupNorm" group_norm_param { group_num: 2 }', [IMAGE.reshape(2, 8, 9, 11, 1)]),
    "channel norm": ('type: "ChannelNorm"', [IMAGE]),
    "cross correlation": ('type: "CrossCorrelation" convolution_param { num_output: 3 kernel_size: 2 stride: 2 group: 1 '
                          'bias_filler { type: "constant" value: 0.5 } }', [IMAGE, IMAGE[:1, :8, :4, :3].reshape(3, 8, 2, 2)]),
    "inner product of rows of length 1": ('type: "InnerProduct" inner_product_param { num_output: 4 normalize: true '
                                          'weight_filler { type: "gaussian" } }', [IMAGE]),
    "relu6": ('type: "ReLU6"', [4 * IMAGE]),
    "crelu": ('type: "CReLU"', [IMAGE]),
    "matmul": ('type: "MatMul"', [IMAGE, IMAGE.transpose(0, 1, 3, 2)]),
    "matmul of turned matrices": ('type: "MatMul" matmul_param { transpose_a: true transpose_b: true }', [IMAGE, IMAGE.transpose(0, 1, 3, 2)]),
    "matmul of any axes": ('type: "MatMul" matmul_param { dim_1: 9 dim_2: 11 dim_3: 8 }', [IMAGE[0, 0], IMAGE[0, :, 0]]),
    "gram": ('type: "Gram"', [IMAGE]),
    "spatial product": ('type: "SpatialProduct"', [IMAGE, IMAGE[:, :1]]),
    "axpy": ('type: "Axpy"', [IMAGE[:, :, :1, :1], IMAGE, IMAGE[::-1]]),
    "spp": ('type: "SPP" spp_param { pyramid_height: 3 pool: AVE }', [IMAGE]),
    "spp max": ('type: "SPP" spp_param { pyramid_height: 3 pool: MAX }', [IMAGE]),
    "im2col": ('type: "Im2col" convolution_param { kernel_size: 3 pad: 1 stride: 2 }', [IMAGE]),
    "stochastic": ('type: "Pooling" pooling_param { pool: STOCHASTIC kernel_size: 3 stride: 2 }', [np.abs(IMAGE)]),
    "roi warping": ('type: "ROIWarping" roi_warping_param { pooled_h: 3 pooled_w: 4 spatial_scale: 1 }', [IMAGE, ROIS]),
    "corners": ('type: "ROIAlign" roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 pad_ratio: 0.25 }',
                [IMAGE, ROIS]),
    "regions of negative size": ('type: "ROIAlign" roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 sampling_ratio: 0 '
                                 "aligned: true }", [IMAGE, [*ROIS, [0, 6, 1, 2, 9], [1, 6, 7, 2, 3], [0, 1, 7, 5, 3]]]),
    "padded regions": ('type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 pad_ratio: 0.25 }',
                       [IMAGE, ROIS]),
    "mask resize": ('type: "MaskResize" mask_resize_param { output_height: 14 output_width: 5 }', [IMAGE]),
    "mask pooling": ('type: "MaskPooling"', [IMAGE, IMAGE[:, :1]]),
    "rnn": ('type: "RNN" recurrent_param { num_output: 5 weight_filler { type: "xavier" } }',
            [IMAGE[0], (np.arange(8)[:, None] % 3 > 0) * np.ones((8, 9), np.float32)]),
    "lstm of rows": ('type: "Lstm" lstm_param { num_output: 5 weight_filler { type: "xavier" } }', [IMAGE[0, 0]]),
    "lstm of rows of two sequences": ('type: "Lstm" lstm_param { num_output: 5 batch_size: 2 weight_filler { type: "xavier" } }',
                                      [IMAGE[0]]),
    "lstm of rows that begin": ('type: "Lstm" lstm_param { num_output: 5 batch_size: 2 weight_filler { type: "xavier" } }',
                                [IMAGE[0], np.array([0, 0, 1, 1, 0, 1, 1, 0], np.float32)]),
    "older lstm of one number": ('type: "Lstm" lstm_param { num_output: 1 weight_filler { type: "xavier" } }', [IMAGE[0]]),
    "older lstm": ('type: "Lstm" lstm_param { num_output: 5 weight_filler { type: "xavier" } }', [IMAGE[0]]),
    "yolo v3": (f'type: "Yolov3DetectionOutput" yolov3_detection_output_param {{ {YOLO} mask_group_num: 1 biases: 20 biases: 30 '
                "biases: 40 biases: 25 mask: 0 mask: 1 anchors_scale: 8 confidence_threshold: 0.4 }",
                [2 * RNG.standard_normal((2, 16, 5, 6))]),
    "yolo v2": (f'type: "YoloDetectionOutput" yolo_detection_output_param {{ {YOLO} biases: 1 biases: 2 biases: 3 biases: 1.5 '
                "confidence_threshold: 0.4 }", [2 * RNG.standard_normal((1, 16, 5, 6))]),
    "yolo by an overlap of 0": (f'type: "YoloDetectionOutput" yolo_detection_output_param {{ {YOLO} biases: 1 biases: 2 biases: 3 '
                                'biases: 1.5 confidence_threshold: 0.4 nms_threshold: 0 }', [IMAGE[:1, :, :5, :6].repeat(2, 1)]),
    "yolo without any": (f'type: "YoloDetectionOutput" yolo_detection_output_param {{ {YOLO} biases: 1 biases: 2 biases: 3 '
                         "biases: 1.5 confidence_threshold: 0.99 }", [np.zeros((2, 16, 5, 6))]),
    "cascade": ('type: "DecodeBBox" bbox_reg_param { bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 bbox_std: 0.1 '
                "bbox_std: 0.1 bbox_std: 0.2 bbox_std: 0.2 }", [RNG.standard_normal((3, 8)), ROIS]),
    "cascade by score": ('type: "DecodeBBox"', [RNG.standard_normal((3, 12)), RNG.uniform(0, 1, (3, 3)), ROIS]),
    "box groups": ('type: "BoxGroupOutput" box_group_output_param { fg_thr: 0.2 iou_thr: 0.4 max_nms_num: 60 min_size: 4 '
                   "box_group_param { field_w: 20 field_h: 24 stride: 8 } box_group_param { field_w: 40 field_w: 60 "
                   "field_h: 30 field_h: 40 stride: 16 } }",
                   [RNG.uniform(0, 1, (1, 2, 6, 7)), 0.2 * RNG.standard_normal((1, 4, 6, 7)),
                    RNG.uniform(0, 1, (2, 2, 3, 4)), 0.2 * RNG.standard_normal((2, 4, 3, 4))]),
}  # fmt: skip


FOR_EACH_OPSET = ("unpool", "spp", "yolo v3", "modulated", "corners", "rnn")  # layers that it changes


@pytest.mark.parametrize(
    ("name", "opset"), [(n, o) for n in MANY for o in (16, 17, 19, 21) if o in (17, 19) or n in FOR_EACH_OPSET]
)
@pytest.mark.filterwarnings("ignore:ROIAlign layer")
def test_other_layers(name, opset):
    text, bottoms = MANY[name]
    tops = 2 if name == "box groups" else 1
    net = net_of(text, bottoms, tops=tops)
    check(net, {f"bottom_{i}": np.asarray(b, np.float32) for i, b in enumerate(bottoms)}, opset=opset)


@pytest.mark.parametrize("name", ["deformable convolution", "modulated", "dilated", "unpool", "yolo v3", "box groups"])
def test_other_layers_in_openvino(name):
    pytest.importorskip("openvino", reason="OpenVINO is not installed")
    text, bottoms = MANY[name]
    net = net_of(text, bottoms, tops=2 if name == "box groups" else 1)
    check(net, {f"bottom_{i}": np.asarray(b, np.float32) for i, b in enumerate(bottoms)}, "openvino", opset=19)


@pytest.mark.parametrize("target", ["openvino", "opencv5", "tensorrt"])
@pytest.mark.parametrize("name", ["deformable convolution", "dilated", "padded regions"])
def test_no_operator_that_a_target_lacks(name, target):
    from boxpresso.exports import onnx_model
    from boxpresso.exports.onnx.targets import TARGETS

    text, bottoms = MANY[name]
    model = onnx_model(net_of(text, bottoms), target=target, opset=19)
    assert not {node.op_type for node in model.graph.node} & TARGETS[target].lacks
    types = {node.op_type for node in onnx_model(net_of(text, bottoms), opset=19).graph.node}
    assert ("MaxRoiPool" if "regions" in name else "DeformConv") in types


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (
            'type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 2 }',
            [np.zeros((2, 3, 8, 8)), np.zeros((2, 4))],
            r"regions \(B, 4\), one of each image",
        ),
        (
            'type: "DetectionOutput" detection_output_param { num_classes: 2 do_state_prediction: true num_states: 3 }',
            [np.zeros((1, 8)), np.zeros((1, 4)), np.zeros((1, 2, 8)), np.zeros((1, 6))],
            r"states \(do_state_prediction\)",
        ),
    ],
)
def test_forms_of_single_programs_are_refused_by_name(text, bottoms, message):
    with pytest.raises(LayerError, match=f"'layer': .*{message}"):
        onnx_model(net_of(text, bottoms))


def test_maxima_of_rows_and_columns_are_refused_by_name():
    """They were written as means."""
    net = net_of("type: 'Pooling' pooling_param { pool: RCM kernel_size: 2 }", [np.zeros((1, 1, 4, 4))])
    with pytest.raises(LayerError, match=r"'layer': .*the maxima of rows and columns \(pool: RCM\)"):
        onnx_model(net)
