"""ROIAlign against recorded outputs of mmcv, by hand, by differences, and on wild input."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_any_workers, check_no_forward_no_order, check_wild_regions, regions
from shared import golden

from boxpresso.proto.errors import BoxpressoWarning, LayerError

ALIGN = 'type: "ROIAlign" roi_align_param { %s }'
WHOLE = "pooled_h: 2 pooled_w: 2 "
FEATURES_ONLY = [True, False]
CASES = golden("roi/RoIAlign")


@pytest.fixture(params=["slabs", "planes"], autouse=True)
def way(request, monkeypatch):
    """Each test runs both ways that an average is computed in, whichever the layer would choose."""
    many = {"slabs": 1e9, "planes": -1}[request.param]
    monkeypatch.setattr("boxpresso.layers.regions.separable_base.MANY", {"cpu": many, "cuda": many})


def text_of(p: dict) -> str:
    return ALIGN % (
        f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']} spatial_scale: {p['spatial_scale']} "
        f"sampling_ratio: {p['sampling_ratio']} aligned: {str(p['aligned']).lower()} pool_mode: {p['pool_mode'].upper()}"
    )


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_as_mmcv(path, real, device):
    c = np.load(path)
    p = json.loads(str(c["params"]))
    suffix, dtype = ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in c:
        pytest.skip("not recorded in double")
    r = Rig(text_of(p), [c["input"], c["rois"]], device=device, dtype=dtype, tops=3 if p["pool_mode"] == "max" else 1)
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    top, *places = r.forward()
    lowest = -np.finfo(dtype).max  # as mmcv's CUDA; its CPU starts at -10000
    wanted = np.where(c["output" + suffix] == -10000, lowest, c["output" + suffix])
    close(top, wanted, **tolerance)
    for place, name in zip(places, ("argmax_y", "argmax_x")):
        close(place, c[name], rtol=1e-6, atol=1e-6)
    diffs = r.backward([c["grad_output"]], FEATURES_ONLY)
    close(diffs[0], c["grad_input" + suffix], **tolerance)


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_stored_in_float16(path, device):
    """As the same numbers in float32, but for one rounding at the end."""
    c = np.load(path)
    arrays = [c["input"].astype(np.float16), c["rois"].astype(np.float16)]
    text, diff = text_of(json.loads(str(c["params"]))), c["grad_output"].astype(np.float16)
    wide, half = (Rig(text, arrays, device=device, dtype=dtype) for dtype in (np.float32, np.float16))
    with np.errstate(over="ignore"):
        close(half.forward()[0], wide.forward()[0].astype(np.float16), rtol=1e-3, atol=1e-6)
        got, wanted = (r.backward([diff], FEATURES_ONLY)[0] for r in (half, wide))
        assert got.dtype == np.float16
        close(got, wanted.astype(np.float16), rtol=1e-3, atol=1e-6)


def test_regions_may_be_float32_beside_float16(device):
    """Where float16 has whole pixels only."""
    rng = np.random.default_rng(8)
    features = rng.standard_normal((1, 3, 9, 9)).astype(np.float16)
    rows = np.array([[0, 2000.3, 2000.6, 2011.2, 2012.1]])
    features = np.tile(features, (1, 1, 1, 230))[:, :, :, :2048]
    text = ALIGN % (WHOLE + "sampling_ratio: 2 aligned: true")
    rows[0, [2, 4]] -= 2000
    wide, half = (
        Rig(text, [features, rows], device=device),
        Rig(text, [features, rows], device=device, dtype=np.float16),
    )
    half.bottom[1] = wide.bottom[1]
    close(half.forward()[0], wide.forward()[0], rtol=1e-3, atol=1e-3)
    diff = rng.standard_normal(wide.top[0].shape).astype(np.float16)
    got, wanted = half.backward([diff]), wide.backward([diff])
    close(got[0], wanted[0], rtol=1e-3, atol=1e-3)
    close(got[1], wanted[1], rtol=1e-5, atol=1e-5)


def plainly(features, rows, text_size, scale, ratio, aligned, mode):
    """Sample by sample, in numpy."""
    ph, pw = text_size
    height, width = features.shape[2:]
    top = np.zeros((len(rows), features.shape[1], ph, pw))
    for k, (b, x1, y1, x2, y2) in enumerate(rows):
        half = 0.5 if aligned else 0
        sx, sy = x1 * scale - half, y1 * scale - half
        w, h = (x2 - x1) * scale, (y2 - y1) * scale
        if not aligned:
            w, h = max(w, 1), max(h, 1)
        ny, nx = (ratio, ratio) if ratio > 0 else (int(np.ceil(h / ph)), int(np.ceil(w / pw)))
        for i, j in np.ndindex(ph, pw):
            values = []
            for iy, ix in np.ndindex(ny, nx):
                y, x = sy + i * h / ph + (iy + 0.5) * h / ph / ny, sx + j * w / pw + (ix + 0.5) * w / pw / nx
                if not (-1 <= y <= height and -1 <= x <= width):
                    values.append(np.zeros(features.shape[1]))
                    continue
                y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
                y0, x0 = int(y), int(x)
                y1_, x1_ = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
                f = features[int(b)]
                rows_ = [(1 - x + x0) * f[:, r, x0] + (x - x0) * f[:, r, x1_] for r in (y0, y1_)]
                values.append((1 - y + y0) * rows_[0] + (y - y0) * rows_[1])
            if values:
                top[k, :, i, j] = np.mean(values, 0) if mode == "AVG" else np.max(values, 0)
    return top


@pytest.mark.later(but=6)
@pytest.mark.parametrize("mode", ["AVG", "MAX"])
@pytest.mark.parametrize("size", [(7, 7), (1, 1), (3, 2), (14, 5), (2, 33)])
@pytest.mark.parametrize(("ratio", "aligned"), [(0, True), (-1, False), (3, True), (1, False)])
def test_sample_by_sample(size, ratio, aligned, mode, device):
    """Many widths and numbers of channels, so that every part of a vector is an end somewhere."""
    rng = np.random.default_rng(sum(size) + ratio)
    for channels, height, width in ((1, 5, 3), (3, 9, 17), (17, 30, 40), (5, 3, 700)):
        features, rows = rng.standard_normal((2, channels, height, width)), regions(rng, 5, 2, 1)
        rows[:, 1:] *= np.array([width, height, width, height]) / 0.5
        rows[0, 3:] = rows[0, 1:3] + 0.3
        text = f"pooled_h: {size[0]} pooled_w: {size[1]} spatial_scale: 0.5 sampling_ratio: {ratio} pool_mode: {mode} "
        r = Rig(ALIGN % f"{text} aligned: {str(aligned).lower()}", [features, rows], device=device, dtype=np.float64)
        close(r.forward()[0], plainly(features, rows, size, 0.5, ratio, aligned, mode), rtol=1e-9, atol=1e-9)
        if mode == "AVG":  # backward is the transpose: <top, g> = <features, backward of g>
            diff = rng.standard_normal(r.top[0].shape)
            got = r.backward([diff], FEATURES_ONLY)[0]
            assert (got * features).sum() == pytest.approx((diff * np.array(r.top[0].data)).sum(), abs=1e-8)


# For test_threaded: slabs, where many regions share a map, and planes; corners and float16.
MAPS, LARGE = (
    np.random.default_rng(0).standard_normal((2, 5, 9, 10)),
    np.random.default_rng(1).standard_normal((1, 5, 40, 41)),
)
ROWS = np.array([[0, 1, 1, 7, 6], [1, 2, 0, 9, 8], [0, 0, 0, 9, 9], [1, 3, 3, 4, 4], [7, 0, 0, 3, 3]])
LAUNCHES: list[tuple] = [
    (ALIGN % f"{size} {text}", [maps, ROWS if maps is MAPS else 4 * ROWS], [True, "MAX" not in text], {"dtype": dtype})
    for size in ("pooled_h: 3 pooled_w: 2 sampling_ratio: 2", "pooled_h: 2 pooled_w: 3")
    for text in ("", "aligned: true", "aligned: true pool_mode: MAX")
    for maps in (MAPS, LARGE)
    for dtype in ((np.float16, np.float32) if text == "" else (np.float32,))
]
LAUNCHES += [
    (ALIGN % f"pooled_h: 3 pooled_w: 2 {text} pool_mode: MAX", [MAPS, ROWS], FEATURES_ONLY, {"tops": 3})
    for text in ("sampling_ratio: 2", "sampling_ratio: 130", "aligned: true")
]
WIDE = np.random.default_rng(3).standard_normal((1, 3, 65, 66))  # so large that a region is not worth slabs of it
LAUNCHES += [
    (ALIGN % "pooled_h: 2 pooled_w: 3", [WIDE, ROWS[:1]], None, {"dtype": dtype}) for dtype in (np.float16, np.float32)
]

EVERY = [
    ALIGN % "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 sampling_ratio: 2",
    ALIGN % "pooled_h: 2 pooled_w: 4 spatial_scale: 0.5 aligned: true",
    ALIGN % "pooled_h: 2 pooled_w: 4 spatial_scale: 0.5 aligned: true pool_mode: MAX",
]
NAMES = ["fixed", "adaptive", "max"]


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_gradient_of_features(text, device):
    rng = np.random.default_rng(1)
    features = rng.permutation(2 * 19 * 6 * 7).reshape(2, 19, 6, 7) / 100.0  # far apart: a maximum that stays one
    check_gradient(Rig(text, [features, regions(rng, 9, 2, 13)], device=device, dtype=np.float64))


@pytest.mark.parametrize("text", [*EVERY[:2], EVERY[1].replace("true", "false")], ids=["fixed", "adaptive", "legacy"])
def test_gradient_of_regions(text, device):
    """A coordinate where a sample crosses a pixel is a kink and passed over."""
    rng = np.random.default_rng(1)
    r = Rig(text, [rng.standard_normal((2, 20, 9, 8)), regions(rng, 7, 2, 16)], device=device, dtype=np.float64)
    r.bottom[1].data[:, 0] += 0.5  # so that moving the image's number changes nothing
    r.bottom[1].data[0, 3:5] = r.bottom[1].data[0, 1:3] + 1  # below one pixel: without `aligned` the size is held
    check_gradient(r, bottoms=(0, 1), step=1e-6)


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_new_shapes_no_regions_no_images(text, device):
    rng = np.random.default_rng(2)
    r = Rig(text, [rng.standard_normal((2, 3, 8, 9)), regions(rng, 4, 2, 16)], device=device)
    both = [True, "MAX" not in text]
    first = r.forward()[0]
    bottoms = [np.array(b.data) for b in r.bottom]
    r.set_bottom(1, np.zeros((0, 5)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)], both)[0].any()
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0), (2, 0, 8, 9)):
        r.set_bottom(0, np.zeros(shape))
        r.set_bottom(1, bottoms[1])
        assert not r.forward()[0].any()
        diffs = r.backward([np.ones(r.top[0].shape)], both)
        assert not both[1] or not diffs[1].any()
    for i, value in enumerate(bottoms):
        r.set_bottom(i, value)
    assert np.array_equal(r.forward()[0], first)


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_wild_regions_contribute_nothing(text, device):
    rng = np.random.default_rng(3)
    bottoms = [rng.standard_normal((2, 3, 8, 9)), regions(rng, 5, 2, 16)]
    check_wild_regions(text, bottoms, [True, "MAX" not in text], device)


@pytest.mark.parametrize("text", [EVERY[0], EVERY[0].replace("}", "pool_mode: MAX }")], ids=["avg", "max"])
def test_any_finite_region_is_survived(text, device):
    rng = np.random.default_rng(4)
    r = Rig(text, [rng.standard_normal((2, 3, 8, 9)), rng.choice(FINITE, (4000, 5))], device=device)
    top = r.forward()[0]
    assert np.isfinite(top).all()
    assert np.isfinite(r.backward([np.ones(top.shape)], FEATURES_ONLY)[0]).all()


def test_by_hand(device):
    features = np.arange(16.0).reshape(1, 1, 4, 4)  # v = 4 y + x: a bilinear sample is v itself
    rows = [[0, 0, 0, 2, 2], [0, 0.5, 0.5, 0.75, 0.75], [0, 2, 2, 2, 2]]
    legacy = Rig(ALIGN % (WHOLE + " sampling_ratio: 2"), [features, rows], device=device).forward()[0][:, 0]
    np.testing.assert_allclose(legacy[0], [[2.5, 3.5], [6.5, 7.5]], rtol=1e-6)
    np.testing.assert_allclose(legacy[1], [[3.75, 4.25], [5.75, 6.25]], rtol=1e-6)  # the size is at least 1
    aligned = Rig(ALIGN % (WHOLE + " aligned: true"), [features, rows], device=device).forward()[0][:, 0]
    # bins start at -0.5: the first samples are at 0, then at 1
    np.testing.assert_allclose(aligned[0], [[0, 1], [4, 5]], atol=1e-6)
    assert not aligned[2].any()  # no size, no samples
    r = Rig(ALIGN % (WHOLE + " sampling_ratio: 2 pool_mode: MAX"), [features, rows[:1]], device=device, tops=3)
    most, y, x = r.forward()
    np.testing.assert_allclose(most[0, 0], [[3.75, 4.75], [7.75, 8.75]], rtol=1e-6)
    np.testing.assert_allclose(y[0, 0], [[0.75, 0.75], [1.75, 1.75]])
    np.testing.assert_allclose(x[0, 0], [[0.75, 1.75], [0.75, 1.75]])


def test_regions_gradient_by_hand(device):
    features = np.arange(36.0).reshape(1, 1, 6, 6)
    r = Rig(ALIGN % "pooled_h: 1 pooled_w: 1 sampling_ratio: 2", [features, [[0, 1, 1, 3, 4]]], device=device)
    assert r.forward()[0].item() == pytest.approx(2 + 6 * 2.5)  # the value at the region's centre
    np.testing.assert_allclose(r.backward([np.ones((1, 1, 1, 1))])[1], [[0, 0.5, 3, 0.5, 3]], rtol=1e-6)
    r.set_bottom(1, np.array([[0, 1, 1, 1.5, 1.5]]))  # held at one pixel: only its start moves it
    r.forward()
    np.testing.assert_allclose(r.backward([np.ones((1, 1, 1, 1))])[1], [[0, 1, 6, 0, 0]], rtol=1e-6)


@pytest.mark.parametrize("samples", [1, 2, 5, 100])
def test_maximum_gives_its_gradient_to_the_pixels_of_one_sample(samples, device):
    """Few samples and many, and more than a block's table of them holds; found by forward, or again by backward."""
    rng = np.random.default_rng(samples)
    features, rows = rng.standard_normal((2, 19, 9, 11)), regions(rng, 8, 2, 20)
    text = ALIGN % f"pooled_h: 3 pooled_w: 4 spatial_scale: 0.5 sampling_ratio: {samples} pool_mode: MAX"
    diff = rng.standard_normal((8, 19, 3, 4))
    stored, again = (Rig(text, [features, rows], device=device, dtype=np.float64, phase=p) for p in ("TRAIN", "TEST"))
    top, y, x = Rig(text, [features, rows], device=device, dtype=np.float64, tops=3).forward()
    wanted = np.zeros(features.shape)
    for k, c, i, j in np.ndindex(top.shape):
        v, u = (min(max(place[k, c, i, j], 0), size - 1) for place, size in ((y, 9), (x, 11)))
        if not (-1 < y[k, c, i, j] <= 9 and -1 <= x[k, c, i, j] <= 11):
            continue
        for row, down in ((int(v), 1 - v % 1), (min(int(v) + 1, 8), v % 1)):
            for column, across in ((int(u), 1 - u % 1), (min(int(u) + 1, 10), u % 1)):
                wanted[int(rows[k, 0]), c, row, column] += down * across * diff[k, c, i, j]
    for r in (stored, again):
        assert np.array_equal(r.forward()[0], top)
        close(r.backward([diff], FEATURES_ONLY)[0], wanted, rtol=1e-9, atol=1e-12)
    assert stored.layer.has_places
    assert not again.layer.has_places


