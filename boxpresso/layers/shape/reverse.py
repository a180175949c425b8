"""Reverse: a blob turned around along some axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class Reverse(Layer, type="Reverse", param="reverse_param", bottoms=1, tops=1):
    """The last entry along an axis becomes the first, and so on. The gradient is turned around likewise.

    reverse_param { axis: 0 }, which may be negative, or repeated for several axes; 0 by default. Source: CTPN's Caffe.
    """

    kernels = Kernels("reverse.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        axes = [self.axis(bottom[0], axis) for axis in self.param.reverse_param.axis or [0]]
        self.need(len(set(axes)) == len(axes), f"reverse_param names an axis twice: {axes}")
        lengths = [(shape[axis], prod(shape[axis + 1 :])) for axis in axes]
        self.axes_table = self.device.table([n for pair in lengths for n in pair])
        self.count = len(axes)
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.turn_around(top[0].count, bottom[0].data, top[0].data, self.axes_table, self.count)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.turn_around(top[0].count, top[0].diff, bottom[0].diff, self.axes_table, self.count)
