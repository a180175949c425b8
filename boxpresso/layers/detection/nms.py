"""NMS, NMSRotated: greedy suppression of boxes that overlap a better one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...device import Blob, Kernels
from . import nms_choice, suppress
from .choosing import ChoosingBy
from .nms_choice import NMSChoice


class NMS(ChoosingBy[NMSChoice], type=("NMS", "NMSRotated", "RotateNMS"), param="nms_param", bottoms=(1, 2), tops=1):
    """Greedy suppression: the indices of the boxes that overlap no better box too much.

    A box is suppressed when its intersection over union with a better box that stays is `iou_threshold` or more; a
    rotated box when it is above `iou_threshold`. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 4), boxes: xmin, ymin, xmax, ymax in whole pixels, with widths xmax - xmin + 1. Or (N, 5), rotated boxes:
        centre x, centre y, width, height, angle in radians. With `axis: 1`, (4, N) and (5, N).
    bottom 1
        Optional: (N,), the scores of the boxes. Without them the boxes must come best first.
    nms_param
        `iou_threshold` (0.7), `top_k` (all), `axis` (0; or 1): the axis of the boxes.

    Returns
    -------
    top 0
        (K,), the indices of the boxes that stay, best first; at most `top_k` of them if it is given.

    Raises
    ------
    LayerError
        For a negative `iou_threshold`, another `axis`, boxes of other than 4 or 5 numbers, or a number of scores that
        is not that of the boxes.

    Source
    ------
    py-faster-rcnn's CPU rule, mmcv's nms_rotated, and synopsys-caffe's NMS, which has the same parameters but reads
    beyond the boxes that stay when they are fewer than `top_k`.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> boxes = [[0, 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 29]]
    >>> run_layer('type: "NMS" nms_param { iou_threshold: 0.7 }', boxes, [0.5, 0.75, 0.25]).tolist()
    [1.0, 2.0]
    """

    list_shapes = ((-1,),)
    kernels: ClassVar[Kernels] = suppress.kernels
    files = nms_choice.FILES

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.nms_param
        self.need(p.iou_threshold >= 0, f"iou_threshold must not be negative, got {p.iou_threshold:g}")
        self.need(p.axis in (0, 1, -1, -2), f"axis must be 0 or 1, got {p.axis}")
        self.limit = p.top_k if p.HasField("top_k") else -1
        self.threshold, self.turned = float(np.float32(p.iou_threshold)), p.axis in (1, -1)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = self.axes(bottom[0], 2, "bottom 0, the boxes,")
        self.count, columns = shape[::-1] if self.turned else shape
        self.need(columns in (4, 5), f"bottom 0 must have boxes of 4 numbers, or rotated ones of 5; got shape {shape}")
        if len(bottom) > 1:
            self.need(bottom[1].count == self.count, f"{self.count} boxes need as many scores, got {bottom[1].shape}")
        self.shape(top, min(self.limit, self.count) if self.limit >= 0 else self.count)  # at most
        self.choice = self.choice or NMSChoice(self, self.threshold, self.limit, self.turned)
        self.choice.reshape(self.count, columns, len(bottom) > 1)

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        top[0].reshape(rows)

    def launch(self, choice: NMSChoice, bottom: list[Blob], top: list[Blob]) -> None:
        choice.launch(bottom, top[0])

    def finish(self, choice: NMSChoice, bottom: list[Blob], top: list[Blob]) -> None:
        choice.finish(top[0])
