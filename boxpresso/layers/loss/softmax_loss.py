"""SoftmaxWithLoss: the cross entropy of labels and the softmax of scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, softmax

PIECE = 1024  # positions that one block sums, as in softmax_loss.cu


class SoftmaxWithLoss(
    Layer, type="SoftmaxWithLoss", param=("loss_param", "softmax_param"), bottoms=2, tops=(1, 2), loss=True
):
    """top = the sum of -log(softmax(bottom 0)[label]) over all labels, divided by a normaliser of 1 at least.

    Bottom 0: scores; softmax_param { axis: 1 } is theirs. Bottom 1: whole labels from 0, one for each position of the
    other axes. loss_param { ignore_label normalization: VALID } or the older normalize: true (VALID) or false
    (BATCH_SIZE). FULL divides by the number of labels, VALID by that of labels not ignored, BATCH_SIZE by the size of
    the axes before `axis`, PRE_FIXED (of a fork) by pre_fixed_normalizer, NONE by 1. The loss of a label is at most
    -log(FLT_MIN). A second top takes the probabilities. Source: Caffe, but a label that is no channel raises
    LayerError.
    """

    kernels = Kernels("softmax_loss.cu")
    softmax_kernels = softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        for fork in ("label_smoothing", "weight_by_label_freqs", "class_weighting"):
            self.need(not getattr(p, fork), f"loss_param: {fork} of a fork is not supported; remove it")
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label
        mode = p.NormalizationMode.Name(p.normalization)
        if p.HasField("normalize") and not p.HasField("normalization"):
            mode = "VALID" if p.normalize else "BATCH_SIZE"
        self.mode = mode
        fixed = p.pre_fixed_normalizer
        self.need(mode != "PRE_FIXED" or fixed > 0, f"pre_fixed_normalizer must be above 0, got {fixed:g}")
        self.probability = Blob((), self.dtype, self.device)
        self.result = self.device.empty((2,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        self.shape = outer, channels, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.need(
            bottom[1].count == outer * inner,
            f"scores of shape {shape} have {outer * inner} labels beside axis {axis}, bottom 1 of shape "
            f"{bottom[1].shape} has {bottom[1].count}; labels are whole numbers, one for each position",
        )
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        top[0].reshape()
        self.probability.reshape(*shape)
        if len(top) > 1:
            top[1].share_data(self.probability)
            top[1].reshape(*shape)
        fixed = self.param.loss_param.pre_fixed_normalizer
        divisors = {"FULL": outer * inner, "VALID": 0, "BATCH_SIZE": outer, "NONE": 1, "PRE_FIXED": fixed}
        self.divisor = divisors[self.mode]
        self.blocks = -(-outer * inner // PIECE)
        self.partial = self.device.empty((3 * max(1, self.blocks),), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.shape
        probability, label = self.probability.data, bottom[1].data
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, probability, *self.shape)
        self.kernels.label_losses(
            self.blocks, probability, label, self.partial, outer * inner, channels, inner, *self.ignored
        )
        self.kernels.join_losses(1, self.partial, top[0].data, self.result, self.blocks, self.divisor)
        if np.asarray(self.result)[1]:
            labels = np.asarray(label).ravel()
            wrong = (labels <= -1) | (labels >= channels) | np.isnan(labels)
            wrong &= (np.trunc(labels) != self.ignored[1]) | (not self.ignored[0])
            at = int(np.argmax(wrong))
            self.need(False, f"label {labels[at]:g} at {at} is none of the {channels} channels, 0 to {channels - 1}")

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        outer, channels, inner = self.shape
        probability, label = self.probability.data, bottom[1].data
        given, diff = (top[0].diff, self.result), bottom[0].diff
        if inner == 1:
            self.kernels.label_diffs_of_rows(outer, probability, label, *given, diff, channels, *self.ignored)
        else:
            blocks = outer * channels if inner else 0
            self.kernels.label_diffs(blocks, probability, label, *given, diff, channels, inner, *self.ignored)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
