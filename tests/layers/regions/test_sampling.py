"""Crops of one size, points, masks in their boxes, CARAFE, corner pooling and correlation, beside their definitions in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import check_any_workers

from boxpresso import ops
from boxpresso.proto.errors import BoxpressoError, LayerError

RNG = np.random.default_rng(0)
MAPS = RNG.standard_normal((2, 6, 7, 9))


def layer(type: str, **settings) -> str:
    return f'type: "{type}" python_param {{ param_str: "{settings!r}" }}'


BOXES = np.concatenate([RNG.uniform(-0.2, 0.6, (6, 2)), RNG.uniform(0.4, 1.2, (6, 2))], 1)
BOXES[5] = BOXES[5, [2, 1, 0, 3]]  # upside down
INDICES = np.array([0, 1, 1, 0, 1, 0])
POINTS = RNG.uniform(-0.1, 1.1, (2, 11, 2))
MASKS = RNG.uniform(0, 1, (2, 2 * 9, 14, 18))
CROP, POINT = layer("CropAndResize", crop_size=[4, 3], extrapolation_value=0.25), layer("PointSample")
CARAFE = layer("Carafe", kernel_size=3, group_size=2)
CORRELATION = layer(
    "LocalCorrelation", kernel_size=3, max_displacement=2, stride=2, padding=2, dilation=2, dilation_patch=2
)
MANY, WIDE = RNG.standard_normal((2, 17, 7, 9)), RNG.standard_normal((2, 2, 4, 90))  # many channels, wide rows
LAYERS: dict[str, tuple[str, list[np.ndarray], list[bool]]] = {
    "crop": (CROP, [MAPS, BOXES, INDICES], [True, True, False]),
    "crop-nearest": (layer("CropAndResize", crop_size=[1, 5], method="nearest"), [MAPS, BOXES, INDICES], [True, False, False]),
    "crop-many": (layer("CropAndResize", crop_size=[5, 4], extrapolation_value=0.25), [MANY, BOXES, INDICES], [True, True, False]),
    "crop-wide": (layer("CropAndResize", crop_size=[3, 18], extrapolation_value=0.25), [WIDE, BOXES, INDICES], [True, True, False]),
    "point": (POINT, [MAPS, POINTS], [True, True]),
    "point-many": (POINT, [MANY[:, :, :3, :4], POINTS], [True, True]),
    "point-wide": (POINT, [WIDE, RNG.uniform(-0.02, 1.02, (2, 37, 2))], [True, True]),
    "point-corners": (layer("PointSample", align_corners=True), [MAPS, POINTS.reshape(2, 1, 11, 2)], [True, True]),
    "carafe": (CARAFE, [MAPS, MASKS], [True, True]),
    "carafe-wide": (layer("Carafe", kernel_size=1, scale_factor=3), [MAPS[..., :1], MASKS[:, :1, :1].repeat(21, 2)[..., :3]], [True, True]),
    "correlation-plain": (layer("LocalCorrelation", max_displacement=2), [WIDE[:1, :1].repeat(11, 1) * MANY[:1, :11, :4, :1], RNG.standard_normal((1, 11, 4, 90))], [True, True]),
    "correlation": (CORRELATION, [MAPS, MAPS[::-1] + 1], [True, True]),
    **{mode: (layer("CornerPool", mode=mode), [MAPS], [True]) for mode in ("top", "bottom", "left", "right")},
}  # fmt: skip
HALF = ("crop", "crop-many", "crop-wide", "point", "point-many", "carafe", "correlation", "correlation-plain", "top")
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (text, bottoms, down, {"dtype": dtype})
    for name, (text, bottoms, down) in LAYERS.items()
    for dtype in ((np.float32, np.float16) if name in HALF else (np.float32,))
]


def cropped(x, boxes, indices, size, method="bilinear", outside=0.0) -> np.ndarray:
    """TensorFlow's definition, element by element."""
    out = np.full((len(boxes), x.shape[1], *size), float(outside))
    for k, i, j in np.ndindex(len(boxes), *size):
        place = []
        for axis, at in ((0, i), (1, j)):
            low, high = boxes[k, axis] * (x.shape[2 + axis] - 1), boxes[k, 2 + axis] * (x.shape[2 + axis] - 1)
            place.append(low + at * (high - low) / (size[axis] - 1) if size[axis] > 1 else (low + high) / 2)
        (y, z), image = place, x[indices[k]]
        if not (0 <= y <= x.shape[2] - 1 and 0 <= z <= x.shape[3] - 1):
            continue
        if method == "nearest":
            out[k, :, i, j] = image[:, int(y + 0.5), int(z + 0.5)]
            continue
        rows, columns = {int(np.floor(y)), int(np.ceil(y))}, {int(np.floor(z)), int(np.ceil(z))}
        shares = {(r, c): (1 - abs(y - r)) * (1 - abs(z - c)) for r in rows for c in columns}
        out[k, :, i, j] = sum(share * image[:, r, c] for (r, c), share in shares.items())
    return out


