"""Layers over time. A file keeps no state between its runs: where no first state is given it starts from zeros."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..operations import Shape
from .graph import OnnxGraph, Work, lowering


@lowering("LSTM")
def lstm(g: OnnxGraph, w: Work) -> list[str]:
    layer = w.layer
    if layer.joined:
        w = parted(g, w)
    if layer.older and len(w.bottoms) == 1:  # every sequence begins at its first step
        y = whole_lstm(g, w)
        return [g.reshape(y, w.top_shapes[0]) if layer.joined else y]
    states = first_states(g, w, 2)

    def step(pre: str, keeps: str) -> str:
        states[1] = g.mul(states[1], keeps)
        states[0], states[1] = cell(g, pre, states[1], layer.size)
        return states[0]

    y = over_time(g, w, states, step)
    y = g.reshape(y, w.top_shapes[0]) if layer.joined else y
    return [y, *[g.unsqueeze(state, 0) for state in states[: len(w.step.outputs) - 1]]]


def parted(g: OnnxGraph, w: Work) -> Work:
    """The same with time steps and sequences, which bottoms have in one axis, as two."""
    w.need(not w.lead, "the number of its time steps, axis 0, must be known")
    (rows, *inner), count = w.bottom_shapes[0], int(w.layer.param.lstm_param.batch_size)
    shapes: list[Shape] = [(rows // count, count, prod(inner)), (rows // count, count)][: len(w.bottoms)]
    bottoms = [g.reshape(x, shape) for x, shape in zip(w.bottoms, shapes)]
    return replace(w, bottoms=bottoms, bottom_shapes=shapes)


def whole_lstm(g: OnnxGraph, w: Work) -> str:
    """ONNX's own LSTM; its gates are in another order."""
    steps, count, *inner = w.bottom_shapes[0]
    size, order = w.layer.size, [0, 2, 1, 3]

    def gates(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values.reshape(4, size, -1)[k] for k in order])

    x = w.bottoms[0] if len(inner) == 1 else g.reshape(w.bottoms[0], (steps, count, prod(inner)), w.lead)
    bias = np.concatenate([gates(w.params[layer_bias(w.layer)]).reshape(-1), np.zeros(4 * size, np.float32)])
    arrays = gates(w.params[0]), gates(w.params[w.layer.hidden_index]), bias
    y = g.ops("LSTM", [x, *[g.const(a[None]) for a in arrays]], 1, hidden_size=size)[0]
    return g.squeeze(y, 1)


def layer_bias(layer: Any) -> int:
    """Which parameter is the bias."""
    return int(layer.bias_index)


def cell(g: OnnxGraph, pre: str, before: str, size: int) -> tuple[str, str]:
    """Hidden and cell state after a step; `before` is 0 already where a sequence begins."""
    taken, forget, shown = (g.op("Sigmoid", g.slice(pre, -1, k * size, (k + 1) * size)) for k in range(3))
    written = g.op("Tanh", g.slice(pre, -1, 3 * size, 4 * size))
    state = g.add(g.mul(forget, before), g.mul(taken, written))
    return g.mul(shown, g.op("Tanh", state)), state


def first_states(g: OnnxGraph, w: Work, count: int) -> list[str]:
    """Hidden state, cell state, (N, size) each: the last bottoms where they are given, else 0."""
    layer = w.layer
    if layer.exposed:
        return [g.squeeze(x, 0) for x in w.bottoms[len(w.bottoms) - layer.exposed :]]
    sequences = g.size(w.bottoms[0], 1)
    zeros = g.op("Expand", g.const(0.0), g.concat([sequences, g.ints(layer.size)], 0))
    return [zeros] * count


def over_time(g: OnnxGraph, w: Work, states: list[str], step: Any) -> str:
    """Runs step(pre-activations, cont) for each time step, written one after another; (T, N, size) of what it returns.

    states[0] is the hidden state, which a step replaces.
    """
    layer, (steps, _, *inner) = w.layer, w.bottom_shapes[0]
    w.need(not w.lead, "the number of its time steps, axis 0, must be known")
    w.need(steps > 0, f"its bottom has the shape {w.bottom_shapes[0]}, without a time step")
    weights, bias = w.params[0], w.params[layer_bias(layer)].reshape(-1)
    x = w.bottoms[0]
    if len(inner) != 1:
        x = g.op("Reshape", x, g.ints(steps, -1, prod(inner)))
    pre = g.add(g.op("MatMul", x, g.const(weights.T)), g.const(bias))
    if layer.static:
        rows = w.bottom_shapes[2]
        fixed = w.bottoms[2] if len(rows) == 2 else g.reshape(w.bottoms[2], (rows[0], prod(rows[1:])), True)
        pre = g.add(pre, g.op("MatMul", fixed, g.const(w.params[2].T)))
    hidden = g.const(w.params[layer.hidden_index].T)
    results = []
    for t in range(steps):
        number = g.const(t, "int64")
        keeps = g.unsqueeze(g.gather(w.bottoms[1], number), 1)
        before = g.mul(states[0], keeps)
        results.append(step(g.add(g.gather(pre, number), g.op("MatMul", before, hidden)), keeps))
    return g.concat([g.unsqueeze(y, 0) for y in results], 0)


@lowering("RNN")
def rnn(g: OnnxGraph, w: Work) -> list[str]:
    states, layer = first_states(g, w, 1), w.layer

    def step(pre: str, _: str) -> str:
        states[0] = g.op("Tanh", pre)
        return states[0]

    hidden = over_time(g, w, states, step)
    weights, bias = (w.params[layer.out_index + i] for i in (0, 1))
    y = g.op("Tanh", g.add(g.op("MatMul", hidden, g.const(weights.T)), g.const(bias.reshape(-1))))
    return [y, *[g.unsqueeze(state, 0) for state in states[: len(w.step.outputs) - 1]]]


@lowering("LSTMUnit")
def lstm_unit(g: OnnxGraph, w: Work) -> list[str]:
    before, pre, cont = w.bottoms
    hidden_state = cell(g, pre, g.mul(before, g.unsqueeze(cont, 2)), w.layer.size)
    return [hidden_state[1], hidden_state[0]]
