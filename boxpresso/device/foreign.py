"""Arrays of other libraries on a GPU: taken as ours over their own memory, in the order of their streams and ours."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError, DeviceError
from . import context, dlpack
from .array import Array, Buffer
from .cuda import LEGACY, Cuda
from .device import Device
from .dlpack import CPU, CUDA


def package(x: Any) -> str:
    """The name of the package that an array's type comes from."""
    kind: Any = type(x)
    return package_of(kind)


@functools.lru_cache(256)
def package_of(kind: Any) -> str:
    """The name of the package that a type comes from."""
    return str(kind.__module__).partition(".")[0]


def place(x: Any) -> tuple[int, int]:
    """DLPack's device of an array: what kind, and which of them."""
    if isinstance(x, Array):
        return CUDA, x.device.index
    if hasattr(x, "__dlpack_device__"):
        try:
            kind, index = x.__dlpack_device__()
        except (BufferError, RuntimeError, TypeError, ValueError) as error:  # as torch's of its device "meta"
            raise BoxpressoError(f"this {type(x).__name__} cannot be taken: {error}") from error
        return int(kind), int(index)
    if hasattr(x, "__cuda_array_interface__"):
        return CUDA, context.device_of(x.__cuda_array_interface__["data"][0])
    return CPU, 0


def chosen(x: Any, device: Cuda) -> AbstractContextManager[object]:
    """Inside, a GPU is the current one for the driver and for the array's library, as either may have chosen another."""
    library, stack = package(x), ExitStack()
    stack.enter_context(device)
    if library == "torch":
        stack.enter_context(import_module("torch").cuda.device(device.index))
    elif library == "cupy":
        stack.enter_context(import_module("cupy").cuda.Device(device.index))
    return stack


def stream_of(x: Any, device: Cuda) -> int | None:
    """The stream that a GPU's caller works in, as the array's library says; None where that is not known."""
    library = package(x)
    if library == "torch":
        return int(import_module("torch").cuda.current_stream(device.index).cuda_stream)
    if library == "cupy":
        with chosen(x, device):
            return int(import_module("cupy").cuda.get_current_stream().ptr)
    if hasattr(x, "__cuda_array_interface__"):
        stream: int | None = x.__cuda_array_interface__.get("stream")
        return stream
    return None


def refuse_capture(x: Any, device: Cuda) -> None:
    """Raises DeviceError where the caller's stream is captured as a graph, before anything that would break the capture.

    To be part of a graph an operator would have to take no memory, copy nothing, and leave its scratch memory to the graph.
    """
    stream = stream_of(x, device)
    if stream is None:
        return
    with device:
        captures = context.capturing(stream)
    if captures:
        raise DeviceError(
            f"{device.name}: an operator of boxpresso.ops was called while {package(x)} captures a CUDA graph, which it cannot "
            "be part of: it takes memory, and may copy; call it before or after the capture (torch.cuda.graph, torch.compile's "
            "mode 'reduce-overhead')"
        )


class Borrowed:
    """An address in the memory of `owner`, who is kept alive."""

    def __init__(self, address: int, owner: Any) -> None:
        self.address, self.owner = address, owner

    def __int__(self) -> int:
        return self.address


def borrowed(
    device: Device, dtype: Any, shape: Sequence[int], steps: Sequence[int] | None, address: int, owner: Any
) -> Array:
    """An Array over a GPU's memory that `owner` keeps; `steps` are in elements, None for contiguous ones."""
    wanted = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    count = int(np.prod(shape, dtype=np.int64))
    if steps is not None and count and any(s != w for s, w, n in zip(steps, wanted, shape) if n > 1):
        raise BoxpressoError(f"an array on a GPU must be contiguous; shape {tuple(shape)} has the steps {tuple(steps)}")
    return Array(Buffer.over(device, dtype, count, memory=Borrowed(address, owner)), shape)


def from_interface(x: Any, device: Cuda) -> Array:
    """An Array over the memory of a `__cuda_array_interface__`, after the work of the stream that it names: one that names
    none, as PyCUDA's, is taken to be written in the null stream."""
    refuse_capture(x, device)
    said = x.__cuda_array_interface__
    dtype = np.dtype(said["typestr"])
    steps = said.get("strides") and [step // dtype.itemsize for step in said["strides"]]
    device.behind(said.get("stream") or LEGACY)
    return borrowed(device, dtype, said["shape"], steps, said["data"][0], x)


def from_dlpack(x: Any, device: Cuda) -> Array:
    """An Array over a GPU array of any library, which makes our stream wait for its own work."""
    refuse_capture(x, device)
    with chosen(x, device):
        capsule = x.__dlpack__(stream=device.stream.handle)
    address, shape, steps, dtype = dlpack.described(capsule)
    # The capsule was not consumed: it stays ours, frees itself, and goes with the array.
    return borrowed(device, dtype, shape, steps, address, (x, capsule))


def take(x: Any, device: Cuda) -> Array:
    """A GPU array of any library as one of ours, over the same memory. Raises BoxpressoError for one of another GPU."""
    if (index := place(x)[1]) != device.index:
        raise BoxpressoError(f"an array on cuda:{index} cannot be taken on {device.name}: copy it there first")
    return from_dlpack(x, device) if hasattr(x, "__dlpack__") else from_interface(x, device)


def let_go(x: Any, device: Cuda) -> None:
    """What its library does next with an array runs after what was launched here so far: in torch's and cupy's current stream,
    and that which the array names; the host waits for a library whose streams are not known."""
    stream = stream_of(x, device)
    if package(x) in ("torch", "cupy"):
        assert stream is not None
        device.before(stream)
    elif not hasattr(x, "__dlpack__"):
        device.before(stream or LEGACY)
    else:
        device.synchronize()
