"""Permute: reorder the axes of a blob. SSD brings its heads to (N, H, W, C) with it before they are flattened."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer
from . import strided


class Permute(Layer, type="Permute", param="permute_param", bottoms=1, tops=1):
    """The top's axis k is the bottom's axis `order[k]`; axes that `order` leaves out follow in their own order.

    permute_param { order: 0 order: 2 order: 3 order: 1 } takes (N, C, H, W) to (N, H, W, C). An order that changes
    nothing shares the bottom's memory. Source: SSD's Caffe.
    """

    kernels = strided.kernels
    sharing = True  # whether an order that changes nothing shares

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        order, axes = list(self.param.permute_param.order), len(bottom[0].shape)
        self.need(all(axis < axes for axis in order), f"order {order} does not fit a bottom of {axes} axes")
        self.need(len(set(order)) == len(order), f"order {order} names an axis twice")
        self.order = order + [axis for axis in range(axes) if axis not in order]
        self.identity = self.sharing and self.order == sorted(self.order)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = self.axes(bottom[0], len(self.order))
        self.new_shape = tuple(shape[axis] for axis in self.order)
        self.old_steps, self.new_steps = strides(shape), strides(self.new_shape)
        if self.identity:
            top[0].share(bottom[0])
        else:
            top[0].reshape(*self.new_shape)
        self.from_steps = [self.old_steps[axis] for axis in self.order]  # how far the top's axes go in the bottom

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.identity:
            strided.copy(self.device, self.new_shape, bottom[0].data, self.from_steps, top[0].data, self.new_steps)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0] and not self.identity:
            strided.copy(self.device, self.new_shape, top[0].diff, self.new_steps, bottom[0].diff, self.from_steps)
