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
