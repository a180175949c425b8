"""Transpose: reorder all axes of a blob."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer
from . import strided


class Transpose(Layer, type="Transpose", param="transpose_param", bottoms=1, tops=1):
    """The top's axis k is the bottom's axis dim[k], as numpy.transpose has it.

    transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 } names every axis once. Source: CTPN's Caffe.
    """

    kernels = strided.kernels

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        dims, shape = list(self.param.transpose_param.dim), bottom[0].shape
        self.need(
            sorted(dims) == list(range(len(shape))),
            f"transpose_param must name each axis of the bottom, shape {shape}, once; its dims are {dims}",
        )
        top[0].reshape(*(shape[axis] for axis in dims))
        self.from_steps = [strides(shape)[axis] for axis in dims]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = top[0].shape
        strided.copy(self.device, shape, bottom[0].data, self.from_steps, top[0].data, strides(shape))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            shape = top[0].shape
            strided.copy(self.device, shape, top[0].diff, strides(shape), bottom[0].diff, self.from_steps)
