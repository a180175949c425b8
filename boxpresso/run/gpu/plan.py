"""The plan of a net at TEST on a GPU: steps with folded BatchNorm, fused sums and activations, and without identities.

The first passes are those of every device (run/layout.py). What differs is which layers can take others in: those whose work
is a convolution or a product. All other layers run by their own forward, on blobs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ...graph.graph import Plan, Source
from ...layers.core.gpu_lowering import GpuLowering
from ...layers.core.lowering import Constant, Join, Lowering, Pointwise, Same
from .. import layout


def lower(plan: Plan, source: Source) -> Plan:
    """Each step with how it runs on a GPU, or with what it is to the passes."""
    steps = []
    for step in plan.steps:
        layer, bottom, top = source.layers[step.layer], source.bottoms[step.layer], source.tops[step.layer]
        lowering: Lowering | None = layer.lower_gpu(bottom, top) if step.reads else None
        if lowering is None and step.reads:
            offered = layer.lower(bottom, top)
            shared = all(blob._data is bottom[0]._data for blob in top)
            if isinstance(offered, (Constant, Join)) or (isinstance(offered, Same) and shared):
                lowering = offered
            elif isinstance(offered, Pointwise) and offered.sums and offered.coefficient == 1:
                lowering = offered
                lowering.absorbs = frozenset()
        steps.append(replace(step, lowering=lowering))
    return replace(plan, steps=tuple(steps))


def by_themselves(plan: Plan, source: Source) -> Plan:
    """What is not run in another way by now runs by its layer's own forward."""
    kinds = GpuLowering, Constant, Join
    steps = [s if isinstance(s.lowering, kinds) else replace(s, lowering=None) for s in plan.steps]
    return replace(plan, steps=tuple(steps))


def in_place(plan: Plan, source: Source) -> bool:
    """Whether a convolution or product would overwrite what it reads."""
    for step in plan.steps:
        if isinstance(step.lowering, GpuLowering):
            read, write = (source.blobs[value[0]]._data for value in (step.reads[0], step.writes[0]))
            if read is write:
                return True
    return False


def optimise(source: Source, wanted: Iterable[str], dynamic: Collection[int] = ()) -> list[Plan]:
    """The plans of a net's parts after all passes; none where none can be as the net is."""
    plans = layout.optimise(source, wanted, dynamic, None, lower, (by_themselves,))
    return [] if any(in_place(part, source) for part in plans) else plans