def test_negative_sizes():
    features = np.arange(16.0).reshape(1, 1, 4, 4)
    row = [[0, 3, 3, 1, 1]]
    for mode in ("AVG", "MAX"):
        fixed = Rig(ALIGN % f"{WHOLE} aligned: true sampling_ratio: 1 pool_mode: {mode}", [features, row]).forward()[0]
        np.testing.assert_allclose(fixed[0, 0], [[10, 9], [6, 5]])  # samples at 2, then 1
    assert not Rig(ALIGN % (WHOLE + " aligned: true"), [features, row]).forward()[0].any()


@pytest.mark.parametrize("mode", ["AVG", "MAX"])
def test_samples_backwards_from_beyond_the_map(mode, device):
    """Of a region much larger than the map most samples of a bin lie off it; those that do not are counted from the other end."""
    rng = np.random.default_rng(8)
    features = rng.standard_normal((1, 3, 5, 9))
    starts, sizes = rng.uniform(-2, 11, (40, 2)), rng.uniform(10, 40, (40, 2)) * rng.choice([-1, 1], (40, 2))
    rows = np.concatenate([np.zeros((40, 1)), starts, starts + sizes], 1)
    for size in ((1, 1), (2, 3)):
        text = f"pooled_h: {size[0]} pooled_w: {size[1]} aligned: true sampling_ratio: 5 pool_mode: {mode}"
        top = Rig(ALIGN % text, [features, rows], device=device, dtype=np.float64).forward()[0]
        close(top, plainly(features, rows, size, 1, 5, True, mode), rtol=1e-9, atol=1e-12)


