"""Blob: data, and diff, its gradient; each an array of one shape on the Net's device.

`Buffer` is bytes on the host, on a GPU or both, and knows which copy is fresh. `Array` is a GPU Buffer under a shape and
a dtype that behaves as a numpy array does. On the CPU an array is a numpy array and nothing is ever copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..proto.errors import LayerError

LIMIT = 2**31 - 1  # kernels index with int, as Caffe's do
# Methods of numpy's array that change nothing and give no view.
READERS = {
    "all", "any", "argmax", "argmin", "argsort", "astype", "copy", "cumsum", "dot", "item", "max", "mean", "min",
    "nonzero", "prod", "round", "std", "sum", "tobytes", "tolist", "var",
}  # fmt: skip


class Buffer:
    """Memory for `count` elements. It grows when asked for more; all that share it see it grow.

    It shrinks only on a GPU whose memory has run out, so that a Net that was given too large an input can run a smaller.
    """

    def __init__(self, device: Any, dtype: np.dtype) -> None:
        self.device, self.dtype = device, np.dtype(dtype)
        self.count = 0
        self.version = 0  # counts the allocations, so that views made of an older one are not used again
        self.host: np.ndarray | None = None
        self.memory: Any = None  # the GPU's allocation
        self.host_fresh = self.device_fresh = False

    @classmethod
    def over(cls, device: Any, dtype: Any, count: int, *, host: np.ndarray | None = None, memory: Any = None) -> Buffer:
        """A Buffer of memory that somebody else made: `count` elements of a flat numpy array, or at the GPU's address
        int(memory). What is given is kept alive."""
        made = cls(device, np.dtype(dtype))
        made.count, made.host, made.memory = count, host, memory
        made.host_fresh, made.device_fresh = host is not None, memory is not None
        return made

    def grow(self, count: int) -> None:
        """At least `count` elements; new memory is zero and what the old held is gone, as in Caffe."""
        if count > self.count:
            self.host = self.memory = None
            self.host_fresh = self.device_fresh = False
            self.count = count
            self.version += 1
        elif count < self.count and self.device.kind != "cpu" and self.device.short:
            if self.host_fresh or self.device_fresh:
                self.host = self.on_host(False)[:count]
            self.memory, self.device_fresh = None, False
            self.count = count
            self.version += 1

    def on_host(self, write: bool, keep: bool = True) -> np.ndarray:
        """The elements as a flat numpy array, copied from the GPU if that copy is the fresh one.

        write: they will be changed; keep=False: all of them, so what they were does not matter.
        """
        if self.host is None:
            self.host = self.device.host_memory(self.count, self.dtype)
        if keep and self.device_fresh and not self.host_fresh:
            self.device.to_host(self.memory, self.host)
        self.host_fresh = True
        if write:
            self.device_fresh = False
        return self.host

    def on_device(self, write: bool) -> int:
        """The GPU address of the elements, copied from the host if that copy is the fresh one."""
        if self.memory is None:
            self.memory = self.device.allocate(max(self.count, 1) * self.dtype.itemsize)
            self.device_fresh = False
        if not self.device_fresh:
            if self.host_fresh:
                self.device.to_device(self.host, self.memory)
            else:
                self.device.clear(self.memory, self.count * self.dtype.itemsize)
        self.device_fresh = True
        if write:
            self.host_fresh = False
        return int(self.memory)


class Array(NDArrayOperatorsMixin):
    """A Buffer on a GPU under a shape: kernels take it as it is, and to Python it is a numpy array.

    Reading copies from the GPU when the GPU's copy is the fresh one; a view that `a[...]` or a method gives may be
    written to, so the next kernel copies back. `numpy.asarray(a)` is read-only and does not.
    """

    def __init__(self, buffer: Buffer, shape: Sequence[int], start: int = 0) -> None:
        self.buffer, self.shape, self.start = buffer, tuple(shape), start

    dtype = property(lambda self: self.buffer.dtype)
    device = property(lambda self: self.buffer.device)
    size = property(lambda self: prod(self.shape))
    ndim = property(lambda self: len(self.shape))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    def address(self, write: bool) -> int:
        """Where a kernel finds the first element."""
        return self.buffer.on_device(write) + self.start * self.dtype.itemsize

    def numpy(self, write: bool = True, keep: bool = True) -> np.ndarray:
        """The host's copy, made fresh; `write` tells that it may be changed, keep=False that every element will be."""
        keep = keep or self.size < self.buffer.count
        flat = self.buffer.on_host(write, keep)[self.start : self.start + self.size].reshape(self.shape)
        if not write:
            flat.flags.writeable = False
        return flat

    def fill(self, value: float) -> None:
        self.device.fill(self, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        made = self.numpy(write=False)
        return np.array(made, dtype) if copy or (dtype is not None and dtype != made.dtype) else made

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        inputs = tuple(np.asarray(x) if isinstance(x, Array) else x for x in inputs)
        if out is not None:
            options["out"] = tuple(x.numpy() if isinstance(x, Array) else x for x in out)
        result = getattr(ufunc, method)(*inputs, **options)
        return self if out is not None and out[0] is self else result

    def __getitem__(self, at: Any) -> Any:
        part = self.numpy(write=False)[at]
        view = isinstance(part, np.ndarray) and part.base is not None
        return self.numpy()[at] if view else part  # a number or a copy cannot be written through

    def __setitem__(self, at: Any, value: Any) -> None:
        if (
            at is Ellipsis
            and isinstance(value, Array)
            and value.device is self.device
            and (value.shape, value.dtype) == (self.shape, self.dtype)
        ):
            self.device.copy(value.address(False), self.address(True), self.nbytes)
            return
        value, whole = np.asarray(value), at is Ellipsis
        if whole:
            np.broadcast_to(value, self.shape)  # raises before what is there is given up
        self.numpy(keep=not whole)[at] = value

    def __len__(self) -> int:
        return self.shape[0]

    def __float__(self) -> float:
        return float(self.numpy(write=False))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.numpy(write=name not in READERS), name)

    def __repr__(self) -> str:
        return f"Array({self.numpy(write=False)!r}, device={self.device.name!r})"