def test_crops(device):
    for size, method, outside in (((4, 3), "bilinear", 0.25), ((1, 1), "bilinear", 0), ((1, 5), "nearest", -1)):
        text = layer("CropAndResize", crop_size=list(size), method=method, extrapolation_value=outside)
        result = Rig(text, [MAPS, BOXES, INDICES], device=device, dtype=np.float64).forward()[0]
        close(result, cropped(MAPS, BOXES, INDICES, size, method, outside), rtol=1e-9)
    for name, size in (("crop-many", (5, 4)), ("crop-wide", (3, 18))):
        text, (maps, *_), _ = LAYERS[name]
        for dtype in (np.float64, np.float32):
            result = Rig(text, [maps, BOXES, INDICES], device=device, dtype=dtype).forward()[0]
            close(result, cropped(maps, BOXES, INDICES, size, outside=0.25), rtol=1e-9 if dtype == np.float64 else 2e-5)
    whole = ops.crop_and_resize(MAPS, np.array([[0.0, 0, 1, 1]]), np.zeros(1), (7, 9))
    assert np.allclose(whole[0], MAPS[0])
    last = ops.crop_and_resize(MAPS.transpose(0, 2, 3, 1), BOXES, INDICES, 3, layout="NHWC")
    assert np.array_equal(last.transpose(0, 3, 1, 2), ops.crop_and_resize(MAPS, BOXES, INDICES, 3))


@pytest.mark.parametrize("name", LAYERS)
def test_gradients(name, device):
    text, bottoms, down = LAYERS[name]
    wanted = [i for i, asked in enumerate(down) if asked]
    check_gradient(Rig(text, bottoms, device=device, dtype=np.float64), bottoms=wanted, step=1e-5)


def test_nearest_has_no_gradient_for_boxes():
    text, bottoms, _ = LAYERS["crop-nearest"]
    rig = Rig(text, bottoms)
    assert not rig.backward([np.ones(rig.forward()[0].shape)], [False, True, False])[1].any()


@pytest.mark.parametrize("name", LAYERS)
def test_any_workers(name, monkeypatch):
    text, bottoms, down = LAYERS[name]
    check_any_workers(Rig(text, bottoms), down, monkeypatch)


def sampled(maps, points, align) -> np.ndarray:
    """The definition: products of hats, summed over all pixels."""
    height, width = maps.shape[2:]
    x, y = np.moveaxis(points * (width - 1, height - 1) if align else points * (width, height) - 0.5, -1, 0)
    down, across = (np.maximum(0, 1 - abs(c[..., None] - np.arange(n))) for c, n in ((y, height), (x, width)))
    return np.einsum("npy,npx,ncyx->ncp", down, across, maps)


@pytest.mark.parametrize("align", [False, True])
def test_points(align):
    for name in ("point", "point-many", "point-wide"):
        maps, points = LAYERS[name][1]
        close(ops.point_sample(maps, points, align), sampled(maps, points, align), rtol=1e-10)
        single = ops.point_sample(maps.astype(np.float32), points.astype(np.float32), align)
        close(single, sampled(maps, points, align), rtol=1e-4)
    for shape in ((1, 3, 1, 1), (1, 20, 1, 1), (1, 3, 1, 40)):
        points = np.full((1, 18, 2), 0.5)
        assert (ops.point_sample(np.full(shape, 3.0, np.float32), points.astype(np.float32), align) == 3).all()
    result = ops.point_sample(MAPS, POINTS, align)
    assert np.array_equal(ops.point_sample(MAPS, POINTS.reshape(2, 11, 1, 2), align)[..., 0], result)


