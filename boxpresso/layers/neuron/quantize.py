"""Quantize, Rescale: DeepSkeleton's scales of skeletons, as classes and as numbers from -1 to 1."""

from __future__ import annotations

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Quantize(Layer, type="Quantize", bottoms=1, tops=1, traits=Trait.ELEMENTWISE):
    """The class of each scale: 1 from 1 on, 2 from 12 on, 3 from 36 on, 4 from 80 on, 0 below 1 and from 200 on.

    It has no gradient.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        The classes, in the shape of the bottom; 0 for NaN.

    Source
    ------
    Shen et al. 2016 (DeepSkeleton) and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Quantize"', [0, 1, 11.5, 12, 80, 200]).tolist()
    [0.0, 1.0, 1.0, 2.0, 4.0, 0.0]
    """

    kernels = Kernels("quantize.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.quantize(top[0].count, bottom[0].data, top[0].data)

    def allow_force_backward(self, index: int) -> bool:
        return False


class Rescale(Layer, type="Rescale", param="rescale_param", bottoms=1, tops=(1, 2), traits=Trait.ELEMENTWISE):
    """2 x / rf - 1 for scales x below rf; 0 for others, and for those from -0.0001 to 0.0001.

    It has no gradient.

    Parameters
    ----------
    bottom 0
        Any shape.
    rescale_param
        `rf` (1): the receptive field, above which scales are not seen.

    Returns
    -------
    top 0
        The numbers, in the shape of the bottom.
    top 1
        Optional: 1 where the scale counts, else 0.

    Raises
    ------
    LayerError
        For `rf` 0.

    Source
    ------
    Shen et al. 2016 (DeepSkeleton) and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> numbers, seen = run_layer('type: "Rescale" rescale_param { rf: 4 }', [0, 1, 3, 4], tops=2)
    >>> numbers.tolist(), seen.tolist()
    ([0.0, -0.5, 0.5, 0.0], [0.0, 1.0, 1.0, 0.0])
    """

    kernels = Kernels("quantize.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.field = self.param.rescale_param.rf
        self.need(self.field > 0, "rf must be above 0")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob in top:
            blob.reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        seen = top[1].data if len(top) > 1 else None
        self.kernels.rescale(top[0].count, bottom[0].data, top[0].data, seen, self.field)

    def allow_force_backward(self, index: int) -> bool:
        return False
