"""RegionPooling beside its definition in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(2)
FEATURES = RNG.permutation(2 * 3 * 9 * 11).reshape(2, 3, 9, 11) / 100.0 - 1
HOLE = [300, 300, 300, 300]
REGIONS = np.array([
    [0, 10, 12, 120, 110, *HOLE],
    [1, 0, 0, 175, 143, 40, 30, 120, 100],  # a ring
    [1, 60, 20, 60, 140, *HOLE],  # narrower than twice the offset
    [0, -90, -80, 400, 300, 10, 10, 170, 130],
    [5, 0, 0, 90, 90, *HOLE],  # of no image
    [0, np.nan, 0, 90, 90, *HOLE],
])  # fmt: skip
TEXT = 'type: "RegionPooling" region_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.0625 }'
LAUNCHES: list[tuple] = [(TEXT, [FEATURES, REGIONS], [True, False])]  # for tests/device/test_threaded.py


def side(low: float, high: float, scale: float, offset: float) -> tuple[int, int]:
    first, last = int(np.floor((low + 1 + offset) * scale + 0.5)), int(np.ceil((high + 1 - offset) * scale - 0.5))
    middle = int((first + last) / 2)
    return (first, last) if first <= last else (middle, middle)


def pooled(features: np.ndarray, regions: np.ndarray, high: int, wide: int, scale: float, offset: float) -> np.ndarray:
    top = np.zeros((len(regions), features.shape[1], high, wide))
    for r, row in enumerate(regions):
        if not np.isfinite(row).all() or not 0 <= row[0] < len(features):
            continue
        maps = np.maximum(features[int(row[0])], 0)
        (x0, x1), (y0, y1) = side(row[1], row[3], scale, offset), side(row[2], row[4], scale, offset)
        (i0, i1), (j0, j1) = side(row[5], row[7], scale, offset), side(row[6], row[8], scale, offset)
        y, x = np.mgrid[: maps.shape[1], : maps.shape[2]]
        maps = np.where((x > i0) & (x < i1) & (y > j0) & (y < j1), 0, maps)
        for p, q in np.ndindex(high, wide):
            rows = slice(max(y0 + (p * (y1 - y0 + 1)) // high, 0), max(y0 - (-(p + 1) * (y1 - y0 + 1)) // high, 0))
            columns = slice(max(x0 + (q * (x1 - x0 + 1)) // wide, 0), max(x0 - (-(q + 1) * (x1 - x0 + 1)) // wide, 0))
            part = maps[:, rows, columns]
            top[r, :, p, q] = part.max((1, 2)) if part.size else 0
    return top


@pytest.mark.parametrize("offset", [0, 6])
def test_region_pooling(offset, device):
    rig = Rig(TEXT.replace(" }", f" offset: {offset} }}"), [FEATURES, REGIONS], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], pooled(FEATURES, REGIONS, 3, 2, 0.0625, offset))
    check_gradient(rig)


def test_what_it_refuses():
    with pytest.raises(LayerError, match=r"must be \(R, 9\)"):
        Rig(TEXT, [FEATURES, REGIONS[:, :5]])
    with pytest.raises(LayerError, match="pooled_h and pooled_w must be given"):
        Rig('type: "RegionPooling"', [FEATURES, REGIONS])
