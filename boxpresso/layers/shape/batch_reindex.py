"""BatchReindex: images chosen, and put in order, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class BatchReindex(Layer, type="BatchReindex", bottoms=2, tops=1, traits=Trait.ROWS_OF_1 | Trait.WRITES_ALL):
    """top[m] = bottom 0[bottom 1[m]]: selects entries along the first axis by their index.

    An entry may be left out or repeated. The gradient of an entry of bottom 0 is the sum over its copies, or 0 where
    there is no copy. Bottom 1 has no gradient.

    Parameters
    ----------
    bottom 0
        (N, ...), the entries.
    bottom 1
        (M), indices: whole numbers from 0 to N - 1.

    Returns
    -------
    top 0
        (M, ...), the selected entries.

    Raises
    ------
    LayerError
        For a bottom 0 without axes, or a bottom 1 that does not have exactly one axis. In forward, for an index that is
        not from 0 to N - 1. In backward, where bottom 1 needs a gradient; set `propagate_down: false` for it.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "BatchReindex"', [[1, 2], [3, 4], [5, 6]], [2, 0, 2]).tolist()
    [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]
    """

    kernels = Kernels("batch_reindex.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(shape, "bottom 0 must have a batch axis, got a single number")
        (count,) = self.axes(bottom[1], 1, "bottom 1, the numbers,")
        top[0].reshape(count, *shape[1:])
        self.length = bottom[0].count // shape[0] if shape[0] else 0

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        entries = bottom[0].shape[0]
        numbers = np.asarray(bottom[1].data)
        wrong = ~((numbers > -1) & (numbers < entries))
        if wrong.any():
            at = int(np.argmax(wrong))
            self.need(False, f"bottom 1 holds {numbers[at]:g} at {at}, bottom 0 has the entries 0 to {entries - 1}")
        self.kernels.reindex(len(numbers), bottom[0].data, bottom[1].data, top[0].data, self.length)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "bottom 1, the numbers, has no gradient; set propagate_down: false for it")
        if propagate_down[0]:
            entries, copies = bottom[0].shape[0], bottom[1].count
            diff = bottom[0].diff
            self.kernels.reindex_backward(entries, bottom[1].data, top[0].diff, diff, copies, self.length)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
