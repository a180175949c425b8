"""What of a net is in 8 bits, as ONNX says it: values between QuantizeLinear and DequantizeLinear, and weights as bytes."""

from __future__ import annotations

from collections.abc import Mapping
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
    layers
        {layer: {name of a value: its Scale}, as that layer's part of the net reads it}: sums of products, what keeps numbers
        between them, and sums that are done in the store of one.
    between
        {name of a value: its Scale}, of what only a plan never stores, because something follows in the store. Other programs
        store it, and do so in 8 bits where it has a scale.
    factors
        {name of a value: those of its channels}: the file's value is that value over them. One that is not here is as it is.
    within
        {name of a value: the activation that stands in one step of the plan with what writes it}, which takes the file's value.
    """

    layers: dict[Layer, Mapping[str, Scale]] = field(default_factory=dict)
    between: dict[str, Scale] = field(default_factory=dict)
    factors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    within: dict[str, Layer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bytes: dict[tuple[str, Scale], str] = {}  # what a value is called in 8 bits
        self.whole: dict[tuple[str, tuple[float, ...]], str] = {}  # what a value over other factors is called

    def has(self, step: Operation) -> bool:
        """Whether it runs in 8 bits."""
        return step.layer in self.layers

    def scale(self, step: Operation, name: str) -> Scale | None:
        """By which a step reads a value in 8 bits; None where it reads floats."""
        return self.layers.get(step.layer, {}).get(name)

    def read(self, graph: OnnxGraph, step: Operation, name: str, value: str, axes: int) -> str:
        """A value of so many axes as a step reads it."""
        if self.within.get(name) is step.layer:
            return value
        scale = self.scale(step, name)
        value = self.over(graph, name, value, axes, scale.factors if scale else ())
        if scale is None:
            return value
        if (name, scale) not in self.bytes:
            self.bytes[name, scale] = quantised(graph, value, scale)
        return dequantised(graph, self.bytes[name, scale], scale)

    def over(self, graph: OnnxGraph, name: str, value: str, axes: int, factors: tuple[float, ...] = ()) -> str:
        """A value over some factors of its channels, or over none."""
        own = self.factors.get(name, ())
        if own == factors:
            return value
        if (name, factors) not in self.whole:
            shares = np.array(own or 1.0) / np.array(factors or 1.0)
            self.whole[name, factors] = graph.op("Mul", value, graph.const(shares.reshape(-1, *[1] * (axes - 2))))
        return self.whole[name, factors]

    def stored(self, graph: OnnxGraph, name: str, value: str) -> str:
        """A value as other programs are to store it."""
        if name not in self.between:
            return value
        scale = self.between[name]
        return dequantised(graph, quantised(graph, value, scale), scale)

    def filters(self, step: Operation) -> Filters | None:
        """The weights of a step in 8 bits, (filters, terms); None of one without, or in float."""
        if not step.params or (scale := self.scale(step, step.inputs[0])) is None:
            return None
        weights = step.params[0].T if getattr(step.layer, "transpose", False) else step.params[0]
        bias = step.params[1].reshape(-1) if len(step.params) > 1 else None
        filters = Filters(weights, bias, scale)
        if factors := self.factors.get(step.outputs[0]):
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
    result = Narrow()
    writers = {steps.values[name]: step for step in steps.steps for name in step.outputs}
    plans = runner.optimised()
    same = {value: root for plan in plans for i, root in plan.dropped.items() for value in runner.writes[i]}

    def root_of(value: Value) -> Value:  # a part of the net may read the top of a Split of an earlier one
        return root_of(same[value]) if value in same else value

    for plan in plans:
        by_root = {root_of(value): scale for value, scale in plan.scales.items()}
        scales = {name: by_root[root_of(value)] for name, value in steps.values.items() if root_of(value) in by_root}
        for step in plan.steps:
            if plan.layouts.get(step.writes[0]) == INT8:  # as a Concat
                result.layers[net.layers[step.layer]] = scales
            if step.lowering is None or not step.reads or step.lowering.takes != INT8:
                continue
            result.layers.update((net.layers[i], scales) for i in (step.layer, step.added) if i is not None)
            own = next((each for each in writers.values() if each.layer is net.layers[step.layer]), None)
            last = writers.get(step.writes[0])
            if own is None:
                continue
            follows = None if step.activation is None else net.layers[step.activation].fuse()
            apart = isinstance(follows, Activation) and follows.kind not in KEPT_TOGETHER
            if step.added is not None or apart:
                ranges = quantization.ranges.get(own.layers[-1])
                if ranges:
                    result.between[own.outputs[0]] = Scale.of(*ranges[0])
            scale = plan.scales.get(step.writes[0])
            # Nothing lies between the two.
            whole = own.layers == [net.layers[i].name for i in (step.layer, *step.affine)]
            if scale is not None and scale.factors and whole and last is not None and last.inputs == own.outputs:
                result.factors.update(dict.fromkeys((*own.outputs, *last.outputs), scale.factors))
                result.within[own.outputs[0]] = last.layer
    return result
