"""MultinomialLogisticLoss: the cross entropy of labels and probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import KERNELS, Sum, labelled_rows


class MultinomialLogisticLoss(
    Layer, type="MultinomialLogisticLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.CLASS_LABELS
):
    """top = -sum(log(bottom 0[n, label n])) / N: the cross entropy of labels and probabilities.

    Probabilities below 1e-20 count as 1e-20. The labels have no gradient. For scores use SoftmaxWithLoss.

    Parameters
    ----------
    bottom 0
        Probabilities (N, ...); the axes behind the first are one row of channels.
    bottom 1
        N whole labels, from 0.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        A label that is not a channel; bottom 1 does not have one label for each row; an empty batch; a gradient of the
        labels is asked for.

    Source
    ------
    Caffe, but a label that is not a channel raises LayerError.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "MultinomialLogisticLoss"', [[0.5, 0.5], [0, 1]], [0, 1]).item(), 3)
    0.347
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
