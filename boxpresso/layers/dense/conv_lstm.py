"""ConvLSTM: long short-term memory whose products are convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...device import AnyArray, Blob, Kernels
from ...proto import LayerParameter
from ...proto.limits import LIMITS
from ..core import Layer, Trait
from ..core.registry import make_layer
from .columns import DEVICE
from .convolution_host import HOST

PEEPHOLES = ("peephole_input", "peephole_forget", "peephole_output")
SHARED = ("kernel_size", "pad", "dilation", "stride")
PAIRS = ("kernel_h", "kernel_w", "pad_h", "pad_w", "stride_h", "stride_w")


class ConvLSTM(
    Layer,
    type="ConvLSTM",
    param=("lstm_conv_param", "recurrent_param", "lstm_debug_param"),
    bottoms=(2, 4),
    tops=(1, 3),
    traits=Trait.RUNS_ONCE,
):
    """c = cont f c + i g and h = o tanh(c), step by step; the top is h, maps as large as those of x.

    i, f, o = sigmoid and g = tanh of the four parts of W_x * x + W_h * (cont h) + b + W_c c, * being convolutions. W_c c,
    the peepholes, go into i, f and o alone; a weight stands for each place of the maps, and c is the cell before the step,
    also for o and where a sequence begins. D is num_output, T the number of time steps, N that of sequences. Without
    expose_hidden a forward begins with the states that the one before it left: 0 at first, and after a change of N.

    Learned parameters: W_x (4 D, C, kernel) unless ignore_x, W_h (4 D, D, kernel), b (4 D) with bias_term, and the
    peepholes of i, f and o, (H, W) each, which begin as 1. The four parts are in the order i, f, o, g.

    Parameters
    ----------
    bottom 0
        x (T, N, C, H, W).
    bottom 1
        cont (T, N), 0 where a sequence begins and 1 where it goes on.
    last two bottoms
        With expose_hidden: h and c before the first step, (1, N, D, H, W) each.
    lstm_conv_param
        Once, or once with `type: "input"` and once with `type: "hidden"`, for W_x and W_h. `num_output`: D, required.
        `kernel_size`, `pad`, `dilation`, or their _h and _w: such that maps keep their size. `bias_term` (true);
        `weight_filler`, `bias_filler` (constant 0).
    lstm_debug_param
        `disable_hadamard` (false): without peepholes. `axis_hadamard` (3), `num_axes_hadamard` (2): 2 and 3 for a weight
        for each element of each map. `ignore_x` (false): x counts for nothing but its shape.
    recurrent_param
        `expose_hidden` (false): whether the states before the first step are bottoms and those after the last one tops.

    Returns
    -------
    top 0
        (T, N, D, H, W), h after every step.
    top 1, top 2
        With expose_hidden: h and c after the last step, (1, N, D, H, W) each.

    Raises
    ------
    LayerError
        num_output that is not given or differs between the two; a convolution that changes the size of maps; the number of
        bottoms or tops does not fit expose_hidden; bottoms of other shapes; a static input, `expose` of inner blobs and
        other axes of peepholes, which are not supported; a gradient of cont is asked for.

    Source
    ------
    Shi et al. 2015; agethen/ConvLSTM-for-Caffe, as which the peephole of o sees the cell before the step.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ConvLSTM" lstm_conv_param { num_output: 3 kernel_size: 3 pad: 1 }'
    >>> run_layer(text, np.ones((2, 1, 4, 5, 6)), [[0], [1]]).shape
    (2, 1, 3, 5, 6)
    """

    kernels, cells, steps_kernels = Kernels("conv_lstm.cu"), Kernels("lstm.cu"), Kernels("recurrent.cu")
    on_device, on_host = DEVICE, HOST

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        maps = [shape for shape in shapes if len(shape) == 4]
        names = ["weight_x", "weight_h"] if len(maps) == 2 else ["weight_h"]
        names += ["bias"] if any(len(shape) == 1 for shape in shapes) else []
        return [*names, *PEEPHOLES][: len(shapes)]

    def carried(self) -> Sequence[AnyArray]:
        return self.last

    # Parameters

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        params, self.debug = list(self.param.lstm_conv_param), self.param.lstm_debug_param
        self.need(len(params) in (1, 2), f"takes one or two lstm_conv_param, the prototxt gives {len(params)}")
        of_x, of_h = params[0], params[0]
        if len(params) == 2:
            kinds = sorted(p.type for p in params)
            self.need(kinds == ["hidden", "input"], f'two lstm_conv_param have type "input" and "hidden", got {kinds}')
            of_h, of_x = sorted(params, key=lambda p: str(p.type))
        self.size = of_x.num_output
        self.need(self.size > 0, "lstm_conv_param: num_output must be given and at least 1")
        self.need(
            of_h.num_output == self.size, f"num_output must be the same for both, got {self.size}, {of_h.num_output}"
        )
        self.exposed = 2 if self.param.recurrent_param.expose_hidden else 0
        exposing = f"with expose_hidden: {'true' if self.exposed else 'false'}"
        for kind, count, wanted in (("bottoms", len(bottom), 2 + self.exposed), ("tops", len(top), 1 + self.exposed)):
            self.need(
                count == wanted, f"takes {wanted} {kind} {exposing} (no static input), the prototxt gives {count}"
            )
        p = self.debug
        self.need(not p.expose, "lstm_debug_param: expose is not supported; remove it")
        axes = p.axis_hadamard, p.num_axes_hadamard
        self.need(
            p.disable_hadamard or axes in ((3, 2), (2, 3)),
            f"axis_hadamard and num_axes_hadamard must be 3 and 2, or 2 and 3, got {axes}",
        )
        self.per_map = axes == (2, 3)
        self.last: list[AnyArray] = []
        self.of_x = None if p.ignore_x else self.convolution_of("x", of_x, False)
        self.of_h = self.convolution_of("h", of_h, of_h.bias_term)
        self.step_of_h = self.convolution_of("h", of_h, of_h.bias_term)
        self.fillers = [of_x.weight_filler, of_h.weight_filler, of_h.bias_filler]
        self.bias_term = of_h.bias_term
        self.make_parameters(bottom)

    def convolution_of(self, name: str, settings: Any, bias: bool) -> Any:
        """A convolution of the last three axes to the four parts."""
        fields = {field: list(getattr(settings, field)) for field in SHARED}
        fields.update((field, getattr(settings, field)) for field in PAIRS if settings.HasField(field))
        numbers = {"num_output": 4 * self.size, "axis": 2, "bias_term": bias, "group": settings.group}
        param = LayerParameter(name=f"{self.name}_{name}", type="Convolution", convolution_param={**fields, **numbers})
        return make_layer(param, device=self.device, dtype=self.dtype, phase=self.phase)

    def make_parameters(self, bottom: list[Blob]) -> None:
        """Makes the parameters, or checks that they still fit the bottoms, and plans the convolutions."""
        self.steps, self.sequences, channels, *self.maps = self.axes(bottom[0], 5)
        shape = self.steps, self.sequences, self.size, *self.maps
        self.previous = Blob(shape, self.dtype, self.device)
        one = Blob((1, *shape[1:]), self.dtype, self.device)
        self.hidden_parts = Blob((), self.dtype, self.device)
        self.pre = Blob((self.steps, self.sequences, 4 * self.size, *self.maps), self.dtype, self.device)
        self.with_diffs = [self.pre]
        index = 0
        for convolution, inputs, biased, fillers, x in (
            (self.of_x, channels, False, self.fillers[:1], bottom[0]),
            (self.of_h, self.size, self.bias_term, self.fillers[1:], self.previous),
        ):
            if convolution is None:
                continue
            convolution.read_window(2)
            group = convolution.groups()
            whole = group > 0 and inputs % group == 0
            self.need(whole, f"{inputs} channels cannot be divided into {group} groups")
            weights = 4 * self.size, inputs // group, *convolution.kernel
            convolution.blobs = [self.parameter(index, weights, fillers[0])]
            if biased:
                convolution.blobs.append(self.parameter(index + 1, (4 * self.size,), fillers[1]))
            convolution.param_propagate_down = [True] * len(convolution.blobs)
            index += len(convolution.blobs)
            self.plan(convolution, x, self.pre)
        self.step_of_h.blobs, self.step_of_h.param_propagate_down = self.of_h.blobs, [False] * len(self.of_h.blobs)
        self.plan(self.step_of_h, one, self.hidden_parts)
        self.peepholes = range(index, index if self.debug.disable_hadamard else index + 3)
        for i in self.peepholes:
            self.parameter(i, (self.size, *self.maps) if self.per_map else self.maps, value=1.0)

    def plan(self, convolution: Any, x: Blob, map: Blob) -> None:
        """Sets an inner convolution up for its sizes; its maps must be as large as x."""
        convolution.setup([x], [map])
        convolution.reshape([x], [map])
        self.need(
            list(map.shape[3:]) == self.maps,
            f"convolutions must keep the size of maps: of {self.maps} they make {list(map.shape[3:])}; set pad",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.make_parameters(bottom)
        steps, count = self.steps, self.sequences
        self.need(
            steps <= LIMITS.time_steps,
            f"bottom 0 has {steps} time steps, {LIMITS.time_steps} are allowed: cut it into parts, or "
            f"{LIMITS.advice('time_steps')}",
        )
        self.need(bottom[1].shape == (steps, count), f"cont must be (T, N) = {(steps, count)}, got {bottom[1].shape}")
        state = (1, count, self.size, *self.maps)
        for i, blob in enumerate(bottom[2:], 2):
            self.need(blob.shape == state, f"bottom {i}, a first state, must be {state}, got {blob.shape}")
        top[0].reshape(steps, *state[1:])
        for blob in top[1:]:
            blob.reshape(*state)
        if [array.shape for array in self.last] != [state] * 2:
            self.last = [self.device.empty(state, self.dtype) for _ in range(2)]
            for array in self.last:
                array.fill(0)
        self.series = [self.device.empty((steps + 1, *state[1:]), self.dtype) for _ in range(2)]
        self.state, self.each = state, prod(state[2:])
        for i in range(2):
            self.scratch(f"gradient of state {i}", state, backward=True)
        self.wide = self.each if self.per_map else prod(self.maps)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first[:2] if index == 1 and len(first) > 2 else None

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        inner = [(self.of_h, self.previous, self.pre), (self.step_of_h, self.previous, self.hidden_parts)]
        if self.of_x is not None:
            inner.append((self.of_x, bottom[0], self.pre))
        return max(int(convolution.shared_bytes([x], [map], backward)) for convolution, x, map in inner)

    # Steps

    def at(self, array: AnyArray, t: int) -> AnyArray:
        """Step `t` of an array (T, ...)."""
        size = prod(array.shape[1:])
        part: AnyArray = self.device.part(array, t * size, (1, *array.shape[1:]))
        return part

    def peeps(self) -> list[AnyArray | None]:
        return [self.blobs[i].data for i in self.peepholes] or [None] * 3

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        cont, (hidden, cell) = bottom[1].data, self.series
        for series, first in zip(self.series, [blob.data for blob in bottom[2:]] or self.last):
            self.at(series, 0)[...] = first
        if self.of_x is not None:
            self.of_x.forward([bottom[0]], [self.pre])
        else:
            self.pre.data.fill(0)
        count, weights, bias = prod(self.state), self.of_h.blobs[0].data, self.of_h.bias
        for t in range(self.steps if count else 0):
            pre, previous, going_on = self.at(self.pre.data, t), self.at(self.previous.data, t), self.at(cont, t)
            before, parts = self.at(cell, t), self.hidden_parts.data
            self.steps_kernels.continued(count, self.at(hidden, t), going_on, previous, self.each)
            self.step_of_h.convolution.correlate(previous, weights, bias, parts, False)
            self.kernels.add_hidden(count, parts, before, *self.peeps(), pre, self.each, self.wide)
            after = self.at(cell, t + 1), self.at(hidden, t + 1)
            self.cells.lstm_forward(count, before, pre, going_on, *after, self.each)
        for i, (series, last) in enumerate(zip(self.series, self.last)):
            last[...] = self.at(series, self.steps)
            if self.exposed:
                top[1 + i].data[...] = last
        if top[0].count:
            top[0].data[...] = self.device.part(hidden, count, top[0].shape)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "cont has no gradient; set propagate_down: false for bottom 1")
        cont, cell, pre_diff = bottom[1].data, self.series[1], self.pre.diff
        carried = [self.room(f"gradient of state {i}") for i in range(2)]
        for i, array in enumerate(carried):
            if self.exposed:
                array[...] = top[1 + i].diff
            else:
                array.fill(0)
        count, weights, peeps = prod(self.state), self.of_h.blobs[0].data, self.peeps()
        for t in reversed(range(self.steps if count else 0)):
            now, going_on, before = self.at(pre_diff, t), self.at(cont, t), self.at(cell, t)
            pre, diff = self.at(self.pre.data, t), self.at(top[0].diff, t)
            self.cells.lstm_backward(count, before, pre, going_on, diff, *carried, now, self.each, 0.0)
            if self.peepholes:
                self.kernels.peep_back(count, now, *peeps, carried[1], self.each, self.wide)
            self.step_of_h.convolution.spread(now, weights, None, carried[0])
            self.steps_kernels.continued(count, carried[0], going_on, carried[0], self.each)
        for i, blob in enumerate(bottom[2:]):
            if propagate_down[2 + i]:
                blob.diff[...] = carried[i]
        if count and self.steps:
            self.parameter_diffs(bottom, propagate_down)
        if propagate_down[0] and self.of_x is None:
            bottom[0].diff.fill(0)

    def parameter_diffs(self, bottom: list[Blob], propagate_down: Sequence[bool]) -> None:
        """The gradients of the parameters and of x, from those of the pre-activations of all steps."""
        learns, of_h = list(self.param_propagate_down), self.of_h
        if self.of_x is not None:
            self.of_x.param_propagate_down = learns[:1]
            self.of_x.backward([self.pre], propagate_down[:1], bottom[:1])
        first = int(self.of_x is not None)
        of_h.param_propagate_down = learns[first : first + len(of_h.blobs)]
        of_h.backward([self.pre], [False], [self.previous])
        rows = self.steps * self.sequences
        for gate, i in enumerate(self.peepholes):
            if learns[i]:
                self.kernels.peep_diff(
                    self.wide, self.pre.diff, self.series[1], self.blobs[i].diff, rows, self.each, self.wide, gate
                )

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
