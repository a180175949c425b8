"""MultinomialLogisticLoss: the cross entropy of labels and probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class MultinomialLogisticLoss(Layer, type="MultinomialLogisticLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = -sum(log(bottom 0[n, label n])) / N: bottom 0 holds probabilities (N, ...), bottom 1 N whole labels.

    The axes of bottom 0 behind the first are one row of channels. Probabilities below 1e-20 count as that. For
    scores use SoftmaxWithLoss. Source: Caffe, but a label that is not a channel raises LayerError.
    """

    kernels, sum_kernels = Kernels("multinomial_logistic_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels = labelled_rows(self, bottom)
        top[0].reshape()
        self.sum = Sum(self, self.batch)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        label = bottom[1].data
        self.kernels.row_losses(self.sum.blocks, bottom[0].data, label, self.sum.partial, self.batch, self.channels)
        self.sum.join(top[0].data, self.batch)
        self.sum.check_labels(label, self.channels)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            data = bottom[0].data, bottom[1].data
            self.kernels.row_diffs(self.batch, *data, top[0].diff, bottom[0].diff, self.channels)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
