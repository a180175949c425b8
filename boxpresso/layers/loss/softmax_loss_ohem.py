"""SoftmaxWithLossOHEM: the cross entropy of labels and scores, and beside it the loss of each region."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization
from .normalized_sum import KERNELS, check_labels


class SoftmaxWithLossOHEM(
    Layer,
    type="SoftmaxWithLossOHEM",
    param=("loss_param", "softmax_param"),
    bottoms=2,
    tops=(1, 3),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """SoftmaxWithLoss with a third top: the loss of each label, not normalised.

    top 0 = the sum of -log(softmax(bottom 0)[label]) over all labels, at most -log(FLT_MIN) each, divided by a
    normaliser of 1 at least. FULL divides by the number of labels, VALID by that of labels not ignored, BATCH_SIZE by
    the size of the axes before `axis`, PRE_FIXED by pre_fixed_normalizer, NONE by 1. The labels have no gradient, and
    top 2 passes none on.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        Whole labels from 0, one for each position of the other axes.
    softmax_param
        `axis` (1): the axis of the channels.
    loss_param
        As for SoftmaxWithLoss: `ignore_label` (none), `normalization` (VALID), `normalize` and `pre_fixed_normalizer`
        (1).

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: the probabilities, in the shape of bottom 0.
    top 2
        Optional: the loss of each label, in the shape of bottom 1.

    Raises
    ------
    LayerError
        A label that is not a channel and not ignored; a number of labels that is not that of the positions; no
        channels; an axis that the scores lack; a pre_fixed_normalizer that is not above 0 with PRE_FIXED; a gradient of
        the labels is asked for.

    Source
    ------
    R-FCN's Caffe, which has it on GPUs alone; here a label that is not a channel raises LayerError.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> scores, labels = [[0, 0], [100, 0]], [0, 1]
    >>> loss, probabilities, each = run_layer('type: "SoftmaxWithLossOHEM"', scores, labels, tops=3)
    >>> [round(x, 3) for x in [loss.item(), *each.tolist()]]
    [44.015, 0.693, 87.337]
    """

    kernels = Kernels("softmax_loss_ohem.cu")
    softmax_kernels, sum_kernels = softmax.kernels, KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label
        self.mode = normalization(self, p)
        self.probability = Blob((), self.dtype, self.device)
        self.result = self.device.empty((2,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        self.shape = outer, channels, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        self.need(
            bottom[1].count == outer * inner,
            f"scores of shape {shape} have {outer * inner} labels beside axis {axis}, bottom 1 has {bottom[1].shape}",
        )
        top[0].reshape()
        self.probability.reshape(*shape)
        if len(top) > 1:
            self.pass_on_memory(self.probability, top[1])
        if len(top) > 2:
            top[2].reshape(*bottom[1].shape)
        self.divisor = divisor(self.param.loss_param, self.mode, outer * inner, outer)
        self.each = self.device.empty((outer * inner,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.shape
        probability, label = self.probability.data, bottom[1].data
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, probability, *self.shape)
        if len(top) > 1:
            self.pass_on_data(self.probability, top[1])
        self.kernels.region_losses(outer * inner, probability, label, self.each, channels, inner, *self.ignored)
        self.kernels.region_total(
            1, self.each, label, top[0].data, self.result, outer * inner, channels, *self.ignored, self.divisor
        )
        if len(top) > 2:
            top[2].data[...] = self.device.part(self.each, 0, top[2].shape)
        check_labels(self, self.device.part(self.result, 1, (1,)), label, outer * inner, channels, self.ignored)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            outer, channels, inner = self.shape
            self.kernels.region_diffs(
                outer * inner, self.probability.data, bottom[1].data, top[0].diff, self.result, bottom[0].diff, channels,
                inner, *self.ignored,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
