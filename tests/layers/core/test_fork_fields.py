"""Fields of forks: a layer reads them, or they change no number, or they are refused."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from harness import Rig

from boxpresso import Net
from boxpresso.layers.core import REGISTRY, Layer, discover
from boxpresso.layers.core.fork_fields import HARMLESS, PASSED_OVER, UNREAD, refused_field
from boxpresso.proto import LayerParameter, parse_net
from boxpresso.proto.errors import LayerError

discover()
DATA = ("annotated_data_param", "data_param", "image_data_param", "memory_data_param", "transform_param")
ROOMS = ("dense", "detection", "loss", "neuron", "norm", "regions", "shape")
PAIRS = [f"{name}_{axis}" for name in ("kernel", "stride", "pad") for axis in "hw"]
KNOWN = {  # read elsewhere, or without a meaning here
    "augmentation_param": dict.fromkeys(
        ("mode", "bottomwidth", "bottomheight", "num"), "of GenerateAugmentationParameters, refused"
    ),
    "batch_norm_param": {
        "bias_term": "with use_weight_bias alone",
        "stats_batch_size": "of statistics over several processes",
        "update_global_stats": "forks differ in its default",
    },
    "channel_scale_param": dict.fromkeys(("max_global_scale", "min_global_scale", "init_global_scale"), "of global_scale, refused"),
    "convolution_param": dict.fromkeys(
        ("kernel_depth", "temporal_stride", "temporal_pad", "filter_group", "kernel_shape", "stride_shape", "pad_shape"),
        "proto/upgrade.py makes kernel_size and its like of them",
    )
    | {f"{name}{side}": "proto/upgrade.py makes dilation of them" for name in ("hole", "filter_stride") for side in ("", "_h", "_w")}
    | dict.fromkeys(("dilation_h", "dilation_w", "stride_h", "stride_w"), "convolution_base.py: per_axis"),
    "deformable_convolution_param": dict.fromkeys(PAIRS, "convolution_base.py: per_axis"),
    "detection_evaluate_param": {"use_polygon": "rows with corners are refused by their shape"},
    "detection_output_param": dict.fromkeys(("visualize_threshold", "save_file"), "of visualize, of which there is a warning")
    | dict.fromkeys(("nbottom", *(f"ratio{i}" for i in range(6))), "of no_permute and ratio_permute, refused")
    | dict.fromkeys(("tflite_use_regular_nms", "max_classes_per_detection"), "of tflite_detection, refused"),
    "denseblock_param": {"BC_ultra_space_efficient": "only its memory"},
    "detectnet_groundtruth_param": {"coverage_type": "has one value"},
    "gather_param": dict.fromkeys(("axis", "indices"), "the message is refused"),
    "image_label_data_param": dict.fromkeys(("scale_min", "scale_max"), "of scale_prob, passed over")
    | dict.fromkeys(("h_noise", "s_noise", "v_noise"), "of hsv_noise, passed over")
    | dict.fromkeys(("max_rotation_angle", "min_rotation_angle"), "of random_rotate, passed over")
    | dict.fromkeys(("min_kernel_size", "max_kernel_size", "min_sigma_x", "max_sigma_x", "min_sigma_y", "max_sigma_y",
                     "blur_probability"), "of random_gaussian_blur, passed over")
    | {"threads": "numbers do not depend on it", "check_image_files": "each file is checked when it is read"},
    "inner_distance_param": {"bias_filler": "there is no bias, as in its program"},
    "l1_loss_param": {"epsilon": "its program reads it nowhere"},
    "loss_param": {"label_smoothing": "core/normalizer.py refuses it"},
    "lrn_param": {"pooling_param": "of fuse_type, refused"},
    "modulated_deformable_convolution_param": dict.fromkeys(PAIRS, "convolution_base.py: per_axis"),
    "module_param": dict.fromkeys(("creator_symbol", "deleter_symbol"), "names in a library that is not loaded"),
    "multibox_loss_param": {"use_polygon": "locations with corners are refused by their shape"},
    "mult_softmax_loss_param": {"learning_multiple": "the message is refused"},
    "noise_param": None,  # SSD's data transformer reads the message too
    "norm_param": {"fix_scale": "lr_mult: 0 says it"},
    "normalize_param": {},
    "prior_box_param": {"inner_scale": "of p_type: DENSE, refused"},
    "python_param": None,
    "quantization_param": None,  # Ristretto's, of several precisions
    "resize_param": dict.fromkeys(
        ("prob", "resize_mode", "height_scale", "width_scale", "pad_mode", "pad_value", "interp_mode", "jitter", "center_object",
         "max_angle"), "refused: all that Resize.fields lacks",
    ),
    "roi_align_param": {"num_roi_per_image": "of regions without an image's number, refused by their shape"},
    "roi_pooling_param": {"use_faster_roipooling": "only its speed"},
    "spatialtransformer_param": dict.fromkeys(("mirror", "rotate", "operation"), "the message is refused"),
    "st_param": {"to_compute_dU": "only its speed"}
    | {f"theta_{i}_{j}": "by its number" for i in (1, 2) for j in (1, 2, 3)},
    "unpooling_param": dict.fromkeys(
        ("out_pad", "out_kernel_size", "out_stride", *(f"out_{pair}" for pair in PAIRS)), "all that begin with out_"
    ),
    "upsample_param": {"nearestneighbor_mode": "what is done anyway"},
    "yolo_detection_output_param": {"side": "the map has one", "label_map_file": "names for a drawing"},
    "yolo_seg_param": dict.fromkeys(("num_class", "class_scale", "use_logic_gradient", "use_hardsigmoid"), "its docstring"),
    "yolov3_param": {
        "side": "the map has one",
        "noobject_scale": "its program multiplies nothing by it",
        "iou_normalizer": "of iou_loss, refused",
    },
}  # fmt: skip


def messages() -> dict[str, str]:
    """For each message the text of all files whose classes read it, and of their bases'."""
    texts: dict[str, str] = {}
    for cls in set(REGISTRY.values()):
        if not cls.ours:
            continue
        bases = {base for base in cls.__mro__ if base.__module__.startswith("boxpresso.") and base is not Layer}
        files = {inspect.getsourcefile(base) for base in bases}
        for message in cls.messages:
            texts[message] = texts.get(message, "") + "".join(
                Path(str(file)).read_text("utf-8") for file in sorted(files)
            )
    return texts


