"""TanH: the hyperbolic tangent."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer


class TanH(Layer, type="TanH", bottoms=1, tops=1, in_place=True):
    """top = tanh(x), element by element. Source: Caffe."""

    kernels = Kernels("tanh.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.tanh_forward(top[0].count, bottom[0].data, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.tanh_backward(top[0].count, top[0].data, top[0].diff, bottom[0].diff)
