"""OrdinalRegressionLoss: labels with an order, such as ages, as so many questions whether they are as high."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class OrdinalRegressionLoss(
    Layer, type="OrdinalRegressionLoss", param="ordinal_regression_loss_param", bottoms=2, tops=(0, 1), loss=True
):
    """top = - the mean over rows of sum over ranks k of w_k log(the probability of what is true).

    Scores 2k and 2k + 1 of a row say that its label is below k and that it is not; their softmax gives the two
    probabilities. The gradient is the derivative; its program leaves out the weight of the loss.

    Parameters
    ----------
    bottom 0
        (N, 2 K), scores.
    bottom 1
        (N), labels from 0 to K - 1.
    ordinal_regression_loss_param
        `k`: K, half of the scores without it. `weight_file`: a text file of K numbers w; 1 / K without it.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Scores that are not 2 K, a file that has not K numbers, a label that is no rank, a gradient of the labels is asked
        for.

    Source
    ------
    Niu et al. 2016, in luoyetx/OrdinalRegression.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "OrdinalRegressionLoss"', [[0, 0, 0, 0]], [1]).item(), 4)  # log 2
    0.6931
    """

    kernels, sum_kernels = Kernels("ordinal_regression_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.ordinal_regression_loss_param
        length = prod(bottom[0].shape[1:])
        self.ranks = p.k or length // 2
        self.need(self.ranks > 0, f"needs two scores for each rank, got the shape {bottom[0].shape}")
        self.need(length == 2 * self.ranks, f"needs {2 * self.ranks} scores a row, 2 for each rank, got {length}")
        weights = np.full(self.ranks, 1 / self.ranks)
        if p.weight_file:
            try:
                with open(p.weight_file, encoding="utf-8") as lines:
                    weights = np.array(lines.read().split(), np.float64)
            except (OSError, ValueError) as error:
                self.need(False, f"weight_file: cannot read {p.weight_file!r}: {error}")
            self.need(weights.size >= self.ranks, f"weight_file has {weights.size} numbers, {self.ranks} are needed")
        self.weights = self.device.table(weights[: self.ranks], self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, length = labelled_rows(self, bottom)
        self.need(length == 2 * self.ranks, f"needs {2 * self.ranks} scores a row, 2 for each rank, got {length}")
        top[0].reshape()
        self.sum = Sum(self, self.batch)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label = bottom[0].data, bottom[1].data
        sizes = self.batch, self.ranks
        self.kernels.ordinal_losses(self.sum.blocks, x, label, self.weights, self.sum.partial, *sizes)
        self.sum.join(top[0].data, self.batch)
        self.sum.check_labels(label, self.ranks)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, label = bottom[0].data, bottom[1].data
            how = self.weights, top[0].diff, bottom[0].diff, self.ranks, 1 / self.batch
            self.kernels.ordinal_diffs(bottom[0].count, x, label, *how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
