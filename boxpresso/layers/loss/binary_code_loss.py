"""K1_EuclideanLoss and K2_EuclideanLoss: numbers of 0 to 1 that should be nearly bits, and as often 1 as 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import rows_of


class K1EuclideanLoss(Layer, type="K1_EuclideanLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = -sum((x - 1/2)^2) / (2 N K), K numbers of N rows: the lower, the nearer they are to 0 and 1.

    Bottom 1 is not read and has no gradient. Its program gives it that of x with the other sign: in the nets of the paper,
    which name one blob as both bottoms, the two cancel, and the loss teaches nothing there.

    Parameters
    ----------
    bottom 0
        x (N, ...), K numbers in all.
    bottom 1
        In the same shape; in published nets x once more.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in shape; an empty batch.

    Source
    ------
    Yang et al. 2018, Supervised learning of semantics-preserving hash (SSDH), and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> x = [[0, 1], [0.5, 0.5]]
    >>> run_layer('type: "K1_EuclideanLoss"', x, x).item()
    -0.03125
    """

    kernels = Kernels("binary_code_loss.cu")
    of_mean = 0  # whether the loss is of the mean of all numbers, not of each

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.rows, self.length = rows_of(self, bottom[0])
        self.need(
            bottom[0].shape == bottom[1].shape,
            f"its bottoms must have one shape, got {bottom[0].shape} and {bottom[1].shape}",
        )
        top[0].reshape()
        self.sums = self.device.empty((self.rows,), np.float64)
        self.offset = self.device.empty((1,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        sizes = self.length, self.of_mean
        self.kernels.code_sums(self.rows, bottom[0].data, self.sums, *sizes)
        self.kernels.code_loss(1, self.sums, top[0].data, self.offset, self.rows, *sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[1]:
            bottom[1].diff.fill(0)
        if propagate_down[0]:
            x, diff = bottom[0].data, bottom[0].diff
            self.kernels.code_diffs(bottom[0].count, x, self.offset, top[0].diff, diff, self.rows, self.of_mean)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class K2EuclideanLoss(K1EuclideanLoss, type="K2_EuclideanLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = (mean(x) - 1/2)^2 / (2 N), the mean being that of all numbers of the batch.

    Bottom 1 is not read and has no gradient, as of K1_EuclideanLoss.

    Parameters
    ----------
    bottom 0
        x (N, ...).
    bottom 1
        In the same shape; in published nets x once more.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in shape; an empty batch.

    Source
    ------
    Yang et al. 2018, Supervised learning of semantics-preserving hash (SSDH), and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> x = [[1, 1], [1, 1]]
    >>> run_layer('type: "K2_EuclideanLoss"', x, x).item()
    0.0625
    """

    of_mean = 1
