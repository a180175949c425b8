"""Recurrent: what LSTM and RNN share. Time steps are computed one after the other, by a product and a kernel each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import ClassVar

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ...proto.limits import LIMITS
from ..core import Layer, Trait

FORKS = ("default_initial", "continue_recur", "tf_rnn", "linear_before_reset", "activations", "sparse_mode")


class Recurrent(Layer, traits=Trait.RUNS_ONCE):
    """The base of layers that go through T time steps of N sequences; D is num_output.

    recurrent_param { num_output: D weight_filler {} bias_filler {} expose_hidden: false }. Bottoms: x (T, N, ...);
    cont (T, N), 0 where a sequence begins and 1 where it goes on; then, both optional, a static input (N, ...) that
    every step sees; and with expose_hidden the states before the first step, (1, N, D) each. Tops: the outputs (T, N,
    D); with expose_hidden the states after the last step. Without it, a forward begins with the states that the one
    before has left (0 at first, and after a change of N). Parameters: W_x (G D, inputs), b (G D), W_static (G D,
    static inputs) where there is such a bottom, W_h (G D, D), with G = `gates`, then what the layer itself adds.
    """

    shared_kernels, products = Kernels("recurrent.cu"), blas.HOST
    gates: ClassVar[int]
    states: ClassVar[int]  # how many states a sequence has; the first is what the next step multiplies by W_h

    # What a layer adds

    def step(self, t: int, pre: AnyArray, cont: AnyArray) -> None:
        """Makes the states after step `t`, of shape (N, D), from its pre-activations (N, G D) and the states before."""
        raise NotImplementedError(f"{self} has no step")

    def step_backward(
        self, t: int, pre: AnyArray, cont: AnyArray, diffs: AnyArray, carried: list[AnyArray], pre_diff: AnyArray
    ) -> None:
        """From the gradients of the states after step `t` makes that of the pre-activations; what it writes to
        `carried` beyond the first is the gradient of the states before. diffs: the first state's, from its own top."""
        raise NotImplementedError(f"{self} has no step_backward")

    def outputs(self, top: Blob) -> None:
        """Gives the top its data; the first state, if the layer does not say otherwise."""
        top.data[...] = self.device.part(self.series[0], self.sequences * self.size, top.shape)

    def output_diffs(self, top: Blob) -> AnyArray:
        """The gradient of the first state of every step, from the top's diff; adds to what parameters it has."""
        return top.diff

    # The four verbs

    def carried(self) -> Sequence[AnyArray]:
        return self.last

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        return [
            name
            for name in ("weight_x", "bias", "weight_static", "weight_h")
            if name != "weight_static" or len(shapes) > 3
        ]

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.gemm = self.param.recurrent_param, partial(blas.gemm, self.device)
        for fork in FORKS:
            self.need(not getattr(p, fork), f"recurrent_param: {fork} of a fork is not supported; remove it")
        self.need(p.direction == "forward", f"recurrent_param: direction {p.direction!r} of a fork is not supported")
        self.size = p.num_output
        self.need(self.size > 0, "recurrent_param: num_output must be given and at least 1")
        self.exposed = self.states if p.expose_hidden else 0
        least = 2 + self.exposed
        exposing = f" with expose_hidden: {'true' if self.exposed else 'false'}"
        self.need(
            least <= len(bottom) <= least + 1,
            f"takes {least} bottoms, or {least + 1} with a static input,{exposing}; the prototxt gives {len(bottom)}",
        )
        self.need(
            len(top) == 1 + self.exposed,
            f"makes {1 + self.exposed} tops{exposing}; the prototxt gives {len(top)}",
        )
        self.static = len(bottom) > least
        self.last: list[AnyArray] = []
        self.make_parameters(bottom)

    def make_parameters(self, bottom: list[Blob]) -> None:
        """Makes the parameters, or checks that they still fit the bottoms."""
        p, wide = self.param.recurrent_param, self.gates * self.size
        x = bottom[0].shape
        self.need(len(x) > 2, f"bottom 0 must be (T, N, ...), time steps, sequences and inputs; got shape {x}")
        self.parameter(0, (wide, prod(x[2:])), p.weight_filler)
        self.parameter(1, (wide,), p.bias_filler)
        if self.static:
            self.need(bottom[2].shape, "bottom 2, the static input, must be (N, ...), got a single number")
            self.parameter(2, (wide, prod(bottom[2].shape[1:])), p.weight_filler)
        self.bias_index, self.hidden_index = 1, 2 + self.static
        self.parameter(self.hidden_index, (wide, self.size), p.weight_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.make_parameters(bottom)
        self.steps, self.sequences = steps, count = bottom[0].shape[:2]
        self.rows, state = steps * count, (1, count, self.size)
        self.need(
            steps <= LIMITS.time_steps,
            f"bottom 0 has {steps} time steps, {LIMITS.time_steps} are allowed: cut it into parts, or "
            f"{LIMITS.advice('time_steps')}",
        )
        self.need(bottom[1].shape == (steps, count), f"cont must be (T, N) = {(steps, count)}, got {bottom[1].shape}")
        if self.static:
            shape = bottom[2].shape
            self.need(shape[0] == count, f"bottom 2, the static input, must have {count} sequences, got shape {shape}")
        for i in range(len(bottom) - self.exposed, len(bottom)):
            self.need(bottom[i].shape == state, f"bottom {i}, a first state, must be {state}, got {bottom[i].shape}")
        top[0].reshape(steps, count, self.size)
        for blob in top[1:]:
            blob.reshape(*state)
        if [array.shape for array in self.last] != [state] * self.states:
            self.last = [self.device.empty(state, self.dtype) for _ in range(self.states)]
            for array in self.last:
                array.fill(0)
        self.pre = self.device.empty((steps, count, self.gates * self.size), self.dtype)
        self.previous = self.device.empty((steps, count, self.size), self.dtype)  # first states that steps go on from
        self.series = [self.device.empty((steps + 1, count, self.size), self.dtype) for _ in range(self.states)]
        self.ones = self.device.table(np.ones(max(1, self.rows)), self.dtype)
        for i in range(self.states):
            self.scratch(f"gradient of state {i}", state, backward=True)
        self.scratch("gradient of pre", self.pre.shape, backward=True)
        if self.static:
            self.scratch("static", (count, self.gates * self.size))

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first[:2] if index == 1 and len(first) > 2 else None

    def at(self, array: AnyArray, t: int) -> AnyArray:
        """Step `t` of an array (T, N, width)."""
        width = array.shape[-1]
        part: AnyArray = self.device.part(array, t * self.sequences * width, (self.sequences, width))
        return part

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, cont, wide = bottom[0].data, bottom[1].data, self.gates * self.size
        exposed = [blob.data for blob in bottom[len(bottom) - self.exposed :]] or self.last
        for series, first in zip(self.series, exposed):
            self.device.part(series, 0, first.shape)[...] = first
        static = None
        if self.static:
            static, inputs = self.room("static"), self.blobs[2].shape[1]
            self.gemm(False, True, self.sequences, wide, inputs, 1, bottom[2].data, self.blobs[2].data, 0, static)
        self.shared_kernels.begin(self.rows, self.blobs[self.bias_index].data, static, self.pre, wide, self.sequences)
        self.gemm(False, True, self.rows, wide, self.blobs[0].shape[1], 1, x, self.blobs[0].data, 1, self.pre)
        hidden = self.blobs[self.hidden_index].data
        for t in range(self.steps):
            previous, pre, going_on = self.at(self.previous, t), self.at(self.pre, t), self.at_cont(cont, t)
            self.shared_kernels.continued(previous.size, self.at(self.series[0], t), going_on, previous, self.size)
            self.gemm(False, True, self.sequences, wide, self.size, 1, previous, hidden, 1, pre)
            self.step(t, pre, going_on)
        for i, (series, last) in enumerate(zip(self.series, self.last)):
            end = self.device.part(series, self.rows * self.size, last.shape)
            last[...] = end
            if self.exposed:
                top[1 + i].data[...] = end
        if self.rows:
            self.outputs(top[0])

    def at_cont(self, cont: AnyArray, t: int) -> AnyArray:
        """Step `t` of cont (T, N)."""
        part: AnyArray = self.device.part(cont, t * self.sequences, (self.sequences,))
        return part

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "cont has no gradient; set propagate_down: false for bottom 1")
        wide, carried = self.gates * self.size, [self.room(f"gradient of state {i}") for i in range(self.states)]
        for i, array in enumerate(carried):
            if self.exposed:
                array[...] = top[1 + i].diff
            else:
                array.fill(0)
        pre_diff = self.room("gradient of pre")
        diffs, hidden, cont = self.output_diffs(top[0]), self.blobs[self.hidden_index], bottom[1].data
        for t in reversed(range(self.steps)):
            now, going_on = self.at(pre_diff, t), self.at_cont(cont, t)
            self.step_backward(t, self.at(self.pre, t), going_on, self.at(diffs, t), carried, now)
            self.gemm(False, False, self.sequences, self.size, wide, 1, now, hidden.data, 0, carried[0])
            self.shared_kernels.continued(carried[0].size, carried[0], going_on, carried[0], self.size)
        for i in range(self.exposed):
            blob, down = list(zip(bottom, propagate_down))[len(bottom) - self.exposed + i]
            if down:
                blob.diff[...] = carried[i]
        self.input_diffs(pre_diff, propagate_down, bottom)

    def input_diffs(self, pre_diff: AnyArray, propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """The gradients of the parameters and inputs of all steps, from that of the pre-activations."""
        if self.rows:
            self.weight_diff(0, pre_diff, bottom[0].data, self.rows)
            self.bias_diff(self.bias_index, pre_diff)
            self.weight_diff(self.hidden_index, pre_diff, self.previous, self.rows)
        if propagate_down[0]:
            self.from_weights(0, pre_diff, bottom[0].diff, self.rows)
        if self.static and (propagate_down[2] or self.param_propagate_down[2]):
            together = self.room("static")
            self.shared_kernels.over_time(together.size, pre_diff, together, self.steps)
            if self.sequences:
                self.weight_diff(2, together, bottom[2].data, self.sequences)
            if propagate_down[2]:
                self.from_weights(2, together, bottom[2].diff, self.sequences)

    def weight_diff(self, index: int, diff: AnyArray, x: AnyArray, rows: int) -> None:
        """Adds diff^T x to the gradient of parameter `index`."""
        if self.param_propagate_down[index]:
            weights = self.blobs[index]
            wide, inputs = weights.shape
            self.gemm(True, False, wide, inputs, rows, 1, diff, x, 1, weights.diff)

    def bias_diff(self, index: int, diff: AnyArray) -> None:
        """Adds the sum of diff's rows to the gradient of parameter `index`."""
        if self.param_propagate_down[index]:
            bias = self.blobs[index]
            self.gemm(False, False, 1, bias.count, self.rows, 1, self.ones, diff, 1, bias.diff)

    def from_weights(self, index: int, diff: AnyArray, bottom_diff: AnyArray, rows: int) -> None:
        """bottom_diff = diff W, W being parameter `index`."""
        wide, inputs = self.blobs[index].shape
        self.gemm(False, False, rows, inputs, wide, 1, diff, self.blobs[index].data, 0, bottom_diff)

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
