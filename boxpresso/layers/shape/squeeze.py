"""Squeeze: the same elements without axes of length 1."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer, Trait
from ..core.lowering import Lowering, View


class Squeeze(Layer, type="Squeeze", param="squeeze_param", bottoms=1, tops=1, traits=Trait.VIEW):
    """Leaves out axes of length 1. The top shares the bottom's memory.

    Parameters
    ----------
    bottom 0
        Any shape.
    squeeze_param
        `axis`: each axis that is left out; negative ones count from the end. Without any all of length 1 are.

    Returns
    -------
    top 0
        The same elements, under the other axes.

    Raises
    ------
    LayerError
        For an axis that the bottom lacks, or whose length is not 1.

    Source
    ------
    foss-for-synopsys-dwc-arc-processors/synopsys-caffe, for nets of TensorFlow.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Squeeze" squeeze_param { axis: 1 axis: -1 }', np.zeros((1, 1, 5, 1))).shape
    (1, 5)
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        axes = {self.axis(bottom[0], axis) for axis in self.param.squeeze_param.axis}
        for axis in sorted(axes):
            self.need(shape[axis] == 1, f"axis {axis} of shape {shape} is not of length 1, and cannot be left out")
        left = [n for k, n in enumerate(shape) if n != 1 or (axes and k not in axes)]
        self.pass_on_memory(bottom[0], top[0], *left)
        top[0].share_diff(bottom[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_data(bottom[0], top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return View()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """Nothing is to be done: the memory is shared."""
