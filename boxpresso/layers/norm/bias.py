"""Bias: adds learned values, or a second bottom, along some axes."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer
from .affine import Affine, place
from .affine import kernels as affine_kernels


class Bias(Layer, type="Bias", param="bias_param", bottoms=(1, 2), tops=1, in_place=True):
    """top = bottom + bias, broadcast over the axes that bias lacks.

    bias_param { axis: 1 num_axes: 1 filler {} }. With one bottom the bias is learned, 0 at first, of the bottom's
    `num_axes` axes from `axis` on (-1: all that follow). With two, bottom 1 is the bias, and its axes are the bottom's
    from `axis` on. Source: Caffe.
    """

    kernels = affine_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.bias_param
        self.learned = len(bottom) == 1
        if self.learned:
            filler = p.filler if p.HasField("filler") else None
            self.parameter(0, place(self, p, bottom)[1], filler, 0 if filler is None else None)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        axis, bias = place(self, self.param.bias_param, bottom)
        if self.learned:
            self.parameter(0, bias)
        top[0].reshape(*bottom[0].shape)
        self.affine = Affine(self.device, bottom[0].shape, axis, bias)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        bias = self.blobs[0] if self.learned else bottom[1]
        self.affine.apply(bottom[0].data, None, bias.data, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.param_propagate_down[0] if self.learned else propagate_down[1]:
            bias = self.blobs[0] if self.learned else bottom[1]
            self.affine.reduce(top[0].diff, None, bias.diff, keep=self.learned)
        if propagate_down[0] and bottom[0] is not top[0]:
            bottom[0].diff[...] = top[0].diff
