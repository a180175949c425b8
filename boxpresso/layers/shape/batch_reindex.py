"""BatchReindex: images chosen, and put in order, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer


class BatchReindex(Layer, type="BatchReindex", bottoms=2, tops=1):
    """top[m] = bottom 0[bottom 1[m]]: entries of the first axis by number, any of them left out or repeated.

    Bottom 0 is (N, ...), bottom 1 (M) whole numbers from 0, the top (M, ...). The gradient of an entry is the sum over
    its copies. Source: Caffe; a number that is no entry raises LayerError.
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
