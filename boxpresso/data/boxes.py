"""Boxes on the host: overlaps, the best scores, matching, and what becomes of an annotation when its image changes.

Corners are (xmin, ymin, xmax, ymax) in the last axis of an array; functions of two sets of corners broadcast their other axes,
so that `iou(a[:, None], b)` compares each of a with each of b. Boxes of an annotation are (N, 7) as in `records.BOX`, with
corners as fractions of the image's width and height. Kernels have the same formulas in layers/detection/boxes.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CORNERS = slice(2, 6)
PAIR = 64  # bytes, at most, that comparing a box with another takes in `iou` and `match`, of float64


def area(corners: np.ndarray, last: int = 0) -> np.ndarray:
    """Areas of boxes; 0 where a side is not positive.

    Parameters
    ----------
    corners : (..., 4)
    last : 1 where xmax and ymax name the last pixel inside, so that a width is xmax - xmin + 1; 0 where they are the edges.

    Examples
    --------
    >>> import numpy as np
    >>> area(np.array([[0, 0, 2, 3], [5, 5, 4, 9]])).tolist()
    [6, 0]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of weights that are no good yet: boxes of any size
        width = corners[..., 2] - corners[..., 0] + last
        height = corners[..., 3] - corners[..., 1] + last
        return np.asarray(np.maximum(width, 0) * np.maximum(height, 0))


def from_centre(boxes: np.ndarray) -> np.ndarray:
    """(xmin, ymin, xmax, ymax) of boxes (..., 4) that are (centre x, centre y, width, height).

    Examples
    --------
    >>> import numpy as np
    >>> from_centre(np.array([2.0, 3, 2, 4])).tolist()
    [1.0, 1.0, 3.0, 5.0]
    """
    return np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def intersection(a: np.ndarray, b: np.ndarray, last: int = 0) -> np.ndarray:
    """The areas that boxes a (..., 4) have in common with boxes b (..., 4); `last` as in `area`."""
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0]) + last
        height = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1]) + last
        return np.asarray(np.maximum(width, 0) * np.maximum(height, 0))


def iou(a: np.ndarray, b: np.ndarray, last: int = 0) -> np.ndarray:
    """Intersection over union, in the dtype of the boxes; 0 for boxes that only touch, without area or with NaN.

    Parameters
    ----------
    a, b : (..., 4)
    last : as in `area`.

    Source
    ------
    last=0: Liu et al. 2016 (SSD). last=1: Girshick 2015 (Fast R-CNN), in whole pixels.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 3, 2], [2, 0, 4, 2]])
    >>> iou(a[:, None], b).round(3).tolist()
    [[0.333, 0.0]]
    >>> iou(a[:, None], b, last=1).round(3).tolist()
    [[0.5, 0.2]]
    """
    shared = intersection(a, b, last)
    with np.errstate(invalid="ignore"):
        union = area(a, last) + area(b, last) - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(union), where=shared > 0))


