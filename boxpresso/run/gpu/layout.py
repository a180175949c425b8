"""Chains of a plan on a GPU whose arrays may lie channels last: which steps they are, and the plan in which they do.

Both are pure functions of a plan. `find_chains` looks for convolutions by cuDNN, with what pools, sums, joins or takes each
element alone between them; `lay_out` turns what a chain reads, and what others read of it, and leaves the rest channels last.
Which layout a chain gets is decided elsewhere (choice.py).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ...device import Blob, Device
from ...graph.graph import LAST, Plan, Source, Step, Value
from ...layers.core import Trait, strided
from ...layers.core.gpu_lowering import GpuLowering, OnLast
from ...layers.core.lowering import Join, LastView

LEAST = 2  # convolutions of a chain


# Steps


class Turn(OnLast):
    """An array brought from one layout to the other."""

    def __init__(self, device: Device, last: bool) -> None:
        self.device, self.last = device, last

    def about(self) -> tuple[Any, ...]:
        return (self.last,)

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        images, channels, *size = bottoms[0].shape
        places = prod(size)
        planes, last = (channels * places, 1, places), (places * channels, channels, 1)  # of image, place, channel
        steps = (planes, last) if self.last else (last, planes)
        shape = images, places, channels
        strided.copy(self.device, shape, bottoms[0].data, steps[0], top.data, steps[1])


def on_last(step: Step, source: Source) -> OnLast | None:
    """How a step would run on channels-last arrays; None where it cannot."""
    layer = source.layers[step.layer]
    blobs = [source.blobs[value[0]] for value in (*step.reads, *step.writes)]
    if not step.reads or len(step.writes) != 1 or any(len(b.shape) != 4 or not b.count for b in blobs):
        return None
    if isinstance(step.lowering, GpuLowering):
        return step.lowering.on_last(step.added is not None)
    if not isinstance(step.lowering, (Join, type(None))) or len(step.layers) > 1:
        return None
    return layer.lower_last(source.bottoms[step.layer], source.tops[step.layer])


# Chains


@dataclass(frozen=True)
class Chain:
    """Steps between which arrays may be channels last.

    Attributes
    ----------
    steps
        `Step.layer` of each, in the order of the plan.
    absorbed
        The same of the Permutes to (N, H, W, C) behind it, which then have nothing to do.
    """

    steps: tuple[int, ...]
    absorbed: tuple[int, ...] = ()


def alike(value: Value, source: Source) -> bool:
    """Whether a value lies the same way in both layouts."""
    _, channels, *size = source.blobs[value[0]].shape
    return channels == 1 or prod(size) == 1


def in_place(step: Step, source: Source) -> list[Value]:
    """The values that a step reads where it writes."""
    target = source.blobs[step.writes[0][0]]._data
    return [value for value in step.reads if source.blobs[value[0]]._data is target]


def components(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that have values in common, one after another."""
    order = {step.layer: place for place, step in enumerate(steps)}
    group: dict[Value, int] = {}
    groups: dict[int, list[Step]] = {}
    for number, step in enumerate(steps):
        values = (*step.reads, *step.writes)
        met = sorted({group[value] for value in values if value in group})
        mine = groups.setdefault(met[0] if met else number, [])
        own = met[0] if met else number
        for other in met[1:]:
            mine.extend(groups.pop(other))
            for value, of in group.items():
                if of == other:
                    group[value] = own
        mine.append(step)
        group.update(dict.fromkeys(values, own))
    return [sorted(component, key=lambda step: order[step.layer]) for component in groups.values()]


def pruned(steps: Sequence[Step], source: Source) -> list[Step]:
    """Without the steps at the beginning of a chain that are no convolution, and those that would overwrite what the chain did
    not make: to measure it is to run it several times."""
    made = {step.writes[0] for step in steps}
    return [
        step for step in steps
        if all(value in made for value in in_place(step, source))
        and (isinstance(step.lowering, GpuLowering) or made.intersection(step.reads))
    ]  # fmt: skip


def tangled(plan: Plan, source: Source) -> set[int]:
    """The ids of buffers that a step writes to while an older value there is still to be read, as when a layer in place changes
    what a Dropout at TEST shares: later readers see the change, which an array that was turned before would not have."""
    newest: dict[int, Value] = {}
    same: dict[Value, Value] = {}  # views of a value
    buffers = set()
    for step in plan.steps:
        for value in step.reads:
            buffer = id(source.blobs[value[0]]._data)
            if newest.setdefault(buffer, same.get(value, value)) != same.get(value, value):
                buffers.add(buffer)
        view = bool(step.reads) and Trait.VIEW in source.layers[step.layer].traits
        for value in step.writes:
            buffer = id(source.blobs[value[0]]._data)
            if view and source.blobs[step.reads[0][0]]._data is source.blobs[value[0]]._data:
                same[value] = same.get(step.reads[0], step.reads[0])
            else:
                newest[buffer] = value
    return buffers


