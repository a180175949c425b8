"""What of a net is in 8 bits, as ONNX says it: values between QuantizeLinear and DequantizeLinear, and weights as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...graph.graph import INT8, Value
from ...layers.core import Layer
from ...layers.core.int8 import Filters
from ...layers.core.lowering import Activation, Scale
from ...net import Net
from ..operations import Operation, Operations
from .graph import OnnxGraph

KEPT_TOGETHER = ("RELU", "CLIP")  # activations that a program does in the store of what is before them


@dataclass
class Narrow:
    """The part of a net that runs in 8 bits.

    Attributes
    ----------
    scales
        {name of a value: its Scale}, of what layers in 8 bits read.
    layers
        Those layers: sums of products, what keeps numbers between them, and sums that are done in the store of one.
    between
        {name of a value: its Scale}, of what only a plan never stores, because something follows in the store. Other programs
        store it, and do so in 8 bits where it has a scale.
    factors
        {layer: those of the channels of the value that it ends in}: the file's value is that value over its factors.
    """

    scales: dict[str, Scale] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    between: dict[str, Scale] = field(default_factory=dict)
    factors: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bytes: dict[str, str] = {}  # by a value's name: what it is called in 8 bits

    def has(self, step: Operation) -> bool:
        """Whether it runs in 8 bits."""
        return any(step.layer is layer for layer in self.layers)

    def read(self, graph: OnnxGraph, name: str, value: str) -> str:
        """A value as a layer in 8 bits reads it."""
        if name not in self.scales:
            return value
        scale = self.scales[name]
        if name not in self.bytes:
            self.bytes[name] = quantised(graph, value, scale)
        return dequantised(graph, self.bytes[name], scale)

    def stored(self, graph: OnnxGraph, name: str, value: str) -> str:
        """A value as other programs are to store it."""
        if name not in self.between:
            return value
        scale = self.between[name]
        return dequantised(graph, quantised(graph, value, scale), scale)

    def filters(self, step: Operation) -> Filters | None:
        """The weights of a step in 8 bits, (filters, terms); None of one without, or in float."""
        if not step.params or not self.has(step) or step.inputs[0] not in self.scales:
            return None
        weights = step.params[0].T if getattr(step.layer, "transpose", False) else step.params[0]
        bias = step.params[1].reshape(-1) if len(step.params) > 1 else None
        filters = Filters(weights, bias, self.scales[step.inputs[0]])
        if factors := self.factors.get(step.layer.name):
            filters.steps = filters.steps / np.array(factors)
        return filters


def quantised(graph: OnnxGraph, value: str, scale: Scale) -> str:
    """A value in 8 bits."""
    return graph.op("QuantizeLinear", value, *constants(graph, scale))


def dequantised(graph: OnnxGraph, value: str, scale: Scale) -> str:
    """The floats of a value in 8 bits."""
    return graph.op("DequantizeLinear", value, *constants(graph, scale))


def constants(graph: OnnxGraph, scale: Scale) -> tuple[str, str]:
    """Scale and zero as QuantizeLinear takes them."""
    return graph.const(scale.scale), graph.const(scale.zero, "uint8")


def narrowed(net: Net, steps: Operations) -> Narrow:
    """What of a net is in 8 bits: nothing of one in float."""
    runner, quantization = net._runner, net.quantization
    if runner is None or quantization is None:
        return Narrow()
    scales: dict[Value, Scale] = {}
    result = Narrow()
    writers = {steps.values[name]: step for step in steps.steps for name in step.outputs}
    names = {value: name for name, value in steps.values.items()}
    for plan in runner.optimised():
        scales.update(plan.scales)
        for step in plan.steps:
            if step.lowering is None or not step.reads or step.lowering.takes != INT8:
                continue
            result.layers += [net.layers[i] for i in (step.layer, step.added) if i is not None]
            if (scale := plan.scales.get(step.writes[0])) is not None and scale.factors:
                result.factors[net.layers[step.layer].name] = scale.factors
            own = next((each for each in writers.values() if each.layer is net.layers[step.layer]), None)
            follows = None if step.activation is None else net.layers[step.activation].fuse()
            apart = isinstance(follows, Activation) and follows.kind not in KEPT_TOGETHER
            if own is not None and (step.added is not None or apart):
                ranges = quantization.ranges.get(own.layers[-1])
                if ranges:
                    result.between[own.outputs[0]] = Scale.of(*ranges[0])
    joins = {
        step.layer for plan in runner.optimised() for step in plan.steps if plan.layouts.get(step.writes[0]) == INT8
    }
    result.layers += [net.layers[i] for i in joins]
    result.scales = {names[value]: scale for value, scale in scales.items() if value in names}
    return result
