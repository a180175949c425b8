"""The places where an array is set, found by kernels alone, for Filter and Mask; numbers that kernels tell the host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...device import AnyArray, Array, Blob, Device, Kernels

BY_KERNEL = {"cpu": False, "cuda": True}  # whether places are found without the host
MOST = 2**24  # a number of rows is told as a Real, which is exact up to here

kernels = Kernels(Path(__file__).with_name("places.cu"))


class Places:
    """Where the flags of a layer are set, on its device.

    Attributes
    ----------
    items : how many flags there are; 0 where the host has to look.
    rows : (items,), of each place its number among those that are set, or -1. Undefined before `find`.
    """

    rows: AnyArray

    def __init__(self, device: Device) -> None:
        self.device, self.items, self.count = device, 0, device.empty((1,), np.int32)

    def resize(self, items: int, lengths: Sequence[int]) -> None:
        """Takes how many flags there are, and how many numbers the rows have that are taken by them."""
        fits = 0 < items < MOST and min(lengths) > 0 and (items + 1) * max(lengths) < 2**31
        if not BY_KERNEL[self.device.kind] or not fits:
            items = 0
        elif items != self.items:
            self.places, self.rows = (self.device.empty((items,), np.int32) for _ in range(2))
        self.items = items

    def find(self, flags: AnyArray, least: float | None) -> None:
        """Launches what finds the flags of at least so much, or, where that is None, those that are not 0."""
        kernels.on(self.device).places_found(
            1, flags, self.places, self.rows, self.count, self.items, least or 0.0, int(least is None)
        )

    def take(self, source: AnyArray, top: Blob, length: int, next: int, apart: int, on_host: bool) -> None:
        """Launches what takes a row for each place; the top has room for one more, in which `number_at` puts their number."""
        kernels.on(self.device).places_rows(
            self.items * length, source, self.places, self.count, top.data, length, next, apart,
            self.items * length if on_host else -1,
        )  # fmt: skip


def number_at(array: AnyArray, at: int) -> int:
    """The number that a kernel has left at flat index `at`. On a GPU this waits, and copies the number alone."""
    return numbers_at(array, at, 1)[0]


def numbers_at(array: AnyArray, at: int, count: int) -> list[int]:
    """As many numbers from there on."""
    values = array.elements(at, count) if isinstance(array, Array) else array.reshape(-1)[at : at + count]
    return [int(value) for value in values]
