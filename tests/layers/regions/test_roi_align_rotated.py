"""ROIAlignRotated and RiROIAlignRotated against recorded outputs of mmcv and detectron2, by hand, and by differences."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_any_workers, check_no_forward_no_order, check_wild_regions
from shared import golden

from boxpresso.proto.errors import LayerError

ALIGN = 'type: "ROIAlignRotated" roi_align_rotated_param { %s }'
RIROI = 'type: "RiROIAlignRotated" riroi_align_rotated_param { %s }'
FEATURES_ONLY = [True, False]


def text_of(p: dict) -> str:
    same = f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']} spatial_scale: {p['spatial_scale']} "
    same += f"clockwise: {str(p['clockwise']).lower()} "
    if p["op"] == "RiRoIAlignRotated":
        return RIROI % f"{same} sampling_ratio: {p['num_samples']} num_orientations: {p['num_orientations']}"
    return ALIGN % f"{same} sampling_ratio: {p['sampling_ratio']} aligned: {str(p['aligned']).lower()}"


CASES = [*golden("roi/RoIAlignRotated"), *golden("roi/RiRoIAlignRotated")]


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_as_recorded(path, real, device):
    c = np.load(path)
    suffix, dtype = ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in c:
        pytest.skip("not recorded in double")
    r = Rig(text_of(json.loads(str(c["params"]))), [c["input"], c["rois"]], device=device, dtype=dtype)
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    close(r.forward()[0], c["output" + suffix], **tolerance)
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input" + suffix], **tolerance)


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_stored_in_float16(path, device):
    """As the same numbers in float32, but for one rounding at the end."""
    c = np.load(path)
    arrays = [c["input"].astype(np.float16), c["rois"].astype(np.float16)]
    text, diff = text_of(json.loads(str(c["params"]))), c["grad_output"].astype(np.float16)
    wide, half = (Rig(text, arrays, device=device, dtype=dtype) for dtype in (np.float32, np.float16))
    close(half.forward()[0], wide.forward()[0], rtol=1.5e-3, atol=1e-3)
    got, wanted = (r.backward([diff])[:2] for r in (half, wide))
    assert got[0].dtype == np.float16
    close(got[0], wanted[0], rtol=2e-3, atol=2e-3)
    assert np.abs(got[1] - wanted[1]).max(initial=0) <= 5e-3 * np.abs(wanted[1]).max(initial=1)


def regions(rng, count: int, batch: int, extent: float) -> np.ndarray:
    """Some of them partly outside."""
    centre = rng.uniform(0, 1, (count, 2)) * extent
    size = rng.uniform(0.2, 0.8, (count, 2)) * extent
    return np.concatenate([rng.integers(0, batch, (count, 1)), centre, size, rng.uniform(-7, 7, (count, 1))], axis=1)


EVERY = [
    ALIGN % "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 sampling_ratio: 2 aligned: true",
    ALIGN % "pooled_h: 2 pooled_w: 4 spatial_scale: 0.5 clockwise: true",
    RIROI % "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 sampling_ratio: 2 num_orientations: 4",
    RIROI % "pooled_h: 2 pooled_w: 2 spatial_scale: 0.5 num_orientations: 5 clockwise: true",
]
ROWS = regions(np.random.default_rng(0), 6, 2, 16)
ROWS[5, 0] = 7
LAUNCHES: list[tuple] = [  # for test_threaded
    (text, [np.random.default_rng(1).standard_normal((2, 20, 9, 8)), ROWS], None, {"dtype": dtype})
    for text in EVERY
    for dtype in (np.float32, np.float16)
]
NAMES = ["fixed", "adaptive", "riroi", "riroi-adaptive"]


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_gradients_of_features_and_regions(text, device):
    """The regions' as well, the angle included; a coordinate where a sample crosses a pixel is a kink and passed over."""
    rng = np.random.default_rng(1)
    r = Rig(text, [rng.standard_normal((2, 20, 9, 8)), regions(rng, 7, 2, 16)], device=device, dtype=np.float64)
    r.bottom[1].data[:, 0] += 0.5  # so that moving the image's number changes nothing
    r.bottom[1].data[0, 3:5] = 1, 1.5  # below one pixel: without `aligned` the size is held
    check_gradient(r, bottoms=(0, 1), step=1e-6)


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_new_shapes_no_regions_no_images(text, device):
    rng = np.random.default_rng(2)
    r = Rig(text, [rng.standard_normal((2, 20, 8, 9)), regions(rng, 4, 2, 16)], device=device)
    first = r.forward()[0]
    bottoms = [np.array(b.data) for b in r.bottom]
    r.set_bottom(1, np.zeros((0, 6)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)])[0].any()
    for shape in ((0, 20, 8, 9), (2, 20, 0, 9), (2, 20, 8, 0), (2, 0, 8, 9)):
        r.set_bottom(0, np.zeros(shape))
        r.set_bottom(1, bottoms[1])
        assert not r.forward()[0].any()
        assert not r.backward([np.ones(r.top[0].shape)])[1].any()
    for i, value in enumerate(bottoms):
        r.set_bottom(i, value)
    assert np.array_equal(r.forward()[0], first)


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_wild_regions_contribute_nothing(text, device):
    rng = np.random.default_rng(3)
    bottoms = [rng.standard_normal((2, 20, 8, 9)), regions(rng, 6, 2, 16)]
    check_wild_regions(text, bottoms, [True, True], device)


