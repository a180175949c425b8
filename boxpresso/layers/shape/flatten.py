"""Flatten: join neighbouring axes into one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer


class Flatten(Layer, type="Flatten", param="flatten_param", bottoms=1, tops=1):
    """The axes from `axis` to `end_axis`, both included, become one; the memory is the bottom's.

    flatten_param { axis: 1 end_axis: -1 }; negative ones count from the end. Source: Caffe.
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, param = bottom[0].shape, self.param.flatten_param
        start = self.axis(bottom[0], param.axis)
        end = self.axis(bottom[0], param.end_axis, "end_axis")
        # end = start - 1 inserts an axis of length 1, as Caffe has it.
        self.need(start <= end + 1, f"axis {param.axis} lies behind end_axis {param.end_axis} of shape {shape}")
        top[0].share(bottom[0])
        top[0].reshape(*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Nothing is to be done: the memory is shared."""

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """Nothing is to be done: the memory is shared."""
