"""cuBLAS: where its library is, a handle for each stream, and matrix products by it."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from .array import Array
from .cuda import Cuda


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library where one is found (the CUDA toolkit's or the pip wheel's), else None."""
    names = [f"libcublas.so.{version}" for version in (13, 12, 11)] + ["libcublas.so"]
    for wheel in ("nvidia.cu13", "nvidia.cublas"):
        spec = importlib.util.find_spec(wheel) if importlib.util.find_spec("nvidia") else None
        for place in spec.submodule_search_locations or () if spec else ():
            names += [str(path) for path in sorted(Path(place, "lib").glob("libcublas.so*"))]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def call(name: str, *args: Any) -> None:
    """Calls one of its functions. Raises DeviceError where the function says that it failed."""
    status = getattr(library(), name)(*args)
    if status:
        raise DeviceError(f"{name} of cuBLAS failed with status {status} (see cublasStatus_t in NVIDIA's manual)")


def handle(device: Cuda) -> ctypes.c_void_p:
    """The handle of a device, bound to its stream."""
    known: ctypes.c_void_p | None = device.memo.get("cublas")
    if known is None:
        device.enter()
        known = ctypes.c_void_p()
        call("cublasCreate_v2", ctypes.byref(known))
        call("cublasSetStream_v2", known, ctypes.c_void_p(device.stream.handle))
        device.memo["cublas"] = known
    return known


def gemm(
    device: Cuda,
    trans_a: bool,
    trans_b: bool,
    m: int,
    n: int,
    k: int,
    alpha: float,
    a: Array,
    b: Array,
    beta: float,
    c: Array,
) -> None:
    """As blas.gemm. cuBLAS is column-major: there a row-major C is its transpose, which is op(B)^T op(A)^T."""
    device.enter()
    name, real = ("cublasSgemm_v2", ctypes.c_float) if c.dtype == np.float32 else ("cublasDgemm_v2", ctypes.c_double)
    left, right, out = (ctypes.c_void_p(array.address(array is c)) for array in (a, b, c))
    with device.among((a, b, c)):
        call(
            name, handle(device), int(trans_b), int(trans_a), n, m, k, ctypes.byref(real(alpha)),
            right, k if trans_b else n, left, m if trans_a else k, ctypes.byref(real(beta)), out, n,
        )  # fmt: skip
