"""Maxout: the largest of the values that several scales of an image gave for each region."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ..core import Layer


class Maxout(Layer, type="Maxout", bottoms=2, tops=1):
    """The largest value over S parts of a batch, and at least 0: features of regions that were pooled from S scales of
    an image.

    This is the MaxoutLayer of R2CNN's maxout_layer.layer. There is no gradient.

    Parameters
    ----------
    bottom 0
        (S R, ...), R rows of each scale in turn.
    bottom 1
        (1, 2 + S), im_info: height, width, and the scales. Only its shape is read.

    Returns
    -------
    top 0
        (R, ...), the largest; of rows without further axes (R, C, 1, 1).

    Raises
    ------
    LayerError
        For an im_info without a scale, or rows that are no multiple of the scales.

    Source
    ------
    R2CNN's code (beacandler/R2CNN), after Ren et al. 2015 (NoC).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Maxout"', [[1, -2], [3, -4]], [[600, 800, 1, 2]]).ravel().tolist()
    [3.0, 0.0]
    """

    replaces = ("maxout_layer.layer.MaxoutLayer",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, info = bottom[0].shape, bottom[1].shape
        self.need(len(info) > 1 and info[1] > 2, f"bottom 1, im_info, must be (1, 2 + scales), got {info}")
        self.need(len(shape) > 1, f"bottom 0 must be (rows, ...), got {shape}")
        self.scales = info[1] - 2
        self.need(shape[0] % self.scales == 0, f"{shape[0]} rows are no multiple of {self.scales} scales")
        top[0].reshape(shape[0] // self.scales, *(shape[1:] if len(shape) > 2 else (*shape[1:], 1, 1)))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        values = np.asarray(bottom[0].data).reshape(self.scales, *top[0].shape)
        top[0].data[...] = np.maximum(values.max(0), 0)

    def allow_force_backward(self, index: int) -> bool:
        return False
