"""What a device does: the contract that the CPU (host.py) and a GPU (cuda.py) keep.

A device builds kernels, launches them and makes arrays. The CPU's arrays are numpy's, a GPU's are `Array`s (blob.py). It is
handed to whatever needs it: a Net to its layers, a layer to its blobs and kernels. Nothing looks one up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .records import Checks
from .signature import Kernel, KernelFile


class Device(Protocol):
    """A CPU or a GPU, as layers and nets see it."""

    @property
    def name(self) -> str:
        """ "cpu", "cuda:0", "cuda:1", ..."""

    @property
    def kind(self) -> str:
        """ "cpu" or "cuda"."""

    @property
    def deterministic(self) -> bool:
        """Whether results are bitwise identical on every run."""

    @property
    def reproducible(self) -> bool:
        """Whether results have the same bits on every CPU (docs/reproducible.md)."""

    @property
    def workers(self) -> int:
        """How many threads of the CPU share a launch; 1 on a GPU."""

    @property
    def memo(self) -> dict[Any, Any]:
        """What others keep for this device, such as tables for kernels. It lasts as long as the device."""

    def with_stream(self, fast_math: bool = False) -> Device:
        """This device with a stream and a pool of memory of its own, for a Net that runs beside others. fast_math: whether a
        GPU's libraries may round the factors of a float32 product to TF32.

        The CPU gives itself: there a Net works in the thread that calls it.
        """

    def build(self, kernels: KernelFile, real: np.dtype[Any]) -> None:
        """Compiles a file of kernels for arrays of dtype `real`, or takes it from the cache. Raises KernelError."""

    def built(self, kernels: KernelFile, real: np.dtype[Any]) -> bool:
        """Whether a file of kernels is compiled already, in this process or in the cache."""

    def launch(self, kernel: Kernel, real: np.dtype[Any], args: Sequence[Any]) -> None:
        """Runs a kernel, compiled for `real`, with the arguments that its signature names, one for each.

        An array must be contiguous, of the signature's dtype and this device's; None is a null pointer. args[0] is the
        number of items; 0 runs nothing. On a GPU it returns before the kernel has run. Raises KernelError for an argument
        that does not fit, DeviceError where the launch fails.
        """

    def empty(self, shape: Sequence[int], dtype: Any) -> Any:
        """An array of zeros, aligned to a cache line."""

    def table(self, values: Any, dtype: Any = np.int32) -> Any:
        """A small constant array for kernels to read."""

    def part(self, array: Any, start: int, shape: Sequence[int]) -> Any:
        """The elements of an array of this device from flat index `start` on, under another shape, without a copy."""

    def synchronize(self) -> None:
        """Waits until everything that was launched has run. Raises DeviceError for a kernel that failed."""

    def describe(self) -> str:
        """The line of `boxpresso device_query`."""


class GpuDevice(Device, Protocol):
    """A device with memory of its own, as Buffers see it. Sizes are in bytes, addresses are numbers."""

    @property
    def index(self) -> int:
        """Its number among the GPUs, as in its name."""

    @property
    def short_of_memory(self) -> bool:
        """Whether memory has run out once: from then on Buffers give back what they do not use."""

    @property
    def stream(self) -> Any:
        """PyCUDA's Stream, in which everything runs."""

    def before(self, stream: int) -> None:
        """What another library gives that stream of its own from now on runs after what was launched here so far."""

    @property
    def checks(self) -> Checks:
        """What kernels check of their input: whoever has waited for the stream asks them."""

    def needs_host(self, reason: str) -> None:
        """Notes that the host takes part in what is done. Raises DeviceError while a graph is captured."""

    def allocate(self, size: int) -> Any:
        """Memory of `size` bytes, what it holds is undefined; int() of it is its address. Raises DeviceError when out of it."""

    def to_device(self, host: np.ndarray[Any, Any], memory: Any) -> None:
        """Copies to the GPU; the host's array may be written to again at once."""

    def to_host(self, memory: Any, host: np.ndarray[Any, Any]) -> None:
        """Copies from the GPU, after all that was launched before."""

    def copy(self, source: int, target: int, size: int) -> None:
        """Copies on the GPU."""

    def clear(self, memory: Any, size: int) -> None:
        """Sets bytes to zero."""

    def fill(self, array: Any, value: float) -> None:
        """Sets every element of an Array."""
