"""The best items of many groups, in order, by kernels: what layers share that choose boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...device import AnyArray, Device, Kernels
from ..core.scratch import Scratch

MOST_ITEMS = 2**30  # places of items, that kernels count
MOST_ROWS = 2**24  # a number of rows is told as a Real, which is exact up to here
ALL = 2**31 - 1  # no limit

kernels = Kernels(Path(__file__).with_name("order.cu"))
by_thread = Kernels(Path(__file__).with_name("order.cpp"))
IN_TILES = {"cpu": False, "cuda": True}  # whether many blocks sort a group, tile by tile, or one thread all of it


class Order:
    """The best of each group, as kernels have listed them, group after group.

    Attributes
    ----------
    in_tiles : whether tiles of a group are sorted by blocks of their own (order.cu), or all of it by a thread (order.cpp).
    values : (groups, room), to be filled before `sort`: `items` numbers of each group, of which NaN is no item.
    room : how many numbers a group has room for.
    start : (groups + 1,), the index at which each group's list starts, with the end at the end.
    best : (groups * most,), the values. What lies behind the end is undefined.
    order : the same, the index of each item in its group.
    most : the length of a list at most.
    sums : (groups,), how many items each group has, listed or not; None where nobody asked.
    """

    def __init__(
        self, scratch: Scratch, groups: int, items: int, limit: int, dtype: Any, *, counted: bool = False
    ) -> None:
        self.groups, self.items = groups, items
        self.most = min(limit, items) if limit >= 0 else items
        self.in_tiles = IN_TILES[scratch.device.kind]
        self.tiles = tiles_of(items) if self.in_tiles else 1
        self.room = self.tiles * kernels.constants["TILE"] if self.in_tiles else items
        self.values, self.at = scratch("values", (groups, self.room), dtype), scratch("at", (groups, self.room))
        self.sizes, self.start = scratch("sizes", (groups, self.tiles)), scratch("start", (groups + 1,))
        if not self.in_tiles:
            self.keys = scratch(
                "keys", (scratch.device.workers, items, 2), dtype
            )  # in a chain any worker may have a group
        self.best, self.order = scratch("best", (groups * self.most,), dtype), scratch("order", (groups * self.most,))
        many = counted or self.tiles > kernels.constants["SHARES"]  # for one thread to add up
        self.sums = (scratch("sums", (groups,)) if self.in_tiles else self.sizes) if many else None

    def sort(self, device: Device, listed: bool = False) -> None:
        """Lists the best of `values`, of equal ones the lower index first. They are sorted tile by tile then.

        Parameters
        ----------
        listed
            Whether `at` and `sizes` say which of a group's values are items, in any order; others may be undefined then. Not
            of tiles.
        """
        bound, tiles = kernels.on(device), self.groups * self.tiles
        if not self.in_tiles:
            thread = by_thread.on(device)
            if not listed:
                thread.order_places(self.groups, self.values, self.at, self.sizes, self.items)
            bound.order_starts(1, self.sizes, self.start, self.groups, 1, self.most)
            thread.order_lists(
                self.groups, self.values, self.at, self.sizes, self.start, self.best, self.order, self.keys, self.items,
                self.most,
            )  # fmt: skip
            return
        bound.order_tiles(tiles, self.values, self.at, self.sizes, self.items, self.tiles)
        if self.sums is not None:
            bound.order_sums(self.groups, self.sizes, self.sums, self.tiles)
            bound.order_starts(1, self.sums, self.start, self.groups, 1, self.most)
        else:
            bound.order_starts(1, self.sizes, self.start, self.groups, self.tiles, self.most)
        bound.order_merge(
            self.groups * self.room, self.values, self.at, self.sizes, self.start, self.best, self.order, self.tiles,
            self.most,
        )  # fmt: skip


def starts_of(device: Device, sizes: AnyArray, start: AnyArray, limit: int = ALL) -> None:
    """start (groups + 1,): the sums of the sizes (groups,) before each group, and of all; a size counts as `limit` at most."""
    kernels.on(device).order_starts(1, sizes, start, sizes.shape[0], 1, limit)


def tiles_of(items: int) -> int:
    """How many tiles the items of a group make."""
    return -(-items // kernels.constants["TILE"])


def sortable(groups: int, items: int) -> bool:
    """Whether a kernel's `int` can count the items of so many groups."""
    return groups * tiles_of(items) * kernels.constants["TILE"] <= MOST_ITEMS
