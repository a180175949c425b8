"""Marked: gradients of maxima in tiles, whose bins are marked for each tile once for all channels (maxima.h)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ...device import AnyArray, Kernels
from .region_base import KERNELS, RegionLayer

MAXIMA = Kernels(Path(__file__).with_name("roi_pooling.cu"))


class Marked(RegionLayer):
    """A layer whose gradient goes to where the maximum of each bin lies in each channel."""

    def marks(self) -> AnyArray:
        """Room for the marks of each tile: a bit for each bin of the regions in its list."""
        tiles = self.batch * math.prod(-(-size // KERNELS.constants["TILE_SIDE"]) for size in self.size)
        words = -(-math.prod(self.pooled) // MAXIMA.constants["MARKED"])
        return self.scratch("marks", (tiles, self.regions, words), np.int32)
