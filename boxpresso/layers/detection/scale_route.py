"""ScaleRoute: the regions of one range of sizes, for the level of a feature pyramid that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core.places import number_at
from . import order as ordered
from .choosing import Choosing
from .order import MOST_ROWS, Order


class ScaleRoute(Choosing, type="ScaleRoute", param="scale_route_param", bottoms=(1, None), tops=(1, None)):
    """The regions whose size is of one range, and what belongs to them: rows of further bottoms.

    The size of a region is the root of its area in pixels, the last one included. Those from `low_scale` on and below
    `high_scale` are taken, in their order. Without any, the region is taken whose size is closest to the middle of the
    range (by ratio; the root of both bounds' product, or the one bound that is given, or 256), so that what follows has
    something to do.

    Parameters
    ----------
    bottom 0
        (R, 5 or more), regions: image, xmin, ymin, xmax, ymax.
    bottom 1, ...
        Optional. (R, ...), rows that go with them.
    scale_route_param
        `low_scale` (none): the least size. `high_scale` (none): the size from which on regions belong elsewhere.

    Returns
    -------
    top 0, ...
        The rows of each bottom that were taken.

    Raises
    ------
    LayerError
        For a `low_scale` that is not above 0 or is above `high_scale`, different numbers of bottoms and tops or of
        rows, or regions with fewer than five numbers.

    Source
    ------
    Cai and Vasconcelos 2018 (Cascade R-CNN) and its Caffe. Its gradient of further bottoms is that of the rows that
    were taken, as here; without any region it fails, where here nothing is taken.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> regions = [[0, 0, 0, 9, 9], [0, 0, 0, 99, 99]]
    >>> run_layer('type: "ScaleRoute" scale_route_param { low_scale: 56 high_scale: 112 }', regions).tolist()
    [[0.0, 0.0, 0.0, 99.0, 99.0]]
    """

    kernels = Kernels("scale_route.cu")
    files = ordered.kernels, ordered.by_thread
    rows = 0  # of the bottoms
    taken: AnyArray  # the regions that the last forward has taken come first

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.scale_route_param
        self.need(len(bottom) == len(top), f"takes as many bottoms as tops, got {len(bottom)} and {len(top)}")
        self.need(not p.HasField("low_scale") or p.low_scale > 0, f"low_scale must be above 0, got {p.low_scale}")
        both = p.HasField("low_scale") and p.HasField("high_scale")
        self.need(
            not both or p.low_scale <= p.high_scale, f"low_scale {p.low_scale} is above high_scale {p.high_scale}"
        )
        self.low = p.low_scale if p.HasField("low_scale") else 0.0
        self.high = p.high_scale if p.HasField("high_scale") else np.inf
        self.middle = (
            np.sqrt(self.low * self.high) if both else self.low or (256.0 if self.high == np.inf else self.high)
        )
        self.need(self.middle > 0, f"high_scale must be above 0, got {self.high}")
        self.taken = np.zeros(0, np.intp)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = bottom[0].shape[:1]
        self.need(
            bottom[0].shape[1:2] >= (5,) and bottom[0].count == rows[0] * bottom[0].shape[1],
            f"bottom 0, the regions, must be (R, 5), got {bottom[0].shape}",
        )
        for i, (blob, out) in enumerate(zip(bottom, top)):
            self.need(blob.shape[:1] == rows, f"bottom {i} has the shape {blob.shape}, there are {rows[0]} regions")
            out.reshape(*blob.shape)  # forward knows how many there are
        self.rows = bottom[0].shape[0]
        self.need(
            self.rows < MOST_ROWS,
            f"{self.rows} regions are more than can be counted, {MOST_ROWS}: give fewer at a time",
        )
        if self.rows:
            self.best = Order(self.rooms[0], 1, self.rows, -1, self.dtype)
            self.scratch("taken", (self.rows,), np.int32)
            self.scratch("count", (1,), np.int32)
            self.taken, self.count = self.room("taken"), self.room("count")

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        if not self.rows:
            return False
        regions, columns, rows = bottom[0].data, bottom[0].shape[1], self.rows
        best, count = self.best, self.count
        self.kernels.route_values(rows, regions, best.values, columns, self.low, self.high)
        best.sort(self.device)
        self.kernels.route_taken(
            1, regions, best.order, best.start, self.taken, count, rows, columns, float(self.middle)
        )
        for i, (blob, out) in enumerate(zip(bottom, top)):
            width = prod(blob.shape[1:])
            out.reshape(rows + (i == 0), *blob.shape[1:])
            tail = -1 if i else rows * width
            self.kernels.route_rows(rows * width, blob.data, self.taken, count, out.data, max(width, 1), tail)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(self.rows + 1, *bottom[0].shape[1:])
        count = number_at(top[0].data, self.rows * bottom[0].shape[1])
        for blob, out in zip(bottom, top):
            out.reshape(count, *blob.shape[1:])

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob, out in zip(bottom, top):
            out.reshape(0, *blob.shape[1:])

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        return self.rows + 1

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        taken = np.asarray(self.taken)[: top[0].shape[0]]
        for blob, out, asked in zip(bottom, top, propagate_down):
            if asked:
                whole = np.zeros(blob.shape, self.dtype)
                whole[taken] = np.asarray(out.diff)
                blob.diff[...] = whole

    def allow_force_backward(self, index: int) -> bool:
        return index > 0
