"""Memory of large results on the CPU, used again once nobody holds them.

Memory that is new to a process costs a page fault for each page: as much time as to permute an image's axes into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device.host import zeros

LARGE = 2**20  # bytes: the C library reuses smaller ones itself
MOST = 2**28  # bytes at most that are held for later
free: dict[int, list[np.ndarray]] = {}  # by size


class Loan:
    """Memory that goes back to `free` with the last array over it; numpy reads the attribute of that long name."""

    def __init__(self, size: int) -> None:
        try:
            self.raw = free[size].pop()
        except (KeyError, IndexError):
            self.raw = zeros(size)
        self.__array_interface__ = self.raw.__array_interface__

    def __del__(self, free: dict[int, list[np.ndarray]] = free) -> None:  # also when the interpreter ends
        if sum(size * len(blocks) for size, blocks in free.copy().items()) + self.raw.size <= MOST:
            free.setdefault(self.raw.size, []).append(self.raw)


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """A new array whose elements may be anything."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    step = 1 << (size.bit_length() - 4)  # sizes that differ by an eighth share memory
    array: np.ndarray = np.asarray(Loan(-(-size // step) * step))[:size].view(dtype).reshape(shape)
    return array
