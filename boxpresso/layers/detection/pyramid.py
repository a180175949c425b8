"""Feature pyramids: anchors of each level, and regions sorted by the level that their size belongs to.

Sources: Lin et al. 2017 (Feature Pyramid Networks), unsky/FPN and makefile/frcnn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from ..core import Layer
from ..core.param_str import NUMBER, NUMBERS, kind_of
from .anchors import check_lists
from .rcnn import Upright

FIRST = 2  # the finest level: features of a fourth of the image's size
CANONICAL = 224.0  # a region of that size belongs to level 4


def strides(layer: Layer, settings: dict[str, Any], levels: int) -> list[int]:
    """The stride of each level, of the setting feat_strides or feat_stride. Raises LayerError for another number of them."""
    check_lists(layer, settings)
    strides = settings["feat_strides"] or settings["feat_stride"] or (4, 8, 16, 32, 64)
    finite = kind_of(strides) in (NUMBER, NUMBERS) and np.isfinite(strides).all()
    layer.need(finite, f"feat_strides must be a list of numbers above 0, got {strides!r}")
    result = [int(stride) for stride in np.atleast_1d(strides)]
    layer.need(
        len(result) == levels and min(result) > 0,
        f"feat_strides must be one number above 0 for each of {levels} levels, got {result}",
    )
    return result


def level_anchors(of: Sequence[int], settings: dict[str, Any], module: bool, count: int = 0) -> list[np.ndarray]:
    """The anchors (A, 4) of each level, around squares of its stride, with the settings' ratios and scales.

    count: how many the scores of a level have. Where no scales are given and the default's make another number, the first
    of the default's scales are taken, as many as make it.

    With `module` they are those of makefile/frcnn: by scale, then ratio, cut to whole numbers; a scale multiplies the width and
    height that the last ratio of the scale before left, as that program does.
    """
    own_scales = settings["anchor_scales"] or settings["scales"]
    scales = own_scales or ((8, 16) if module else (16, 32))
    ratios = settings["anchor_ratios"] or settings["ratios"]
    if not own_scales and 0 < count < len(scales) * len(ratios) and count % len(ratios) == 0:
        scales = scales[: count // len(ratios)]
    if not module:
        return [Upright.anchors(stride, ratios, scales) for stride in of]
    return [np.array(module_anchors(stride, ratios, scales), np.float64) for stride in of]


def module_anchors(base: int, ratios: Sequence[float], scales: Sequence[float]) -> list[list[int]]:
    """makefile/frcnn's anchors of one level.

    >>> module_anchors(4, [1], [8])
    [[-14, -14, 17, 17]]
    """
    width = height = base
    centre, rows = 0.5 * (base - 1), []
    for scale in scales:
        width, height = int(width * scale), int(height * scale)
        size = width * height
        for ratio in ratios:
            width = int(sqrt(size / ratio))
            height = int(width * ratio)
            half = 0.5 * (width - 1), 0.5 * (height - 1)
            rows.append([int(centre - half[0]), int(centre - half[1]), int(centre + half[0]), int(centre + half[1])])
    return rows


def bounds(count: int) -> np.ndarray:
    """The least size (root of the area) of each of `count` levels but the first: where 4 + log2(size / 224 + 1e-6) is whole.

    >>> bounds(4).round(2).tolist()
    [112.0, 224.0, 448.0]
    """
    return CANONICAL * (np.ldexp(1.0, np.arange(FIRST + 1 - 4, FIRST + count - 4)) - 1e-6)


def levels_of(boxes: np.ndarray, count: int) -> np.ndarray:
    """The level, from 0, that each box (N, 4) belongs to: 4 + log2(root of its area / 224), from level 2 to 1 + count.

    >>> levels_of(np.array([[0, 0, 224, 224], [0, 0, 10, 10], [0, 0, 900, 900]]), 4).tolist()
    [2, 0, 3]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        area = np.maximum(boxes[:, 2] - boxes[:, 0], 0) * np.maximum(boxes[:, 3] - boxes[:, 1], 0)
        size = np.sqrt(area)
    least = bounds(count).astype(size.dtype)
    return np.asarray((size[:, None] >= least).sum(1))


def by_level(boxes: np.ndarray, count: int) -> list[np.ndarray]:
    """The indices of the boxes (N, 4) of each level; an empty level has the one index N, of a row that stands in for it."""
    levels = levels_of(boxes, count)
    rows = [np.flatnonzero(levels == level) for level in range(count)]
    return [mine if len(mine) else np.array([len(boxes)]) for mine in rows]