def test_infinity_spreads_with_weight_zero():
    """As in a sum of single samples: 0 * infinity is NaN, also where another sample of the bin takes the pixel."""
    features = np.ones((1, 1, 6, 6))
    features[0, 0, 2, 2] = np.inf
    rows = [[0, 0, 0, 3, 3], [0, 0, 0, 2, 2], [0, 2.5, 2.5, 5, 5]]
    top = Rig(ALIGN % "pooled_h: 1 pooled_w: 1 sampling_ratio: 3", [features, rows]).forward()[0].ravel()
    assert np.isinf(top[0])  # samples at 0.5, 1.5, 2.5: weights above 0
    top = Rig(ALIGN % "pooled_h: 1 pooled_w: 1 sampling_ratio: 1", [features, rows]).forward()[0].ravel()
    assert np.isnan(top[1])  # the sample at (1, 1) names pixel (2, 2), with weight 0
    top = Rig(ALIGN % "pooled_h: 1 pooled_w: 1 sampling_ratio: 2", [features, [[0, 0, 0, 4, 4]]]).forward()[0].ravel()
    assert np.isnan(top[0])  # samples at 1 and 3
    edge = np.ones((1, 1, 3, 3))
    edge[0, 0, 2, 2] = np.inf
    top = Rig(ALIGN % "pooled_h: 1 pooled_w: 1 sampling_ratio: 1", [edge, [[0, 2, 2, 3, 3]]]).forward()[0].ravel()
    assert np.isnan(top[0])  # beyond the last pixel both corners are that pixel, one with weight 0


