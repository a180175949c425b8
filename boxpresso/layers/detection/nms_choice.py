"""The NMS layer's choice by kernels: order and suppression; the host is told how many stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Layer
from . import choice, suppress
from .choice import Choice
from .order import Order

kernels = Kernels(Path(__file__).with_name("nms_choice.cu"))
FILES = kernels, *choice.FILES


class NMSChoice(Choice):
    """The choice of an NMS layer on its device.

    Parameters
    ----------
    layer
        The layer.
    threshold
        Of the intersection over union.
    limit
        At most so many boxes stay; below 0 all.
    turned
        Whether the boxes lie along the last axis.
    """

    def __init__(self, layer: Layer, threshold: float, limit: int, turned: bool) -> None:
        super().__init__(layer)
        self.threshold, self.limit, self.turned = threshold, limit, turned

    def reshape(self, count: int, columns: int, scored: bool) -> None:
        """Takes the sizes of the boxes, and whether they have scores, and counts those that can stay."""
        self.count_rows(2, count, min(self.limit, count) if self.limit >= 0 else count)
        if not self.rows:
            return
        self.best = Order(self.scratch, 2, count, -1, self.dtype) if scored else None
        if scored or self.turned:
            self.listed_boxes = self.scratch("listed", (count, columns), self.dtype)
        self.survivors, self.one = self.scratch("kept", (count,)), self.scratch("stay", (1,))
        for name, room in suppress.rooms_of(
            self.device, (count, columns), self.dtype, 1, count, suppress.KEPT_WORDS
        ).items():
            self.scratch.ask(name, *room)
        self.count, self.columns = count, columns
        self.starts_of_all = self.device.table(np.array([0, count]))
        self.least = self.threshold if columns == 5 else suppress.least_overlap(self.threshold, self.dtype)

    def launch(self, bottom: list[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be their number."""
        top.reshape(self.rows + 1)
        device, bound, count = self.device, kernels.on(self.device), self.count
        boxes, order, best = bottom[0].data, None, self.best
        if best is not None:
            bound.nms_values(count, bottom[1].data, best.values, best.room)
            best.sort(device)
            order = best.order
        listed: AnyArray = boxes
        if self.turned or order is not None:
            listed = self.listed_boxes
            steps = (1, count) if self.turned else (self.columns, 1)
            bound.nms_listed(count * self.columns, boxes, order, listed, self.columns, *steps)
        survivors, stay = self.survivors, self.one
        suppress.launch(
            device, listed, self.starts_of_all, survivors, stay, self.least, self.rows, count, self.scratch.__getitem__,
            suppress.KEPT_WORDS, last=1,
        )  # fmt: skip
        bound.nms_rows(self.rows, order, survivors, stay, top.data, self.rows)

    def finish(self, top: Blob) -> None:
        """Gives the top its shape."""
        top.reshape(self.rows + 1)
        top.reshape(*self.read_numbers(top, self.rows))
