"""cuBLAS: where its library is, a handle for each stream, and matrix products by it."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from . import context
from .array import Array
from .cuda import Allocation, Cuda
from .libraries import Unsuitable, find
from .libraries import usable as usable_on
from .prototypes import CUBLAS

TF32 = 3  # CUBLAS_TF32_TENSOR_OP_MATH
UNSUITABLE = {1, 8}  # CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ARCH_MISMATCH: another driver or GPU is needed
MAJOR, PATCH = 0, 2  # libraryPropertyType
OTHERWISE = "our own kernel multiplies matrices"
# Bytes by the first number of the compute capability, as NVIDIA's manual has them; others 4 MiB.
WORKSPACE = {9: 2**25, 10: 2**25, 12: 12 * 2**20}
MOST = 2**31 - 1  # rows, columns, terms, products, and elements from a row to the next


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library that is used (torch's, the pip wheel's or the CUDA toolkit's), None without one."""
    return find("cublas", (13, 12, 11), CUBLAS, lambda library: number(library, MAJOR), OTHERWISE)


def number(library: ctypes.CDLL, which: int) -> int:
    """One of the numbers of a library's version; 0 where it does not say. The first is also that of its CUDA."""
    value = ctypes.c_int()
    return 0 if library.cublasGetProperty(which, ctypes.byref(value)) else value.value


def usable(device: Cuda) -> bool:
    """Whether there is a library, and it works on this GPU with this driver."""
    return library() is not None and usable_on("cublas", device.index, lambda: handle(device), OTHERWISE)


def call(name: str, *args: Any) -> None:
    """Calls one of its functions. Raises DeviceError where the function says that it failed."""
    status = getattr(library(), name)(*args)
    if status:
        said = getattr(library(), "cublasGetStatusString", None)
        reason = f": {said(status).decode()}" if said else " (see cublasStatus_t in NVIDIA's manual)"
        unsuitable = name == "cublasCreate_v2" and status in UNSUITABLE
        raise (Unsuitable if unsuitable else DeviceError)(f"{name} of cuBLAS failed with status {status}{reason}")


def handle(device: Cuda) -> ctypes.c_void_p:
    """The handle of a device, bound to its stream and to a workspace of ours. It ends with the stream."""
    known: ctypes.c_void_p | None = device.memo.get("cublas")
    if known is None:
        loaded = library()
        assert loaded is not None
        known = ctypes.c_void_p()
        with device, context.exclusive:
            call("cublasCreate_v2", ctypes.byref(known))
            device.ends.append(functools.partial(loaded.cublasDestroy_v2, known))
            call("cublasSetStream_v2", known, ctypes.c_void_p(device.stream.handle))
            # One of cuBLAS's own would be allocated again for each graph that is captured.
            size = WORKSPACE.get(device.gpu.compute_capability()[0], 2**22)
            workspace: Allocation = device.allocate(size)
            call("cublasSetWorkspace_v2", known, ctypes.c_void_p(int(workspace)), ctypes.c_size_t(size))
            if device.fast_math:
                call("cublasSetMathMode", known, TF32)
        device.memo["cublas"], device.memo["cublas workspace"] = known, workspace
    return known


@dataclass(frozen=True)
class Matrices:
    """How the matrices of one operand lie: elements from a row to the next, and from a matrix to the next."""

    pitch: int
    step: int = 0


def gemm(
    device: Cuda, trans_a: bool, trans_b: bool, m: int, n: int, k: int,
    alpha: float, a: Array, b: Array, beta: float, c: Array,
    layouts: tuple[Matrices, Matrices, Matrices] | None = None, count: int = 1,
) -> None:  # fmt: skip
    """As blas.gemm, and as blas.products with layouts.

    cuBLAS is column-major: there a row-major C is its transpose, which is op(B)^T op(A)^T. It refuses a leading dimension of 0,
    which a matrix without columns would have.
    """
    single = c.dtype == np.float32
    real = ctypes.c_float if single else ctypes.c_double
    la, lb, lc = layouts or (Matrices(m if trans_a else k), Matrices(k if trans_b else n), Matrices(n))
    left, right, out = (ctypes.c_void_p(array.address(array is c)) for array in (a, b, c))
    one, other = ctypes.byref(real(alpha)), ctypes.byref(real(beta))
    pitches = max(1, lb.pitch), max(1, la.pitch), max(1, lc.pitch)
    if max(m, n, k, count, *pitches) > MOST:
        raise DeviceError(
            f"{device.name}: a product of {m} x {k} and {k} x {n}, {count} times, is more than cuBLAS takes"
        )
    head = handle(device), int(trans_b), int(trans_a), n, m, k, one
    with device, device.among((a, b, c)):
        if count == 1:
            name = "cublasSgemm_v2" if single else "cublasDgemm_v2"
            call(name, *head, right, pitches[0], left, pitches[1], other, out, pitches[2])
            return
        steps = [ctypes.c_longlong(layout.step) for layout in (lb, la, lc)]
        name = "cublasSgemmStridedBatched" if single else "cublasDgemmStridedBatched"
        call(
            name, *head, right, pitches[0], steps[0], left, pitches[1], steps[1], other, out, pitches[2], steps[2], count
        )  # fmt: skip


def version() -> str:
    """The version of the library that is found."""
    known = library()
    if known is None:
        return "unknown version"
    return ".".join(str(number(known, which)) for which in range(MAJOR, PATCH + 1))
