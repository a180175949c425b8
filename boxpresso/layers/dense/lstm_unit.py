"""LSTMUnit: one step of an LSTM, without its weights."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class LSTMUnit(Layer, type="LSTMUnit", bottoms=3, tops=2, traits=Trait.WRITES_ALL):
    """c = cont * f * c_before + i * g and h = o * tanh(c): one step of an LSTM, without its weights.

    i, f, o = sigmoid and g = tanh of their pre-activations. c_before and the pre-activations have gradients, cont has
    none.

    Parameters
    ----------
    bottom 0
        c_before (1, N, D).
    bottom 1
        (1, N, 4 D), the pre-activations of i, f, o and g, one after the other.
    bottom 2
        cont (1, N), 0 where a sequence begins, else 1.

    Returns
    -------
    top 0
        c (1, N, D).
    top 1
        h (1, N, D).

    Raises
    ------
    LayerError
        Bottoms of other shapes; a gradient of cont is asked for.

    Source
    ------
    Caffe; Hochreiter and Schmidhuber 1997, Donahue et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> c, h = run_layer('type: "LSTMUnit"', [[[8]]], [[[0, 0, 0, 0]]], [[1]], tops=2)
    >>> c.tolist()
    [[[4.0]]]
    """

    kernels = Kernels("lstm.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        steps, images, self.size = self.axes(bottom[0], 3, "bottom 0, the state before,")
        self.need(steps == 1, f"bottom 0, the state before, must be (1, N, D), got shape {bottom[0].shape}")
        wanted = ((1, images, 4 * self.size), (1, images))
        for i, shape in enumerate(wanted, 1):
            self.need(bottom[i].shape == shape, f"bottom {i} must have the shape {shape}, got {bottom[i].shape}")
        for blob in top:
            blob.reshape(1, images, self.size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.lstm_forward(top[0].count, *(blob.data for blob in (*bottom, *top)), self.size)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "cont has no gradient; set propagate_down: false for bottom 2")
        diffs = [blob.diff if down else None for blob, down in zip(bottom[:2], propagate_down)]
        if any(propagate_down):
            data = (blob.data for blob in bottom)
            self.kernels.unit_backward(top[0].count, *data, top[0].diff, top[1].diff, *diffs, self.size)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
