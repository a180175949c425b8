"""The plan of a net at TEST: a list of steps, by passes, each a pure function from plan to plan.

A step stands for one layer of the prototxt or for several. Values are named by their blob and how often it was written before,
for a layer in place writes its bottom's blob again: ("conv1", 1) is conv1 after its ReLU. program.py makes a plan run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, replace

from ..device import Blob
from ..layers.core import Layer
from ..layers.core.lowering import (
    Activation,
    Affine,
    Constant,
    Join,
    LastView,
    Lowering,
    Planes,
    Pointwise,
    Same,
    View,
)
from .connect import Signature

Value = tuple[str, int]  # a blob's name, and how often the blob was written before
PLAIN, LAST = "plain", "last"  # layouts: as Caffe's blobs, channels last


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
        {value: PLAIN or LAST}, once `lay_out` has chosen; values that are missing are plain.
    dropped
        {the number of a layer that needs no step: the value that its tops are}.
    """

    steps: tuple[Step, ...]
    wanted: Mapping[str, Value]
    layouts: Mapping[Value, str]
    dropped: Mapping[int, Value]

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
    return Plan(tuple(steps), {name: (name, times[name]) for name in wanted if name in times}, {}, {})


def lower(plan: Plan, source: Source) -> Plan:
    """Each step with the lowering that its layer offers."""
    steps = []
    for step in plan.steps:
        layer = source.layers[step.layer]
        lowering = layer.lower(source.bottoms[step.layer], source.tops[step.layer]) if step.reads else None
        ranks = {source.axes(value) for value in (*step.reads, *step.writes)}
        if lowering is not None and lowering.launches and not (ranks <= {2, 4} and len(step.writes) == 1):
            lowering = None
        steps.append(replace(step, lowering=lowering))
    return replace(plan, steps=tuple(steps))


def drop_identities(plan: Plan, source: Source) -> Plan:
    """Without the layers whose tops are their bottom: Split, Dropout at TEST, a Permute that changes nothing."""
    same: dict[Value, Value] = {}
    steps, dropped = [], dict(plan.dropped)
    for step in plan.steps:
        reads = tuple(same.get(value, value) for value in step.reads)
        if isinstance(step.lowering, Same):
            same.update(dict.fromkeys(step.writes, reads[0]))
            dropped[step.layer] = reads[0]
        else:
            steps.append(replace(step, reads=reads))
    wanted = {name: same.get(value, value) for name, value in plan.wanted.items()}
    return replace(plan, steps=tuple(steps), wanted=wanted, dropped=dropped)


def needed(plan: Plan, source: Source) -> Plan:
    """Without the steps that lead to nothing that is wanted; a net's inputs stay."""
    read = set(plan.wanted.values())
    steps: list[Step] = []
    for step in reversed(plan.steps):
        if source.layers[step.layer].type == "Input" or read.intersection(step.writes):
            steps.append(step)
            read.update(step.reads)
    return replace(plan, steps=tuple(reversed(steps)))


def constants(plan: Plan, source: Source) -> Plan:
    """PriorBox and what is made of priors alone reads nothing: it runs once for the shapes of a plan.

    Not a layer with parameters, which may change, or one that must run in each forward, and only once. Steps of constants have
    no reads; program.py runs them before the others.
    """
    written_over: set[str] = set()  # blobs of constants that something else writes in each forward
    while True:
        known: set[Value] = set()
        steps = []
        for step in plan.steps:
            layer, constant = source.layers[step.layer], isinstance(step.lowering, Constant)
            after_constants = bool(step.reads) and all(value in known for value in step.reads)
            if written_over.intersection(name for name, _ in step.writes):
                step = replace(step, lowering=None) if constant else step
            elif constant or (after_constants and layer.repeatable and not layer.blobs):
                known.update(step.writes)
                step = replace(step, reads=(), lowering=Constant())
            steps.append(step)
        others = {value[0] for step in steps for value in step.writes if value not in known}
        more = others.intersection(name for name, _ in known)
        if not more:
            return replace(plan, steps=tuple(steps))
        written_over |= more


def merge(plan: Plan, able: Callable[[Step], bool], join: Callable[[Step, Step], Step | None]) -> Plan:
    """Each step that `able` allows joined with the only reader of what it writes, where `join` gives the two as one.

    The joined step stands where the later of the two stood.
    """
    kept, readers = set(plan.wanted.values()), plan.readers()
    steps: list[Step | None] = []
    maker: dict[Value, int] = {}  # the place in `steps` of the step that writes a value
    for step in plan.steps:
        for value in sorted(dict.fromkeys(step.reads), key=lambda v: maker.get(v, -1), reverse=True):
            before = steps[maker[value]] if value in maker else None
            if (
                before is None
                or before.writes != (value,)
                or value in kept
                or len(readers[value]) != 1
                or not able(before)
            ):
                continue
            joined = join(before, step)
            if joined is not None:
                steps[maker[value]] = None
                step = joined
                break
        maker.update(dict.fromkeys(step.writes, len(steps)))
        steps.append(step)
    return replace(plan, steps=tuple(step for step in steps if step is not None))


