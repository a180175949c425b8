"""Checks that kernels make of their input. What they find wrong is known when the host next waits: nothing is copied.

A kernel writes what it found into page-locked memory, which the host reads as its own. As long as nothing is wrong nobody
writes there.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from .array import Array, Buffer
from .device import GpuDevice
from .records import NUMBERS, Numbers

Owner = TypeVar("Owner")


class Check(Generic[Owner]):
    """What a kernel that checks its input is handed, and who says what it found.

    Parameters
    ----------
    device
        The GPU, whose `checks` are asked whenever the host has waited for its stream.
    owner
        The layer whose kernel it is. The check is its attribute, and is over when it is dropped.
    fail
        Raises the error: a function of the owner, and of the numbers that the kernel has written behind the mark.

    Attributes
    ----------
    record
        For the kernel: 16 doubles. Where something is wrong and the first is not `mark` it writes what it found behind the
        first, and then `mark` into the first.
    mark
        A whole number.
    """

    def __init__(self, device: GpuDevice, owner: Owner, fail: Callable[[Owner, Numbers], None]) -> None:
        self.owner, self.fail = weakref.ref(owner), fail
        self.slot, self.mark = device.checks.take()
        self.record = Array(Buffer.over(device, np.float64, NUMBERS, memory=self.slot), (NUMBERS,))
        device.checks.add(self)

    def taken(self) -> Numbers | None:
        """What was found since the last time, if anything was. The stream is not at work."""
        numbers = self.slot.numbers
        if numbers[0] != self.mark:
            return None
        refusal: Numbers = numbers[1:].copy()
        numbers[0] = 0
        return refusal

    def tell(self, numbers: Numbers) -> None:
        """Raises the error, if the owner is there."""
        owner = self.owner()
        if owner is not None:
            self.fail(owner, numbers)
