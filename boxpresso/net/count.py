"""The memory that the passes of a net take, layer by layer or by its plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..graph.connect import signature
from ..proto.errors import BoxpressoError
from ..run.cpu import CpuProgram
from ..run.layers import Layers
from ..run.runner import Runner
from .gradients import Gradients
from .memory import Memory


class Count:
    """Counts the memory of a net's passes in its Memory, and refuses what is too much before it is taken.

    Without a plan on the CPU that is all layers' by themselves, counted now. A plan's is counted now only if the caller gave a
    limit: else before the first forward, or when somebody asks.

    Parameters
    ----------
    memory
        What is counted in.
    source, inputs, gradients
        The net's layers, the names of its inputs, and which layers go backward.
    runner
        What runs its plan on the CPU; None where layers run by themselves or on a GPU.
    backward
        Whether it is made for that.
    """

    def __init__(
        self, memory: Memory, source: Layers, inputs: Sequence[str], gradients: Gradients, runner: Runner | None,
        backward: bool,
    ) -> None:  # fmt: skip
        self.memory, self.source, self.inputs, self.gradients = memory, source, inputs, gradients
        self.runner = runner
        if runner is None:
            with self.most_rows():
                self.layers(backward)
            return
        runner.counted = self.run
        memory.later = self.plan
        if memory.limited:
            memory.settle()

    @contextmanager
    def most_rows(self) -> Iterator[None]:
        """While memory is counted: layers that choose rows in a forward give their tops the most that they may choose."""
        grown = False
        try:
            for i, (layer, bottom, top) in enumerate(zip(self.source.layers, self.source.bottoms, self.source.tops)):
                if grown and signature(bottom) != self.source.seen[i]:
                    layer.reshape(bottom, top)
                rows = layer.most_rows(bottom)
                axis = layer.row_axis
                for blob in top if rows else ():
                    blob.reshape(*blob.shape[:axis], rows, *blob.shape[axis + 1 :])
                grown = grown or rows > 0
        except BoxpressoError:  # for which its prototxt is not made; it is counted as it is
            self.reshape_all()
        yield
        if grown:
            self.reshape_all()

    def reshape_all(self) -> None:
        for layer, bottom, top in zip(self.source.layers, self.source.bottoms, self.source.tops):
            layer.reshape(bottom, top)

    def plan(self) -> None:
        """Counts the memory of a forward for the shapes of now."""
        with self.most_rows():
            programs = self.runner.sketch() if self.runner is not None else []
            for program in programs:
                self.memory.take_plan(program)
        if not programs:
            self.layers(False)

    def run(self, program: CpuProgram | None) -> None:
        """Counts the memory of a program of the plan, or, None, that of all layers by themselves."""
        self.memory.later = None
        if program is not None:
            self.memory.take_plan(program)
        elif not self.memory.whole:
            self.layers(False)

    def layers(self, backward: bool) -> None:
        """Counts the memory of all layers by themselves."""
        source = self.source
        self.memory.whole = True
        if backward:  # which returns those of the inputs
            for name in self.inputs:
                self.memory.take_diffs(source.layers[0], f"input {name!r}", [source.blobs[name]])
        hidden = {id(blob) for chain in source.chains.values() for blob in chain.links.hidden}
        for i, layer in enumerate(source.layers):
            bottom, runs = source.bottoms[i], backward and self.gradients.layer_needs[i]
            shown = {name: top for name, top in zip(source.names[i][1], source.tops[i]) if id(top) not in hidden}
            self.memory.take_tops(layer, shown)
            if runs:
                learning = [blob for blob, learns in zip(layer.blobs, layer.param_propagate_down) if learns]
                self.memory.take_diffs(layer, "a parameter", learning)
                needs = zip(bottom, self.gradients.bottom_needs[i])
                self.memory.take_diffs(layer, "a top", shown.values())
                self.memory.take_diffs(layer, "a bottom", [b for b, need in needs if need and id(b) not in hidden])
            chain = source.chains.get(i)
            if chain is None or chain.first == i:  # what the others of a chain would keep is not made
                self.memory.take_kept(layer, bottom, source.tops[i], runs)
