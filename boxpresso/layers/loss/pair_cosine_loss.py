"""PairCosineLoss: rows of one class in one direction, those of others across; on pairs that are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class PairCosineLoss(Layer, type="PairCosineLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = 2 / N * sum over pairs of 1 - |cosine| for rows of one label, |cosine| for rows of two.

    In each pass the rows are put in pairs at random, and N / 4 of the N / 2 pairs count, rounded down, as in the program it
    is from. A row of zeros has the cosine 0 with all others. The gradient is the derivative of that sum: rows without a
    pair have none, and neither has a pair at right angles.

    Parameters
    ----------
    bottom 0
        (N, ...), one row for each example; N is even.
    bottom 1
        (N), labels.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        An odd number of rows or none, labels that are not one for each row, a gradient of the labels is asked for.

    Source
    ------
    syshensyshen/pva-mobilenet-v2, CosineLossLayerComplete.py; its own backward multiplies parts of vectors in the place of
    their product and takes no share of the number of rows.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "PairCosineLoss"', [[3, 0], [2, 0], [-1, 0], [5, 0]], [1, 2, 3, 4]).item()  # any pair: 2 / 4 * 1
    0.5
    """

    replaces = ("caffe.CosineLossLayer.CosineLossLayer",)
    kernels, sum_kernels = Kernels("pair_cosine_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        self.need(self.batch % 2 == 0, f"puts rows in pairs and needs an even number of them, got {self.batch}")
        self.count = self.batch // 4
        top[0].reshape()
        self.sum = Sum(self, self.count)
        self.pairs = self.device.empty((max(1, 2 * self.count),), np.int32)
        self.facts = self.device.empty((max(1, 3 * self.count),), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn = self.draws().permutation(self.batch)[: 2 * self.count].astype(np.int32)
        if not self.count:
            top[0].data[...] = 0
            return
        self.pairs[...] = drawn
        x, label = bottom[0].data, bottom[1].data
        self.kernels.pair_cosines(self.count, x, self.pairs, self.facts, self.length)
        self.kernels.pair_cosine_losses(self.sum.blocks, self.facts, self.pairs, label, self.sum.partial, self.count)
        self.sum.join(top[0].data, self.batch / 2)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        diff = bottom[0].diff
        diff.fill(0)
        if self.count:
            self.kernels.pair_cosine_diffs(
                self.count,
                bottom[0].data,
                self.facts,
                self.pairs,
                bottom[1].data,
                top[0].diff,
                diff,
                self.length,
                2 / self.batch,
            )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