def test_sample_ratio_is_another_name():
    rng = np.random.default_rng(5)
    inputs = [rng.standard_normal((1, 2, 9, 9)), regions(rng, 3, 1, 9)]
    tops = [Rig(ALIGN % f"{WHOLE} {t}", inputs).forward()[0] for t in ("sampling_ratio: 3", "sample_ratio: 3", "")]
    assert np.array_equal(tops[0], tops[1])
    assert not np.array_equal(tops[0], tops[2])


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_bitwise_identical_for_any_number_of_workers(text, monkeypatch):
    rng = np.random.default_rng(6)
    r = Rig(text, [rng.standard_normal((2, 70, 12, 12)), regions(rng, 40, 2, 24)])
    check_any_workers(r, [True, "MAX" not in text], monkeypatch)


@pytest.mark.parametrize("text", EVERY[:2], ids=NAMES[:2])
def test_gradients_need_no_forward_and_regions_no_order(text, device):
    rng = np.random.default_rng(8)
    check_no_forward_no_order(text, rng.standard_normal((2, 19, 40, 9)), regions(rng, 30, 2, 80), device)


def test_an_image_without_regions_has_no_gradient_and_bands_of_rows_do_not_touch(device):
    """Only the rows between an image's regions are brought into slabs."""
    features = np.random.default_rng(9).standard_normal((3, 20, 30, 7))
    rows = np.array([[2, 1, 3, 5, 6], [2, 0, 20, 6, 24], [0, 2, 28, 6, 40]])
    whole = Rig(EVERY[0], [features, rows], device=device, dtype=np.float64)
    single = [Rig(EVERY[0], [features, row[None]], device=device, dtype=np.float64).forward()[0][0] for row in rows]
    close(whole.forward()[0], np.stack(single), rtol=1e-12, atol=1e-12)
    diff = whole.backward([np.ones(whole.top[0].shape)], FEATURES_ONLY)[0]
    assert [bool(d.any()) for d in diff] == [True, False, True]


