"""Embed: a learned vector for each whole number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.records import Numbers
from ..core import Layer, Trait
from ..core.checked import checked_by


class Embed(Layer, type="Embed", param="embed_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top[..., :] = W[bottom[...]] (+ bias): a learned vector for each whole number.

    Learned parameters: W (K, N), K being input_dim and N num_output; bias (N,) unless bias_term is false. They get
    gradients; the bottom has none.

    Parameters
    ----------
    bottom 0
        Any shape, whole numbers from 0 to input_dim - 1.
    embed_param
        `num_output`: N, the length of a vector, required. `input_dim`: K, the number of vectors, required. `bias_term`
        (true): whether a bias is added. `weight_filler`, `bias_filler` (constant 0): the first values of W and bias.

    Returns
    -------
    top 0
        The bottom's shape with one more axis, of N.

    Raises
    ------
    LayerError
        num_output or input_dim is not given or 0; the bottom holds a number that W has no row for; a gradient of the
        bottom is asked for.

    Source
    ------
    Caffe, but a number outside of W raises LayerError.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Embed" embed_param { num_output: 2 input_dim: 3 bias_term: false }'
    >>> run_layer(text, [2, 0], params=[[[1, 2], [3, 4], [5, 6]]]).tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """

    kernels = Kernels("embed.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.embed_param
        self.rows, self.width = p.input_dim, p.num_output
        for field in ("num_output", "input_dim"):
            self.need(getattr(p, field) > 0, f"embed_param: {field} must be given and at least 1")
        self.parameter(0, (self.rows, self.width), p.weight_filler)
        if p.bias_term:
            self.parameter(1, (self.width,), p.bias_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape, self.width)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        numbers, count = bottom[0].data, bottom[0].count
        if self.device.kind != "cpu":
            check = checked_by(self, Embed.refuse)
            self.kernels.tell_number(min(count, 1), numbers, check.record, count, self.rows, check.mark)
        else:
            rows_asked = np.asarray(numbers).ravel()
            wrong = ~((rows_asked > -1) & (rows_asked < self.rows))
            if wrong.any():
                at = int(np.argmax(wrong))
                self.refuse(np.array([at, rows_asked[at]], np.float64))
        bias = self.blobs[1].data if len(self.blobs) > 1 else None
        self.kernels.look_up(count, numbers, self.blobs[0].data, bias, top[0].data, self.rows, self.width)

    def refuse(self, refusal: Numbers) -> None:
        """Raises LayerError for a number without a row: its place and its value."""
        rows, at, number = self.rows, int(refusal[0]), float(refusal[1])
        self.need(False, f"the bottom holds {number:g} at {at}; input_dim {rows} has 0 to {rows - 1}")

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[0], "whole numbers have no gradient; set propagate_down: false for the bottom")
        count, blocks = bottom[0].count, -(-self.width // self.kernels.constants["PIECE"])
        if not count:
            return
        if self.param_propagate_down[0]:
            self.kernels.weight_diff(
                blocks, bottom[0].data, top[0].diff, self.blobs[0].diff, count, self.rows, self.width
            )
        if len(self.blobs) > 1 and self.param_propagate_down[1]:
            self.kernels.bias_diff(self.width, top[0].diff, self.blobs[1].diff, count)

    def allow_force_backward(self, index: int) -> bool:
        return False
