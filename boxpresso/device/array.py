"""The arrays of blobs, which live on the Net's device.

`Buffer` is bytes on the host, on a GPU or both, and knows which copy is fresh. `Array` is a GPU Buffer under a shape and
a dtype that behaves as a numpy array does. On the CPU an array is a numpy array and nothing is ever copied.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar, Protocol, Union, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import dlpack
from .device import Device, GpuDevice

HELD_HERE = 3  # references to a Buffer's host copy in drop_host: the attribute's, the local name's, getrefcount's own
# numpy's functions that write to their first argument, and those that ask for no element.
WRITERS = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
MEASURES = (np.ndim, np.shape, np.size)
# Methods of numpy's array that change nothing and give no view.
READERS = {
    "all", "any", "argmax", "argmin", "argsort", "astype", "copy", "cumsum", "dot", "item", "max", "mean", "min",
    "nonzero", "prod", "round", "std", "sum", "tobytes", "tolist", "var",
}  # fmt: skip


class Recording(threading.local):
    """What the calling thread notes while it captures a graph: each buffer that is used, its memory, and whether it is written.

    A library's workspace has no buffer. None: nothing is captured. `after` is to be called once the capture has ended.
    `launches`: for a tape (tape.py) each kernel as it was launched, which it is then. `steps`: for a chain (chain.py) kernels
    of the CPU with their types and arguments, which are not launched.
    """

    uses: list[tuple[Buffer | None, Any, bool]] | None = None
    launches: list[Any] | None = None
    steps: list[Any] | None = None

    def __init__(self) -> None:
        self.after: list[Callable[[], None]] = []


recording = Recording()


class User(Protocol):
    """What works with the values of Buffers in another form, as a plan does with packed weights."""

    def before_change(self, buffer: Buffer, before: np.ndarray[Any, Any]) -> None:
        """Called, perhaps from another net's thread, when a Buffer has other values than `before`, which are not changed."""


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two flat arrays of one dtype hold the same bytes, NaN included."""
    if a.size != b.size:
        return False
    words = f"u{b.itemsize}"
    return bool(np.array_equal(a.view(words), b.view(words)))


class First(Protocol):
    """Values that a Buffer gets before they are looked at."""

    def settle(self) -> None:
        """Makes them."""


class Buffer:
    """Memory for `count` elements. It grows when asked for more; all that share it see it grow.

    It shrinks only on a GPU whose memory has run out, so that a Net that was given too large an input can run a smaller.
    """

    count = 0
    version = 0  # counts the allocations, so that views made of an older one are not used again
    host: np.ndarray[Any, Any] | None = None
    memory: Any = None  # the GPU's allocation
    start = 0  # its address
    host_fresh = device_fresh = False
    changes = 0  # its version: on a GPU how often somebody took it to write to it; on the CPU as `settle` counts
    uploads = 0
    first: First | None = None  # what makes its first values, while they wait
    lease: tuple[weakref.ref[Any], int] | None = None  # what scripts hold it by, and the allocation that it is of
    shown: weakref.ref[Any] | None = None  # on a GPU, what scripts hold its host copy by
    before: np.ndarray[Any, Any] | None = None  # its values of version `changes`, while a script may change them
    users: weakref.WeakSet[User] | None = None  # what remembers its values in another form
    comparing: ClassVar = threading.RLock()  # nets that share parameters may run at the same time

    def __init__(self, device: Device, dtype: Any) -> None:
        self.device = device
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @classmethod
    def over(
        cls, device: Device, dtype: Any, count: int, *, host: np.ndarray[Any, Any] | None = None, memory: Any = None
    ) -> Buffer:
        """A Buffer over memory that it did not allocate: `count` elements of a flat numpy array, or at the GPU's address
        int(memory). What is given is kept alive."""
        buffer = cls(device, dtype)
        buffer.count, buffer.host, buffer.memory = count, host, memory
        buffer.start = 0 if memory is None else int(memory)
        buffer.host_fresh, buffer.device_fresh = host is not None, memory is not None
        return buffer

    # Which version of its values somebody else works with

    def hand_out(self) -> Any:
        """Its elements for a script, as a flat array: `held` is true until that and all views of it, however made, are gone."""
        if self.lease is not None and self.lease[1] == self.version and (known := self.lease[0]()) is not None:
            return known
        if (
            self.device.kind == "cpu"
        ):  # a view's base is what owns its memory, unless another type lies between, as here
            array: Any = np.asarray(memoryview(cast(Any, self.host).view(np.uint8)))
        else:
            array = Array(self, (self.count,))
        self.lease = weakref.ref(array), self.version
        return array

    @property
    def held(self) -> bool:
        """Whether a script may hold an array of it."""
        if self.lease is None and self.shown is None:
            return False
        whole = self.lease is not None and self.lease[1] == self.version and self.lease[0]() is not None
        return whole or self.lent

    def show(self, write: bool, keep: bool = True) -> np.ndarray[Any, Any]:
        """`on_host` for a script, which may hold a view of it: `lent` is true until all of them are gone."""
        flat = self.on_host(write, keep)
        known = self.shown() if self.shown is not None else None
        if known is None or not np.may_share_memory(known, flat):
            known = np.asarray(memoryview(cast(Any, flat.view(np.uint8))))  # as in hand_out
            self.shown = weakref.ref(known, functools.partial(Buffer.returned, weakref.ref(self)))
        return known.view(self.dtype)

    @staticmethod
    def returned(of: weakref.ref[Buffer], shown: weakref.ref[Any]) -> None:
        """The last view of the host's copy is gone; what was written to it counts."""
        buffer = of()
        if buffer is not None and buffer.shown is shown and buffer.host_fresh:
            buffer.device_fresh = False
            buffer.changes += 1

    @property
    def lent(self) -> bool:
        """Whether a script may hold a view of the host's copy, made by a GPU's array."""
        known = self.shown() if self.shown is not None else None
        return known is not None and self.host is not None and np.may_share_memory(known, self.host)

    def take_back(self) -> None:
        """Before a forward: what a script has written to a view of the host's copy is to count."""
        if self.lent and self.host_fresh:
            self.device_fresh = False

    def follow(self) -> None:
        """After a forward: views of the host's copy have the values of now."""
        if self.lent:
            self.on_host(False)

    def used_by(self, user: User) -> int:
        """Notes that somebody works with its values of now in another form; the number of their version."""
        with self.comparing:
            if self.users is None:
                self.users = weakref.WeakSet()
            self.users.add(user)
            version = self.settle()
            if self.held:
                self.remember()
            return version

    def remember(self) -> None:
        """Somebody may change its values from now on: keeps them, for `settle` and those that work with them."""
        with self.comparing:
            if self.before is None and self.users and (self.host is not None or self.memory is not None):
                if self.first is not None:
                    self.first.settle()
                self.before = np.array(self.elements())

    def elements(self) -> np.ndarray[Any, Any]:
        """Its elements as a flat numpy array to read."""
        return (
            cast("np.ndarray[Any, Any]", self.host) if self.device.kind == "cpu" else self.on_host(False)[: self.count]
        )

    def settle(self) -> int:
        """The number of the version of its values; another one where they are not those that `remember` kept."""
        if self.before is None:
            return self.changes
        with self.comparing:
            if (before := self.before) is not None:
                if not same_bits(self.elements(), before):
                    for user in list(self.users or ()):
                        user.before_change(self, before)
                    self.changes += self.device.kind == "cpu" or self.lent  # a GPU counts its own arrays' itself
                    self.before = None
                if not self.held:
                    self.before = None
                else:
                    self.remember()
            return self.changes

    @property
    def gpu(self) -> GpuDevice:
        """The device, which is a GPU."""
        return cast(GpuDevice, self.device)

    def grow(self, count: int) -> None:
        """At least `count` elements; new memory is zero and what the old held is gone, as in Caffe."""
        if count > self.count:
            self.host = self.memory = None
            self.host_fresh = self.device_fresh = False
            self.count = count
            self.version += 1
        elif count < self.count and self.device.kind != "cpu" and self.gpu.short_of_memory:
            if self.host_fresh or self.device_fresh:
                self.host = self.on_host(False)[:count]
            self.memory, self.device_fresh = None, False
            self.count = count
            self.version += 1

    def on_host(self, write: bool, keep: bool = True) -> np.ndarray[Any, Any]:
        """The elements as a flat numpy array, copied from the GPU if that copy is the fresh one.

        write: they will be changed; keep=False: all of them, so what they were does not matter.
        """
        self.gpu.needs_host("an array is read or written on the host")
        if self.host is None:
            self.host = np.zeros(self.count, self.dtype)
        if keep and self.device_fresh and not self.host_fresh:
            self.gpu.to_host(self.memory, self.host)
        self.host_fresh = True
        if write:
            self.device_fresh = False
            self.changes += 1
        return self.host

    def on_device(self, write: bool) -> int:
        """The GPU address of the elements, copied from the host if that copy is the fresh one."""
        if self.memory is None:
            self.memory = self.gpu.allocate(max(self.count, 1) * self.dtype.itemsize)
            self.start = int(self.memory)
            self.device_fresh = False
        if not self.device_fresh:
            if self.host_fresh:
                self.gpu.to_device(cast(Any, self.host), self.memory)
                self.uploads += 1
                self.drop_host(write)
            else:
                self.gpu.clear(self.memory, self.count * self.dtype.itemsize)
        self.device_fresh = True
        if write:
            self.host_fresh = False
            self.changes += 1
        if recording.uses is not None:
            recording.uses.append((self, self.memory, write))
        return self.start

    def drop_host(self, write: bool) -> None:
        """Gives the host's copy back after the first upload, as of weights, unless somebody holds a view of it.

        An array that is set again and again, as an input is, keeps it.
        """
        host = self.host
        if self.uploads == 1 and host is not None and host.base is None and sys.getrefcount(host) <= HELD_HERE:
            self.host, self.host_fresh = None, False


