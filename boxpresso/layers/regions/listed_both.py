"""ListedBoth: gradients of maps and of what places the samples, from one walk over lists by pixel (both_lists.h)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...device import AnyArray, Kernels
from . import listed
from .region_base import RegionLayer


@dataclass(frozen=True)
class Lists:
    """Room for the lists of all tiles.

    packed_diff: gradients of bins with the channels last; heads: where the entries of each pixel begin; totals: how many each
    tile has; entries: all of them, `most`; whole: whether that is as many as there can be; products: of each with its pixel,
    in groups of channels, or None.
    """

    packed_diff: AnyArray
    heads: AnyArray
    totals: AnyArray
    entries: AnyArray
    products: AnyArray | None
    most: int
    whole: bool


class ListedBoth(RegionLayer):
    """A layer whose samples are listed by pixel, for a GPU: kernels of its own count and put the entries."""

    listed: Kernels  # of subclasses: what counts and puts the entries
    both = Kernels("listed_both.cu")
    adds = Kernels("listed_add.cu")
    most, whole = 0, False  # of Lists, since reshape
    list_share = 2.0  # bytes of all lists for each of the gradients of maps and top, at most

    def most_entries(self) -> int | None:
        """How many entries there are at most; None where that depends on the regions."""
        raise NotImplementedError

    def ask_lists(self, products: bool) -> None:
        """In reshape: for `lists_room`; products: whether more than the maps may have a gradient."""
        of = self.both.constants
        slabs, side = -(-self.channels // of["SLAB"]), of["TILE_SIDE"]
        padded, tiles = slabs * of["SLAB"], self.tile_count
        self.ask_tiles()
        bins, known = self.regions * math.prod(self.pooled), self.most_entries()
        numbers = (tiles * side**2 + bins) * padded  # of both gradients; an entry takes two
        most = min(int(numbers * self.list_share / 2), listed.MOST_ENTRIES)
        if known is not None:
            most = min(most, known)
        if bins * padded >= listed.MOST_PLACED:
            most = 0
        groups = -(-self.channels // of["BOTH_CHANNELS"])
        for name, shape in (("packed_diff", (bins, padded)), ("entries", (most, 2)), ("products", (groups, most))):
            if name != "products" or products:
                self.scratch(name, shape, backward=True)
        self.scratch("heads", (tiles, of["LIST_HEAD"]), np.int32, backward=True)
        self.scratch("totals", (tiles,), np.int32, backward=True)
        self.most, self.whole = most, known is not None and most >= known

    def lists_room(self, products: bool) -> Lists:
        """Room for lists, and for `products` where the gradient of more than the maps is asked for."""
        room = self.room
        return Lists(
            room("packed_diff"), room("heads"), room("totals"), room("entries"), room("products") if products else None,
            self.most, self.whole,
        )  # fmt: skip

    def walk_lists(
        self,
        tiles: int,
        regions: AnyArray,
        lists: Lists,
        features: AnyArray | None,
        diff: AnyArray | None,
    ) -> None:
        """The gradient of the maps, `diff`, and the products where there is room for them; regions: the lists of tiles.h."""
        of, sums = self.both.constants, self.adds.constants
        if lists.products is not None:
            groups = -(-self.channels // of["BOTH_CHANNELS"])
            self.both.listed_both(
                tiles * of["BOTH_PARTS"] * groups, lists.packed_diff, regions, lists.heads, lists.entries, None, features,
                diff, lists.products,
                self.both.struct(
                    "BothGeometry", channels=self.channels, height=self.size[0], width=self.size[1], most=lists.most
                ),
            )  # fmt: skip
        elif diff is not None:
            blocks = tiles * sums["ADDED_PARTS"] * -(-self.channels // sums["ADDED_CHANNELS"])
            self.adds.listed_add(
                blocks,
                lists.packed_diff,
                regions,
                lists.heads,
                lists.entries,
                0,
                diff,
                self.batch,
                self.channels,
                *self.size,
            )

    def prepare_blocks(self, tiles: int) -> int:
        """The blocks of a kernel that lists so many tiles and packs the gradients of all regions."""
        return tiles + self.regions * -(-self.channels // self.listed.constants["PACKED_CHANNELS"])