def absorbs(what: str) -> Callable[[Step], bool]:
    """Whether a step's lowering can do this, and the step does nothing after it already."""

    def able(step: Step) -> bool:
        later = (
            step.halved is not None or step.activation is not None or (step.added is not None and what != "activation")
        )
        return step.lowering is not None and what in step.lowering.absorbs and not later

    return able


def fold_affine(plan: Plan, source: Source) -> Plan:
    """BatchNorm, Scale and Bias folded into the weights of what comes before."""

    def join(step: Step, next_: Step) -> Step | None:
        plain_step = not next_.affine and next_.activation is None and next_.added is None
        if len(next_.reads) == 1 and plain_step and isinstance(source.layers[next_.layer].fuse(), Affine):
            return replace(step, writes=next_.writes, affine=(*step.affine, next_.layer))
        return None

    return merge(plan, absorbs("affine"), join)


def fuse_sums(plan: Plan, source: Source) -> Plan:
    """The sum with another value done in the store of a step that makes one of the two, the later one if it can."""

    def join(step: Step, next_: Step) -> Step | None:
        sums = isinstance(next_.lowering, Pointwise) and next_.lowering.sums and next_.lowering.coefficient == 1
        if not sums or len(set(next_.reads)) != 2 or next_.activation is not None:
            return None
        (other,) = [value for value in next_.reads if value != step.writes[0]]
        return replace(step, reads=(*step.reads, other), writes=next_.writes, added=next_.layer)

    return merge(plan, absorbs("sum"), join)


def fuse_activations(plan: Plan, source: Source) -> Plan:
    """ReLU and its kind done in the store of what comes before."""

    def join(step: Step, next_: Step) -> Step | None:
        alone = not next_.affine and next_.added is None and len(next_.reads) == 1
        if alone and isinstance(source.layers[next_.layer].fuse(), Activation):
            return replace(step, writes=next_.writes, activation=next_.layer)
        return None

    return merge(plan, absorbs("activation"), join)


def fuse_halves(plan: Plan, source: Source) -> Plan:
    """The maximum of each 2 x 2 places in the store of the convolution before."""

    def able(step: Step) -> bool:
        return step.lowering is not None and "halves" in step.lowering.absorbs and step.halved is None

    def join(step: Step, next_: Step) -> Step | None:
        if len(next_.layers) == 1 and next_.lowering is not None and next_.lowering.halves:
            return replace(step, writes=next_.writes, halved=next_.layer)
        return None

    return merge(plan, able, join)


def lay_out(plan: Plan, source: Source) -> Plan:
    """Chooses the layout of each value: channels last from a step that is worth it for as long as all can work on it.

    A step that cannot, or is not worth turning its bottoms for, loses its lowering and runs by its layer's own forward.
    """
    layouts: dict[Value, str] = {}
    steps = []
    for step in plan.steps:
        lowering = step.lowering
        last = [layouts.get(value) == LAST for value in step.reads]
        ranks = {source.axes(value) for value in (*step.reads, *step.writes)}
        if isinstance(lowering, (View, Constant, Planes)):
            pass
        elif isinstance(lowering, LastView):
            if not last[0]:
                step = replace(step, lowering=None)
        elif isinstance(lowering, Join):
            images = all(last) and lowering.axis == 1 and ranks == {4}
            layouts.update(dict.fromkeys(step.writes, LAST if images else PLAIN))
        elif lowering is not None:
            if lowering.heavy or any(last) or len(step.layers) > 1:
                layouts[step.writes[0]] = LAST
            else:
                step = replace(step, lowering=None)
        steps.append(step)
    return replace(plan, steps=tuple(steps), layouts=layouts)


PASSES: tuple[Callable[[Plan, Source], Plan], ...] = (
    drop_identities, constants, fold_affine, fuse_sums, fuse_activations, fuse_halves, lay_out,
)  # fmt: skip


def cut(plan: Plan, dynamic: Collection[int]) -> list[Plan]:
    """A plan for each part of the net that ends with a layer of `dynamic`, those whose tops' shapes only a forward tells.

    What a later part reads is wanted of the part that writes it.
    """
    parts: list[list[Step]] = [[]]
    for step in plan.steps:
        parts[-1].append(step)
        if step.layer in dynamic:
            parts.append([])
    plans = []
    for i, steps in enumerate(parts):
        written = {value for step in steps for value in step.writes}
        later = {value for part in parts[i + 1 :] for step in part for value in step.reads}
        wanted = {name: value for name, value in plan.wanted.items() if value in written}
        wanted |= {value[0]: value for value in sorted(written & later)}
        plans.append(replace(plan, steps=tuple(steps), wanted=wanted))
    return [part for part in plans if part.steps]


def optimise(source: Source, wanted: Iterable[str], dynamic: Collection[int] = ()) -> list[Plan]:
    """The plans of a net's parts after all passes."""
    plans = cut(lower(plain(source, wanted), source), dynamic)
    for step in PASSES:
        plans = [step(part, source) for part in plans]
    return plans
