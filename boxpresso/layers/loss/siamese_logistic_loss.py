"""SiameseLogisticLoss: the loss of a siamese tracker's map of scores."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum


class SiameseLogisticLoss(Layer, type="SiameseLogisticLoss", bottoms=3, tops=(0, 1), loss=True):
    """top = sum(w log(1 + exp(-y v))) / N, N being the first axis.

    Parameters
    ----------
    bottom 0
        v (N, ...), scores: those of `CrossCorrelation`.
    bottom 1
        y, as many labels: 1 where the target is, -1 elsewhere.
    bottom 2
        w, as many weights; where one is 0, score and label do not matter.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements; an empty batch; a gradient of labels or weights is asked for.

    Source
    ------
    Bertinetto et al. 2016; NicoleWang/caffe, whose gradient leaves the weight of the loss out.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(float(run_layer('type: "SiameseLogisticLoss"', [[0, 9]], [[1, -1]], [[2, 0]])), 4)  # 2 log(2)
    1.3863
    """

    kernels, sum_kernels = Kernels("siamese_logistic_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        for i in (1, 2):
            self.need(
                bottom[i].count == bottom[0].count,
                f"bottom {i} must have as many elements as bottom 0, got {bottom[i].shape} and {bottom[0].shape}",
            )
        self.batch = bottom[0].shape[0] if bottom[0].shape else 1
        self.sum = Sum(self, bottom[0].count)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, label, weight = (blob.data for blob in bottom)
        self.kernels.logistic_terms(self.sum.blocks, scores, label, weight, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.batch))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "labels and weights have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0]:
            scores, label, weight = (blob.data for blob in bottom)
            args = scores, label, weight, top[0].diff, bottom[0].diff, 1 / self.batch
            self.kernels.logistic_backward(bottom[0].count, *args)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
