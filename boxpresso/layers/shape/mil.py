"""MIL: one score of many, for multiple instance learning: the largest, or that at least one of them is true."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class MIL(Layer, type="MIL", param="mil_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top = max(x), or with NOR max(1 - prod(1 - x), max(x)), over all places of a channel or over `context_per_roi` rows.

    The gradient of MAX goes to each element that is the largest; that of NOR is the top's times min(1, (1 - top) / (1 - x)),
    and times 1 where x is 1, as in its program.

    Parameters
    ----------
    bottom 0
        (N, C, ...), probabilities for NOR. With context_per_roi: (R K, C), K rows of each of R regions in turn.
    mil_param
        `type` (MAX): MAX or NOR, noisy or. `context_per_roi` (0): K, the boxes around each region; then MAX is taken.

    Returns
    -------
    top 0
        (N, C, 1, 1), or (R, C, 1, 1).

    Raises
    ------
    LayerError
        For a bottom of one axis, places without elements, rows that are no multiple of context_per_roi or that have further
        axes, and NOR beside context_per_roi. A probability outside 0 to 1 is not looked for.

    Source
    ------
    Visual concepts (Fang et al. 2015) and R*CNN (Gkioxari et al. 2015), and their programs. A layer of this name with
    several bottoms belongs to other forks.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MIL" mil_param { type: NOR }', [[[[0.5, 0.5]], [[0, 1]]]]).ravel().tolist()
    [0.75, 1.0]
    >>> run_layer('type: "MIL" mil_param { context_per_roi: 2 }', [[1, 5], [3, 4], [0, 0], [7, -1]]).reshape(2, 2).tolist()
    [[3.0, 5.0], [7.0, 0.0]]
    """

    kernels, reads_top = Kernels("mil.cu"), True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mil_param
        self.rows, self.noisy = p.context_per_roi, int(p.type == p.NOR)
        self.need(not (self.rows and self.noisy), "mil_param: context_per_roi goes with type: MAX alone; got NOR")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"the bottom must be (N, C, ...), got shape {shape}")
        if self.rows:
            self.need(prod(shape[2:]) == 1, f"with context_per_roi the bottom must be (rows, C), got shape {shape}")
            self.need(shape[0] % self.rows == 0, f"{shape[0]} rows are no multiple of context_per_roi: {self.rows}")
            self.count, self.inner = self.rows, shape[1]
            top[0].reshape(shape[0] // self.rows, shape[1], 1, 1)
        else:
            self.count, self.inner = prod(shape[2:]), 1
            self.need(self.count > 0, f"a channel of the bottom has no elements, its shape is {shape}")
            top[0].reshape(*shape[:2], 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        sizes = self.count, self.inner, self.noisy
        self.kernels.mil_forward(top[0].count, bottom[0].data, top[0].data, *sizes)
        self.remember(top[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            x, y, sizes = bottom[0].data, self.as_made(top[0]).data, (self.count, self.inner, self.noisy)
            self.kernels.mil_backward(bottom[0].count, x, y, top[0].diff, bottom[0].diff, *sizes)
