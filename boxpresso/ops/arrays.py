"""Arrays of other libraries, in and out, without a copy: DLPack, `__cuda_array_interface__`, numpy."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, cast

import numpy as np

from ..device import AnyArray, Array, Buffer, Device, foreign, open_device
from ..device.cast import cast_to, convert
from ..device.cuda import Cuda
from ..device.dlpack import CPU, CUDA
from ..device.foreign import borrowed, chosen, let_go, package, place
from ..device.signature import BFLOAT16
from ..device.tape import address_of
from ..proto.errors import BoxpressoError
from . import memory

FLOATS = (np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64))
asked: ContextVar[bool] = ContextVar("reproducible", default=False)


@contextmanager
def reproducible() -> Iterator[None]:
    """While it lasts, operators give the same bits on every CPU (docs/reproducible.md).

    Arrays of a GPU are a DeviceError then. It counts for the thread, or the task of asyncio, that it is entered in, and for the
    gradients of what was computed there.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso import ops
    >>> with ops.reproducible():
    ...     ops.roi_align(np.ones((1, 1, 4, 4), "float32"), np.array([[0, 0, 0, 3, 3]], "float32"), 1).tolist()
    [[[[1.0]]]]
    """
    token = asked.set(True)
    try:
        yield
    finally:
        asked.reset(token)


def device_of(x: Any) -> Device:
    """The device of the caller's array. Raises BoxpressoError for one that is neither a CPU nor a CUDA GPU."""
    if type(x) is np.ndarray or plain_tensor(x):
        return open_device("cpu", reproducible=asked.get())
    kind, index = place(x)
    if kind not in (CPU, CUDA):
        raise BoxpressoError(f"an array on DLPack's device {kind} cannot be taken; the CPU's and CUDA's can")
    name = "cpu" if kind == CPU else f"cuda:{index}"
    return open_device(name, deterministic=kind == CUDA and deterministic(x), reproducible=asked.get())


def deterministic(x: Any) -> bool:
    """Whether torch, where the array is torch's, was asked for deterministic algorithms."""
    return package(x) == "torch" and bool(import_module("torch").are_deterministic_algorithms_enabled())


def channels_last(x: Any) -> bool:
    """Whether an array is a torch tensor (B, C, H, W) whose channels lie last in memory."""
    if package(x) != "torch" or x.dim() != 4 or x.is_contiguous():
        return False
    return bool(x.is_contiguous(memory_format=import_module("torch").channels_last))


def turned(x: Any, order: Sequence[int]) -> Any:
    """A view whose axis k is axis order[k] of an array of 4 axes."""
    return x.permute(*order) if package(x) == "torch" else np.asarray(x).transpose(order)


def cast_into(device: Device, source: AnyArray, target: AnyArray) -> None:
    """target[...] = source, in the target's dtype."""
    if device.kind == "cpu":
        target[...] = cast_to(np.asarray(source), target.dtype)
    else:
        convert(device, source, target)


def is_bfloat16(x: Any) -> bool:
    """Whether an array is of another library's bfloat16: torch's, or ml_dtypes' under numpy."""
    return named_bfloat16(getattr(x, "dtype", ""))


@functools.lru_cache(64)
def named_bfloat16(dtype: Any) -> bool:
    """Whether that is the name of a library's dtype."""
    return str(dtype) in ("bfloat16", "torch.bfloat16")


def values(x: Any, device: Device) -> np.ndarray:
    """The caller's array on the host; bfloat16 as float32."""
    array = np.asarray(take(x, device))
    return cast_to(array, np.float32) if array.dtype == BFLOAT16 else array


