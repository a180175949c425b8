"""Every operator of boxpresso.ops without images, channels, regions, rows or columns: results and gradients of the right shapes.

What a result without pixels to read holds is 0, and so is a gradient that nothing reaches; memory that was used before is
handed out as it is, so what nobody writes shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import ops
from boxpresso.device import open_device
from boxpresso.device.cast import cast_to
from boxpresso.device.kernel import real_of
from boxpresso.device.signature import BFLOAT16
from boxpresso.ops import memory
from boxpresso.proto.errors import LayerError

SIZES = {  # images, channels, regions, rows, columns
    "batch": (0, 8, 3, 9, 10), "batch-regions": (0, 8, 0, 9, 10), "channels": (2, 0, 3, 9, 10), "regions": (2, 8, 0, 9, 10),
    "rows": (2, 8, 3, 0, 10), "columns": (2, 8, 3, 9, 0),
}  # fmt: skip
WITHOUT_REGIONS = ("permute", "carafe", "corner_pool", "correlation")


def calls(b: int, c: int, k: int, h: int, w: int) -> dict[str, tuple[tuple, dict]]:
    """The arguments of each operator, images in float64."""
    x, rois = np.ones((b, c, h, w)), np.array([[0, 1, 1, 7, 7]] * k, float).reshape(k, 5)
    turned = np.array([[0, 4, 4, 5, 5, 0.3]] * k).reshape(k, 6)
    offset, mask, info = np.zeros((k, 2, 2, 2)), np.ones((k, 1, 2, 2)), np.array([[9.0, 10, 1]])
    places, weights = np.full((b, k, 2, 1, 2, 2), 0.5), np.ones((b, k, 2, 1, 2))
    return {
        "roi_align": ((x, rois, 2), {}),
        "roi_align-max": ((x, rois, 2), {"pool_mode": "max"}),
        "roi_pool": ((x, rois, 2), {}),
        "roi_pool-mmcv": ((x, rois, 2), {"mmcv": True}),
        "roi_align_rotated": ((x, turned, 2), {}),
        "riroi_align_rotated": ((x, turned, 2), {"num_orientations": 4}),
        "rotate_roi_pool": ((x, turned, info, 2), {}),
        "ps_roi_pool": ((x, rois, 2), {}),
        "ps_roi_align": ((x, rois, 2), {}),
        "prroi_pool": ((x, rois, 2), {}),
        "deform_roi_pool": ((x, rois, offset, 2), {}),
        "deform_roi_pool-none": ((x, rois, None, 2), {}),
        "modulated_deform_roi_pool": ((x, rois, offset, mask, 2), {}),
        "deformable_psroi_pool": ((x, rois, offset, 1.0, c // 4, 2, 2), {"trans_std": 0.1}),
        "permute": ((x, (0, 2, 3, 1)), {}),
        "multi_scale_deformable_attn": ((np.ones((b, h * w, 2, c)), [[h, w]], [0], places, weights), {}),
        "multi_scale_roi_align": (([x, x[:, :, ::2, ::2]], rois, 2, (1, 0.5)), {}),
        "crop_and_resize": ((x, rois[:, 1:] / 9, rois[:, 0], 2), {}),
        "point_sample": ((x, np.full((b, k, 2), 0.5)), {}),
        "carafe": ((x, np.ones((b, 9, 2 * h, 2 * w)), 3), {}),
        "corner_pool": ((x, "top"), {}),
        "correlation": ((x, x), {}),
    }


def dirty() -> None:
    """Leaves memory full of NaN behind, in this process's pools and in numpy's."""
    for size in (2**6, 2**10, 2**14, 2**21):
        memory.empty((size,), np.float32)[...] = np.nan
        np.empty(size)[...] = np.nan


NAMED = {"float16": np.float16, "bfloat16": BFLOAT16, "float32": np.float32, "float64": np.float64}
DTYPES = pytest.mark.parametrize("dtype", NAMED.values(), ids=NAMED)
BUILDS = pytest.mark.parametrize(  # where each type is a build of many kernels
    "dtype", [pytest.param(t, id=n, marks=[pytest.mark.slow] if n == "bfloat16" else []) for n, t in NAMED.items()]
)


def wide(array: np.ndarray) -> np.ndarray:
    return cast_to(array, np.float64)


def ones(shape: tuple[int, ...], dtype) -> np.ndarray:
    return cast_to(np.ones(shape), dtype)


@pytest.mark.later(but=2)
@BUILDS
@pytest.mark.parametrize("missing", SIZES)
def test_nothing_there(missing, dtype):
    empty = calls(*SIZES[missing])
    assert {name.partition("-")[0] for name in empty} | {"deform_conv2d"} >= set(ops.OPERATORS)
    for name, ((x, *rest), options) in empty.items():
        op, back = (getattr(ops, name.partition("-")[0] + tail) for tail in ("", "_backward"))
        features = [cast_to(a, dtype) for a in x] if isinstance(x, list) else cast_to(x, dtype)
        dirty()
        result = op(features, *rest, **options)
        assert result.dtype == dtype, name
        assert not wide(result).any() or name in WITHOUT_REGIONS, name
        dirty()
        grads = back(ones(result.shape, dtype), features, *rest, **options)
        inputs = dict(zip(getattr(op, "inputs", ("features",)), (features, *rest)))
        for key, grad in grads.items():
            for one, source in zip(grad, features) if isinstance(grad, list) else [(grad, inputs[key])]:
                kind = real_of(dtype) if source.dtype in (np.float32, np.float64) else dtype
                assert (one.shape, one.dtype) == (source.shape, kind), (name, key)
                assert not wide(one).any() or (name in WITHOUT_REGIONS and result.size), (name, key)
                assert np.isfinite(wide(one)).all(), (name, key)
        if "layout" in getattr(op, "names", ()):
            last = np.ascontiguousarray(features.transpose(0, 2, 3, 1))
            wanted = result.transpose(0, 2, 3, 1)
            assert np.array_equal(op(last, *rest, layout="NHWC", **options), wanted), name
            gradient = back(ones(wanted.shape, dtype), last, *rest, layout="NHWC", **options)["x"]
            assert gradient.shape == last.shape, name
            assert not wide(gradient).any(), name


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [BFLOAT16, np.float32], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("missing", SIZES)
def test_nothing_there_on_a_gpu(missing, dtype, device):
    """The same of a GPU's arrays."""
    if device == "cpu":
        pytest.skip("the CPU's arrays are tested above")
    gpu, real = open_device(device), real_of(dtype)

    def there(a, kind):
        return gpu.table(cast_to(a, kind), kind) if isinstance(a, np.ndarray) else a

    for name, ((x, *rest), options) in calls(*SIZES[missing]).items():
        op, back = (getattr(ops, name.partition("-")[0] + tail) for tail in ("", "_backward"))
        features = [there(a, dtype) for a in x] if isinstance(x, list) else there(x, dtype)
        if name == "multi_scale_deformable_attn":
            rest[:2] = (np.array(a, np.float64) for a in rest[:2])
        others = [there(a, real) for a in rest]
        result = op(features, *others, **options)
        assert result.dtype == dtype, name
        assert not wide(np.asarray(result)).any() or name in WITHOUT_REGIONS, name
        grads = back(there(ones(result.shape, dtype), dtype), features, *others, **options)
        for grad, source in zip(grads.get("features", [next(iter(grads.values()))]), x if isinstance(x, list) else [x]):
            assert (grad.shape, grad.dtype) == (source.shape, dtype), name
            assert not wide(np.asarray(grad)).any() or name in WITHOUT_REGIONS, name


