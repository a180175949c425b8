"""A net as writers of other formats read it: the operations of its plan, with parameters and the names of values."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar

import numpy as np

from ..graph.graph import Plan, Source, Step, Value, plain
from ..graph.passes import drop_identities, fold_affine, needed
from ..layers.core import Layer, Trait
from ..layers.core.lowering import Affine, Lowering, Same, folded
from ..net import Net
from ..proto.errors import LayerError, ModelError, nearest
from ..run.cpu import after

Numpy = np.ndarray[Any, Any]
Shape = tuple[int, ...]
AFFINE = "Affine"  # the type of an operation that is an affine map of the channels, alone or a chain of such layers


@dataclass
class Operation:
    """One step of a plan.

    Attributes
    ----------
    type, name, layer
        Of the layer that it is named after, with its settings; the type is "Affine" where it is an affine map of channels.
    inputs, outputs
        Names of values.
    params
        The learned parameters, with what is folded into them; of an Affine scale and shift, a number for each channel.
    layers
        The names of all layers that it stands for.
    """

    type: str
    name: str
    layer: Layer
    inputs: list[str]
    outputs: list[str]
    params: list[Numpy]
    layers: list[str]

    def __str__(self) -> str:
        return f"{self.type} layer {self.name!r}"


class OfOperation:
    """What a writer is given of an operation: its layer and parameters, and how to refuse it."""

    step: Operation
    refusal: ClassVar[str]  # what the layer cannot be

    @property
    def layer(self) -> Any:
        """The layer with its settings."""
        return self.step.layer

    @property
    def params(self) -> list[Numpy]:
        """The learned parameters."""
        return self.step.params

    def need(self, condition: object, message: str) -> None:
        """Raises a LayerError that names the layer unless `condition` holds; `message` says what stands against it."""
        if not condition:
            raise LayerError(f"{self.step}: {self.refusal}: {message}")


@dataclass
class Operations:
    """The operations of a net in their order, the shape and the blob of each value, the inputs, the outputs, the outputs'
    names, and what each value is in the net's graph.

    An input has the name of its blob, and so has the last value of any other blob; one that a layer overwrites in place has
    the name of its layer behind it. Several outputs may be one value: the tops of a Split, which is no operation.
    """

    steps: list[Operation]
    shapes: dict[str, Shape]
    blobs: dict[str, str]
    inputs: list[str]
    outputs: list[str]
    names: list[str]
    values: dict[str, Value]


class Foldable(Lowering):
    """A layer that is written with what follows it in its parameters."""

    launches = False
    absorbs = frozenset({"affine"})


def lower(plan: Plan, source: Source, fold: bool) -> Plan:
    """Each step with what the passes may do with it: a Split, whose tops are its bottom, goes; affine maps are folded."""
    steps = []
    for step in plan.steps:
        layer = source.layers[step.layer]
        lowering: Lowering | None = None
        if layer.type == "Split":
            lowering = Same()
        elif fold and (weighs(step, source) or scales(step, source)):
            lowering = Foldable()
        steps.append(replace(step, lowering=lowering))
    return replace(plan, steps=tuple(steps))


def channels(step: Step, source: Source) -> int:
    """The length of axis 1 of a step's only top; 0 where it has none."""
    shape = source.blobs[step.writes[0][0]].shape if len(step.writes) == 1 else ()
    return shape[1] if len(shape) > 1 else 0


def weighs(step: Step, source: Source) -> bool:
    """Whether weights make the channels of a step's top."""
    layer = source.layers[step.layer]
    return Trait.WEIGHTED in layer.traits and layer.output_axis == 1 and channels(step, source) > 0


def scales(step: Step, source: Source) -> bool:
    """Whether a step is an affine map of its bottom's channels, with numbers that are known."""
    one = len(step.reads) == 1 and channels(step, source) > 0
    return one and isinstance(source.layers[step.layer].fuse(), Affine)


