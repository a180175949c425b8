"""boxpresso.ops: the layers as functions of numpy's, torch's and other libraries' arrays."""

from __future__ import annotations

import gc
import inspect
import re
import subprocess
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from harness import Rig, close

import boxpresso
from boxpresso import ops
from boxpresso.device import Array, foreign, open_device
from boxpresso.ops import arrays, memory
from boxpresso.ops.operator import LAYERS, Call, local
from boxpresso.proto.errors import BoxpressoError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 5, 12, 14))
ROIS = np.array([[0.0, 2, 3, 19, 17], [1, 4, 6, 22, 21], [0, 5, 5, 12, 13], [9, 1, 1, 5, 5]])
OFFSET, MASK = RNG.uniform(-1, 1, (4, 2, 3, 2)), RNG.uniform(0, 1, (4, 1, 3, 2))
TAPS, TAP_MASK = RNG.uniform(-1, 1, (2, 2 * 2 * 9, 12, 14)), RNG.uniform(0, 1, (2, 2 * 9, 12, 14))
Y, WEIGHT, BIAS = RNG.standard_normal((2, 6, 12, 14)), RNG.standard_normal((4, 3, 3, 3)), RNG.standard_normal(4)
SIZE = "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5"

PIXELS, SIZES = RNG.standard_normal((2, 14, 3, 5)), np.array([[3.0, 4], [1, 2]])
CROPS = np.array([[0.1, 0.2, 0.8, 0.9], [0.9, 0, 0.2, 1.3], [-0.1, -0.2, 0.5, 0.6], [0.3, 0.3, 0.3, 0.3]])
PLACES, SHARES = RNG.uniform(-0.2, 1.2, (2, 6, 3, 2, 4, 2)), RNG.uniform(0, 1, (2, 6, 3, 2, 4))

MAPS, INFO = RNG.standard_normal((2, 12, 12, 14)), np.array([[24.0, 28, 1]])
ROTATED = np.array([[0, 11, 10, 9, 12, 0.4], [1, 14, 12, 8, 6, -1.1], [1, 9, 8, 12, 10, 2.5], [7, 5, 5, 4, 4, 0]])

