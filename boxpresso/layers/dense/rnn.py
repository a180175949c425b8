"""RNN: the plain recurrent network."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from .recurrent_base import Recurrent


class RNN(Recurrent, type="RNN", param="recurrent_param", bottoms=(2, 4), tops=(1, 2)):
    """h = tanh(W_x x + b + W_static static + W_h (cont h)), step by step; the top is tanh(W_o h + b_o).

    The plain recurrent network. D is num_output, T the number of time steps, N that of sequences. All bottoms and tops
    but cont have gradients, unlike in Caffe. Without expose_hidden a forward begins with the state that the one before
    it left: 0 at first, and after a change of N.

    Learned parameters: W_x (D, inputs), b (D), W_static (D, static inputs) where there is a static input, W_h (D, D),
    W_o (D, D), b_o (D).

    Parameters
    ----------
    bottom 0
        x (T, N, ...).
    bottom 1
        cont (T, N), 0 where a sequence begins and 1 where it goes on.
    bottom 2
        Optional: a static input (N, ...) that every step sees.
    last bottom
        With expose_hidden: h before the first step, (1, N, D).
    recurrent_param
        `num_output`: D, required. `weight_filler`, `bias_filler` (constant 0): the first values of the weights and of
        the biases. `expose_hidden` (false): whether h before the first step is a bottom and h after the last one a top.

    Returns
    -------
    top 0
        (T, N, D), the outputs.
    top 1
        With expose_hidden: h after the last step, (1, N, D).

    Raises
    ------
    LayerError
        num_output is not given or 0; the number of bottoms or tops does not fit expose_hidden; bottoms of other shapes;
        a gradient of cont is asked for; a field of a fork (default_initial, continue_recur, tf_rnn,
        linear_before_reset, activations, sparse_mode, a direction other than forward) is given.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text, params = 'type: "RNN" recurrent_param { num_output: 1 }', [20, 0, 40, 20, 0]
    >>> x = [[[1]], [[-1]]]
    >>> run_layer(text, x, [[0], [1]], params=params).round(3).tolist()
    [[[1.0]], [[1.0]]]

    The second step begins a new sequence:

    >>> run_layer(text, x, [[0], [0]], params=params).round(3).tolist()
    [[[1.0]], [[-1.0]]]
    """

    kernels, gates, states = Kernels("rnn.cu"), 1, 1

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        return *super().parameter_names(shapes[:-2]), "weight_out", "bias_out"

    def make_parameters(self, bottom: list[Blob]) -> None:
        super().make_parameters(bottom)
        p = self.param.recurrent_param
        self.out_index = self.hidden_index + 1
        self.parameter(self.out_index, (self.size, self.size), p.weight_filler)
        self.parameter(self.out_index + 1, (self.size,), p.bias_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        self.values = self.device.empty(top[0].shape, self.dtype)  # the outputs: a layer in place may change the top
        for name in ("gradient of states", "gradient of sums"):
            self.scratch(name, top[0].shape, backward=True)

    def step(self, t: int, pre: AnyArray, cont: AnyArray) -> None:
        self.kernels.rnn_forward(pre.size, pre, self.at(self.series[0], t + 1))

    def states_after(self) -> AnyArray:
        """The states after every step."""
        part: AnyArray = self.device.part(self.series[0], self.sequences * self.size, self.values.shape)
        return part

    def outputs(self, top: Blob) -> None:
        weights, bias = (self.blobs[self.out_index + i].data for i in (0, 1))
        self.shared_kernels.begin(self.rows, bias, None, self.values, self.size, self.sequences)
        self.gemm(False, True, self.rows, self.size, self.size, 1, self.states_after(), weights, 1, self.values)
        self.kernels.rnn_forward(top.count, self.values, self.values)
        top.data[...] = self.values

    def output_diffs(self, top: Blob) -> AnyArray:
        diff, sums_diff = self.room("gradient of states"), self.room("gradient of sums")
        self.kernels.rnn_backward(top.count, self.values, top.diff, None, sums_diff)
        if self.rows:
            self.weight_diff(self.out_index, sums_diff, self.states_after(), self.rows)
            self.bias_diff(self.out_index + 1, sums_diff)
        self.from_weights(self.out_index, sums_diff, diff, self.rows)
        return diff

    def step_backward(
        self,
        t: int,
        pre: AnyArray,
        cont: AnyArray,
        diffs: AnyArray,
        carried: list[AnyArray],
        pre_diff: AnyArray,
    ) -> None:
        after = self.at(self.series[0], t + 1)
        self.kernels.rnn_backward(after.size, after, diffs, carried[0], pre_diff)
