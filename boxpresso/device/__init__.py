"""What makes a kernel text run: arrays and blobs, kernels and their cache, the CPU, the GPUs, matrix products.

Nothing here knows of layers. Read kernel.h first, the words that a kernel is written in, then kernel.py.
"""

from .blob import Array, Blob, Buffer, strides
from .kernel import Kernels
from .open import build_all, devices, open_device

__all__ = ["Array", "Blob", "Buffer", "Kernels", "build_all", "devices", "open_device", "strides"]
