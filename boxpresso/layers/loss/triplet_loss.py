"""TripletLoss: an anchor nearer to a row of its class than to one of another, by a margin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import rows_of

PAIRS = ((2, 1), (1, 0), (0, 2))  # the gradient of each of a, p, n is along the first of a pair minus the second


class TripletLoss(Layer, type="TripletLoss", param="triplet_loss_param", bottoms=(3, 4), tops=(0, 1), loss=True):
    """top = sum over rows of w max(margin + |a - p|^2 - |a - n|^2, 0) / (2 N).

    The three rows get a gradient, the derivative. Forks have another layer of this name, which makes the triplets of a
    batch by its labels: it takes two bottoms and is refused.

    Parameters
    ----------
    bottom 0
        a (N, ...), anchors.
    bottom 1
        p, of their classes; of one shape with a.
    bottom 2
        n, of other classes; of one shape with a.
    bottom 3
        w (N), how much each row counts; 1 without it.
    triplet_loss_param
        `margin` (1).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Bottoms of several shapes, no weight for each row, an empty batch, a gradient of the weights is asked for.

    Source
    ------
    Schroff et al. 2015 (FaceNet); the TripletLoss of Caffe's forks.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "TripletLoss" triplet_loss_param { margin: 2 }', [[0, 0]], [[1, 0]], [[0, 1]]).item()
    1.0
    """

    kernels = Kernels("triplet_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = rows_of(self, bottom[0])
        shapes = [blob.shape for blob in bottom[:3]]
        self.need(
            all(blob.shape[:1] == (self.batch,) and blob.count == bottom[0].count for blob in bottom[:3]),
            f"anchor, like and unlike rows must have one size, got {shapes}",
        )
        self.weighted = len(bottom) > 3
        self.need(
            not self.weighted or bottom[-1].count == self.batch,
            f"needs a weight for each of {self.batch} rows, bottom 3 has the shape {bottom[-1].shape}",
        )
        top[0].reshape()
        self.costs = self.device.empty((self.batch,), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        data, margin = [blob.data for blob in bottom], self.param.triplet_loss_param.margin
        how = self.length, margin, int(self.weighted)
        self.kernels.triplet_costs(self.batch, *data[:3], data[-1], self.costs, *how)
        self.kernels.triplet_loss(1, self.costs, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[3:]), "weights have no gradient; set propagate_down: false for bottom 3")
        data = [blob.data for blob in bottom]
        for i, (first, second) in enumerate(PAIRS):
            if propagate_down[i]:
                self.kernels.triplet_diffs(
                    bottom[i].count, data[first], data[second], data[-1], self.costs, top[0].diff, bottom[i].diff,
                    self.batch, self.length, int(self.weighted),
                )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index < 3

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first[:1] if index == 3 else first
