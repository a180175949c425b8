"""Records of page-locked memory that kernels write what they found into, and the list of those who read them (check.py)."""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
import weakref
from typing import Any, Protocol

import numpy as np

from . import context

NUMBERS = 16  # doubles of a record: its mark, and what was found
PAGE = 2**16  # bytes of page-locked memory that are taken at once
FLAGS = 3  # CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Slot:
    """The memory of one record: as the host sees it, and int(), its address on the GPU. It goes back when it is dropped."""

    def __init__(self, numbers: Numbers, address: int, free: list[tuple[Numbers, int]]) -> None:
        self.numbers, self.address = numbers, address
        weakref.finalize(self, free.append, (numbers, address)).atexit = False

    def __int__(self) -> int:
        return self.address


class Slots:
    """The records of a GPU, in pages that last as long as the process."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.free: list[tuple[Numbers, int]] = []
        self.lock = threading.Lock()
        # So that a late write of one who had a slot before is not taken for its new owner's.
        self.marks = itertools.count(1)

    def take(self) -> tuple[Slot, int]:
        """A slot, and what its owner's kernels write into the first number."""
        with self.lock, context.pushed(context.primary_context(self.index)):
            if not self.free:
                host, device = ctypes.c_void_p(), ctypes.c_void_p()
                context.call("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(PAGE), ctypes.c_uint(FLAGS))
                context.call("cuMemHostGetDevicePointer_v2", ctypes.byref(device), host, ctypes.c_uint(0))
                page = np.ctypeslib.as_array((ctypes.c_double * (PAGE // 8)).from_address(host.value or 0))
                page[:] = 0
                parts = page.reshape(-1, NUMBERS)
                self.free += [(part, (device.value or 0) + i * part.nbytes) for i, part in enumerate(parts)]
            numbers, address = self.free.pop()
            numbers[:] = 0
            return Slot(numbers, address, self.free), next(self.marks) % 2**31


@functools.cache
def slots_of(index: int) -> Slots:
    """The records of a GPU."""
    return Slots(index)


class Failing(Protocol):
    """One of those who read a record."""

    mark: int

    def taken(self) -> Numbers | None:
        """What was found since the last time, if anything was. The stream is not at work."""

    def tell(self, numbers: Numbers) -> None:
        """Raises its error, if its owner is there."""

    def __hash__(self) -> int: ...


class Checks(weakref.WeakSet[Failing]):
    """The checks that kernels of a stream make, on the GPU of that number."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def take(self) -> tuple[Slot, int]:
        """See Slots."""
        return slots_of(self.index).take()

    def raise_failed(self) -> None:
        """Raises what kernels have found wrong with their input, of several the oldest check's: what lies behind a layer that
        was given wrong numbers is wrong too. The stream has been waited for."""
        if not len(self):
            return
        failed = [(check.mark, check, numbers) for check in tuple(self) if (numbers := check.taken()) is not None]
        for _, check, numbers in sorted(failed, key=lambda one: one[0]):
            check.tell(numbers)