def coverage(a: np.ndarray, b: np.ndarray, last: int = 0) -> np.ndarray:
    """The fraction of each box of a (..., 4) that lies in b (..., 4); 0 for a box without area. `last` as in `area`.

    Examples
    --------
    >>> import numpy as np
    >>> coverage(np.array([0.0, 0, 2, 2]), np.array([1.0, 0, 9, 9])).item()
    0.5
    """
    whole = np.broadcast_to(area(a, last), np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    return np.asarray(np.divide(intersection(a, b, last), whole, out=np.zeros_like(whole), where=whole > 0))


def best(scores: np.ndarray, count: int = -1) -> np.ndarray:
    """The indices of the highest scores (N,), highest first; of equal scores the lower index comes first, and NaN last.

    Parameters
    ----------
    count : at most so many from 0 on; below 0 all.

    Examples
    --------
    >>> import numpy as np
    >>> best(np.array([0.2, 0.9, 0.9, 0.5]), 3).tolist()
    [1, 2, 3]
    """
    if not -1 < count < len(scores):
        return falling(scores).argsort(kind="stable")
    if count == 0:
        return np.zeros(0, np.intp)
    order = falling(scores)
    last = np.partition(order, count - 1)[count - 1]  # NaN comes behind all numbers
    candidates = np.flatnonzero(~(order > last))
    return candidates[np.argsort(order[candidates], kind="stable")][:count]


def falling(scores: np.ndarray) -> np.ndarray:
    """Numbers that rise where scores fall. Whole ones are complemented: the least has no negative, those without a sign none.

    Examples
    --------
    >>> falling(np.array([1.5, -2.0])).tolist(), falling(np.array([0, 255], np.uint8)).tolist()
    ([-1.5, 2.0], [255, 0])
    """
    return -scores if scores.dtype.kind == "f" else ~scores


def match(boxes: np.ndarray, truth: np.ndarray, threshold: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Matches boxes with true boxes, as SSD does for its priors.

    First every true box takes the box that it overlaps most, the best pair first, of equal pairs the first box. Then,
    unless the threshold is None, each box left over takes the true box that it overlaps most, if by the threshold at least.

    Parameters
    ----------
    boxes : (N, 4)
    truth : (G, 4)
    threshold : of the intersection over union.

    Returns
    -------
    matched : (N,), the index of the true box, or -1.
    most : (N,), the largest overlap with any true box; overlaps up to 1e-6 count as 0.

    Source
    ------
    Liu et al. 2016 and SSD's Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0.0, 0, 1, 1], [0, 0, 1, 0.9], [5, 5, 6, 6]])
    >>> match(boxes, boxes[:1], 0.5)[0].tolist(), match(boxes, boxes[:1], None)[0].tolist()
    ([0, 0, -1], [0, -1, -1])
    """
    shared = iou(boxes[:, None], truth)
    shared[~(shared > 1e-6)] = 0
    matched = np.full(len(boxes), -1)
    if not shared.size:
        return matched, np.zeros(len(boxes), boxes.dtype)
    rows = shared.T.copy()
    place = rows.argmax(1)
    value = rows.max(1)
    while value.max() > 0:
        tied = np.flatnonzero(value == value.max())
        one = tied[place[tied].argmin()]
        taken = place[one]
        matched[taken] = one
        rows[:, taken] = 0
        rows[one] = 0
        for other in np.flatnonzero(place == taken):
            place[other], value[other] = rows[other].argmax(), rows[other].max()
    most = shared.max(1)
    if threshold is not None:
        free = (matched == -1) & (most >= threshold) & (most > 0)
        matched[free] = shared[free].argmax(1)
    return matched, most


def project(boxes: np.ndarray, crop: np.ndarray, emit: Any = None) -> np.ndarray:
    """The boxes of an annotation after their image was cropped or placed on a larger canvas.

    Parameters
    ----------
    boxes : (N, 7) as in `records.BOX`.
    crop : (xmin, ymin, xmax, ymax) as fractions of the image; it may reach beyond the image.
    emit : an EmitConstraint, or None to keep every box that overlaps the crop. CENTER keeps the boxes whose centre lies in
        the crop, MIN_OVERLAP those of which more than the fraction emit_overlap does.

    Returns
    -------
    (M, 7), corners as fractions of the crop and clipped to it.

    Source
    ------
    Liu et al. 2016 (SSD) and its code.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[1, 0, 0.25, 0, 0.75, 0.5, 0], [2, 0, 0.8, 0.8, 1, 1, 0]])
    >>> project(boxes, np.array([0, 0, 0.5, 0.5])).tolist()
    [[1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 0.0]]
    """
    corners, crop = boxes[:, CORNERS], np.asarray(crop, boxes.dtype)
    keep = np.ones(len(boxes), bool)
    if emit is not None:
        if emit.emit_type == emit.CENTER:
            centre = (corners[:, :2] + corners[:, 2:]) / 2
            keep = ((centre >= crop[:2]) & (centre <= crop[2:])).all(1)
        else:
            keep = coverage(corners, crop) > emit.emit_overlap
    projected = boxes.copy()
    size = np.tile(crop[2:] - crop[:2], 2)
    projected[:, CORNERS] = np.clip((corners - np.tile(crop[:2], 2)) / size, 0, 1)
    return np.asarray(projected[keep & (area(projected[:, CORNERS]) > 0)])


def mirror(boxes: np.ndarray) -> np.ndarray:
    """The boxes (N, 7) of an annotation after their image was flipped left to right.

    Examples
    --------
    >>> import numpy as np
    >>> mirror(np.array([[1, 0, 0, 0.25, 0.25, 1, 0]])).tolist()
    [[1.0, 0.0, 0.75, 0.25, 1.0, 1.0, 0.0]]
    """
    flipped: np.ndarray = boxes.copy()
    flipped[:, 2], flipped[:, 4] = 1 - boxes[:, 4], 1 - boxes[:, 2]
    return flipped
