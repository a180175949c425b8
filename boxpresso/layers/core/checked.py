"""What kernels of a layer look for in its bottoms on a GPU, so that the host need not wait for them to look itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from ...device import Check, GpuDevice
from ...device.records import Numbers
from .layer import Layer

Own = TypeVar("Own", bound=Layer)


def checked_by(layer: Own, fail: Callable[[Own, Numbers], None]) -> Check[Any]:
    """The layer's Check, made where there is none yet: `fail` raises what its kernels have found when the host next waits.

    A function, not a method of the layer: `fail` is held as long as the layer.
    """
    if layer.kernel_check is None:
        layer.kernel_check = Check(cast(GpuDevice, layer.device), layer, fail)
    return layer.kernel_check
