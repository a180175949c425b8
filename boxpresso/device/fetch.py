"""Several arrays of a GPU brought to the host after one wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from .array import AnyArray, Array
from .context import driver
from .copies import CHUNK
from .cuda import Cuda
from .device import Device


def fetch(device: Device, arrays: Sequence[AnyArray]) -> None:
    """The host's copies of arrays of a GPU are fresh then. Of one alone, of what is large, and of what the host has already
    nothing is done: reading them copies as always."""
    buffers = {
        id(a.buffer): a.buffer
        for a in arrays
        if isinstance(a, Array) and a.buffer.device is device and a.buffer.device_fresh and not a.buffer.host_fresh
    }
    waiting = [buffer for buffer in buffers.values() if buffer.count]
    sizes = [-(-buffer.count * buffer.dtype.itemsize // 64) * 64 for buffer in waiting]
    if len(waiting) < 2 or sum(sizes) > CHUNK:
        return
    gpu = cast(Cuda, device)
    gpu.needs_host("a copy from the GPU")
    with gpu, gpu.quiet():
        room, parts, start = gpu.pinned.allocate((sum(sizes),), np.uint8), [], 0
        for buffer, size in zip(waiting, sizes):
            parts.append(room[start : start + buffer.count * buffer.dtype.itemsize].view(buffer.dtype))
            driver().memcpy_dtoh_async(parts[-1], int(buffer.memory), gpu.stream)
            start += size
        gpu.stream.synchronize()
    gpu.checks.raise_failed()
    for buffer, part in zip(waiting, parts):
        buffer.on_host(False, keep=False)[...] = part
