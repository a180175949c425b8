"""What Fast and Faster R-CNN compile with Cython: suppression and overlaps of boxes in whole pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.boxes import iou
from ..ops.suppression import suppressed

__all__ = ["bbox_overlaps", "cpu_nms", "gpu_nms", "nms"]

Numpy = np.ndarray[Any, Any]


def cpu_nms(dets: Numpy, thresh: float) -> list[int]:
    """Non-maximum suppression of rows (x1, y1, x2, y2, score): a box goes that overlaps a better one by `thresh` or more.

    Returns
    -------
    list of int
        The rows that stay, best first.

    Source
    ------
    py-faster-rcnn's nms/cpu_nms.pyx.
    """
    return _nms(dets, thresh, strict=False)


def gpu_nms(dets: Numpy, thresh: float, device_id: int = 0) -> list[int]:
    """`cpu_nms` where only an overlap of more than `thresh` counts, as in py-faster-rcnn's nms_kernel.cu."""
    return _nms(dets, thresh, strict=True)


nms = cpu_nms  # utils.cython_nms of fast-rcnn


def _nms(dets: Numpy, thresh: float, strict: bool) -> list[int]:
    if not len(dets):
        return []
    boxes = np.ascontiguousarray(dets[:, :4], np.float32)
    scores = np.ascontiguousarray(dets[:, 4], np.float32)
    rows = suppressed(boxes, scores, np.zeros(len(scores)), 4, thresh, pixels=True, strict=strict)
    return [int(row) for row in rows]


def bbox_overlaps(boxes: Numpy, query_boxes: Numpy) -> Numpy:
    """Intersection over union (N, K) of boxes (N, 4) and (K, 4), whose widths are x2 - x1 + 1.

    Source
    ------
    py-faster-rcnn's utils/bbox.pyx.
    """
    return iou(np.asarray(boxes, float)[:, None], np.asarray(query_boxes, float), last=1)
