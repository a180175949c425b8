"""What makes a kernel text run: arrays and blobs, kernels and their cache, the CPU, the GPUs, matrix products.

Nothing here knows of layers. Read kernel.h first, the words that a kernel is written in, then kernel.py.
"""

from .array import AnyArray, Array, Buffer, strides
from .blob import Blob, Versions
from .check import Check
from .device import Device, GpuDevice
from .kernel import Kernels
from .open import build_all, devices, open_device
from .pictures import Pictures
from .signature import UNFUSED

__all__ = [
    "UNFUSED", "AnyArray", "Array", "Blob", "Buffer", "Check", "Device", "GpuDevice", "Kernels", "Pictures", "Versions",
    "build_all", "devices", "open_device", "strides",
]  # fmt: skip
