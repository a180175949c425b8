"""The memory that layers work in beside their blobs: asked for by name in reshape, made where it is first used, and its sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...device import AnyArray, Device


class Wanted(NamedTuple):
    """An array that was asked for; backward: whether a backward alone needs it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    backward: bool

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


class Scratch:
    """Arrays by name that kernels work in, kept from one forward to the next: a graph finds them where they were.

    Examples
    --------
    >>> from boxpresso.device import open_device
    >>> scratch = Scratch(open_device("cpu"))
    >>> scratch.ask("sums", (2, 3), np.float64)
    >>> scratch.nbytes(), scratch["sums"].shape, scratch["sums"] is scratch["sums"]
    (48, (2, 3), True)
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.wanted: dict[str, Wanted] = {}
        self.arrays: dict[str, AnyArray] = {}

    def ask(self, name: str, shape: Sequence[int], dtype: Any, backward: bool = False) -> None:
        """Asks for an array of that name in the place of the one that was asked for before."""
        self.wanted[name] = Wanted(tuple(shape), np.dtype(dtype), backward)

    def __getitem__(self, name: str) -> AnyArray:
        """The array of that name, a new one where another shape was asked for since. What it holds is undefined at first."""
        wanted, array = self.wanted[name], self.arrays.get(name)
        if array is None or array.shape != wanted.shape or array.dtype != wanted.dtype:
            array = self.arrays[name] = self.device.empty(wanted.shape, wanted.dtype)
        return array

    def __call__(self, name: str, shape: Sequence[int], dtype: Any = np.int32) -> AnyArray:
        """The array of that name, asked for and made at once."""
        self.ask(name, shape, dtype)
        return self[name]

    @contextmanager
    def lent(self, name: str, array: AnyArray) -> Iterator[None]:
        """Meanwhile `array`, of the shape and dtype that were asked for, stands in the place of that name's."""
        own = self.arrays.pop(name, None)
        self.arrays[name] = array
        try:
            yield
        finally:
            del self.arrays[name]
            if own is not None:
                self.arrays[name] = own

    def nbytes(self, backward: bool = False) -> int:
        """Of all arrays that were asked for; backward: with those that a backward alone needs."""
        return sum(wanted.nbytes for wanted in self.wanted.values() if backward or not wanted.backward)