def test_no_field_is_passed_over():
    rooms = tuple(f"boxpresso.layers.{room}." for room in ROOMS)
    read = {name for cls in REGISTRY.values() if cls.__module__.startswith(rooms) for name in cls.messages}
    texts, missing, seen = messages(), [], 0
    for message in sorted(read | set(UNREAD)):
        known = KNOWN.get(message, {})
        kind = LayerParameter.DESCRIPTOR.fields_by_name[message].message_type
        if known is None or message in DATA:
            continue
        for field in (field.name for field in kind.fields):
            seen += 1
            if field not in (*known, *HARMLESS, *UNREAD.get(message, ())) and not re.search(
                rf"\b{field}\b", texts[message]
            ):
                missing.append(f"{message}: {field}")
    assert not missing, "read them, or add them to fork_fields.py"
    assert seen > 300


def test_fields_that_are_refused_are_in_the_schema():
    """Those of EIGHT_BITS are not in all messages."""
    for message, fields in UNREAD.items():
        names = {f.name for f in LayerParameter.DESCRIPTOR.fields_by_name[message].message_type.fields}
        assert names & set(fields), message
        assert not (set(fields) - names) - {
            f for f in fields if f.endswith(("scale", "point", "weight", "output", "saturate"))
        }


@pytest.mark.parametrize(
    "text",
    [
        'type: "InnerProduct" inner_product_param { num_output: 1 relu: true }',
        'type: "InnerProduct" inner_product_param { num_output: 1 negative_slope: 0.1 }',
        'type: "BatchNorm" batch_norm_param { use_weight_bias: true }',
        'type: "Softmax" softmax_param { label_smooth_factor: 0.1 }',
        'type: "Concat" concat_param { input_scale: 1 input_scale: 0.5 }',
        'type: "ReLU" relu_param { saturate: Signed_8bit }',
        'type: "Power" power_param { eps: 0.5 }',
        'type: "Eltwise" eltwise_param { axis: 1 }',
        'type: "Reshape" reshape_param { shape { dim: 0 dim: -1 } default_insert: 2 }',
        'type: "PriorBox" prior_box_param { min_size: 4 p_type: DENSE }',
        'type: "Proposal" proposal_param { shuffle_channel: false }',
        'type: "ROIPooling" roi_pooling_param { pooled_h: 1 pooled_w: 1 pooled_size: 2 }',
        'type: "Yolov3" yolov3_param { label_smooth_eps: 0.1 }',
        'type: "DetectionAccuracy" detection_accuracy_param { coord_num: 5 }',
        'type: "MultiStageMeanfield" multi_stage_meanfield_param { forced_spatial_filter_weight: 3 }',
    ],
)
def test_a_field_that_is_not_read_is_refused(text):
    field = re.findall(r"(\w+): [\w.]+ }$", text)[0]
    with pytest.raises(LayerError, match=f"_param: {field} of a fork of Caffe is not supported; remove it"):
        Rig(text, [[[1, 2]]] * (2 if "Eltwise" in text else 1))


