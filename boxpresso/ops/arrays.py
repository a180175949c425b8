"""Arrays of other libraries, in and out, without a copy: DLPack, `__cuda_array_interface__`, numpy."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np

from ..device import AnyArray, Array, Buffer, Device, open_device
from ..device.cast import cast_to, convert
from ..device.cuda import LEGACY, Cuda
from ..device.signature import BFLOAT16
from ..proto.errors import BoxpressoError
from . import memory

FLOATS = (np.dtype(np.float16), BFLOAT16, np.dtype(np.float32), np.dtype(np.float64))
CPU, CUDA = 1, 2  # kDLCPU, kDLCUDA


def place(x: Any) -> tuple[int, int]:
    """DLPack's device of an array: what kind, and which of them."""
    if isinstance(x, Array):
        return CUDA, x.device.index
    if hasattr(x, "__dlpack_device__"):
        kind, index = x.__dlpack_device__()
        return int(kind), int(index)
    return (CUDA if hasattr(x, "__cuda_array_interface__") else CPU), 0


def device_of(x: Any) -> Device:
    """The device of the caller's array. Raises BoxpressoError for one that is neither a CPU nor a CUDA GPU."""
    if type(x) is np.ndarray:
        return open_device("cpu")
    kind, index = place(x)
    if kind not in (CPU, CUDA):
        raise BoxpressoError(f"an array on DLPack's device {kind} cannot be taken; the CPU's and CUDA's can")
    return open_device("cpu" if kind == CPU else f"cuda:{index}", deterministic=kind == CUDA and deterministic(x))


def deterministic(x: Any) -> bool:
    """Whether torch, where the array is torch's, was asked for deterministic algorithms."""
    return package(x) == "torch" and bool(import_module("torch").are_deterministic_algorithms_enabled())


def package(x: Any) -> str:
    """The name of the package that an array's type comes from."""
    return type(x).__module__.partition(".")[0]


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
    return str(getattr(x, "dtype", "")) in ("bfloat16", "torch.bfloat16")


def values(x: Any, device: Device) -> np.ndarray:
    """The caller's array on the host; bfloat16 as float32."""
    array = np.asarray(take(x, device))
    return cast_to(array, np.float32) if array.dtype == BFLOAT16 else array


def float_of(x: Any, device: Device) -> np.dtype[Any]:
    """The dtype of results that go with the caller's array: its own, float32 where that is not one of FLOATS."""
    dtype = take(x, device).dtype
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
        return Array, x.shape, x.buffer.dtype, x.buffer.gpu.index
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return UNKNOWN
    kind, index = place(x)
    torch = package(x) == "torch"
    if kind != CUDA or (torch and (x.requires_grad or not x.is_contiguous())):
        return UNKNOWN
    return type(x), tuple(x.shape), x.dtype, index, torch and deterministic(x)


def known_kind(x: Any) -> bool:
    """Whether arrays of this one's kind are all alike to a call."""
    return kind_of(x) is not UNKNOWN


def whole(x: Any) -> bool:
    """Whether an array of a known kind is taken as it is."""
    return type(x) is np.ndarray or (type(x) is Array and x.size == x.buffer.count)


def take(x: Any, device: Device, dtype: Any = None) -> AnyArray:
    """The caller's array as one of `device`: its own memory where that is contiguous and of `dtype`, else a copy."""
    if type(x) is np.ndarray and device.kind == "cpu":
        if x.dtype.kind == "V":
            x = np.ascontiguousarray(on_host(x))
            return x if dtype is None else cast_to(x, dtype)
        return np.ascontiguousarray(x, dtype) if dtype != BFLOAT16 else cast_to(x, dtype)
    if type(x) is Array and x.buffer.device is device and whole(x) and (dtype is None or x.buffer.dtype == dtype):
        return x
    if getattr(x, "requires_grad", False):
        raise BoxpressoError("this array asks for a gradient: use boxpresso.ops.torch, or give its .detach()")
    if device_of(x).name != device.name:
        raise BoxpressoError(f"all arrays must be on {device.name}, where the first is; one is on {device_of(x).name}")
    if device.kind == "cpu":
        array = np.ascontiguousarray(on_host(x))
        return array if dtype is None else np.ascontiguousarray(cast_to(array, dtype))
    if isinstance(x, Array):
        taken = x if x.size == x.buffer.count else borrowed(device, x.dtype, x.shape, None, x.address(True), x)
    else:
        gpu = cast(Cuda, device)
        taken = from_dlpack(x, gpu) if hasattr(x, "__dlpack__") else from_interface(x, gpu)
    if dtype is None or taken.dtype == dtype:
        return taken
    copy: AnyArray = device.empty(taken.shape, dtype)
    cast_into(device, taken, copy)
    return copy


