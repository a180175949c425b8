"""BatchNorm, BN, Scale and Bias folded into the weights of the layer before them: a function from steps to steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..layers.core import Trait
from ..layers.core.lowering import Affine
from .steps import Numpy, Step, Steps


def fold(net: Steps) -> Steps:
    """The same net with its affine maps in the weights before them, and chains of such maps as one step "Affine".

    An Affine has the parameters scale and shift, a number for each channel, and stands where no layer with weights comes
    directly before. Nothing is folded over a value that another layer reads, or that is an output of the net.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.exports.steps import steps_of
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }
    ...     layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 1 } }
    ...     layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" }
    ...     layer { name: "s" type: "Scale" bottom: "c" top: "c" }'''), device="cpu")
    >>> [(step.type, step.layers) for step in fold(steps_of(net)).steps]
    [('Input', ['x']), ('Convolution', ['c', 'b', 's'])]
    """
    readers = net.readers()
    made: dict[str, Step] = {}  # the step that writes a value
    result: list[Step] = []
    for step in net.steps:
        shape = net.shapes[step.outputs[0]] if step.outputs else ()
        how = affine(step, shape[1]) if len(shape) > 1 else None
        before = made.get(step.inputs[0]) if how else None
        if how and before and readers[step.inputs[0]] == 1 and absorbs(before, how[0].size):
            joined = absorb(before, step, *how)
            result[result.index(before)] = joined
            made[step.outputs[0]] = joined
            continue
        if how:
            step = replace(step, type="Affine", params=list(how))
        result.append(step)
        made.update(dict.fromkeys(step.outputs, step))
    return replace(net, steps=result)


def affine(step: Step, channels: int) -> tuple[Numpy, Numpy] | None:
    """Scale and shift of each channel, axis 1, where a step is such a map with learned numbers; else None."""
    by_channel = Trait.BY_CHANNEL in step.layer.traits and Trait.ELEMENTWISE not in step.layer.traits
    fused = step.layer.fuse() if by_channel and len(step.outputs) == 1 else None
    if not isinstance(fused, Affine):
        return None
    scale = np.ones(channels) if fused.scale is None else np.broadcast_to(fused.scale, (channels,))
    return scale, np.zeros(channels) if fused.shift is None else np.broadcast_to(fused.shift, (channels,))


def absorbs(step: Step, channels: int) -> bool:
    """Whether a step can take an affine map of its channels, axis 1 of its one top, into its weights."""
    if len(step.outputs) != 1:
        return False
    if step.type == "Affine":
        return bool(step.params[0].size == channels)
    layer: Any = step.layer
    return Trait.WEIGHTED in layer.traits and bool(layer.outputs == channels and layer.output_axis == 1)


def absorb(step: Step, after: Step, scale: Numpy, shift: Numpy) -> Step:
    """One step for both."""
    layer: Any = step.layer
    outputs, layers = after.outputs, step.layers + after.layers
    if step.type == "Affine":
        params = [step.params[0] * scale, step.params[1] * scale + shift]
        return replace(step, params=params, outputs=outputs, layers=layers)
    weights = layer.scaled(step.params[0].astype(np.float64), scale)
    bias = step.params[1].astype(np.float64).reshape(-1) if len(step.params) > 1 else np.zeros(scale.size)
    params = [weights, bias * scale + shift]
    return replace(step, params=params, outputs=outputs, layers=layers)
