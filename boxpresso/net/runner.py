"""Runs a net's forward by its plan, and keeps what a script sees of it as if every layer had run.

A blob that the plan does not compute is computed when it is asked for, by running the layers themselves; from then on the plan
computes it too. Weights are packed once; where a script may have changed them, they are compared before each forward.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..device import Blob
from ..device.host import Cpu
from .places import Placement
from .plan import Plan, Source, optimise
from .program import Memory, Program, prepare

PROGRAMS = 32  # shapes whose programs are kept

Numbers = np.ndarray[Any, np.dtype[Any]]
Shapes = tuple[tuple[int, ...], ...]


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
    forward
        Runs layer number i, reshaping it first where a bottom's shape changed.
    reshape
        Gives every blob the shape that follows from those of the inputs.
    """

    def __init__(
        self,
        source: Source,
        inputs: Sequence[str],
        outputs: Sequence[str],
        device: Cpu,
        dtype: Any,
        forward: Callable[[int], None],
        reshape: Callable[[], None],
    ) -> None:
        self.source, self.inputs, self.forward, self.reshape = source, list(inputs), forward, reshape
        self.wanted = dict.fromkeys(outputs)
        self.memory = Memory(device, dtype)
        self.plan: Plan | None = None
        self.planned = False
        self.programs: OrderedDict[Shapes, Program] = OrderedDict()
        self.now: Program | None = None
        self.stale: list[Blob] = []  # blobs that the last forward left out
        self.names = {id(blob): name for name, blob in source.blobs.items()}
        self.snapshots: dict[str, Numbers] = {}  # inputs of the last forward, where a script may have changed them
        self.exposed: dict[int, tuple[Blob, Numbers]] = {}  # parameters that a script may change, and what was packed
        self.inside = False
        self.parameters = list({id(b): b for layer in source.layers for b in layer.blobs}.values())

    # Planning

    def make_plan(self) -> None:
        """Makes the plan and packs the weights."""
        self.planned = True
        self.plan = optimise(self.source, self.wanted)
        self.programs.clear()
        self.now = None
        if self.plan is None:
            return
        self.inside = True
        try:
            prepare(self.plan, self.source)
        finally:
            self.inside = False
        for blob in self.parameters:
            if blob._watch is None:
                blob._watch = self.expose
        self.exposed = {key: (blob, np.array(blob._view(False))) for key, (blob, _) in self.exposed.items()}
        covered = {name for step in self.plan.steps if step.lowering is None or not step.reads for name, _ in step.writes}
        covered.update(self.wanted)
        self.left_out = [blob for name, blob in self.source.blobs.items() if name not in covered]

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
        return any(not np.array_equal(blob._view(False), packed) for blob, packed in self.exposed.values())

    def program(self) -> Program | None:
        """The program for the shapes of the inputs; None where the net cannot be planned."""
        if not self.planned or self.changed():
            self.make_plan()
        if self.plan is None:
            return None
        shapes = tuple(self.source.blobs[name].shape for name in self.inputs)
        program = self.programs.get(shapes)
        if program is None:
            self.reshape()
            program = self.programs[shapes] = Program(self.plan, self.source, self.memory, self.forward)
            program.record()
            if len(self.programs) > PROGRAMS:
                self.programs.popitem(last=False)
            self.now = None
        if program is not self.now or not program.ready():
            program.begin()
            self.now = program
        self.programs.move_to_end(shapes)
        return program

    # Running

    def run(self, more: Sequence[str]) -> bool:
        """One forward; False where the layers must run themselves. more: blobs beside the outputs that are to be returned."""
        unknown = [name for name in more if name not in self.wanted]
        if unknown:
            self.wanted.update(dict.fromkeys(unknown))
            self.planned = False
        self.inside = True
        try:
            for blob in self.stale:
                blob._watch = None
            self.stale = []
            program = self.program()
            if program is None or not program.run():
                return False
        finally:
            self.inside = False
        self.arm()
        return True

    def arm(self) -> None:
        """Watches the blobs that the forward left out, and the inputs that they depend on."""
        self.snapshots.clear()
        self.stale = self.left_out
        for blob in self.stale:
            blob._watch = self.ask
        if self.stale:
            for name in self.inputs:
                self.source.blobs[name]._watch = self.keep

    def keep(self, blob: Blob) -> None:
        """Copies an input before a script changes it, for `ask` needs it as it was."""
        if not self.inside:
            blob._watch = None
            self.snapshots[self.names[id(blob)]] = np.array(blob._view(False))

    def ask(self, blob: Blob) -> None:
        """Computes what the forward left out, for a script asks for one of these blobs."""
        if self.inside:
            return
        name = self.names[id(blob)]
        self.wanted[name] = None
        self.planned = False
        self.materialise()

    def materialise(self) -> None:
        """Runs the layers themselves with the inputs of the last forward, so that every blob holds its data."""
        if not self.stale:
            return
        for blob in self.stale:
            blob._watch = None
        self.stale = []
        now = {}
        self.inside = True
        try:
            for name, before in self.snapshots.items():
                blob = self.source.blobs[name]
                if blob.shape != before.shape:
                    return  # reshaped since: what the blobs held is gone, as in Caffe
                array = blob._view(False)
                now[name] = np.array(array)
                array[...] = before
            for i, layer in enumerate(self.source.layers):
                if layer.param.bottom:
                    self.forward(i)
            for name, values in now.items():
                self.source.blobs[name]._view(False)[...] = values
        finally:
            self.inside = False
            self.snapshots.clear()

    def forget(self) -> None:
        """All layers are about to run: nothing of the last forward is asked for any more."""
        for blob in self.stale:
            blob._watch = None
        self.stale = []
        self.snapshots.clear()

    def describe(self) -> Placement | None:
        """The actions and homes for the shapes of now, for `boxpresso info --plan`; None where the net has no plan."""
        program = self.program()
        return program.placement if program is not None else None
