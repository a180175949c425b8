"""FrcnnOutput by kernels alone: boxes, suppression and rows are found on the device, and the host is told how many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer
from . import choice, suppress
from .choice import Choice
from .fields import Deviation
from .order import Order

kernels = Kernels(Path(__file__).with_name("frcnn_choice.cu"), UNFUSED)
FILES = kernels, *choice.FILES


class FrcnnChoice(Choice):
    """The choice of a FrcnnOutput layer on its device.

    Parameters
    ----------
    layer
        The layer.
    param
        Its conf_thr, iou_thr and max_det_num.
    deviation
        Of the offsets.
    """

    def __init__(self, layer: Layer, param: Any, deviation: Deviation) -> None:
        super().__init__(layer)
        self.sure, self.deviation = float(np.float32(param.conf_thr)), deviation
        self.keep = int(param.max_det_num) or -1
        self.least = suppress.least_overlap(float(np.float32(param.iou_thr)), np.dtype(np.float64))

    def reshape(self, count: int, columns: int, classes: int, boxes: int) -> None:
        """Takes the sizes of the bottoms, and counts the detections that there can be."""
        self.count, self.classes = count, classes
        rows = (classes - 1) * count if self.keep < 0 else min(self.keep, (classes - 1) * count)
        self.count_rows(classes, count, rows, 2)
        if not self.rows:
            return
        self.regions = kernels.struct(
            "Regions", rows=count, columns=columns, classes=classes, boxes=boxes, most=count, all=rows,
            mean=self.deviation.mean.tolist(), std=self.deviation.std.tolist(),
        )  # fmt: skip
        scratch = self.scratch
        self.best = Order(scratch, classes, count, -1, self.dtype)
        self.reserve(self.best, 4, np.float64)
        self.boxes, self.foreign = scratch["listed"], scratch("foreign", (1,))

    def launch(self, bottom: list[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be what `finish` reads."""
        chances, offsets, regions, size = (blob.data for blob in bottom)
        top.reshape(self.rows + 2, 7, 1, 1)
        bound, listed, best, boxes, foreign = (
            kernels.on(self.device), self.classes * self.count, self.best, self.boxes, self.foreign,
        )  # fmt: skip
        bound.frcnn_values(listed, chances, best.values, self.regions, best.room, self.sure)
        best.sort(self.device)
        bound.frcnn_boxes(listed, regions, offsets, size, best.order, best.start, boxes, self.regions)
        bound.frcnn_foreign(1, regions, foreign, self.regions)
        survivors, stay = self.stay(best, boxes, self.least, last=1)
        out = self.taken(best, survivors, stay, self.classes, self.keep)
        bound.frcnn_rows(listed, best.best, boxes, survivors, best.start, out, foreign, top.data, self.regions)

    def finish(self, top: Blob) -> tuple[int, bool]:
        """Gives the top its shape, and says how many detections there are, and whether a region is of another image."""
        top.reshape(self.rows + 2, 7, 1, 1)
        count, foreign = self.read_numbers(top, 7 * (self.rows + 1), 2)
        top.reshape(1 + count, 7, 1, 1)
        return count, bool(foreign)
