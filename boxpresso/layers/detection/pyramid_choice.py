"""Regions sorted by the level of a feature pyramid, by kernels; the host is told how many each level has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Layer
from ..core.places import numbers_at
from . import choice, pyramid
from .choice import Choice
from .order import Order

kernels = Kernels(Path(__file__).with_name("pyramid_choice.cu"), UNFUSED)
FILES = kernels, *choice.FILES


class LevelChoice(Choice):
    """Regions sorted by level, on a layer's device: all of them by level, and those of each. An empty level has a row of
    zeros.

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
        At most so many regions.
    """

    def __init__(self, layer: Layer, levels: int, trailing: Sequence[int] = ()) -> None:
        super().__init__(layer)
        self.levels, self.trailing = levels, tuple(trailing)
        self.least = layer.device.table(pyramid.bounds(levels), layer.dtype)

    def reshape(self, rows: int) -> None:
        """Takes the most regions that there can be."""
        self.count_rows(self.levels, rows, rows, self.with_tail(rows) - rows)
        if self.rows:
            self.best = Order(self.scratch, self.levels, rows, -1, self.dtype)

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
        best = self.best
        bound, whole = kernels.on(self.device), top[0].data
        bound.level_values(self.rows, regions, count, self.least, best.values, self.levels, best.room)
        best.sort(self.device)
        for level, blob in enumerate(top[1:]):
            bound.level_rows(
                self.rows, regions, best.order, best.start, whole, blob.data, level, self.levels, self.end()
            )

    def end(self) -> int:
        """Where in the first top the numbers lie."""
        return 5 * (self.rows + self.levels)

    def finish(self, top: Sequence[Blob]) -> int:
        """Gives the tops their shapes, and says how many regions there are."""
        self.shape(top[:1], [self.with_tail(self.rows)])
        regions, *rows = numbers_at(top[0].data, self.end(), 2 + self.levels)
        self.shape(top, rows)
        return regions

    def empty(self, top: Sequence[Blob]) -> None:
        """Gives the tops what they have of no regions: a row of zeros for each level."""
        self.shape(top, [self.levels, *[1] * self.levels])
        for blob in top:
            blob.data[...] = 0

    def shape(self, top: Sequence[Blob], rows: Sequence[int]) -> None:
        """Gives each top so many rows."""
        for blob, count in zip(top, rows):
            blob.reshape(count, 5, *self.trailing)
