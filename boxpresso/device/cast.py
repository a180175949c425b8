"""Arrays of one dtype as another, on the device that has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import AnyArray, Array
from .device import Device
from .kernel import Kernels
from .signature import BFLOAT16, HALVES, HEADERS

CAST = Kernels(HEADERS / "cast.cu")
SINGLE, DOUBLE = (np.dtype(t) for t in (np.float32, np.float64))


def cast_to(array: np.ndarray, dtype: Any) -> np.ndarray:
    """An array of the CPU in another dtype, to and from bfloat16 included, rounded to nearest, halves to even.

    Examples
    --------
    >>> cast_to(cast_to(np.array([1.0, 1.001, -np.inf], np.float32), BFLOAT16), np.float64).tolist()
    [1.0, 1.0, -inf]
    """
    if array.dtype == dtype:
        return array
    if array.dtype == BFLOAT16:
        array = (np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if dtype != BFLOAT16:
        return array.astype(dtype)
    with np.errstate(over="ignore"):
        whole = np.ascontiguousarray(array, np.float32)
    bits = whole.view(np.uint32)
    rounded = np.where(np.isnan(whole), bits >> 16 | 0x40, (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return rounded.astype(np.uint16).view(BFLOAT16)


def convert(device: Device, source: AnyArray, target: AnyArray) -> None:
    """target[...] = source, of as many elements. Of a GPU's floats nothing goes through the host."""
    kernels = CAST.on(device)
    one, other = source.dtype, target.dtype
    if not isinstance(source, Array) or not isinstance(target, Array):
        target[...] = cast_to(np.asarray(source), other).reshape(target.shape)
    elif one == other:
        device_copy(target, source)
    elif one in HALVES and other == SINGLE:
        kernels.from_store(source.size, source, target)
    elif one == SINGLE and other in HALVES:
        kernels.to_store(source.size, source, target)
    elif (one, other) == (SINGLE, DOUBLE):
        kernels.widen(source.size, source, target)
    elif (one, other) == (DOUBLE, SINGLE):
        kernels.narrow(source.size, source, target)
    elif {one, other} <= {*HALVES, DOUBLE}:
        between: Any = device.empty(source.shape, SINGLE)
        convert(device, source, between)
        convert(device, between, target)
    else:
        target[...] = cast_to(np.asarray(source), other).reshape(target.shape)


def device_copy(target: Array, source: Array) -> None:
    """target[...] = source, of one dtype."""
    target.device.copy(source.address(False), target.address(True), source.nbytes)
