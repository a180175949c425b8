"""LSTM: long short-term memory over time."""

from __future__ import annotations

from .core import Kernels
from .core.recurrent import Recurrent


class LSTM(Recurrent, type="LSTM", bottoms=(2, 5), tops=(1, 3)):
    """i, f, o = sigmoid and g = tanh of the four parts of W_x x + b + W_static static + W_h (cont h), and then
    c = cont f c + i g and h = o tanh(c), step by step; the top is h.

    recurrent_param, bottoms and tops: see Recurrent. Parameters: W_x (4 D, inputs), b (4 D), W_static, W_h (4 D, D),
    the parts in the order i, f, o, g. With expose_hidden the last two bottoms are h and c before the first step, the
    last two tops h and c after the last; both have gradients, unlike in Caffe. Source: Caffe; Hochreiter and
    Schmidhuber 1997, Donahue et al. 2015.
    """

    kernels, gates, states = Kernels("lstm.cu"), 4, 2

    def step(self, t, pre, cont) -> None:
        hidden, cell = self.series
        after = self.at(cell, t + 1), self.at(hidden, t + 1)
        self.kernels.lstm_forward(after[0].size, self.at(cell, t), pre, cont, *after, self.size)

    def step_backward(self, t, pre, cont, diffs, carried, pre_diff) -> None:
        before = self.at(self.series[1], t)
        self.kernels.lstm_backward(before.size, before, pre, cont, diffs, *carried, pre_diff, self.size)
