"""Runs a net's forward by its plan on a GPU, and keeps what a script sees of it as if every layer had run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from ...device import Kernels, Versions, cudnn
from ...device.cuda import Cuda
from ...graph.graph import Plan, Value
from ...layers.core.gpu_lowering import KERNELS, GpuLowering
from ..layout import Pass
from ..program import Program
from ..runner import Part, Runner
from .layout import LEAST
from .plan import optimise
from .program import GpuProgram, inner_blobs


class GpuRunner(Runner):
    """The plans of a net on a GPU. Blobs between fused layers are left out, and those whose memory others take later."""

    shared: GpuProgram | None = None  # whose buffers lie in the arena now
    folded = Versions()  # of parameters that went into others

    def optimised(self, narrow: Pass | None = None) -> list[Plan]:
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
        self.arena.drop()
        steps = [step for part in self.parts for step in part.plan.steps]
        layers = [i for s in steps if isinstance(s.lowering, GpuLowering) and s.lowering.folded for i in s.layers]
        self.folded = Versions(blob for i in layers for blob in self.source.layers[i].blobs)

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

    def make_way(self, written: Collection[str], backward: bool = False) -> None:
        super().make_way(written, backward)
        self.unbind()

    def run_layers(self, end: int) -> None:
        """Runs the layers before `end` by themselves again, but for those that give data."""
        self.unbind()
        super().run_layers(end)

    def changed(self) -> bool:
        """Whether a parameter that was folded into others has other values by now, or one has other memory."""
        self.packed.settle()
        return self.packed.moved or self.folded.old

    def program(self, part: Part) -> Program | None:
        """As a Runner's, with its buffers in the arena."""
        program = super().program(part)
        if isinstance(program, GpuProgram) and self.shared is not program:
            self.unbind()
            if program.shared is None and program.share():
                self.drop_others(program)
            assert program.shared is not None
            program.shared.bind()
            self.shared = program
        return program

    def made(self, part: Part) -> Program:
        program = GpuProgram(part.plan, self.source, self.device, self.dtype, self.arena, part.layers)
        program.outgrown = self.drop_others
        return program

    def allocate(self, count: int) -> Any:
        return cast(Cuda, self.device).allocate(count)

    def drop_others(self, program: GpuProgram) -> None:
        """What other shapes' graphs use is given back: this program has moved the arena."""
        for part in self.parts:
            part.programs = OrderedDict(item for item in part.programs.items() if item[1] is program)
            part.now = part.now if part.now is program else None
