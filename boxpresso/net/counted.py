"""A net's count of the memory that its passes take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..device import Blob, Device
from ..graph.connect import Signature, signature
from ..layers.core import Layer
from ..layers.core.replaced import acting
from ..proto import NetParameter
from ..proto.errors import BoxpressoError
from ..run.cpu import CpuProgram
from ..run.runner import Runner
from ..run.training import TrainingChain
from .gradients import Gradients
from .memory import Memory


class Counted:
    """What a Net does for its Memory, whose parts it names layer by layer."""

    memory: Memory
    device: Device
    phase: str
    param: NetParameter
    inputs: list[str]
    blobs: Mapping[str, Blob]
    layers: list[Layer]
    bottoms: list[list[Blob]]
    tops: list[list[Blob]]
    names: list[tuple[list[str], list[str]]]
    seen_shapes: list[Signature]
    _runner: Runner | None
    _chains: dict[int, TrainingChain]
    _gradients: Gradients

    @contextmanager
    def _most_rows(self) -> Iterator[None]:
        """While memory is counted: layers that choose rows in a forward give their tops the most that they may choose."""
        grown = False
        try:
            for i, (layer, bottom, top) in enumerate(zip(self.layers, self.bottoms, self.tops)):
                if grown and signature(bottom) != self.seen_shapes[i]:
                    layer.reshape(bottom, top)
                rows = layer.most_rows(bottom)
                axis = acting(layer).row_axis
                for blob in top if rows else ():
                    blob.reshape(*blob.shape[:axis], rows, *blob.shape[axis + 1 :])
                grown = grown or rows > 0
        except BoxpressoError:  # for which its prototxt is not made; it is counted as it is
            self._reshape_all()
        yield
        if grown:
            self._reshape_all()

    def _reshape_all(self) -> None:
        for layer, bottom, top in zip(self.layers, self.bottoms, self.tops):
            layer.reshape(bottom, top)

    def _count(self) -> None:
        """Counts the memory of a pass. Raises DeviceError where it is too much.

        A plan's is counted now only if the caller gave a limit: else before the first forward, or when somebody asks.
        """
        runner = self._runner
        if runner is None or self.device.kind != "cpu":
            with self._most_rows():
                self._count_layers(self.phase == "TRAIN" or self.param.force_backward)
            return
        runner.counted = self._count_run
        self.memory.later = self._count_plan
        if self.memory.given:
            self.memory.settle()

    def _count_plan(self) -> None:
        """Counts the memory of a forward for the shapes of now."""
        with self._most_rows():
            programs = self._runner.sketch() if self._runner is not None else []
            for program in programs:
                self.memory.take_plan(program)
        if not programs:
            self._count_layers(False)

    def _count_run(self, program: CpuProgram | None) -> None:
        """Counts the memory of a program of the plan, or, None, that of all layers by themselves."""
        self.memory.later = None
        if program is not None:
            self.memory.take_plan(program)
        elif not self.memory.whole:
            self._count_layers(False)

    def _count_layers(self, backward: bool) -> None:
        """Counts the memory of all layers by themselves."""
        self.memory.whole = True
        if backward:  # which returns those of the inputs
            for name in self.inputs:
                self.memory.take_diffs(self.layers[0], f"input {name!r}", [self.blobs[name]])
        hidden = {id(blob) for chain in self._chains.values() for blob in chain.links.hidden}
        for i, layer in enumerate(self.layers):
            bottom, runs = self.bottoms[i], backward and self._gradients.layer_needs[i]
            shown = {name: top for name, top in zip(self.names[i][1], self.tops[i]) if id(top) not in hidden}
            self.memory.take_tops(layer, shown)
            if runs:
                learning = [blob for blob, learns in zip(layer.blobs, layer.param_propagate_down) if learns]
                self.memory.take_diffs(layer, "a parameter", learning)
                needs = zip(bottom, self._gradients.bottom_needs[i])
                self.memory.take_diffs(layer, "a top", shown.values())
                self.memory.take_diffs(layer, "a bottom", [b for b, need in needs if need and id(b) not in hidden])
            chain = self._chains.get(i)
            if chain is None or chain.first == i:  # what the others of a chain would keep is not made
                self.memory.take_kept(layer, bottom, self.tops[i], runs)
