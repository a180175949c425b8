"""SmoothL1Loss: the Huber loss of box regression, as Fast R-CNN and SSD have it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Layer, Trait


class SmoothL1Loss(
    Layer,
    type="SmoothL1Loss",
    param="smooth_l1_loss_param",
    bottoms=(2, 4),
    tops=(1, 2),
    loss=True,
    traits=Trait.COMPARES,
):
    """top = sum(outside * f(inside * (a - b))) / N, the Huber loss of box regression.

    f(d) = (sigma d)^2 / 2 where |d| < 1 / sigma^2, elsewhere |d| - 1 / (2 sigma^2). a and b get a gradient; the weights
    are constants, and their gradient, if it is asked for, is 0.

    Parameters
    ----------
    bottom 0
        a (N, ...).
    bottom 1
        b. All bottoms have the same first axis, N, and one number of elements.
    bottom 2
        Optional: the weights `inside`.
    bottom 3
        Optional: the weights `outside`.
    smooth_l1_loss_param
        `sigma` (1): f is quadratic below 1 / sigma^2.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: (N, 1, ...), the terms summed over axis 1, not divided by N. It has no gradient.

    Raises
    ------
    LayerError
        Bottoms differ in their first axis or in their number of elements; a sigma that is not above 0; a second top for
        bottoms of one axis.

    Source
    ------
    Fast R-CNN's Caffe (sigma and weights), SSD's Caffe (two bottoms), Cascade R-CNN's (the second top).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 1 }', [[0.5, 3]], [[0, 0]]).item()
    2.625
    """

    kernels = Kernels("smooth_l1_loss.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.smooth_l1_loss_param
        self.need(p.sigma > 0, f"sigma must be above 0, got {p.sigma:g}")
        self.sigma2 = p.sigma * p.sigma

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        first = bottom[0].shape
        for i, blob in enumerate(bottom[1:], 1):
            same = blob.count == bottom[0].count and blob.shape[:1] == first[:1]
            self.need(same, f"bottom {i} must have bottom 0's shape {first}, got {blob.shape}")
        top[0].reshape()
        if len(top) > 1:
            self.need(len(first) > 1, f"a second top needs bottoms (N, C, ...), got {first}")
            top[1].reshape(first[0], 1, *first[2:])
        self.images = max(1, first[0] if first else 1)
        self.blocks = -(-bottom[0].count // self.kernels.constants["PIECE"])
        self.partial = self.device.empty((max(1, self.blocks),), np.float64)

    @staticmethod
    def operands(bottom: list[Blob]) -> list[AnyArray | None]:
        """The data of all bottoms; None for the weights that are not given."""
        return [blob.data for blob in bottom] + [None] * (4 - len(bottom))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.smooth_l1_sums(self.blocks, *self.operands(bottom), self.partial, bottom[0].count, self.sigma2)
        self.kernels.smooth_l1_total(1, self.partial, top[0].data, self.blocks, self.images)
        if len(top) > 1:
            channels = bottom[0].shape[1]
            area = top[1].count // max(1, bottom[0].shape[0])
            self.kernels.smooth_l1_rows(
                top[1].count, *self.operands(bottom), top[1].data, channels, max(1, area), self.sigma2
            )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.smooth_l1_backward(
                    bottom[i].count, *self.operands(bottom), top[0].diff, bottom[i].diff, self.sigma2, sign, self.images
                )
        for blob, down in zip(bottom[2:], propagate_down[2:]):
            if down:  # weights of a layer that depends on something that learns, as py-faster-rcnn's targets do
                blob.diff.fill(0)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
