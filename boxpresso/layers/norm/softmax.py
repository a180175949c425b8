"""Softmax: scores to probabilities that sum to 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer, softmax


class Softmax(Layer, type="Softmax", param="softmax_param", bottoms=1, tops=1, in_place=True):
    """top = exp(bottom) / sum(exp(bottom)) along one axis, computed from differences to the maximum.

    softmax_param { axis: 1 }. Source: Caffe.
    """

    kernels = softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.softmax_param
        self.need(p.normalize_type == "Softmax", f"normalize_type {p.normalize_type!r} of a fork is not supported")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        top[0].reshape(*shape)
        self.shape = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, top[0].data, *self.shape)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0] and bottom[0].count:
            softmax.backward(self.device, top[0].data, top[0].diff, bottom[0].diff, *self.shape)
