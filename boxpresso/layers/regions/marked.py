"""Marked: gradients of maxima in tiles, whose bins are marked for each tile once for all channels (maxima.h)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...device import AnyArray, Kernels
from .region_base import RegionLayer

MAXIMA = Kernels(Path(__file__).with_name("maxima.cu"))


class Marked(RegionLayer):
    """A layer whose gradient goes to where the maximum of each bin lies in each channel."""

    def ask_marks(self, numbers: int) -> None:
        """In reshape: for the marks of each tile, a bit for each bin of the regions in its list, and for the gradient of
        the top (`ask_slabs_of_top`)."""
        self.ask_tiles()
        self.ask_slabs_of_top(numbers)
        words = -(-math.prod(self.pooled) // MAXIMA.constants["MARKED"])
        self.scratch("marks", (self.tile_count, self.regions, words), np.int32, backward=True)

    def mark_bins(self, tiles: int, lists: AnyArray, bins: AnyArray) -> AnyArray:
        """The marks of a table of bins (bins.h); lists: those of the tiles."""
        marks = self.room("marks")
        MAXIMA.on(self.device).maxima_marks(tiles, lists, bins, marks, *self.pooled, *self.size)
        return marks

    def add_pixels(
        self, tiles: int, slabs: AnyArray, lists: AnyArray, marks: AnyArray, diff: AnyArray, channels_last: bool = False
    ) -> None:
        """The gradient of maxima that are pixels; slabs: that of the top with their places, from `given_places`."""
        MAXIMA.on(self.device).maxima_backward(
            tiles * self.channel_slabs, slabs, lists, marks, diff, channels_last, self.batch, self.channels, *self.size,
            math.prod(self.pooled),
        )  # fmt: skip
