"""Runs a net's forward by its plan, and keeps what a script sees of it as if every layer had run.

A blob that the plan leaves out is computed when a script asks for it, with the inputs and the parameters that the last forward
had; from then on the plan computes it too, and so it does with each blob of which a script holds an array. Weights are packed
once, and again when a Buffer says that theirs is another version.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..device import Blob, Buffer, Device, Kernels, Versions
from ..device.chain import CHAIN
from ..graph.connect import named
from ..graph.graph import INT8, Plan, Source, Value, plain
from ..graph.passes import in_bf16
from ..layers.core import Layer, Trait
from ..layers.core.lowering import POINTWISE, Constant, Same, bf16_available
from ..proto.errors import DeviceError, LayerError, ModelError
from .arena import Arena
from .cpu import TURN, CpuProgram, OddNumbers, prepare
from .layers import Layers
from .layout import Pass, optimise
from .program import Program

PROGRAMS = 32  # shapes whose programs are kept

Numbers = np.ndarray[Any, np.dtype[Any]]
Shapes = tuple[tuple[int, ...], ...]


class Part:
    """A part of a net: its plan, the numbers of its layers, and a program for each shape of what it reads."""

    def __init__(self, plan: Plan, layers: range, source: Source) -> None:
        self.plan, self.layers = plan, layers
        self.programs: OrderedDict[Shapes, Program] = OrderedDict()
        self.now: Program | None = None  # that the blobs are shaped for
        self.channels: list[int] = []  # that its steps were prepared for
        made: set[str] = set()
        reads: dict[str, None] = {}
        for i in layers:
            bottoms, tops = source.names[i]
            reads.update(dict.fromkeys(name for name in bottoms if name not in made))
            made.update(tops)
            if not bottoms:  # a script may give them another shape
                reads.update(dict.fromkeys(tops))
        self.reads = list(reads)


class Runner:
    """The plans of a net on the CPU; a GPU's (run/gpu/runner.py) differ in their passes, their programs and their memory.

    Parameters
    ----------
    source
        The net's layers and blobs.
    inputs, outputs
        Names of blobs.
    device, dtype
        The CPU and what the net computes in.
    fast_math
        Whether sums may be less exact than float32's.
    bf16
        Whether maps and factors are rounded to bfloat16.
    """

    def __init__(
        self,
        source: Layers,
        inputs: Sequence[str],
        outputs: Sequence[str],
        device: Device,
        dtype: Any,
        fast_math: bool = False,
        bf16: bool = False,
    ) -> None:
        self.source, self.inputs, self.at_work = source, list(inputs), source.at_work
        self.fast_math, self.bf16 = fast_math, bf16
        self.device, self.dtype = device, np.dtype(dtype)
        self.arena = Arena(self.allocate)
        # Called before a program, or with None all layers by themselves, take memory; raises where that is too much.
        self.counted: Callable[[CpuProgram | None], None] = lambda program: None
        self.planned = False
        self.narrow: Pass | None = None  # what gives steps their form in 8 bits (graph/passes.py)
        self.plans: list[Plan] | None = None  # made already, for `files`
        self.parts: list[Part] = []
        # Layers whose tops, which others read, get other shapes in a forward, or were seen to do so.
        self.dynamic = self.choosing()
        self.parameters = list({id(b): b for layer in source.layers for b in layer.blobs}.values())
        self.packed = Versions()  # of the parameters, that the plan works with
        self.before: dict[Buffer, Numbers] = {}  # the values in the last forward, of those that have others by now
        # The net as it stands: what each layer reads and writes, and who writes a value.
        steps = plain(source, ()).steps
        self.reads = [step.reads for step in steps]
        self.writes = [step.writes for step in steps]
        self.writer = {value: i for i, values in enumerate(self.writes) for value in values}
        self.last = {name: (name, times) for values in self.writes for name, times in values}
        # What is overwritten in place of an input is its value in the next forward, unless that is given another.
        sources = [name for i, values in enumerate(self.writes) for name, _ in values if not self.reads[i]]
        self.wanted = dict.fromkeys([*outputs, *(name for name in sources if self.last[name][1])])
        self.overwritten = [
            i
            for i, values in enumerate(self.writes)
            if not self.reads[i] and any(self.last[name][1] for name, _ in values)
        ]
        # What a script may look at. A value is one writing of a blob, as in a plan.
        self.names = {id(blob): name for name, blob in source.blobs.items()}
        self.same: dict[Value, Value] = {}  # values that are another one
        self.available: dict[Value, str] = {}  # values that lie in a blob after a forward, and in which
        self.left_out: list[str] = []  # blobs that hold something else then
        self.used: set[str] = set()  # blobs from which those are computed
        self.fixed: set[str] = set()  # blobs whose memory holds what is computed once for a shape, and
        self.touched = False  # whether a script may have changed one of these
        self.stale: dict[str, None] = {}  # blobs that the last forward left out, and nobody has asked for since
        self.users: dict[int, list[str]] = {}  # `used`, by the id of their memory
        self.shapes = {name: blob.shape for name, blob in source.blobs.items()}  # at the last forward
        self.computes = {name for bottoms, tops in source.names if bottoms for name in tops}  # blobs that layers shape
        self.ran = self.by_layers = False  # whether the last forward was by the plan; whether none is any more
        self.computed: dict[Value, Blob] = {}  # values of the last forward that were computed since, or put aside
        self.by_layer: list[int] = []  # layers that the plan runs by themselves
        self.once: set[int] = set()  # layers that run once a forward, whatever is done again
        self.ran_once: dict[
            int, list[Blob | None]
        ] = {}  # those that have in this forward, and what of theirs is overwritten
        source.keeper = self

    # Planning

    def choose(self) -> None:
        """Makes the plans of the net's parts, and finds what they leave out."""
        plans, self.plans = self.plans or self.optimised(), None
        self.parts = self.parts_of(plans)
        blobs = self.source.blobs
        self.same = {v: root for plan in plans for i, root in plan.dropped.items() for v in self.writes[i]}
        self.available, there = self.remaining(self.last)
        self.left_out = [name for name in self.last if plans and id(blobs[name]._data) not in there]
        layers = self.needed(self.last[name] for name in self.left_out)
        values = {self.root(v) for i in layers for v in self.reads[i]}
        values.update(
            self.root(self.last[name]) for name in self.left_out
        )  # which lie elsewhere, as the top of a Split does
        self.used = {self.available[value] for value in values if value in self.available}
        self.by_layer = [step.layer for plan in plans for step in plan.steps if step.lowering is None]
        constant = [step for plan in plans for step in plan.steps if isinstance(step.lowering, Constant)]
        memory = {id(blobs[name]._data) for step in constant for name, _ in step.writes}
        self.fixed = {name for name, blob in blobs.items() if id(blob._data) in memory}

    def make_plan(self) -> None:
        """Makes the plans, with all that a script holds arrays of, and packs the weights."""
        self.choose()
        while held := [name for name in self.left_out if self.source.blobs[name]._data.held]:
            self.wanted.update(dict.fromkeys(held))
            self.choose()
        packed = Versions(self.parameters, self)  # before they are packed: another thread may change them meanwhile
        with self.at_work:
            for part in self.parts:
                self.prepare(part)
        self.packed, self.planned = packed, True

    def prepare(self, part: Part) -> None:
        """Packs the weights of a part's plan, and makes its factors for the channels that the blobs have now."""
        prepare(part.plan, self.source)
        part.channels = self.channels(part)

    def channels(self, part: Part) -> list[int]:
        """How many channels each prepared step has: a Permute may make them of a number of images."""
        tops = [
            step.writes[0][0] for step in part.plan.steps if step.lowering is not None and step.reads and step.writes
        ]
        return [size for name in tops for size in self.source.blobs[name].shape[1:2]]

    def root(self, value: Value) -> Value:
        """The value that a value is."""
        while value in self.same:
            value = self.same[value]
        return value

    def remaining(self, latest: Mapping[str, Value], last: int | None = None) -> tuple[dict[Value, str], set[int]]:
        """The values that lie in blobs after a forward, or after one that ended with layer `last`, with the name of one of
        the blobs, and the ids of the memory that holds what its blobs are to hold.

        latest: {blob's name: the value that it is to hold then}. Blobs that share memory are to hold the same elements.
        """
        blobs, memory = self.source.blobs, dict[int, tuple[str, Value]]()
        for name, value in self.contents(last):
            memory[id(blobs[name]._data)] = name, value
        whole = {at for at, (name, value) in memory.items() if name in latest and self.root(latest[name]) == value}
        places = {value: name for at, (name, value) in memory.items() if at not in whole}
        for name, value in latest.items():
            if id(blobs[name]._data) in whole:
                places.setdefault(self.root(value), name)
        return places, whole

    def contents(self, last: int | None = None) -> Iterator[tuple[str, Value]]:
        """What blobs come to hold in a forward, in order: their names, and values. last: as for `remaining`."""
        for part in self.parts:
            written: set[Value] = set()
            for step in part.plan.steps:
                written.update(step.writes)
                if step.lowering is None or not step.reads:  # by its layer, on blobs
                    bottoms = self.source.names[step.layer][0] if step.reads else ()
                    yield from ((name, self.root(value)) for name, value in zip(bottoms, step.reads))
                    yield from ((value[0], value) for value in step.writes)
                if step.layer == last:
                    break
            wanted = part.plan.wanted.items()
            yield from ((name, self.root(v)) for name, v in wanted if last is None or self.root(v) in written)
            if last is not None and last in part.layers:
                break

    def needed(self, values: Iterable[Value]) -> list[int]:
        """The layers that must run to compute values from what there is."""
        layers: set[int] = set()
        waiting = [self.root(value) for value in values]
        while waiting:
            value = waiting.pop()
            if value not in self.computed and value not in self.available and self.writer[value] not in layers:
                layers.add(self.writer[value])
                waiting += [self.root(read) for read in self.reads[self.writer[value]]]
        return sorted(layers)

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
            if (Trait.CHOOSES_ROWS in layer.traits or layer.most_rows(source.bottoms[i]))
            and read.intersection(source.names[i][1])
        }  # fmt: skip

    def optimised(self, narrow: Pass | None = None) -> list[Plan]:
        """The plans of the net's parts; narrow: what gives steps a form on narrow values, if it is not the runner's own."""
        narrow = narrow or self.narrow or (in_bf16 if self.bf16 else None)
        plans = optimise(self.source, self.wanted, self.dynamic, narrow)
        for lowering in (step.lowering for plan in plans for step in plan.steps):
            if lowering is not None:
                lowering.fast = self.fast_math
        return plans

    def files(self) -> list[Kernels]:
        """The files of kernels that a forward by the plans of now needs, which may be compiled at once."""
        self.plans = self.optimised()
        kernels: dict[Kernels, None] = {CHAIN: None, TURN: None, POINTWISE: None} if self.plans else {}
        steps = [step for plan in self.plans for step in plan.steps]
        for step in steps:
            own = self.source.layers[step.layer].kernel_files
            files = step.lowering.files() if step.lowering is not None and step.reads else own()
            kernels.update(dict.fromkeys(files))
        if not steps:
            kernels = dict.fromkeys(file for layer in self.source.layers for file in layer.kernel_files())
        return list(kernels)

    def want(self, names: Iterable[str]) -> None:
        """From the next forward on the plan computes these blobs too."""
        if new := [name for name in names if name not in self.wanted]:
            self.wanted.update(dict.fromkeys(new))
            self.forget_plan()

    def use_int8(self, narrow: Pass | None) -> None:
        """From the next forward on steps have the form in 8 bits that a pass gives them; None: none has."""
        if narrow is not self.narrow:
            self.narrow = narrow
            self.forget_plan()

    def forget_plan(self) -> None:
        """The plan is made anew at the next forward."""
        self.planned, self.plans = False, None

    def changed(self) -> bool:
        """Whether the plan works with other versions of the parameters than there are now."""
        self.packed.settle()
        return self.packed.old

    def program(self, part: Part) -> Program | None:
        """The program of a part for the shapes of what it reads, ready to run; None where that is empty, or as `new` says."""
        shapes = tuple(self.source.blobs[name].shape for name in part.reads)
        program = None if any(0 in shape for shape in shapes) else part.programs.get(shapes) or self.new(part)
        if program is None:
            part.now = None
            return None
        part.programs[shapes] = program
        part.programs.move_to_end(shapes)
        if len(part.programs) > PROGRAMS:
            part.programs.popitem(last=False)
        if program is not part.now or not program.shaped(self.dynamic):
            part.now = None  # where it fails
            program.begin()
            part.now = program
            self.release_old()
        return program

    def fits(self, part: Part) -> bool:
        """Whether a part's plan is for the shapes of now too: blobs have as many axes as when it was made, the layers that have
        no step are identities still, as a Crop may not be, and steps in 8 bits have that form still, as MAX Pooling has not
        where a window lies outside."""
        source, plan = self.source, part.plan
        names = {*part.reads, *(name for i in part.layers for name in source.names[i][1])}
        if any(len(source.blobs[name].shape) != plan.axes[name] for name in names):
            return False
        narrow = [s.layer for s in plan.steps if s.lowering is not None and s.lowering.takes == INT8]
        if any(source.layers[i].lower_int8(source.bottoms[i], source.tops[i]) is None for i in narrow):
            return False
        return all(isinstance(source.layers[i].lower(source.bottoms[i], source.tops[i]), Same) for i in plan.dropped)

    def new(self, part: Part) -> Program | None:
        """A program of a part for the shapes that follow from those of now; None where one of them is empty, or where its plan
        is not for such shapes: then another is made at the next forward."""
        self.reshape(part.layers)
        if any(blob.count == 0 for i in part.layers for blob in self.source.tops[i]):
            return None
        if not self.fits(part):
            self.forget_plan()
            return None
        if self.channels(part) != part.channels:
            part.programs.clear()
            self.prepare(part)
        return self.made(part)

    def sketched(self, part: Part) -> CpuProgram:
        """The program of a part for the shapes of now, which takes no memory."""
        return CpuProgram(part.plan, self.source, self.device, self.dtype, self.arena, part.layers)

    def made(self, part: Part) -> Program:
        """The same with its memory."""
        program = self.sketched(part)
        program.once, program.ran_once = self.once, self.note
        self.counted(program)
        if program.shared.size > self.arena.size:  # gives the old memory back before more is taken
            self.arena.drop()
            self.release_old()
        program.record()
        return program

    def allocate(self, count: int) -> Any:
        """Memory that programs share: so many elements; bytes on a GPU."""
        try:
            return self.device.empty((count,), self.dtype)
        except MemoryError as error:
            raise DeviceError(f"there is no memory left for the values of the plan ({error})") from error

    def release_old(self) -> None:
        """Programs of memory that is not that of now let go of it: they would only keep it from being freed."""
        for program in (p for part in self.parts for p in part.programs.values()):
            if isinstance(program, CpuProgram) and program.version != self.arena.version:
                program.release()

    # Running

    def run(self, more: Sequence[str]) -> bool:
        """One forward; False where the layers must run themselves. more: blobs beside the outputs that are to be returned."""
        self.forget()
        if self.by_layers:
            return False
        blobs = self.source.blobs
        others = self.shapes_now() != list(self.shapes.values())
        if others and any(blobs[name].shape != self.shapes[name] for name in self.computes):  # by a script
            self.reshape(range(len(self.source.layers)))
            self.touched = True
        self.want([*more, *(name for name in self.left_out if blobs[name]._data.held)])
        if self.changed() or not self.planned:
            self.make_plan()
        self.before.clear()
        if not self.parts:
            return False
        self.ran_once = {}
        layers = self.source.layers
        self.find_once(self.by_layer)
        self.once.update(i for i in self.overwritten if layers[i].type != "Input")
        with self.at_work:
            for i in self.overwritten:
                if layers[i].type == "Input":
                    self.note(i)
            if self.touched or any(blobs[name]._data.held for name in self.fixed):
                self.touched = False
                self.restart()
            ran = self.run_parts()
            if ran is None:
                return self.run(more)
            self.shapes = dict(zip(blobs, self.shapes_now()))
            self.ran = len(ran) < len(self.source.layers)
            stale = (
                (name for name in self.left_out if self.writer[self.last[name]] not in ran) if ran else self.left_out
            )
            self.stale = dict.fromkeys(stale)
            self.users = {}
            for name in self.used if self.stale else ():
                self.users.setdefault(id(blobs[name]._data), []).append(name)
                if blobs[name]._data.held:
                    self.put_aside(name)
        return True

    def shapes_now(self) -> list[tuple[int, ...]]:
        """The shapes of all blobs."""
        return [blob.shape for blob in self.source.blobs.values()]

    def find_once(self, layers: Iterable[int]) -> None:
        """Finds which of some layers run once a forward: some turn out to only when they have run."""
        self.once.update(i for i in layers if self.reads[i] and not self.source.layers[i].repeatable)

    def reshape(self, layers: range) -> None:
        """Gives the tops of layers the shapes of a forward; where one refuses them, those before it have run."""
        try:
            for i in layers:
                self.source.reshape(i)
        except LayerError:
            self.run_layers(layers.start)
            for i in layers:
                self.source.forward(i)
            raise

    def restart(self) -> None:
        """What depends on shapes alone is computed again in the next forward."""
        for part in self.parts:
            part.now = None

    def run_parts(self) -> set[int] | None:
        """Runs all parts; the layers that were run by themselves, so that their blobs hold what they are to hold. None where
        nothing has run yet, for the plan is not for these shapes."""
        ran: set[int] = set()
        for part in self.parts:
            program = self.program(part)
            if program is None:  # nothing in it, or its plan is not for these shapes
                if not self.planned:
                    if part is self.parts[0]:
                        return None
                    self.counted(None)
                self.find_once(part.layers)
                for i in part.layers:
                    self.source.forward(i)
                    if i in self.once:
                        self.note(i)
                part.now = None
                ran.update(part.layers)
                continue
            try:
                changed = program.run(self.dynamic)
            except OddNumbers:
                self.run_layers(part.layers.stop)
                ran.update(range(part.layers.stop))
                continue
            if changed is not None:  # the plan is cut there from now on
                self.dynamic.add(changed)
                self.forget_plan()
                self.run_on(changed)
                return set(range(len(self.source.layers)))
        return ran

    def note(self, i: int) -> None:
        """A layer that runs once a forward has run, or is an Input: what others write over of its tops is put aside."""
        names = zip(self.source.names[i][1], self.source.tops[i])
        self.ran_once[i] = [self.copy(blob, blob.shape) if self.last[name][1] else None for name, blob in names]
        self.computed.update((v, blob) for v, blob in zip(self.writes[i], self.ran_once[i]) if blob is not None)

    def given(self, name: str) -> Numbers:
        """What an input was when the last forward by the plan began, a copy: a layer in place may have written over it."""
        for i, blobs in self.ran_once.items():
            for top, blob in zip(self.source.names[i][1], blobs):
                if top == name and blob is not None:
                    return np.array(blob.data)
        return np.array(self.source.blobs[name].data)

    def run_layers(self, end: int) -> None:
        """Runs the layers before `end` by themselves again, but for those that give other data or run once a forward."""
        self.counted(None)
        for i in range(end):
            if i in self.ran_once:
                for blob, made in zip(self.source.tops[i], self.ran_once[i]):
                    if made is not None:
                        blob.reshape(*made.shape)
                        blob.copy_data(made)
            elif self.source.layers[i].param.bottom or Trait.CONSTANT in self.source.layers[i].traits:
                self.source.forward(i)

    def run_on(self, last: int) -> None:
        """Runs the layers after `last` by themselves, which has given its tops other shapes than the plan was made for."""
        values = {name: (name, times) for written in self.writes[: last + 1] for name, times in written}
        blobs = self.source.blobs
        self.available, whole = self.remaining(values, last)
        self.shapes = {name: blobs[name].shape for name in values}
        self.compute({name: value for name, value in values.items() if id(blobs[name]._data) not in whole})
        for i in range(last + 1, len(self.source.layers)):
            self.source.forward(i)

    # What a script sees

    def asked(self, blob: Blob) -> None:
        """Called before a script gets the data of a blob: makes it what it is to be."""
        name = self.names[id(blob)]
        self.touched = self.touched or name in self.fixed
        if name in self.stale:
            self.want([name])
            with self.at_work:
                self.compute({name: self.last[name]})
        elif self.stale:
            with self.at_work:
                for used in self.users.get(id(blob._data), ()):
                    self.put_aside(used)

    def put_aside(self, name: str) -> None:
        """Copies a blob as the last forward has left it, for others are computed from it and a script may change it."""
        for value in [value for value, at in self.available.items() if at == name and value not in self.computed]:
            self.computed[value] = self.copy(self.source.blobs[name], self.shapes[name])

    def copy(self, blob: Blob, shape: Sequence[int]) -> Blob:
        """The data of a blob in memory of their own. shape: that they had; the blob may have another by now."""
        result = Blob(shape, self.dtype, self.device)
        result.copy_data(self.over(blob, shape))
        return result

    def over(self, blob: Blob, shape: Sequence[int]) -> Blob:
        """A blob's memory under a shape that it had."""
        result = Blob(shape, self.dtype, self.device)
        result.share_data(blob)
        # A Parameter's top is its parameter.
        if blob._data in self.packed.memory:
            result._data = self.as_it_was(blob._data)
        return result

    def as_it_was(self, buffer: Buffer) -> Buffer:
        """The values that a parameter's memory had in the last forward."""
        before = self.before.get(buffer, buffer.before)
        return buffer if before is None else Buffer.over(self.device, buffer.dtype, before.size, host=before)

    def compute(self, values: Mapping[str, Value], more: Collection[int] = ()) -> None:
        """Gives blobs what the last forward left out, by running layers, and `more` of them, on Blobs of their own.

        What such a one gives that lies in a blob since the forward is not taken: a script may have changed what it reads.
        """
        if not (values or more):
            return
        self.counted(None)
        needed = set(self.needed(values.values()))
        for i in sorted({*needed, *more}):
            layer, (bottom_names, top_names) = self.source.layers[i], self.source.names[i]
            bottoms = [self.value(self.root(value)) for value in self.reads[i]]
            tops = [Blob((), self.dtype, self.device) for _ in self.writes[i]]
            if bottom_names[:1] == top_names[:1]:  # in place: it may keep then what it overwrites
                bottoms[0] = tops[0] = self.copy(bottoms[0], bottoms[0].shape)
            with named(layer), self.as_packed(layer):
                layer.reshape(bottoms, tops)
                layer.forward(bottoms, tops)
            pairs = zip(self.writes[i], tops)
            self.computed.update((v, top) for v, top in pairs if i in needed or v not in self.available)
            self.source.seen[i] = ()  # the layer has been reshaped for other blobs
        for name, value in values.items():
            blob = self.source.blobs[name]
            for at in {at for at in self.available.values() if self.source.blobs[at]._data is blob._data}:
                self.put_aside(at)  # as what a layer in place reads, and its backward may ask for
            result = self.value(self.root(value))
            for other in [n for n in self.stale if self.source.blobs[n]._data is blob._data]:  # they hold it too
                del self.stale[other]
            if blob.shape == result.shape:
                blob.copy_data(result)
            elif blob.count <= result.count:  # a script has reshaped it since: the memory is as it was
                shape = blob.shape
                blob.reshape(*result.shape)
                blob.copy_data(result)
                blob.reshape(*shape)

    def value(self, root: Value) -> Blob:
        """A value of the last forward that is computed, or lies in a blob."""
        if root in self.computed:
            return self.computed[root]
        name = self.available[root]
        return self.over(self.source.blobs[name], self.shapes[name])

    @contextmanager
    def as_packed(self, layer: Layer) -> Iterator[None]:
        """While a layer has the parameters that the last forward had."""
        now = [(blob, blob._data) for blob in layer.blobs]
        had = self.packed.buffers
        for blob, buffer in now:
            blob._data = self.as_it_was(had.get(id(blob), buffer))
        try:
            yield
        finally:
            for blob, buffer in now:
                blob._data = buffer

    def before_change(self, buffer: Buffer, before: Numbers) -> None:
        """A parameter has changed; another thread may tell it, whose net shares it, while this net runs."""
        self.before.setdefault(buffer, before)

    def materialise(self, but: Collection[str] = ()) -> None:
        """Gives the blobs that the last forward left out their values, but for some, which are about to get others."""
        if values := {name: self.last[name] for name in self.stale if name not in but}:
            with self.at_work:
                self.compute(values)

    def prepare_backward(self) -> None:
        """Layers are about to go backward.

        From now on they run by themselves: a forward by the plan would have to be done again for each backward.
        """
        self.complete()
        self.by_layers = True

    def complete(self) -> None:
        """Every blob holds what it is to hold, and every layer what its backward takes from its forward."""
        if self.ran:
            run = {s.layer for part in self.parts for s in part.plan.steps if s.lowering is None or not s.reads}
            missing = [i for i, reads in enumerate(self.reads) if reads and i not in run]
            missing += self.needed(value for i in missing for value in self.reads[i])
            with self.at_work:
                self.compute({name: self.last[name] for name in self.stale}, missing)
            for i, names in enumerate(self.source.names):
                self.source.met[i], self.source.left[i] = ([self.shapes[name] for name in each] for each in names)
        self.ran = False

    def make_way(self, written: Collection[str], backward: bool = False) -> None:
        """Layers are about to run by themselves, which write these blobs; the others hold what they are to hold.

        backward: whether the other layers may go backward behind that.
        """
        self.touched = True
        if backward:
            self.complete()
        self.materialise(written)
        self.forget()

    def forget(self) -> None:
        """All blobs are about to get other values."""
        self.ran = False
        self.stale.clear()
        self.computed.clear()
        self.before.clear()
        self.users = {}

    def describe(self) -> list[Any]:
        """The programs of the net's parts for the shapes of now; none where the net has no plan."""
        if self.changed() or not self.planned:
            self.materialise()
            self.make_plan()
        with self.at_work:
            programs = [self.program(part) for part in self.parts]
        if not self.planned:  # it was for other shapes
            return self.describe()
        return [program for program in programs if program is not None]

    def sketch(self) -> list[CpuProgram]:
        """As `describe`, but of programs that cannot run: nothing is compiled, packed or run for it."""
        parts = self.parts if self.planned else self.parts_of(self.plans or self.optimised())
        if not all(map(self.fits, parts)):
            parts = self.parts_of(self.optimised())
        empty = [any(blob.count == 0 for i in part.layers for blob in self.source.tops[i]) for part in parts]
        return [self.sketched(part) for part, nothing in zip(parts, empty) if not nothing]


