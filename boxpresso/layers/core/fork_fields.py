"""Fields of forks that change what a layer computes, and that no layer of ours reads: given another value, they are refused,
or there is a warning where they only choose what a net learns from, or what it writes.

A field of a message is read by a layer, or it is here, or among those that change no number;
tests/layers/core/test_fork_fields.py finds one that is none of these.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...proto.unread import other_values

SCALES = ("input_scale", "output_scale", "weight_scale", "bias_scale")  # of tensors in 8 bits: synopsys-caffe
ZEROS = ("input_zero_point", "output_zero_point", "weight_zero_point", "bias_zero_point")
EIGHT_BITS = (*SCALES, *ZEROS, "saturate", "per_channel_scale_weight", "per_channel_scale_output")

# Of every message: they choose a device's algorithm, print, or say how something else that is refused is done.
HARMLESS = frozenset({
    "engine", "quantize_method", "sparse_mode", "ipu_sparse", "input_x8_position", "output_x8_position", "weight_fixed",
    "cudnn_convolution_algo_seeker", "conv_algos_override", "conv_algorithm", "force_nd_im2col", "per_fla_fuse", "fuse",
    "unit_test_mode", "unit_test_fuse_kernel", "debug_info", "display", "activation_alpha", "activation_beta", "k",
})  # fmt: skip

UNREAD: dict[str, tuple[str, ...]] = {
    "annotated_data_param": ("yolo_data_type", "difficult_label_warmup"),
    "augmentation_param": ("write_augmented", "write_mean"),
    "batch_norm_param": ("use_weight_bias", "filler"),
    "batch_reduction_param": ("pos",),
    "bias_param": EIGHT_BITS,
    "concat_param": EIGHT_BITS,
    "convolution_param": (
        *EIGHT_BITS, "negative_slope", "coeff", "fusion_type", "fuse_type", "eltwise_param", "relu_param",
        "submanifold_sparse", "dis_mode", "gen_mode", "shape_offset", "mini", "maxi", "inter_kernel", "mean_file",
        "mean_value", "std", "scale",
        "yuv_input", "input_format", "same_mode",
    ),
    "data_param": (
        "task_class_num", "limit_samples", "preselection_file", "preselection_label", "range_start", "range_end",
        "rand_permute", "slice_point", "encoding", "subtract",
    ),
    "detection_accuracy_param": ("coord_num",),
    "detectnet_augmentation_param": ("resize_param", "noise_param", "distort_param", "expand_param", "emit_constraint"),
    "eltwise_param": (*EIGHT_BITS, "axis"),
    "frcnn_output_param": ("save_output_param",),
    "gan_loss_param": ("dis_lossweight", "gen_lossweight", "simple_genloss", "k_lr", "equilibrium", "nothing"),
    "image_data_param": (
        "short_side", "min_height", "min_width", "task_class_num", "regression", "face_transform", "max_shear_ratio",
        "max_aspect_ratio", "max_rotate_angle", "min_random_scale", "max_random_scale", "max_random_shift", "face_mirror",
        "face_point_num", "balance_class", "balance_by", "label_cut_start", "label_cut_end", "ndim_label",
    ),
    "image_label_data_param": (
        "scale_prob", "size_min", "size_max", "image_dir2", "image_list_path2", "hsv_noise", "random_rotate",
        "random_gaussian_blur", "num_channels",
    ),
    "inner_product_param": (*EIGHT_BITS, "relu", "negative_slope", "dis_mode", "gen_mode"),
    "input_param": EIGHT_BITS,
    "loss_param": ("coeff",),
    "lrn_param": EIGHT_BITS,
    "memory_data_param": ("label_size", "transpose"),
    "multi_stage_meanfield_param": ("forced_spatial_filter_weight", "forced_bilateral_filter_weight"),
    "pooling_param": (*EIGHT_BITS, "blobs_lr", "blobs_a_min"),
    "power_param": ("eps", "saturate"),
    "prior_box_param": ("p_type",),
    "proposal_param": ("shuffle_channel",),
    "relu_param": EIGHT_BITS,
    "relu6_param": EIGHT_BITS,
    "reshape_param": ("default_insert",),
    "roi_pooling_param": ("pooled_size",),
    "smooth_l1_loss_param": ("abssum",),
    "softmax_param": (*EIGHT_BITS, "hard_ratio", "class_weight", "hard_mining_label", "cutting_point", "label_smooth_factor"),
    "transform_param": (
        "vertical_stretch_lower", "vertical_stretch_upper", "horizontal_stretch_lower", "horizontal_stretch_upper",
        "max_color_shift", "min_side_min", "min_side_max", "aspect_min", "aspect_max", "max_distort", "rand_crop_test", "eigs",
    ),
    "yolov3_param": (
        "iou_thresh", "max_delta", "accumulate", "label_smooth_eps", "num_classes", "num_box", "confidence_threshold",
        "nms_threshold", "anchor_num", "im_w", "im_h",
    ),
}  # fmt: skip
# Those of them that choose what a net learns from, or what it writes, not what it computes: for them there is a warning.
PASSED_OVER: dict[str, tuple[str, ...]] = {
    "annotated_data_param": ("difficult_label_warmup",),
    "augmentation_param": UNREAD["augmentation_param"],
    "data_param": (
        "limit_samples", "preselection_file", "preselection_label", "range_start", "range_end", "rand_permute",
    ),
    "detectnet_augmentation_param": UNREAD["detectnet_augmentation_param"],
    "frcnn_output_param": UNREAD["frcnn_output_param"],
    "image_data_param": (
        "face_transform", "max_shear_ratio", "max_aspect_ratio", "max_rotate_angle", "min_random_scale",
        "max_random_scale", "max_random_shift", "balance_class", "balance_by",
    ),
    "image_label_data_param": ("scale_prob", "size_min", "size_max", "hsv_noise", "random_rotate", "random_gaussian_blur"),
    "transform_param": UNREAD["transform_param"],
}  # fmt: skip
# Whose default is not what our layer does, but this is.
PLAIN: dict[str, dict[str, Any]] = {
    "batch_norm_param": {"use_weight_bias": False},
    "yolov3_param": {"label_smooth_eps": 0.0},
}


def refused_field(param: Any, messages: Sequence[str]) -> str:
    """What is wrong with a LayerParameter that gives one of these fields a value, in one of `messages`; else "".

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> layer = parse_net('layer { name: "ip" inner_product_param { relu: true } }').layer[0]
    >>> refused_field(layer, ("inner_product_param",))
    'inner_product_param: relu of a fork of Caffe is not supported; remove it'
    """
    for message in messages:
        if message not in UNREAD or not param.HasField(message):
            continue
        for name, value in other_values(getattr(param, message), UNREAD[message], PLAIN.get(message, {})):
            if name in (*SCALES, *ZEROS) and np.all(np.ravel(value) == (name in SCALES)):
                continue  # of several tensors, each as it is anyway
            if name not in PASSED_OVER.get(message, ()):
                return f"{message}: {name} of a fork of Caffe is not supported; remove it"
            warnings.warn(
                f"{param.type} layer {param.name!r}: {message}: {name} of a fork of Caffe is not supported, and is passed over",
                stacklevel=2,
            )
    return ""
