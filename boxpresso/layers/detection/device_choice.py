"""What layers share that choose boxes by kernels alone: the best in order, those that stay, and rows with their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...device import AnyArray, Blob
from ..core import Layer, doubt
from ..core.places import numbers_at
from . import order, suppress
from .order import MOST_ROWS, Order, Scratch, sortable, starts_of

WHOLE = 2**20  # bytes of rows up to which they are copied to the host together with their number

FILES = order.kernels, suppress.kernels, doubt.kernels


class DeviceChoice:
    """The choice of a layer on its device.

    Attributes
    ----------
    rows
        At most so many there can be; 0 where the host has to look: there is nothing to find, or more than kernels can count.
    """

    rows = 0

    def __init__(self, layer: Layer) -> None:
        self.layer, self.device, self.dtype = layer, layer.device, layer.dtype
        self.scratch = Scratch(layer.device)

    def listed(self, best: Order, boxes: AnyArray, share: int = 1) -> tuple[AnyArray, AnyArray]:
        """Launches what lists the boxes of the best, and gives them twice: as they are, and as suppression wants them.

        Parameters
        ----------
        boxes
            (groups * items / share, columns).
        share
            So many items of a group have one box.
        """
        count, columns = best.groups * best.most, boxes.shape[1]
        listed = self.scratch("listed", (count, columns), boxes.dtype)
        turned = self.scratch("turned", (count, columns), boxes.dtype) if columns == 5 else None
        order.kernels.on(self.device).order_listed(
            count, boxes, best.order, best.start, listed, turned, best.items // share, best.most, columns, share
        )
        return listed, listed if turned is None else turned

    def reserve(self, best: Order, boxes: AnyArray) -> None:
        """In reshape: makes the arrays of `stay` and `taken` on the CPU, where memory is counted before it is used."""
        if self.device.kind == "cpu":
            count, groups = boxes.shape[0], best.groups
            for name, size in (("kept", count), ("stay", groups), ("taken", groups), ("out", groups + 1)):
                self.scratch(name, (size,))
            self.scratch("numbers", (suppress.kernels.constants["ROOM"] * count,), boxes.dtype)

    def stay(
        self, best: Order, boxes: AnyArray, threshold: float, limit: int = -1, **rule: Any
    ) -> tuple[AnyArray, AnyArray]:
        """Launches suppression of the listed boxes, and gives what suppress.launch writes: which stay, and how many."""
        survivors, stay = self.scratch("kept", (boxes.shape[0],)), self.scratch("stay", (best.groups,))
        suppress.launch(
            self.device, boxes, best.start, survivors, stay, threshold, limit, best.most, self.scratch, suppress.KEPT_WORDS,
            **rule,
        )  # fmt: skip
        return survivors, stay

    def starts(self, sizes: AnyArray) -> AnyArray:
        """Launches what finds where the rows of each group start."""
        out = self.scratch("out", (sizes.shape[0] + 1,))
        starts_of(self.device, sizes, out)
        return out

    def taken(self, best: Order, survivors: AnyArray, stay: AnyArray, labels: int, keep: int) -> AnyArray:
        """Launches what finds where the rows of each group start, of which an image of `labels` groups has `keep`; -1: all."""
        taken = self.scratch("taken", (best.groups,))
        order.kernels.on(self.device).order_taken(
            best.groups, best.best, survivors, best.start, stay, taken, labels, keep
        )
        return self.starts(taken)

    def read_numbers(self, top: Blob, at: int, count: int = 1) -> list[int]:
        """Waits for the numbers at flat index `at` of a top. Few rows come with them, so that to read them waits no more."""
        rows: AnyArray = top.data
        return numbers_at(np.asarray(rows) if rows.nbytes <= WHOLE else rows, at, count)


class DeviceRegions(DeviceChoice):
    """The choice of regions: of each image the best boxes, and of these the first that overlap no better one too much.

    Parameters
    ----------
    layer
        The layer.
    columns
        4, or 5 of rotated boxes.
    before, after
        How many boxes of an image are taken at most, before and after suppression; 0 and less: all.
    threshold
        Of suppression; None for none.
    last
        What is added to the widths and heights of upright boxes.

    Attributes
    ----------
    count
        (1,), how many regions there are, for kernels that follow `choose`.
    """

    count: AnyArray
    images = items = 0

    def __init__(
        self, layer: Layer, columns: int, before: int, after: int, threshold: float | None, last: int = 1
    ) -> None:
        super().__init__(layer)
        self.columns, self.before, self.after, self.last, self.threshold = columns, before, after, last, threshold
        if threshold is not None:
            self.threshold = suppress.least_overlap(threshold, layer.dtype) if columns == 4 else float(threshold)

    def resize(self, images: int, items: int) -> bool:
        """Takes how many images there are, with so many boxes each, and says whether kernels can choose of them."""
        self.images, self.items, self.rows = images, items, 0
        self.most = min(self.before, items) if self.before > 0 else items
        self.each = min(self.after, self.most) if self.after > 0 else self.most
        if sortable(images, items) and images * self.each <= MOST_ROWS:
            self.rows = images * self.each
        return self.rows > 0

    def choose(
        self,
        decode: Callable[[AnyArray, Order], None],
        regions: AnyArray,
        scored: AnyArray | None = None,
        wide: int = 1,
    ) -> tuple[Order, AnyArray | None, AnyArray]:
        """Launches all, and gives the best, which of them stay (None: all), and where the rows of each image start.

        Parameters
        ----------
        decode
            Launches what writes all boxes (images * items, columns), and their scores into the order's values.
        regions
            (rows + 1, 1 + columns), gets the rows, and behind `rows` of them their number.
        scored
            (rows, wide), gets their scores, with more than 1 for `wide` behind the rows themselves; or None.
        """
        best = Order(self.scratch, self.images, self.items, self.most, self.dtype)
        boxes = self.scratch("boxes", (self.images * self.items, self.columns), self.dtype)
        decode(boxes, best)
        best.sort(self.device)
        listed, turned = self.listed(best, boxes)
        survivors, out = None, best.start
        if self.threshold is not None:
            survivors, stay = self.stay(best, turned, self.threshold, self.each, last=self.last)
            out = self.starts(stay)
        self.count = self.device.part(out, self.images, (1,))
        order.kernels.on(self.device).order_rows(
            self.rows, listed, best.best, survivors, best.start, out, regions, scored, self.each, self.images, self.columns,
            wide,
        )  # fmt: skip
        return best, survivors, out
