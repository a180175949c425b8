"""What the align layers do with their regions before a kernel sees them, and with float16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device.kernel import Kernels

KERNELS = Kernels(Path(__file__).with_name("regions.cu"))
MOST = 2**20  # samples of a bin: more is no region but an error
FEW = 16  # regions: not worth an order
BAND = 32  # rows of the map: regions with their centres there are neighbours


def check_regions(layer: Any, blob: Any, numbers: int) -> int:
    """How many regions there are; raises for a blob that is not (K, numbers), axes of 1 after it allowed."""
    rows = "batch index, x1, y1, x2, y2" if numbers == 5 else "batch index, centre x, centre y, width, height, angle"
    shape = blob.shape
    layer.need(
        len(shape) >= 2 and np.prod(shape[1:]) == numbers,
        f"bottom 1, the regions, must be (K, {numbers}): {rows}; got {shape}",
    )
    return shape[0]


def check_grids(layer: Any, rows: np.ndarray, batch: int, scale: float, pooled: tuple[int, int], least: bool) -> None:
    """Raises for a region whose adaptive grid is absurd; what contributes nothing is passed over.

    rows (K, 5) of corners or (K, 6) of centre, size and angle, in pixels of the image; least: whether sizes are at least 1.
    """
    if 2 * np.abs(rows).max(initial=0) * scale < 1023 * min(pooled):  # at most 1024 samples along each axis
        return
    rows = rows.reshape(len(rows), int(np.prod(rows.shape[1:]))).astype(np.float64)
    with np.errstate(all="ignore"):
        valid = np.isfinite(rows).all(1) & (rows[:, 0] > -1) & (rows[:, 0] < batch)
        size = (rows[:, 3:5] - rows[:, 1:3] if rows.shape[1] == 5 else rows[:, 3:5]) * scale
        size = np.maximum(size, 1 if least else 0)
        samples = np.ceil(size / pooled[::-1]).prod(1)
    bad = np.flatnonzero(valid & ~(samples <= MOST))
    layer.need(
        not len(bad),
        f"{len(bad)} regions ask for more than 2^20 samples a bin, such as {rows[bad[:1]]}; "
        "set sampling_ratio, or look where the regions come from",
    )


def by_place(layer: Any, rows: Any, scale: float) -> Any:
    """The numbers of the regions, those near each other on the map one after another: so a core finds the pixels of one in
    its cache from the one before. A few as they come, and on a GPU all, for their coordinates are not on the host.

    rows: as check_grids takes them.
    """
    if layer.device.kind != "cpu" or layer.regions < FEW:
        return layer.device.table(np.arange(layer.regions))
    with np.errstate(all="ignore"):
        rows = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
        centre = (rows[:, 1:3] if rows.shape[1] == 6 else (rows[:, 1:3] + rows[:, 3:5]) / 2) * scale
        return layer.device.table(np.lexsort((centre[:, 0], centre[:, 1] // BAND, rows[:, 0])))


def widened(layer: Any, array: Any, real: np.dtype) -> Any:
    """The numbers of an array in the type that is computed in: the array itself, or of float16 a copy."""
    if array.dtype == real:
        return array
    made = layer.device.empty(array.shape, real)
    KERNELS.on(layer.device).widen(array.size, array, made)
    return made
