"""SpatialProduct: all channels times one map, as attention over places needs it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class SpatialProduct(Layer, type="SpatialProduct", bottoms=2, tops=1, traits=Trait.WRITES_ALL | Trait.KEEPS_PLACES):
    """top[n, c, y, x] = bottom 0[n, c, y, x] * bottom 1[n, 0, y, x]. Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    bottom 1
        (N, 1, ...), a factor for each place.

    Returns
    -------
    top 0
        The products, in the shape of bottom 0.

    Raises
    ------
    LayerError
        A bottom 0 of fewer than two axes; a bottom 1 that is not one number for each place.

    Source
    ------
    DeepLab's Caffe (Chen et al. 2016, Attention to scale), as PSPNet and three other forks have it.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SpatialProduct"', [[[1, 2], [3, 4]]], [[[10, 0]]]).tolist()
    [[[10.0, 0.0], [30.0, 0.0]]]
    """

    kernels = Kernels("spatial_product.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, factor = bottom[0].shape, bottom[1].shape
        self.need(len(x) > 1, f"bottom 0 must be (N, C, ...), got {x}")
        self.need(
            factor == (x[0], 1, *x[2:]), f"bottom 1 must be {(x[0], 1, *x[2:])}, a factor for each place, got {factor}"
        )
        self.planes, self.sizes = x[0] * x[1], (x[1], prod(x[2:]))
        top[0].reshape(*x)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return (first[0], 1, *first[2:]) if index == 1 and len(first) > 1 else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.by_place(self.planes, bottom[0].data, bottom[1].data, top[0].data, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.by_place(self.planes, top[0].diff, bottom[1].data, bottom[0].diff, *self.sizes)
        if propagate_down[1]:
            self.kernels.factors_of_places(bottom[1].count, bottom[0].data, top[0].diff, bottom[1].diff, *self.sizes)