@pytest.mark.parametrize("points", [2, 37])
def test_what_is_brought_near_changes_nothing(points, monkeypatch):
    """Maps that are larger than a cache: whole planes are brought there before, or the lines of the points."""
    maps, where = WIDE.astype(np.float32), RNG.uniform(-0.02, 1.02, (2, points, 2)).astype(np.float32)
    plain = ops.point_sample(maps, where)
    monkeypatch.setattr("boxpresso.layers.regions.point_sample.NEAR", 0)
    assert np.array_equal(ops.point_sample(maps, where), plain)


def test_carafe():
    result = ops.carafe(MAPS, MASKS, 3, 2)
    wide = np.pad(MAPS, ((0, 0), (0, 0), (1, 1), (1, 1)))
    wanted = np.zeros(result.shape)
    for i, j in np.ndindex(3, 3):
        part = wide[:, :, i : i + 7, j : j + 9].repeat(2, 2).repeat(2, 3)
        wanted += part * np.repeat(MASKS.reshape(2, 2, 9, 14, 18)[:, :, 3 * i + j], 3, 1)
    close(result, wanted, rtol=1e-12)


def test_corner_pool():
    for mode, axis, turn in (("top", 2, -1), ("bottom", 2, 1), ("left", 3, -1), ("right", 3, 1)):
        flipped = np.flip(MAPS, axis) if turn < 0 else MAPS
        most = np.maximum.accumulate(flipped, axis)
        assert np.array_equal(ops.corner_pool(MAPS, mode), np.flip(most, axis) if turn < 0 else most)
    x = np.array([[[[1.0, 3, 3, np.nan, 9, 2]]]])
    assert np.array_equal(ops.corner_pool(x, "right"), [[[[1, 3, 3, np.nan, np.nan, np.nan]]]], equal_nan=True)
    grads = ops.corner_pool_backward(np.arange(1.0, 7).reshape(x.shape), x, "right")["x"]
    assert grads.ravel().tolist() == [1, 2, 3, 15, 0, 0]


def test_correlation():
    a, b = MAPS, MAPS[::-1] + 1
    result = ops.correlation(a, b, 3, 2, 2, 2, 2, 2)
    wanted = np.zeros(result.shape)
    outer = np.pad(a, ((0, 0), (0, 0), (2, 2), (2, 2)))
    for p, q in np.ndindex(5, 5):
        moved = np.pad(b, ((0, 0), (0, 0), (6, 6), (6, 6)))[:, :, 2 * p : 2 * p + 11, 2 * q : 2 * q + 13]
        product = (outer * moved).sum(1)
        for i, j in np.ndindex(3, 3):
            part = product[:, 2 * i :: 2, 2 * j :: 2][:, : result.shape[3], : result.shape[4]]
            wanted[:, p, q] += part
    close(result, wanted, rtol=1e-11)
    a, b = LAYERS["correlation-plain"][1]
    moved = np.pad(b, ((0, 0), (0, 0), (2, 2), (2, 2)))
    wanted = [[(a * moved[:, :, p : p + 4, q : q + 90]).sum(1) for q in range(5)] for p in range(5)]
    close(ops.correlation(a, b, max_displacement=2), np.moveaxis(np.array(wanted), 2, 0), rtol=1e-11)


@pytest.mark.parametrize("name", ["correlation", "correlation-plain"])
def test_correlation_reads_no_pixel_that_is_not_paired(name):
    """What is infinite in one map spoils only the gradients of the pixels that meet it, and zeros outside spoil none."""
    text, (a, b), _ = LAYERS[name]
    broken = b.copy()
    broken[0, 3, 2, 4] = np.inf
    rig = Rig(text, [a, broken])
    diff = RNG.standard_normal(rig.forward()[0].shape) + 3
    diffs = [Rig(text, [a, other]).backward([diff], [True, True]) for other in (b, broken)]
    meets = ~np.isfinite(diffs[1][0])
    assert meets.any()
    assert not meets[0, [c for c in range(a.shape[1]) if c != 3]].any()
    assert np.array_equal(diffs[0][0][~meets], diffs[1][0][~meets])
    assert np.array_equal(diffs[0][1], diffs[1][1])


