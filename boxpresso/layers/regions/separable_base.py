"""Separable: averages whose weights are a product of one of the row and one of the column, from a sampler (separable.h)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...device import AnyArray, Kernels
from . import listed
from .listed import Listed

LINES = {"cpu": 14, "cuda": 56}  # bins of channels that a block takes, about: that its planes stay in a core's cache
# Slabs pay where each region has fewer pixels of the maps than this to pay for. On a GPU that is counted: a region of 50 x 50
# pixels at two samples an axis reads some 4 KB of a channel less from slabs than from planes, and a pixel packed is 8 bytes.
MANY = {"cpu": 4096, "cuda": 400}


class Way(NamedTuple):
    """How maps are walked, and why so."""

    name: str
    reason: str


PLANES = Way("planes", "few regions share a map: nothing is copied, and only the rows that they touch are read")
SLABS = Way(
    "slabs", "many regions share a map: a slab of it stays in the cache of a core, where all its regions are taken"
)
SINGLE = Way(
    "single", "as planes, and each bin has one sample: pixels between samples, which may lie far apart, are not read"
)
PACKED = Way(
    "packed", "many regions share a map: a GPU has all maps in slabs first, and a block for each region and some slabs"
)
TILES = Way(
    "tiles", "a GPU needs thousands of blocks that share nothing: each owns a tile, and lists say what its pixels get"
)


class Separable(Listed):
    """A layer whose kernel file is a sampler: it fills lists of weights, which the same kernels walk for all such layers.

    A subclass has `entries`, `make_lists` and `regions_from`, and calls `shape_lists` when its shapes are known.
    """

    walks = Kernels("separable.cu")
    in_tiles = Kernels("separable_tiles.cu")
    listed = in_tiles
    both = Kernels("listed_both.cu")
    singles = Kernels("separable_single.cu")
    with_tables = True
    adaptive_share = 1.0  # one entry for a bin and a pixel

    @property
    def single(self) -> bool:
        """Whether planes are walked sample by sample, where a bin has one. On a GPU a layer says so itself: a thread takes a
        column of bins, and small pools have few."""
        return self.ratio == 1 and self.device.kind == "cpu"

    def entries(self, size: int, bins: int) -> int:
        """How many entries an axis of `size` pixels needs at most."""
        raise NotImplementedError

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        """Fills lists by bin; changes: with how their weights change (separable.h)."""
        raise NotImplementedError

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        """The regions' gradient from `count` parts of four sums: see corners_from() in separable_lists.h."""
        raise NotImplementedError

    def shape_lists(self) -> None:
        """Room and geometry for the lists of shapes that are new."""
        self.axis_rooms = [self.entries(size, bins) for size, bins in zip(self.size, self.pooled)]
        room_y, room_x = self.axis_rooms
        self.geometry = self.walks.struct("ListGeometry", **self.fields, room_y=room_y, room_x=room_x)
        k, entries, slab = self.regions, sum(self.axis_rooms), self.walks.constants["SLAB"]
        slabs = self.batch * self.channel_slabs
        self.scratch("head", (k, 5), np.int32)
        self.scratch("inverse", (k,))
        self.scratch("index", (k * (sum(self.pooled) + 2 + entries),), np.int32)
        self.scratch("weight", (k, entries))
        self.scratch("changes", (3, k, entries), backward=True)
        way, back = self.way(), self.way(True)
        if way is SLABS:
            self.ask_room()
        elif way is PACKED:  # all maps in slabs
            self.scratch("slabs", (slabs, self.size[0] * self.size[1], slab))
        if back is SLABS:  # a worker's bands of a slab, and its regions' gradients
            of, bins = self.walks.constants, self.pooled[0] * self.pooled[1]
            pixels = of["APART"] + (2 * of["BAND"] + 3) * self.size[1] + k * (bins + 4) + self.axis_rooms[0]
            self.scratch("bands", (min(self.device.workers, slabs), pixels, slab), backward=True)
        elif back is not SINGLE:
            self.scratch("pixel index", (k * (sum(self.size) + 2 + entries),), np.int32, backward=True)
            self.scratch("pixel weight", (k, entries), backward=True)
        if back is TILES:
            self.scratch("pixel changes", (3, k, entries), backward=True)
            self.scratch("left out", (k,), np.int32, backward=True)
            self.ask_table(self.ask_lists())
        planes = self.singles.constants["PLANES"]
        parts = -(-self.channels // planes) if back is SINGLE else self.channel_slabs
        self.scratch("parts", (parts, k, 4), backward=True)

    def lists(self, changes: bool = False) -> tuple[AnyArray, ...]:
        """Head, inverse, index and weight of the lists by bin; changes: how weights change in their place (separable.h)."""
        names = "head", "inverse", "index", "changes" if changes else "weight"
        return tuple(self.room(name) for name in names)

    def many(self, backward: bool) -> bool:
        """Whether so many regions share the features that bringing them into slabs pays."""
        return MANY[self.device.kind] * self.regions > self.batch * self.size[0] * self.size[1]

    def way(self, backward: bool = False) -> Way:
        """How the maps are read or, `backward`, their gradient is made."""
        if backward and self.tiled:
            return TILES
        many = self.many(backward)
        if not many and self.single:
            return SINGLE
        if backward and self.pooled[0] > self.walks.constants["STRIP"]:
            return SLABS  # a column of bins outgrows a block's strip
        if not many:
            return PLANES
        return PACKED if self.packed and not backward else SLABS

    def ask_room(self) -> None:
        """In reshape: for slabs, each with the bins of a region: on the CPU one a worker, which stays in its core's cache."""
        slab = self.walks.constants["SLAB"]
        slabs = self.batch * self.channel_slabs
        at_once = min(self.device.workers, slabs) if self.device.kind == "cpu" else slabs
        pixels = self.size[0] * self.size[1] + self.pooled[0] * self.pooled[1]
        self.scratch("room", (at_once, pixels, slab), backward=self.way() is not SLABS)

    def turn_lists(self, changes: bool = False, inverse: AnyArray | None = None) -> tuple[AnyArray, AnyArray]:
        """index and weight of the lists by pixel; inverse: what the weights of x are to be multiplied by, or None."""
        index, weight = self.room("pixel index"), self.room("pixel changes" if changes else "pixel weight")
        head, _, *by_bin = self.lists(changes)
        self.walks.separable_by_pixel(self.regions, head, inverse, *by_bin, index, weight, changes, self.geometry)
        return index, weight

    def gather(self, features: AnyArray, rows: AnyArray, top: AnyArray) -> None:
        """The averages of all bins into `top` (K, C, pooled_h, pooled_w); rows: in the computed type."""
        if self.batch == 0:
            top.fill(0)
            return
        lists, way = self.lists(), self.way()
        self.make_lists(rows, lists, False)
        if way is PACKED:
            slabs = self.room("slabs")
            self.pack_slabs(features, slabs)
            groups = -(-self.channel_slabs // self.in_tiles.constants["TOGETHER"])
            self.in_tiles.separable_forward_packed(groups * self.regions, slabs, *lists, top, self.geometry)
        elif way is SLABS:
            room, order = self.room("room"), self.by_place(rows)
            self.walks.separable_forward_slabs(room.shape[0], features, order, *lists, room, top, self.geometry)
        elif way is SINGLE:
            head, _, *by_bin = lists
            groups = -(-self.channels // self.singles.constants["PLANES"])
            self.singles.separable_forward_single(groups * self.regions, features, head, *by_bin, top, self.geometry)
        else:
            group = max(LINES[self.device.kind] // self.pooled[0], 1)
            blocks = -(-self.channels // group) * self.regions
            self.walks.separable_forward(blocks, features, *lists, top, group, self.geometry)

    def gradients(
        self,
        top_diff: AnyArray,
        features: AnyArray,
        rows: AnyArray,
        diff: AnyArray | None,
        region_diff: AnyArray | None,
    ) -> None:
        """The gradients that are not None, of the maps and of the regions, from that of the averages."""
        way = self.way(True)
        if self.batch == 0:
            if region_diff is not None:
                region_diff.fill(0)
        elif way is TILES:
            self.gradients_in_tiles(top_diff, features, rows, diff, region_diff)
        elif way is SLABS:
            self.both_gradients(top_diff, features, rows, diff, region_diff)
        else:
            if diff is not None:
                self.scatter(way, top_diff, rows, diff)
            if region_diff is not None:
                self.move_regions(way, top_diff, features, rows, region_diff)

    def both_gradients(
        self,
        top_diff: AnyArray,
        features: AnyArray,
        rows: AnyArray,
        diff: AnyArray | None,
        region_diff: AnyArray | None,
    ) -> None:
        """Those of `gradients`, in one walk."""
        room, moves = self.room("bands"), region_diff is not None
        lists, parts = self.lists(moves), self.room("parts") if moves else None
        self.make_lists(rows, lists, moves)
        self.walks.separable_both_slabs(
            room.shape[0], top_diff, features, self.by_place(rows), *lists, room, diff, parts, self.geometry
        )
        if parts is not None and region_diff is not None:
            self.regions_from(parts, rows, region_diff, self.channel_slabs)

    def scatter(self, way: Way, top_diff: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The gradient of the maps, from that of the averages."""
        lists = self.lists()
        self.make_lists(rows, lists, False)
        if way is SINGLE:
            head, _, *by_bin = lists
            with self.rounded(diff) as sums:
                self.singles.separable_backward_single(
                    self.batch * self.channels, top_diff, head, *by_bin, sums, self.geometry
                )
            return
        by_pixel, (head, inverse, *_) = self.turn_lists(), lists
        with self.rounded(diff) as sums:
            self.walks.separable_backward(
                self.batch * self.channels, top_diff, head, inverse, *by_pixel, sums, self.geometry
            )

    def ask_table(self, entries: int) -> None:
        """In reshape: for the products of entries in tables, and for where each entry's is to stand."""
        of = self.both.constants
        bound, numbers = self.regions * math.prod(self.axis_rooms), self.regions * math.prod(self.pooled)
        numbers = (numbers + self.batch * self.size[0] * self.size[1]) * self.channels
        most = min(bound, max(numbers // 4, 1))
        self.scratch("products", (-(-self.channels // of["BOTH_CHANNELS"]), most), backward=True)
        self.scratch("slots", (entries,), np.int32, backward=True)

    def gradients_in_tiles(
        self,
        top_diff: AnyArray,
        features: AnyArray,
        rows: AnyArray,
        diff: AnyArray | None,
        region_diff: AnyArray | None,
    ) -> None:
        """Those of `gradients`, from lists of what each pixel gets; slab by slab where these have no room."""
        moves, g = region_diff is not None, self.geometry
        numbers = self.regions * self.pooled[0] * self.pooled[1] * self.channel_slabs * self.both.constants["SLAB"]
        self.need(
            numbers < listed.MOST_PLACED,
            f"the gradient of {self.regions} regions of {self.pooled} bins in {self.channels} channels has {numbers} numbers, "
            f"{listed.MOST_PLACED} at most may be listed: give fewer regions at once",
        )
        if not moves and (diff is None or diff.size == 0):
            return
        by_bin = self.lists(moves)
        head, inverse, *_ = by_bin
        self.make_lists(rows, by_bin, moves)
        by_pixel = self.turn_lists(moves, inverse)
        tiles, lists = self.tiles(head, self.by_place(rows))
        packed_diff, heads, entries, most = room_of_lists = self.lists_room()
        slots = None
        if moves:
            products, slots = self.room("products"), self.room("slots")
            room = products.shape[1]
            tables = self.device.part(heads, tiles * self.sums.constants["LIST_HEAD"], (self.regions,))
            self.in_tiles.separable_tables(1, head, *by_pixel, tables, room, g)
            self.in_tiles.separable_count(tiles, lists, head, *by_pixel, heads, g)
            most = entries.shape[0]
        self.in_tiles.separable_prepare(
            self.prepare_blocks(tiles), top_diff, lists, head, *by_pixel, packed_diff, heads, entries, slots, most, g
        )
        if moves:
            of = self.both.constants
            groups = products.shape[0]
            self.both.listed_both(
                tiles * of["BOTH_PARTS"] * groups, packed_diff, lists, heads, entries, slots, features, diff, products,
                self.both.struct(
                    "BothGeometry", channels=self.channels, height=self.size[0], width=self.size[1], most=room
                ),
            )  # fmt: skip
        if diff is not None and (moves or self.add_listed(tiles, lists, room_of_lists, diff)):
            self.in_tiles.separable_unlisted(
                tiles * self.channel_slabs, packed_diff, lists, heads, head, *by_pixel, diff, g
            )
        if region_diff is not None:
            left_out, parts = self.room("left out"), self.room("parts")
            self.in_tiles.separable_moves_listed(
                self.regions, lists, head, *by_pixel, heads, products, room, groups, left_out, parts, g
            )
            self.walks.separable_moves(
                self.channel_slabs * self.regions, features, top_diff, *by_bin, left_out, parts, g
            )
            self.regions_from(parts, rows, region_diff, self.channel_slabs)

    def move_regions(self, way: Way, top_diff: AnyArray, features: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The gradient of the regions, from that of the averages."""
        count = -(-self.channels // self.singles.constants["PLANES"]) if way is SINGLE else self.channel_slabs
        lists, parts = self.lists(True), self.room("parts")
        self.make_lists(rows, lists, True)
        if way is SINGLE:
            head, _, *by_bin = lists
            self.singles.separable_moves_single(
                count * self.regions, features, top_diff, head, *by_bin, parts, self.geometry
            )
        else:
            self.walks.separable_moves(count * self.regions, features, top_diff, *lists, None, parts, self.geometry)
        self.regions_from(parts, rows, diff, count)
