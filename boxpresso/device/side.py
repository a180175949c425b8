"""A second stream of a GPU, for what runs beside a net's work: sums over ranks, and copies from and to page-locked memory."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import context
from .array import Array
from .context import driver
from .cuda import Cuda

NOT_READY = 600  # CUDA_ERROR_NOT_READY


class Side:
    """A stream beside the one of `main`, by default a new one. Work goes there behind `branch`, and what `main` is given behind
    `join` runs after it."""

    def __init__(self, main: Cuda, gpu: Cuda | None = None) -> None:
        self.main, self.gpu = main, gpu or main.with_stream()

    def branch(self, arrays: Iterable[Array]) -> None:
        """What this stream is given from now on runs after what `main` was given so far, and the arrays are on the GPU then."""
        for array in arrays:
            array.address(False)
        self.gpu.after(self.main)

    def join(self) -> None:
        """What `main` is given from now on runs after what this stream was given so far."""
        self.main.after(self.gpu)

    def room(self, count: int, dtype: Any) -> np.ndarray[Any, Any]:
        """Page-locked memory for `count` elements, until the array is dropped, which may not be while a copy is under way."""
        with self.gpu:
            room: np.ndarray[Any, Any] = self.gpu.pinned.allocate((count,), np.dtype(dtype))
            return room

    def fetch(self, array: Array, part: np.ndarray[Any, Any]) -> None:
        """Copies an array of the GPU to page-locked memory, behind the caller's back."""
        with self.gpu, self.gpu.quiet():
            driver().memcpy_dtoh_async(part, array.address(False), self.gpu.stream)

    def store(self, part: np.ndarray[Any, Any], array: Array) -> None:
        """Copies page-locked memory, which may not change meanwhile, to an array of the GPU, behind the caller's back."""
        with self.gpu, self.gpu.quiet():
            driver().memcpy_htod_async(array.address(True), part, self.gpu.stream)


class Mark:
    """A place in what a stream is given, which is asked for without waiting. It ends with the stream."""

    def __init__(self, device: Cuda) -> None:
        self.device, self.event = device, ctypes.c_void_p()
        with device:
            context.call("cuEventCreate", ctypes.byref(self.event), 2)  # CU_EVENT_DISABLE_TIMING
        device.ends.append(functools.partial(context.interface().cuEventDestroy_v2, self.event))

    def put(self) -> None:
        """Behind what the stream was given so far."""
        with self.device, self.device.quiet():
            context.call("cuEventRecord", self.event, ctypes.c_void_p(self.device.stream.handle))

    def passed(self) -> bool:
        """Whether the stream is through with what it was given before `put`. Raises DeviceError where that has failed."""
        with self.device:
            status: int = context.interface().cuEventQuery(self.event)
        if status not in (0, NOT_READY):
            raise context.failure("cuEventQuery", status)
        return status == 0
