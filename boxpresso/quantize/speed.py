"""Where 8 bits are faster on this machine: steps of a plan in both forms, measured in turns, and what turning values costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from ..device.chain import Chain
from ..graph.graph import DTYPES
from ..graph.quantization import Quantization
from ..net import Net
from ..run.arena import Action
from ..run.cpu import CpuProgram

Numpy = np.ndarray[Any, np.dtype[Any]]
SECONDS = 6.0  # that measuring may take, about
LEAST, MOST = 3, 40  # rounds
Kind = tuple[int, str]  # a step's layer, and of which layout it takes its bottoms


@dataclass
class Times:
    """The least seconds of each step, and of a turned element of a value into 8 bits and out of them."""

    steps: dict[Kind, float]
    into: float
    out: float

    def of(self, net: Net, quantization: Quantization) -> float:
        """What the steps and turns of a net's plan take by these times; steps that were not measured count nothing."""
        runner = net._runner
        assert runner is not None
        total = 0.0
        for plan in runner.optimised(quantization.narrow(runner.source)):
            needs: set[tuple[tuple[str, int], str]] = set()
            for step in plan.steps:
                if step.lowering is None or not step.reads:
                    needs.update((value, "float") for value in step.reads)
                    continue
                takes = step.lowering.takes
                total += self.steps.get((step.layer, takes), 0.0)
                planes = net.blobs[step.reads[0][0]].shape[1:2] <= (step.lowering.planar,)  # are not turned
                needs.update((value, takes) for value in step.reads[planes:])
            for value, takes in needs:
                in_bytes = plan.layouts.get(value) in DTYPES
                if (takes in DTYPES) != in_bytes:
                    total += net.blobs[value[0]].count * (self.out if in_bytes else self.into)
        return total


def rounds(one: float) -> int:
    """How often something is measured that takes so many seconds."""
    return int(min(MOST, max(LEAST, SECONDS / max(one, 1e-6))))


def measure(net: Net, other: Net) -> Times:
    """Times of the steps of two nets with one source, one in float and one in 8 bits, after a forward of each."""
    works: list[
        tuple[Kind | str, int, int, Any]
    ] = []  # a step, or how values are turned; elements, images, and what runs one
    for each in (net, other):
        for program in each._runner.describe() if each._runner else ():
            assert isinstance(program, CpuProgram)
            with each._layers.at_work:
                for first, end, images in program.groups:
                    for action in program.placement.actions[first:end]:
                        kind = kind_of(action)
                        if kind is None:
                            continue
                        chain = Chain(program.device, program.dtype)
                        program.launch_named(chain, action, 0 if images > 1 else None)
                        count = each.blobs[action.source[0][0]].count if action.source else 0
                        works.append((kind, count, images, chain.run))
    least: list[float] = [np.inf] * len(works)
    start = perf_counter()
    for *_, work in works:
        work()
    for _ in range(rounds(perf_counter() - start)):
        for i, (*_, work) in enumerate(works):
            begin = perf_counter()
            work()
            least[i] = min(least[i], perf_counter() - begin)
    steps: dict[Kind, float] = {}
    turns = {"into": [0.0, 0], "out": [0.0, 0]}  # seconds and elements
    for (kind, count, images, _), seconds in zip(works, least):
        if isinstance(kind, str):
            turns[kind][0] += images * seconds
            turns[kind][1] += count
        else:
            steps[kind] = min(steps.get(kind, np.inf), images * seconds)
    into, out = (seconds / count if count else 0.0 for seconds, count in turns.values())
    return Times(steps, into or out, out or into)


def kind_of(action: Action) -> Kind | str | None:
    """What an action is, to who asks for times: a step, or a value turned "into" 8 bits or "out" of them."""
    step = action.step
    if action.kind == "lowered" and step is not None and step.lowering is not None:
        return step.layer, step.lowering.takes
    if action.kind == "turn" and action.source and action.target:
        return "into" if action.target[1] in DTYPES else "out" if action.source[1] in DTYPES else None
    return None


def slower(net: Net, quantization: Quantization, times: Times) -> list[str]:
    """The layers in 8 bits that the net is faster with in float, with what it costs to turn values between.

    One layer, or two neighbours, after the other is given back to float as long as the sum of all times falls, what saves most
    first. One of them at least is not faster by a tenth in 8 bits.
    """
    number = {layer.name: i for i, layer in enumerate(net.layers)}
    order = sorted(quantization.chosen, key=number.__getitem__)
    in_float = {name: note.why for name, note in quantization.layers.items() if name not in set(order)}

    def gains(name: str) -> bool:
        ours, theirs = (times.steps.get((number[name], takes), 0.0) for takes in ("int8", "last"))
        return ours < 0.9 * theirs

    back: list[str] = []
    now = times.of(net, quantization)
    while True:
        left = [name for name in order if name not in back]
        groups: list[tuple[str, ...]] = [*((name,) for name in left), *pairwise(left)]
        groups = [group for group in groups if not all(map(gains, group))]
        tried = [
            (times.of(net, quantization.with_kinds({**in_float, **dict.fromkeys([*back, *group], "")})), group)
            for group in groups
        ]
        if not tried or min(tried)[0] >= now:
            return back
        now, group = min(tried)
        back += group


def race(net: Net, other: Net, inputs: Mapping[str, Numpy]) -> tuple[float, float]:
    """The least seconds of a forward of two nets, run in turns."""
    least: list[float] = [np.inf, np.inf]
    for each in (net, other):
        each.forward(**inputs)  # type: ignore[arg-type]  # inputs by their names
    start = perf_counter()
    net.forward(**inputs)  # type: ignore[arg-type]
    for _ in range(max(5, rounds(2 * (perf_counter() - start)))):
        for i, each in enumerate((net, other)):
            begin = perf_counter()
            each.forward(**inputs)  # type: ignore[arg-type]
            least[i] = min(least[i], perf_counter() - begin)
    return float(least[0]), float(least[1])
