"""EuclideanLoss: half the mean squared distance between two blobs."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .pairs import batch_of_pair


class EuclideanLoss(Layer, type="EuclideanLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = sum((a - b)^2) / (2 N), N being the first axis.

    Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        a (N, ...).
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
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "EuclideanLoss"', [[1, 2]], [[3, 2]]).item()
    2.0
    """

    replaces = ("pyloss.EuclideanLossLayer",)
    kernels = Kernels("euclidean_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch = batch_of_pair(self, bottom)
        self.need(self.batch > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        top[0].reshape()
        self.partial = self.device.empty((self.batch,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.euclidean_rows(
            self.batch, bottom[0].data, bottom[1].data, self.partial, bottom[0].count // self.batch
        )
        self.kernels.euclidean_total(1, self.partial, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.euclidean_backward(
                    bottom[i].count, bottom[0].data, bottom[1].data, top[0].diff, bottom[i].diff, sign / self.batch
                )
