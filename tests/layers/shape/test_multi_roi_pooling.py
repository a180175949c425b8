"""MultiROIPooling against numpy, by hand, and by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

TEXT = 'type: "MultiROIPooling" multi_roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 top_num: 4 }'
MAP = np.random.default_rng(3).standard_normal((2, 3, 5, 6))
# Inside; halves; over the corners; beyond the map, and nowhere
POINTS = np.float64([[[6, 5], [5, 3], [0, 0], [11, 9]], [[4, 4], [-40, 2], [12.2, -0.9], [np.nan, np.inf]]])

# For tests/device/test_threaded.py.
LAUNCHES: list[tuple] = [(TEXT, [MAP, POINTS], [True, False], {"tops": 4})]


def patches(image: np.ndarray, points: np.ndarray) -> list[np.ndarray]:
    """Cut out of a map that has zeros around it."""
    wide = np.pad(image, [(0, 0), (0, 0), (50, 50), (50, 50)])
    tops = np.zeros((points.shape[1], image.shape[0], image.shape[1], 3, 2))
    for n, k in np.ndindex(points.shape[:2]):
        if np.isfinite(points[n, k]).all():
            starts = points[n, k] * 0.5 - 1  # the half of 3 and that of 2, rounded down
            x, y = (np.sign(starts) * np.floor(np.abs(starts) + 0.5)).astype(int) + 50
            tops[k, n] = wide[n, :, y : y + 3, x : x + 2]
    return list(tops)


def test_patches_about_points(device):
    rig = Rig(TEXT, [MAP, POINTS], tops=4, device=device, dtype=np.float64)
    for own, wanted in zip(rig.forward(), patches(MAP, POINTS)):
        np.testing.assert_array_equal(own, wanted)


def test_the_gradient_is_the_sum_over_patches(device):
    rig = Rig(TEXT, [MAP, POINTS], tops=4, device=device, dtype=np.float64)
    rig.forward()
    check_gradient(rig, [0])
    diffs = [np.ones(top.shape) for top in rig.top]
    counts = np.zeros(MAP.shape)
    for n, c, y, x in np.ndindex(MAP.shape):
        one = np.zeros(MAP.shape)
        one[n, c, y, x] = 1
        counts[n, c, y, x] = sum(patch.sum() for patch in patches(one, POINTS))
    np.testing.assert_array_equal(rig.backward(diffs, [True, False])[0], counts)


def test_other_sizes(device):
    rig = Rig(TEXT, [MAP, POINTS], tops=4, device=device, dtype=np.float64)
    for shape in ((2, 1, 1, 1), (1, 3, 2, 9), (0, 3, 4, 5), (2, 0, 4, 5)):
        image, points = np.ones(shape), np.resize(POINTS, (shape[0], 4, 2))
        rig.set_bottom(0, image)
        rig.set_bottom(1, points)
        for own, wanted in zip(rig.forward(), patches(image, points)):
            np.testing.assert_array_equal(own, wanted)


@pytest.mark.parametrize(
    ("fields", "points", "message"),
    [
        ("pooled_h: 3", POINTS, "pooled_h and pooled_w must be above 0, got 3 and 0"),
        ("pooled_h: 3 pooled_w: 2 top_num: 3", POINTS, "top_num is 3, but there are 4 tops"),
        ("pooled_h: 3 pooled_w: 2 top_num: 4", POINTS[:, :3], r"the points, must be \(2, 4, 2\), got \(2, 3, 2\)"),
    ],
)
def test_what_it_refuses(fields, points, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "MultiROIPooling" multi_roi_pooling_param {{ {fields} }}', [MAP, points], tops=4)


def test_points_have_no_gradient():
    rig = Rig(TEXT, [MAP, POINTS], tops=4)
    rig.forward()
    with pytest.raises(LayerError, match="has no gradient for bottom 1"):
        rig.backward([np.ones(top.shape) for top in rig.top], [True, True])
