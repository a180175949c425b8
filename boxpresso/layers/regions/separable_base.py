"""Separable: averages whose weights are a product of one of the row and one of the column, from a sampler (separable.h)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...device import AnyArray, Blob, Kernels
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
    adaptive_share = 1.0  # one entry for a bin and a pixel

    def entries(self, size: int, bins: int) -> int:
        """How many entries an axis of `size` pixels needs at most."""
        raise NotImplementedError

    def make_lists(self, rows: AnyArray, changes: AnyArray | None = None) -> None:
        """Fills `lists` and, where it is an array, `changes`: how weights change (separable.h)."""
        raise NotImplementedError

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        """The regions' gradient from `count` parts of four sums: see corners_from() in separable_lists.h."""
        raise NotImplementedError

    def shape_lists(self) -> None:
        """Room and geometry for the lists of shapes that are new."""
        self.rooms = [self.entries(size, bins) for size, bins in zip(self.size, self.pooled)]
        self.geometry = self.walks.struct("ListGeometry", **self.fields, room_y=self.rooms[0], room_x=self.rooms[1])

    @property
    def lists(self) -> tuple[AnyArray, ...]:
        """head, inverse, index and weight of the lists by bin: see separable.h."""
        k, entries = self.regions, sum(self.rooms)
        return (
            self.scratch("head", (k, 5), np.int32),
            self.scratch("inverse", (k,)),
            self.scratch("index", (k * (sum(self.pooled) + 2 + entries),), np.int32),
            self.scratch("weight", (k, entries)),
        )

    @property
    def in_slabs(self) -> bool:
        """Whether so many regions share the features that bringing them into slabs pays."""
        return MANY[self.device.kind] * self.regions > self.batch * self.size[0] * self.size[1]

    def way(self, backward: bool = False) -> Way:
        """How the maps are read or, `backward`, their gradient is made."""
        if backward and self.tiled:
            return TILES
        if backward and self.pooled[0] > self.walks.constants["STRIP"]:
            return SLABS  # a column of bins outgrows a block's strip
        if not self.in_slabs:
            return PLANES
        return PACKED if self.packed and not backward else SLABS

    def room(self) -> AnyArray:
        """Room for slabs, each with the bins of a region: on the CPU one for each worker, which stays in its core's cache."""
        slab = self.walks.constants["SLAB"]
        slabs = self.batch * self.channel_slabs
        at_once = min(self.device.workers, slabs) if self.device.kind == "cpu" else slabs
        pixels = self.size[0] * self.size[1] + self.pooled[0] * self.pooled[1]
        return self.scratch("room", (at_once, pixels, slab))

    def packed_room(self) -> AnyArray:
        """Room for all maps in slabs."""
        area = self.size[0] * self.size[1]
        return self.scratch("slabs", (self.batch * self.channel_slabs, area, self.walks.constants["SLAB"]))

    def take_scratch(self, bottom: Sequence[Blob], backward: bool) -> None:
        self.lists  # noqa: B018  # asking is what counts it
        ways = [self.way(), *([self.way(True)] if backward else [])]
        if SLABS in ways:
            self.room()
        if PACKED in ways:
            self.packed_room()
        if backward:
            self.by_pixel()
        if TILES in ways:
            self.lists_room()

    def by_pixel(self) -> tuple[AnyArray, AnyArray]:
        """Room for index and weight of the lists by pixel."""
        entries = sum(self.rooms)
        index = self.scratch("pixel index", (self.regions * (sum(self.size) + 2 + entries),), np.int32)
        return index, self.scratch("pixel weight", (self.regions, entries))

    def turn_lists(self) -> tuple[AnyArray, AnyArray]:
        """index and weight of the lists by pixel."""
        index, weight = self.by_pixel()
        head, _, *by_bin = self.lists
        self.walks.separable_turn(self.regions, head, *by_bin, index, weight, self.geometry)
        return index, weight

    def gather(self, features: AnyArray, rows: AnyArray, top: AnyArray) -> None:
        """The averages of all bins into `top` (K, C, pooled_h, pooled_w); rows: in the computed type."""
        if self.batch == 0:
            top.fill(0)
            return
        self.make_lists(rows)
        way = self.way()
        if way is PACKED:
            slabs = self.packed_room()
            self.pack_slabs(features, slabs)
            groups = -(-self.channel_slabs // self.in_tiles.constants["TOGETHER"])
            self.in_tiles.separable_forward_packed(groups * self.regions, slabs, *self.lists, top, self.geometry)
        elif way is SLABS:
            room, order = self.room(), self.by_place(rows)
            self.walks.separable_forward_slabs(room.shape[0], features, order, *self.lists, room, top, self.geometry)
        else:
            group = max(LINES[self.device.kind] // self.pooled[0], 1)
            blocks = -(-self.channels // group) * self.regions
            self.walks.separable_forward(blocks, features, *self.lists, top, group, self.geometry)

    def scatter(self, top_diff: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The gradient of the maps, from that of the averages."""
        if self.batch == 0:
            return
        self.make_lists(rows)
        by_pixel, way = self.turn_lists(), self.way(True)
        if way is TILES:
            self.scatter_in_tiles(top_diff, rows, by_pixel, diff)
        elif way is SLABS:
            room, order = self.room(), self.by_place(rows)
            self.walks.separable_backward_slabs(
                room.shape[0], top_diff, order, *self.lists, *by_pixel, room, diff, self.geometry
            )
        else:
            head, inverse, *_ = self.lists
            with self.rounded(diff) as sums:
                self.walks.separable_backward(
                    self.batch * self.channels, top_diff, head, inverse, *by_pixel, sums, self.geometry
                )

    def scatter_in_tiles(
        self, top_diff: AnyArray, rows: AnyArray, by_pixel: tuple[AnyArray, AnyArray], diff: AnyArray
    ) -> None:
        """The gradient of the maps from lists of what each pixel gets; in passes where lists have no room."""
        if diff.size == 0:
            return
        head, inverse, *_ = self.lists
        tiles, lists = self.tiles(head, self.by_place(rows))
        given, heads, entries, most = listed = self.lists_room()
        self.in_tiles.separable_prepare(
            self.prepare_blocks(tiles),
            top_diff,
            lists,
            head,
            inverse,
            *by_pixel,
            given,
            heads,
            entries,
            most,
            self.geometry,
        )
        if self.add_listed(tiles, lists, listed, diff):
            self.in_tiles.separable_passes(
                tiles * self.channel_slabs, given, lists, heads, head, inverse, *by_pixel, diff, self.geometry
            )

    def move_regions(self, top_diff: AnyArray, features: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The gradient of the regions, from that of the averages."""
        if self.batch == 0:
            diff.fill(0)
            return
        count = self.channel_slabs
        changes = self.scratch("changes", (2, self.regions, sum(self.rooms)))
        parts = self.scratch("parts", (count, self.regions, 4))
        self.make_lists(rows, changes)
        if self.device.kind == "cpu" and self.in_slabs:
            room, order = self.room(), self.by_place(rows)
            self.walks.separable_moves_slabs(
                room.shape[0], features, top_diff, order, *self.lists, changes, room, parts, self.geometry
            )
        else:
            self.walks.separable_moves(
                count * self.regions, features, top_diff, *self.lists, changes, parts, self.geometry
            )
        self.regions_from(parts, rows, diff, count)
