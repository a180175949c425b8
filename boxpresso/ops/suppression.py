"""Non-maximum suppression as functions: torchvision's nms and batched_nms, mmcv's offset and nms_rotated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.boxes import best
from ..device import Array
from ..layers.detection.suppress import suppress_boxes
from ..proto.errors import BoxpressoError
from . import arrays


def nms(boxes: Any, scores: Any, iou_threshold: float, offset: int = 0) -> Any:
    """Non-maximum suppression: a box goes when it overlaps a better one that stays by more than the threshold.

    Parameters
    ----------
    boxes : (N, 4), x1, y1, x2, y2.
    scores : (N,); of equal scores the first is better. Their order is found on the host.
    offset : what is added to widths and heights: 0 as in torchvision, or 1 for whole pixels.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Raises
    ------
    BoxpressoError: another offset, or arrays of other shapes.

    Source
    ------
    torchvision's nms; with an offset mmcv's.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 1], [0, 0, 2, 2], [3, 3, 4, 4]], np.float32)
    >>> nms(boxes, np.array([0.8, 0.9, 0.1]), 0.4).tolist(), nms(boxes, np.array([0.8, 0.9, 0.1]), 0.5).tolist()
    ([1, 2], [1, 0, 2])
    """
    if offset not in (0, 1):
        raise BoxpressoError(f"offset must be 0 or 1, got {offset}")
    return suppressed(boxes, scores, np.zeros(len(scores)), 4, iou_threshold, pixels=offset == 1, strict=True)


def batched_nms(boxes: Any, scores: Any, idxs: Any, iou_threshold: float) -> Any:
    """`nms` within each class.

    Parameters
    ----------
    idxs : (N,), the class of each box; boxes of different classes do not suppress each other.
    boxes, scores, iou_threshold : see `nms`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    torchvision's batched_nms.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [0, 0, 2, 2]], np.float32)
    >>> batched_nms(boxes, np.array([0.7, 0.8, 0.9]), np.array([1, 2, 2]), 0.5).tolist()
    [2, 0]
    """
    return suppressed(boxes, scores, idxs, 4, iou_threshold, pixels=False, strict=True)


def nms_rotated(boxes: Any, scores: Any, iou_threshold: float, clockwise: bool = True) -> Any:
    """`nms` of rotated boxes.

    Parameters
    ----------
    boxes : (N, 5): centre x, centre y, width, height, angle in radians.
    clockwise : which way the angle turns, y pointing down.
    scores, iou_threshold : see `nms`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    mmcv's nms_rotated.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[5, 5, 4, 2, 0], [5, 5, 2, 4, np.pi / 2], [5, 5, 4, 2, np.pi / 2]], np.float32)
    >>> nms_rotated(boxes, np.array([0.9, 0.8, 0.7]), 0.5).tolist()  # the second is the first; the third lies across
    [0, 2]
    """
    return suppressed(boxes, scores, np.zeros(len(scores)), 5, iou_threshold, clockwise=clockwise)


def batched_nms_rotated(boxes: Any, scores: Any, idxs: Any, iou_threshold: float, clockwise: bool = True) -> Any:
    """`nms_rotated` within each class.

    Parameters
    ----------
    idxs : (N,), the class of each box; boxes of different classes do not suppress each other.
    boxes, scores, iou_threshold, clockwise : see `nms_rotated`.

    Returns
    -------
    The indices (int64) of the boxes that stay, best first.

    Source
    ------
    mmcv's batched_nms with rotated boxes; detectron2's batched_nms_rotated.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = np.array([[5, 5, 4, 2, 0]] * 3, np.float32)
    >>> batched_nms_rotated(boxes, np.array([0.7, 0.8, 0.9]), np.array([1, 2, 2]), 0.5).tolist()
    [2, 0]
    """
    return suppressed(boxes, scores, idxs, 5, iou_threshold, clockwise=clockwise)


def suppressed(
    boxes: Any, scores: Any, classes: Any, columns: int, threshold: float, clockwise: bool = True, **rule: bool
) -> Any:
    """The indices that stay, by score, under the caller's kind of array."""
    device = arrays.device_of(boxes)
    rows, values = (arrays.values(a, device) for a in (boxes, scores))
    if rows.ndim != 2 or rows.shape[1] != columns or values.shape != rows.shape[:1]:
        raise BoxpressoError(
            f"boxes must be of shape (N, {columns}) and scores of shape (N,), got {rows.shape} and {values.shape}"
        )
    labels = arrays.values(classes, arrays.device_of(classes))
    if labels.shape != values.shape:
        raise BoxpressoError(f"idxs must be of shape {values.shape}, as the scores are, got {labels.shape}")
    rows = rows.astype(np.float64 if rows.dtype == np.float64 else np.float32)
    if not clockwise:
        rows[:, 4] *= -1
    first = best(values)
    order = first[np.argsort(labels[first], kind="stable")]  # by class, within one best first
    starts = np.append(np.flatnonzero(np.diff(labels[order], prepend=np.nan)), len(order))
    stay = order[suppress_boxes(device, rows[order], threshold, starts=starts.astype(np.int32), **rule)]
    rank = np.empty(len(order), np.int64)
    rank[first] = np.arange(len(order))
    stay = stay[np.argsort(rank[stay])]
    results = arrays.Results(boxes, device)
    result, ours = results.empty(stay.shape, np.int64)
    ours[...] = stay
    if isinstance(ours, Array):
        ours.address(False)  # copies it to the GPU, where the caller looks for it
    results.finish()
    return result
