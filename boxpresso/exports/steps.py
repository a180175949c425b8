"""A net as a list of steps, each value written once: what the writers of other formats read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..layers.core import Layer
from ..layers.core.replaced import acting
from ..net import Net
from ..proto.errors import ModelError, nearest

Numpy = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass
class Step:
    """One layer, or what a pass made of several, with the names of the values that it reads and writes.

    `layers` names the layers of the prototxt that it stands for; `layer` is the first of them, with its settings.
    """

    type: str
    name: str
    layer: Layer
    inputs: list[str]
    outputs: list[str]
    params: list[Numpy] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.type} layer {self.name!r}"


@dataclass
class Steps:
    """The steps of a net in their order, the shape and the blob of each value, and the names of inputs and outputs.

    An input has the name of its blob, and so has the last value of any other blob; one that a layer overwrites in place has
    the name of its layer behind it.
    """

    steps: list[Step]
    shapes: dict[str, Shape]
    blobs: dict[str, str]
    inputs: list[str]
    outputs: list[str]

    def readers(self) -> dict[str, int]:
        """How many steps read each value; an output of the net counts as one more."""
        counts = dict.fromkeys(self.shapes, 0)
        for step in self.steps:
            for name in step.inputs:
                counts[name] += 1
        for name in self.outputs:
            counts[name] += 1
        return counts


def steps_of(net: Net, outputs: Sequence[str] | None = None) -> Steps:
    """The layers of a net that its outputs need, without Split and Silence.

    Parameters
    ----------
    net
        Built for the phase TEST, with its weights.
    outputs
        Names of blobs; None takes the outputs of the net.

    Returns
    -------
    Steps

    Raises
    ------
    ModelError
        For a name of a blob that the net lacks.
    """
    wanted = list(net.outputs if outputs is None else outputs)
    if unknown := [name for name in wanted if name not in net.blobs]:
        hint = nearest(unknown[0], net.blobs)
        raise ModelError(f"the net has no blob {unknown[0]!r}{hint or ';'} its outputs are {', '.join(net.outputs)}")
    last = {top: i for i, (_, tops) in enumerate(net.names) for top in tops}
    current: dict[str, str] = {}  # which value a blob holds now
    steps: list[Step] = []
    shapes: dict[str, Shape] = {}
    blobs: dict[str, str] = {}
    for i, (layer, (bottoms, tops)) in enumerate(zip(net.layers, net.names)):
        inputs = [current[name] for name in bottoms]
        if layer.type == "Split":
            current.update(dict.fromkeys(tops, inputs[0]))
            continue
        if layer.type == "Silence":
            continue
        plain = [layer.type == "Input" or (last[top] == i and top not in net.inputs) for top in tops]
        values = [top if own else f"{top}@{layer.name}" for top, own in zip(tops, plain)]
        for top, value in zip(tops, values):
            shapes[value] = tuple(net.blobs[top].shape)
        current.update(zip(tops, values))
        blobs.update(zip(values, tops))
        params = [np.array(blob.data, np.float32) for blob in layer.blobs]
        own = acting(layer)  # of a Python layer that one of ours stands in for
        steps.append(Step(own.type, layer.name, own, inputs, values, params, [layer.name]))
    results = [current[name] for name in wanted]
    return Steps(needed(steps, results), shapes, blobs, list(net.inputs), results)


def needed(steps: Sequence[Step], outputs: Sequence[str]) -> list[Step]:
    """The steps that lead to the outputs, and all inputs."""
    read = set(outputs)
    result: list[Step] = []
    for step in reversed(steps):
        if step.type == "Input" or read.intersection(step.outputs):
            result.append(step)
            read.update(step.inputs)
    return result[::-1]
