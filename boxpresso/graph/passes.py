"""Passes over a plan, each a pure function from plan to plan: identities, constants, weights, sums and activations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod, sqrt

from ..layers.core.lowering import (
    Activation,
    Affine,
    Constant,
    Join,
    Lowering,
    Pointwise,
    Same,
    Scale,
)
from ..proto.errors import ModelError
from .graph import BFLOAT16, INT8, LAST, Plan, Source, Step, Value


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
    no reads; a program runs them before the others, by their layers.
    """
    written_over: set[str] = set()  # blobs of constants that something else writes in each forward
    while True:
        known: set[Value] = set()
        steps = []
        for step in plan.steps:
            layer, constant = source.layers[step.layer], isinstance(step.lowering, Constant)
            after_constants = bool(step.reads) and all(value in known for value in step.reads)
            after_constants = after_constants and lies_there(step, source)
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


def lies_there(step: Step, source: Source) -> bool:
    """Whether what a layer reads lies in its own bottoms once it is made, and not behind an identity that copies."""
    named = zip(source.names[step.layer][0], step.reads)
    return all(source.blobs[name]._data is source.blobs[value[0]]._data for name, value in named)


def merge(plan: Plan, able: Callable[[Step], bool], join: Callable[[Step, Step], Step | None]) -> Plan:
    """Each step that `able` allows joined with the only reader of what it writes, where `join` gives the two as one.

    The joined step stands where the later of the two stood.
    """
    wanted, readers = set(plan.wanted.values()), plan.readers()
    steps: list[Step | None] = []
    maker: dict[Value, int] = {}  # the place in `steps` of the step that writes a value
    for step in plan.steps:
        for value in sorted(dict.fromkeys(step.reads), key=lambda v: maker.get(v, -1), reverse=True):
            before = steps[maker[value]] if value in maker else None
            if (
                before is None
                or before.writes != (value,)
                or value in wanted
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


def absorbs(feature: str) -> Callable[[Step], bool]:
    """Whether a step's lowering can do this, and the step does nothing after it already."""

    def able(step: Step) -> bool:
        later = (
            step.halved is not None
            or step.activation is not None
            or (step.added is not None and feature != "activation")
        )
        return step.lowering is not None and feature in step.lowering.absorbs and not later

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

    return through_joins(merge(plan, absorbs("activation"), join), source)


def through_joins(plan: Plan, source: Source) -> Plan:
    """An activation behind a join, done in the store of each step that makes a part of what is joined."""
    able, wanted, readers = absorbs("activation"), set(plan.wanted.values()), plan.readers()
    maker = {value: i for i, step in enumerate(plan.steps) for value in step.writes}
    steps: list[Step | None] = [*plan.steps]
    for i, step in enumerate(plan.steps):
        activation = source.layers[step.layer].fuse()
        of_all = isinstance(activation, Activation) and activation.slopes is None and len(step.reads) == 1
        at = maker.get(step.reads[0]) if of_all and len(step.layers) == 1 else None
        join = None if at is None else plan.steps[at]
        if at is None or join is None or not isinstance(join.lowering, Join) or len(join.layers) > 1:
            continue
        within, parts = (*join.reads, *join.writes), [maker.get(value) for value in join.reads]
        if wanted.intersection(within) or any(len(readers[value]) != 1 for value in within):
            continue
        makers = {part: each for part in parts if part is not None and (each := steps[part]) is not None}
        if len(makers) < len(join.reads):  # twice the same, or what an earlier part of the net has made
            continue
        if not all(len(each.writes) == 1 and able(each) for each in makers.values()):
            continue
        for part, each in makers.items():
            steps[part] = replace(each, activation=step.layer)
        steps[at], steps[i] = replace(join, writes=step.writes), None
    return replace(plan, steps=tuple(step for step in steps if step is not None))


def fuse_halves(plan: Plan, source: Source) -> Plan:
    """The maximum of each 2 x 2 places in the store of the convolution before."""

    def able(step: Step) -> bool:
        return step.lowering is not None and "halves" in step.lowering.absorbs and step.halved is None

    def join(step: Step, next_: Step) -> Step | None:
        if len(next_.layers) == 1 and next_.lowering is not None and next_.lowering.halves:
            return replace(step, writes=next_.writes, halved=next_.layer)
        return None

    return merge(plan, able, join)


@dataclass(frozen=True)
class Portion:
    """A value that is a part of another one, once a join has put it there.

    Attributes
    ----------
    value, whole
        Both of them.
    start
        Where it begins along the axis of the join.
    at, pieces, size, step
        The same in elements of the whole as Caffe lays it out: `pieces` runs of `size`, the first from `at` on, each next one
        `step` behind.
    """

    value: Value
    whole: Value
    start: int
    at: int
    pieces: int
    size: int
    step: int


def portions(step: Step, source: Source) -> list[Portion]:
    """What a step's bottoms are of its top, for the shapes of now; nothing unless it is a join."""
    if not isinstance(step.lowering, Join):
        return []
    axis, (whole,) = step.lowering.axis, step.writes
    shape, start, at = source.blobs[whole[0]].shape, 0, 0
    result = []
    for value in step.reads:
        own = source.blobs[value[0]].shape
        size = prod(own[axis:])
        result.append(Portion(value, whole, start, at, prod(own[:axis]), size, prod(shape[axis:])))
        start, at = start + own[axis], at + size
    return result


def in_int8(
    ranges: Mapping[Value, tuple[float, float]],
    chosen: Collection[int],
    means: Mapping[Value, tuple[float, ...]],
    maxima: Mapping[Value, tuple[float, ...]],
    strict: bool = True,
) -> Callable[[Plan, Source], Plan]:
    """The pass that gives steps their form in 8 bits, and values their layout and scale.

    A value is stored in 8 bits where its writer can and a reader takes it so; what lies between two layouts is turned where it
    is read. Steps of which each number of the top is one of a bottom's (MAX Pooling, Concat) take part where they lie between
    others in 8 bits: their values have one scale.

    Parameters
    ----------
    ranges
        The least and the largest number of each value; a step that reads one without is left as it is.
    chosen
        The numbers of the layers whose steps may be in 8 bits, of those that compute sums.
    means
        The mean of each channel of values, where biases are to be corrected by them.
    maxima
        The largest number of each channel of values, where channels are to have steps of their own as far as readers can. Of
        both, those of a value that has another number of channels now count for nothing.
    strict
        Whether a chosen step that reads or writes a value without a range is an error, and not left as it is.
    """

    def fitting(numbers: Mapping[Value, tuple[float, ...]], source: Source) -> dict[Value, tuple[float, ...]]:
        """Those of values that have as many channels."""
        return {v: each for v, each in numbers.items() if (len(each),) == source.blobs[v[0]].shape[1:2]}

    def form_of(step: Step, source: Source) -> Lowering | None:
        """The lowering of a step in 8 bits, None where it has none or is not chosen."""
        layer = source.layers[step.layer]
        if step.lowering is None or not step.reads or step.halved is not None:
            return None
        if isinstance(step.lowering, Join):
            return step.lowering if joins_channels(step, source) else None
        form = layer.lower_int8(source.bottoms[step.layer], source.tops[step.layer]) if step.lowering.launches else None
        return form if form is not None and (form.keeps_numbers or step.layer in chosen) else None

    def stored_ranges(plan: Plan, source: Source) -> dict[Value, tuple[float, float]]:
        """The ranges, of what steps store: behind an activation that stood after a join that is less than was measured."""
        stored = dict(ranges)
        for step in plan.steps:
            after = None if step.activation is None else source.layers[step.activation].fuse()
            if isinstance(after, Activation) and after.kind in ("RELU", "CLIP"):
                least, most = (0.0, inf) if after.kind == "RELU" else (after.low, after.high)
                for value in stored.keys() & step.writes:
                    low, high = stored[value]
                    stored[value] = (min(max(low, least), most), min(max(high, least), most))
        return stored

    def choose(plan: Plan, source: Source) -> Plan:
        forms: dict[int, Lowering] = {}  # by the place of a step: its lowering in 8 bits
        for i, step in enumerate(plan.steps):
            form, missing = form_of(step, source), [v for v in (*step.reads, *step.writes) if v not in ranges]
            if form is not None and missing and step.layer in chosen and strict:
                layer = source.layers[step.layer]
                raise ModelError(
                    f"{layer.type} layer {layer.name!r} is to run in 8 bits, but the scales have no range for its blob "
                    f"{missing[0][0]!r}; make them anew with `boxpresso quantize`"
                )
            if form is not None and not missing:
                forms[i] = form
        while True:  # until what is left of those that keep numbers lies between others
            stored = {value for i in forms for value in plan.steps[i].writes}
            taken = {value for i in forms for value in plan.steps[i].reads}
            keeping = [plan.steps[i] for i, form in forms.items() if form.keeps_numbers]
            between = [step for step in keeping if taken.intersection(step.writes) and stored.issuperset(step.reads)]
            if len(between) == len(keeping):
                break
            forms = {i: form for i, form in forms.items() if not form.keeps_numbers or plan.steps[i] in between}
        layouts = dict(plan.layouts)
        for i in forms:
            (value,) = plan.steps[i].writes
            layouts[value] = INT8 if value in taken else LAST
        steps = [replace(step, lowering=forms.get(i, step.lowering)) for i, step in enumerate(plan.steps)]
        groups = [(*plan.steps[i].reads, *plan.steps[i].writes) for i, form in forms.items() if form.keeps_numbers]
        return replace(
            plan,
            steps=tuple(steps),
            layouts=layouts,
            scales=scales(
                stored_ranges(plan, source), taken, groups, fitting(means, source), equalised(plan, source, forms)
            ),
        )

    def equalised(plan: Plan, source: Source, forms: Mapping[int, Lowering]) -> dict[Value, tuple[float, ...]]:
        """Factors of the channels of values that a ReLU in 8 bits ends, and that only sums of products read."""
        sums = {i for i, form in forms.items() if not form.keeps_numbers}
        other = {v for i, step in enumerate(plan.steps) for v in (step.reads[1:] if i in sums else step.reads)}
        known, factors = fitting(maxima, source), {}
        for step in (plan.steps[i] for i in sums if len(plan.steps[i].reads) == 1):
            (value,) = step.writes
            after = None if step.activation is None else source.layers[step.activation].fuse()
            if value in known and value not in other and isinstance(after, Activation) and after.kind == "RELU":
                factors[value] = channel_factors(known[value], ranges[value][1])
        return factors

    return choose


def in_bf16(plan: Plan, source: Source) -> Plan:
    """Steps in their form on maps in bfloat16, and values in that layout.

    A value is stored in bfloat16 where its writer can and a reader takes it so; what lies between two layouts is turned where
    it is read. Every step that multiplies by weights of its own has that form, where there is one; others (Pooling, Scale, sums
    of values) where all that they read is stored so, and a Concat where a reader takes its top so too.
    """
    forms: dict[int, Lowering] = {}  # by the place of a step: its lowering on maps in bfloat16
    for i, step in enumerate(plan.steps):
        lowering = step.lowering
        if isinstance(lowering, Join):
            form: Lowering | None = lowering if joins_channels(step, source) else None
        else:
            form = lowering.in_bf16() if lowering is not None and lowering.launches and step.reads else None
        if form is not None:
            forms[i] = form
    while True:  # until what is left of the others has its bottoms so
        stored = {value for i in forms for value in plan.steps[i].writes}
        taken = {value for i in forms for value in plan.steps[i].reads}
        left = {
            i: form for i, form in forms.items()
            if form.linear or (
                stored.issuperset(plan.steps[i].reads) and (form.launches or taken.intersection(plan.steps[i].writes))
            )
        }  # fmt: skip
        if len(left) == len(forms):
            break
        forms = left
    layouts = dict(plan.layouts)
    for i in forms:
        (value,) = plan.steps[i].writes
        layouts[value] = BFLOAT16 if value in taken else LAST
    steps = tuple(replace(step, lowering=forms.get(i, step.lowering)) for i, step in enumerate(plan.steps))
    return replace(plan, steps=steps, layouts=layouts)


def joins_channels(step: Step, source: Source) -> bool:
    """Whether a step is a Concat of the channels of images, and that alone."""
    images = {source.axes(value) for value in (*step.reads, *step.writes)} == {4}
    return isinstance(step.lowering, Join) and step.lowering.axis == 1 and images and len(step.layers) == 1


def channel_factors(maxima: Sequence[float], high: float) -> tuple[float, ...]:
    """What the step of each channel is of the largest one's: the root of its part of the range, from a tenth on.

    It lies between 1 for all, where small channels have few steps, and the whole part, where weights that read small channels
    have few (Nagel et al., 2019, equalise weights by such a root).

    >>> [round(factor, 2) for factor in channel_factors([4.0, 1.0, 0.0, 9.0], 4.0)]
    [1.0, 0.5, 0.1, 1.0]
    """
    return tuple(sqrt(min(1.0, max(0.01, most / high))) if high > 0 else 1.0 for most in maxima)


def scales(
    ranges: Mapping[Value, tuple[float, float]],
    values: Collection[Value],
    groups: Collection[Collection[Value]],
    means: Mapping[Value, tuple[float, ...]],
    factors: Mapping[Value, tuple[float, ...]],
) -> dict[Value, Scale]:
    """The scale of each value, with its means and factors; those of a group have one, which holds the ranges of all of them."""
    together = {value: {value} for value in values}
    for group in groups:
        joined = set().union(*(together.get(value, {value}) for value in group))
        together.update(dict.fromkeys(joined, joined))
    return {
        value: Scale.of(
            min(ranges[v][0] for v in joined),
            max(ranges[v][1] for v in joined),
            means.get(value, ()),
            factors.get(value, ()),
        )
        for value, joined in together.items()
    }
