"""RelevantLoss: points that lie to each other as the true ones do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import rows_of
from .pairs import batch_of_pair


class RelevantLoss(Layer, type="RelevantLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = sum over pairs i < j of ((a_i - a_j) - (b_i - b_j))^2 / (2 N), the pairs being of one half of a row.

    The first half of a row has the x of points, the second their y. Both bottoms have a gradient, the derivative; its
    program adds those of all passes so far.

    Parameters
    ----------
    bottom 0
        a (N, ...), one row for each image.
    bottom 1
        b, with the same first axis and as many elements.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their first axis or in their number of elements; an empty batch.

    Source
    ------
    nianfudong/RCC-loss.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "RelevantLoss"', [[0, 1, 5, 5]], [[0, 3, 7, 7]]).item()  # the first two, by 2
    2.0
    """

    kernels = Kernels("relevant_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch_of_pair(self, bottom)
        self.batch, self.length = rows_of(self, bottom[0])
        top[0].reshape()
        self.means, self.costs = (self.device.empty((self.batch, 2), np.float64) for _ in range(2))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        pair, sizes = (bottom[0].data, bottom[1].data), (self.length, self.length // 2)
        self.kernels.relevant_halves(2 * self.batch, *pair, self.means, self.costs, *sizes)
        self.kernels.relevant_loss(1, self.costs, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        pair, sizes = (bottom[0].data, bottom[1].data), (self.length, self.length // 2)
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.relevant_diffs(
                    bottom[i].count, *pair, self.means, top[0].diff, bottom[i].diff, *sizes, sign / self.batch
                )