class Blob:
    """Two arrays of one shape: `data`, and `diff`, its gradient, which takes memory only when first touched.

    The surface is pycaffe's: data, diff, shape, num, channels, height, width, count, reshape.
    """

    def __init__(self, shape: Sequence[int] = (), dtype: Any = np.float32, device: Any = None) -> None:
        if device is None or isinstance(device, str):
            from .open import open_device

            device = open_device(device or "cpu")
        self.device, self.dtype = device, np.dtype(dtype)
        self._data, self._diff = Buffer(device, self.dtype), Buffer(device, self.dtype)
        self._views: dict[bool, tuple[Buffer, int, tuple[int, ...], Any]] = {}
        self.shape: tuple[int, ...] = ()
        self.reshape(*shape)

    def reshape(self, *shape: int) -> None:
        """Gives another shape; memory is kept while it is large enough. Raises LayerError for a size that cannot be."""
        if shape == self.shape:
            return
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        shape = tuple(int(s) for s in shape)
        if any(s < 0 for s in shape) or prod(shape) > LIMIT:
            raise LayerError(f"a blob cannot have the shape {shape}: axes are from 0, elements at most 2^31 - 1")
        self.shape = shape

    def share(self, other: Blob, *shape: int) -> None:
        """Takes another blob's memory, data and diff, under `shape` (by default the other's)."""
        self.share_data(other)
        self.share_diff(other)
        self.reshape(*(shape or other.shape))

    def share_data(self, other: Blob) -> None:
        self._data = other._data

    def share_diff(self, other: Blob) -> None:
        self._diff = other._diff

    def borrow(self, array: Any, diff: bool = False) -> None:
        """Takes the memory of `array`, contiguous and of this Blob's device and dtype, for data or diff, and its shape."""
        on_gpu = isinstance(array, Array)
        buffer = array.buffer if on_gpu else Buffer.over(self.device, array.dtype, array.size, host=array.reshape(-1))
        self._data, self._diff = (self._data, buffer) if diff else (buffer, self._diff)
        self.reshape(*array.shape)
        self._views[diff] = (buffer, buffer.version, self.shape, array)

    def release(self) -> None:
        """Lets go of the memory that it has borrowed; the shape stays."""
        self._data, self._diff = Buffer(self.device, self.dtype), Buffer(self.device, self.dtype)
        self._views.clear()

    @property
    def data(self) -> Any:
        """The values: a numpy array, or on a GPU an Array, which behaves as one."""
        return self._view(False)

    @property
    def diff(self) -> Any:
        """The gradient of the loss with respect to `data`."""
        return self._view(True)

    def _view(self, diff: bool) -> Any:
        buffer = self._diff if diff else self._data
        buffer.grow(prod(self.shape))
        seen = self._views.get(diff)
        if seen is None or seen[0] is not buffer or seen[1] != buffer.version or seen[2] != self.shape:
            array = Array(buffer, self.shape) if self.device.kind != "cpu" else self._numpy(buffer)
            self._views[diff] = seen = (buffer, buffer.version, self.shape, array)
        return seen[3]

    def _numpy(self, buffer: Buffer) -> np.ndarray:
        if buffer.host is None:
            buffer.host = buffer.device.empty((buffer.count,), buffer.dtype)
        return buffer.host[: prod(self.shape)].reshape(self.shape)

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def touched(self) -> int:
        """Bytes held by data and diff, for `boxpresso info`."""
        return sum(b.count for b in {self._data, self._diff}) * self.dtype.itemsize

    def axis(self, index: int) -> int:
        """`index` with a negative one counted from the end, as Caffe's CanonicalAxisIndex."""
        if not -len(self.shape) <= index < len(self.shape):
            raise LayerError(f"axis {index} does not fit a blob of shape {self.shape}")
        return index % len(self.shape)

    def _legacy(self, index: int) -> int:
        if len(self.shape) > 4:
            raise LayerError(f"num, channels, height and width are of blobs with 4 axes at most, this has {self.shape}")
        return self.shape[index] if index < len(self.shape) else 1

    num = property(lambda self: self._legacy(0))
    channels = property(lambda self: self._legacy(1))
    height = property(lambda self: self._legacy(2))
    width = property(lambda self: self._legacy(3))

    def __repr__(self) -> str:
        return f"Blob{self.shape}"


def strides(shape: Sequence[int]) -> list[int]:
    """How many elements lie between neighbours along each axis: Permute's old_steps and new_steps."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
