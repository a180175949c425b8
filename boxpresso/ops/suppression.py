"""Non-maximum suppression as functions: torchvision's nms and batched_nms, mmcv's offset and nms_rotated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.boxes import best
from ..layers.detection.suppress import suppress_boxes
from ..proto.errors import BoxpressoError
from . import arrays


def nms(boxes: Any, scores: Any, iou_threshold: float, offset: int = 0) -> Any:
    """The indices (int64) of the boxes that stay, best first: one goes when it overlaps a better one by more than the
    threshold.

    boxes: (N, 4), x1, y1, x2, y2; scores: (N,), of equal ones the first is better. offset: added to widths and heights, 0
    as in torchvision or 1 for whole pixels. float32 or float64; the order of the scores is made on the host.
    """
    if offset not in (0, 1):
        raise BoxpressoError(f"offset must be 0 or 1, got {offset}")
    return suppressed(boxes, scores, np.zeros(len(scores)), 4, iou_threshold, pixels=offset == 1, strict=True)


def batched_nms(boxes: Any, scores: Any, idxs: Any, iou_threshold: float) -> Any:
    """nms within each class: boxes of different idxs (N,) do not see each other."""
    return suppressed(boxes, scores, idxs, 4, iou_threshold, pixels=False, strict=True)


def nms_rotated(boxes: Any, scores: Any, iou_threshold: float, clockwise: bool = True) -> Any:
    """nms of rotated boxes (N, 5): centre x, centre y, width, height, angle in radians."""
    return suppressed(boxes, scores, np.zeros(len(scores)), 5, iou_threshold, clockwise=clockwise)


def suppressed(
    boxes: Any, scores: Any, classes: Any, columns: int, threshold: float, clockwise: bool = True, **rule: bool
) -> Any:
    """The indices that stay, by score, under the caller's kind of array."""
    device = arrays.device_of(boxes)
    rows, values = (np.asarray(arrays.take(a, device)) for a in (boxes, scores))
    if rows.ndim != 2 or rows.shape[1] != columns or values.shape != rows.shape[:1]:
        raise BoxpressoError(
            f"boxes must be of shape (N, {columns}) and scores of shape (N,), got {rows.shape} and {values.shape}"
        )
    labels = np.asarray(arrays.take(classes, arrays.device_of(classes)))
    if labels.shape != values.shape:
        raise BoxpressoError(f"idxs must be of shape {values.shape}, as the scores are, got {labels.shape}")
    rows = rows.astype(np.float64 if rows.dtype == np.float64 else np.float32)
    if not clockwise:
        rows[:, 4] *= -1
    first = best(values)
    order = first[np.argsort(labels[first], kind="stable")]  # by class, within one best first
    starts = np.append(np.flatnonzero(np.diff(labels[order], prepend=np.nan)), len(order))
    kept = order[suppress_boxes(device, rows[order], threshold, starts=starts.astype(np.int32), **rule)]
    rank = np.empty(len(order), np.int64)
    rank[first] = np.arange(len(order))
    kept = kept[np.argsort(rank[kept])]
    result, ours = arrays.Results(boxes, device).empty(kept.shape, np.int64)
    ours[...] = kept
    device.synchronize()
    return result
