"""A plan made to run for given shapes: launches in chains, and the layers that run by themselves between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..device import Blob, Kernels
from ..device.chain import Chain
from ..device.host import Cpu
from ..layers.core.lowering import Activation, Affine, After, Constant, Last, Pointwise, layout
from .places import Action, Home, Key, Placement, shared_memory
from .plan import LAST, PLAIN, Plan, Source, Step

Numbers = np.ndarray[Any, np.dtype[Any]]
TURN = Kernels(Path(layout.__code__.co_filename).with_name("turn_last.cpp"))
CHUNK = "CHUNK"


class OddNumbers(Exception):
    """NaN or infinity where the layers are to be asked."""


class Memory:
    """The shared memory of a net's programs, which grows; `version` counts how often."""

    def __init__(self, device: Cpu, dtype: Any) -> None:
        self.device, self.dtype, self.version = device, np.dtype(dtype), 0
        self.array: Numbers = device.empty((0,), dtype)

    def grow(self, count: int) -> None:
        """At least `count` elements."""
        if count > self.array.size:
            self.array = self.device.empty((count,), self.dtype)
            self.version += 1


def prepare(plan: Plan, source: Source, fast_math: bool) -> None:
    """Gives every step the parameters as they are now, with what is folded into them."""
    for step in plan.steps:
        if step.lowering is not None and step.reads:
            step.lowering.fast = fast_math
            step.lowering.prepare(after(step, source))


def after(step: Step, source: Source) -> After:
    """What a step does with its sums."""
    affine, activation = Affine(None, None), None
    for i in step.affine:
        part = source.layers[i].fuse()
        assert isinstance(part, Affine)
        affine = affine.then(part)
    if step.activation is not None:
        found = source.layers[step.activation].fuse()
        assert isinstance(found, Activation)
        activation = found
    shape = source.blobs[step.writes[0][0]].shape if step.writes else ()
    return After(affine, activation, shape[1] if len(shape) > 1 else 0)


class Program:
    """A plan for the shapes that the net's blobs have now.

    Parameters
    ----------
    plan, source
        The plan, whose steps are prepared, and the net that it is of.
    memory
        Shared memory.
    forward
        Runs layer number i by itself.
    layers
        The numbers of the layers that the plan is of.
    """

    def __init__(
        self, plan: Plan, source: Source, memory: Memory, forward: Callable[[int], None], layers: Sequence[int]
    ) -> None:
        self.plan, self.source, self.memory, self.forward = plan, source, memory, forward
        self.placement = Placement(plan, source)
        names = dict.fromkeys(name for i in layers for name in source.names[i][1])
        self.shapes = [(source.blobs[name], source.blobs[name].shape) for name in names]
        actions = self.placement.actions
        self.starts, self.size = shared_memory(self.placement.homes, [self.keys(action) for action in actions])
        self.version = -1
        self.bound: list[tuple[Blob, Any]] = []
        self.items: list[Chain | int] = []
        self.chains: list[Chain] = []
        self.lowerings = [s.lowering for s in plan.steps if s.lowering is not None and s.reads]

    def keys(self, action: Action) -> list[Key]:
        """The keys that an action reads or writes."""
        if action.source is not None and action.target is not None:
            return [action.source, action.target]
        assert action.step is not None
        known = self.placement.homes
        if action.kind == "lowered":
            return [*self.placement.reads(action.step), *((v, LAST) for v in action.step.writes)]
        return [(v, PLAIN) for v in (*action.step.reads, *action.step.writes) if (v, PLAIN) in known]

    def array(self, home: Home) -> Last:
        """A home as an array."""
        kind, name = home.base
        if kind == "blob":
            blob = self.source.blobs[name]
            whole = blob._view(False)
            assert isinstance(whole, np.ndarray)
            self.bound.append((blob, whole))
            flat, start = whole.reshape(-1), 0
        else:
            flat, start = self.memory.array, self.starts[home.base]
        part = flat[start + home.offset : start + home.end]
        return Last(part, home.images, home.channels, home.height, home.width, home.pitch, home.step)

    def ready(self) -> bool:
        """Whether all memory is still where the launches find it."""
        return self.version == self.memory.version and all(blob._view(False) is array for blob, array in self.bound)

    def record(self) -> None:
        """Makes the launches."""
        self.memory.grow(self.size)
        self.version, self.bound, self.items, self.chains = self.memory.version, [], [], []
        self.first: list[int] = []
        chain: Chain | None = None
        for action in self.placement.actions:
            step = action.step
            if action.kind == "forward" and step is not None:
                if isinstance(step.lowering, Constant):
                    self.first.append(step.layer)
                elif self.source.layers[step.layer].type != "Input":
                    self.items.append(step.layer)
                    chain = None
                continue
            if chain is None:
                chain = Chain(self.memory.device, self.memory.dtype)
                self.items.append(chain)
                self.chains.append(chain)
            self.launch(chain, action)
        seen: dict[int, tuple[Blob, Any]] = {id(blob): (blob, array) for blob, array in self.bound}
        self.bound = list(seen.values())

    def launch(self, chain: Chain, action: Action) -> None:
        """Appends what an action does to a chain."""
        homes, step = self.placement.homes, action.step
        if action.kind == "lowered":
            assert step is not None
            assert step.lowering is not None
            reads = [self.array(homes[key]) for key in self.placement.reads(step)]
            if id(step) in self.placement.planar:
                _, channels, height, width = self.source.blobs[step.reads[0][0]].shape
                reads[0] = replace(reads[0], channels=channels, height=height, width=width, pitch=0)
            addend = reads.pop() if step.added is not None else None
            step.lowering.record(chain, reads, self.array(homes[step.writes[0], LAST]), addend)
            return
        assert action.source is not None
        assert action.target is not None
        source, target = self.array(homes[action.source]), self.array(homes[action.target])
        if action.kind == "copy":
            copier = Pointwise(self.memory.device, self.memory.dtype)
            copier.prepare(After())
            copier.record(chain, [source], target, None)
            return
        last = target if action.target[1] == LAST else source
        kernel = TURN.to_last if last is target else TURN.to_planes
        blocks = last.images * -(-last.places // TURN.constants[CHUNK])
        sides = layout(TURN, source, target, None, None)
        chain.add(kernel, blocks, source.memory, target.memory, sides, last.channels, last.places)

    def begin(self) -> None:
        """Gives the blobs the shapes of this program, and runs what depends on shapes alone."""
        for blob, shape in self.shapes:
            blob.shape = shape
        if not self.ready():
            self.record()
        for i in self.first:
            self.forward(i)

    def run(self, dynamic: Collection[int]) -> int | None:
        """Runs all steps; dynamic: layers that may give their tops other shapes.

        Returns
        -------
        int or None
            The number of another layer that has done so: then what follows it was not run.

        Raises
        ------
        OddNumbers
            Where a number was not finite in a sum that is only then not the layer's own.
        """
        for item in self.items:
            if isinstance(item, Chain):
                item.run()
                continue
            before = [blob.shape for blob in self.source.tops[item]]
            self.forward(item)
            if item not in dynamic and before != [blob.shape for blob in self.source.tops[item]]:
                return item
        if any(lowering.odd() for lowering in self.lowerings):
            raise OddNumbers
        return None
