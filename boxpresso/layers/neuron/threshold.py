"""Threshold: 1 above a threshold, else 0."""

from __future__ import annotations

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Threshold(
    Layer, type="Threshold", param="threshold_param", bottoms=1, tops=1, in_place=True, traits=Trait.ELEMENTWISE
):
    """top = 1 where bottom > threshold, otherwise 0.

    It has no gradient.

    Parameters
    ----------
    bottom 0
        Any shape.
    threshold_param
        `threshold` (0): the bound; an element equal to it gives 0.

    Returns
    -------
    top 0
        0 or 1, in the shape of the bottom.

    Raises
    ------
    LayerError
        When a gradient is asked for.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Threshold" threshold_param { threshold: 1 }', [[0.5, 1, 2]]).tolist()
    [[0.0, 0.0, 1.0]]
    """

    kernels = Kernels("threshold.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        limit = self.param.threshold_param.threshold
        self.kernels.threshold_forward(top[0].count, bottom[0].data, top[0].data, limit)