def real_values(x: Any, device: Device, name: str) -> np.ndarray:
    """`values` of the argument of that name, in this machine's order of bytes.

    Raises BoxpressoError for None, and for what are no real numbers.
    """
    if x is None:
        raise BoxpressoError(f"{name} must be an array, got None")
    array = x.numpy() if device.kind == "cpu" and plain_tensor(x) else values(x, device)
    if array.dtype.kind not in "biuf":
        raise BoxpressoError(f"{name} must be of real numbers, got {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def float_of(x: Any, device: Device) -> np.dtype[Any]:
    """The dtype of results that go with the caller's array: its own, float32 where that is not one of FLOATS."""
    dtype = take(x, device).dtype.newbyteorder("=")
    return dtype if dtype in FLOATS else np.dtype(np.float32)


UNKNOWN = "unknown"  # a kind of arrays that are looked at anew each time


def kind_of(x: Any) -> Any:
    """What tells kinds of a caller's arrays from each other, by which a call that was made ready for one serves another.

    None for one that is not given; UNKNOWN for one that may need a copy, whatever its shape and dtype are.
    """
    if x is None:
        return None
    if type(x) is np.ndarray:
        return (x.shape, x.dtype) if x.flags.c_contiguous and x.dtype.kind != "V" else UNKNOWN
    if type(x) is Array:
        buffer = x.buffer
        return Array, x.shape, buffer.dtype.num, buffer.gpu.index
    if plain_tensor(x):
        return type(x), x.shape, x.dtype
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return UNKNOWN
    kind, index = place(x)
    torch = package(x) == "torch"
    if kind != CUDA or (torch and (x.requires_grad or not x.is_contiguous())):
        return UNKNOWN
    return type(x), tuple(x.shape), x.dtype, index, torch and deterministic(x)


def plain_tensor(x: Any) -> bool:
    """Whether an array is a torch tensor on the CPU that numpy has as it lies in memory."""
    if package(x) != "torch" or not getattr(x, "is_cpu", False) or not x.is_contiguous() or x.requires_grad:
        return False
    return not (x.is_conj() or x.is_neg() or named_bfloat16(x.dtype))


def known_kind(x: Any) -> bool:
    """Whether arrays of this one's kind are all alike to a call."""
    return kind_of(x) is not UNKNOWN


def taken_as_it_is(x: Any, device: Device) -> AnyArray:
    """`take` of an array of a known kind."""
    if type(x) is np.ndarray:
        return x
    return cast(AnyArray, x.numpy()) if device.kind == "cpu" else take(x, device)


def whole(x: Any) -> bool:
    """Whether an array of a known kind is taken as it is."""
    return type(x) is np.ndarray or (type(x) is Array and x.size == x.buffer.count)


def address(x: Any) -> int:
    """Where an array of a known kind of the CPU lies."""
    return x.data_ptr() if package(x) == "torch" else address_of(x)


def take(x: Any, device: Device, dtype: Any = None) -> AnyArray:
    """The caller's array as one of `device`: its own memory where that is contiguous and of `dtype`, else a copy."""
    if type(x) is np.ndarray and device.kind == "cpu":
        if x.dtype.kind == "V":
            x = np.asarray(on_host(x), order="C")  # np.ascontiguousarray gives one without axes an axis
            return x if dtype is None else cast_to(x, dtype)
        return np.asarray(x, dtype, order="C") if dtype != BFLOAT16 else cast_to(x, dtype)
    if device.kind == "cpu" and dtype is None and plain_tensor(x):
        try:
            return cast(AnyArray, x.numpy())
        except TypeError as error:  # of a dtype that numpy has not
            raise BoxpressoError(f"an array of {x.dtype} cannot be taken: {error}") from error
    if type(x) is Array and x.buffer.device is device and whole(x) and (dtype is None or x.buffer.dtype == dtype):
        return x
    if getattr(x, "requires_grad", False):
        raise BoxpressoError("this array asks for a gradient: use boxpresso.ops.torch, or give its .detach()")
    if device_of(x).name != device.name:
        raise BoxpressoError(f"all arrays must be on {device.name}, where the first is; one is on {device_of(x).name}")
    if device.kind == "cpu":
        array = np.asarray(on_host(x), order="C")
        return array if dtype is None else np.asarray(cast_to(array, dtype), order="C")
    if isinstance(x, Array):
        taken = x if x.size == x.buffer.count else borrowed(device, x.dtype, x.shape, None, x.address(True), x)
    else:
        taken = foreign.take(x, cast(Cuda, device))
    if dtype is None or taken.dtype == dtype:
        return taken
    copy: AnyArray = device.empty(taken.shape, dtype)
    cast_into(device, taken, copy)
    return copy


def on_host(x: Any) -> np.ndarray:
    """An array of the CPU as numpy's, over the same memory where that can be."""
    torch = package(x) == "torch"
    if torch:  # DLPack loses the sign of a view of negative numbers, and such a view has no bits of its own
        x = x.resolve_neg()
    if is_bfloat16(x):
        if torch:
            x = x.contiguous().view(import_module("torch").int16).numpy()
        return np.asarray(x, order="C").view(np.uint16).view(BFLOAT16)
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise BoxpressoError(f"this {type(x).__name__} cannot be taken by DLPack: {error}") from error


def new(device: Cuda, shape: Sequence[int], dtype: Any) -> Array:
    """An array of a GPU whose elements may be anything."""
    count = math.prod(shape)
    memory = device.lend(max(count, 1) * np.dtype(dtype).itemsize)
    return Array(Buffer.over(device, dtype, count, memory=memory), shape)


def regions_of(rois: Any, like: Any, columns: int = 5) -> Any:
    """Regions (K, columns) of a list of arrays of boxes, one for each image; anything else stays as it is.

    Examples
    --------
    >>> regions_of([np.ones((1, 4)), np.zeros((0, 4)), np.ones((1, 4))], np.ones(1)).tolist()
    [[0.0, 1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0]]
    """
    if not isinstance(rois, (list, tuple)) or not all(len(getattr(boxes, "shape", ())) == 2 for boxes in rois):
        return rois
    device = device_of(like)
    if not rois:
        none = np.zeros((0, columns), np.float32)
        return none if device.kind == "cpu" else device.table(none, none.dtype)
    if len({boxes.shape[1] for boxes in rois}) > 1:
        raise BoxpressoError(f"boxes of all images must have one width, got {[tuple(b.shape) for b in rois]}")
    library = package(rois[0])
    if library == "torch":
        torch = import_module("torch")
        real = [b if b.dtype == torch.float64 else b.float() for b in rois]  # 16 bits hold few image numbers
        return torch.cat([torch.cat([torch.full_like(b[:, :1], i), b], 1) for i, b in enumerate(real)])
    if library == "cupy":
        cupy = import_module("cupy")
        real = [b if b.dtype == np.float64 else b.astype(np.float32) for b in rois]
        return cupy.concatenate([cupy.hstack([cupy.full_like(b[:, :1], i), b]) for i, b in enumerate(real)])
    images = np.repeat(np.arange(len(rois)), [len(boxes) for boxes in rois])
    arrays_of_rois = (on_host(b) if place(b)[0] == CPU else np.asarray(b) for b in rois)
    boxes = np.concatenate([cast_to(b, np.float32) if b.dtype == BFLOAT16 else b for b in arrays_of_rois])
    rows = np.column_stack([images, boxes]).astype(np.float64 if boxes.dtype == np.float64 else np.float32)
    return rows if device.kind == "cpu" else device.table(rows, rows.dtype)


class Results:
    """Allocates results of the caller's kind of array, and hands them over."""

    def __init__(self, like: Any, device: Device) -> None:
        self.like, self.device = like, device

    def empty(self, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
        """A new array of the caller's, and the same memory as ours."""
        if self.device.kind == "cpu":
            array = memory.empty(shape, dtype)
            return self.outwards(array), array
        if type(self.like) is Array:
            ours = new(cast(Cuda, self.device), shape, dtype)
            return ours, ours
        library = package(self.like)
        if library == "torch":
            theirs = self.like.detach().new_empty(
                tuple(shape),
                dtype=getattr(import_module("torch"), "bfloat16" if dtype == BFLOAT16 else np.dtype(dtype).name),
            )
        elif library == "cupy":
            with chosen(self.like, cast(Cuda, self.device)):
                theirs = import_module("cupy").empty(tuple(shape), dtype)
        else:
            ours = new(cast(Cuda, self.device), shape, dtype)
            return ours, ours
        return theirs, take(theirs, self.device)

    def finish(self) -> None:
        """Orders what the caller does with the results behind our work. Nothing waits on the host: the caller's stream does."""
        if self.device.kind == "cpu" or type(self.like) is Array:
            return
        let_go(self.like, cast(Cuda, self.device))

    def outwards(self, array: np.ndarray) -> Any:
        """An array of the CPU as one of the caller's type; numpy's for libraries that do not take DLPack."""
        x = self.like
        library = package(x)
        if array.dtype == BFLOAT16 and is_bfloat16(x):
            bits = array.view(np.int16)
            return sys.modules["torch"].from_numpy(bits).view(x.dtype) if library == "torch" else bits.view(x.dtype)
        if isinstance(x, np.ndarray):
            return array
        if library == "torch":
            return sys.modules["torch"].from_numpy(array)
        space = getattr(x, "__array_namespace__", None)
        return space().from_dlpack(array) if space is not None else array


class Given(Results):
    """Results on the CPU in memory that is the caller's.

    room: gives an array for a shape and a dtype; of bfloat16 it may be of another library's type.
    """

    def __init__(self, like: Any, device: Device, room: Callable[[Sequence[int], Any], np.ndarray]) -> None:
        super().__init__(like, device)
        self.room = room

    def empty(self, shape: Sequence[int], dtype: Any) -> tuple[Any, Any]:
        array = self.room(shape, dtype)
        if array.shape != tuple(shape) or array.dtype.itemsize != np.dtype(dtype).itemsize:
            raise BoxpressoError(
                f"a result is {np.dtype(dtype)} {tuple(shape)}, its memory {array.dtype} {array.shape}"
            )
        return array, array.view(dtype)
