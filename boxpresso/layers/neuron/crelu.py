"""CReLU: the positive and the negative part, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class CReLU(Layer, type="CReLU", param="crelu_param", bottoms=1, tops=1):
    """top = (relu(x), relu(-x)) put together along concat_axis, which is twice as long in the top.

    crelu_param { negative_slope: 0 concat_axis: 1 }; below zero relu has negative_slope. The gradient at 0 is that
    below it. Source: Cambricon's Caffe; Shang et al. 2016.
    """

    kernels = Kernels("crelu.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, param = bottom[0].shape, self.param.crelu_param
        axis = self.axis(bottom[0], param.concat_axis, "concat_axis")
        self.how = prod(shape[axis:]), param.negative_slope
        top[0].reshape(*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.crelu_forward(bottom[0].count, bottom[0].data, top[0].data, *self.how)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.crelu_backward(bottom[0].count, bottom[0].data, top[0].diff, bottom[0].diff, *self.how)
