"""Flatten: join neighbouring axes into one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer, Trait
from ..core.lowering import Lowering, View


class Flatten(Layer, type="Flatten", param="flatten_param", bottoms=1, tops=1, traits=Trait.VIEW):
    """Joins the axes from `axis` to `end_axis`, both included, into one.

    The top shares the bottom's memory. As in Caffe, an `end_axis` just before `axis` inserts an axis of length 1.

    Parameters
    ----------
    bottom 0
        Any shape that has both axes.
    flatten_param
        `axis` (1): the first axis to be joined. `end_axis` (-1): the last. Negative ones count from the end.

    Returns
    -------
    top 0
        The same elements; the length of the new axis is the product of those that it replaces.

    Raises
    ------
    LayerError
        For an axis that the bottom lacks, or an `axis` behind `end_axis` by more than one.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Flatten" flatten_param { axis: 1 end_axis: -1 }', [[[1, 2], [3, 4]]]).tolist()
    [[1.0, 2.0, 3.0, 4.0]]
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, param = bottom[0].shape, self.param.flatten_param
        start = self.axis(bottom[0], param.axis)
        end = self.axis(bottom[0], param.end_axis, "end_axis")
        # end = start - 1 inserts an axis of length 1, as Caffe has it.
        self.need(start <= end + 1, f"axis {param.axis} lies behind end_axis {param.end_axis} of shape {shape}")
        self.pass_on_memory(bottom[0], top[0], *shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :])
        top[0].share_diff(bottom[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_data(bottom[0], top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return View()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """Nothing is to be done: the memory is shared."""