def test_absurd_grids_are_refused():
    with pytest.raises(LayerError, match="more than 2\\^20 samples"):
        Rig(ALIGN % WHOLE, [np.zeros((1, 1, 4, 4)), [[0, 0, 0, 1e30, 5]]]).forward()
    with pytest.raises(LayerError, match="more than 2\\^20 samples"):
        Rig(ALIGN % (WHOLE + " sampling_ratio: 2000"), [np.zeros((1, 1, 4, 4)), np.zeros((1, 5))])
    bad = [[5, 0, 0, 1e30, 5], [0, np.nan, 0, 1e30, 1e30], [0, -1e30, -1e30, 1e30, -2e30]]
    aligned = Rig(ALIGN % (WHOLE + " aligned: true"), [np.ones((1, 1, 4, 4)), bad])
    assert not aligned.forward()[0].any()  # of no image, NaN, negative: nothing to refuse


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        (ALIGN % "pooled_w: 2", (1, 5), "pooled_h and pooled_w must be positive"),
        (ALIGN % "pooled_h: 2000 pooled_w: 2", (1, 5), "at most 1024"),
        (ALIGN % (WHOLE + "spatial_scale: 0"), (1, 5), "spatial_scale"),
        (ALIGN % (WHOLE + " pad_ratio: 0.5"), (1, 5), "pad_ratio belongs to MS-CNN's"),
        (ALIGN % (WHOLE + " roi_end_mode: 1"), (1, 5), "roi_end_mode"),
        (ALIGN % (WHOLE + " topk: 5"), (1, 5), "PerfXLab"),
        (ALIGN % "aligned_h: 2 aligned_w: 2", (1, 5), "chuanqi305"),
        (ALIGN % WHOLE, (3, 6), r"must be \(K, 5\)"),
        ('type: "ROIAlign" roi_pooling_param { pooled_h: 7 pooled_w: 7 bi_type: 1 }', (1, 5), "frcnn's ROIAlign"),
        ('type: "ROIAlign"', (1, 5), "roi_align_param is missing|pooled_h and pooled_w must be positive"),
    ],
)
def test_errors(text, shape, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 1, 4, 4)), np.zeros(shape)])


