"""PrROIPooling against recorded outputs of mmcv's kernel and published numbers, by hand, and on wild input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_any_workers, check_wild_regions, regions
from shared import golden, recorded

from boxpresso.proto.errors import LayerError

TEXT = 'type: "PrROIPooling" prroi_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %r }'


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", golden("roi/PrRoIPool"), ids=lambda p: p.stem)
def test_as_mmcv(path, real, device):
    c, (suffix, dtype) = recorded(path), ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in c:
        pytest.skip("not recorded in double")
    p = json.loads(str(c["params"]))
    text = TEXT % (p["pooled_height"], p["pooled_width"], p["spatial_scale"])
    r = Rig(text, [c["input"], c["rois"]], device=device, dtype=dtype)
    r_top = r.forward()[0]
    features, rois = r.backward([c["grad_output"]])
    if real == "double":
        close(r_top, c["output_f64"], rtol=1e-9, atol=1e-9)
        close(features, c["grad_input_f64"], rtol=1e-9, atol=1e-9)
        close(rois, c["grad_rois_f64"], rtol=1e-9, atol=1e-9)
        return
    close(r_top, c["output"], rtol=2e-4)  # the recorded kernel's own noise in float, up to 1e-4 of its double
    close(features, c["grad_input"], rtol=2e-4)
    close(rois, c["grad_rois"], rtol=1e-2, atol=1e-2)
    if "output_f64" in c:  # ours is far nearer
        close(r_top, c["output_f64"], rtol=1e-6, atol=1e-6)
        close(features, c["grad_input_f64"], rtol=1e-6, atol=1e-6)
        near = 2e-5 if device == "cpu" else 5e-5  # on a GPU all sums are in float
        close(rois, c["grad_rois_f64"], rtol=near, atol=near)


def inputs(rng, count: int = 9) -> list[np.ndarray]:
    return [rng.standard_normal((2, 19, 6, 7)), regions(rng, count, 2, 13)]


def large(rng, count: int, shape: tuple[int, ...] = (2, 19, 40, 37)) -> list[np.ndarray]:
    """Regions of which some reach over the map's sides, and some are narrow, on a map of several bands of rows."""
    rows = regions(rng, count, shape[0], 75)
    rows[0, 1:], rows[1, 1:], rows[2, 1:] = (-9, -30, 90, 120), (20, 3, 20.7, 70), (5, 41, 60, 41.2)
    return [rng.standard_normal(shape), rows]


LAUNCHES = [  # for tests/device/test_threaded.py
    (TEXT % (3, 2, 0.5), inputs(np.random.default_rng(0), 20)),
    (TEXT % (4, 3, 0.5), large(np.random.default_rng(9), 6, (1, 20, 40, 37))),
]


def test_by_hand(device):
    ramp = 10.0 * np.arange(6)[:, None] + np.arange(6)
    rows = [[0, 1, 1, 3, 4], [0, 0.5, 0.25, 0.75, 0.5], [0, -3, -3, -1, -1], [0, 2, 2, 2, 4], [0, 3, 3, 1, 1]]
    top = Rig(TEXT % (1, 1, 1.0), [ramp[None, None], rows], device=device).forward()[0].reshape(-1)
    np.testing.assert_allclose(top[:2], [27, 3.75 + 0.625], rtol=1e-6)  # of a ramp, the value in the middle
    assert not top[2:].any()  # outside; no width; negative
    ones = Rig(
        TEXT % (1, 1, 1.0), [np.ones((1, 1, 6, 6)), [[0, -1, 2, 0, 3], [0, -2, 2, 0, 3]]], device=device
    ).forward()[0]
    np.testing.assert_allclose(ones.reshape(-1), [0.5, 0.25], rtol=1e-6)  # the surface falls to 0 within a pixel


def averages(low: float, high: float, bins: int, pixels: int) -> np.ndarray:
    """(bins, pixels): of each pixel's hat over each bin, by the integral of the hat."""
    integral = lambda t: np.where(t < 0, np.clip(t + 1, 0, 1) ** 2 / 2, 1 - np.clip(1 - t, 0, 1) ** 2 / 2)  # noqa: E731
    edges = low + (high - low) * np.arange(bins + 1)[:, None] / bins - np.arange(pixels)
    return (integral(edges[1:]) - integral(edges[:-1])) * bins / (high - low)


def densely(features, rows, size, scale, diff=None):
    """Matrix products of whole axes: the averages, or the features' gradient."""
    top = np.zeros((len(rows), features.shape[1], *size)) if diff is None else np.zeros(features.shape)
    for k, (image, x1, y1, x2, y2) in enumerate(rows):
        if x1 >= x2 or y1 >= y2:
            continue
        down = averages(y1 * scale, y2 * scale, size[0], features.shape[2])
        across = averages(x1 * scale, x2 * scale, size[1], features.shape[3])
        if diff is None:
            top[k] = down @ features[int(image)] @ across.T
        else:
            top[int(image)] += down.T @ diff[k] @ across
    return top


