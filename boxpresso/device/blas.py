"""Matrix products on either device: our packed gemm on the CPU, cuBLAS or a tiled kernel on a GPU."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..proto.errors import KernelError
from . import cublas
from .array import AnyArray
from .cublas import Matrices
from .cuda import Cuda
from .device import Device
from .host import Cpu
from .kernel import BoundKernels, Kernels
from .signature import HEADERS, StructValue

HOST, TILED = Kernels(HEADERS / "gemm.cpp"), Kernels(HEADERS / "gemm.cu")
Layouts = tuple[Matrices, Matrices, Matrices]
FEW = 8  # rows below which a product is bound by reading the other matrix, once


def gemm(
    device: Device, trans_a: bool, trans_b: bool, m: int, n: int, k: int,
    alpha: float, a: AnyArray, b: AnyArray, beta: float, c: AnyArray,
) -> None:  # fmt: skip
    """C = alpha op(A) op(B) + beta C, row-major: op(A) is m x k, op(B) k x n, C m x n, as Caffe's caffe_cpu_gemm.

    The arrays, of any shape with enough elements, are the device's and of one dtype, float32 or float64. With beta 0
    what C held does not matter, NaN included. Every element is one sum in a fixed order, whatever the number of
    threads. Raises KernelError for an array that is too small.
    """
    for name, array, size in (("a", a, m * k), ("b", b, k * n), ("c", c, m * n)):
        if array.size < size:
            raise KernelError(f"gemm: {name} has {array.size} elements, m={m}, n={n}, k={k} ask for {size}")
    if m == 0 or n == 0:
        return
    product: Any = trans_a, trans_b, m, n, k, alpha, a, b, beta, c
    if isinstance(device, Cpu):
        on_host(HOST.on(device), device.workers, *product)
    elif isinstance(device, Cuda) and cublas.usable(device):
        cublas.gemm(device, *product)
    else:
        tiled(device, *product)


def blocks(workers: int, rows: int, columns: int, times: int = 1) -> tuple[int, int, int]:
    """Cuts rows x columns of C for the workers: the rows and columns of a block, and the number of blocks.

    Columns are cut first, for a block packs its columns of B once for all its rows. Cuts are at multiples of each tile
    size of gemm.h (24 rows, CUT columns). `times`: how many products of this size are made at once.
    """
    cut = HOST.constants["CUT"]
    panels = -(-columns // cut)
    each = max(1, min(8, panels * times // (4 * workers)))
    across = -(-panels // each)
    down = 1 if workers == 1 else max(1, min(4 * workers // max(1, across * times), rows // 48))
    high = -(-rows // (24 * down)) * 24
    return high, each * cut, -(-rows // high) * across


def on_host(kernels: BoundKernels, workers: int, *product: Any) -> None:
    """Chooses the kernel of gemm.cpp by shape: where one side has few rows, the other is read once, from end to end.

    On a reproducible device the order of a sum is the same for any m, as rows of C may be images of a batch: `gemm` and
    `gemm_few_rows` have one, `dots` another.
    """
    trans_a, trans_b, m, n, k, alpha, a, b, beta, c = product
    if kernels.device.reproducible and (n > FEW or not (trans_b or n == 1)):
        high, wide, count = blocks(workers, m, n)
        if trans_b and not trans_a and m <= FEW:
            high = HOST.constants["CUT"]
            kernels.gemm_few_rows(-(-n // high), m, n, k, alpha, a, b, beta, c, high)
        else:
            kernels.gemm(count, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, block_size(high, wide))
    elif not trans_a and (trans_b or n == 1) and min(m, n) <= FEW:
        if n <= m:
            kernels.dots(parts(workers, m, k), n, k, alpha, a, b, beta, c, n, 1, m)
        else:
            kernels.dots(parts(workers, n, k), m, k, alpha, b, a, beta, c, 1, n, n)
    elif not trans_b and m <= FEW:
        row, step = (1, m) if trans_a else (k, 1)
        kernels.sums(parts(workers, n // 128 + 1, k * 128), m, n, k, alpha, a, row, step, b, beta, c)
    elif trans_b and not trans_a and m <= (cut := HOST.constants["CUT"]) and n > 4 * cut:
        high = 8 * cut if n > 32 * cut * workers else 2 * cut
        kernels.gemm_few_rows(-(-n // high), m, n, k, alpha, a, b, beta, c, high)
    else:
        high, wide, count = blocks(workers, m, n)
        kernels.gemm(count, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, block_size(high, wide))


@functools.lru_cache(maxsize=None)
def block_size(rows: int, columns: int) -> StructValue:
    """gemm.cpp's Block."""
    return HOST.struct("Block", rows=rows, columns=columns)


