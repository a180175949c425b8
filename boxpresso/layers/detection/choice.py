"""What layers share that choose boxes by kernels alone: the best in order, those that stay, and rows with their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...device import AnyArray, Blob
from ..core import Layer, doubt
from ..core.places import numbers_at
from ..core.scratch import Scratch
from . import order, suppress
from .order import Order, sortable, starts_of

WHOLE = 2**20  # bytes of rows up to which they are copied to the host together with their number

FILES = order.kernels, order.by_thread, suppress.kernels, doubt.kernels


class Choice:
    """The choice of a layer on its device.

    Attributes
    ----------
    rows
        At most so many there can be; 0 where there is nothing to choose of.
    """

    rows = 0
    tail = 1  # rows behind them, in which kernels say how many there are

    def __init__(self, layer: Layer) -> None:
        self.layer, self.device, self.dtype = layer, layer.device, layer.dtype
        self.scratch = Scratch(layer.device)
        layer.rooms.append(self.scratch)

    def count_rows(self, groups: int, items: int, rows: int, tail: int = 1) -> None:
        """Sets `rows`, or 0 where there are no items. Raises LayerError for more than kernels can count.

        Parameters
        ----------
        tail
            The attribute.
        """
        need, self.tail = self.layer.need, tail
        need(
            sortable(groups, items),
            f"{groups} lists of {items} boxes are more than can be sorted, {order.MOST_ITEMS}: give fewer images at a time",
        )
        self.rows = rows if groups * items else 0
        need(
            self.rows + tail <= order.MOST_ROWS,
            f"up to {rows} rows are more than can be counted, {order.MOST_ROWS}: give fewer images at a time, or limit boxes",
        )

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
        listed, turned = self.scratch["listed"], self.scratch["turned"] if columns == 5 else None
        order.kernels.on(self.device).order_listed(
            count, boxes, best.order, best.start, listed, turned, best.items // share, best.most, columns, share
        )
        return listed, listed if turned is None else turned

    def reserve(self, best: Order, columns: int, dtype: Any, eta: float = 1.0) -> None:
        """In reshape: asks for what `listed`, `stay`, `starts` and `taken` work in, of boxes of so many numbers.

        Parameters
        ----------
        eta
            As `suppress.launch` has it.
        """
        shape, groups = (best.groups * best.most, columns), best.groups
        for name in ("listed", "turned")[: 1 + (columns == 5)]:
            self.scratch.ask(name, shape, dtype)
        for name, size in (("kept", shape[0]), ("stay", groups), ("taken", groups), ("out", groups + 1)):
            self.scratch.ask(name, (size,), np.int32)
        for name, room in suppress.rooms_of(
            self.device, shape, dtype, groups, best.most, suppress.KEPT_WORDS, eta
        ).items():
            self.scratch.ask(name, *room)

    def stay(
        self, best: Order, boxes: AnyArray, threshold: float, limit: int = -1, **rule: Any
    ) -> tuple[AnyArray, AnyArray]:
        """Launches suppression of the listed boxes, and gives what suppress.launch writes: which stay, and how many."""
        survivors, stay = self.scratch["kept"], self.scratch["stay"]
        suppress.launch(
            self.device, boxes, best.start, survivors, stay, threshold, limit, best.most, self.scratch.__getitem__,
            suppress.KEPT_WORDS, **rule,
        )  # fmt: skip
        return survivors, stay

    def starts(self, sizes: AnyArray) -> AnyArray:
        """Launches what finds where the rows of each group start."""
        out = self.scratch["out"]
        starts_of(self.device, sizes, out)
        return out

    def taken(self, best: Order, survivors: AnyArray, stay: AnyArray, labels: int, keep: int) -> AnyArray:
        """Launches what finds where the rows of each group start, of which an image of `labels` groups has `keep`; -1: all."""
        taken = self.scratch["taken"]
        lists = best.best, survivors, best.start, stay, taken, labels, keep
        if best.in_tiles:
            order.kernels.on(self.device).order_taken(best.groups, *lists)
        else:
            order.by_thread.on(self.device).order_shares(best.groups // labels, *lists)
        return self.starts(taken)

    def read_numbers(self, top: Blob, at: int, count: int = 1) -> list[int]:
        """Waits for the numbers at flat index `at` of a top. Few rows come with them, so that to read them waits no more."""
        rows: AnyArray = top.data
        return numbers_at(np.asarray(rows) if rows.nbytes <= WHOLE else rows, at, count)


class RegionChoice(Choice):
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

    best: Order  # their order
    boxes: AnyArray  # (images * items, columns), all

    def __init__(
        self, layer: Layer, columns: int, before: int, after: int, threshold: float | None, last: int = 1
    ) -> None:
        super().__init__(layer)
        self.columns, self.before, self.after, self.last, self.threshold = columns, before, after, last, threshold
        if threshold is not None:
            self.threshold = suppress.least_overlap(threshold, layer.dtype) if columns == 4 else float(threshold)

    def resize(self, images: int, items: int) -> bool:
        """Takes how many images there are, with so many boxes each, and says whether there is something to choose of."""
        self.images, self.items = images, items
        self.most = min(self.before, items) if self.before > 0 else items
        self.each = min(self.after, self.most) if self.after > 0 else self.most
        self.count_rows(images, items, images * self.each)
        if self.rows:
            self.best = Order(self.scratch, images, items, self.most, self.dtype)
            self.boxes = self.scratch("boxes", (images * items, self.columns), self.dtype)
            self.reserve(self.best, self.columns, self.dtype)
        return self.rows > 0

    def choose(
        self,
        decode: Callable[[], None],
        regions: AnyArray,
        scored: AnyArray | None = None,
        wide: int = 1,
    ) -> tuple[Order, AnyArray | None, AnyArray]:
        """Launches all, and gives the best, which of them stay (None: all), and where the rows of each image start.

        Parameters
        ----------
        decode
            Launches what writes all `boxes`, and their scores into the values of `best`.
        regions
            (rows + 1, 1 + columns), gets the rows, and behind `rows` of them their number.
        scored
            (rows, wide), gets their scores, with more than 1 for `wide` behind the rows themselves; or None.
        """
        best = self.best
        decode()
        best.sort(self.device)
        listed, turned = self.listed(best, self.boxes)
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
