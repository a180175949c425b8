"""Sigmoid: 1 / (1 + exp(-x))."""

from __future__ import annotations

from ...device import Kernels
from ..core import Layer


class Sigmoid(Layer, type="Sigmoid", bottoms=1, tops=1, in_place=True):
    """top = 1 / (1 + exp(-x)), element by element; it neither overflows nor loses small values. Source: Caffe."""

    kernels = Kernels("sigmoid.cu")

    def reshape(self, bottom, top) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top) -> None:
        self.kernels.sigmoid_forward(top[0].count, bottom[0].data, top[0].data)

    def backward(self, top, propagate_down, bottom) -> None:
        if propagate_down[0]:
            self.kernels.sigmoid_backward(top[0].count, top[0].data, top[0].diff, bottom[0].diff)