def test_values_that_change_nothing_are_taken():
    for text in (
        'type: "BatchNorm" batch_norm_param { use_weight_bias: false }',
        'type: "Concat" concat_param { input_scale: 1 input_zero_point: 0 output_scale: 1 engine: CAFFE }',
        'type: "Power" power_param { eps: 0.001 }',
    ):
        assert Rig(text, [[[1, 2]]]).forward()[0].shape == (1, 2)


def test_dilation_along_each_axis():
    """yjxiong's dilation_h and dilation_w."""
    x = [[[[[1, 2, 3, 4, 5]]]]]
    text = 'type: "Convolution" convolution_param { num_output: 1 kernel_h: 1 kernel_w: 2 dilation_h: 1 dilation_w: 3 }'
    assert Rig(text, x, params=[[1, 10], [0]]).forward()[0].ravel().tolist() == [41, 52]
    with pytest.raises(LayerError, match="dilation and dilation_h or dilation_w are both given"):
        Rig(text.replace("dilation_h", "dilation: 2 dilation_h"), x)


def test_data_layers_refuse_them_too():
    text = 'type: "AnnotatedData" data_param { source: "x" batch_size: 1 } annotated_data_param { yolo_data_type: 1 }'
    with pytest.raises(LayerError, match="annotated_data_param: yolo_data_type of a fork of Caffe"):
        Rig(text, [])


@pytest.mark.parametrize("field", ["max_color_shift: 3", "eigs: 0.2", "rand_crop_test: true"])
def test_a_warning_says_what_pictures_are_not_made_so(field):
    text = f'type: "DummyData" dummy_data_param {{ shape {{ dim: 1 }} }} transform_param {{ {field} }}'
    layer = parse_net(f"layer {{ {text} name: 'data' }}").layer[0]
    said = f"DummyData layer 'data': transform_param: {field.split(':')[0]} of a fork of Caffe is not supported, and is passed over"
    with pytest.warns(UserWarning, match=said):
        assert not refused_field(layer, ("transform_param",))


def test_detection_layers_take_what_changes_nothing():
    """The values that their programs have by themselves, and those of fields that nothing reads."""
    for text in (
        'type: "PriorBox" prior_box_param { p_type: CLASSIC inner_scale: 3 }',
        'type: "Proposal" proposal_param { shuffle_channel: true }',
        'type: "Yolov3" yolov3_param { side: 7 noobject_scale: 1 label_smooth_eps: 0 iou_thresh: 0.5 accumulate: true }',
        'type: "DetectionAccuracy" detection_accuracy_param { coord_num: 4 }',
        'type: "ROIPooling" roi_pooling_param { use_faster_roipooling: 1 }',
    ):
        layer = parse_net(f"layer {{ {text} }}").layer[0]
        assert not refused_field(layer, [f.name for f, _ in layer.ListFields() if f.name.endswith("_param")])


@pytest.mark.parametrize(
    ("message", "field"),
    [("frcnn_output_param", "save_output_param"), ("detectnet_augmentation_param", "noise_param")],
)
def test_a_warning_says_what_is_not_done_besides(message, field):
    layer = parse_net(f"layer {{ {message} {{ {field} {{ }} }} }}").layer[0]
    with pytest.warns(UserWarning, match=f"{message}: {field} of a fork of Caffe is not supported, and is passed over"):
        assert not refused_field(layer, (message,))


def test_what_is_passed_over_is_in_the_table():
    assert all(set(fields) <= set(UNREAD[message]) for message, fields in PASSED_OVER.items())


def test_a_net_that_is_looked_at_without_its_data_takes_them():
    text = 'layer { name: "d" type: "ImageData" top: "d" top: "l" image_data_param { source: "x" ndim_label: 3 batch_size: 2 } }'
    assert Net(parse_net(text), device="cpu", data="shapes").blobs["l"].shape == (2, 3)
    with pytest.raises(LayerError, match="ndim_label of a fork"):
        Net(parse_net(text), device="cpu")
