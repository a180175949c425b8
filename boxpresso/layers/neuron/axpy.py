"""Axpy: a * x + y with an a for each channel, as squeeze-and-excitation networks need it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Axpy(Layer, type="Axpy", bottoms=3, tops=1, traits=Trait.WRITES_ALL):
    """top = a * x + y, with one factor `a` for each channel of each image.

    Squeeze-and-excitation networks use it. All three bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        (N, C) or (N, C, 1, 1): the factors a.
    bottom 1
        (N, C, ...): x.
    bottom 2
        y, in the shape of x.

    Returns
    -------
    top 0
        a * x + y, in the shape of x.

    Raises
    ------
    LayerError
        For x and y of different shapes or without a channel axis, and for an `a` that is not one number for each
        channel.

    Source
    ------
    SENet's Caffe; Hu et al. 2018.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Axpy"', [[2, 0.5]], [[[1, 2], [4, 8]]], [[[0, 1], [0, 1]]]).tolist()
    [[[2.0, 5.0], [2.0, 5.0]]]
    """

    kernels = Kernels("axpy.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, x, y = (blob.shape for blob in bottom)
        self.need(len(x) > 1 and x == y, f"x and y must have one shape, (N, C, ...), got {x} and {y}")
        self.need(a[:2] == x[:2] and prod(a[2:]) == 1, f"a must be {x[:2]}, a number for each channel, got shape {a}")
        self.planes, self.size = x[0] * x[1], prod(x[2:])
        top[0].reshape(*x)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.axpy_forward(self.planes, *(blob.data for blob in bottom), top[0].data, self.size)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        (a, x, _), diff = (blob.data for blob in bottom), top[0].diff
        if propagate_down[0]:
            self.kernels.axpy_factors(self.planes, x, diff, bottom[0].diff, self.size)
        if propagate_down[1]:
            self.kernels.axpy_scaled(self.planes, a, diff, bottom[1].diff, self.size)
        if propagate_down[2]:
            bottom[2].diff[...] = diff
