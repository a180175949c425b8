"""Reverse: a blob turned around along some axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Reverse(
    Layer, type="Reverse", param="reverse_param", bottoms=1, tops=1, traits=Trait.REARRANGES | Trait.WRITES_ALL
):
    """Reverses the order of the entries along one axis or several.

    The last entry along an axis becomes the first, and so on. The gradient is reversed in the same way.

    Parameters
    ----------
    bottom 0
        Any shape that has the axes.
    reverse_param
        `axis` (0): may be negative, or repeated for several axes.

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        For an axis that the bottom lacks, or one that is named twice.

    Source
    ------
    CTPN's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Reverse" reverse_param { axis: 0 }', [[1, 2, 3], [4, 5, 6]]).tolist()
    [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    >>> run_layer('type: "Reverse" reverse_param { axis: 0 axis: -1 }', [[1, 2, 3], [4, 5, 6]]).tolist()
    [[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]]
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
