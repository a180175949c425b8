"""What the blocks of a gradient in tiles fetch of the gradient that they are given: bytes, and sectors of 32 bytes.

A GPU moves sectors between its caches: a number alone costs eight. A block owns a tile of 16 x 16 pixels and fetches, of each
region that touches it, the bins that have a pixel in it, in all its channels; each sector once, for the caches of a
multiprocessor keep those of a region for as long as the block is at it. So this is what the L2 cache gives at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from benchmarks.gpu_operators import OPERATORS, POOLED, Case, rows_of

SIDE = 16  # of a tile: TILE_SIDE of layers/regions/tiles.h
SLAB = 16  # channels of a slab
SECTOR = 32  # bytes


def spans_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """For upright regions the first and the last pixel of each bin on each axis, as real numbers: (K, 2, bins)."""
    operator, rows = OPERATORS[case.operator], rows_of(case).astype(np.float64) * case.scale
    start, size = rows[:, [2, 1]] / case.scale * case.scale, rows[:, [4, 3]] - rows[:, [2, 1]]
    bins = np.arange(POOLED)
    edge, step = (
        start[..., None] + size[..., None] / POOLED * bins,
        np.broadcast_to(size[..., None] / POOLED, (len(rows), 2, POOLED)),
    )
    if operator.samples == 0:  # every pixel of a bin
        return np.floor(edge), np.ceil(edge + step)
    count = np.maximum(np.ceil(step), 1) if case.ratio == 0 else operator.samples
    return np.floor(edge + step / count / 2 - 0.5), np.floor(edge + step - step / count / 2 - 0.5) + 1


def upright(case: Case) -> Iterator[np.ndarray]:
    """Of each region which bins have pixels in which tile: (tiles, bins)."""
    low, high = spans_of(case)
    parts = []
    for axis, size in enumerate(case.shape[2:]):
        first = SIDE * np.arange(-(-size // SIDE))[:, None]
        parts.append((low[:, axis, None] < first + SIDE) & (high[:, axis, None] >= first))  # (K, tiles, bins)
    for down, across in zip(*parts):
        yield (down[:, None, :, None] & across[None, :, None, :]).reshape(-1, POOLED**2)


def turned(case: Case) -> Iterator[np.ndarray]:
    """The same of rotated regions, by their samples; of RotateROIPooling some 8 x 8 in each bin."""
    height, width = case.shape[2:]
    across_tiles = -(-width // SIDE)
    for _, cx, cy, wide, tall, angle in rows_of(case).astype(np.float64) * [1, *[case.scale] * 4, 1]:
        sizes = np.array([tall, wide]) / POOLED
        count = OPERATORS[case.operator].samples or 8
        counts = np.ceil(sizes).astype(int) if case.ratio == 0 else np.array([count, count])
        down, over = ((np.arange(POOLED * n) + 0.5) / n * size - size * POOLED / 2 for n, size in zip(counts, sizes))
        bins = np.add.outer(np.arange(down.size) // counts[0] * POOLED, np.arange(over.size) // counts[1])
        y = np.subtract.outer(down * np.cos(angle), over * np.sin(angle)) + cy - 0.5
        x = np.add.outer(down * np.sin(angle), over * np.cos(angle)) + cx - 0.5
        on = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
        made = np.zeros((-(-height // SIDE) * across_tiles, POOLED**2), bool)
        for beyond_y, beyond_x in np.ndindex(2, 2):
            py = np.minimum(np.maximum(y[on], 0).astype(int) + beyond_y, height - 1)
            px = np.minimum(np.maximum(x[on], 0).astype(int) + beyond_x, width - 1)
            made[py // SIDE * across_tiles + px // SIDE, bins[on]] = True
        yield made


@cache
def fetched(case: Case, packed: bool) -> tuple[int, int]:
    """Bytes of the numbers that all blocks fetch, and of the sectors that these lie in.

    packed: whether the channels of a bin lie beside each other, SLAB at a time, and not those of a plane's bins.
    """
    channels = case.shape[1] // OPERATORS[case.operator].group
    numbers = sectors = 0.0
    for bins in (turned if OPERATORS[case.operator].columns == 6 else upright)(case):
        bins = bins[bins.any(1)]
        numbers += bins.sum() * channels
        if packed:
            sectors += bins.sum() * -(-channels // SLAB) * SLAB / 8
            continue
        for begin in range(8):  # where the region's bins begin in a sector, of one channel after another
            ends = np.arange(8 - begin, POOLED**2, 8)
            sectors += np.logical_or.reduceat(bins, [0, *ends], axis=1).sum() * channels / 8
    return int(4 * numbers), int(SECTOR * sectors)
