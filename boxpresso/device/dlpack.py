"""DLPack's structures: an array of a GPU handed to another library, and another's read, without a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError
from .signature import BFLOAT16, DType

CPU, CUDA = 1, 2  # kDLCPU, kDLCUDA
KINDS = {0: "i", 1: "u", 2: "f", 4: "bfloat"}
NAME = b"dltensor"  # of a capsule that nobody has consumed
LEGACY, PER_THREAD, NO_ORDER = 1, 2, -1  # streams by number, and that none is to wait


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("steps", ctypes.POINTER(ctypes.c_int64)), ("start", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


lent: dict[int, tuple[Managed, Any, Any]] = {}  # by address: what is given away, its numbers, and who owns the memory


def delete(address: int) -> None:
    """Called by the other library once it is done with a tensor."""
    lent.pop(address, None)


def drop(capsule: int) -> None:
    """Called with a capsule that ends: what nobody has consumed is deleted here."""
    if is_valid(capsule, NAME):
        delete(pointer_of(capsule, NAME))


# A capsule that ends is no object any more, to which a reference could be taken: its address is passed.
is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
tensor_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


DELETE, DROP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(delete), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(drop)


def capsule(address: int, shape: Sequence[int], dtype: DType, index: int, owner: Any) -> Any:
    """A contiguous array of a GPU as a capsule, which keeps `owner` for as long as the other library has it."""
    code = 4 if dtype == BFLOAT16 else next(code for code, kind in KINDS.items() if kind == dtype.kind)
    sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    tensor = Tensor(address, CUDA, index, len(shape), code, dtype.itemsize * 8, 1, sizes, None, 0)
    managed = Managed(tensor, None, ctypes.cast(DELETE, ctypes.c_void_p))
    at = ctypes.addressof(managed)
    lent[at] = managed, sizes, owner
    return new_capsule(at, NAME, ctypes.cast(DROP, ctypes.c_void_p))


def described(capsule: Any) -> tuple[int, tuple[int, ...], list[int] | None, DType]:
    """Address, shape, steps in elements (None: contiguous) and dtype of another library's capsule, which stays its own."""
    t = Tensor.from_address(tensor_of(capsule, NAME))
    kind = KINDS.get(t.code)
    if kind is None or t.lanes != 1:
        raise BoxpressoError(
            f"DLPack's type code {t.code} of {t.bits} bits cannot be taken; give float16, bfloat16, float32 or float64"
        )
    dtype: DType = BFLOAT16 if kind == "bfloat" else np.dtype(f"{kind}{t.bits // 8}")
    return (t.data or 0) + t.start, tuple(t.shape[: t.axes]), t.steps[: t.axes] if t.steps else None, dtype