@pytest.mark.later(but=1)
@pytest.mark.parametrize("name", HALF)
def test_half_is_rounded_once(name):
    text, bottoms, down = LAYERS[name]
    halves = [b.astype(np.float16) for b in bottoms]
    half, single = (Rig(text, halves, dtype=dtype) for dtype in (np.float16, np.float32))
    top = half.forward()[0]
    assert np.array_equal(top, single.forward()[0].astype(np.float16))
    diff = RNG.standard_normal(top.shape).astype(np.float16)
    for got, wanted, asked in zip(half.backward([diff], down), single.backward([diff], down), down):
        assert not asked or np.array_equal(got, wanted.astype(np.float16))


OUTSIDE = dict.fromkeys(("crop", "crop-many", "crop-wide"), 0.25)
WILD = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e9)


@pytest.mark.parametrize(
    "name", ["crop", "crop-nearest", "crop-many", "crop-wide", "point", "point-corners", "point-many"]
)
def test_wild_places(name, device):
    """Boxes and points that are none give the outside's value, have no gradient, and change nothing for the others."""
    text, bottoms, down = LAYERS[name]
    wild = [b.astype(float) for b in bottoms]
    rows = wild[1].reshape(-1, wild[1].shape[-1])
    picked = [0, 2, 4, 1, 3, 5][: len(WILD)] if "crop" in name else list(range(len(WILD)))
    keep = np.ones(len(rows), bool)
    for k, value in zip(picked[:4], WILD):
        rows[k, k % rows.shape[1]], keep[k] = value, False
    rigs = [Rig(text, b, device=device) for b in (bottoms, wild)]
    tame, got = (rig.forward()[0] for rig in rigs)
    assert np.isfinite(got).all()
    diff = RNG.standard_normal(got.shape)
    diffs = rigs[1].backward([diff], down)
    assert all(np.isfinite(d).all() for d, asked in zip(diffs, down) if asked)
    if "crop" in name:
        assert np.array_equal(got[keep], tame[keep])
        assert (got[~keep] == OUTSIDE.get(name, 0)).all()
    else:
        order = [(0, 2, 1), (0, 2, 3, 1)][len(got.shape) - 3]
        flat, other = (a.transpose(order).reshape(-1, a.shape[1]) for a in (got, tame))
        assert np.array_equal(flat[keep], other[keep])
        assert not flat[~keep].any()
    if down[1]:
        assert not diffs[1].reshape(rows.shape)[~keep].any()
    if "crop" in name:
        images = bottoms[2].astype(float)
        images[:3] = (-1, 2, np.nan)
        top = Rig(text, [*bottoms[:2], images], device=device).forward()[0]
        assert np.array_equal(top[3:], tame[3:])
        assert (top[:3] == OUTSIDE.get(name, 0)).all()


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_nothing_there(name, axis, device):
    """No images, no channels, no rows: results and gradients of the right shapes."""
    text, bottoms, down = LAYERS[name]
    if axis == 0:
        empty = [b[:0] for b in bottoms]
    elif axis == 1:
        empty = [bottoms[0][:, :0], *(b[:, :0] if "correlation" in name else b for b in bottoms[1:])]
    else:
        empty = [bottoms[0][:, :, :0], *(b[:, :, :0] if name[:2] in ("co", "ca") else b for b in bottoms[1:])]
    rig = Rig(text, empty, device=device)
    top = rig.forward()[0]
    assert top.size == 0 or name.split("-")[0] in ("correlation", "point", "crop")
    assert (top == OUTSIDE.get(name, 0)).all()
    for blob, diff, asked in zip(rig.bottom, rig.backward([np.ones(top.shape)], down), down):
        assert diff.shape == blob.shape
        assert not asked or not diff.any()


