"""ReLU: max(x, 0), or leaky with a slope below zero."""

from __future__ import annotations

from .core import Kernels, Layer


class ReLU(Layer, type="ReLU", bottoms=1, tops=1, in_place=True):
    """top = max(x, 0) + negative_slope * min(x, 0), element by element.

    relu_param { negative_slope: 0 }. The gradient at 0 is negative_slope. Source: Caffe; Nair and Hinton 2010.
    """

    kernels = Kernels("relu.cu")

    def setup(self, bottom, top) -> None:
        self.slope = self.param.relu_param.negative_slope

    def reshape(self, bottom, top) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top) -> None:
        self.kernels.relu_forward(top[0].count, bottom[0].data, top[0].data, self.slope)

    def backward(self, top, propagate_down, bottom) -> None:
        if propagate_down[0]:  # in place bottom is top; for slopes from 0 the sign of top decides just as well
            self.kernels.relu_backward(top[0].count, bottom[0].data, top[0].diff, bottom[0].diff, self.slope)
