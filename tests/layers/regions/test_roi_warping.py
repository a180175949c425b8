"""ROIWarping against an independent numpy form, by hand, and on wild input."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_wild_regions

from boxpresso.proto.errors import LayerError

TEXT = 'type: "ROIWarping" roi_warping_param { pooled_h: %d pooled_w: %d spatial_scale: %r }'


def inputs(seed: int, count: int = 9, shape: tuple = (2, 5, 9, 11)) -> list[np.ndarray]:
    """Regions some of which lie partly outside or are turned inside out."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-6, 22, (count, 2))
    index = rng.integers(0, shape[0], (count, 1))
    return [rng.standard_normal(shape), np.concatenate([index, low, low + rng.uniform(-3, 20, (count, 2))], 1)]


# For tests/device/test_threaded.py.
LAUNCHES: list[tuple] = [(TEXT % (5, 3, 0.5), inputs(0, 20)), (TEXT % (17, 19, 0.5), inputs(0, 4))]


def rounded(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def reference(features: np.ndarray, index: int, corners: np.ndarray, pooled: tuple[int, int]) -> np.ndarray:
    """The top (C, pooled_h, pooled_w) of one region; corners x1, y1, x2, y2 in pixels of the map."""
    weights = []
    for axis, bins in ((1, pooled[0]), (0, pooled[1])):
        size = features.shape[3 - axis]
        at = corners[axis] + np.arange(bins) * max(corners[axis + 2] - corners[axis], 0) / bins
        hats = np.maximum(1 - np.abs(np.clip(at, 0, size - 1)[:, None] - np.arange(size)), 0)
        weights.append(hats * ((at >= -0.5) & (at <= size - 0.5))[:, None])
    return np.einsum("ph,chw,qw->cpq", weights[0], features[index], weights[1])


def whole(features: np.ndarray, rows: np.ndarray, pooled: tuple[int, int], scale: float) -> np.ndarray:
    return np.stack([reference(features, int(r[0]), rounded(r[1:] * scale), pooled) for r in rows])


def test_by_hand(device):
    features = np.arange(16.0).reshape(1, 1, 4, 4)
    rows = [[0, 0.4, -0.4, 2, 1.5], [0, 2.5, 1, 2, 3], [0, -2, 0, 2, 4], [0, 3, 3, 4, 4]]
    top = Rig(TEXT % (2, 2, 1.0), [features, rows], device=device).forward()[0][:, 0]
    assert top[0].tolist() == [[0, 1], [4, 5]]  # from (0, 0) to (2, 2)
    assert top[1].tolist() == [[7, 7], [11, 11]]  # x from 3 to 2: its width is 0
    assert top[2].tolist() == [[0, 0], [0, 8]]  # x from -2, and 0
    assert top[3].tolist() == [[15, 15], [15, 15]]  # half a pixel beyond the last
    assert (
        Rig(TEXT % (1, 1, 0.5), [features, [[0, 3, 5, 9, 9]]], device=device).forward()[0].item() == 14
    )  # 1.5 is 2, 2.5 is 3


def test_as_numpy(device):
    features, rows = inputs(1, 30)
    r = Rig(TEXT % (5, 3, 0.5), [features, rows], device=device, dtype=np.float64)
    wanted = whole(features, rows, (5, 3), 0.5)
    assert (wanted == 0).any()
    close(r.forward()[0], wanted, rtol=1e-9, atol=1e-9)
    close(Rig(TEXT % (5, 3, 0.5), [features, rows], device=device).forward()[0], wanted)


def test_gradient_of_features(device):
    check_gradient(Rig(TEXT % (5, 3, 0.5), inputs(2), device=device, dtype=np.float64))


def test_gradient_of_regions(device):
    """Differences of the corners after they were rounded; upward, for at a whole pixel the slope is that of the next."""
    features, rows = inputs(3, 30)
    pooled, scale, step = (5, 3), 0.5, 1e-6
    r = Rig(TEXT % (*pooled, scale), [features, rows], device=device, dtype=np.float64)
    r.forward()
    upstream = np.random.default_rng(4).standard_normal(r.top[0].shape)
    got = r.backward([upstream])[1]
    assert not got[:, 0].any()
    for row, g, diff in zip(rows, upstream, got, strict=True):
        corners = rounded(row[1:] * scale)
        flat = corners[2:] <= corners[:2]  # a side that is held at 0
        for i in range(4):
            moved = corners.copy()
            moved[i] += step
            if flat[i % 2]:  # then only where it starts matters, and the end is kept below
                moved[i % 2 + 2] = corners[i % 2] - 1
            change = reference(features, int(row[0]), moved, pooled) - reference(features, int(row[0]), corners, pooled)
            assert diff[1 + i] == pytest.approx(scale * (change * g).sum() / step, rel=1e-5, abs=1e-7)
    assert np.count_nonzero(got) > got.size // 2


def test_many_bins(device):
    """More than the threads of a block sum at once."""
    features, rows = inputs(5, 4)
    r = Rig(TEXT % (17, 19, 0.5), [features, rows], device=device, dtype=np.float64)
    close(r.forward()[0], whole(features, rows, (17, 19), 0.5), rtol=1e-9, atol=1e-9)
    upstream = np.random.default_rng(6).standard_normal(r.top[0].shape)
    parts = [np.where(np.arange(19) // 10 == half, upstream, 0) for half in (0, 1)]
    together, *apart = (r.backward([d])[1] for d in (upstream, *parts))
    close(together, sum(apart), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("asked", [0, 1])
def test_one_gradient(asked, device):
    r = Rig(TEXT % (2, 2, 0.5), inputs(7), device=device)
    r.forward()
    down = r.backward([np.ones(r.top[0].shape)], [asked == 0, asked == 1])
    assert np.isnan(down[1 - asked]).all()
    assert np.isfinite(down[asked]).all()


def test_wild_regions_contribute_nothing(device):
    features, rows = inputs(8, 6)
    features[0, 0, 0, 0] = np.inf  # what is not sampled does not matter
    rows[:, 0] = 1
    check_wild_regions(TEXT % (2, 3, 0.5), [features, rows], [True, True], device, exact=False)


def test_any_finite_region_is_survived(device):
    rng = np.random.default_rng(10)
    r = Rig(TEXT % (2, 2, 2.0), [rng.standard_normal((2, 3, 8, 9)), rng.choice(FINITE, (2000, 5))], device=device)
    assert np.isfinite(r.forward()[0]).all()
    assert all(np.isfinite(down).all() for down in r.backward([np.ones(r.top[0].shape)]))


def test_new_shapes_no_regions_no_images(device):
    features, rows = inputs(11)
    r = Rig(TEXT % (2, 2, 0.5), [features, rows], device=device)
    first = r.forward()[0]
    r.set_bottom(1, np.zeros((0, 5)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)])[0].any()
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0), (2, 0, 8, 9)):
        r.set_bottom(0, np.zeros(shape))
        r.set_bottom(1, rows)
        assert not r.forward()[0].any()
        assert not r.backward([np.ones(r.top[0].shape)])[1].any()
    r.set_bottom(0, features)
    r.set_bottom(1, rows[:, :, None, None])
    assert np.array_equal(r.forward()[0], first)


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        (TEXT % (0, 2, 1.0), (1, 5), "pooled_h and pooled_w must be positive"),
        (TEXT % (2, 1025, 1.0), (1, 5), "at most 1024"),
        (TEXT % (2, 2, 0.0), (1, 5), "spatial_scale"),
        (TEXT % (2, 2, 1.0), (1, 6), r"must be \(K, 5\)"),
    ],
)
def test_errors(text, shape, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 1, 4, 4)), np.zeros(shape)])