def parts(workers: int, items: int, cost: int) -> int:
    """How many blocks to make of `items` things to do: one where waking the workers would cost more than it gives."""
    return 1 if items * cost < 16384 else min(items, 2 * workers)


def tiled(device: Device, trans_a: bool, trans_b: bool, m: int, n: int, *rest: Any) -> None:
    """gemm.cu's plain kernel, on either device; `rest` is k, alpha, a, b, beta, c."""
    k, alpha, a, b, beta, c = rest
    layouts = Matrices(m if trans_a else k), Matrices(k if trans_b else n), Matrices(n)
    tiles(device, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, layouts, 1)


def tiles(
    device: Device, trans_a: bool, trans_b: bool, m: int, n: int, k: int, alpha: float, a: AnyArray, b: AnyArray,
    beta: float, c: AnyArray, layouts: Layouts, count: int,
) -> None:  # fmt: skip
    """`products` by gemm.cu's plain kernel."""
    side = TILED.constants["SIDE_OF_FLOATS" if c.dtype == np.float32 else "SIDE_OF_DOUBLES"]
    blocks = -(-m // side) * -(-n // side)
    left, right, out = layouts
    form = TILED.struct(
        "Form", trans_a=int(trans_a), trans_b=int(trans_b), rows=m, columns=n, depth=k, left_pitch=left.pitch,
        right_pitch=right.pitch, out_pitch=out.pitch, left_step=left.step, right_step=right.step, out_step=out.step,
    )  # fmt: skip
    TILED.on(device).gemm_tiled(blocks * count, form, alpha, a, b, beta, c)


def products(
    device: Device, trans_a: bool, trans_b: bool, m: int, n: int, k: int, alpha: float, a: AnyArray, b: AnyArray,
    beta: float, c: AnyArray, layouts: Layouts, count: int,
) -> None:  # fmt: skip
    """`count` products as gemm's, of matrices that lie in the arrays as the layouts of a, b and c say.

    A layout's pitch is the elements from a row to the next, its step those from a matrix to the next; with a step of 0 one
    matrix is used in all products. On the CPU matrices with gaps go through gemm.cu's plain kernel.
    """
    if m == 0 or n == 0 or count == 0:
        return
    for name, array, layout, rows, columns in (
        ("a", a, layouts[0], *((k, m) if trans_a else (m, k))),
        ("b", b, layouts[1], *((n, k) if trans_b else (k, n))),
        ("c", c, layouts[2], m, n),
    ):
        end = (count - 1) * layout.step + (rows - 1) * layout.pitch + columns if rows and columns else 0
        if array.size < end or layout.pitch < columns:
            raise KernelError(
                f"products: {name} has {array.size} elements and rows {layout.pitch} apart; m={m}, n={n}, k={k}, {count} "
                f"products {layout.step} apart ask for {end}"
            )
    if isinstance(device, Cuda) and cublas.usable(device):
        cublas.gemm(device, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, layouts, count)  # type: ignore[arg-type]  # arrays of a GPU
        return
    whole = [layout.pitch for layout in layouts] == [m if trans_a else k, k if trans_b else n, n]
    if not isinstance(device, Cpu) or not whole:
        tiles(device, trans_a, trans_b, m, n, k, alpha, a, b, beta, c, layouts, count)
        return
    for i in range(count):
        parts = [device.part(x, i * at.step, (x.size - i * at.step,)) for x, at in zip((a, b, c), layouts)]  # type: ignore[arg-type]  # arrays of the CPU
        gemm(device, trans_a, trans_b, m, n, k, alpha, parts[0], parts[1], beta, parts[2])
