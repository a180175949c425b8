"""Regions sorted by the level of a feature pyramid, by kernels alone; the host is told how many each level has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Layer
from ..core.places import numbers_at
from . import order, pyramid
from .order import MOST_ROWS, Order, Scratch, sortable

kernels = Kernels(Path(__file__).with_name("pyramid_device.cu"), UNFUSED)
FILES = kernels, order.kernels


class DeviceLevels:
    """What `pyramid.split` does, on a layer's device.

    Parameters
    ----------
    layer
        The layer, whose tops are all regions and those of each level.
    levels
        How many levels there are.
    trailing
        Further axes of the tops.

    Attributes
    ----------
    rows
        At most so many regions; 0 where the host has to sort.
    """

    rows = 0

    def __init__(self, layer: Layer, levels: int, trailing: Sequence[int] = ()) -> None:
        self.device, self.dtype, self.levels, self.trailing = layer.device, layer.dtype, levels, tuple(trailing)
        self.scratch = Scratch(layer.device)
        self.least = layer.device.table(pyramid.bounds(levels), layer.dtype)

    def reshape(self, rows: int) -> None:
        """Takes the most regions that there can be."""
        fits = sortable(self.levels, rows) and 5 * self.with_tail(rows) <= MOST_ROWS
        self.rows = rows if fits else 0

    def with_tail(self, rows: int) -> int:
        """How many rows of 5 the first top needs: one for each empty level too, and behind them the numbers."""
        return rows + self.levels + -(-(self.levels + 2) // 5)

    def launch(self, regions: AnyArray, count: AnyArray | None, top: Sequence[Blob]) -> None:
        """Launches all.

        Parameters
        ----------
        regions
            (rows, 5), or more rows, of which the first count[0] are sorted, or all.
        """
        self.shape(top, [self.with_tail(self.rows), *[self.rows] * self.levels])
        best = Order(self.scratch, self.levels, self.rows, -1, self.dtype)
        bound, whole = kernels.on(self.device), top[0].data
        bound.level_values(self.rows, regions, count, self.least, best.values, self.levels, best.room)
        best.sort(self.device)
        for level, blob in enumerate(top[1:]):
            bound.level_rows(
                self.rows, regions, best.order, best.start, whole, blob.data, level, self.levels, self.tail()
            )

    def tail(self) -> int:
        """Where in the first top the numbers lie."""
        return 5 * (self.rows + self.levels)

    def finish(self, top: Sequence[Blob]) -> int:
        """Gives the tops their shapes, and says how many regions there are."""
        self.shape(top[:1], [self.with_tail(self.rows)])
        regions, *rows = numbers_at(top[0].data, self.tail(), 2 + self.levels)
        self.shape(top, rows)
        return regions

    def shape(self, top: Sequence[Blob], rows: Sequence[int]) -> None:
        """Gives each top so many rows."""
        for blob, count in zip(top, rows):
            blob.reshape(count, 5, *self.trailing)
