"""Scale: multiplies by learned factors, or by a second bottom, along some axes; mostly what follows BatchNorm."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer
from .affine import Affine, place
from .affine import kernels as affine_kernels


class Scale(Layer, type="Scale", param="scale_param", bottoms=(1, 2), tops=1, in_place=True):
    """top = bottom * scale (+ bias), scale and bias broadcast over the axes that they lack.

    scale_param { axis: 1 num_axes: 1 filler {} bias_term: false bias_filler {} }. With one bottom scale is learned, 1
    at first, of the bottom's `num_axes` axes from `axis` on (-1: all that follow). With two, bottom 1 is the scale, and
    its axes are the bottom's from `axis` on. The bias, 0 at first, is always learned. Source: Caffe, except that the
    gradient of a learned scale is always added.
    """

    kernels = affine_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.scale_param
        for fork in ("dis_mode", "gen_mode", "min_value", "max_value"):
            self.need(not p.HasField(fork), f"scale_param: {fork} of a fork is not supported; remove it")
        self.learned = len(bottom) == 1
        self.copy = Blob((), self.dtype, self.device)  # bottom 0 as it was before a forward in place
        _, shape = place(self, p, bottom)
        if self.learned:
            filler = p.filler if p.HasField("filler") else None
            self.parameter(0, shape, filler, 1 if filler is None else None)
        if p.bias_term:
            filler = p.bias_filler if p.HasField("bias_filler") else None
            self.parameter(len(self.blobs), shape, filler, 0 if filler is None else None)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        axis, scale = place(self, self.param.scale_param, bottom)
        for i in range(len(self.blobs)):
            self.parameter(i, scale)
        top[0].reshape(*bottom[0].shape)
        self.affine = Affine(self.device, bottom[0].shape, axis, scale)
        self.bias = self.blobs[-1] if self.param.scale_param.bias_term else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scale = self.blobs[0] if self.learned else bottom[1]
        copy = None
        if bottom[0] is top[0]:
            self.copy.reshape(*bottom[0].shape)
            copy = self.copy.data
        self.affine.apply(bottom[0].data, scale.data, self.bias.data if self.bias else None, top[0].data, copy)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diff = top[0].diff
        if self.bias and self.param_propagate_down[-1]:
            self.affine.reduce(diff, None, self.bias.diff, keep=True)
        scale = self.blobs[0] if self.learned else bottom[1]
        if self.param_propagate_down[0] if self.learned else propagate_down[1]:
            x = self.copy if bottom[0] is top[0] else bottom[0]
            self.affine.reduce(diff, x.data, scale.diff, keep=self.learned)
        if propagate_down[0]:
            self.affine.apply(diff, scale.data, None, bottom[0].diff)