def on_host(x: Any) -> np.ndarray:
    """An array of the CPU as numpy's, over the same memory where that can be."""
    if is_bfloat16(x):
        if package(x) == "torch":
            x = x.contiguous().view(import_module("torch").int16).numpy()
        return np.ascontiguousarray(x).view(np.uint16).view(BFLOAT16)
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise BoxpressoError(f"this {type(x).__name__} cannot be taken by DLPack: {error}") from error


def borrowed(
    device: Device, dtype: Any, shape: Sequence[int], steps: Sequence[int] | None, address: int, owner: Any
) -> Array:
    """An Array over a GPU's memory that `owner` keeps; `steps` are in elements, None for contiguous ones."""
    wanted = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    count = int(np.prod(shape, dtype=np.int64))
    if steps is not None and count and any(s != w for s, w, n in zip(steps, wanted, shape) if n > 1):
        raise BoxpressoError(f"an array on a GPU must be contiguous; shape {tuple(shape)} has the steps {tuple(steps)}")
    return Array(Buffer.over(device, dtype, count, memory=Borrowed(address, owner)), shape)


def new(device: Cuda, shape: Sequence[int], dtype: Any) -> Array:
    """An array of a GPU whose elements may be anything."""
    count = math.prod(shape)
    memory = device.allocate(max(count, 1) * np.dtype(dtype).itemsize)
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
    given = (on_host(b) if place(b)[0] == CPU else np.asarray(b) for b in rois)
    boxes = np.concatenate([cast_to(b, np.float32) if b.dtype == BFLOAT16 else b for b in given])
    rows = np.column_stack([images, boxes]).astype(np.float64 if boxes.dtype == np.float64 else np.float32)
    return rows if device.kind == "cpu" else device.table(rows, rows.dtype)


class Borrowed:
    """An address in the memory of `owner`, who is kept alive."""

    def __init__(self, address: int, owner: Any) -> None:
        self.address, self.owner = address, owner

    def __int__(self) -> int:
        return self.address


def from_interface(x: Any, device: Cuda) -> Array:
    """An Array over the memory of a `__cuda_array_interface__`, after the work of the stream that it names: one that names
    none, as PyCUDA's, is taken to be written in the null stream."""
    said = x.__cuda_array_interface__
    dtype = np.dtype(said["typestr"])
    steps = said.get("strides") and [step // dtype.itemsize for step in said["strides"]]
    device.behind(said.get("stream") or LEGACY)
    return borrowed(device, dtype, said["shape"], steps, said["data"][0], x)


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("steps", ctypes.POINTER(ctypes.c_int64)), ("start", ctypes.c_uint64),
    ]  # fmt: skip


def from_dlpack(x: Any, device: Cuda) -> Array:
    """An Array over a GPU array of any library, which makes our stream wait for its own work."""
    capsule = x.__dlpack__(stream=device.stream.handle)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    t = Tensor.from_address(pointer(capsule, b"dltensor"))
    kind = {0: "i", 1: "u", 2: "f", 4: "bfloat"}.get(t.code)
    if kind is None or t.lanes != 1:
        raise BoxpressoError(
            f"DLPack's type code {t.code} of {t.bits} bits cannot be taken; give float16, bfloat16, float32 or float64"
        )
    dtype = BFLOAT16 if kind == "bfloat" else np.dtype(f"{kind}{t.bits // 8}")
    steps = t.steps[: t.axes] if t.steps else None
    # The capsule was not consumed: it stays ours, frees itself, and goes with the array.
    return borrowed(device, dtype, t.shape[: t.axes], steps, (t.data or 0) + t.start, (x, capsule))


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
            theirs = import_module("cupy").empty(tuple(shape), dtype)
        else:
            ours = new(cast(Cuda, self.device), shape, dtype)
            return ours, ours
        return theirs, take(theirs, self.device)

    def finish(self) -> None:
        """Orders what the caller does with the results behind our work. Nothing waits on the host: the caller's stream does."""
        if self.device.kind == "cpu" or type(self.like) is Array:
            return
        gpu, library = cast(Cuda, self.device), package(self.like)
        if library == "torch":
            gpu.before(int(import_module("torch").cuda.current_stream(gpu.index).cuda_stream))
        elif library == "cupy":
            gpu.before(int(import_module("cupy").cuda.get_current_stream().ptr))
        else:  # a library whose streams are not known
            gpu.synchronize()

    def outwards(self, array: np.ndarray) -> Any:
        """An array of the CPU as one of the caller's type; numpy's for libraries that do not take DLPack."""
        x, torch = self.like, package(self.like) == "torch"
        if array.dtype == BFLOAT16 and is_bfloat16(x):
            bits = array.view(np.int16)
            return import_module("torch").from_numpy(bits).view(x.dtype) if torch else bits.view(x.dtype)
        if isinstance(x, np.ndarray):
            return array
        if torch:
            return import_module("torch").from_numpy(array)
        space = getattr(x, "__array_namespace__", None)
        return space().from_dlpack(array) if space is not None else array
