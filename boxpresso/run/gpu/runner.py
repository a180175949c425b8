"""Runs a net's forward by its plan on a GPU, and keeps what a script sees of it as if every layer had run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import cast

from ...device import Kernels, Versions, cudnn
from ...device.cuda import Cuda
from ...graph.graph import Plan, Value
from ...layers.core.gpu_lowering import KERNELS, GpuLowering
from ..arena import Arena
from ..runner import PROGRAMS, Part, Runner
from .layout import LEAST
from .plan import optimise
from .program import GpuProgram, inner_blobs


class GpuRunner(Runner):
    """The plans of a net on a GPU. Blobs between fused layers are left out, and those whose memory others take later."""

    shared: GpuProgram | None = None  # whose buffers lie in the arena now
    folded = Versions()  # of parameters that went into others

    def optimised(self) -> list[Plan]:
        """The plans of the net's parts."""
        return optimise(self.source, self.wanted, self.dynamic)

    def files(self) -> list[Kernels]:
        """The files of kernels that a forward needs, which may be compiled at once."""
        files = [file for layer in self.source.layers for file in (*layer.kernel_files(), *layer.gpu_files)]
        chained = files.count(KERNELS) >= LEAST and cudnn.library() is not None
        return [file for file in dict.fromkeys(files) if chained or file is not KERNELS]

    def make_plan(self) -> None:
        """Makes the plans, and folds what can be folded."""
        self.unbind()
        super().make_plan()
        self.arena = Arena(cast(Cuda, self.device).allocate)
        steps = [step for part in self.parts for step in part.plan.steps]
        layers = [i for s in steps if isinstance(s.lowering, GpuLowering) and s.lowering.folded for i in s.layers]
        self.folded = Versions(blob for i in layers for blob in self.source.layers[i].blobs)
        self.now: dict[int, GpuProgram] = {}  # the program of each part that its blobs are shaped for
        self.programs: dict[tuple[int, object], GpuProgram] = {}

    def contents(self, last: int | None = None) -> Iterator[tuple[str, Value]]:
        """What blobs come to hold in a forward: those whose memory no other value takes."""
        for part in self.parts:
            written = {name for step in part.plan.steps for name, _ in step.writes}
            names = written | set(part.plan.wanted) | set(part.reads)
            names -= inner_blobs(part.plan, self.source, part.layers)
            end = len(self.source.layers) if last is None else last + 1
            now = {name: (name, times) for values in self.writes[:end] for name, times in values}
            yield from ((name, self.root(now[name])) for name in sorted(names) if name in now)

    def unbind(self) -> None:
        """Gives every buffer memory of its own: layers are about to run one by one, or another program."""
        if self.shared is not None and self.shared.shared is not None:
            self.shared.shared.unbind()
        self.shared = None

    def compute(self, values: Mapping[str, Value], more: Collection[int] = ()) -> None:
        self.unbind()
        super().compute(values, more)

    def make_way(self, written: Collection[str]) -> None:
        super().make_way(written)
        self.unbind()

    def run_layers(self, end: int) -> None:
        """Runs the layers before `end` by themselves again, but for those that give data."""
        self.unbind()
        super().run_layers(end)

    def changed(self) -> bool:
        """Whether a parameter that was folded into others has other values by now, or one has other memory."""
        self.packed.settle()
        return self.packed.moved or self.folded.old

    def restart(self) -> None:
        """What depends on shapes alone is computed again in the next forward."""
        self.now.clear()

    def program(self, part: Part) -> GpuProgram | None:  # type: ignore[override]  # of a GPU
        """The program of a part for the shapes of what it reads; None where that is empty."""
        shapes = tuple(self.source.blobs[name].shape for name in part.reads)
        if any(0 in shape for shape in shapes):
            self.now.pop(id(part), None)
            return None
        key = id(part), shapes
        program = self.programs.pop(key, None)
        if program is None or program is not self.now.get(id(part)) or not program.shaped(self.dynamic):
            if program is None:
                self.reshape(part.layers)
                if any(blob.count == 0 for i in part.layers for blob in self.source.tops[i]):
                    self.now.pop(id(part), None)
                    return None
                program = self.made(part)
                program.outgrown = self.drop_others
            program.begin()
            self.now[id(part)] = program
        if self.shared is not program:
            self.unbind()
            if program.shared is None and program.share():
                self.programs.clear()  # what other shapes' graphs use is given back
            assert program.shared is not None
            program.shared.bind()
            self.shared = program
        self.programs[key] = program  # the latest is the last
        while len(self.programs) > PROGRAMS:
            self.programs.pop(next(iter(self.programs)))
        return program

    def made(self, part: Part) -> GpuProgram:  # type: ignore[override]  # of a GPU
        return GpuProgram(part.plan, self.source, self.device, self.dtype, self.arena, part.layers)

    def drop_others(self, program: GpuProgram) -> None:
        """What other shapes' graphs use is given back: this program has moved the arena."""
        self.programs = {key: known for key, known in self.programs.items() if known is program}

    def describe(self) -> list[GpuProgram]:  # type: ignore[override]  # of a GPU
        """The programs of the net's parts for the shapes of now."""
        return super().describe()  # type: ignore[return-value]  # made by `program`
