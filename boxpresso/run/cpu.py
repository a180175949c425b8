"""A plan made to run for given shapes: launches in chains, and the layers that run by themselves between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np

from ..device import Blob, Buffer, Kernels
from ..device.array import recording
from ..device.chain import Chain
from ..device.host import Cpu
from ..device.signature import Kernel
from ..graph.connect import named
from ..graph.graph import DTYPES, FLOAT16, INT8, LAST, PLAIN, Plan, Source, Step
from ..layers.core.int8 import turn_int8
from ..layers.core.lowering import (
    Activation,
    Affine,
    After,
    Constant,
    Last,
    Lowering,
    Planes,
    Pointwise,
    layout,
    turn_bf16,
)
from ..proto.errors import DeviceError
from .arena import Action, Key, Placement, shared_memory
from .program import Program

Numbers = np.ndarray[Any, np.dtype[Any]]
TURN = Kernels(Path(layout.__code__.co_filename).with_name("turn_last.cpp"))
NOTHING = np.zeros(0)
PIECES = 64  # into which the elements of an image without places are copied, at most
LARGE = 2**15  # elements of a value of which images are done one by one


class OddNumbers(Exception):
    """NaN or infinity where the layers are to be asked; no layer that runs once a forward has read what came of it."""


def prepare(plan: Plan, source: Source) -> None:
    """Gives every step the parameters as they are now, with what is folded into them."""
    for step in plan.steps:
        if step.lowering is not None and step.reads:
            with named(source.layers[step.layer]):
                step.lowering.prepare(after(step, source))


def after(step: Step, source: Source) -> After:
    """What a step does with its sums."""
    affine, activation = Affine(None, None), None
    for i in step.affine:
        part = source.layers[i].fuse()
        assert isinstance(part, Affine)
        affine = affine.then(part)
    if step.activation is not None:
        fused = source.layers[step.activation].fuse()
        assert isinstance(fused, Activation)
        activation = fused
    shape = source.blobs[step.writes[0][0]].shape if step.writes else ()
    return After(affine, activation, shape[1] if len(shape) > 1 else 0, step.halved is not None)


@dataclass
class Finish:
    """What follows the launches of a layer that a chain has made: its forward_finish.

    Attributes
    ----------
    layer
        Its number.
    rows
        What its `most_rows` was: with another it would launch others.
    reshapes
        How often it had been reshaped: since another time it remembers other shapes than those of the launches.
    """

    layer: int
    rows: int
    reshapes: int


class CpuProgram(Program):
    """A plan as launches in chains, and layers that run by themselves between them."""

    device: Cpu

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.placement = Placement(self.plan, self.source)
        actions = self.placement.actions
        self.groups = self.group(actions)
        self.shared = shared_memory(self.placement.homes, [self.keys(action) for action in actions], self.groups)
        self.once: Collection[int] = ()  # layers that run once a forward, and
        self.ran_once: Callable[[int], None] = lambda i: None  # what is called when one has
        self.version = -1
        self.bound: list[tuple[Blob, Buffer, int]] = []
        self.items: list[Chain | Finish | int] = []
        self.chains: list[Chain] = []

    def keys(self, action: Action) -> list[Key]:
        """The keys that an action reads or writes."""
        if action.source is not None and action.target is not None:
            return [action.source, action.target]
        assert action.step is not None
        known = self.placement.homes
        if action.kind == "lowered":
            return [*self.placement.reads(action.step), self.placement.written(action.step)]
        return [(v, PLAIN) for v in (*action.step.reads, *action.step.writes) if (v, PLAIN) in known]

    def array(self, key: Key) -> Last:
        """A key as an array, at its home."""
        home, dtype = self.placement.homes[key], DTYPES.get(key[1], self.dtype)
        kind, name = home.base
        if kind == "blob":
            blob = self.source.blobs[name]
            whole = blob._view(False)
            assert isinstance(whole, np.ndarray)
            self.bound.append((blob, blob._data, blob._data.version))
            flat, start = whole.reshape(-1), 0
        else:
            flat, start = self.arena.memory, self.shared.starts[home.base]
            if dtype != flat.dtype:
                flat, start = flat.view(dtype), start * home.narrow
        part = flat[start + home.offset : start + home.end]
        scale = self.plan.scales.get(key[0]) if key[1] == INT8 else None
        return Last(home.images, home.channels, home.height, home.width, home.pitch, home.step, part, scale)

    def release(self) -> None:
        """Lets go of the launches, and of the memory that they point to."""
        self.version, self.bound, self.items, self.chains = -1, [], [], []

    def ready(self) -> bool:
        """Whether all memory is still where the launches find it."""
        if self.version != self.arena.version or any(
            blob._data is not buffer or buffer.version != version for blob, buffer, version in self.bound
        ):
            return False
        last = [item for item in self.items if isinstance(item, Finish)]
        return all(item == self.finish_of(item.layer) for item in last)

    def record(self) -> None:
        """Makes the launches."""
        self.arena.grow(self.shared.size)
        self.version, self.bound, self.items, self.chains = self.arena.version, [], [], []
        chain: Chain | None = None
        for first, end, images in self.groups:
            actions = self.placement.actions[first:end]
            step = actions[0].step
            own: Sequence[tuple[Kernel, Sequence[Any]]] | None = None
            if actions[0].kind == "forward" and step is not None:
                if isinstance(step.lowering, Constant) or self.source.layers[step.layer].type == "Input":
                    continue
                own = self.launches_of(step.layer)
                if own is None:
                    self.items.append(step.layer)
                    chain = None
                    continue
            if chain is None:
                chain = Chain(self.device, self.dtype)
                self.items.append(chain)
                self.chains.append(chain)
            if own is not None and step is not None:
                layer = self.source.layers[step.layer]
                with named(layer):
                    for kernel, args in own:
                        chain.add(kernel, *args)
                self.items.append(self.finish_of(step.layer))
                chain = None
                continue
            for image in range(images) if images > 1 else [None]:
                for action in actions:
                    self.launch_named(chain, action, image)
        self.bound = list({id(blob): (blob, buffer, version) for blob, buffer, version in self.bound}.values())

    def finish_of(self, i: int) -> Finish:
        """What follows the launches of layer number `i` as it is now."""
        return Finish(i, self.source.layers[i].most_rows(self.source.bottoms[i]), self.source.reshapes[i])

    def launches_of(self, i: int) -> list[tuple[Kernel, Sequence[Any]]] | None:
        """The launches of a layer that needs no host until they are done (forward_launch), none of which is made; None for
        others, and where one computes in another type than a chain."""
        layer, bottom, top = self.source.layers[i], self.source.bottoms[i], self.source.tops[i]
        steps: list[Any] = []
        if not layer.repeatable:
            return None
        memory = self.source.memory
        with named(layer), self.source.at_work:
            memory.running, recording.steps = layer, steps
            try:
                launched = layer.forward_launch(bottom, top)
            finally:
                memory.running = recording.steps = None
        if not launched or any(real != self.dtype for _, real, _ in steps):
            return None
        self.bound += [(blob, blob._data, blob._data.version) for blob in (*bottom, *top)]
        return [(kernel, args) for kernel, _, args in steps]

    def group(self, actions: Sequence[Action]) -> list[tuple[int, int, int]]:
        """(first, end, images) for actions that are done together: all of them for one image after the other, while it is in
        the caches, or with 1 a single action for all images."""
        groups: list[tuple[int, int, int]] = []
        for i, action in enumerate(actions):
            images = self.images(action)
            if images > 1 and groups and groups[-1][2] == images:
                groups[-1] = groups[-1][0], i + 1, images
            else:
                groups.append((i, i + 1, images))
        return groups

    def images(self, action: Action) -> int:
        """How many images an action is to do one after the other: those of large values in which each is alone; else 1."""
        if action.kind not in ("lowered", "turn", "copy"):
            return 1
        homes = [self.placement.homes[key] for key in self.keys(action)]
        step = action.step
        together = (
            action.kind == "lowered" and step is not None and step.lowering is not None and step.lowering.together
        )
        large = max(home.places * home.channels for home in homes) >= LARGE
        return homes[0].images if large and not together and len({home.images for home in homes}) == 1 else 1

    def lowered(self) -> Iterator[tuple[Step, Lowering, Last, Last]]:
        """The steps on channels-last arrays, with their first bottom and their top, which lack their memory."""
        for first, end, images in self.groups:
            for action in self.placement.actions[first:end]:
                step = action.step
                if action.kind != "lowered" or step is None or step.lowering is None:
                    continue
                keys = self.placement.reads(step)[0], self.placement.written(step)
                homes = [self.placement.homes[key] for key in keys]
                bottom, top = (
                    Last(1 if images > 1 else h.images, h.channels, h.height, h.width, h.pitch, h.step, NOTHING)
                    for h in homes
                )
                if id(step) in self.placement.planar:
                    _, channels, height, width = self.source.blobs[step.reads[0][0]].shape
                    bottom = replace(bottom, channels=channels, height=height, width=width, pitch=0)
                yield step, step.lowering, bottom, top

    def launch_named(self, chain: Chain, action: Action, image: int | None) -> None:
        """`launch`, whose errors name the layer."""
        if action.step is None:
            self.launch(chain, action, image)
            return
        with named(self.source.layers[action.step.layer]):
            self.launch(chain, action, image)

    def launch(self, chain: Chain, action: Action, image: int | None) -> None:
        """Appends what an action does to a chain; for one image alone if it is given."""
        homes, step = self.placement.homes, action.step

        def array(key: Key) -> Last:
            whole = self.array(key)
            if image is None:
                return whole
            return whole.image(0 if homes[key].base in self.shared.single else image)

        if action.kind == "lowered":
            assert step is not None
            assert step.lowering is not None
            reads = [array(key) for key in self.placement.reads(step)]
            if id(step) in self.placement.planar:
                _, channels, height, width = self.source.blobs[step.reads[0][0]].shape
                scale = self.plan.scales.get(step.reads[0])  # of a step in 8 bits, which rounds the floats itself
                reads[0] = replace(reads[0], channels=channels, height=height, width=width, pitch=0, scale=scale)
            addend = reads.pop() if step.added is not None else None
            step.lowering.record(chain, reads, array(self.placement.written(step)), addend)
            return
        if action.kind == "planes":
            assert step is not None
            assert isinstance(step.lowering, Planes)
            arrays = [self.array((value, PLAIN)).memory for value in (*step.reads, *step.writes)]
            step.lowering.launches_of(chain.add, *arrays)
            return
        assert action.source is not None
        assert action.target is not None
        source, target = array(action.source), array(action.target)
        if action.kind == "copy":  # the numbers of the same value
            target = replace(target, scale=source.scale)
        narrow = DTYPES.keys() & {action.source[1], action.target[1]}
        if FLOAT16 in narrow:
            raise DeviceError(f"the CPU does not turn values of {FLOAT16}: no plan of its passes has them")
        if narrow:
            source, target = (
                replace(part, pitch=0) if key[1] == PLAIN else part
                for part, key in ((source, action.source), (target, action.target))
            )
            if INT8 in narrow:
                turn_int8(chain, source, target, self.plan.scales[action.source[0]])
            else:
                turn_bf16(chain, source, target)
            return
        if action.kind == "copy":
            if (source.images, source.channels) != (target.images, target.channels):  # pieces of a whole without gaps
                size = target.channels
                source = replace(source, images=target.images, channels=size, height=1, width=1, pitch=size, step=size)
            if source.places == target.places == 1:  # in as many pieces as workers may want
                size = target.channels // (pieces := gcd(target.channels, PIECES))
                source, target = (replace(v, channels=size, height=pieces, pitch=size) for v in (source, target))
            copier = Pointwise(self.device, self.dtype)
            copier.prepare(After())
            copier.record(chain, [source], target, None)
            return
        last = target if action.target[1] == LAST else source
        kernel = TURN.to_last if last is target else TURN.to_planes
        blocks = last.images * -(-last.places // TURN.constants["CHUNK"])
        sides = layout(TURN, source, target, None, None)
        chain.add(kernel, blocks, source.memory, target.memory, sides, last.channels, last.places)

    def run(self, dynamic: Collection[int]) -> int | None:
        for item in self.items:
            if isinstance(item, Chain):
                item.run()
                continue
            if isinstance(item, Finish):
                before, i = [blob.shape for blob in self.source.tops[item.layer]], item.layer
                self.source.finish(i)
                if i in self.read and i not in dynamic and before != [blob.shape for blob in self.source.tops[i]]:
                    return i
                continue
            if item in self.once:
                self.refuse_odd()
            before = [blob.shape for blob in self.source.tops[item]]
            self.source.forward(item)
            if item in self.once:
                self.ran_once(item)
            if item in self.read and item not in dynamic and before != [blob.shape for blob in self.source.tops[item]]:
                return item
        self.refuse_odd()
        return None

    def refuse_odd(self) -> None:
        """Raises OddNumbers where a chain has found some."""
        if any(flags.any() for chain in self.chains for flags in chain.flags):
            raise OddNumbers
