"""Matrix products on either device: our packed gemm on the CPU, cuBLAS or a tiled kernel on a GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..proto.errors import DeviceError, KernelError
from .cuda import cublas
from .kernel import Kernels

HOST, TILED = Kernels("gemm.cpp"), Kernels("gemm.cu")
CUT = 48  # gemm.h's
FEW = 8  # rows below which a product is bound by reading the other matrix, once


def gemm(
    trans_a: bool, trans_b: bool, m: int, n: int, k: int, alpha: float, a: Any, b: Any, beta: float, c: Any
) -> None:
    """C = alpha op(A) op(B) + beta C, row-major: op(A) is m x k, op(B) k x n, C m x n, as Caffe's caffe_cpu_gemm.

    The arrays, of any shape with enough elements, are one device's and of one dtype, float32 or float64. With beta 0
    what C held does not matter, NaN included. Every element is one sum in a fixed order, whatever the number of
    threads. Raises KernelError for an array that is too small.
    """
    for name, array, size in (("a", a, m * k), ("b", b, k * n), ("c", c, m * n)):
        if array.size < size:
            raise KernelError(f"gemm: {name} has {array.size} elements, m={m}, n={n}, k={k} ask for {size}")
    if m == 0 or n == 0:
        return
    device = device_of(c)
    if device.kind == "cpu":
        on_host(device.workers, trans_a, trans_b, m, n, k, alpha, a, b, beta, c)
    elif cublas() is not None:
        on_cublas(device, trans_a, trans_b, m, n, k, alpha, a, b, beta, c)
    else:
        tiled(trans_a, trans_b, m, n, k, alpha, a, b, beta, c)


def device_of(array: Any) -> Any:
    """The device of a blob's array."""
    from .open import open_device

    return open_device("cpu") if isinstance(array, np.ndarray) else array.device


def blocks(workers: int, rows: int, columns: int, times: int = 1) -> tuple[int, int, int]:
    """Cuts rows x columns of C for the workers: the rows and columns of a block, and the number of blocks.

    Columns are cut first, for a block packs its columns of B once for all its rows. Cuts are at multiples of each tile
    size of gemm.h (24 rows, CUT columns). `times`: how many products of this size are made at once.
    """
    panels = -(-columns // CUT)
    each = max(1, min(8, panels * times // (4 * workers)))
    across = -(-panels // each)
    down = 1 if workers == 1 else max(1, min(4 * workers // max(1, across * times), rows // 48))
    high = -(-rows // (24 * down)) * 24
    return high, each * CUT, -(-rows // high) * across


def on_host(workers: int, *product: Any) -> None:
    """Chooses the kernel of gemm.cpp by shape: where one side has few rows, the other is read once, from end to end."""
    trans_a, trans_b, m, n, k, alpha, a, b, beta, c = product
    if not trans_a and (trans_b or n == 1) and min(m, n) <= FEW:
        if n <= m:
            HOST.dots(parts(workers, m, k), n, k, alpha, a, b, beta, c, n, 1, m)
        else:
            HOST.dots(parts(workers, n, k), m, k, alpha, b, a, beta, c, 1, n, n)
    elif not trans_b and m <= FEW:
        row, step = (1, m) if trans_a else (k, 1)
        HOST.sums(parts(workers, n // 128 + 1, k * 128), m, n, k, alpha, a, row, step, b, beta, c)
    elif trans_b and not trans_a and m <= CUT and n > 4 * CUT:
        high = 8 * CUT if n > 32 * CUT * workers else 2 * CUT
        HOST.gemm_few_rows(-(-n // high), m, n, k, alpha, a, b, beta, c, high)
    else:
        high, wide, count = blocks(workers, m, n)
        HOST.gemm(count, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, high, wide)


def parts(workers: int, items: int, cost: int) -> int:
    """How many blocks to make of `items` things to do: one where waking the workers would cost more than it gives."""
    return 1 if items * cost < 16384 else min(items, 2 * workers)


def tiled(trans_a: bool, trans_b: bool, m: int, n: int, *rest: Any) -> None:
    """gemm.cu's plain kernel, on either device; `rest` is k, alpha, a, b, beta, c."""
    c = rest[-1]
    side = 64 if c.dtype == np.float32 else 32  # gemm.cu's SIDE
    count = -(-m // side) * -(-n // side)
    TILED.gemm_tiled(count, trans_a, trans_b, m, n, *rest)


def handle(device: Any) -> Any:
    """The device's cuBLAS handle, bound to its stream."""
    if "cublas" not in device.memo:
        device.memo["cublas"] = new_handle(device)
    return device.memo["cublas"]


def new_handle(device: Any) -> Any:
    device.enter()
    made = ctypes.c_void_p()
    check("cublasCreate_v2", cublas().cublasCreate_v2(ctypes.byref(made)))
    check("cublasSetStream_v2", cublas().cublasSetStream_v2(made, ctypes.c_void_p(device.stream.handle)))
    return made


def check(name: str, status: int) -> None:
    if status:
        raise DeviceError(f"{name} of cuBLAS failed with status {status} (see cublasStatus_t in NVIDIA's manual)")


def on_cublas(device: Any, *product: Any) -> None:
    """cuBLAS is column-major: there a row-major C is its transpose, which is op(B)^T op(A)^T."""
    trans_a, trans_b, m, n, k, alpha, a, b, beta, c = product
    device.enter()
    name, real = ("cublasSgemm_v2", ctypes.c_float) if c.dtype == np.float32 else ("cublasDgemm_v2", ctypes.c_double)
    left, right, out = (ctypes.c_void_p(array.address(array is c)) for array in (a, b, c))
    with device.among((a, b, c)):
        status = getattr(cublas(), name)(
            handle(device), int(trans_b), int(trans_a), n, m, k, ctypes.byref(real(alpha)),
            right, k if trans_b else n, left, m if trans_a else k, ctypes.byref(real(beta)), out, n,
        )  # fmt: skip
    check(name, status)
