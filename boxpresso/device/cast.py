"""Arrays of one dtype as another, on the device that has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import AnyArray, Array
from .device import Device
from .kernel import Kernels
from .signature import HEADERS

CAST = Kernels(HEADERS / "cast.cu")
HALF, SINGLE, DOUBLE = (np.dtype(t) for t in (np.float16, np.float32, np.float64))


def convert(device: Device, source: AnyArray, target: AnyArray) -> None:
    """target[...] = source, of as many elements. Of a GPU's floats nothing goes through the host."""
    kernels = CAST.on(device)
    pair = source.dtype, target.dtype
    if not isinstance(source, Array) or not isinstance(target, Array):
        target[...] = np.asarray(source).reshape(target.shape)
    elif source.dtype == target.dtype:
        device_copy(target, source)
    elif pair == (HALF, SINGLE):
        kernels.from_store(source.size, source, target)
    elif pair == (SINGLE, HALF):
        kernels.to_store(source.size, source, target)
    elif pair == (SINGLE, DOUBLE):
        kernels.widen(source.size, source, target)
    elif pair == (DOUBLE, SINGLE):
        kernels.narrow(source.size, source, target)
    elif set(pair) == {HALF, DOUBLE}:
        between: Any = device.empty(source.shape, SINGLE)
        convert(device, source, between)
        convert(device, between, target)
    else:
        target[...] = np.asarray(source).reshape(target.shape)


def device_copy(target: Array, source: Array) -> None:
    """target[...] = source, of one dtype."""
    target.device.copy(source.address(False), target.address(True), source.nbytes)
