"""Non-maximum suppression as cv2.dnn has it; boxes are (x, y, width, height)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from ..data.polygons import clipped, polygon_area
from ..proto.errors import BoxpressoError
from .constants import SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN, SOFT_NMSMETHOD_SOFTNMS_LINEAR
from .errors import opencv_errors

Numpy = np.ndarray[Any, Any]
Boxes = Union[Numpy, Sequence[Sequence[float]]]
Kept = Union[Numpy, tuple[()]]  # int32 (N,); () if there are none, as OpenCV
Overlap = Callable[[int, Any], Numpy]  # of one box with others, by their indices


@opencv_errors
def NMSBoxes(
    bboxes: Boxes,
    scores: Sequence[float] | Numpy,
    score_threshold: float,
    nms_threshold: float,
    eta: float = 1.0,
    top_k: int = 0,
) -> Kept:
    """Non-maximum suppression: a box goes that overlaps a better one that stays by more than the threshold.

    Parameters
    ----------
    bboxes
        (N, 4): x, y, width, height.
    scores
        (N,).
    score_threshold
        Boxes of this score or less are left out.
    nms_threshold
        Of intersection over union.
    eta
        What the threshold is multiplied by after each box that stays, as long as it is above 0.5.
    top_k
        How many boxes of the highest scores are considered; 0 for all.

    Returns
    -------
    numpy.ndarray or tuple
        The indices of the boxes that stay, best first, int32; () for none.

    Raises
    ------
    BoxpressoError
        For arrays that do not fit each other.

    Source
    ------
    OpenCV 4.12.

    Examples
    --------
    >>> NMSBoxes([[0, 0, 10, 10], [1, 1, 10, 10], [30, 30, 5, 5]], [0.9, 0.8, 0.7], 0.5, 0.4)
    array([0, 2], dtype=int32)
    """
    boxes, values = checked(bboxes, scores, 4)
    return kept(suppress(values, score_threshold, nms_threshold, eta, top_k, over(boxes)))


@opencv_errors
def NMSBoxesBatched(
    bboxes: Boxes,
    scores: Sequence[float] | Numpy,
    class_ids: Sequence[int] | Numpy,
    score_threshold: float,
    nms_threshold: float,
    eta: float = 1.0,
    top_k: int = 0,
) -> Kept:
    """`NMSBoxes` within each class: boxes of different `class_ids` do not suppress each other."""
    boxes, values = checked(bboxes, scores, 4)
    labels = np.asarray(class_ids)
    if labels.shape != values.shape:
        raise BoxpressoError(f"NMSBoxesBatched: {len(values)} boxes and class_ids of shape {labels.shape}")
    if not len(boxes):
        return ()
    apart = boxes.copy()  # each class has a place of its own, so that one pass and one top_k serve all, as in OpenCV
    apart[:, :2] += (labels * ((boxes[:, :2] + boxes[:, 2:]).max() + 1))[:, None]
    return kept(suppress(values, score_threshold, nms_threshold, eta, top_k, over(apart)))


@opencv_errors
def NMSBoxesRotated(
    bboxes: Sequence[Any],
    scores: Sequence[float] | Numpy,
    score_threshold: float,
    nms_threshold: float,
    eta: float = 1.0,
    top_k: int = 0,
) -> Kept:
    """`NMSBoxes` of rotated boxes ((centre x, centre y), (width, height), angle in degrees, clockwise).

    Raises
    ------
    BoxpressoError
        For arrays that do not fit each other.

    Source
    ------
    OpenCV 4.12, where a box that lies wholly in another and touches none of its sides overlaps it by 1, and one without an
    area overlaps none.
    """
    flat = [[*box[0], *box[1], box[2]] if len(box) == 3 else list(box) for box in bboxes]
    boxes, values = checked(flat, scores, 5)
    corners = [rectangle(*box) for box in boxes.tolist()]
    areas = [box[2] * box[3] for box in boxes.tolist()]

    def overlaps(first: int, others: Any) -> Numpy:
        return np.array([rotated_overlap(corners[first], corners[i], areas[first], areas[i]) for i in others])

    return kept(suppress(values, score_threshold, nms_threshold, eta, top_k, overlaps))


@opencv_errors
def softNMSBoxes(
    bboxes: Boxes,
    scores: Sequence[float] | Numpy,
    score_threshold: float,
    nms_threshold: float,
    top_k: int = 0,
    sigma: float = 0.5,
    method: int = SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN,
) -> tuple[Numpy, Kept]:
    """Soft suppression: boxes that overlap a better one lose score instead of going.

    Parameters
    ----------
    bboxes, scores, score_threshold, nms_threshold
        As for `NMSBoxes`; the nms_threshold counts for the linear method alone.
    top_k
        How many boxes are kept at most; 0 for all.
    sigma
        Of the Gaussian method: the score is multiplied by exp(-overlap^2 / sigma).
    method
        SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN, or _LINEAR: the score is multiplied by 1 - overlap, above nms_threshold.

    Returns
    -------
    tuple
        The new scores (float32) and the indices (int32) of the boxes that stay, best first.

    Source
    ------
    Bodla et al. 2017; OpenCV 4.12.
    """
    boxes, values = checked(bboxes, scores, 4)
    if method not in (SOFT_NMSMETHOD_SOFTNMS_LINEAR, SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN):
        raise BoxpressoError(f"softNMSBoxes: method must be 1 (linear) or 2 (Gaussian), got {method}")
    left = values.astype(np.float32)
    waiting = list(range(len(left)))
    chosen: list[int] = []
    while waiting and (top_k <= 0 or len(chosen) < top_k):
        first = max(waiting, key=lambda index: left[index])
        if left[first] < score_threshold:
            break
        chosen.append(first)
        waiting.remove(first)
        if waiting:
            shared = overlap(boxes[first], boxes[waiting])
            weak = np.exp(-(shared**2) / np.float32(sigma))
            if method == SOFT_NMSMETHOD_SOFTNMS_LINEAR:
                weak = np.where(shared > nms_threshold, 1 - shared, np.float32(1))
            left[waiting] *= weak.astype(np.float32)
    return left[chosen], kept(np.array(chosen, int))


def checked(bboxes: Any, scores: Any, columns: int) -> tuple[Numpy, Numpy]:
    """Boxes and scores as arrays. Raises BoxpressoError where they do not fit."""
    boxes, values = np.asarray(bboxes, np.float64), np.asarray(scores, np.float32).ravel()
    if not boxes.size:
        boxes = boxes.reshape(0, columns)
    if boxes.ndim != 2 or boxes.shape[1] != columns or len(boxes) != len(values):
        raise BoxpressoError(
            f"NMSBoxes takes N boxes of {columns} numbers and N scores, got boxes of shape {boxes.shape} and "
            f"{len(values)} scores"
        )
    return boxes, values


def best(scores: Numpy, threshold: float, top_k: int) -> Numpy:
    """The indices of scores above the threshold, highest first, at most top_k of them."""
    above = np.flatnonzero(scores > np.float32(threshold))
    order = above[np.argsort(-scores[above], kind="stable")]
    return order[:top_k] if top_k > 0 else order


def over(boxes: Numpy) -> Overlap:
    """The overlap of one of some boxes with others of them."""
    return lambda first, others: overlap(boxes[first], boxes[others])


def suppress(scores: Numpy, least: float, threshold: float, eta: float, top_k: int, overlaps: Overlap) -> Numpy:
    """The indices of the boxes that stay."""
    order = best(scores, least, top_k)
    limit = np.float32(threshold)
    chosen: list[int] = []
    if eta >= 1:
        while len(order):
            first, order = order[0], order[1:]
            chosen.append(int(first))
            order = order[overlaps(int(first), order) <= limit]
        return np.array(chosen, int)
    for index in order:  # the threshold changes with each box that stays
        if (overlaps(int(index), chosen) <= limit).all():
            chosen.append(int(index))
            limit = np.float32(limit * eta) if limit > 0.5 else limit
    return np.array(chosen, int)


def overlap(box: Numpy, others: Numpy) -> Numpy:
    """Intersection over union of a box with others, float32; two boxes without an area overlap wholly, as in OpenCV."""
    start = np.maximum(box[:2], others[:, :2])
    end = np.minimum(box[:2] + box[2:], others[:, :2] + others[:, 2:])
    shared = np.prod(np.maximum(end - start, 0), axis=1)
    areas = box[2] * box[3] + others[:, 2] * others[:, 3]
    union = areas - shared
    ratio = np.divide(shared, union, out=np.ones_like(union), where=areas > np.finfo(float).eps)
    return np.asarray(ratio, np.float32)


def rectangle(x: float, y: float, width: float, height: float, degrees: float) -> Numpy:
    """The corners (4, 2) of a rotated box, around it, rounded to float32 as OpenCV's are: sides that lie on each other do so
    here too."""
    angle = np.deg2rad(degrees)
    across = np.array([np.cos(angle), np.sin(angle)], np.float32) * np.float32(0.5 * width)
    down = np.array([-np.sin(angle), np.cos(angle)], np.float32) * np.float32(0.5 * height)
    centre = np.array([x, y], np.float32)
    return np.array([centre - across - down, centre + across - down, centre + across + down, centre - across + down])


def rotated_overlap(a: Numpy, b: Numpy, area_a: float, area_b: float) -> float:
    """Intersection over union of two rectangles by their corners; 1 where one lies in the other and touches no side of it."""
    if area_a <= 0 or area_b <= 0:
        return 0.0
    if within(a, b) or within(b, a) or np.array_equal(a, b):
        return 1.0
    shared = polygon_area(clipped(a.astype(np.float64), b.astype(np.float64)))
    return float(np.float32(shared / (area_a + area_b - shared)))


def within(inner: Numpy, outer: Numpy) -> bool:
    """Whether all corners of a rectangle lie in another, and none on a side of it."""
    sides = np.roll(outer, -1, 0) - outer
    apart = inner[:, None] - outer  # (corners, sides, 2)
    turns = sides[:, 0] * apart[..., 1] - sides[:, 1] * apart[..., 0]
    return bool((turns > 0).all() or (turns < 0).all())


def kept(indices: Numpy) -> Kept:
    return indices.astype(np.int32) if len(indices) else ()
