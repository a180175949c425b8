"""LSTM: long short-term memory over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .recurrent_base import Recurrent


class LSTM(Recurrent, type="LSTM", param=("lstm_param", "recurrent_param"), bottoms=(1, 5), tops=(1, 3)):
    """c = cont f c + i g and h = o tanh(c), step by step; the top is h.

    i, f, o = sigmoid and g = tanh of the four parts of W_x x + b + W_static static + W_h (cont h). D is num_output, T
    the number of time steps, N that of sequences. All bottoms and tops but cont have gradients, unlike in Caffe.
    Without expose_hidden a forward begins with the states that the one before it left: 0 at first, and after a change
    of N.

    Learned parameters: W_x (4 D, inputs), b (4 D), W_static (4 D, static inputs) where there is a static input, W_h
    (4 D, D). The four parts are in the order i, f, o, g.

    `type: "Lstm"` with an lstm_param, CTPN's, is an older form. Its bottoms are x and, optionally, cont; without cont
    every sequence begins anew. Its parameters are in the order W_x, W_h, b. The gradient of its pre-activations is held
    within clipping_threshold where that is above 0. junhyukoh's, which it goes back to, has x as (T N, ...) in the order
    of time, N being batch_size (1): so it is taken where x has two axes or batch_size is given, and the top is (T N, D).

    Parameters
    ----------
    bottom 0
        x (T, N, ...).
    bottom 1
        cont (T, N), 0 where a sequence begins and 1 where it goes on.
    bottom 2
        Optional: a static input (N, ...) that every step sees.
    last two bottoms
        With expose_hidden: h and c before the first step, (1, N, D) each.
    recurrent_param
        `num_output`: D, required. `weight_filler`, `bias_filler` (constant 0): the first values of the weights and of
        b. `expose_hidden` (false): whether the states before the first step are bottoms and those after the last one
        tops.
    lstm_param
        Of the older form: `num_output`: D, required. `weight_filler`, `bias_filler` (constant 0). `clipping_threshold`
        (0: no clipping). `batch_size`: N, where the rows of x are time steps and sequences in one.

    Returns
    -------
    top 0
        (T, N, D), h after every step; (T N, D) where x comes so.
    top 1, top 2
        With expose_hidden: h and c after the last step, (1, N, D) each.

    Raises
    ------
    LayerError
        num_output is not given or 0; the number of bottoms or tops does not fit expose_hidden or the older form;
        bottoms of other shapes; a gradient of cont is asked for; a field of a fork (default_initial, continue_recur,
        tf_rnn, linear_before_reset, activations, sparse_mode, a direction other than forward) is given.

    Source
    ------
    Caffe; CTPN's Caffe; junhyukoh/caffe-lstm; Hochreiter and Schmidhuber 1997, Donahue et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> x, cont = [[[1]], [[1]]], [[1], [1]]
    >>> run_layer('type: "LSTM" recurrent_param { num_output: 3 }', x, cont).shape
    (2, 1, 3)

    With weights of 0 every gate is 1/2: two steps leave a quarter of c, and nothing of it where a sequence begins.

    >>> text = 'type: "LSTM" recurrent_param { num_output: 1 expose_hidden: true }'
    >>> run_layer(text, x, cont, [[[0]]], [[[8]]], tops=3)[2].tolist()
    [[[2.0]]]
    >>> run_layer(text, x, [[0], [1]], [[[0]]], [[[8]]], tops=3)[2].tolist()
    [[[0.0]]]
    """

    kernels, gates, states = Kernels("lstm.cu"), 4, 2

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        second = list(dropwhile(lambda size: size == 1, shapes[1])) if len(shapes) == 3 else []
        older = len(second) > 1  # lstm_param's order
        return ("weight_x", "weight_h", "bias") if older else super().parameter_names(shapes)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.older = self.param.HasField("lstm_param")
        self.threshold = self.param.lstm_param.clipping_threshold
        if self.older:
            self.need(len(bottom) < 3, f"with lstm_param it takes 1 or 2 bottoms, the prototxt gives {len(bottom)}")
            p, older = self.param.recurrent_param, self.param.lstm_param
            p.num_output = older.num_output
            p.weight_filler.CopyFrom(older.weight_filler)
            p.bias_filler.CopyFrom(older.bias_filler)
        self.cont = Blob((), self.dtype, self.device)
        sized = self.param.lstm_param.HasField("batch_size")
        self.joined = self.older and (sized or len(bottom[0].shape) == 2)  # time steps and sequences in one axis
        self.apart_bottoms = [Blob((), self.dtype, self.device) for _ in range(2)]
        self.apart_top = Blob((), self.dtype, self.device)
        super().setup(self.whole(bottom), top)

    def whole(self, bottom: list[Blob]) -> list[Blob]:
        """The bottoms as (T, N, ...), with a cont for the form that may lack it."""
        if not self.older:
            return bottom
        if self.joined:
            count, (rows, *rest) = self.param.lstm_param.batch_size, bottom[0].shape
            self.need(
                count > 0 and rows % count == 0,
                f"bottom 0 must hold {count} sequences, by batch_size, in each time step; its shape is {bottom[0].shape}",
            )
            for i, (blob, own) in enumerate(zip(bottom, self.apart_bottoms)):
                self.need(blob.shape[:1] == (rows,) and (not i or blob.count == rows), f"cont must be one number for each "
                          f"of the {rows} rows of bottom 0, got {blob.shape}")  # fmt: skip
                own.share_data(blob)
                own.share_diff(blob)
                own.reshape(rows // count, count, *((rest or [1]) if not i else []))
            bottom = self.apart_bottoms[: len(bottom)]
        if len(bottom) == 1:
            if self.cont.shape != bottom[0].shape[:2]:
                self.cont.reshape(*bottom[0].shape[:2])
                self.cont.data[...] = np.broadcast_to(np.arange(self.cont.shape[0])[:, None] > 0, self.cont.shape)
            bottom = [bottom[0], self.cont]
        return bottom

    def make_parameters(self, bottom: list[Blob]) -> None:
        if not self.older:
            return super().make_parameters(bottom)
        p, wide, x = self.param.recurrent_param, self.gates * self.size, bottom[0].shape
        self.need(len(x) > 2, f"bottom 0 must be (T, N, ...), time steps, sequences and inputs; got shape {x}")
        self.hidden_index, self.bias_index = 1, 2
        self.parameter(0, (wide, prod(x[2:])), p.weight_filler)
        self.parameter(1, (wide, self.size), p.weight_filler)
        self.parameter(2, (wide,), p.bias_filler)

    def as_steps(self, top: list[Blob]) -> list[Blob]:
        """The tops as (T, N, D)."""
        if not self.joined:
            return top
        self.apart_top.share_data(top[0])
        self.apart_top.share_diff(top[0])
        self.apart_top.reshape(self.steps, self.sequences, self.size)
        return [self.apart_top]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(self.whole(bottom), top)
        if self.joined:
            top[0].reshape(self.rows, self.size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().forward(self.whole(bottom), self.as_steps(top))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        whole = self.whole(bottom)
        super().backward(self.as_steps(top), [*propagate_down, *[False] * (len(whole) - len(bottom))], whole)

    def step(self, t: int, pre: AnyArray, cont: AnyArray) -> None:
        hidden, cell = self.series
        after = self.at(cell, t + 1), self.at(hidden, t + 1)
        self.kernels.lstm_forward(after[0].size, self.at(cell, t), pre, cont, *after, self.size)

    def step_backward(
        self,
        t: int,
        pre: AnyArray,
        cont: AnyArray,
        diffs: AnyArray,
        carried: list[AnyArray],
        pre_diff: AnyArray,
    ) -> None:
        before = self.at(self.series[1], t)
        self.kernels.lstm_backward(before.size, before, pre, cont, diffs, *carried, pre_diff, self.size, self.threshold)
