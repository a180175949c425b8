"""Which level of a pyramid of features each region is pooled from (FPN), and rows of bins by level."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Device, Kernels
from ...device.functions import log2

KERNELS = Kernels(Path(__file__).with_name("levels.cu"))
EPS = 1e-6
AT_ONCE = {
    "cpu": False,
    "cuda": True,
}  # whether each level pools all regions, of others 0, so that no host need sort them


def levels_of(
    regions: np.ndarray, scales: Sequence[float], canonical_scale: float = 224, canonical_level: float = 4
) -> np.ndarray:
    """The index of the level of each region, by its size: the level k of scale 2^-k that FPN's formula chooses.

    k = floor(canonical_level + log2(sqrt(area) / canonical_scale) + 1e-6), held between the levels of the first and the
    last scale. A region whose area is not above 0 is of the first level, and so is one of NaN or infinity: there the
    pooling gives what it gives for such a region.

    Parameters
    ----------
    regions
        (K, 5): batch index, x1, y1, x2, y2, in pixels of the image.
    scales
        Pixels of each level per pixel of the image, falling.

    Returns
    -------
    (K,), intp.

    Source
    ------
    Lin et al. 2017 (FPN), equation 1; numbers as torchvision's MultiScaleRoIAlign has them, in float32.

    Examples
    --------
    >>> levels_of(np.array([[0, 0, 0, 224, 224], [0, 0, 0, 111, 112], [0, 0, 0, 9000, 9000]]), [1 / 4, 1 / 8, 1 / 16, 1 / 32])
    array([2, 0, 3])
    """
    real = np.float64 if regions.dtype == np.float64 else np.float32
    rows = regions.reshape(-1, 5).astype(real)
    lowest, highest = (-log2(np.float32(scale)) for scale in (scales[0], scales[-1]))
    with np.errstate(all="ignore"):
        area = (rows[:, 3] - rows[:, 1]) * (rows[:, 4] - rows[:, 2])
        level = np.floor(real(canonical_level) + log2(np.sqrt(area) / real(canonical_scale)) + real(EPS))
        level = np.where(np.isfinite(rows).all(1) & (area > 0), np.clip(level, lowest, highest), lowest)
    result: np.ndarray = np.clip(np.nan_to_num(level - lowest), 0, len(scales) - 1).astype(np.intp)
    return result


def bounds_of(
    real: np.dtype[Any], scales: Sequence[float], canonical_scale: float = 224, canonical_level: float = 4
) -> np.ndarray:
    """(levels - 1,): the least area of each level but the first, as `levels_of` has it; infinity where none is large enough.

    >>> bounds_of(np.dtype(np.float32), [1 / 4, 1 / 8, 1 / 16, 1 / 32]).round(-2).tolist()
    [12500.0, 50200.0, 200700.0]
    """
    words = np.dtype(f"u{real.itemsize}")

    def level(bits: int) -> int:
        """Of a region with that area, by its bits: the same order as that of numbers above 0."""
        area = np.array([bits], words).view(real)[0]
        region = np.array([[0, 0, 0, area, 1]], real)
        return int(levels_of(region, scales, canonical_scale, canonical_level)[0])

    most, least_areas = int(np.array([np.finfo(real).max], real).view(words)[0]), []
    for wanted in range(1, len(scales)):
        low, high = 0, most + 1  # the first that is of that level or a higher one lies behind low, and not behind high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if level(middle) >= wanted else (middle, high)
        least_areas.append(np.inf if high > most else float(np.array([high], words).view(real)[0]))
    return np.array(least_areas, real)


def scale_of(sizes: Sequence[int], image: Sequence[int]) -> float:
    """Pixels of a map per pixel of the image, as the nearest power of two of the first axis.

    >>> scale_of((50, 76), (800, 1216))
    0.0625
    """
    return float(np.ldexp(1.0, int(np.round(log2(sizes[0] / image[0])))))


def take_rows(device: Device, source: AnyArray, index: np.ndarray, target: AnyArray) -> None:
    """target[i] = source[index[i]]."""
    KERNELS.on(device).take_rows(len(index), source, device.table(index), target, prod(target.shape[1:]))


def put_rows(device: Device, source: AnyArray, index: np.ndarray, target: AnyArray) -> None:
    """target[index[i]] = source[i]."""
    KERNELS.on(device).put_rows(len(index), source, device.table(index), target, prod(target.shape[1:]))