def test_pasted_masks():
    masks, boxes = (
        RNG.uniform(0, 1, (5, 4, 6)),
        np.array([[1.3, 2.2, 9.1, 7.7], [-3, -2, 5, 4], [8, 5, 14, 20], [3, 3, 3, 9], [5, 5, 2, 2]]),
    )
    soft = ops.paste_masks(masks, boxes, (10, 12), None)
    wanted = np.zeros((5, 10, 12))
    for n, row, column in np.ndindex(3, 10, 12):
        x1, y1, x2, y2 = boxes[n]
        y, x = (row + 0.5 - y1) / (y2 - y1) * 4 - 0.5, (column + 0.5 - x1) / (x2 - x1) * 6 - 0.5
        for i, j in np.ndindex(4, 6):
            wanted[n, row, column] += max(0, 1 - abs(y - i)) * max(0, 1 - abs(x - j)) * masks[n, i, j]
    close(soft, wanted, rtol=1e-9)
    assert np.array_equal(ops.paste_masks(masks, boxes, (10, 12)), soft >= 0.5)
    assert np.array_equal(ops.paste_masks(masks[:, None], boxes, (10, 12), None)[:, 0], soft)
    wild = np.tile(boxes[:1], (6, 1))
    wild[np.arange(6), np.arange(6) % 4] = WILD
    for mode in ("detectron2", "torchvision"):
        pasted = ops.paste_masks(masks[[0] * 6], wild, (10, 12), None, mode)
        assert np.isfinite(pasted).all()
        assert not pasted[:3].any()
    for shape in ((0, 4, 6), (5, 0, 6)):
        assert ops.paste_masks(np.zeros(shape), boxes[: shape[0]], (10, 12)).shape == (shape[0], 10, 12)


def test_as_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    from torchvision.models.detection.roi_heads import paste_masks_in_image

    masks, boxes = RNG.uniform(0, 1, (4, 1, 5, 6)).astype(np.float32)[..., :5], np.array(
        [[1.3, 2.2, 9.1, 7.7], [-3, -2, 5, 4], [8, 5, 14, 20], [3, 3, 3.5, 9]], np.float32)  # fmt: skip
    wanted = paste_masks_in_image(torch.tensor(masks), torch.tensor(boxes), (10, 12)).numpy()
    close(ops.paste_masks(masks, boxes, (10, 12), None, "torchvision"), wanted, rtol=1e-5)
    grid = torch.tensor(2 * POINTS[:, :, None] - 1)
    for align in (False, True):
        sampled = torch.nn.functional.grid_sample(torch.tensor(MAPS), grid, align_corners=align)[..., 0]
        close(ops.point_sample(MAPS, POINTS, align), sampled.numpy(), rtol=1e-10)
    x = torch.tensor(np.round(2 * MAPS), requires_grad=True)  # with equal pixels
    for mode, axis in (("bottom", 2), ("right", 3)):
        (x.cummax(axis)[0] * torch.tensor(MAPS)).sum().backward()
        ours = ops.corner_pool_backward(MAPS, x.detach().numpy(), mode)["x"]
        close(ours, x.grad.numpy(), rtol=1e-12)
        x.grad = None
    assert torchvision


def test_what_does_not_fit():
    for call, message in (
        (lambda: Rig(layer("CropAndResize"), LAYERS["crop"][1]), "crop_size must be"),
        (lambda: Rig(layer("CropAndResize", crop_size=[2, 2], method="cubic"), LAYERS["crop"][1]), "method must be"),
        (lambda: Rig(CROP, [MAPS, BOXES, INDICES[:3]]), "as many images"),
        (lambda: Rig(POINT, [MAPS, POINTS[:1]]), "the points, must be"),
        (lambda: Rig(CARAFE, [MAPS, MASKS[:, 1:]]), "the masks, must be"),
        (lambda: Rig(layer("Carafe", kernel_size=4), [MAPS, MASKS]), "kernel_size must be odd"),
        (lambda: Rig(layer("CornerPool", mode="up"), [MAPS]), "mode must be one of"),
        (lambda: Rig(CORRELATION, [MAPS, MAPS[:1]]), "one shape"),
        (lambda: Rig(layer("LocalCorrelation", stride=0), [MAPS, MAPS]), "settings must be"),
    ):
        with pytest.raises(LayerError, match=message):
            call()
    for call, message in (
        (lambda: ops.paste_masks(MAPS, BOXES, (4, 4)), "masks must be"),
        (lambda: ops.paste_masks(MAPS[:, 0], BOXES[:2], (4, 4), mode="mmcv"), "mode must be"),
        (lambda: ops.crop_and_resize(MAPS, BOXES, INDICES, (1, 2, 3)), "crop_size must be"),
    ):
        with pytest.raises(BoxpressoError, match=message):
            call()
