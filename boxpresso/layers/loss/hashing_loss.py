"""HashingLoss: rows that are nearly codes of 1 and -1, near where images are alike (DSH)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import rows_of


class HashingLoss(Layer, type="HashingLoss", param="hashing_loss_param", bottoms=2, tops=(0, 1), loss=True):
    """top = sum over pairs of (alike: d^2, else max(margin - d^2, 0)) / (N (N - 1)) + tradeoff / N * sum(||x| - 1|).

    Each pair of the batch counts once; d is its Euclidean distance. Two rows are alike that have one label, or, with
    several labels for each, one of them in common. As in its program, the gradient of the pairs is half of the derivative
    of their sum, that of the second sum the whole.

    Parameters
    ----------
    bottom 0
        x (N, ...), one row for each image.
    bottom 1
        (N), labels, or (N, L) with L above 1: 0 or 1 for each of L labels.
    hashing_loss_param
        `bi_margin` (1): the squared distance that others should have. `tradeoff` (0.01).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Fewer than two rows, labels that do not go into the rows, a gradient of the labels is asked for.

    Source
    ------
    Liu et al. 2016, Deep Supervised Hashing, and its program.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "HashingLoss" hashing_loss_param { bi_margin: 8 }'
    >>> run_layer(text, [[1, 1], [1, -1], [1, 1]], [0, 1, 0]).item()  # two unlike pairs at d^2 = 4
    1.3333333730697632
    """

    kernels = Kernels("hashing_loss.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.hashing_loss_param
        self.how = p.bi_margin, p.tradeoff

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = rows_of(self, bottom[0])
        self.need(self.batch > 1, "compares the rows of a batch and needs two at least, got 1")
        self.labels = bottom[1].count // self.batch
        self.need(
            bottom[1].shape[:1] == (self.batch,) and self.labels > 0,
            f"needs labels for each of {self.batch} rows, bottom 1 has the shape {bottom[1].shape}",
        )
        top[0].reshape()
        pairs = (self.batch, self.batch)
        self.squares, self.like = self.device.empty(pairs, self.dtype), self.device.empty(pairs, np.int32)
        self.costs = self.device.empty((self.batch,), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label = bottom[0].data, bottom[1].data
        sizes = self.batch, self.length, self.labels
        self.kernels.hash_pairs(self.batch**2, x, label, self.squares, self.like, *sizes)
        self.kernels.hash_costs(self.batch, x, self.squares, self.like, self.costs, self.length, *self.how)
        self.kernels.hash_loss(1, self.costs, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, diff = bottom[0].data, bottom[0].diff
            self.kernels.hash_diffs(self.batch, x, self.squares, self.like, top[0].diff, diff, self.length, *self.how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
