"""Split: give one blob to several readers. The Net puts it where a top has more than one."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import Lowering, Same


class Split(Layer, type="Split", bottoms=1, tops=(1, None), traits=Trait.ELEMENTWISE | Trait.VIEW):
    """Every top is the bottom, in the bottom's own memory.

    The bottom's gradient is the sum of the tops' gradients. The Net inserts a Split where several layers read one top.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0, 1, ...
        The bottom; the data are shared, each top has a gradient of its own.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [top.tolist() for top in run_layer('type: "Split"', [1, 2], tops=2)]
    [[1.0, 2.0], [1.0, 2.0]]
    """

    kernels = Kernels("split.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob in top:
            self.pass_on_memory(bottom[0], blob)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob in top:
            self.pass_on_data(bottom[0], blob)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Same()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        total = bottom[0].diff
        if len(top) == 1:
            total[...] = top[0].diff
        for i in range(1, len(top)):
            self.kernels.split_backward(bottom[0].count, total if i > 1 else top[0].diff, top[i].diff, total)
