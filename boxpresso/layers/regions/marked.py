"""Marked: gradients of maxima in tiles, whose bins are marked for each tile once for all channels (maxima.h)."""

from __future__ import annotations

import math

import numpy as np

from ...device import AnyArray, Kernels
from .region_base import KERNELS, RegionLayer


class Marked(RegionLayer):
    """A layer whose gradient goes to where the maximum of each bin lies in each channel."""

    kernels: Kernels  # of subclasses: with MARKED, the bins of a word

    def marks(self) -> AnyArray:
        """Room for the marks of each tile: a bit for each bin of the regions in its list."""
        tiles = self.batch * math.prod(-(-size // KERNELS.constants["TILE_SIDE"]) for size in self.size)
        words = -(-math.prod(self.pooled) // self.kernels.constants["MARKED"])
        return self.scratch("marks", (tiles, self.regions, words), np.int32)
