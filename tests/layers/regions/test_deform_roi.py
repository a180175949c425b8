"""DeformROIPooling and ModulatedDeformROIPooling: recorded outputs of mmcv, gradients, wild input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_any_workers, check_wild_regions
from shared import golden

from boxpresso.proto.errors import LayerError

PLAIN = 'type: "DeformROIPooling" deform_roi_pooling_param { %s }'
MASKED = 'type: "ModulatedDeformROIPooling" deform_roi_pooling_param { %s }'
ALIGN = 'type: "ROIAlign" roi_align_param { aligned: true %s }'
SMALL = "pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 sampling_ratio: 2 gamma: 0.1"
GAMMA = float(np.float32(0.1))
ADAPTIVE = "pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 gamma: 0.1"
CASES = golden("roi/DeformRoIPool") + golden("roi/ModulatedDeformRoIPool")
MAPS = np.random.default_rng(0).standard_normal((1, 20, 30, 31))
ROWS = np.array([[0, 1, 1, 27, 26], [0, 2, -9, 9, 8], [7, 0, 0, 9, 9], [0, 13, 3, 4, 4]])
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (f'type: "{kind}DeformROIPooling" deform_roi_pooling_param {{ pooled_h: 3 pooled_w: 4 gamma: 0.2 {text} }}',
     [maps, ROWS, *more], [True, False, True, True])
    for text in ("sampling_ratio: 2", "sampling_ratio: 18") for maps in (MAPS, np.tile(MAPS[:, :3], (1, 1, 5, 5)))
    for kind, more in (("", []), ("Modulated", [MAPS[0, :2, :4, :12].reshape(4, 2, 3, 4), np.ones((4, 1, 3, 4)) / 3]))
]  # fmt: skip
WITHOUT_REGIONS = {2: [True, False], 3: [True, False, True], 4: [True, False, True, True]}


def gradients(x, rois, offset, mask, diff, ratio):
    """Those of features, offset and mask, sample by sample, at scale 0.5; the offset's is the published kernel's."""
    dx, d_offset, d_mask = (np.zeros_like(a) for a in (x, offset, mask))
    height, width, pooled = *x.shape[2:], np.array(diff.shape[2:])
    for k, (image, *corners) in enumerate(rois):
        left, top, right, bottom = np.array(corners) * 0.5 - 0.5
        size = np.array([bottom - top, right - left])
        counts = [ratio] * 2 if ratio > 0 else [max(int(n), 0) for n in np.ceil(size / pooled)]
        for p, q in np.ndindex(*pooled):
            start = [top, left] + GAMMA * size * offset[k, ::-1, p, q] + (p, q) * size / pooled
            grad, times = diff[k, :, p, q] / max(np.prod(counts), 1), mask[k, 0, p, q]
            for place in np.ndindex(*counts):
                y, x_at = at = start + (np.array(place) + 0.5) * size / pooled / counts
                if not ((at >= -1) & (at <= [height, width])).all():
                    continue
                low = np.minimum(np.maximum(at, 0).astype(int), [height - 1, width - 1])
                high = np.minimum(low + 1, [height - 1, width - 1])
                down, across = np.where(low == high, 0, np.maximum(at, 0) - low)
                (t, left_x), (b, right_x) = low, high
                sums = []
                for row, v in ((t, 1 - down), (b, down)):
                    for column, u in ((left_x, 1 - across), (right_x, across)):
                        dx[int(image), :, row, column] += times * v * u * grad
                        sums.append(grad @ x[int(image), :, row, column])
                        d_mask[k, 0, p, q] += v * u * sums[-1]
                along_x = sums[3] * (y - t) + sums[1] * (b - y) + sums[2] * (t - y) + sums[0] * (y - b)
                along_y = (
                    sums[3] * (x_at - left_x)
                    + sums[2] * (right_x - x_at)
                    + sums[1] * (left_x - x_at)
                    + sums[0] * (x_at - right_x)
                )
                d_offset[k, :, p, q] += GAMMA * times * size[::-1] * (along_x, along_y)
    return dx, d_offset, d_mask


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_as_mmcv(path, real, device):
    c = np.load(path)
    p = json.loads(str(c["params"]))
    suffix, dtype = ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in c:
        pytest.skip("not recorded in double")
    names = [name for name in ("offset", "mask") if name in c]
    text = (
        f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']} spatial_scale: {p['spatial_scale']} "
        f"sampling_ratio: {p['sampling_ratio']} gamma: {p['gamma']}"
    )
    bottoms = [c["input"], c["rois"], *(c[name] for name in names)]
    r = Rig((MASKED if "mask" in c else PLAIN) % text, bottoms, device=device, dtype=dtype)
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    moved = {"rtol": 1e-4, "atol": 1e-4} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    close(r.forward()[0], c["output" + suffix], **tolerance, title="top")
    diffs = r.backward([c["grad_output"]], WITHOUT_REGIONS[len(bottoms)])
    close(diffs[0], c["grad_input" + suffix], **tolerance, title="features")
    for diff, name in zip(diffs[2:], names):
        close(diff, c[f"grad_{name}{suffix}"], **moved, title=name)


def inside(rng, count: int, channels: int = 3) -> list[np.ndarray]:
    """Features (2, C, 16, 18) and regions, offsets and a mask whose samples stay inside the map, at scale 0.5."""
    low, high = rng.uniform(5, 10, (count, 2)), rng.uniform(16, 24, (count, 2))
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), low, high], axis=1)
    offset, mask = rng.uniform(-1, 1, (count, 2, 2, 3)), rng.uniform(0, 1, (count, 1, 2, 3))
    return [rng.standard_normal((2, channels, 16, 18)), rois, offset, mask]


@pytest.mark.parametrize("params", [SMALL, ADAPTIVE], ids=["fixed", "adaptive"])
@pytest.mark.parametrize(("text", "bottoms"), [(PLAIN, 2), (PLAIN, 3), (MASKED, 4)])
def test_gradient(text, bottoms, params, device):
    r = Rig(text % params, inside(np.random.default_rng(1), 5, 19)[:bottoms], device=device, dtype=np.float64)
    check_gradient(r, [i for i in range(bottoms) if i != 1])


@pytest.mark.parametrize("ratio", [2, 19, 0])
def test_gradients_sample_by_sample(ratio, device):
    """Samples outside the map, sizes below 0, more samples than are taken together, and each gradient asked for alone."""
    rng = np.random.default_rng(13)
    x, rois, offset, mask = inside(rng, 5 if ratio > 2 else 20, 37)
    rois[:, 1:] += rng.uniform(-20, 20, (len(rois), 4))
    offset[0], diff = np.nan, rng.standard_normal((len(rois), 37, 2, 3))
    r = Rig(
        MASKED % SMALL.replace("ratio: 2", f"ratio: {ratio}"), [x, rois, offset, mask], device=device, dtype=np.float64
    )
    r.forward()
    results = r.backward([diff], WITHOUT_REGIONS[4])
    for i in (0, 2, 3):
        alone = r.backward([diff], [j == i for j in range(4)])[i]
        assert np.array_equal(alone, results[i], equal_nan=True)
    for one, other in zip([results[0], *results[2:]], gradients(x, rois, offset, mask, diff, ratio), strict=True):
        close(one, other, rtol=1e-9, atol=1e-9)


def test_infinite_features_and_gradients_spread(device):
    """0 * infinity is NaN: a sample on a pixel gives weight 0 to the next."""
    x, rois = np.ones((1, 17, 9, 9)), np.array([[0, 3.0, 3.0, 11.0, 11.0], [0, 0, 0, 16, 14.0]])
    x[0, 3, 4, 4], offset, mask = np.inf, np.zeros((2, 2, 2, 2)), np.ones((2, 1, 2, 2))
    diff = np.ones((2, 17, 2, 2))
    diff[0, 2, 1, 1] = np.inf
    r = Rig(
        PLAIN % "pooled_h: 2 pooled_w: 2 spatial_scale: 0.5 sampling_ratio: 1 gamma: 0.1",
        [x, rois, offset],
        device=device,
    )
    r.forward()
    results = r.backward([diff], WITHOUT_REGIONS[3])
    with np.errstate(invalid="ignore"):
        wanted = gradients(x, rois, offset, mask, diff, 1)
    assert np.isnan(wanted[0]).any()
    for one, other in zip(results[::2], wanted):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("params", [SMALL, ADAPTIVE], ids=["fixed", "adaptive"])
def test_without_offsets_it_is_roi_align(params, device):
    x, rois, offset, mask = inside(np.random.default_rng(2), 7)
    align = Rig(ALIGN % params.replace("gamma: 0.1", ""), [x, rois], device=device)
    wanted, diff = align.forward()[0], np.random.default_rng(3).standard_normal((7, 3, 2, 3))
    for text, more in ((PLAIN, []), (PLAIN, [0 * offset]), (MASKED, [0 * offset, 1 + 0 * mask])):
        r = Rig(text % params, [x, rois, *more], device=device)
        close(r.forward()[0], wanted)
        close(r.backward([diff], WITHOUT_REGIONS[2 + len(more)])[0], align.backward([diff], [True, False])[0])


def test_one_bin_by_hand(device):
    x = np.arange(36.0).reshape(1, 1, 6, 6)  # v = 6 y + x: a bilinear sample is v itself
    text = "pooled_h: 1 pooled_w: 1 sampling_ratio: 1 gamma: 0.5"
    r = Rig(
        MASKED % text, [x, [[0, 1, 1, 3, 3]], [[1, 0.5]], [[3]]], device=device
    )  # offsets as an InnerProduct gives them
    # The sample is at 1.5 = (1 + 3) / 2 - 0.5, moved by 0.5 * 2 * (1, 0.5): x 2.5, y 2.
    assert r.forward()[0].item() == pytest.approx(3 * 14.5)
    _, _, offset, mask = r.backward([[[[1]]]], WITHOUT_REGIONS[4])
    assert offset.tolist() == [[3, 18]]
    assert mask.tolist() == [[14.5]]


def test_new_shapes_no_regions_no_images(device):
    bottoms = inside(np.random.default_rng(4), 4)
    r = Rig(MASKED % SMALL, bottoms, device=device)
    first = r.forward()[0]
    for i, shape in enumerate([(0, 5), (0, 2, 2, 3), (0, 1, 2, 3)]):
        r.set_bottom(1 + i, np.zeros(shape))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)], WITHOUT_REGIONS[4])[0].any()
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0), (2, 0, 8, 9)):
        for i, value in enumerate([np.zeros(shape), *bottoms[1:]]):
            r.set_bottom(i, value)
        assert not r.forward()[0].any()
        diffs = r.backward([np.ones(r.top[0].shape)], WITHOUT_REGIONS[4])
        assert not diffs[2].any()
        assert not diffs[3].any()
    for i, value in enumerate(bottoms):
        r.set_bottom(i, value)
    assert np.array_equal(r.forward()[0], first)


def test_wild_regions_contribute_nothing(device):
    bottoms = inside(np.random.default_rng(5), 5)
    check_wild_regions(MASKED % SMALL, bottoms, WITHOUT_REGIONS[4], device, each=(1, 2, 3))


def test_any_finite_region_and_any_offset_is_survived(device):
    rng = np.random.default_rng(6)
    offset = rng.choice(np.append(FINITE, [np.nan, np.inf, -np.inf]), (3000, 2, 2, 3))
    x, _, _, mask = inside(rng, 3000)
    r = Rig(MASKED % SMALL, [x, rng.choice(FINITE, (3000, 5)), offset, mask], device=device)
    assert np.isfinite(r.forward()[0]).all()
    diffs = r.backward([np.ones(r.top[0].shape)], WITHOUT_REGIONS[4])
    assert np.isfinite(diffs[0]).all()
    assert np.isfinite(diffs[3]).all()
    assert not np.isnan(diffs[2]).any()


def test_bitwise_identical_for_any_number_of_workers(monkeypatch):
    r = Rig(MASKED % SMALL, inside(np.random.default_rng(7), 40, 70))
    check_any_workers(r, WITHOUT_REGIONS[4], monkeypatch)


@pytest.mark.parametrize("params", [SMALL, ADAPTIVE], ids=["fixed", "adaptive"])
def test_float16_is_stored_and_float32_computed(params, device):
    halves = [a.astype(np.float16) for a in inside(np.random.default_rng(11), 6, 19)]
    diff = np.random.default_rng(12).standard_normal((6, 19, 2, 3)).astype(np.float16)
    stored, computed = (Rig(MASKED % params, halves, device=device, dtype=t) for t in (np.float16, np.float32))
    assert np.array_equal(stored.forward()[0], computed.forward()[0].astype(np.float16))
    diffs = [r.backward([diff], WITHOUT_REGIONS[4]) for r in (stored, computed)]
    for i in (0, 2, 3):
        assert diffs[0][i].dtype == np.float16
        assert np.array_equal(diffs[0][i], diffs[1][i].astype(np.float16))


@pytest.mark.parametrize(
    ("text", "at", "value", "message"),
    [
        (PLAIN % "pooled_h: 2", 0, None, "pooled_h and pooled_w must be positive"),
        (PLAIN % SMALL.replace("0.5", "-1"), 0, None, "spatial_scale"),
        (PLAIN % SMALL.replace("ratio: 2", "ratio: 2000"), 0, None, "more than 2\\^20 samples"),
        (MASKED % SMALL, 0, np.zeros((3, 16, 18)), "4 axes"),
        (MASKED % SMALL, 1, np.zeros((5, 4)), r"must be \(K, 5\)"),
        (MASKED % SMALL, 2, np.zeros((5, 2, 3, 3)), "offsets"),
        (MASKED % SMALL, 3, np.zeros((4, 1, 2, 3)), "mask"),
        (MASKED % ADAPTIVE, 1, np.full((5, 5), [0, 0, 0, 1e30, 5]), "more than 2\\^20 samples"),
    ],
)
def test_errors(text, at, value, message):
    inputs = inside(np.random.default_rng(9), 5)
    if value is not None:
        inputs[at] = value
    with pytest.raises(LayerError, match=message):
        Rig(text, inputs if "Modulated" in text else inputs[:3]).forward()


def test_regions_get_no_gradient():
    r = Rig(PLAIN % SMALL, inside(np.random.default_rng(10), 2)[:3])
    r.forward()
    with pytest.raises(LayerError, match="no gradient for the regions"):
        r.backward([np.zeros(r.top[0].shape)])
    assert [r.layer.allow_force_backward(i) for i in range(3)] == [True, False, True]
