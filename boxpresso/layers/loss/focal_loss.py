"""FocalLoss: the cross entropy of labels and the softmax of scores, in which easy examples count little."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ...device.functions import log, powers
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization
from .normalized_sum import refuse_label

TINY = float(np.finfo(np.float32).tiny)


class FocalLoss(
    Layer,
    type="FocalLoss",
    param=("focal_loss_param", "loss_param", "softmax_param"),
    bottoms=2,
    tops=(1, 2),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """top 0 = the sum of -alpha (1 - p)^gamma log(p) over all labels, p = softmax(bottom 0)[label], divided as
    SoftmaxWithLoss does.

    The labels have no gradient.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        Whole labels from 0, one for each position of the other axes.
    focal_loss_param
        `alpha` (0.25), above 0. `gamma` (2), not negative. `type` (ORIGIN), the only one; `beta` is not read.
    softmax_param
        `axis` (1).
    loss_param
        `ignore_label`, `normalization` and `normalize`, as for SoftmaxWithLoss.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: the probabilities.

    Raises
    ------
    LayerError
        For another `type`; an alpha or gamma out of range; a number of labels that is not that of the positions; a
        label that is no channel and not ignored; a gradient of the labels.

    Source
    ------
    Lin et al. 2017 (RetinaNet), with a softmax as in makefile/frcnn, chuanqi305 and fireae/caffe_latte.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "FocalLoss" focal_loss_param { alpha: 1 }', [[0, 0]], [1]).item(), 4)
    0.1733
    """

    softmax_kernels: Kernels = softmax.kernels

    array_copies = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.focal_loss_param
        self.need(p.type == p.ORIGIN, f"type must be ORIGIN, got {p.Type.Name(p.type)}")
        self.need(
            p.gamma >= 0 and p.alpha > 0, f"gamma must be 0 or more and alpha above 0, got {p.gamma} and {p.alpha}"
        )
        self.mode = normalization(self, self.param.loss_param)
        loss = self.param.loss_param
        self.ignored = loss.ignore_label if loss.HasField("ignore_label") else None
        self.probability = Blob((), self.dtype, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        self.shape = outer, channels, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.need(
            bottom[1].count == outer * inner,
            f"scores of shape {shape} have {outer * inner} labels beside axis {axis}, bottom 1 has {bottom[1].shape}",
        )
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        top[0].reshape()
        self.probability.reshape(*shape)
        if len(top) > 1:
            self.pass_on_memory(self.probability, top[1])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.shape
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, self.probability.data, *self.shape)
        if len(top) > 1:
            self.pass_on_data(self.probability, top[1])
        p, labels = self.param.focal_loss_param, np.asarray(bottom[1].data).reshape(outer, 1, inner)
        self.truth = np.trunc(np.nan_to_num(labels, nan=-1.0, posinf=-1, neginf=-1)).astype(np.int64)
        self.counts = np.ones(labels.shape, bool) if self.ignored is None else self.truth != self.ignored
        if (self.counts & ((self.truth < 0) | (self.truth >= channels))).any():
            refuse_label(self, bottom[1].data, channels, self.ignored)
        whole = np.asarray(self.probability.data).reshape(self.shape).astype(np.float64)
        at = np.where(self.counts, self.truth, 0)
        self.likely = np.take_along_axis(whole, at, 1)
        losses = -p.alpha * powers(1 - self.likely, p.gamma) * log(np.maximum(self.likely, TINY))
        self.by = divisor(self.param.loss_param, self.mode, outer * inner, outer, int(self.counts.sum()))
        top[0].data[...] = float(losses[self.counts].sum()) / self.by

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        p, rest = self.param.focal_loss_param, np.maximum(1 - self.likely, 1e-12)
        slope = p.gamma * powers(rest, p.gamma - 1) * self.likely * log(np.maximum(self.likely, TINY)) - powers(
            rest, p.gamma
        )
        slope = np.where(self.counts, p.alpha * slope, 0) * (float(np.asarray(top[0].diff)) / self.by)
        whole = np.asarray(self.probability.data).reshape(self.shape).astype(np.float64)
        of_label = np.arange(self.shape[1])[:, None] == self.truth
        bottom[0].diff[...] = (slope * (of_label - whole)).reshape(bottom[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
