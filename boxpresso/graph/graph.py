"""A net as steps over values: who writes each, and who reads it.

A step stands for one layer of the prototxt or for several. Values are named by their blob and how often it was written before,
for a layer in place writes its bottom's blob again: ("conv1", 1) is conv1 after its ReLU. passes.py changes plans; a room of
run/ makes them run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..device import Blob
from ..device.signature import HALVES
from ..layers.core import Layer
from ..layers.core.lowering import (
    Lowering,
    Scale,
)
from .connect import Signature

Value = tuple[str, int]  # a blob's name, and how often the blob was written before
PLAIN, LAST = "plain", "last"  # layouts: as Caffe's blobs, channels last
INT8 = "int8"  # channels last in 8 bits, by a Scale
FLOAT16, BFLOAT16 = "float16", "bfloat16"  # channels last, rounded to 16 bits
# What the elements of a value are in a layout; in the others they are of the net's type.
DTYPES: Mapping[str, np.dtype[Any]] = {INT8: np.dtype(np.uint8), FLOAT16: HALVES[0], BFLOAT16: HALVES[1]}


@dataclass(frozen=True)
class Step:
    """What is done at once.

    Attributes
    ----------
    layer
        The number of the layer that it is named after.
    reads, writes
        Values; of a step with an addend, that is the last that it reads.
    lowering
        How it runs on channels-last arrays; None: by the layer's own forward, on blobs.
    affine
        The numbers of the layers that are folded into its weights, in order.
    activation
        The number of the layer whose activation it applies to what it stores.
    added
        The number of the layer whose sum it does before that; the addend is its last read.
    halved
        The number of the layer whose maximum of 2 x 2 places it stores.
    absorbed
        The numbers of further layers that it stands for.
    """

    layer: int
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]
    lowering: Lowering | None = None
    affine: tuple[int, ...] = ()
    activation: int | None = None
    added: int | None = None
    halved: int | None = None
    absorbed: tuple[int, ...] = ()

    @property
    def layers(self) -> tuple[int, ...]:
        """The numbers of all layers that it stands for."""
        more = [i for i in (self.added, self.activation, self.halved) if i is not None]
        return (self.layer, *self.affine, *more, *self.absorbed)


@dataclass(frozen=True)
class Plan:
    """Steps in the order in which they run.

    Attributes
    ----------
    steps
        The steps.
    wanted
        {blob's name: the value that the blob shall hold in the end}: the net's outputs and what else was asked for.
    layouts
        {value: PLAIN, LAST or one of DTYPES}, once `lay_out` has chosen: as the step that writes it stores it; values that are
        missing are plain. A reader that needs another layout has it turned.
    dropped
        {the number of a layer that needs no step: the value that its tops are}.
    scales
        {value: its numbers in 8 bits}, of those that are stored so or read so.
    axes
        {blob's name: how many axes it had when the plan was made}.
    """

    steps: tuple[Step, ...]
    wanted: Mapping[str, Value]
    layouts: Mapping[Value, str]
    dropped: Mapping[int, Value]
    scales: Mapping[Value, Scale] = field(default_factory=dict)
    axes: Mapping[str, int] = field(default_factory=dict)

    def readers(self) -> dict[Value, list[Step]]:
        """The steps that read each value."""
        table: dict[Value, list[Step]] = {}
        for step in self.steps:
            for value in dict.fromkeys(step.reads):
                table.setdefault(value, []).append(step)
        return table


class Source:
    """What the passes ask of a net: its layers, with their bottoms and tops by name and as blobs."""

    def __init__(
        self,
        layers: Sequence[Layer],
        names: Sequence[tuple[list[str], list[str]]],
        bottoms: Sequence[list[Blob]],
        tops: Sequence[list[Blob]],
        blobs: Mapping[str, Blob],
        seen: MutableSequence[Signature] | None = None,
    ) -> None:
        self.layers, self.names, self.bottoms, self.tops, self.blobs = layers, names, bottoms, tops, blobs
        self.seen = seen  # what each layer's bottoms were at its last reshape

    def axes(self, value: Value) -> int:
        """How many axes a value has."""
        return len(self.blobs[value[0]].shape)


def plain(source: Source, wanted: Iterable[str]) -> Plan:
    """A step for each layer of a net; `wanted` names the blobs that must hold their data after a forward."""
    times: dict[str, int] = {}
    steps = []
    for i, (bottoms, tops) in enumerate(source.names):
        reads = tuple((name, times[name]) for name in bottoms)
        for name in tops:
            times[name] = times.get(name, -1) + 1
        steps.append(Step(i, reads, tuple((name, times[name]) for name in tops)))
    axes = {name: len(blob.shape) for name, blob in source.blobs.items()}
    return Plan(tuple(steps), {name: (name, times[name]) for name in wanted if name in times}, {}, {}, axes=axes)
