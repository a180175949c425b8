"""The layers of a net over their blobs: how one joins the others, is reshaped, and runs forward and backward by itself.

Programs run what a plan does not have in this way; without a plan the two loops of Net do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from ..device import Blob
from ..graph.connect import AtWork, Signature, connect, loss_weights, named, share_parameters, signature
from ..graph.graph import Source
from ..layers.core import Layer, Trait
from ..layers.core.layer import Room
from ..layers.core.lowering import Same
from .training import TrainingChain, find_chains

Fit = Callable[[Layer, Sequence[str], Mapping[str, Blob], Callable[[], None]], None]


class Ledger(Room, Protocol):
    """What counts the memory of a net: net/memory.py has it."""

    blobs: Mapping[str, Blob]
    running: Layer | None  # the layer that goes forward
    whole: bool  # whether all blobs are counted, though a plan needs fewer

    def take_tops(self, layer: Layer, tops: Mapping[str, Blob]) -> None:
        """Counts the tops of a layer by their shapes. Raises DeviceError where they are too much."""

    def look_at(self, layer: Layer, tops: Mapping[str, Blob]) -> None:
        """Raises DeviceError where a top of a layer is too much by itself."""

    def grow(self, blob: Blob, count: int) -> None:
        """Counts a top to which a forward is about to give so many elements."""


class Keeper(Protocol):
    """What runs a net by a plan, and leaves blobs out: run/runner.py has it."""

    def asked(self, blob: Blob) -> None:
        """Called before a script gets the data of a blob: makes it what it is to be."""


class Layers(Source):
    """The layers of a net, made one after another by `append`.

    Attributes
    ----------
    layers, names, bottoms, tops, blobs, seen
        As of a Source.
    loss_weights
        Of each layer's tops.
    shared
        {name of a parameter: the layer that owns it, and which of its parameters it is}.
    unread
        Blobs that no layer reads, in the order of their creation.
    writers
        {name of a blob: the numbers of the layers that have it as a top}.
    chains
        Layers that train together, by their numbers.
    reshapes
        How often each layer was reshaped: what it remembers of its bottoms may be another than at an earlier number.
    keeper
        What runs the net by a plan, if anything does.
    at_work
        True while the net itself uses its blobs, and no script.
    """

    layers: list[Layer]
    names: list[tuple[list[str], list[str]]]
    bottoms: list[list[Blob]]
    tops: list[list[Blob]]
    blobs: OrderedDict[str, Blob]
    seen: list[Signature]

    def __init__(self, memory: Ledger) -> None:
        self.memory = memory
        super().__init__([], [], [], [], OrderedDict(), [])
        memory.blobs = self.blobs
        self.loss_weights: list[list[float]] = []
        self.shared: dict[str, tuple[Layer, int]] = {}
        self.unread: dict[str, None] = {}
        self.writers: dict[str, list[int]] = {}
        self.chains: dict[int, TrainingChain] = {}
        self.inside: dict[int, list[TrainingChain]] = {}  # that may leave a blob out, by the blob's id
        self.keeper: Keeper | None = None
        self.parameters: set[int] = set()  # ids of blobs that are parameters
        self.at_work = AtWork()
        self.reshapes: list[int] = []
        # Shapes of bottoms and tops in the last pass of each layer, or its last reshape since: a script may reshape them. None
        # for one that has refused its bottoms.
        self.met: list[list[tuple[int, ...]] | None] = []
        self.left: list[list[tuple[int, ...]]] = []

    # Making them

    def append(self, layer: Layer, fit: Fit | None = None) -> None:
        """Connects a layer, sets it up and lets it give its tops their shapes. fit: called before that."""
        bottoms, tops = connect(layer, self.blobs)
        for name in bottoms:
            self.unread.pop(name, None)
        self.unread.update(dict.fromkeys(tops))
        self.blobs.update(tops)
        bottom, top = [self.blobs[name] for name in bottoms], list(tops.values())
        layer.memory = self.memory
        for blob in tops.values():
            blob._holder = self
        if fit is not None:
            fit(layer, bottoms, self.blobs, self.reshape_changed)
        with named(layer):
            layer.setup(bottom, top)
            layer.reshape(bottom, top)
            if bottom and top and bottom[0] is top[0]:
                self.part_memory(layer, bottom, top)
        self.memory.look_at(layer, tops)
        self.layers.append(layer)
        self.bottoms.append(bottom)
        self.tops.append(top)
        self.names.append((bottoms, list(tops)))
        for name in tops:
            self.writers.setdefault(name, []).append(len(self.names) - 1)
        self.seen.append(signature(bottom))
        self.reshapes.append(1)
        self.met.append([blob.shape for blob in bottom])
        self.left.append([blob.shape for blob in top])
        self.loss_weights.append(loss_weights(layer, len(tops)))
        share_parameters(layer, self.shared)
        for blob in layer.blobs:
            blob._holder = self
        self.parameters.update(map(id, layer.blobs))

    def train_together(self, outputs: Collection[str]) -> None:
        """Finds the layers that train together; `outputs`, names of blobs, are not left out."""
        self.chains = find_chains(
            self.layers, self.names, self.bottoms, self.tops, outputs, self.loss_weights, self.at_work
        )
        for chain in dict.fromkeys(self.chains.values()):
            for blob in chain.inside:
                self.inside.setdefault(id(blob), []).append(chain)

    def reshape_changed(self) -> None:
        """Reshapes the layers that were made, as far as one of their bottoms has another shape."""
        for i in range(len(self.layers)):
            if signature(self.bottoms[i]) != self.seen[i]:
                self.reshape(i)

    def part_memory(self, layer: Layer, bottom: list[Blob], top: list[Blob]) -> None:
        """Gives a blob that a layer overwrites memory of its own, where an earlier layer has passed on another's."""
        if isinstance(layer.lower(bottom, top), Same):
            return  # it changes nothing
        blob, name = top[0], layer.param.top[0]
        writers = self.writers[name]
        for writer in (self.layers[i] for i in writers if self.names[i][1][0] == name):
            if writer.reads_top and writer.overwritten is None:
                writer.overwritten = Blob(blob.shape, layer.dtype, layer.device)
        maker = self.layers[i := writers[0]]
        inner = [value for value in vars(maker).values() if isinstance(value, Blob)]
        sharing = [other for other in (*self.blobs.values(), *maker.blobs, *inner) if other._data is blob._data]
        if len(sharing) > 1:  # the blob is one of them
            maker.apart = True
            with named(maker):
                maker.reshape(self.bottoms[i], self.tops[i])
            self.reshape_changed()  # what shares memory with its other tops

    # What a script sees

    def asked(self, blob: Blob, diff: bool) -> bool:
        """Called before somebody gets an array of a blob or parameter: makes it what it is to be.

        Whether it goes to a script, whose changes are to be seen: those of a parameter, of a blob that a plan or a chain reads.
        """
        for chain in self.inside.get(id(blob), ()):
            if chain.hides(blob):
                chain.look()
        if self.at_work or diff:
            return False
        if id(blob) in self.parameters:
            blob._data.remember()
            return True
        if self.keeper is not None:
            self.keeper.asked(blob)
            return True
        readers = [
            chain for chain in dict.fromkeys(self.chains.values())
            if any(read._data is blob._data for read in chain.read)
        ]  # fmt: skip
        for chain in readers:
            chain.leave()
        return bool(readers)

    def leave_chains(self) -> None:
        """A part of the layers is about to run: the rest of this pass is layer by layer."""
        for chain in self.chains.values():
            chain.leave()

    def grow(self, blob: Blob, count: int) -> None:
        """Called before a blob gets a shape of so many elements; parameters are counted when they are made."""
        if id(blob) not in self.parameters:
            self.memory.grow(blob, count)

    # Running them

    def forward(self, i: int) -> None:
        """Runs layer number `i`, after a reshape if one of its bottoms or tops has another shape than before."""
        layer, bottom, top = self.layers[i], self.bottoms[i], self.tops[i]
        with named(layer), self.at_work:
            if layer.updates_parameters:
                for blob in layer.blobs:
                    blob._data.remember()
            now = signature(bottom)
            if now != self.seen[i] or (bottom and not self.as_left(i)):
                self.seen[i], self.met[i] = (), None  # one that fails leaves a layer that has to be reshaped
                self.reshapes[i] += 1
                layer.reshape(bottom, top)
                self.passed(i)
                self.memory.take_tops(layer, dict(zip(self.names[i][1], top)))
                self.seen[i] = now
            if i not in self.chains or not self.chains[i].forward(i):
                self.memory.running = layer
                try:
                    layer.forward(bottom, top)
                finally:
                    self.memory.running = None
            self.passed(i)

    def passed(self, i: int) -> None:
        """What layer number `i` has for its backward is for the shapes of now."""
        self.met[i] = [blob.shape for blob in self.bottoms[i]]
        self.left[i] = [blob.shape for blob in self.tops[i]]

    def as_left(self, i: int) -> bool:
        """Whether the tops of layer number `i` have the shapes that its last pass has left."""
        return self.left[i] == [blob.shape for blob in self.tops[i]]

    def settled(self, i: int) -> bool:
        """Whether a reshape of layer number `i` changes nothing, but might lose what its backward needs of the last forward."""
        layer = self.layers[i]
        told = not layer.ours or layer.runs_users or Trait.CHOOSES_ROWS in layer.traits or not self.bottoms[i]
        return not told and signature(self.bottoms[i]) == self.seen[i] and self.as_left(i)

    def finish(self, i: int) -> None:
        """What is left of the forward of layer number `i`, whose launches have been made."""
        layer, bottom, top = self.layers[i], self.bottoms[i], self.tops[i]
        with named(layer), self.at_work:
            self.memory.running = layer
            try:
                layer.forward_finish(bottom, top)
            finally:
                self.memory.running = None
            self.passed(i)

    def backward(self, i: int, runs: Sequence[bool], needs: Sequence[Sequence[bool]]) -> None:
        """Runs layer number `i` backward. runs, needs: as `TrainingChain.backward` takes them."""
        layer, chain = self.layers[i], self.chains.get(i)
        with named(layer), self.at_work:
            met = self.met[i]
            layer.need(met is not None, "its last reshape failed; run forward before backward")
            for kind, blobs, shapes in (("bottom", self.bottoms[i], met or ()), ("top", self.tops[i], self.left[i])):
                for blob, shape in zip(blobs, shapes):
                    layer.need(
                        blob.shape == shape,
                        f"a {kind} has the shape {blob.shape}, but had {shape} when the layer went forward; run forward before "
                        "backward",
                    )
            if not (chain and chain.backward(i, runs, needs)):
                layer.backward(self.tops[i], needs[i], self.bottoms[i])

    def refuse(self, i: int, refused: Sequence[int], runs: Sequence[bool]) -> None:
        """Makes the diff of those bottoms of layer number `i` 0 that lie in the memory of a top's, as in place: a layer before
        it would take that one for its own. refused, runs: which bottoms get no diff, and which layers go backward."""
        for blob in (self.bottoms[i][j] for j in refused):
            if not any(top._diff is blob._diff for top in self.tops[i]):
                continue
            if any(run and any(top._diff is blob._diff for top in tops) for run, tops in zip(runs[:i], self.tops)):
                with self.at_work:
                    blob.diff.fill(0)

    def reshape(self, i: int) -> None:
        """Gives the tops of layer number `i` their shapes."""
        layer = self.layers[i]
        with named(layer):
            self.seen[i], self.met[i] = (), None  # one that fails leaves a layer that has to be reshaped
            self.reshapes[i] += 1
            layer.reshape(self.bottoms[i], self.tops[i])
            tops = dict(zip(self.names[i][1], self.tops[i]))
            (self.memory.take_tops if self.memory.whole else self.memory.look_at)(layer, tops)
            self.seen[i] = signature(self.bottoms[i])
            self.passed(i)

    @contextmanager
    def views(self) -> Iterator[None]:
        """While a pass runs on a GPU: before it, what scripts wrote to views of its arrays counts; behind it, they follow."""
        parameters = (blob for layer in self.layers for blob in layer.blobs)
        buffers = [blob._data for blob in (*self.blobs.values(), *parameters)]
        for buffer in buffers:
            buffer.take_back()
        yield
        for buffer in buffers:
            buffer.follow()
