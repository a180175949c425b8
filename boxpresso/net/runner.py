"""Runs a net's forward by its plan, and keeps what a script sees of it as if every layer had run.

A blob that the plan does not compute is computed when it is asked for, by running the layers themselves; from then on the plan
computes it too. Weights are packed once; where a script may have changed them, they are compared before each forward.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from ..device import AnyArray, Blob, Device, Kernels
from ..device.chain import CHAIN
from ..device.host import Cpu
from ..layers.core.lowering import POINTWISE
from ..layers.core.replaced import acting
from ..layers.dense.lowerings import bf16_available
from ..proto.errors import DeviceError, ModelError
from .plan import Plan, Source, optimise
from .program import TURN, Memory, OddNumbers, Program, prepare

PROGRAMS = 32  # shapes whose programs are kept

Numbers = np.ndarray[Any, np.dtype[Any]]
Shapes = tuple[tuple[int, ...], ...]


class Part:
    """A part of a net: its plan, the numbers of its layers, and a program for each shape of what it reads."""

    def __init__(self, plan: Plan, layers: range, source: Source) -> None:
        self.plan, self.layers = plan, layers
        self.programs: OrderedDict[Shapes, Program] = OrderedDict()
        self.now: Program | None = None
        made: set[str] = set()
        reads: dict[str, None] = {}
        for i in layers:
            bottoms, tops = source.names[i]
            reads.update(dict.fromkeys(name for name in bottoms if name not in made))
            made.update(tops)
            if source.layers[i].type == "Input":
                reads.update(dict.fromkeys(tops))
        self.reads = list(reads)
        self.covered = {name for s in plan.steps if s.lowering is None or not s.reads for name, _ in s.writes}
        self.covered.update(plan.wanted)


class Runner:
    """The plans of a net.

    Parameters
    ----------
    source
        The net's layers and blobs.
    inputs, outputs
        Names of blobs.
    device, dtype
        The CPU and what the net computes in.
    run
        Two functions of a layer's number: one runs it, reshaping it first where a bottom's shape changed, the other gives its
        tops the shapes that follow from those of its bottoms.
    fast_math
        Whether sums may be less exact than float32's.
    bf16
        Whether factors may be rounded to bfloat16.
    """

    def __init__(
        self,
        source: Source,
        inputs: Sequence[str],
        outputs: Sequence[str],
        device: Device,
        dtype: Any,
        run: tuple[Callable[[int], None], Callable[[int], None]],
        fast_math: bool = False,
        bf16: bool = False,
    ) -> None:
        self.source, self.inputs, (self.forward, self.reshape_layer) = source, list(inputs), run
        self.fast_math, self.bf16 = fast_math, bf16
        self.wanted = dict.fromkeys(outputs)
        self.device = device
        if isinstance(device, Cpu):
            self.memory = Memory(device, dtype)
        # Called before a program, or with None all layers by themselves, take memory; raises where that is too much.
        self.counted: Callable[[Program | None], None] = lambda program: None
        self.planned = False
        self.plans: list[Plan] | None = None  # made already, for `files`
        self.parts: list[Part] = []
        # Layers whose tops, which others read, get other shapes in a forward, or were seen to do so.
        self.dynamic = self.choosing()
        self.left_out: list[Blob] = []  # blobs that the plans do not compute
        self.stale: list[Blob] = []  # blobs that the last forward left out
        self.names = {id(blob): name for name, blob in source.blobs.items()}
        self.shapes: dict[str, tuple[int, ...]] = {}  # of the inputs at the last forward
        self.snapshots: dict[str, Numbers] = {}  # inputs of the last forward, where a script may have changed them
        self.exposed: dict[int, tuple[Blob, Numbers]] = {}  # parameters that a script may change, and what was packed
        self.inside = self.armed = False
        self.again = False  # whether layers that give data have done so in this forward
        self.parameters = list({id(b): b for layer in source.layers for b in layer.blobs}.values())

    # Planning

    def make_plan(self) -> None:
        """Makes the plans of the net's parts and packs the weights."""
        self.planned = True
        plans, self.plans = self.plans or self.optimised(), None
        with self.quietly():
            for plan in plans:
                prepare(plan, self.source)
        self.parts = self.parts_of(plans)
        for blob in self.parameters:
            if blob._watch is None:
                blob._watch = self.expose
        self.exposed = {key: (blob, np.array(blob._view(False))) for key, (blob, _) in self.exposed.items()}
        covered = {name for part in self.parts for name in part.covered}
        self.left_out = [blob for name, blob in self.source.blobs.items() if name not in covered]
        self.armed = False

    def parts_of(self, plans: Sequence[Plan]) -> list[Part]:
        """The parts of the net that some plans are of.

        A part ends with its layer of dynamic shapes: a Split of what that one gives belongs to the next.
        """
        starts = [0, *(1 + max(step.layer for step in plan.steps if step.layer in self.dynamic) for plan in plans[:-1])]
        ends = [*starts[1:], len(self.source.layers)]
        return [Part(plan, range(first, end), self.source) for plan, first, end in zip(plans, starts, ends)]

    def choosing(self) -> set[int]:
        """The layers that say that their forward tells how many rows their tops have, which others read."""
        source = self.source
        read = {name for bottoms, _ in source.names for name in bottoms}
        return {
            i for i, layer in enumerate(source.layers)
            if (acting(layer).chooses_rows or layer.most_rows(source.bottoms[i])) and read.intersection(source.names[i][1])
        }  # fmt: skip

    def optimised(self) -> list[Plan]:
        """The plans of the net's parts."""
        plans = optimise(self.source, self.wanted, self.dynamic)
        for lowering in (step.lowering for plan in plans for step in plan.steps):
            if lowering is not None:
                lowering.fast, lowering.bf16 = self.fast_math, self.bf16
        return plans

    def files(self) -> list[Kernels]:
        """The files of kernels that a forward by the plans of now needs, which may be compiled at once."""
        self.plans = self.optimised()
        found: dict[Kernels, None] = {CHAIN: None, TURN: None, POINTWISE: None} if self.plans else {}
        steps = [step for plan in self.plans for step in plan.steps]
        for step in steps:
            own = self.source.layers[step.layer].kernel_files
            files = step.lowering.files() if step.lowering is not None and step.reads else own()
            found.update(dict.fromkeys(files))
        if not steps:
            found = dict.fromkeys(file for layer in self.source.layers for file in layer.kernel_files())
        return list(found)

    def weights_changed(self) -> None:
        """The parameters have other values than when they were packed."""
        self.planned = False

    def share(self) -> None:
        """The parameters may change without a script's asking for them: another net uses them too."""
        for blob in self.parameters:
            self.exposed.setdefault(id(blob), (blob, np.zeros(0)))
        self.planned = False

    def expose(self, blob: Blob) -> None:
        """Notes that a script holds a parameter's values, which it may change at any time."""
        if not self.inside:
            blob._watch = None
            self.exposed[id(blob)] = blob, np.array(blob._view(False))

    def changed(self) -> bool:
        """Whether a parameter that a script may change has other values than were packed."""
        return any(not same_bits(blob._view(False), packed) for blob, packed in self.exposed.values())

    def program(self, part: Part) -> Program | None:
        """The program of a part for the shapes of what it reads; None where that is empty."""
        shapes = tuple(self.source.blobs[name].shape for name in part.reads)
        if any(0 in shape for shape in shapes):
            return None
        program = part.programs.get(shapes)
        if program is None:
            for i in part.layers:
                self.reshape(i)
            if any(blob.count == 0 for i in part.layers for blob in self.source.tops[i]):
                return None
            program = Program(part.plan, self.source, self.memory, self.forward, part.layers)
            self.counted(program)
            if program.shared.size > self.memory.array.size:  # gives the old memory back before more is taken
                self.memory.drop()
                self.release_old()
            program.record()
            part.programs[shapes] = program
            if len(part.programs) > PROGRAMS:
                part.programs.popitem(last=False)
            part.now = None
        if program is not part.now or not program.ready():
            program.begin(self.reshape)
            part.now = program
            self.release_old()
        part.programs.move_to_end(shapes)
        return program

    def reshape(self, i: int) -> None:
        """Gives the tops of a layer the shapes that follow; those of data stay, once they are there."""
        if not self.again or self.source.layers[i].param.bottom:
            self.reshape_layer(i)

    def release_old(self) -> None:
        """Programs of memory that is not that of now let go of it: they would only keep it from being freed."""
        for program in (p for part in self.parts for p in part.programs.values() if p.version != self.memory.version):
            program.release()

    # Running

    def run(self, more: Sequence[str]) -> bool:
        """One forward; False where the layers must run themselves. more: blobs beside the outputs that are to be returned."""
        unknown = [name for name in more if name not in self.wanted]
        if unknown:
            self.wanted.update(dict.fromkeys(unknown))
            self.planned, self.plans = False, None
        self.snapshots.clear()
        self.inside = True
        try:
            if not self.planned or self.changed():
                self.make_plan()
            self.again = False
            while (changed := self.run_parts()) is not None:  # by a plan that is cut there
                self.dynamic.add(changed)
                self.planned, self.plans, self.again = False, None, True
                self.make_plan()
        finally:
            self.inside = self.again = False
        self.shapes = {name: self.source.blobs[name].shape for name in self.inputs}
        if self.parts and not self.armed:
            self.arm()
        return bool(self.parts)

    def run_parts(self) -> int | None:
        """Runs all parts, `again` but for layers that give data, which did so in this forward.

        Returns the number of another layer that has given its tops other shapes: then what follows it was not run.
        """
        for part in self.parts:
            program = self.program(part)
            if program is None:  # nothing in it
                for i in part.layers:
                    if not self.again or self.source.layers[i].param.bottom:
                        self.forward(i)
                part.now = None
                continue
            try:
                changed = program.run(self.dynamic, self.again)
            except OddNumbers:
                self.run_layers(part.layers.stop)
                continue
            if changed is not None:
                return changed
        return None

    def run_layers(self, end: int) -> None:
        """Runs the layers before `end` by themselves again, but for those that give data."""
        self.counted(None)
        for i in range(end):
            if self.source.layers[i].param.bottom:
                self.forward(i)

    def arm(self) -> None:
        """Watches the blobs that the forward left out, and the inputs that they depend on."""
        for blob in self.stale:
            blob._watch = None
        self.stale = self.left_out
        for blob in self.stale:
            blob._watch = self.ask
        if self.stale:
            for name in self.inputs:
                self.source.blobs[name]._watch = self.keep
        self.armed = True

    def keep(self, blob: Blob) -> None:
        """Copies an input before a script changes it, for `ask` needs it as it was."""
        if not self.inside:
            blob._watch, self.armed = None, False
            name, host = self.names[id(blob)], blob._data.host
            shape = self.shapes[name]  # of the last forward; the blob may have another by now
            if host is not None and host.size >= prod(shape):
                self.snapshots[name] = np.array(host[: prod(shape)].reshape(shape))

    def ask(self, blob: Blob) -> None:
        """Computes what the forward left out, for a script asks for one of these blobs."""
        if self.inside:
            return
        name = self.names[id(blob)]
        self.wanted[name] = None
        self.planned, self.plans = False, None
        self.materialise()

    def materialise(self) -> None:
        """Runs the layers themselves with the inputs of the last forward, so that every blob holds its data."""
        if not self.stale:
            return
        self.disarm()
        before, self.snapshots = self.snapshots, {}
        left_out = {id(blob) for blob in self.left_out}
        with self.quietly():
            # What is there may have been changed since, by a script that wants it as it is now.
            now = [(b, np.array(b._view(False))) for b in self.source.blobs.values() if id(b) not in left_out]
            for name, values in before.items():
                self.source.blobs[name].reshape(*values.shape)
                self.source.blobs[name]._view(False)[...] = values
            self.run_layers(len(self.source.layers))
            for blob, values in now:
                blob.reshape(*values.shape)
                blob._view(False)[...] = values

    def forget(self) -> None:
        """All layers are about to run: nothing of the last forward is asked for any more."""
        self.disarm()
        self.snapshots.clear()

    def disarm(self) -> None:
        """Watches nothing."""
        for blob in self.stale:
            blob._watch = None
        self.stale, self.armed = [], False

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """While the net itself reads or writes parameters: that tells nothing of a script."""
        before, self.inside = self.inside, True
        try:
            yield
        finally:
            self.inside = before

    def describe(self) -> list[Program]:
        """The programs of the net's parts for the shapes of now; none where the net has no plan."""
        with self.quietly():
            if not self.planned or self.changed():
                self.make_plan()
            programs = [self.program(part) for part in self.parts]
        return [program for program in programs if program is not None]

    def sketch(self) -> list[Program]:
        """As `describe`, but of programs that cannot run: nothing is compiled, packed or run for it."""
        parts = self.parts if self.planned else self.parts_of(self.plans or self.optimised())
        empty = [any(blob.count == 0 for i in part.layers for blob in self.source.tops[i]) for part in parts]
        return [
            Program(part.plan, self.source, self.memory, self.forward, part.layers)
            for part, nothing in zip(parts, empty)
            if not nothing
        ]


def same_bits(a: AnyArray, b: Numbers) -> bool:
    """Whether two arrays of one dtype hold the same bytes, NaN included."""
    if a.size != b.size:
        return False
    words = f"u{b.itemsize}"
    return bool(np.array_equal(np.asarray(a).reshape(-1).view(words), b.reshape(-1).view(words)))


def wants_bf16(precision: str, device: Device, dtype: Any, planned: bool) -> bool:
    """Whether `precision` asks for bfloat16. Raises ModelError for another word, DeviceError where that cannot be."""
    if precision not in ("float32", "bf16"):
        raise ModelError(f"precision must be 'float32' or 'bf16', got {precision!r}")
    if precision == "bf16" and not (planned and dtype == np.float32 and bf16_available(device)):
        raise DeviceError(
            "precision='bf16' needs a CPU with AVX512-BF16, float32, phase TEST and optimize; this is "
            f"{device.describe()}"
        )
    return precision == "bf16"
