"""Greedy suppression of overlapping boxes by NonMaxSuppression, or for rotated boxes by a loop."""

from __future__ import annotations

import numpy as np

from .graph import OnnxGraph

ALL = 2**31 - 1
LEAST = -float(
    np.finfo(np.float32).max
)  # every score but minus infinity, which stands for a box that is out, is above it


def suppressed(
    g: OnnxGraph,
    boxes: str,
    scores: str,
    threshold: float,
    limit: int = -1,
    *,
    pixels: bool = False,
    reached: bool = False,
    ranked: bool = True,
    never_empty: bool = False,
) -> str:
    """The boxes that stay: rows (image, class, box) of whole numbers, by image, class and falling score.

    Parameters
    ----------
    boxes
        (N, K, 4), corners.
    scores
        (N, C, K), best first; minus infinity for a box that is out. With `ranked=False` in any order, all above 0, and 0 for
        a box that is out.
    threshold
        A box goes that overlaps a better one of its class by more.
    limit
        How many of a class stay at most; below 0 all.
    pixels
        Whether corners are those of pixels, whose last one belongs to the box.
    reached
        Whether an overlap of the threshold itself is too much.
    never_empty
        Whether the first box of every image and class stays where nothing else would: some readers take no empty lists.
    """
    if pixels:
        boxes = g.op("Add", boxes, g.const(np.array([0, 0, 1, 1], np.float32)))
    least_score = 0.0
    if ranked:  # the rank in place of the score: some readers take no threshold below 0
        rank = g.sub(g.cast(g.size(scores, 2), "float"), g.count_up(g.size(scores, 2)))
        scores = g.op("Where", g.op("Greater", scores, g.const(LEAST)), rank, g.const(0.0))
        least_score = 0.5
    if never_empty:
        scores = at_least_one(g, scores)
    # NonMaxSuppression takes any two corners; a box whose end lies before its start overlaps none, as one without an area
    start = g.slice(boxes, -1, 0, 2)
    boxes = g.concat([start, g.op("Max", start, g.slice(boxes, -1, 2, 4))], -1)
    least = np.float32(threshold)
    if reached and float(least) < threshold:
        least = np.nextafter(least, np.float32(np.inf))
    if reached and not g.target.reached:
        least = np.nextafter(least, np.float32(-np.inf))
    elif g.target.reached and not reached:
        least = np.nextafter(least, np.float32(np.inf))
    over = np.clip(least, np.finfo(np.float32).tiny if g.target.reached else 0, 1)
    if reached and threshold <= 0:  # by which all others overlap the best one
        limit = min(limit, 1) if limit >= 0 else 1
    most = g.ints(ALL if limit < 0 else limit)
    return g.op("NonMaxSuppression", boxes, scores, most, g.const(np.array([over])), g.const(np.array([least_score])))


def at_least_one(g: OnnxGraph, scores: str) -> str:
    """Scores, 0 for a box that is out, where without any other the first box of each row has 1."""
    none = g.op("LessOrEqual", g.reduce("ReduceMax", scores, [0, 1, 2]), g.const(0.0))
    first = g.op("Equal", g.count_up(g.size(scores, 2)), g.const(0.0))
    return g.op("Where", g.op("And", none, first), g.const(1.0), scores)


def column(g: OnnxGraph, rows: str, at: int) -> str:
    """A column of rows, as a list."""
    return g.gather(rows, g.const(at, "int64"), 1)