@pytest.mark.parametrize("size", [(7, 7), (3, 2), (1, 30)])
def test_large_maps_as_matrix_products(size, device):
    rng = np.random.default_rng(sum(size))
    bottoms = large(rng, 12)
    r = Rig(TEXT % (*size, 0.5), bottoms, device=device, dtype=np.float64)
    close(r.forward()[0], densely(*bottoms, size, 0.5), rtol=1e-9, atol=1e-9)
    diff = rng.standard_normal(r.top[0].shape)
    features, rois = r.backward([diff])
    close(features, densely(*bottoms, size, 0.5, diff), rtol=1e-9, atol=1e-9)
    step, moved = 1e-6, np.zeros((12, 4))
    for q in range(4):
        ends = []
        for sign in (1, -1):
            rows = bottoms[1].copy()
            rows[:, 1 + q] += sign * step
            ends.append((densely(bottoms[0], rows, size, 0.5) * diff).sum((1, 2, 3)))
        moved[:, q] = (ends[0] - ends[1]) / (2 * step)
    close(rois[:, 1:], moved, rtol=1e-5, atol=1e-5)


def test_gradient_to_features_and_regions(device):
    rng = np.random.default_rng(1)
    r = Rig(TEXT % (3, 2, 0.5), inputs(rng), device=device, dtype=np.float64)
    check_gradient(r, bottoms=[0])
    rois = r.backward([rng.standard_normal(r.top[0].shape)])[1]
    assert not rois[:, 0].any()
    upstream, start, step = np.array(r.top[0].diff), np.array(r.bottom[1].data), 1e-6
    wanted = np.zeros((len(start), 4))
    for k, q in np.ndindex(wanted.shape):
        ends = []
        for moved in (step, -step):
            row = start.copy()
            row[k, 1 + q] += moved
            r.set_bottom(1, row)
            ends.append(r.forward()[0])
        wanted[k, q] = ((ends[0] - ends[1]) * upstream).sum() / (2 * step)
    close(rois[:, 1:], wanted, rtol=0, atol=1e-6)


def test_each_gradient_is_given_alone(device):
    rng = np.random.default_rng(2)
    r = Rig(TEXT % (3, 2, 0.5), inputs(rng), device=device)
    r.forward()
    diff = rng.standard_normal(r.top[0].shape)
    both = r.backward([diff])
    features, rois = r.backward([diff], [True, False])[0], r.backward([diff], [False, True])[1]
    assert np.array_equal(features, both[0])
    assert np.array_equal(rois, both[1])


def test_new_shapes_no_regions_no_images(device):
    bottoms = inputs(np.random.default_rng(3))
    r = Rig(TEXT % (2, 3, 0.5), bottoms, device=device)
    first = r.forward()[0]
    r.set_bottom(1, np.zeros((0, 5)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)])[0].any()
    r.set_bottom(1, bottoms[1])
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0), (2, 0, 8, 9)):
        r.set_bottom(0, np.zeros(shape))
        assert not r.forward()[0].any()
        assert not r.backward([np.ones(r.top[0].shape)])[1].any()
    r.set_bottom(0, bottoms[0])
    assert np.array_equal(r.forward()[0], first)


def test_slabs_made_first_or_one_after_another(monkeypatch):
    texts = (
        TEXT % (3, 2, 0.5),
        'type: "ROIAlign" roi_align_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 pool_mode: MAX }',
        'type: "ROIAlign" roi_align_param { pooled_h: 9 pooled_w: 8 spatial_scale: 0.5 }',
    )
    for text in texts:
        tops = []
        for packed in (False, True):
            monkeypatch.setattr("boxpresso.layers.regions.region_base.PACKED", {"cpu": packed})
            tops.append(Rig(text, inputs(np.random.default_rng(10), 30)).forward()[0])
        if "PrROI" in text:  # sums along the rows first, or down the columns
            close(*tops, rtol=1e-5, atol=1e-5)
        else:
            assert np.array_equal(*tops)


def test_wild_regions_contribute_nothing(device):
    check_wild_regions(TEXT % (2, 3, 0.5), inputs(np.random.default_rng(4), 5), [True, True], device)


def test_any_finite_region_is_survived(device):
    rng = np.random.default_rng(5)
    r = Rig(TEXT % (2, 2, 0.5), [rng.standard_normal((2, 3, 8, 9)), rng.choice(FINITE, (2000, 5))], device=device)
    assert np.isfinite(r.forward()[0]).all()
    features, rois = r.backward([np.ones(r.top[0].shape)])
    assert np.isfinite(features).all()
    assert not np.isnan(rois).any()  # a side of 1e-40 has a slope beyond float


def test_bitwise_identical_for_any_number_of_workers(monkeypatch):
    r = Rig(TEXT % (2, 3, 0.5), inputs(np.random.default_rng(6), 40))
    check_any_workers(r, [True, True], monkeypatch)


def test_float16(device):
    rng = np.random.default_rng(7)
    half, single = (
        Rig(TEXT % (2, 3, 0.5), inputs(np.random.default_rng(8)), device=device, dtype=d)
        for d in (np.float16, np.float32)
    )
    for i, blob in enumerate(half.bottom):
        single.set_bottom(i, np.array(blob.data))
    close(half.forward()[0], single.forward()[0], rtol=1e-3, atol=1e-5)
    diff = rng.standard_normal(half.top[0].shape).astype(np.float16)
    for got, wanted in zip(half.backward([diff]), single.backward([diff]), strict=True):
        close(got, wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "rois", "message"),
    [
        (TEXT % (0, 2, 1.0), np.zeros((1, 5)), "pooled_h and pooled_w must be positive"),
        (TEXT % (2, 2, -1.0), np.zeros((1, 5)), "spatial_scale"),
        (TEXT % (2, 2, 1.0), np.zeros((1, 4)), r"must be \(K, 5\)"),
    ],
)
def test_errors(text, rois, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 1, 4, 4)), rois])