def absorbable(plan: Plan, source: Source, inner: Collection[str]) -> dict[Value, Step]:
    """{value: the only step that reads it, a Permute to (N, H, W, C)}."""
    permutes = {}
    for value, steps in plan.readers().items():
        i = steps[0].layer
        turns = steps[0].lowering is None and isinstance(
            source.layers[i].lower(source.bottoms[i], source.tops[i]), LastView
        )
        if turns and len(steps) == 1 and value[0] in inner and value not in plan.wanted.values():
            permutes[value] = steps[0]
    return permutes


def find_chains(plan: Plan, source: Source, inner: Collection[str], without: Collection[int] = ()) -> list[Chain]:
    """The chains of a plan whose blobs have their shapes.

    Parameters
    ----------
    plan, source
        After all passes of plan.py, and the net.
    inner
        Names of blobs whose values nobody needs once the plan has run.
    without
        `Step.layer` of steps that are in no chain.
    """
    shared = tangled(plan, source)
    steps = [
        step for step in plan.steps
        if step.layer not in without and on_last(step, source) is not None
        and not any(id(source.blobs[name]._data) in shared for name, _ in (*step.reads, *step.writes))
    ]  # fmt: skip
    while True:
        parts = components(steps)
        left = {step.layer for part in parts for step in pruned(part, source)}
        if len(left) == len(steps):
            break
        steps = [step for step in steps if step.layer in left]
    permuted = absorbable(plan, source, inner)
    chains = []
    for part in parts:
        if sum(isinstance(step.lowering, GpuLowering) for step in part) >= LEAST:
            heads = [step.writes[0] for step in part if isinstance(step.lowering, GpuLowering)]
            absorbed = [permuted[value].layer for value in heads if value in permuted]
            chains.append(Chain(tuple(step.layer for step in part), tuple(absorbed)))
    return chains


def lay_out(plan: Plan, source: Source, inner: Collection[str], chains: Iterable[Chain]) -> Plan:
    """A plan in which some of its chains are channels last; new values are ("NAME, channels last", times).

    What a chain reads of others is turned before its first reader, what others need of it behind its writer. A value that the
    chain alone needs lies channels last in its own blob.
    """
    chains = list(chains)
    own = {layer for chain in chains for layer in chain.steps}
    absorbed = {layer for chain in chains for layer in chain.absorbed}
    permuted, readers, wanted = absorbable(plan, source, inner), plan.readers(), set(plan.wanted.values())
    place: dict[Value, Value] = {}  # where a value lies channels last
    steps: list[Step] = []

    def turned(value: Value) -> Value:
        return f"{value[0]}, channels last", value[1]

    for step in plan.steps:
        if step.layer in absorbed:
            continue
        if step.layer not in own:
            steps.append(step)
            continue
        device, (target,) = source.layers[step.layer].device, step.writes
        for value in dict.fromkeys(step.reads):
            if value not in place:
                place[value] = value if alike(value, source) else turned(value)
                if place[value] != value:
                    steps.append(Step(step.layer, (value,), (place[value],), Turn(device, True)))
        how = on_last(step, source)
        reads = tuple(place[value] for value in step.reads)
        seen = target[0] not in inner or target in wanted or any(s.layer not in own for s in readers.get(target, ()))
        if target in permuted and permuted[target].layer in absorbed:
            permute = permuted[target]
            steps.append(replace(step, reads=reads, writes=permute.writes, lowering=how, absorbed=(permute.layer,)))
            continue
        place[target] = turned(target) if seen and not alike(target, source) else target
        steps.append(replace(step, reads=reads, writes=(place[target],), lowering=how))
        if place[target] != target:
            steps.append(Step(step.layer, (place[target],), (target,), Turn(device, False)))
    return replace(plan, steps=tuple(steps), layouts=dict.fromkeys(place.values(), LAST))


def chain_steps(steps: Iterable[Step], chain: Chain) -> list[Step]:
    """Those of a chain among the steps of a plan, in either layout."""
    layers = {*chain.steps, *chain.absorbed}
    return [step for step in steps if step.layer in layers]


def signature(plan: Plan, source: Source, chain: Chain) -> Hashable:
    """What the times of a chain depend on: its steps in a plan where it is channels last, with shapes, and who reads what.

    Numbers of images are rounded up to powers of two: those of the regions of a detector differ from picture to picture.
    """
    numbers: dict[Value, int] = {}
    rows = []
    for step in chain_steps(plan.steps, chain):
        values = (*step.reads, *step.writes)
        exact = [source.blobs[name.removesuffix(", channels last")].shape for name, _ in values]
        shapes = tuple((1 << (images - 1).bit_length(), *size) for images, *size in exact)
        about = step.lowering.about() if isinstance(step.lowering, OnLast) else ()
        row = source.layers[step.layer].type, type(step.lowering).__name__, len(step.layers), about, shapes
        rows.append((*row, tuple(numbers.setdefault(value, len(numbers)) for value in values)))
    return tuple(rows)