@DTYPES
def test_deformable_convolution(dtype):
    """No images and no outputs are fine. A convolution without channels, or of maps that its kernel does not fit, is an error."""
    offset, weight = np.zeros((0, 18, 9, 10)), np.ones((4, 8, 3, 3))
    result = ops.deform_conv2d(ones((0, 8, 9, 10), dtype), offset, weight, padding=1)
    assert result.shape == (0, 4, 9, 10)
    grads = ops.deform_conv2d_backward(result, ones((0, 8, 9, 10), dtype), offset, weight, padding=1)
    assert [g.shape for g in grads.values()] == [(0, 8, 9, 10), offset.shape, weight.shape]
    assert [g.dtype for g in grads.values()] == [dtype, real_of(dtype), real_of(dtype)]
    assert not wide(grads["weight"]).any()
    with pytest.raises(LayerError, match="without elements"):
        ops.deform_conv2d(ones((1, 0, 9, 10), dtype), np.zeros((1, 18, 9, 10)), weight[:, :0], padding=1)
    with pytest.raises(LayerError, match="the kernel reaches"):
        ops.deform_conv2d(ones((1, 8, 0, 10), dtype), np.zeros((1, 18, 0, 10)), weight, padding=1)


@DTYPES
def test_functions_of_nothing(dtype):
    """Those that are no Operator: no boxes, masks without pixels, images without pixels."""
    boxes, turned, scores = (cast_to(np.zeros(shape), dtype) for shape in ((0, 4), (0, 5), 0))
    for stay in (
        ops.nms(boxes, scores, 0.5), ops.batched_nms(boxes, scores, scores, 0.5), ops.nms_rotated(turned, scores, 0.5),
        ops.batched_nms_rotated(turned, scores, scores, 0.5), ops.soft_nms(boxes, scores)[1],
        ops.matrix_nms(boxes, scores)[1],
    ):  # fmt: skip
        assert (stay.shape, stay.dtype) == ((0,), np.int64)
    for suppress in (ops.soft_nms, ops.matrix_nms):
        dets = suppress(boxes, scores)[0]
        assert (dets.shape, dets.dtype) == ((0, 5), dtype)
    three, corners = ones((3, 5), dtype), ones((3, 8), dtype)
    for overlap, shapes in ((ops.box_iou_rotated, three), (ops.polygon_iou, corners)):
        for a, b, aligned, shape in (
            (0, 3, False, (0, 3)),
            (3, 0, False, (3, 0)),
            (0, 0, False, (0, 0)),
            (0, 0, True, (0,)),
        ):
            got = overlap(shapes[:a], shapes[:b], aligned=aligned)
            assert (got.shape, got.dtype) == (shape, dtype), overlap.__name__
    for count, height, width, size in (
        (0, 5, 6, (7, 8)),
        (2, 0, 6, (7, 8)),
        (2, 5, 0, (7, 8)),
        (2, 5, 6, (0, 8)),
        (2, 5, 6, (7, 0)),
    ):
        masks, places = ones((count, height, width), dtype), ones((count, 4), dtype)
        for mode in ("detectron2", "torchvision"):
            for threshold, kind in ((None, dtype), (0.5, np.dtype(bool))):
                dirty()
                pasted = ops.paste_masks(masks, places, size, threshold, mode)
                assert (pasted.shape, pasted.dtype) == ((count, *size), kind)
                assert not (wide(pasted) if threshold is None else pasted).any()
    for b, k, h in ((0, 3, 9), (2, 0, 9), (2, 3, 0)):
        x, rois = ones((b, 4, h, 9), dtype), cast_to(np.zeros((k, 5)), dtype)
        dirty()
        result, places = ops.roi_pool_argmax(x, rois, 2)
        assert (result.shape, result.dtype, places.dtype) == ((k, 4, 2, 2), dtype, np.int32)
        assert (places == -1).all()
        assert not wide(ops.roi_pool_backward(result, x, rois, 2, argmax=places)["x"]).any()
        dirty()
        result, *places = ops.roi_align_argmax(x, rois, 2)
        assert (result.shape, result.dtype) == ((k, 4, 2, 2), dtype)
        assert all(place.shape == result.shape and (place == -1).all() for place in places)


