"""MVN: mean and variance normalisation, image by image."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class MVN(Layer, type="MVN", param="mvn_param", bottoms=1, tops=1, in_place=True):
    """top = (x - mean) / (sqrt(variance) + eps), mean and variance of each channel of each image, or with
    across_channels of each image.

    mvn_param { normalize_variance: true across_channels: false eps: 1e-9 }; without normalize_variance the mean alone
    is taken off. `add_eps_before_sqrt: true`, of Synopsys, has sqrt(variance + eps) instead. As in Caffe the gradient
    takes eps for 0 where it multiplies: for a large eps it is not quite the true one. Source: Caffe.
    """

    kernels = Kernels("mvn.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.mvn_param, bottom[0].shape
        self.need(p.eps >= 0, f"eps must not be negative, got {p.eps:g}")
        self.need(shape, "its bottom must have one axis at least, got a single number")
        before = 1 if p.across_channels else 2
        self.rows, self.length = prod(shape[:before]), prod(shape[before:])
        top[0].reshape(*shape)
        self.inverse = self.device.empty((max(1, self.rows),), self.dtype)
        self.how = int(p.normalize_variance), int(p.add_eps_before_sqrt), p.eps

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.rows if self.length else 0
        self.kernels.mvn_forward(rows, bottom[0].data, top[0].data, self.inverse, self.length, *self.how)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            rows = self.rows if self.length else 0
            data, diff = top[0].data, top[0].diff
            self.kernels.mvn_backward(rows, data, diff, self.inverse, bottom[0].diff, self.length, self.how[0])
