"""Permute: reorder the axes of a blob. SSD brings its heads to (N, H, W, C) with it before they are flattened."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided
from ..core.lowering import LastView, Lowering, Same


class Permute(
    Layer,
    type="Permute",
    param="permute_param",
    bottoms=1,
    tops=1,
    traits=Trait.REARRANGES | Trait.WRITES_ALL | Trait.SIXTEEN_BITS,
):
    """Reorders the axes: the top's axis k is the bottom's axis `order[k]`.

    For example, permute_param { order: 0 order: 2 order: 3 order: 1 } turns (N, C, H, W) into (N, H, W, C). With an
    order that changes nothing, the top shares the bottom's memory.

    Parameters
    ----------
    bottom 0
        Any shape; the number of axes cannot change after setup.
    permute_param
        `order` (repeated): axes of the bottom, from 0. Axes that it leaves out follow in their own order.

    Returns
    -------
    top 0
        The same elements with the axes in the new order.

    Raises
    ------
    LayerError
        For an axis that the bottom lacks, an axis that is named twice, or a number of axes that changed after setup.

    Source
    ------
    SSD's Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Permute" permute_param { order: 1 order: 0 }', [[1, 2, 3], [4, 5, 6]]).tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    >>> text = 'type: "Permute" permute_param { order: 0 order: 2 order: 3 order: 1 }'
    >>> run_layer(text, np.zeros((1, 3, 4, 5))).shape
    (1, 4, 5, 3)
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
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])
        else:
            top[0].reshape(*self.new_shape)
        self.from_steps = [self.old_steps[axis] for axis in self.order]  # how far the top's axes go in the bottom

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.identity:
            self.pass_on_data(bottom[0], top[0])
        else:
            strided.copy(self.device, self.new_shape, bottom[0].data, self.from_steps, top[0].data, self.new_steps)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if self.identity:
            return Same()
        return LastView() if self.order == [0, 2, 3, 1] else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0] and not self.identity:
            strided.copy(self.device, self.new_shape, top[0].diff, self.new_steps, bottom[0].diff, self.from_steps)
