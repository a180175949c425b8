"""device/blas.py: every form of gemm against numpy in double, on shapes that meet each kernel and each edge of a tile."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from boxpresso.device import blas, cublas, open_device
from boxpresso.proto.errors import KernelError

RNG = np.random.default_rng(5)
SHAPES = [(1, 1, 1), (1, 50, 300), (50, 1, 300), (3, 5, 70), (8, 48, 192), (9, 49, 193), (61, 130, 400), (130, 20, 385),
          (20, 300, 3), (33, 401, 210), (2, 1000, 30), (70, 7, 500)]  # fmt: skip


def matrices(trans_a, trans_b, m, n, k, dtype, device):
    a, b = RNG.standard_normal((m, k)), RNG.standard_normal((k, n))
    arrays = [np.ascontiguousarray(a.T if trans_a else a), np.ascontiguousarray(b.T if trans_b else b)]
    return a @ b, *(device.table(x, dtype) for x in arrays)


def near(actual, wanted, dtype):
    bound = (2e-5 if dtype == np.float32 else 1e-12) * np.abs(wanted).max(initial=0)
    assert np.abs(np.asarray(actual, np.float64) - wanted).max() < bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_gemm(shape, trans_a, trans_b, dtype, device):
    where, (m, n, k) = open_device(device), shape
    product, a, b = matrices(trans_a, trans_b, m, n, k, dtype, where)
    for multiply in (blas.gemm, blas.tiled):
        c = where.table(np.full((m, n), np.nan), dtype)
        multiply(where, trans_a, trans_b, m, n, k, 1, a, b, 0, c)  # beta 0: what c held does not matter
        near(c, product, dtype)
        before = RNG.standard_normal((m, n))
        c[...] = before
        multiply(where, trans_a, trans_b, m, n, k, -0.5, a, b, 2, c)
        near(c, -0.5 * product + 2 * before.astype(dtype), dtype)


def test_a_row_is_the_same_in_a_product_of_more_rows():
    """On a reproducible device, where rows may be images; with what was in C before, as a bias is, and for depths of several panels."""
    device = open_device("cpu", reproducible=True)
    for n, k in ((1, 70), (5, 401), (9, 33), (130, 402), (700, 500)):
        for trans_b in (False, True):
            _, a, b = matrices(False, trans_b, 60, n, k, np.float32, device)
            before = np.random.default_rng(0).standard_normal((60, n)).astype(np.float32)
            whole = before.copy()
            blas.gemm(device, False, trans_b, 60, n, k, 1, a, b, 1, whole)
            for m in (1, 3, 9, 40):
                part = before[:m].copy()
                blas.gemm(device, False, trans_b, m, n, k, 1, np.ascontiguousarray(a[:m]), b, 1, part)
                assert part.tobytes() == whole[:m].tobytes(), (m, n, k, trans_b)


def test_the_number_of_workers_does_not_matter():
    for m, n, k in [*SHAPES, (100, 700, 500)]:
        for trans_a, trans_b in [(False, False), (False, True), (True, False)]:
            _, a, b = matrices(trans_a, trans_b, m, n, k, np.float32, open_device("cpu"))
            results = []
            for workers in (1, 2, 3, 7):
                c = np.zeros((m, n), np.float32)
                blas.on_host(blas.HOST.on(open_device("cpu")), workers, trans_a, trans_b, m, n, k, 1, a, b, 0, c)
                results.append(c)
            assert all((r == results[0]).all() for r in results)


def test_infinity_and_nan_are_kept(device):
    where = open_device(device)
    a = np.ones((30, 200))
    a[4, 10], a[5, 20], a[29, 199] = np.inf, np.nan, -np.inf
    for multiply in (blas.gemm, blas.tiled):
        c = where.empty((30, 60), np.float32)
        left, right = where.table(a, np.float32), where.table(np.ones((200, 60)), np.float32)
        multiply(where, False, False, 30, 60, 200, 1, left, right, 0, c)
        c = np.asarray(c)
        assert np.isposinf(c[4]).all()
        assert np.isnan(c[5]).all()
        assert np.isneginf(c[29]).all()
        assert (np.delete(c, [4, 5, 29], 0) == 200).all()


def test_nothing_to_do_and_nothing_to_add(device):
    where = open_device(device)
    c = where.table(np.full((4, 20), 3.0), np.float32)
    empty = where.empty((0,), np.float32)
    blas.gemm(where, False, False, 0, 20, 5, 1, empty, where.empty((100,), np.float32), 0, c)
    assert (np.asarray(c) == 3).all()
    for m, n in [(4, 20), (20, 4), (1, 80)]:  # k = 0: the product is 0
        blas.gemm(where, False, False, m, n, 0, 1, empty, empty, 1, c)
        assert (np.asarray(c) == 3).all()
    blas.gemm(where, False, True, 4, 20, 0, 1, empty, empty, 0, c)
    assert (np.asarray(c) == 0).all()


def test_too_small_an_array(device):
    where = open_device(device)
    a = where.empty((6,), np.float32)
    with pytest.raises(KernelError, match="b has 6 elements, m=2, n=3, k=3 ask for 9"):
        blas.gemm(where, False, False, 2, 3, 3, 1, a, a, 0, a)


class FakeCublas:
    """What NVIDIA's manual says of cublasSgemm and cublasDgemm, on host memory: C = alpha op(A) op(B) + beta C, by columns."""

    def cublasCreate_v2(self, handle):
        return 0

    def cublasSetStream_v2(self, handle, stream):
        return 0

    def cublasSgemm_v2(self, *args):
        return self.gemm(ctypes.c_float, *args)

    def cublasDgemm_v2(self, *args):
        return self.gemm(ctypes.c_double, *args)

    def gemm(self, real, handle, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        def matrix(at, rows, columns, ld):
            flat = (real * (ld * columns)).from_address(at.value)
            return np.frombuffer(flat, real).reshape(columns, ld).T[:rows]

        left = matrix(a, k, m, lda).T if trans_a else matrix(a, m, k, lda)
        right = matrix(b, n, k, ldb).T if trans_b else matrix(b, k, n, ldb)
        out = matrix(c, m, n, ldc)
        addend = beta._obj.value * out if beta._obj.value else 0
        out[...] = alpha._obj.value * (left @ right) + addend
        return 0


class FakeDevice(nullcontext):
    stream = SimpleNamespace(handle=0)

    def among(self, arrays):
        return nullcontext()


class FakeArray:
    def __init__(self, values, dtype):
        self.values, self.dtype = np.array(values, dtype, order="C"), np.dtype(dtype)

    def address(self, write):
        return self.values.ctypes.data


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_what_cublas_is_asked_for(trans_a, trans_b, dtype, monkeypatch):
    """Row-major on top of a column-major library: transposes, sizes and leading dimensions. No GPU is needed to tell."""
    device = FakeDevice()
    monkeypatch.setattr(cublas, "library", FakeCublas)
    monkeypatch.setattr(cublas, "handle", lambda device: None)
    m, n, k = 3, 5, 4
    product, a, b = matrices(trans_a, trans_b, m, n, k, dtype, open_device("cpu"))
    before = RNG.standard_normal((m, n))
    c = FakeArray(before, dtype)
    cublas.gemm(device, trans_a, trans_b, m, n, k, 0.5, FakeArray(a, dtype), FakeArray(b, dtype), 2, c)
    near(c.values, 0.5 * product + 2 * before, dtype)
    c.values[...] = np.nan
    cublas.gemm(device, trans_a, trans_b, m, n, k, 1, FakeArray(a, dtype), FakeArray(b, dtype), 0, c)
    near(c.values, product, dtype)
