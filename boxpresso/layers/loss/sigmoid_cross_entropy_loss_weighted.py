"""SigmoidCrossEntropyLossWeighted: the cross entropy of yes-or-no targets, each with a weight of its own (LocNet)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum


class SigmoidCrossEntropyLossWeighted(Layer, type="SigmoidCrossEntropyLossWeighted", bottoms=3, tops=(0, 1), loss=True):
    """top = sum(w (log(1 + e^x) - x t)) / N, N being the first axis.

    Parameters
    ----------
    bottom 0
        x (N, ...), scores.
    bottom 1
        t, as many targets from 0 to 1.
    bottom 2
        w, as many weights; where one is 0, score and target do not matter.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements; an empty batch; a gradient of targets or weights is asked for.

    Source
    ------
    Gidaris and Komodakis 2016, and their Caffe (gidariss/caffe_LocNet).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SigmoidCrossEntropyLossWeighted"'
    >>> round(float(run_layer(text, [[0, 9]], [[1, 0]], [[2, 0]])), 4)  # 2 log(2)
    1.3863
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss_weighted.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        for i in (1, 2):
            fits = bottom[i].count == bottom[0].count
            self.need(
                fits, f"bottom {i} must have as many elements as bottom 0, got {bottom[i].shape} and {bottom[0].shape}"
            )
        self.batch = bottom[0].shape[0] if bottom[0].shape else 1
        self.sum = Sum(self, bottom[0].count)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, target, weight = (blob.data for blob in bottom)
        self.kernels.weighted_terms(self.sum.blocks, x, target, weight, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.batch))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "targets and weights have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0]:
            x, target, weight = (blob.data for blob in bottom)
            args = x, target, weight, top[0].diff, bottom[0].diff, 1 / self.batch
            self.kernels.weighted_backward(bottom[0].count, *args)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
