"""Flip: images turned left to right, or upside down."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Flip(Layer, type="Flip", param="flip_param", bottoms=1, tops=1, traits=Trait.REARRANGES | Trait.WRITES_ALL):
    """Reverses the columns of each image, its rows, or both.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    flip_param
        `flip_width` (true), `flip_height` (false).

    Returns
    -------
    top 0
        (N, C, H, W).

    Raises
    ------
    LayerError
        For a bottom that is not of four axes.

    Source
    ------
    caffe-windows.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Flip"', [[[[1, 2], [3, 4]]]]).tolist()
    [[[[2.0, 1.0], [4.0, 3.0]]]]
    """

    kernels = Kernels("reverse.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        *_, height, width = self.axes(bottom[0], 4)
        p = self.param.flip_param
        pairs = [(height, width)] * p.flip_height + [(width, 1)] * p.flip_width
        self.table, self.count = self.device.table([n for pair in pairs for n in pair] or [1, 1]), len(pairs)
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.turn_around(top[0].count, bottom[0].data, top[0].data, self.table, self.count)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.turn_around(top[0].count, top[0].diff, bottom[0].diff, self.table, self.count)
