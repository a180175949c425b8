"""Similarity: the products of each row with each of a second set, such as the vectors of words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...device import Blob, blas
from ..core import Layer, Trait


class Similarity(Layer, type="Similarity", bottoms=2, tops=1, traits=Trait.WRITES_ALL):
    """top[i, j] = the sum over k of a[i, k] b[j, k]: a b^T.

    Parameters
    ----------
    bottom 0
        a (M, K, ...), rows of features.
    bottom 1
        b (N, K, ...), rows of as many.

    Returns
    -------
    top 0
        (M, N).

    Raises
    ------
    LayerError
        Bottoms without rows, or with rows of other lengths.

    Source
    ------
    Qi-Xian/DeVise, whose `mode` has no effect.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Similarity"', [[1, 2]], [[3, 0], [1, 1], [0, -1]]).tolist()
    [[3.0, 3.0, -2.0]]
    """

    products, gpu_files = blas.HOST, (blas.TILED,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gemm = partial(blas.gemm, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = (blob.shape for blob in bottom)
        self.need(len(a) > 1 and len(b) > 1 and b[0], f"needs rows of features twice, got shapes {a} and {b}")
        self.rows, self.others, self.length = a[0], b[0], bottom[1].count // b[0]
        self.need(
            self.length and bottom[0].count == self.rows * self.length,
            f"rows of bottom 0, {a}, and of bottom 1, {b}, must have as many numbers",
        )
        top[0].reshape(self.rows, self.others)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return -1, *first[1:]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = bottom[0].data, bottom[1].data
        self.gemm(False, True, self.rows, self.others, self.length, 1, a, b, 0, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        a, b, diff = bottom[0], bottom[1], top[0].diff
        if propagate_down[0]:
            self.gemm(False, False, self.rows, self.length, self.others, 1, diff, b.data, 0, a.diff)
        if propagate_down[1]:
            self.gemm(True, False, self.others, self.length, self.rows, 1, diff, a.data, 0, b.diff)