def test_corners_as_cascade_rcnn(device):
    """(pooled + 1)^2 samples at the corners of cells; outside [-0.5, size - 0.5] they are 0."""
    rng = np.random.default_rng(9)
    features, rows = rng.standard_normal((2, 3, 9, 8)), regions(rng, 12, 2, 18)
    rows[0, 3] = rows[0, 1] - 4  # without a size
    text = 'type: "ROIAlign" roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 pad_ratio: 0.25 }'
    with pytest.warns(BoxpressoWarning, match="read as Cascade R-CNN's, corners of 2 x 3 cells"):
        r = Rig(text, [features, rows], device=device, dtype=np.float64)
    wanted = np.zeros((12, 3, 3, 4))
    for k, (b, x1, y1, x2, y2) in enumerate(rows):
        pad_x, pad_y = 0.25 * (x2 - x1 + 1), 0.25 * (y2 - y1 + 1)
        xs = np.linspace((x1 - pad_x) * 0.5 - 0.5, (x2 + pad_x) * 0.5 - 0.5, 4)
        ys = np.linspace((y1 - pad_y) * 0.5 - 0.5, (y2 + pad_y) * 0.5 - 0.5, 3)
        if xs[-1] <= xs[0] or ys[-1] <= ys[0]:
            continue
        for (i, y), (j, x) in itertools.product(enumerate(ys), enumerate(xs)):
            if -0.5 <= y <= 8.5 and -0.5 <= x <= 7.5:
                fy, fx = np.clip(y, 0, 8), np.clip(x, 0, 7)
                y0, x0 = min(int(fy), 7), min(int(fx), 6)
                square = features[int(b), :, y0 : y0 + 2, x0 : x0 + 2]
                wanted[k, :, i, j] = square @ [1 - fx + x0, fx - x0] @ [1 - fy + y0, fy - y0]
    close(r.forward()[0], wanted, rtol=1e-9, atol=1e-9)
    assert not wanted[0].any()
    diff = rng.standard_normal(wanted.shape)
    got = r.backward([diff], FEATURES_ONLY)[0]
    assert (got * features).sum() == pytest.approx((diff * wanted).sum())
    with pytest.raises(LayerError, match="no gradient for the regions"):
        r.backward([diff])


def test_what_has_no_gradient_and_no_places():
    r = Rig(ALIGN % (WHOLE + "pool_mode: MAX"), [np.zeros((1, 1, 4, 4)), np.zeros((1, 5))])
    r.forward()
    with pytest.raises(LayerError, match="maximum has no gradient for the regions"):
        r.backward([np.zeros((1, 1, 2, 2))])
    assert not r.layer.allow_force_backward(1)
    with pytest.raises(LayerError, match="an average has only the first"):
        Rig(ALIGN % WHOLE, [np.zeros((1, 1, 4, 4)), np.zeros((1, 5))], tops=3)
