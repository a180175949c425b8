"""The sums of arrays, such as a net's losses: of those on a GPU the host gets all in one copy, after one wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .array import AnyArray, Array
from .device import Device
from .kernel import Kernels
from .signature import HEADERS

KERNELS = Kernels(HEADERS / "totals.cu")


def totals(device: Device, arrays: Sequence[AnyArray]) -> list[float]:
    """The sum of each array of a device, in double.

    Examples
    --------
    >>> from boxpresso.device import open_device
    >>> totals(open_device("cpu"), [np.ones(3, np.float32), np.float32([[1, 2], [3, 4]])])
    [3.0, 10.0]
    """
    there = [a for a in arrays if isinstance(a, Array) and not a.buffer.host_fresh and a.size]
    if len(there) < 2:
        return [float(np.sum(np.asarray(a), dtype=np.float64)) for a in arrays]
    room = device.memo.get("totals")
    if room is None or room.size < len(there):
        room = device.memo["totals"] = device.empty((max(len(there), 16),), np.float64)
    for at, array in enumerate(there):
        KERNELS.on(device).add_up(1, array, room, array.size, at)
    sums = iter(room.elements(0, len(there)).tolist())
    return [
        next(sums) if any(a is b for b in there) else float(np.sum(np.asarray(a), dtype=np.float64)) for a in arrays
    ]