def after_fork() -> None:
    """In the child of a fork: the thread that may have held the lock is not there."""
    Buffer.comparing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


class Array(NDArrayOperatorsMixin):
    """A Buffer on a GPU under a shape: kernels take it as it is, and to Python it is a numpy array.

    Reading copies from the GPU when the GPU's copy is the fresh one; a view that `a[...]` or a method gives may be
    written to, so the next kernel copies back. `numpy.asarray(a)` is read-only and does not.
    """

    def __init__(self, buffer: Buffer, shape: Sequence[int], start: int = 0) -> None:
        self.buffer, self.shape, self.start = buffer, tuple(shape), start
        self.lease: Any = None  # what tells the buffer that a script holds this

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.buffer.dtype

    @property
    def device(self) -> GpuDevice:
        return self.buffer.gpu

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def address(self, write: bool) -> int:
        """Where a kernel finds the first element."""
        return self.buffer.on_device(write) + self.start * self.dtype.itemsize

    def numpy(self, write: bool = True, keep: bool = True) -> np.ndarray[Any, Any]:
        """The host's copy, made fresh; `write` tells that it may be changed, keep=False that every element will be."""
        keep = keep or self.size < self.buffer.count
        whole = self.buffer.show if self.lease is not None and write else self.buffer.on_host
        flat = whole(write, keep)[self.start : self.start + self.size].reshape(self.shape)
        if not write:
            flat.flags.writeable = False
        return flat

    @property
    def flat(self) -> Any:
        """The elements in order, as numpy's: to read, to write to one of, and to assign to."""
        return self.numpy().flat

    @flat.setter
    def flat(self, value: Any) -> None:
        self.numpy().flat[:] = value

    def elements(self, start: int, count: int) -> np.ndarray[Any, Any]:
        """`count` elements from flat index `start` on, for the host to read; of what the GPU holds only these are copied."""
        if self.buffer.host_fresh or not self.buffer.device_fresh:
            return self.numpy(write=False).reshape(-1)[start : start + count]
        values = np.empty(count, self.dtype)
        self.device.to_host(self.address(False) + start * self.dtype.itemsize, values)
        return values

    def fill(self, value: float) -> None:
        self.device.fill(self, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy(write=False)
        return np.array(array, dtype) if copy or (dtype is not None and dtype != array.dtype) else array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For cupy, numba, PyCUDA and others: its memory on the GPU, and the stream that has what was launched so far.

        What they write there is seen here. It is a blob's until that gets another shape or the host writes to it.
        """
        if self.dtype.kind not in "fiu":
            raise AttributeError(f"__cuda_array_interface__ has no type for {self.dtype}; __dlpack__ has")
        address, stream = self.address(True), self.device.stream.handle
        said = {"shape": self.shape, "typestr": self.dtype.str, "data": (address, False), "strides": None}
        return {**said, "stream": stream, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        """For torch, jax and others: a CUDA device, and its number."""
        return dlpack.CUDA, self.device.index

    def __dlpack__(
        self, *, stream: int | None = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Its memory on the GPU for `from_dlpack`, as of `__cuda_array_interface__`; the stream named waits for ours."""
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"an array of {self.device.name} is handed over on that device alone")
        whole = cast(Array, copied(self)) if copy else self
        address = whole.address(True)
        if stream != dlpack.NO_ORDER:
            self.device.before(stream or dlpack.LEGACY)
        return dlpack.capsule(address, self.shape, self.dtype, self.device.index, (whole, whole.buffer.memory))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        written = inputs[0] if method == "at" else None
        inputs = tuple(as_numpy(x, write=x is written) for x in inputs)
        if out is not None:
            options["out"] = tuple(as_numpy(x, write=True) for x in out)
        result = getattr(ufunc, method)(*inputs, **options)
        return self if out is not None and out[0] is self else result

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function in MEASURES and len(inputs) == 1 and not options and inputs[0] is self:
            return {np.ndim: self.ndim, np.shape: self.shape, np.size: self.size}[function]
        for write in (False, True):
            values = [as_numpy(x, write or (i == 0 and function in WRITERS)) for i, x in enumerate(inputs)]
            named = {name: as_numpy(x, write or name == "out") for name, x in options.items()}
            result, out = function(*values, **named), options.get("out")
            if not any(is_view(part) for part in (result if isinstance(result, (list, tuple)) else [result])):
                break  # else it may be written through
        return out if out is not None else result

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
        if name.startswith("__") or not hasattr(np.ndarray, name):  # to ask for it copies nothing
            raise AttributeError(f"a GPU's array has no {name!r}")
        return getattr(self.numpy(write=name not in READERS), name)

    def __repr__(self) -> str:
        return f"Array({self.numpy(write=False)!r}, device={self.device.name!r})"


def is_view(value: Any) -> bool:
    """Whether it is a numpy array of another one's memory, which nobody may write to."""
    return isinstance(value, np.ndarray) and value.base is not None and not value.flags.writeable


def as_numpy(value: Any, write: bool) -> Any:
    """A GPU's array, or those in a list or tuple, as numpy arrays; anything else as it is. write: it will be changed."""
    if isinstance(value, Array):
        return value.numpy() if write else np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(as_numpy(each, write) for each in value)
    return value


def copied(array: AnyArray) -> AnyArray:
    """The elements in memory of their own, where they are."""
    if not isinstance(array, Array):
        return np.array(array)
    buffer = Buffer(array.buffer.device, array.dtype)
    buffer.grow(array.size)
    copy = Array(buffer, array.shape)
    copy[...] = array
    return copy


AnyArray = Union[np.ndarray[Any, np.dtype[Any]], Array]  # the array of a blob: numpy's on the CPU, an Array on a GPU


def strides(shape: Sequence[int]) -> list[int]:
    """How many elements lie between neighbours along each axis: Permute's old_steps and new_steps."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
