"""Boxes (xmin, ymin, xmax, ymax) on the host: overlaps, and which scores are best. Kernels have theirs in boxes.h."""

from __future__ import annotations

import numpy as np


def area(boxes: np.ndarray) -> np.ndarray:
    """Areas (..., ) of boxes (..., 4); 0 for a box whose end comes before its start."""
    width, height = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    return np.where((width >= 0) & (height >= 0), width * height, 0)


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union (A, B) of boxes a (A, 4) and b (B, 4), in their dtype; touching boxes have none."""
    a, b = a[:, None], b[None]
    width = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    height = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    shared = np.where((width > 0) & (height > 0), width * height, 0)
    union = area(a) + area(b) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)


def best(scores: np.ndarray, count: int = -1) -> np.ndarray:
    """The indices of scores (N,), highest first, among equals the lowest index first; at most `count` from 0 on."""
    if not -1 < count < len(scores):
        return np.argsort(-scores, kind="stable")
    if count == 0:
        return np.zeros(0, np.intp)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    candidates = np.flatnonzero(scores >= least)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:count]


def suppress(boxes: np.ndarray, threshold: float) -> np.ndarray:
    """The indices of boxes (N, 4), given best first, that stay: those which overlap none that stays by more."""
    kept, left = [], np.arange(len(boxes))
    while len(left):
        kept.append(left[0])
        left = left[1:][overlaps(boxes[left[:1]], boxes[left[1:]])[0] <= threshold]
    return np.array(kept, np.intp)


def match(boxes: np.ndarray, truth: np.ndarray, threshold: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Which true box each of `boxes` is matched with, or -1; and its largest overlap with any, 0 up to 1e-6.

    First every true box takes the box that it overlaps most, the best pair first, among equals the first box. Then,
    unless the threshold is None, each box left over takes the true one that it overlaps most, from the threshold on.
    """
    shared = overlaps(boxes, truth)
    shared[~(shared > 1e-6)] = 0
    found = np.full(len(boxes), -1)
    if not shared.size:
        return found, np.zeros(len(boxes), boxes.dtype)
    rows = shared.T.copy()
    place = rows.argmax(1)
    value = rows.max(1)
    while value.max() > 0:
        tied = np.flatnonzero(value == value.max())
        one = tied[place[tied].argmin()]
        taken = place[one]
        found[taken] = one
        rows[:, taken] = 0
        rows[one] = 0
        for other in np.flatnonzero(place == taken):
            place[other], value[other] = rows[other].argmax(), rows[other].max()
    most = shared.max(1)
    if threshold is not None:
        free = (found == -1) & (most >= threshold) & (most > 0)
        found[free] = shared[free].argmax(1)
    return found, most
