"""RankingLoss: the score of the label a margin above all others, as DeViSE asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import KERNELS, Sum, labelled_rows


class RankingLoss(
    Layer,
    type="RankingLoss",
    param="ranking_loss_param",
    bottoms=2,
    tops=(0, 1),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """top = the mean over rows of sum over j other than the label l of max(0, margin - x_l + x_j).

    With `trunc` the sum of a row has its first term above 0 alone. The gradient is the derivative.

    Parameters
    ----------
    bottom 0
        x (N, ...), one row of scores for each example.
    bottom 1
        (N), labels from 0.
    ranking_loss_param
        `margin` (0.1); `trunc` (false).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Labels that are not one for each row, or no score of it; a gradient of the labels is asked for.

    Source
    ------
    Frome et al. 2013 (DeViSE), in Qi-Xian/DeVise.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "RankingLoss"', [[1, 1, 0.95, 0]], [0]).item(), 4)  # 0.1 + 0.05
    0.15
    >>> round(run_layer('type: "RankingLoss" ranking_loss_param { trunc: true }', [[1, 1, 0.95, 0]], [0]).item(), 4)
    0.1
    """

    kernels, sum_kernels = Kernels("ranking_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.ranking_loss_param
        self.how = int(p.trunc), p.margin

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.classes = labelled_rows(self, bottom)
        top[0].reshape()
        self.sum = Sum(self, self.batch)
        self.firsts, self.costs = (
            self.device.empty((self.batch,), np.int32),
            self.device.empty((self.batch,), self.dtype),
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label = bottom[0].data, bottom[1].data
        self.kernels.first_too_high(self.batch, x, label, self.firsts, self.classes, self.how[1])
        self.kernels.ranking_costs(self.batch, x, label, self.firsts, self.costs, self.classes, *self.how)
        self.kernels.ranking_losses(self.sum.blocks, self.costs, label, self.sum.partial, self.batch, self.classes)
        self.sum.join(top[0].data, self.batch)
        self.sum.check_labels(label, self.classes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, label = bottom[0].data, bottom[1].data
            how = top[0].diff, bottom[0].diff, self.batch, self.classes, *self.how
            self.kernels.ranking_diffs(bottom[0].count, x, label, self.firsts, *how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
