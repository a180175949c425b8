"""Listed: gradients of maps from lists of what each pixel of a tile gets, for a GPU (listed.h)."""

from __future__ import annotations

import math

import numpy as np

from ...device import AnyArray, Kernels
from .region_base import RegionLayer

MOST_ENTRIES = 2**27  # of all tiles' lists: of 8 bytes in float, a GiB
MOST_PLACED = 2**33  # numbers of packed gradients: an int says where four of them lie
FEW_ENTRIES = 2048  # of a tile, for which there is always room


class Listed(RegionLayer):
    """A layer whose bilinear samples are listed by pixel: kernels of its own write the lists, and pack gradients."""

    listed: Kernels  # of subclasses: what writes the lists
    sums = Kernels("listed_add.cu")
    # Whether the lists of a tile follow those of the tile before it; else each tile has room for as many as any other.
    together = False
    most_of_list = 0  # entries that a list has room for
    with_tables = False  # whether a number of each region, and of each tile, stands behind where lists begin
    # Bytes of the lists for each of the maps' gradient, where the host does not know how many samples there are.
    adaptive_share = 0.5

    def ask_lists(self) -> int:
        """In reshape: for `lists_room`; how many entries there is room for: of a tile, or `together` of all (see listed.h).

        With a fixed grid all tiles together have room for as many as there can be; a tile alone for four times what tiles have
        on average if no sample lies off the map and each has four pixels of its own. At most, lists have twice the bytes of the
        maps' gradient.
        """
        of = self.sums.constants
        slabs, side = -(-self.channels // of["SLAB"]), of["TILE_SIDE"]
        padded, tiles = slabs * of["SLAB"], self.tile_count
        bins, lists = self.regions * math.prod(self.pooled), 1 if self.together else max(tiles, 1)
        self.ask_tiles()
        most = padded * side**2 * tiles
        if self.ratio <= 0:
            most = int(most * self.adaptive_share / 2)
        most = min(most, MOST_ENTRIES) // lists
        if (bins + 1) * padded >= MOST_PLACED:
            most = 0
        if self.ratio > 0:
            most = min(most, self.most_entries())
            if not self.together:
                most = min(most, max(FEW_ENTRIES, 4 * -(-self.sample_pixels // lists)))
        most -= most % of["GROUP"]
        self.scratch("given", (bins + 1, padded), backward=True)
        behind = self.regions + tiles if self.with_tables else 0
        self.scratch("heads", (tiles * (of["LIST_HEAD"] + self.together) + behind,), np.int32, backward=True)
        self.scratch("entries", (lists * most, 2), backward=True)
        self.most_of_list = most
        return lists * most

    def lists_room(self) -> tuple[AnyArray, AnyArray, AnyArray, int]:
        """Room for gradients of bins with the channels last and a row of zeros, and for the lists of tiles: where those of each
        pixel begin, what they are, and how many entries there is room for."""
        return self.room("given"), self.room("heads"), self.room("entries"), self.most_of_list

    @property
    def sample_pixels(self) -> int:
        """How many pixels the samples of a fixed grid have, each for itself."""
        return 4 * self.regions * math.prod(self.pooled) * self.ratio**2

    def most_entries(self) -> int:
        """How many entries the samples of a fixed grid make at most, in one tile or in all: pixels have whole groups."""
        of = self.sums.constants
        pixels = of["TILE_PIXELS"]
        if self.together:
            pixels = self.batch * self.size[0] * self.size[1]
        return min(self.sample_pixels * of["GROUP"], self.sample_pixels + (of["GROUP"] - 1) * pixels)

    def prepare_blocks(self, tiles: int) -> int:
        """The blocks of a kernel that lists so many tiles and packs the gradients of all regions."""
        return tiles + self.packed_parts

    @property
    def packed_parts(self) -> int:
        """How many blocks pack the gradients of all regions."""
        return self.regions * -(-self.channels // self.listed.constants["PACKED_CHANNELS"])

    def add_listed(
        self, tiles: int, lists: AnyArray, listed: tuple[AnyArray, AnyArray, AnyArray, int], diff: AnyArray
    ) -> bool:
        """The sums of the tiles that have lists; whether there may be others."""
        (packed_diff, heads, entries, most), of = listed, self.sums.constants
        blocks = tiles * of["ADDED_PARTS"] * -(-self.channels // of["ADDED_CHANNELS"])
        self.sums.listed_add(blocks, packed_diff, lists, heads, entries, 1, diff, self.batch, self.channels, *self.size)
        return self.ratio <= 0 or most < self.most_entries()
