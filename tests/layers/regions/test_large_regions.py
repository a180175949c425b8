"""Regions of many thousand pixels on a small map: the work is that of the samples on the map, and the result the same."""

from __future__ import annotations

import time

import numpy as np
import pytest
from harness import Rig

MAP = np.random.default_rng(0).normal(size=(1, 5, 9, 11))
BINS = 3


def bilinear(map: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The values (C, samples) of a map (C, H, W); 0 outside [-1, H] x [-1, W]."""
    height, width = map.shape[1:]
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = np.clip(np.where(inside, y, 0), 0, height - 1), np.clip(np.where(inside, x, 0), 0, width - 1)
    top, left = np.minimum(y.astype(int), height - 1), np.minimum(x.astype(int), width - 1)
    below, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = y - top, x - left
    value = (map[:, top, left] * (1 - down) * (1 - across) + map[:, top, right] * (1 - down) * across
             + map[:, below, left] * down * (1 - across) + map[:, below, right] * down * across)  # fmt: skip
    return np.where(inside, value, 0)


def averages(region: np.ndarray, turned: bool) -> np.ndarray:
    """(C, BINS, BINS) of a region (image, cx, cy, w, h, theta), or (image, x1, y1, x2, y2), with one sample a pixel begun."""
    if turned:
        (cx, cy), (wide, tall), theta = region[1:3] - 0.5, region[3:5], region[5]
    else:
        (cx, cy), (wide, tall), theta = (region[1:3] + region[3:5]) / 2 - 0.5, region[3:5] - region[1:3], 0.0
    rows, columns = int(np.ceil(tall / BINS)), int(np.ceil(wide / BINS))
    result = np.empty((MAP.shape[1], BINS, BINS))
    for ph in range(BINS):
        for pw in range(BINS):
            yy = -tall / 2 + (ph + (np.arange(rows) + 0.5) / rows) * tall / BINS
            xx = -wide / 2 + (pw + (np.arange(columns) + 0.5) / columns) * wide / BINS
            yy, xx = (grid.ravel() for grid in np.meshgrid(yy, xx, indexing="ij"))
            y, x = yy * np.cos(theta) - xx * np.sin(theta) + cy, yy * np.sin(theta) + xx * np.cos(theta) + cx
            result[:, ph, pw] = bilinear(MAP[0], y, x).mean(1)
    return result


ROTATED = np.array(
    [[0, 5, 4, 300, 200, 0.3], [0, -60, 4, 200, 90, 1.2], [0, 5, 70, 61, 190, -2.5], [0, 900, 900, 600, 600, 0.8],
     [0, 5.5, 4.5, 9, 1200, np.pi / 2], [0, 5.5, 4.5, 1500, 3, 0.01], [0, 400, 4, 800, 61, 0.0]],
)  # fmt: skip
UPRIGHT = np.array(
    [
        [0, -100, -90, 120, 200],
        [0, -300.3, 2.2, 30.4, 150.7],
        [0, 3, -400, 200, 6],
        [0, 200, 200, 400, 500],
        [0, -700, 3, 700, 4],
    ],
    float,
)
LAYERS = {
    "rotated": ('type: "RoIAlignRotated" roi_align_rotated_param { pooled_h: 3 pooled_w: 3 spatial_scale: 1 aligned: true }',
                ROTATED, True),
    "deformed": ('type: "DeformRoIPooling" deform_roi_pooling_param { pooled_h: 3 pooled_w: 3 spatial_scale: 1 }', UPRIGHT, False),
}  # fmt: skip


@pytest.mark.parametrize("kind", LAYERS)
def test_large_regions_give_the_mean_of_all_their_samples(kind, device):
    text, regions, turned = LAYERS[kind]
    rig = Rig(text, [MAP, regions], dtype=np.float64, device=device)
    (top,) = rig.forward()
    for got, region in zip(top, regions, strict=True):
        np.testing.assert_allclose(got, averages(region, turned), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", LAYERS)
def test_backward_of_large_regions_is_the_adjoint(kind, device):
    """sum(top_diff * forward(x)) = sum(backward(top_diff) * x), as the layer is linear in the map."""
    text, regions, _ = LAYERS[kind]
    rig = Rig(text, [MAP, regions], dtype=np.float64, device=device)
    (top,) = rig.forward()
    grad = np.random.default_rng(1).normal(size=top.shape)
    diff = rig.backward([grad], [True, False])[0]
    np.testing.assert_allclose((grad * top).sum(), (diff * MAP).sum(), rtol=1e-9)


@pytest.mark.later
@pytest.mark.parametrize("kind", LAYERS)
def test_the_work_is_bounded_by_the_map(kind):
    """A million samples in each of 49 bins of 60 regions took 40 s where each was looked at: as the square of a region's side."""
    text, _, turned = LAYERS[kind]
    text, rng = text.replace("3 pooled_w: 3", "7 pooled_w: 7"), np.random.default_rng(2)
    data, angles = rng.normal(size=(1, 64, 50, 50)), rng.uniform(0, 3, 60)

    def seconds(size: int) -> float:
        """The processor's, of a pass forward and back with regions around the map whose sides are `size`."""
        if turned:
            rows = np.column_stack([np.zeros(60), np.full((60, 2), 25), np.full((60, 2), size), angles])
        else:
            rows = np.tile([0.0, -size / 2, -size / 2, size / 2, size / 2], (60, 1))
        rig = Rig(text, [data, rows])
        rig.forward()
        start = time.process_time()
        (top,) = rig.forward()
        rig.backward([top], [True, False])
        spent = time.process_time() - start
        assert np.isfinite(top).all()
        assert top.any()
        return spent

    assert seconds(7000) < 100 * seconds(140)  # as the square: 2500
