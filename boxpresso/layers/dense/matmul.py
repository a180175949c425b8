"""MatMul: the products of two stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from ...device import AnyArray, Blob, blas
from ..core import Layer, Trait


class MatMul(Layer, type="MatMul", param="matmul_param", bottoms=(1, 2), tops=1, traits=Trait.WRITES_ALL):
    """top[..., i, j] = the sum over k of a[..., i, k] b[..., k, j], for each of the matrices that the last two axes hold.

    Both get a gradient. Learned parameter: b, where `blob_shape` gives it a shape and there is no bottom 1; 0 at first.

    Parameters
    ----------
    bottom 0
        a (..., M, K); (..., K, M) with transpose_a.
    bottom 1
        b (..., K, N); (..., N, K) with transpose_b.
    matmul_param
        `transpose_a`, `transpose_b` (false): whether the last two axes of a, of b change places. `blob_shape`: of b, without
        bottom 1. `dim_1`, `dim_2`, `dim_3`, of another fork: M, K and N, where a and b are taken as (M, K) and (N, K), whatever
        their axes are.

    Returns
    -------
    top 0
        (..., M, N).

    Raises
    ------
    LayerError
        Fewer than two axes; a and b with other axes before the last two, or another K; one bottom without blob_shape, or
        two with it; some of dim_1, dim_2, dim_3 alone, beside a transpose, or that are not the number of elements.

    Source
    ------
    synopsys-caffe, troyliu0105/caffe; sophgo/caffe for dim_1.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MatMul"', [[1, 2]], [[3, 5], [4, 0]]).tolist()
    [[11.0, 5.0]]
    >>> run_layer('type: "MatMul" matmul_param { transpose_b: true }', [[1, 2]], [[3, 5], [4, 0]]).tolist()
    [[13.0, 4.0]]
    """

    products, gpu_files = blas.HOST, (blas.TILED,)

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        return ("weight",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.matmul_param
        self.gemm, self.dims = partial(blas.gemm, self.device), (p.dim_1, p.dim_2, p.dim_3)
        self.need(all(self.dims) or not any(self.dims), "dim_1, dim_2 and dim_3 go together")
        self.turned = bool(p.transpose_a), bool(p.transpose_b) or all(self.dims)
        self.need(
            not (all(self.dims) and (p.transpose_a or p.transpose_b)),
            "dim_1 and its like go without transpose_a and transpose_b",
        )
        self.need(
            (len(bottom) == 1) == bool(p.blob_shape),
            "takes two bottoms, or one and a blob_shape of the matrices that it learns",
        )
        if p.blob_shape:
            self.parameter(0, tuple(p.blob_shape))

    def second(self, bottom: list[Blob]) -> Blob:
        """The blob that holds b."""
        return bottom[1] if len(bottom) > 1 else self.blobs[0]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = bottom[0].shape, self.second(bottom).shape
        if all(self.dims):
            m, k, n = self.dims
            self.need(
                bottom[0].count == m * k and prod(b) == n * k,
                f"dim_1 {m}, dim_2 {k} and dim_3 {n} ask for {m * k} and {n * k} elements, its bottoms are {a} and {b}",
            )
            self.sizes, self.times = (m, n, k), 1
            top[0].reshape(m, n)
            return
        self.need(len(a) > 1 and len(b) > 1, f"needs matrices, of two axes or more, got {a} and {b}")
        self.need(a[:-2] == b[:-2], f"{a} and {b} must agree in all axes but the last two")
        k, m = a[-2:] if self.turned[0] else a[:-3:-1]
        n, other = b[-2:] if self.turned[1] else b[:-3:-1]
        self.need(k == other, f"the matrices of {a} and {b} do not fit: {k} and {other} terms of a sum")
        self.sizes, self.times = (m, n, k), prod(a[:-2])
        top[0].reshape(*a[:-2], m, n)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        m, n, k = self.sizes
        for i in range(self.times):
            a, b = self.part(bottom[0].data, i, m * k), self.part(self.second(bottom).data, i, k * n)
            self.gemm(*self.turned, m, n, k, 1, a, b, 0, self.part(top[0].data, i, m * n))

    def part(self, array: AnyArray, index: int, size: int) -> AnyArray:
        matrix: AnyArray = self.device.part(array, index * size, (size,))
        return matrix

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        (m, n, k), (turn_a, turn_b), other = self.sizes, self.turned, self.second(bottom)
        learns = len(bottom) == 1 and self.param_propagate_down[0]
        for i in range(self.times):
            diff = self.part(top[0].diff, i, m * n)
            if propagate_down[0]:
                b, to = self.part(other.data, i, k * n), self.part(bottom[0].diff, i, m * k)
                if turn_a:
                    self.gemm(turn_b, True, k, m, n, 1, b, diff, 0, to)
                else:
                    self.gemm(False, not turn_b, m, k, n, 1, diff, b, 0, to)
            if learns or (len(bottom) > 1 and propagate_down[1]):
                a, to = self.part(bottom[0].data, i, m * k), self.part(other.diff, i, k * n)
                if turn_b:
                    self.gemm(True, turn_a, n, k, m, 1, diff, a, int(learns), to)
                else:
                    self.gemm(not turn_a, False, k, n, m, 1, a, diff, int(learns), to)