def wants_bf16(precision: str | None, device: Device, dtype: Any, planned: bool) -> bool:
    """Whether `precision` asks for bfloat16. Raises ModelError for another word, DeviceError where that cannot be."""
    if precision not in (None, "float32", "bf16", "int8", "fastest"):
        raise ModelError(f"precision must be 'float32', 'bf16', 'int8', 'fastest' or None, got {precision!r}")
    if precision in (None, "float32"):
        return False
    if precision != "int8" and device.reproducible:
        why = {
            "fastest": "times decide what is rounded (docs/reproducible.md); name one",
            "bf16": "CPUs add products of bfloat16 in orders of their own (docs/reproducible.md)",
        }[precision]
        raise DeviceError(f"precision={precision!r} is not reproducible: {why}")
    if precision == "bf16":
        able = device.kind == "cpu" and np.dtype(dtype) == np.float32 and bf16_available(device)
        needs, way = "a CPU with AVX512-BF16 or ARM's BF16, and float32", ""
    else:
        able, needs = can_int8(device, dtype, planned), "the CPU, float32, phase TEST and optimize"
        way = "" if planned else ", and layers run one by one (phase TRAIN, force_backward or optimize=False)"
    if not able:
        raise DeviceError(
            f"precision={precision!r} needs {needs}; this is {device.describe()}, in {np.dtype(dtype)}{way}"
        )
    return precision == "bf16"


def can_int8(device: Device, dtype: Any, planned: bool) -> bool:
    """Whether steps can have a form in 8 bits."""
    return planned and device.kind == "cpu" and np.dtype(dtype) == np.float32
