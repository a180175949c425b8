"""SigmoidCrossEntropyLoss: the cross entropy of independent yes-or-no targets and the logistic function of scores."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SigmoidCrossEntropyLoss(
    Layer, type="SigmoidCrossEntropyLoss", param="loss_param", bottoms=2, tops=(0, 1), loss=True
):
    """top = the sum of -t log(p) - (1 - t) log(1 - p), p = sigmoid(bottom 0), t = bottom 1, divided by a normaliser.

    Targets are from 0 to 1 and as many as scores. loss_param { ignore_label normalization: BATCH_SIZE }: a target that,
    truncated, is ignore_label does not count; FULL divides by the number of targets, VALID by that of targets not
    ignored, BATCH_SIZE by the first axis, PRE_FIXED by pre_fixed_normalizer, NONE by 1. The older normalize: true is
    VALID. Source: Caffe.
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        self.mode = normalization(self, p, "BATCH_SIZE")
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, count = bottom[0].shape, bottom[0].count
        self.need(
            bottom[1].count == count,
            f"needs a target for each score, got scores {shape} and targets {bottom[1].shape}",
        )
        top[0].reshape()
        self.sum = Sum(self, count)
        self.divisor = divisor(self.param.loss_param, self.mode, count, shape[0] if shape else 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        data = bottom[0].data, bottom[1].data
        self.kernels.entropies(self.sum.blocks, *data, self.sum.partial, bottom[0].count, *self.ignored)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "targets have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            data = bottom[0].data, bottom[1].data
            given = top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.entropies_backward(bottom[0].count, *data, *given, *self.ignored)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
