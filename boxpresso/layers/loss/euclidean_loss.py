"""EuclideanLoss and EuclideanLossHeatmap: mean squared distances between two blobs."""

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
        self.divisor = 2 * self.batch
        self.partial = self.device.empty((self.batch,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.euclidean_rows(
            self.batch, bottom[0].data, bottom[1].data, self.partial, bottom[0].count // self.batch
        )
        self.kernels.euclidean_total(1, self.partial, top[0].data, self.batch, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.euclidean_backward(
                    bottom[i].count, bottom[0].data, bottom[1].data, top[0].diff, bottom[i].diff, sign / self.batch
                )


class EuclideanLossHeatmap(
    EuclideanLoss, type="EuclideanLossHeatmap", bottoms=(2, 3), tops=(0, 1), loss=True, traits=Trait.COMPARES
):
    """top = the mean of (a - b)^2 over all numbers of the maps a and b of joints.

    The gradient of a is that of its program, a - b, whatever the loss weight.

    Parameters
    ----------
    bottom 0
        a (N, C, H, W), a predicted map for each joint.
    bottom 1
        b, the true maps, in the same shape.
    bottom 2
        Optional: the images, which its program draws the joints on. They are not read.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Maps of two sizes; an empty batch; a bottom 2 that is no image, as in RoomNet's layer of this name, which is another; a
        gradient of another bottom than the first is asked for.

    Source
    ------
    tpfister/caffe-heatmap (Pfister et al. 2015).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "EuclideanLossHeatmap"', [[[[1, 2]]]], [[[[3, 2]]]]).item()
    2.0
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(
            len(bottom) < 3 or len(bottom[2].shape) == 4,
            f"bottom 2 must be images, (N, C, H, W), got {bottom[-1].shape}; RoomNet's loss, by rooms, is not supported",
        )
        self.axes(bottom[0], 4, "bottom 0")
        self.need(
            bottom[0].shape == bottom[1].shape,
            f"needs maps of one size, got {bottom[0].shape} and {bottom[1].shape}",
        )
        super().reshape(bottom, top)
        self.need(bottom[0].count > 0, f"a loss over maps without elements (shape {bottom[0].shape}) has no value")
        self.divisor = bottom[0].count

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "true maps and images have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0]:
            self.kernels.differences(bottom[0].count, bottom[0].data, bottom[1].data, bottom[0].diff)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