@pytest.mark.parametrize("text", EVERY[::2], ids=NAMES[::2])
def test_any_finite_region_is_survived(text, device):
    rng = np.random.default_rng(4)
    r = Rig(text, [rng.standard_normal((2, 20, 8, 9)), rng.choice(FINITE, (4000, 6))], device=device)
    top = r.forward()[0]
    assert np.isfinite(top).all()
    assert np.isfinite(r.backward([np.ones(top.shape)], FEATURES_ONLY)[0]).all()


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_gradients_need_no_forward_and_regions_no_order(text, device):
    rng = np.random.default_rng(8)
    check_no_forward_no_order(text, rng.standard_normal((2, 20, 40, 9)), regions(rng, 30, 2, 80), device)


@pytest.mark.parametrize("ratio", [1, 3, 17, 40])
def test_more_samples_than_a_block_keeps(ratio, device):
    """Bins of 1 to 1600 samples, more than SAMPLES and more bins than BINS, without an angle are ROIAlign's."""
    rng = np.random.default_rng(10)
    features, rows = rng.standard_normal((2, 20, 9, 11)), regions(rng, 6, 2, 16)
    rows[:, 5] = 0
    sizes = f"pooled_h: 9 pooled_w: 11 spatial_scale: 0.5 sampling_ratio: {ratio} aligned: true"
    turned = Rig(f'type: "ROIAlignRotated" roi_align_rotated_param {{ {sizes} }}', [features, rows], device=device)
    half = rows[:, 3:5] / 2
    upright = np.c_[rows[:, :1], rows[:, 1:3] - half, rows[:, 1:3] + half]
    plain = Rig(f'type: "ROIAlign" roi_align_param {{ {sizes} }}', [features, upright], device=device)
    close(turned.forward()[0], plain.forward()[0], rtol=1e-3, atol=1e-4)
    diff = rng.standard_normal(plain.top[0].shape)
    down = [True, False]
    close(turned.backward([diff], down)[0], plain.backward([diff], down)[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("text", EVERY, ids=NAMES)
def test_bitwise_identical_for_any_number_of_workers(text, monkeypatch):
    rng = np.random.default_rng(6)
    r = Rig(text, [rng.standard_normal((2, 60, 12, 12)), regions(rng, 40, 2, 24)])
    check_any_workers(r, [True, True], monkeypatch)


def test_by_hand(device):
    features = np.arange(36.0).reshape(1, 1, 6, 6)  # v = 6 y + x: a bilinear sample is v itself
    text = ALIGN % "pooled_h: 1 pooled_w: 2 sampling_ratio: 1 aligned: true %s"
    row = [[0, 3, 3, 2, 2, np.pi / 2]]  # centre (2.5, 2.5), samples half a pixel left and right of it, turned
    top = Rig(text % "", [features, row], device=device).forward()[0].ravel()
    np.testing.assert_allclose(top, [17.5 + 3, 17.5 - 3], rtol=1e-6)  # counter-clockwise: the left one goes down
    top = Rig(text % "clockwise: true", [features, row], device=device).forward()[0].ravel()
    np.testing.assert_allclose(top, [17.5 - 3, 17.5 + 3], rtol=1e-6)
    r = Rig(text % "", [features, row], device=device)
    r.forward()
    got = r.backward([np.array([0.0, 1.0]).reshape(1, 1, 1, 2)])[1]
    # The right sample is at (2.5 + w/4 cos theta, 2.5 - w/4 sin theta): with w it moves up by 1/4, with theta left by 1/2.
    np.testing.assert_allclose(got, [[0, 1, 6, -1.5, 0, -0.5]], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        (ALIGN % "pooled_w: 2", (1, 6), "pooled_h and pooled_w must be positive"),
        (ALIGN % "pooled_h: 2 pooled_w: 2 spatial_scale: 0", (1, 6), "spatial_scale"),
        (ALIGN % "pooled_h: 2 pooled_w: 2", (1, 5), r"must be \(K, 6\)"),
        (ALIGN % "pooled_h: 2 pooled_w: 2 sampling_ratio: 2000", (1, 6), "2\\^20"),
        (RIROI % "pooled_h: 2 pooled_w: 2", (1, 6), "4 channels, not a multiple of num_orientations 8"),
        (RIROI % "pooled_h: 2 pooled_w: 2 num_orientations: 0", (1, 6), "num_orientations must be positive"),
    ],
)
def test_errors(text, shape, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 4, 4, 4)), np.zeros(shape)])
    with pytest.raises(LayerError, match="more than 2\\^20 samples"):
        Rig(EVERY[1], [np.zeros((1, 1, 4, 4)), [[0, 0, 0, 1e30, 5, 1]]]).forward()
