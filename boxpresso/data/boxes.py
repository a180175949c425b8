"""Boxes of an annotation, (N, 7) as in `records.BOX`, when their picture is cropped, flipped or resized.

A crop is (xmin, ymin, xmax, ymax) in parts of the picture; it may reach beyond it. Source: Liu et al. 2016 (SSD) and its code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CORNERS = slice(2, 6)


def area(corners: np.ndarray) -> np.ndarray:
    """The areas of corners (.., 4); 0 where a side is not positive."""
    size = np.maximum(corners[..., 2:] - corners[..., :2], 0)
    return size[..., 0] * size[..., 1]


def shared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The area that corners (.., 4) have in common with others."""
    return area(np.concatenate([np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])], -1))


def jaccard(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union of corners; 0 where both are empty."""
    both = shared(a, b)
    union = area(a) + area(b) - both
    return np.divide(both, union, out=np.zeros_like(union), where=union > 0)


def coverage(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which part of a lies in b."""
    whole = np.broadcast_to(area(a), np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    return np.divide(shared(a, b), whole, out=np.zeros_like(whole), where=whole > 0)


def project(boxes: np.ndarray, crop: np.ndarray, emit: Any = None) -> np.ndarray:
    """The boxes (M, 7) that are left in a crop, in parts of the crop and clipped to it.

    emit: an EmitConstraint, or None to keep all that overlap: CENTER keeps those whose centre lies in the crop, MIN_OVERLAP
    those of which more than emit_overlap does.
    """
    corners, crop = boxes[:, CORNERS], np.asarray(crop, boxes.dtype)
    keep = np.ones(len(boxes), bool)
    if emit is not None:
        if emit.emit_type == emit.CENTER:
            centre = (corners[:, :2] + corners[:, 2:]) / 2
            keep = ((centre >= crop[:2]) & (centre <= crop[2:])).all(1)
        else:
            keep = coverage(corners, crop) > emit.emit_overlap
    made = boxes.copy()
    size = np.tile(crop[2:] - crop[:2], 2)
    made[:, CORNERS] = np.clip((corners - np.tile(crop[:2], 2)) / size, 0, 1)
    return made[keep & (area(made[:, CORNERS]) > 0)]


def mirror(boxes: np.ndarray) -> np.ndarray:
    """The boxes of the picture flipped left to right."""
    made = boxes.copy()
    made[:, 2], made[:, 4] = 1 - boxes[:, 4], 1 - boxes[:, 2]
    return made
