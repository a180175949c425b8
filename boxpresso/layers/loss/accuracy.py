"""Accuracy: how often the label is among the best scores."""

from __future__ import annotations

from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.checked import checked_by
from .normalized_sum import refuse_found, refuse_label


class Accuracy(
    Layer,
    type=("Accuracy", "EltwiseAccuracy"),
    param=("accuracy_param", "eltwise_accuracy_param"),
    bottoms=2,
    tops=(1, 2),
    traits=Trait.CLASS_LABELS,
):
    """top 0 = the share of the labels that are among the top_k highest scores; top 1 = that share of each class alone.

    Of equal scores the later channel is the higher. There is no gradient.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        Whole labels from 0, one for each position of the other axes.
    accuracy_param
        `top_k` (1): so many highest scores count as right. `axis` (1): the axis of the channels. `ignore_label` (none):
        labels of this value do not count; it may be repeated.
    eltwise_accuracy_param
        The same fields, of DeconvNet's EltwiseAccuracy.

    Returns
    -------
    top 0
        A single number; NaN when no label counts.
    top 1
        Optional: (channels,), the share of each class; 0 for a class without labels.

    Raises
    ------
    LayerError
        A label that is not a channel and not ignored; a top_k of 0 or above the number of channels; a number of labels
        that is not that of the positions; an axis that the scores lack; min_is_better of a fork; a gradient is asked
        for.

    Source
    ------
    Caffe, but a label that is not a channel raises LayerError; DeconvNet's Caffe (HyeonwooNoh) for EltwiseAccuracy.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> scores, labels = [[1, 2, 3], [3, 2, 1]], [2, 1]
    >>> run_layer('type: "Accuracy" accuracy_param { top_k: 1 }', scores, labels).item()
    0.5
    >>> run_layer('type: "Accuracy" accuracy_param { top_k: 2 }', scores, labels).item()
    1.0
    >>> run_layer('type: "Accuracy"', scores, labels, tops=2)[1].tolist()
    [0.0, 0.0, 1.0]
    """

    kernels = Kernels("accuracy.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        eltwise = self.param.HasField("eltwise_accuracy_param")
        self.options = p = self.param.eltwise_accuracy_param if eltwise else self.param.accuracy_param
        self.need(not p.min_is_better, "accuracy_param: min_is_better of a fork is not supported; remove it")
        self.need(p.top_k > 0, f"top_k must be at least 1, got {p.top_k}")
        self.ignored = sorted(set(p.ignore_label))
        self.ignored_table = self.device.table(self.ignored or [0])
        self.result = self.device.empty((1,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.options, bottom[0].shape
        axis = self.axis(bottom[0], p.axis)
        outer, self.channels, self.inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.positions = outer * self.inner
        self.need(
            bottom[1].count == self.positions,
            f"scores of shape {shape} have {self.positions} labels beside axis {axis}, bottom 1 of shape "
            f"{bottom[1].shape} has {bottom[1].count}; labels are whole numbers, one for each position",
        )
        self.need(p.top_k <= self.channels, f"top_k {p.top_k} is more than the {self.channels} channels of {shape}")
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape(self.channels)
        self.right = self.device.empty((max(1, self.positions),), np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        label, kernels = bottom[1].data, self.kernels
        kernels.ranks(
            self.positions, bottom[0].data, label, self.right, self.channels, self.inner,
            self.options.top_k, self.ignored_table, len(self.ignored),
        )  # fmt: skip
        kernels.share(1, self.right, top[0].data, self.result, self.positions)
        if self.device.kind != "cpu":
            check = checked_by(self, refuse_found)
            kernels.tell_label_of_rank(
                1, self.result, self.right, label, check.record, self.positions, self.channels, check.mark
            )
        elif np.asarray(self.result)[0]:
            wrong = np.asarray(self.right)[: self.positions] == kernels.constants["NO_CHANNEL"]
            labels = np.where(wrong, np.asarray(label).ravel(), 0)
            refuse_label(self, labels, self.channels)
        if len(top) > 1:
            kernels.share_of_class(self.channels, self.right, label, top[1].data, self.positions)