# An operator, its arrays, its other arguments, and the layer that must give the same.
CASES = [
    ("roi_align", {"x": X, "rois": ROIS}, dict(output_size=(3, 2), spatial_scale=0.5, sampling_ratio=2),
     f'type: "ROIAlign" roi_align_param {{ {SIZE} sampling_ratio: 2 aligned: true }}'),
    ("roi_pool", {"x": X, "rois": ROIS}, dict(output_size=(3, 2), spatial_scale=0.5),
     f'type: "ROIPooling" roi_pooling_param {{ {SIZE} }}'),
    ("deform_roi_pool", {"x": X, "rois": ROIS, "offset": OFFSET}, dict(output_size=(3, 2), spatial_scale=0.5, gamma=0.2),
     f'type: "DeformROIPooling" deform_roi_pooling_param {{ {SIZE} gamma: 0.2 }}'),
    ("modulated_deform_roi_pool", {"x": X, "rois": ROIS, "offset": OFFSET, "mask": MASK},
     dict(output_size=(3, 2), spatial_scale=0.5, sampling_ratio=1),
     f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {SIZE} sampling_ratio: 1 }}'),
    ("prroi_pool", {"x": X, "rois": ROIS}, dict(output_size=(3, 2), spatial_scale=0.5),
     f'type: "PrROIPooling" prroi_pooling_param {{ {SIZE} }}'),
    ("ps_roi_align", {"x": MAPS, "rois": ROIS}, dict(output_size=2, spatial_scale=0.5, sampling_ratio=2),
     'type: "PSROIAlign" psroi_align_param { spatial_scale: 0.5 output_dim: 3 group_size: 2 sampling_ratio: 2 }'),
    ("deformable_psroi_pool", {"x": MAPS, "rois": ROIS, "trans": OFFSET[:, :, :2, :2]},
     dict(spatial_scale=0.5, output_dim=3, group_size=2, pooled_size=2, sample_per_part=3, trans_std=0.1),
     'type: "DeformablePSROIPooling" deformable_psroi_pooling_param { spatial_scale: 0.5 output_dim: 3 group_size: 2 '
     "pooled_size: 2 sample_per_part: 3 trans_std: 0.1 }"),
    ("rotate_roi_pool", {"x": X, "rois": ROTATED, "image_info": INFO}, dict(output_size=(3, 2), spatial_scale=0.5),
     f'type: "RotateROIPooling" rotate_pooling_param {{ {SIZE} }}'),
    ("roi_align_rotated", {"x": X, "rois": ROTATED}, dict(output_size=(3, 2), spatial_scale=0.5, sampling_ratio=2),
     f'type: "ROIAlignRotated" roi_align_rotated_param {{ {SIZE} sampling_ratio: 2 aligned: true }}'),
    ("riroi_align_rotated", {"x": MAPS, "rois": ROTATED}, dict(output_size=(3, 2), spatial_scale=0.5, num_orientations=4),
     f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {SIZE} num_orientations: 4 }}'),
    ("permute", {"x": X}, dict(dims=(0, 2, -1, 1)), 'type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 }'),
    ("deform_conv2d", {"x": Y, "offset": TAPS, "weight": WEIGHT, "bias": BIAS, "mask": TAP_MASK}, dict(padding=1),
     'type: "ModulatedDeformableConvolution" deformable_convolution_param { num_output: 4 kernel_size: 3 pad: 1 group: 2 '
     "deformable_group: 2 }"),
    ("deform_conv2d", {"x": Y, "offset": TAPS[:, :, :6, :7], "weight": WEIGHT}, dict(stride=2, padding=(1, 1)),
     'type: "DeformableConvolution" deformable_convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 group: 2 '
     "deformable_group: 2 bias_term: false }"),
    ("multi_scale_deformable_attn",
     {"value": PIXELS, "spatial_shapes": SIZES, "level_start_index": np.array([0.0, 12]), "sampling_locations": PLACES,
      "attention_weights": SHARES}, {}, 'type: "MultiScaleDeformableAttention"'),
    ("crop_and_resize", {"x": X, "boxes": CROPS, "box_indices": np.array([0.0, 1, 1, 0])},
     dict(crop_size=(3, 2), extrapolation_value=0.5),
     "type: \"CropAndResize\" python_param { param_str: \"{'crop_size': [3, 2], 'extrapolation_value': 0.5}\" }"),
    ("point_sample", {"x": X, "points": RNG.uniform(-0.1, 1.1, (2, 4, 3, 2))}, {}, 'type: "PointSample"'),
    ("carafe", {"x": Y, "masks": RNG.uniform(0, 1, (2, 18, 24, 28))}, dict(kernel_size=3, group_size=2),
     "type: \"Carafe\" python_param { param_str: \"{'kernel_size': 3, 'group_size': 2}\" }"),
    ("corner_pool", {"x": X}, dict(mode="left"),
     "type: \"CornerPool\" python_param { param_str: \"{'mode': 'left'}\" }"),
    ("correlation", {"x": X, "other": 2 - X}, dict(kernel_size=3, stride=2, padding=1),
     "type: \"LocalCorrelation\" python_param { param_str: \"{'kernel_size': 3, 'stride': 2, 'padding': 1}\" }"),
]  # fmt: skip
IDS = [f"{i}-{case[0]}" for i, case in enumerate(CASES)]
IMAGES = [case for case in CASES if "layout" in getattr(ops, case[0]).names]
LEARNED = ("weight", "bias")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (dict(output_size=-1), "output_size must be above 0, got -1"),
        (dict(output_size=(2, 0)), r"output_size must be above 0, got \(2, 0\)"),
        (dict(output_size=2.5), "output_size must be one whole number or two, got 2.5"),
        (dict(output_size=(1, 2, 3)), r"output_size must be one whole number or two, got \(1, 2, 3\)"),
        (dict(x=None), "roi_align: x must be an array, got None"),
        (dict(rois=None), "roi_align: rois must be an array, got None"),
        (dict(spatial_scale="a"), "roi_align: spatial_scale cannot be 'a'"),
        (dict(sampling_ratio=2.5), "roi_align: sampling_ratio cannot be '2.5'"),
        (dict(rois=ROIS[:, :4]), r"must be \(K, 5\).*got \(4, 4\)"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(wrong, text):
    """The argument and what was seen of it."""
    with pytest.raises(BoxpressoError, match=text):
        ops.roi_align(**{"x": X, "rois": ROIS, "output_size": 2, **wrong})


WRONG_INPUTS = {
    "None": lambda x: None, "text": lambda x: "a", "flat": lambda x: x.reshape(-1), "with an axis more": lambda x: x[None],
    "complex": lambda x: x.astype(complex), "objects": lambda x: x.astype(object), "of dates": lambda x: x.astype("datetime64[s]"),
}  # fmt: skip
WRONG_OPTIONS = ["a", -1, 2.5, float("nan"), 1e30, 2**40, (1, 2, 3), None]
MAY_BE = {  # what is no mistake there
    ("trans", "None"), ("offset", "None"), ("bias", "None"), ("mask", "None"), ("bias", "flat"), ("image_info", "flat"),
    ("image_info", "with an axis more"), ("level_start_index", "flat"), ("box_indices", "flat"), ("box_indices", "with an axis more"),
}  # fmt: skip
OTHER_WORDS = {
    "x": "of shape",
    "spatial_scale": "samples a bin",
    "crop_size": "pooled_h",
    "weight": "offsets",
    "other": "both maps",
}


@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_each_wrong_argument_is_named(case):
    """A wrong argument of any operator is a BoxpressoError that has its name, or is no mistake."""
    name, inputs, options, _ = CASES[case]
    op, inputs = getattr(ops, name), as_type(inputs, np.float32)
    tried = [(argument, how, change(inputs[argument])) for argument in inputs for how, change in WRONG_INPUTS.items()]
    tried += [(argument, "option", value) for argument in op.options for value in WRONG_OPTIONS]
    refused = [(*each, text) for each in tried if (text := refusal(op, {**inputs, **options, each[0]: each[2]}))]
    for argument, _, value, text in refused:
        words = rf"\b({argument}s?|{OTHER_WORDS.get(argument, argument)})\b"
        assert re.search(words, text.replace(f"'{name}'", "")), (argument, value, text)
    for argument, how in {(argument, how) for argument, how, *_ in tried} - {
        (argument, how) for argument, how, *_ in refused
    }:
        any_axes = argument == "x" and "layout" not in op.names and how in ("flat", "with an axis more")
        assert how == "option" or any_axes or (argument, how) in MAY_BE, (argument, how)
    assert len(refused) > len(inputs) * 3


BOXES, SCORES = np.array([[0, 0, 4, 4], [1, 1, 5, 5]], np.float32), np.array([0.5, 0.6], np.float32)
TURNED, QUADS = np.hstack([BOXES, SCORES[:, None]]), np.array([[0, 0, 4, 0, 4, 4, 0, 4]], np.float32)
CHOOSING = {  # functions that are no Operator, with arguments that fit
    "nms": dict(boxes=BOXES, scores=SCORES, iou_threshold=0.5, offset=0),
    "batched_nms": dict(boxes=BOXES, scores=SCORES, idxs=np.array([0, 1]), iou_threshold=0.5),
    "nms_rotated": dict(boxes=TURNED, scores=SCORES, iou_threshold=0.5),
    "batched_nms_rotated": dict(boxes=TURNED, scores=SCORES, idxs=np.array([0, 1]), iou_threshold=0.5),
    "soft_nms": dict(boxes=BOXES, scores=SCORES, iou_threshold=0.3, sigma=0.5, min_score=0.1, method="linear", offset=1),
    "matrix_nms": dict(boxes=BOXES, scores=SCORES, idxs=np.array([0, 1]), sigma=2.0, min_score=0.0, method="linear"),
    "box_iou_rotated": dict(boxes1=TURNED, boxes2=TURNED, mode="iou"),
    "polygon_iou": dict(polygons1=QUADS, polygons2=QUADS, mode="iof"),
    "paste_masks": dict(masks=np.ones((2, 5, 5), np.float32), boxes=BOXES, image_size=(8, 8), threshold=0.5, mode="torchvision"),
    "multi_scale_roi_align": dict(
        features=[X.astype(np.float32), X[:, :, ::2, ::2].astype(np.float32)], rois=ROIS, output_size=2, spatial_scales=[1, 0.5],
        canonical_scale=224, canonical_level=4, sampling_ratio=2,
    ),
}  # fmt: skip
FREE = ("iou_threshold", "threshold", "min_score", "canonical_level", "sampling_ratio")  # numbers of any size


@pytest.mark.parametrize("name", CHOOSING)
def test_each_wrong_argument_of_what_chooses_is_named(name):
    """The same of the functions that are no Operator."""
    arguments, op = CHOOSING[name], getattr(ops, name)
    op(**arguments)
    for argument, value in arguments.items():
        array = isinstance(value, np.ndarray)
        changes = WRONG_INPUTS if array else {repr(one): lambda x, one=one: one for one in WRONG_OPTIONS}
        for how, change in changes.items():
            text = refusal(op, {**arguments, argument: change(value)})
            flat = array and value.ndim == 1 and how == "flat"
            number = argument in FREE and isinstance(change(value), (int, float))
            none = (argument, how) in (
                ("idxs", "None"),
                ("threshold", "None"),
                ("sampling_ratio", "None"),
            ) and not name.startswith("batched")
            large = (argument, how) in (
                ("sigma", "2.5"),
                ("sigma", "1e+30"),
                ("sigma", f"{2**40}"),
                ("canonical_scale", "2.5"),
            )
            large = large or (argument, how) in (("canonical_scale", "1e+30"), ("canonical_scale", f"{2**40}"))
            if text or not (flat or number or none or large):
                assert re.search(rf"\b{argument}\b", text) or (argument, how) in (("features", "(1, 2, 3)"), ("spatial_scales", "None")), (
                    argument, how, text,
                )  # fmt: skip


def refusal(op, arguments: dict) -> str:
    """The text of its BoxpressoError, "" where there is none."""
    try:
        op(**arguments)
    except BoxpressoError as error:
        return str(error)
    return ""


def test_no_other_library_is_imported():
    """boxpresso.torch beside it is a name that one asks for: the package and its operators do without torch and JAX."""
    code = "import sys; from boxpresso import *; import boxpresso.ops; print(*({'torch', 'jax', 'cupy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def layer_of(inputs: dict, text: str, dtype: type) -> Rig:
    bottoms = [a for name, a in inputs.items() if name not in LEARNED]
    return Rig(text, bottoms, dtype=dtype, params=[inputs[name] for name in LEARNED if name in inputs])


def wanted(name: str, inputs: dict, text: str, dtype: type, grad: np.ndarray) -> tuple[np.ndarray, dict]:
    """The layer's top, and its gradients by name."""
    rig = layer_of(inputs, text, dtype)
    bottoms = [n for n in inputs if n not in LEARNED]
    top = rig.forward()[0]
    diffs = dict(zip(bottoms, rig.backward([grad], [n in gradients(name, inputs) for n in bottoms])))
    diffs.update(zip([n for n in LEARNED if n in inputs], rig.param_diffs()))
    return top, diffs


def gradients(name: str, inputs: dict) -> list[str]:
    """The inputs that have a gradient."""
    return [n for n in inputs if n not in getattr(ops, name).constant]


def as_type(inputs: dict, dtype: type) -> dict:
    return {name: value.astype(dtype) for name, value in inputs.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_as_the_layer(name, inputs, options, text, dtype):
    op, inputs = getattr(ops, name), as_type(inputs, dtype)
    result = op(**inputs, **options)
    assert type(result) is np.ndarray
    assert result.dtype == dtype
    grad = RNG.standard_normal(result.shape).astype(dtype)
    top, diffs = wanted(name, inputs, text, dtype, grad)
    assert np.array_equal(result, top)
    grads = getattr(ops, f"{name}_backward")(grad, **inputs, **options)
    assert list(grads) == gradients(name, inputs)
    for key, value in grads.items():
        close(value, diffs[key], rtol=1e-5, atol=1e-6, title=key)  # the rig takes 1 off what it added to


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_float16_is_rounded_once(name, inputs, options, text):
    op, halves = getattr(ops, name), as_type(inputs, np.float16)
    floats = {n: a.astype(np.float32) for n, a in halves.items()}
    result = op(**halves, **options)
    assert result.dtype == np.float16
    assert np.array_equal(result, op(**floats, **options).astype(np.float16))
    grads, of_floats = (
        op.backward(result.astype(next(iter(a.values())).dtype), **a, **options) for a in (halves, floats)
    )
    for key, value in grads.items():
        assert np.array_equal(value, of_floats[key].astype(np.float16))


def test_the_gradient_of_boxes_beside_float16_has_the_range_of_float32():
    """A box is a share of the image, so that its gradient is as large as the image is wide, for each channel."""
    rng = np.random.default_rng(7)
    x, boxes = rng.standard_normal((1, 64, 40, 600)).astype(np.float16), np.float32([[0.1, 0.05, 0.9, 0.93]])
    args = dict(boxes=boxes, box_indices=np.zeros(1), crop_size=7)
    grad = np.full((1, 64, 7, 7), 30, np.float16)
    got, wanted = (ops.crop_and_resize_backward(grad.astype(a.dtype), a, **args) for a in (x, x.astype(np.float32)))
    assert (got["x"].dtype, got["boxes"].dtype) == (np.float16, np.float32)
    np.testing.assert_array_equal(got["boxes"], wanted["boxes"])
    assert abs(got["boxes"]).max() > np.finfo(np.float16).max
    halves = ops.crop_and_resize_backward(grad / 300, x, **{**args, "boxes": boxes.astype(np.float16)})
    assert halves["boxes"].dtype == np.float16


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    ("name", "inputs", "options", "text"), IMAGES, ids=lambda x: x if isinstance(x, str) and x.isidentifier() else ""
)
def test_channels_last(name, inputs, options, text, dtype):
    op, inputs = getattr(ops, name), as_type(inputs, dtype)
    turned = {**inputs, "x": np.ascontiguousarray(inputs["x"].transpose(0, 2, 3, 1))}
    result, other = op(**inputs, **options), op(**turned, **options, layout="NHWC")
    assert np.array_equal(other.transpose(0, 3, 1, 2), result)
    grads = op.backward(result, **inputs, **options)
    others = op.backward(np.ascontiguousarray(other), **turned, **options, layout="NHWC")
    others["x"] = others["x"].transpose(0, 3, 1, 2)
    for key, value in grads.items():
        assert np.array_equal(others[key], value)


def test_the_callers_memory_is_used():
    inputs = {"x": X.copy(), "rois": ROIS.copy(), "offset": OFFSET.copy()}
    call = Call(ops.deform_roi_pool, list(inputs.values()), {"output_size": (3, 2)})
    for blob, array in zip(call.bottoms, inputs.values()):
        assert np.shares_memory(blob.data, array)
    result = call.forward()
    assert np.shares_memory(call.top[0].data, result)
    for array in inputs.values():
        array.flags.writeable = False  # and never written to
    assert np.array_equal(ops.deform_roi_pool(**inputs, output_size=(3, 2)), result)


def test_what_is_not_contiguous_or_no_array():
    wide = np.zeros((2, 5, 12, 28))
    wide[..., ::2] = X
    one = ops.roi_align(X, ROIS, 2)
    assert np.array_equal(ops.roi_align(wide[..., ::2], ROIS.tolist(), (2, 2)), one)
    assert np.array_equal(ops.roi_align(np.asfortranarray(X), ROIS.astype(np.int32), 2), one)


class Foreign:
    """An array of some other library, which speaks DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options):
        options.pop("stream", None)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_any_library_that_speaks_dlpack():
    x = Foreign(X)
    assert np.shares_memory(arrays.take(x, open_device("cpu")), X)
    assert np.array_equal(ops.roi_align(x, Foreign(ROIS), 2), ops.roi_align(X, ROIS, 2))

    class WithNamespace(Foreign):
        def __array_namespace__(self):
            return SimpleNamespace(from_dlpack=lambda made: ("theirs", made))

    assert ops.roi_align(WithNamespace(X), ROIS, 2)[0] == "theirs"


class NoGpu(SimpleNamespace):
    """What the reader of a capsule asks of a GPU."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def test_dlpack_of_a_gpu_is_read_right():
    """The capsule's fields, on the CPU's memory: address, shape, type."""
    gpu = NoGpu(stream=SimpleNamespace(handle=7), kind="cuda", name="cuda:0")
    taken = foreign.from_dlpack(Foreign(X[1]), gpu)
    assert (taken.shape, taken.dtype) == (X[1].shape, X.dtype)
    assert taken.address(False) == X[1].ctypes.data
    with pytest.raises(BoxpressoError, match="contiguous"):
        foreign.from_dlpack(Foreign(X[:, 1]), gpu)


class Interface:
    """A GPU array that offers __cuda_array_interface__ alone."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.address(False), True), "version": 3,
            "stream": 1,
        }  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_gpu_arrays_of_others(name, inputs, options, text, device):
    if device == "cpu":
        pytest.skip("the CPU's arrays are tested above")
    gpu, op = open_device(device), getattr(ops, name)
    inputs = as_type(inputs, np.float32)
    result = op(**{n: Interface(gpu.table(a, np.float32)) for n, a in inputs.items()}, **options)
    assert isinstance(result, Array)
    close(np.asarray(result), op(**inputs, **options))
    grads = op.backward(result, **{n: gpu.table(a, np.float32) for n, a in inputs.items()}, **options)
    for key, value in op.backward(np.asarray(result), **inputs, **options).items():
        close(np.asarray(grads[key]), value)
    first = next(iter(inputs))
    mixed = {**inputs, first: gpu.table(inputs[first], np.float32)}
    with pytest.raises(BoxpressoError, match="must be on cuda:0"):
        op(**mixed, **options) if len(inputs) > 1 else arrays.take(X, gpu)


def test_no_regions_and_no_images():
    none = np.zeros((0, 5))
    assert ops.roi_align(X, none, 2).shape == (0, 5, 2, 2)
    assert ops.roi_align(X.transpose(0, 2, 3, 1), none, 2, layout="NHWC").shape == (0, 2, 2, 5)
    grads = ops.roi_align_backward(np.zeros((0, 5, 2, 2)), X, none, 2)
    assert grads["x"].shape == X.shape
    assert not grads["x"].any()
    assert not ops.roi_pool(X[:0], ROIS, 2).any()
    assert ops.roi_pool_backward(np.ones((4, 5, 2, 2)), X[:0], ROIS, 2)["x"].shape == X[:0].shape


def test_layers_are_kept_but_not_too_many():
    ops.forget()
    call = Call(ops.roi_pool, [X, ROIS], {"output_size": 2})
    layer = call.layer
    first = call.forward()
    assert Call(ops.roi_pool, [X[:1], ROIS[:1]], {"output_size": 2}).layer is layer
    other = ops.roi_pool(X[::-1], ROIS, 2)  # the kept layer has seen another call now
    assert not np.array_equal(first, other)
    assert np.array_equal(call.backward(first, [True, False])[0], ops.roi_pool_backward(first, X, ROIS, 2)["x"])
    for size in range(1, 2 * LAYERS):
        ops.roi_align(X, ROIS, size)
    assert len(local.layers) == LAYERS
    assert np.array_equal(ops.roi_pool(X, ROIS, 2), first)
    ops.forget()
    assert not hasattr(local, "layers")


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_backward_after_other_calls_of_the_same_layer(name, inputs, options, text):
    op = getattr(ops, name)
    call = Call(op, *op.bind(**inputs, **options))
    result = call.forward()
    other = {n: np.concatenate([a, -a]) if len(a) == 2 and n != "rois" else 2 * a for n, a in inputs.items()}
    other.update({n: inputs[n] for n in ("spatial_shapes", "level_start_index") if n in inputs})
    op(**other, **options)
    wanted = [n in gradients(name, inputs) for n in op.inputs]
    made = dict(zip(op.inputs, call.backward(result, [w and a is not None for w, a in zip(wanted, call.arrays)])))
    for key, value in op.backward(result, **inputs, **options).items():
        assert np.array_equal(made[key], value), key


def test_only_the_gradients_that_are_wanted():
    inputs = {"x": X, "rois": ROIS, "offset": OFFSET}
    grads = ops.deform_roi_pool_backward(np.ones((4, 5, 3, 2)), **inputs, output_size=(3, 2), wanted=["offset"])
    assert list(grads) == ["offset"]
    both = ops.roi_align_backward(np.ones((4, 5, 2, 2)), X, ROIS, 2, sampling_ratio=2, wanted=["rois", "x"])
    assert list(both) == ["x", "rois"]
    assert both["rois"][:3, 1:].all()
    with pytest.raises(BoxpressoError, match="wanted names"):
        ops.deform_roi_pool_backward(np.ones((4, 5, 3, 2)), **inputs, output_size=(3, 2), wanted=["mask"])


def test_signatures_are_those_that_one_writes():
    assert list(inspect.signature(ops.roi_align).parameters)[:7] == [
        "x", "rois", "output_size", "spatial_scale", "sampling_ratio", "aligned", "pool_mode",
    ]  # fmt: skip
    assert "RoIAlign" in ops.roi_align.__doc__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.roi_align(X.astype(int), ROIS, 2), "float16, float32 or float64"),
        (lambda: ops.roi_align(X, ROIS, (1, 2, 3)), "output_size"),
        (lambda: ops.roi_align(X, ROIS, 0), "output_size must be above 0, got 0"),
        (lambda: ops.roi_align(X, ROIS, 2, pool_mode="min"), "pool_mode"),
        (lambda: ops.roi_align(X, ROIS, 2, layout="CHWN"), "layout"),
        (lambda: ops.roi_align(X, ROIS[:, 1:], 2), r"\(K, 5\)"),
        (lambda: ops.roi_align(X[0], ROIS, 2, layout="NHWC"), "4 axes"),
        (lambda: ops.roi_align_backward(X, X, ROIS, 2), "grad must be"),
        (lambda: ops.deform_conv2d(Y, TAPS, WEIGHT, BIAS[:2], padding=1), "bias must be of shape"),
        (lambda: ops.ps_roi_pool(X, ROIS, (2, 3)), "as high as wide"),
        (lambda: ops.ps_roi_align(X, ROIS, 2), "channels"),
        (lambda: ops.nms(ROIS, ROIS[:, 0], 0.5), r"shape \(N, 4\)"),
        (lambda: ops.nms(ROIS[:, :4], ROIS[:, 0], 0.5, offset=2), "offset"),
        (lambda: ops.batched_nms(ROIS[:, :4], ROIS[:, 0], [1], 0.5), "idxs"),
        (lambda: ops.permute(X, (0, 1, 2, 2)), "each axis"),
        (lambda: ops.roi_align(SimpleNamespace(__dlpack_device__=lambda: (10, 0)), ROIS, 2), "device 10"),
    ],
)
def test_errors(call, message):
    with pytest.raises(BoxpressoError, match=message):
        call()


WIDE = np.ones((2, 9, 24, 28))  # masks for carafe's kernels of 3 x 3


def test_options_of_numpy_are_pythons():
    """A layer reads them from a text, which numpy's own would not fit into."""
    three, one = np.int64(3), np.int32(1)
    assert np.array_equal(ops.carafe(X, WIDE, three, one), ops.carafe(X, WIDE, 3, 1))
    assert np.array_equal(ops.correlation(X, X, one, three), ops.correlation(X, X, 1, 3))
    assert np.array_equal(ops.corner_pool(X, np.str_("top")), ops.corner_pool(X, "top"))
    assert np.array_equal(ops.roi_pool(X, ROIS, 2, mmcv=np.True_), ops.roi_pool(X, ROIS, 2, mmcv=True))


def test_an_option_that_is_refused_spoils_no_call_that_follows():
    """3.0 is equal to 3, and no size of a kernel: a plan that is kept for the one is none for the other."""
    ops.forget()
    with pytest.raises(BoxpressoError, match="kernel_size must be odd"):
        ops.carafe(X, WIDE, 3.0, 1, 2)
    assert ops.carafe(X, WIDE, 3, 1, 2).shape == (2, 5, 24, 28)


@pytest.mark.parametrize("outside", [np.nan, np.inf, -np.inf])
def test_what_lies_outside_may_be_no_number(outside):
    crop = ops.crop_and_resize(np.ones((1, 1, 3, 3)), np.array([[0.0, 0, 2, 1]]), np.zeros(1), 2, "bilinear", outside)
    np.testing.assert_array_equal(crop[0, 0], [[1, 1], [outside, outside]])


def test_levels_of_an_image_of_any_number():
    maps, boxes = [X, X[:, :, ::2, ::2]], np.array([[0.0, 2, 3, 19, 17]])
    pooled = ops.multi_scale_roi_align(maps, boxes, 2, image_size=24)
    for size in (np.int64(24), np.array([24, 24])):
        assert np.array_equal(ops.multi_scale_roi_align(maps, boxes, 2, image_size=size), pooled)
    for wrong in ((0, 24), "24", 24.5):
        with pytest.raises(BoxpressoError, match="image_size must be"):
            ops.multi_scale_roi_align(maps, boxes, 2, image_size=wrong)
    with pytest.raises(BoxpressoError, match="canonical_level must be finite"):
        ops.multi_scale_roi_align(maps, boxes, 2, image_size=24, canonical_level=np.nan)


def test_permute_of_a_number():
    """An array without axes stays one."""
    assert ops.permute(np.float32(3).reshape(()), ()).shape == ()
    slope = ops.permute_backward(np.array(2.0), np.array(3.0), ())["x"]
    assert (slope.shape, slope.item()) == ((), 2.0)


def test_permute_that_changes_nothing_is_a_copy():
    made = ops.permute(X, (0, 1, 2, 3))
    assert np.array_equal(made, X)
    assert not np.shares_memory(made, X)
    assert np.array_equal(ops.permute_backward(made, X, (0, 1, 2, 3))["x"], X)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_roi_align_with_its_argmax(dtype, ratio, layout):
    """The map's bilinear sample at each place is the maximum, also of a call that comes after others of its layer."""
    for channels in (5, 17, 5, 5, 17):
        x, real = (
            RNG.standard_normal((2, channels, 12, 14)).astype(dtype),
            np.float64 if dtype == np.float64 else np.float32,
        )
        turn = (lambda a, to: np.ascontiguousarray(a.transpose(to))) if layout == "NHWC" else (lambda a, to: a)
        arguments = turn(x, (0, 2, 3, 1)), ROIS, (3, 2), 0.5, ratio
        result, y, at = (turn(a, (0, 3, 1, 2)) for a in ops.roi_align_argmax(*arguments, layout=layout))
        assert (result.dtype, y.dtype, at.dtype) == (dtype, real, real)
        assert np.array_equal(result, ops.roi_align(x, ROIS, (3, 2), 0.5, ratio, pool_mode="max"))
        for k, c, i, j in np.ndindex(result.shape):
            if ROIS[k, 0] == 9:
                assert (y[k, c, i, j], at[k, c, i, j]) == (-1, -1)
                continue
            v, u = np.clip(y[k, c, i, j], 0, 11), np.clip(at[k, c, i, j], 0, 13)
            weights = np.maximum(1 - abs(v - np.arange(12)), 0)[:, None] * np.maximum(1 - abs(u - np.arange(14)), 0)
            value = (weights * x[int(ROIS[k, 0]), c].astype(np.float64)).sum()
            assert abs(value - result[k, c, i, j]) < (2e-3 if dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("channels", [5, 16, 37])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_roi_pool_with_its_argmax(dtype, channels, layout):
    x, grad = (RNG.standard_normal(shape).astype(dtype) for shape in ((2, channels, 12, 14), (4, channels, 3, 2)))
    wanted, slope = ops.roi_pool(x, ROIS, (3, 2), 0.5), ops.roi_pool_backward(grad, x, ROIS, (3, 2), 0.5)["x"]
    flat = x.reshape(2, channels, -1)
    turn = (lambda a, to: np.ascontiguousarray(a.transpose(to))) if layout == "NHWC" else (lambda a, to: a)
    arguments = turn(x, (0, 2, 3, 1)), ROIS, (3, 2), 0.5
    result, argmax = (turn(a, (0, 3, 1, 2)) for a in ops.roi_pool_argmax(*arguments, layout=layout))
    assert argmax.dtype == np.int32
    assert np.array_equal(result, wanted)
    for k, image in enumerate(ROIS[:, 0].astype(int)):
        for c in range(channels):
            indices, largest = argmax[k, c].ravel(), wanted[k, c].ravel()
            if image == 9:
                assert (indices == -1).all()
            else:
                assert np.array_equal(flat[image, c, indices], largest)
    for places in (None, turn(argmax, (0, 2, 3, 1))):
        made = ops.roi_pool_backward(turn(grad, (0, 2, 3, 1)), *arguments, layout=layout, argmax=places)["x"]
        assert np.array_equal(turn(made, (0, 3, 1, 2)), slope)
    other = -argmax  # its own places are used, and they are not remembered
    assert not np.array_equal(ops.roi_pool_backward(grad, x, ROIS, (3, 2), 0.5, argmax=other)["x"], slope)
    assert np.array_equal(ops.roi_pool_backward(grad, x, ROIS, (3, 2), 0.5)["x"], slope)
    with pytest.raises(BoxpressoError, match="argmax must be"):
        ops.roi_pool_backward(grad, x, ROIS, (3, 2), 0.5, argmax=argmax[1:])


def test_memory_of_results_is_used_again():
    ops.forget()
    x = RNG.standard_normal((2, 64, 40, 60)).astype(np.float32)
    made = ops.permute(x, (0, 2, 3, 1))
    where, view = made.ctypes.data, made[1, 3:]
    assert where % 64 == 0
    del made
    other = ops.permute(-x, (0, 2, 3, 1))  # somebody looks at the first still
    assert not np.shares_memory(view, other)
    assert np.array_equal(view, x.transpose(0, 2, 3, 1)[1, 3:])
    del view
    again = ops.permute(x[:, :, 1:], (0, 2, 3, 1))  # a little smaller
    assert again.ctypes.data == where
    del again, other
    assert sum(map(len, memory.free.values())) == 2
    ops.forget()
    assert not memory.free


def test_arguments_are_bound_as_python_does():
    one = ops.roi_align(X, ROIS, 2, 0.5)
    assert np.array_equal(ops.roi_align(rois=ROIS, output_size=[2, 2], spatial_scale=0.5, x=X), one)
    assert np.array_equal(ops.roi_align(X, ROIS, np.array([2, 2]), 0.5), one)  # what cannot be a key is right as well
    for wrong in (dict(), dict(output_size=2, x=X), dict(output_size=2, size=3)):
        with pytest.raises(TypeError, match="argument"):
            ops.roi_align(X, ROIS, **wrong)
    with pytest.raises(TypeError, match="too many"):
        ops.roi_align(X, ROIS, 2, 0.5, 0, True, "avg", "NHWC")


def test_ops_are_reached_from_the_package():
    assert boxpresso.ops.roi_align is ops.roi_align


def test_a_call_that_is_known_takes_other_arrays_and_lets_go_of_them():
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(3):
        x, rois = rng.standard_normal((2, 5, 9, 8)).astype(np.float32), np.array([[1, 1, 1, 7, 6]], np.float32)
        got = ops.roi_align(x, rois, (2, 3))
        ops.roi_align(x[:1], np.array([[0, 1, 1, 7, 6]], np.float32), (2, 3))  # the same layer, other shapes
        np.testing.assert_array_equal(ops.roi_align(x, rois, (2, 3)), got)
        np.testing.assert_allclose(
            ops.roi_align(x.transpose(0, 1, 3, 2).copy().transpose(0, 1, 3, 2), rois, (2, 3)), got
        )
        np.testing.assert_allclose(ops.roi_align(x.astype(np.float64), rois, (2, 3)), got, rtol=1e-5, atol=1e-6)
        seen.append((weakref.ref(x), got.copy(), got))
        del x
        gc.collect()
        assert seen[-1][0]() is None
    assert all((before == now).all() for _, before, now in seen)  # results are the caller's
    assert not (seen[0][1] == seen[1][1]).all()


# Suppression


def kept_one_by_one(boxes, scores, threshold, offset=0) -> list[int]:
    """Greedy, in plain Python."""
    survivors: list[int] = []
    for i in sorted(range(len(boxes)), key=lambda i: (-scores[i], i)):
        for k in survivors:
            low, high = np.maximum(boxes[i][:2], boxes[k][:2]), np.minimum(boxes[i][2:], boxes[k][2:])
            shared = np.maximum(high - low + offset, 0).prod()
            areas = [(boxes[j][2:] - boxes[j][:2] + offset).prod() for j in (i, k)]
            if float(shared / (sum(areas) - shared)) > threshold:
                break
        else:
            survivors.append(i)
    return survivors


@pytest.mark.later(but=1)
@pytest.mark.parametrize("offset", [0, 1])
def test_nms(offset, device):
    low = RNG.integers(0, 40, (200, 2)).astype(np.float32)
    boxes, scores = (
        np.concatenate([low, low + RNG.integers(1, 20, (200, 2))], 1).astype(np.float32),
        RNG.integers(0, 50, 200) / 50,
    )
    for threshold in (0.1, 0.25, 0.5, 0.7):
        assert ops.nms(boxes, scores, threshold, offset).tolist() == kept_one_by_one(boxes, scores, threshold, offset)
    assert ops.nms(boxes, scores, 0.5).dtype == np.int64
    assert ops.nms(boxes[:0], scores[:0], 0.5).shape == (0,)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_boxes_in_the_other_order_of_bytes_are_the_same_numbers(dtype):
    rng = np.random.default_rng(0)
    boxes, scores = rng.random((6, 4)) + np.array([0, 0, 1, 1]), rng.random(6)
    turned = rng.random((6, 5))
    swapped = np.dtype(dtype).newbyteorder()
    for made in (
        lambda of: ops.nms(boxes.astype(of), scores.astype(of), 0.5),
        lambda of: ops.soft_nms(boxes.astype(of), scores.astype(of))[0],
        lambda of: ops.matrix_nms(boxes.astype(of), scores.astype(of))[0],
        lambda of: ops.box_iou_rotated(turned.astype(of), turned.astype(of)),
    ):
        one, two = made(dtype), made(swapped)
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


def test_nms_keeps_an_overlap_of_the_threshold():
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1.0]])
    assert ops.nms(boxes, np.array([0.5, 0.6]), 0.5).tolist() == [1, 0]
    assert ops.nms(boxes, np.array([0.5, 0.6]), 0.4999).tolist() == [1]


