"""DiceCoefLoss: how little maps overlap, by the Dice coefficient of numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import rows_of


class DiceCoefLoss(
    Layer, type="DiceCoefLoss", param="dice_coef_loss_param", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES
):
    """top = 1 - the mean over images of (2 sum(x y) + smooth) / (sum(x x) + sum(y y) + smooth), x and y the bottoms.

    As in its program, the gradient is that of the sum over images: N times that of the mean. Both bottoms have one. An image
    whose divisor is 0 overlaps wholly, and has no gradient.

    Parameters
    ----------
    bottom 0
        (N, ...), mostly probabilities.
    bottom 1
        As many numbers for each image, mostly 0 and 1.
    dice_coef_loss_param
        `smooth` (1): added to both sums.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Bottoms of other sizes, an empty batch, a negative smooth.

    Source
    ------
    HolmesShuan's and ZhiwenShao/JAANet's Caffe layers.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DiceCoefLoss" dice_coef_loss_param { smooth: 0 }'
    >>> round(run_layer(text, [[1, 1]], [[1, 0]]).item(), 4)
    0.3333
    """

    kernels = Kernels("dice_coef_loss.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.smooth = self.param.dice_coef_loss_param.smooth
        self.need(self.smooth >= 0, f"smooth must not be negative, got {self.smooth:g}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.images, self.length = rows_of(self, bottom[0])
        self.need(
            bottom[1].shape[:1] == (self.images,) and bottom[1].count == bottom[0].count,
            f"needs bottoms of one size for each image, got {bottom[0].shape} and {bottom[1].shape}",
        )
        top[0].reshape()
        self.rows = self.device.empty((self.images, 2), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.dice_rows(self.images, *(blob.data for blob in bottom), self.rows, self.length, self.smooth)
        self.kernels.dice_loss(1, self.rows, top[0].data, self.images)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, down in enumerate(propagate_down):
            if down:
                x, y = bottom[i], bottom[1 - i]
                self.kernels.dice_diff(x.count, x.data, y.data, self.rows, top[0].diff, x.diff, self.length)
