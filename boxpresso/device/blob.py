"""Blob: data, and diff, its gradient; each an array of one shape on the Net's device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Protocol, Union, cast

import numpy as np

from ..proto.errors import LayerError
from .array import AnyArray, Array, Buffer, First, User
from .device import Device
from .open import open_device
from .signature import dtype_of

LIMIT = 2**31 - 1  # kernels index with int, as Caffe's do
AXES = 32  # Caffe's kMaxBlobAxes


class Holder(Protocol):
    """What a Blob belongs to, as a net."""

    def asked(self, blob: Blob, diff: bool) -> bool:
        """Called before `data`, or `diff`, is given: makes it what it is to be.

        Whether it goes to a script, so that its memory is to know for how long that holds it.
        """

    def grow(self, blob: Blob, count: int) -> None:
        """Called before a blob gets a shape of so many elements. Raises DeviceError where that is too much."""


class Blob:
    """Two arrays of one shape: `data`, and `diff`, its gradient, which takes memory only when first used.

    The interface is pycaffe's: data, diff, shape, num, channels, height, width, count, reshape.

    Parameters
    ----------
    shape
        Of both arrays; at most 32 axes from 0 on, and 2^31 - 1 elements.
    dtype
        float32 (the default), float64, or float16 and ml_dtypes.bfloat16 to store in.
    device
        A Device or the name of one; by default the CPU.

    Raises
    ------
    LayerError
        For a shape that cannot be.

    Examples
    --------
    >>> from boxpresso import Blob
    >>> blob = Blob((2, 3))
    >>> blob.data[...] = 1
    >>> float(blob.data.sum()), float(blob.diff.sum()), blob.count
    (6.0, 0.0, 6)
    """

    most = LIMIT  # elements
    is_input = False  # whether it is an input of a net, whose values the caller gives

    def __init__(
        self, shape: Sequence[int] = (), dtype: Any = np.float32, device: Union[Device, str, None] = None
    ) -> None:
        """Zeros of that shape on a device or the device of that name, by default the CPU."""
        self._holder: Holder | None = None
        self.device = open_device(device or "cpu") if device is None or isinstance(device, str) else device
        self.dtype: np.dtype[Any] = dtype_of(dtype)
        self._data, self._diff = Buffer(self.device, self.dtype), Buffer(self.device, self.dtype)
        self._views: dict[bool, tuple[Buffer, int, tuple[int, ...], AnyArray]] = {}
        self.shape: tuple[int, ...] = ()
        self.reshape(*shape)

    def reshape(self, *shape: int) -> None:
        """Gives another shape; memory is kept while it is large enough. Raises LayerError for a size that cannot be."""
        if shape == self.shape:
            return
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        shape = tuple(int(s) for s in shape)
        if len(shape) > AXES:
            raise LayerError(f"a blob cannot have {len(shape)} axes: it has {AXES} at most, as in Caffe")
        if any(s < 0 for s in shape) or prod(shape) > self.most:
            raise LayerError(f"a blob cannot have the shape {shape}: axes are from 0, elements at most 2^31 - 1")
        if self._holder is not None:
            self._holder.grow(self, prod(shape))
        self.shape = shape

    def share(self, other: Blob, *shape: int) -> None:
        """Takes another blob's memory, data and diff, under `shape` (by default the other's)."""
        self.share_data(other)
        self.share_diff(other)
        self.reshape(*(shape or other.shape))

    def share_data(self, other: Blob) -> None:
        self._data = other._data

    def part(self) -> None:
        """Takes data memory of its own, of zeros, where it has shared that of another blob."""
        self._data = Buffer(self.device, self.dtype)

    def copy_data(self, other: Blob) -> None:
        """Takes the elements of a blob of as many, in its own shape."""
        source, target = other._view(False), self._view(False)
        if isinstance(source, Array):
            target[...] = Array(source.buffer, self.shape, source.start)
        else:
            target.reshape(-1)[...] = source.reshape(-1)

    def share_diff(self, other: Blob) -> None:
        self._diff = other._diff

    def borrow(self, array: AnyArray, diff: bool = False) -> None:
        """Takes the memory of `array`, contiguous and of this Blob's device and dtype, for data or diff, and its shape."""
        if isinstance(array, Array):
            buffer = array.buffer
        else:
            buffer = Buffer.over(self.device, array.dtype, array.size, host=array.reshape(-1))
        self._data, self._diff = (self._data, buffer) if diff else (buffer, self._diff)
        self.reshape(*array.shape)
        self._views[diff] = (buffer, buffer.version, self.shape, array)

    def release(self) -> None:
        """Lets go of the memory that it has borrowed; the shape stays."""
        self._data, self._diff = Buffer(self.device, self.dtype), Buffer(self.device, self.dtype)
        self._views.clear()

    def _wait(self, values: First) -> None:
        """Its values are made when they are first asked for; its memory is taken at once."""
        self._view(False)
        self._data.first = values

    def _settle(self, values: First, draw: Callable[[np.ndarray[Any, Any]], None]) -> None:
        """Makes the values that waited: `draw` fills an array. Where others were given meanwhile it is called all the same."""
        buffer = self._data
        mine = buffer.first is values
        if mine and self.device.kind == "cpu":
            draw(self._numpy(buffer))
        else:
            array = np.empty(self.shape, self.dtype)
            draw(array)
            if mine:
                Array(buffer, self.shape)[...] = array
        if mine:
            buffer.first = None

    def overwrite(self) -> None:
        """All its values are about to be given: those that wait to be made are not made."""
        self._data.first = None

    @property
    def data(self) -> AnyArray:
        """The values: a numpy array, or on a GPU an Array, which behaves as one."""
        if self._holder is not None and self._holder.asked(self, diff=False):
            return self._hand_out()
        return self._view(False)

    @property
    def diff(self) -> AnyArray:
        """The gradient of the loss with respect to `data`."""
        if self._holder is not None:
            self._holder.asked(self, diff=True)
        return self._view(True)

    def _view(self, diff: bool) -> AnyArray:
        buffer = self._diff if diff else self._data
        if buffer.first is not None:
            buffer.first.settle()
        buffer.grow(prod(self.shape))
        seen = self._views.get(diff)
        if seen is None or seen[0] is not buffer or seen[1] != buffer.version or seen[2] != self.shape:
            array = Array(buffer, self.shape) if self.device.kind != "cpu" else self._numpy(buffer)
            self._views[diff] = seen = (buffer, buffer.version, self.shape, array)
        return seen[3]

    def _hand_out(self) -> AnyArray:
        """`_view` for a script: the buffer knows for how long that holds it."""
        array, buffer = self._view(False), self._data
        lease = buffer.hand_out()
        if isinstance(array, Array):
            shown = Array(buffer, self.shape)
            shown.lease = lease
            return shown
        return cast("np.ndarray[Any, Any]", lease.view(self.dtype)[: prod(self.shape)].reshape(self.shape))

    def _numpy(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        if buffer.host is None:
            buffer.host = cast(np.ndarray[Any, Any], buffer.device.empty((buffer.count,), buffer.dtype))
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

    @property
    def num(self) -> int:
        """Axis 0 of up to four; missing axes count 1, as in pycaffe."""
        return self._legacy(0)

    @property
    def channels(self) -> int:
        """Axis 1."""
        return self._legacy(1)

    @property
    def height(self) -> int:
        """Axis 2."""
        return self._legacy(2)

    @property
    def width(self) -> int:
        """Axis 3."""
        return self._legacy(3)

    def __repr__(self) -> str:
        return f"Blob{self.shape}"

    def __reduce__(self) -> tuple[Any, ...]:
        """For `copy` and `pickle`: a Blob of no net, with memory of its own."""
        diff = np.array(self.diff) if self._diff.count else None
        return remade, (self.shape, self.dtype, self.device.name, np.array(self.data), diff)


def remade(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    device: str,
    data: np.ndarray[Any, Any],
    diff: np.ndarray[Any, Any] | None,
) -> Blob:
    """The Blob that was copied or pickled."""
    blob = Blob(shape, dtype, device)
    blob.data[...] = data
    if diff is not None:
        blob.diff[...] = diff
    return blob


class Versions:
    """The versions of some blobs' values that somebody works with in another form, as a plan does with packed weights.

    A write through a kernel or `data` counts up the version of a Buffer. Through a numpy array that a script has taken it
    cannot: `Buffer.settle` finds it by the bytes, which are kept while a script may hold such an array (`Buffer.remember`).

    Parameters
    ----------
    blobs
        Each of them.
    user
        Told before values that have changed are forgotten. None: on a GPU, where each write is counted.
    """

    def __init__(self, blobs: Iterable[Blob] = (), user: User | None = None) -> None:
        self.known = [(blob, blob._data, blob._data.used_by(user) if user else blob._data.changes) for blob in blobs]
        self.buffers = {id(blob): buffer for blob, buffer, _ in self.known}  # the memory that each blob had then
        self.memory = set(self.buffers.values())

    @property
    def moved(self) -> bool:
        """Whether a blob has other memory than then."""
        return any(blob._data is not buffer for blob, buffer, _ in self.known)

    @property
    def old(self) -> bool:
        """Whether a blob has other memory, or other values by what is counted."""
        return any(blob._data is not buffer or buffer.changes != version for blob, buffer, version in self.known)

    def settle(self) -> None:
        """Finds what scripts have written to arrays that they hold."""
        for blob, buffer, _ in self.known:
            if buffer.before is not None and blob._data is buffer:
                buffer.settle()