def test_no_function_is_left_out():
    here = {name.partition("-")[0] for name in calls(*SIZES["batch"])} | {
        "batched_nms", "batched_nms_rotated", "box_iou_rotated", "deform_conv2d", "matrix_nms", "nms", "nms_rotated",
        "paste_masks", "polygon_iou", "roi_align_argmax", "roi_pool_argmax", "soft_nms",
    }  # fmt: skip
    assert {name.removesuffix("_backward") for name in ops.__all__} - {"forget"} == here


def test_functions_of_several_kernels_take_a_devices_arrays(device):
    """Where a function chooses on the host, results are arrays of the device and the same numbers."""
    rng, place = np.random.default_rng(0), open_device(device)
    maps = [rng.standard_normal((2, 3, 16 >> k, 20 >> k)).astype(np.float32) for k in range(2)]
    rois = np.array([[0, 1, 1, 30, 28], [1, 2, 2, 9, 11], [1, 0, 0, 60, 60]], np.float32)
    boxes, scores, masks = (
        rois[:, 1:],
        np.array([0.5, 0.9, 0.7], np.float32),
        rng.uniform(0, 1, (3, 4, 5)).astype(np.float32),
    )
    options = {"output_size": 2, "spatial_scales": (0.5, 0.25), "canonical_scale": 20, "canonical_level": 1}

    def there(a: np.ndarray):
        return place.table(a, a.dtype)

    def same(got, wanted) -> None:
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-5, atol=1e-5)

    wanted = ops.multi_scale_roi_align(maps, rois, **options)
    same(ops.multi_scale_roi_align([there(x) for x in maps], there(rois), **options), wanted)
    back = ops.multi_scale_roi_align_backward(there(wanted), [there(x) for x in maps], there(rois), **options)[
        "features"
    ]
    for got, grad in zip(back, ops.multi_scale_roi_align_backward(wanted, maps, rois, **options)["features"]):
        same(got, grad)
    listed = [there(rois[rois[:, 0] == i, 1:]) for i in (0, 1)]
    same(ops.roi_align(there(maps[0]), listed, 2, 0.5), ops.roi_align(maps[0], rois, 2, 0.5))
    for op in (ops.soft_nms, ops.matrix_nms):
        for got, value in zip(op(there(boxes), there(scores)), op(boxes, scores)):
            same(got, value)
    turned = np.column_stack([boxes, scores])
    same(ops.box_iou_rotated(there(turned), there(turned)), ops.box_iou_rotated(turned, turned))
    corners = np.array([[0, 0, 4, 0, 4, 4, 1, 3], [1, 1, 5, 1, 5, 5, 1, 5]], np.float32)
    same(ops.polygon_iou(there(corners), there(corners)), ops.polygon_iou(corners, corners))
    for threshold in (None, 0.5):
        pasted = ops.paste_masks(there(masks), there(boxes), (20, 24), threshold)
        same(pasted, ops.paste_masks(masks, boxes, (20, 24), threshold))