def operations(net: Net, outputs: Sequence[str] | None = None, fold: bool = True) -> Operations:
    """The operations of a net that its outputs need.

    Parameters
    ----------
    net
        Built for the phase TEST, with its weights.
    outputs
        Names of blobs; None takes the outputs of the net.
    fold
        Whether BatchNorm, Scale and their kind become part of the weights before them, and chains of them one Affine. Nothing
        is folded over a value that another layer reads, or that is an output.

    Returns
    -------
    Operations

    Raises
    ------
    ModelError
        For a name of a blob that the net lacks, or without any output.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }
    ...     layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 1 } }
    ...     layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" }
    ...     layer { name: "s" type: "Scale" bottom: "c" top: "c" }'''), device="cpu")
    >>> [(step.type, step.layers) for step in operations(net).steps]
    [('Input', ['x']), ('Convolution', ['c', 'b', 's'])]
    """
    wanted = list(net.outputs if outputs is None else outputs)
    if not wanted:
        raise ModelError(
            "the net has no outputs: each top is the bottom of another layer; name the blobs that are wanted"
        )
    if unknown := [name for name in wanted if name not in net.blobs]:
        hint = nearest(unknown[0], net.blobs)
        raise ModelError(f"the net has no blob {unknown[0]!r}{hint or ';'} its outputs are {', '.join(net.outputs)}")
    source = Source(net.layers, net.names, net.bottoms, net.tops, net.blobs)
    plan = plain(source, wanted)
    names = names_of(plan, net)
    plan = lower(plan, source, fold)
    for change in (drop_identities, needed, fold_affine):
        plan = change(plan, source)
    steps = [operation(step, source, names) for step in plan.steps]
    values = [value for step in plan.steps for value in step.writes]
    shapes = {names[value]: tuple(net.blobs[value[0]].shape) for value in values}
    blobs = {names[value]: value[0] for value in values}
    ends = [names[plan.wanted[name]] for name in wanted]
    return Operations(steps, shapes, blobs, list(net.inputs), ends, wanted, {names[value]: value for value in values})


def names_of(plan: Plan, net: Net) -> dict[Value, str]:
    """What each value of a net is called."""
    last = {name: (name, times) for step in plan.steps for name, times in step.writes}
    names: dict[Value, str] = {}
    taken = set(net.blobs)
    for step in plan.steps:
        layer = net.layers[step.layer]
        for value in step.writes:
            own = layer.type == "Input" or (last[value[0]] == value and value[0] not in net.inputs)
            names[value] = value[0] if own else free_name(f"{value[0]}@{layer.name}", taken)
            taken.add(names[value])
    return names


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken."""
    return name if name not in taken else next(other for i in count(2) if (other := f"{name}_{i}") not in taken)


def output_name(blob: str, net: Net) -> str:
    """What an output is called, which cannot have the name of an input."""
    return free_name(f"{blob}_out", net.blobs) if blob in net.inputs else blob


def operation(step: Step, source: Source, names: dict[Value, str]) -> Operation:
    """A step of a plan with its parameters."""
    layer, affine = source.layers[step.layer], after(step, source).affine
    type, params = layer.type, [np.array(blob.data, np.float32) for blob in layer.blobs]
    wide = channels(step, source)
    if isinstance(step.lowering, Foldable) and not weighs(step, source):
        first = layer.fuse()
        assert isinstance(first, Affine)
        affine = first.then(affine)
        scale, shift = (np.ones(wide) if affine.scale is None else affine.scale), affine.shift
        type, params = AFFINE, [np.broadcast_to(v, (wide,)) for v in (scale, 0.0 if shift is None else shift)]
    elif step.affine:
        params = list(folded(params[0], params[1] if len(params) > 1 else None, affine, wide, layer.scaled))
    inputs, outputs = ([names[value] for value in values] for values in (step.reads, step.writes))
    layers = [source.layers[i].name for i in step.layers]
    return Operation(type, layer.name, layer, inputs, outputs, params, layers)