def test_batched_nms_is_nms_of_each_class():
    low = RNG.uniform(0, 20, (90, 2))
    boxes, scores, classes = np.concatenate([low, low + 8], 1), RNG.random(90), RNG.integers(0, 3, 90)
    wanted = np.concatenate(
        [np.flatnonzero(classes == c)[ops.nms(boxes[classes == c], scores[classes == c], 0.3)] for c in range(3)]
    )
    got = ops.batched_nms(boxes, scores, classes, 0.3)
    assert sorted(got.tolist()) == sorted(wanted.tolist())
    assert (np.diff(scores[got]) <= 0).all()


@pytest.mark.parametrize("dtype", ["u1", "u8", "i1", "i4", "?", "f4"])
def test_scores_of_any_numbers(dtype):
    """The least has no negative, and those without a sign have none."""
    least, most = {"?": (0, 1), "f4": (-np.inf, np.inf)}.get(dtype) or (np.iinfo(dtype).min, np.iinfo(dtype).max)
    boxes = np.array([[0, 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 29]], np.float32)
    for scores, wanted in (([least, most, most], [1, 2]), ([most, least, least], [0, 2])):
        values = np.array(scores, dtype)
        assert ops.nms(boxes, values, 0.5).tolist() == wanted
        assert ops.batched_nms(boxes, values, np.array([3, 3, 1]), 0.5).tolist() == wanted


def test_nms_rotated():
    boxes = np.array([[0, 0, 10, 2, 0.5], [0, 0, 10, 2, 0.6], [0, 0, 10, 2, 2.0], [3.5, 1.9, 1, 1, 0]])
    scores = np.array([0.9, 0.8, 0.7, 0.6])
    assert ops.nms_rotated(boxes, scores, 0.3).tolist() == [0, 2, 3]
    # the small box lies on the first where that turns clockwise, y going down, and not where it turns the other way
    assert ops.nms_rotated(boxes, scores, 0.04).tolist() == [0]
    assert ops.nms_rotated(boxes[[0, 3]], scores[:2], 0.04, clockwise=False).tolist() == [0, 1]
