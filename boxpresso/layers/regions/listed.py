"""Listed: gradients of maps from lists of what each pixel of a tile gets, for a GPU (listed.h)."""

from __future__ import annotations

import math

import numpy as np

from ...device import AnyArray, Kernels
from .region_base import RegionLayer

MOST_ENTRIES = 2**27  # of all tiles' lists: of 8 bytes in float, a GiB
MOST_PLACED = 2**33  # numbers of packed gradients: an int says where four of them lie
MOST_LISTED = 2**22  # entries of a tile, so that those of its pixels are counted by ints
FEW_ENTRIES = 2048  # of a tile, for which there is always room


class Listed(RegionLayer):
    """A layer whose bilinear samples are listed by pixel: a kernel of its own writes the lists, and packs gradients."""

    listed: Kernels  # of subclasses: what writes the lists
    sums = Kernels("listed_add.cu")
    # Bytes of the lists for each of the maps' gradient, where the host does not know how many samples there are.
    adaptive_share = 0.5

    def lists_room(self) -> tuple[AnyArray, AnyArray, AnyArray, int]:
        """Room for gradients of bins with the channels last, and for the lists of tiles: where those of each pixel begin, what
        they are, and how many a tile has room for (see listed.h).

        With a fixed grid that is four times what the tiles have on average if no sample lies off the map and each has four
        pixels of its own. The gradients end with a row of zeros.
        """
        of = self.sums.constants
        slabs, side, group = -(-self.channels // of["SLAB"]), of["TILE_SIDE"], of["GROUP"]
        padded, tiles = slabs * of["SLAB"], self.batch * math.prod(-(-size // side) for size in self.size)
        bins = self.regions * math.prod(self.pooled)
        most = padded * side**2 if self.ratio > 0 else int(padded * side**2 * self.adaptive_share / 2)
        most = min(most, MOST_LISTED, MOST_ENTRIES // max(tiles, 1))
        if (bins + 1) * padded >= MOST_PLACED:
            most = 0
        if self.ratio > 0:
            entries = self.most_entries()
            most = min(most, entries, max(FEW_ENTRIES, 4 * -(-entries // max(tiles, 1))))
        most -= most % group
        given = self.scratch("given", (bins + 1, padded))
        heads = self.scratch("heads", (tiles, of["LIST_HEAD"]), np.int32)
        return given, heads, self.scratch("entries", (tiles, most, 2)), most

    def most_entries(self) -> int:
        """How many entries the samples of a fixed grid make at most in a tile, whose pixels have whole groups."""
        entries, of = 4 * self.regions * math.prod(self.pooled) * self.ratio**2, self.sums.constants
        return min(entries * of["GROUP"], entries + (of["GROUP"] - 1) * of["TILE_PIXELS"])

    def prepare_blocks(self, tiles: int) -> int:
        """The blocks of a kernel that lists so many tiles and packs the gradients of all regions."""
        return tiles + self.regions * -(-self.channels // self.listed.constants["PACKED_CHANNELS"])

    def add_listed(
        self, tiles: int, lists: AnyArray, listed: tuple[AnyArray, AnyArray, AnyArray, int], diff: AnyArray
    ) -> bool:
        """The sums of the tiles that have lists; whether there may be others."""
        (given, heads, entries, most), of = listed, self.sums.constants
        blocks = tiles * of["ADDED_PARTS"] * -(-self.channels // of["ADDED_CHANNELS"])
        self.sums.listed_add(blocks, given, lists, heads, entries, most, diff, self.batch, self.channels, *self.size)
        return self.ratio <= 0 or most < self.most_entries()
