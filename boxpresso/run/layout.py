"""The plan of a net on the CPU: how each step runs on channels-last arrays, all passes in order, and which values lie so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from ..graph.graph import LAST, PLAIN, Plan, Source, Step, plain
from ..graph.passes import (
    constants,
    drop_identities,
    fold_affine,
    fuse_activations,
    fuse_halves,
    fuse_sums,
)
from ..layers.core.lowering import (
    Constant,
    Join,
    LastView,
    Planes,
    View,
)


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


def lay_out(plan: Plan, source: Source) -> Plan:
    """Chooses the layout of each value: channels last from a step that is worth it for as long as all can work on it.

    A step that cannot, or is not worth turning its bottoms for, loses its lowering and runs by its layer's own forward.
    """
    layouts = dict(plan.layouts)  # of steps in 8 and 16 bits, that is chosen already
    steps = []
    for step in plan.steps:
        lowering = step.lowering
        last = [layouts.get(value, PLAIN) != PLAIN for value in step.reads]
        ranks = {source.axes(value) for value in (*step.reads, *step.writes)}
        if isinstance(lowering, (View, Constant, Planes)) or any(value in plan.layouts for value in step.writes):
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


Pass = Callable[[Plan, Source], Plan]
PASSES: tuple[Pass, ...] = drop_identities, constants, fold_affine, fuse_sums, fuse_activations  # on each device
CPU: tuple[Pass, ...] = fuse_halves, lay_out  # and behind those on the CPU


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


def optimise(
    source: Source, wanted: Iterable[str], dynamic: Collection[int] = (), narrow: Pass | None = None,
    lower: Pass = lower, more: Sequence[Pass] = CPU,
) -> list[Plan]:  # fmt: skip
    """The plans of a net's parts after all passes.

    Parameters
    ----------
    source, wanted, dynamic
        As `plain` and `cut` take them.
    narrow
        The pass that gives steps their form in 8 bits, or on maps in bfloat16, if any.
    lower, more
        What gives steps their lowering on a device, and the passes of that device behind those of all.
    """
    plans = cut(lower(plain(source, wanted), source), dynamic)
    for each in (*PASSES, *([narrow] if narrow else []), *more):
        plans = [each(part, source) for part in plans]
    return plans
