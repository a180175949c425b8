"""RotateROIPooling against recorded outputs of RRPN's kernel, by hand, and on wild input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_wild_regions
from shared import golden, recorded

from boxpresso.proto.errors import LayerError

TEXT = 'type: "RotateROIPooling" rotate_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %r }'
FEATURES_ONLY = [True, False, False]


@pytest.mark.parametrize("path", golden("roi/RROIPooling"), ids=lambda p: p.stem)
def test_as_rrpn(path, device):
    c = recorded(path)
    p = json.loads(str(c["params"]))
    text = TEXT % (p["pooled_height"], p["pooled_width"], p["spatial_scale"])
    r = Rig(text, [c["input"], c["rois"], c["image_info"][None]], device=device, tops=2)
    top, argmax = r.forward()
    assert np.array_equal(top, c["output"])
    assert np.array_equal(argmax, c["argmax"])
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], rtol=2e-5)


def regions(rng, count: int, batch: int, extent: float) -> np.ndarray:
    """Of all angles, some partly outside."""
    index, centre = rng.integers(0, batch, (count, 1)), rng.uniform(0, extent, (count, 2))
    return np.concatenate([index, centre, rng.uniform(2, extent, (count, 2)), rng.uniform(-200, 200, (count, 1))], 1)


def inputs(rng, count: int = 9, shape: tuple = (2, 19, 9, 11)) -> list[np.ndarray]:
    features = rng.permutation(int(np.prod(shape))).reshape(shape) / 100.0 + 1  # far apart: a maximum stays one
    return [features, regions(rng, count, shape[0], 20), [[18, 22, 1]]]


# For tests/device/test_threaded.py.
LAUNCHES = [(TEXT % (3, 2, 0.5), inputs(np.random.default_rng(0), 20), FEATURES_ONLY, {"tops": 2})]


def test_by_hand(device):
    features = np.arange(16.0).reshape(1, 1, 4, 4)
    info = [[4, 4, 1]]
    # centre (1.5, 1.5), 4 x 4: from -0.5 to 3.5; counter-clockwise by 90 degrees, the first bin is at the lower left
    rows = [[0, 1.5, 1.5, 4, 4, 0], [0, 1.5, 1.5, 4, 4, 90], [0, 1.5, 1.5, 2, 4, 0]]
    top = Rig(TEXT % (2, 2, 1.0), [features, rows, info], device=device).forward()[0][:, 0]
    assert top[0].tolist() == [[5, 7], [13, 15]]
    assert top[1].tolist() == [[13, 5], [15, 7]]
    assert top[2].tolist() == [[5, 7], [9, 11]]  # height before width
    small = Rig(TEXT % (2, 2, 1.0), [features, rows, [[3, 4, 1]]], device=device).forward()[0][0, 0]
    assert small.tolist() == [[5, 7], [9, 11]]  # the image ends after row 2


def test_each_image_has_its_size(device):
    features = np.ones((2, 1, 4, 4)) * [[[[1]]], [[[2]]]]
    rows = [[0, 2, 2, 4, 4, 0], [1, 2, 2, 4, 4, 0]]
    text = TEXT % (1, 1, 1.0)
    both = Rig(text, [features, rows, [[4, 4, 1], [0, 4, 1]]], device=device).forward()[0]
    assert both.reshape(-1).tolist() == [1, 0]
    one = Rig(text, [features, rows, [4, 4, 1]], device=device).forward()[0]
    assert one.reshape(-1).tolist() == [1, 2]


def test_gradient(device):
    check_gradient(Rig(TEXT % (3, 2, 0.5), inputs(np.random.default_rng(1)), device=device, dtype=np.float64))


def test_bins_of_many_pixels(device):
    """More candidates than are tested together."""
    rng = np.random.default_rng(2)
    features = rng.standard_normal((1, 3, 40, 50))
    r = Rig(TEXT % (1, 1, 1.0), [features, [[0, 24.5, 19.5, 80, 90, 0]], [[40, 50, 1]]], device=device, tops=2)
    top, argmax = r.forward()
    flat = features.astype(np.float32).reshape(3, -1)
    assert np.array_equal(top.reshape(-1), flat.max(1))
    assert np.array_equal(argmax.reshape(-1), flat.argmax(1))


def test_wild_regions_contribute_nothing(device):
    bottoms = [np.array(b) for b in inputs(np.random.default_rng(3), 6)]
    check_wild_regions(TEXT % (2, 3, 0.5), bottoms, FEATURES_ONLY, device, exact=False)


def test_any_finite_region_is_survived(device):
    rng = np.random.default_rng(4)
    for info in ([8, 9, 1], [np.nan, np.inf, 1], [-1e30, 3e38, 0]):
        bottoms = [rng.standard_normal((2, 3, 8, 9)), rng.choice(FINITE, (2000, 6)), info]
        r = Rig(TEXT % (2, 2, 0.5), bottoms, device=device)
        assert np.isfinite(r.forward()[0]).all()
        assert np.isfinite(r.backward([np.ones(r.top[0].shape)], FEATURES_ONLY)[0]).all()


def test_new_shapes_no_regions_no_images(device):
    bottoms = inputs(np.random.default_rng(5))
    r = Rig(TEXT % (2, 2, 0.5), bottoms, device=device)
    first = r.forward()[0]
    r.set_bottom(1, np.zeros((0, 6)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)], FEATURES_ONLY)[0].any()
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0)):
        r.set_bottom(0, np.zeros(shape))
        r.set_bottom(1, bottoms[1])
        assert not r.forward()[0].any()
        r.backward([np.ones(r.top[0].shape)], FEATURES_ONLY)
    r.set_bottom(0, bottoms[0])
    assert np.array_equal(r.forward()[0], first)


def test_float16(device):
    bottoms = inputs(np.random.default_rng(6), shape=(2, 19, 5, 6))
    half, single = (Rig(TEXT % (2, 2, 0.5), bottoms, device=device, dtype=d) for d in (np.float16, np.float32))
    single.set_bottom(0, np.array(half.bottom[0].data))
    single.set_bottom(1, np.array(half.bottom[1].data))
    assert np.array_equal(half.forward()[0], single.forward()[0])
    diff = np.random.default_rng(7).standard_normal(half.top[0].shape).astype(np.float16)
    close(half.backward([diff], FEATURES_ONLY)[0], single.backward([diff], FEATURES_ONLY)[0], rtol=1e-3)


@pytest.mark.parametrize(
    ("text", "rois", "info", "message"),
    [
        (TEXT % (0, 2, 1.0), np.zeros((1, 6)), [4, 4, 1], "pooled_h and pooled_w must be positive"),
        (TEXT % (2, 2, 0.0), np.zeros((1, 6)), [4, 4, 1], "spatial_scale"),
        (TEXT % (2, 2, 1.0), np.zeros((1, 5)), [4, 4, 1], r"must be \(K, 6\)"),
        (TEXT % (2, 2, 1.0), np.zeros((1, 6)), [4, 4], "im_info"),
    ],
)
def test_errors(text, rois, info, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 1, 4, 4)), rois, info])


def test_regions_get_no_gradient():
    r = Rig(TEXT % (2, 2, 1.0), inputs(np.random.default_rng(8)))
    r.forward()
    with pytest.raises(LayerError, match="no gradient"):
        r.backward([np.zeros(r.top[0].shape)])
    assert [r.layer.allow_force_backward(i) for i in range(3)] == [True, False, False]
