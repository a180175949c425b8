"""A plan made to run on a GPU for given shapes: runs of layers without host work are captured as graphs, and replayed.

The first run loads kernels and lets layers make what they keep. The second chooses the layout of chains of convolutions
(chains.py), and shows which layers need the host: those that copy to or from it, or wait. From the third on all others run
as graphs, each of the layers between two that need the host.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...device import Blob, Buffer, Versions
from ...device.context import driver
from ...device.cuda import Cuda
from ...device.graph import CapturedGraph
from ...graph.connect import named
from ...graph.graph import Plan, Source, Step, Value
from ...graph.passes import portions
from ...layers.core import Layer, Trait
from ...layers.core.gpu_lowering import GpuLowering, OnLast, Refused
from ...layers.core.lowering import Constant, Join
from ...proto.errors import BoxpressoError, DeviceError
from ...proto.limits import LIMITS
from ..program import Program
from .chains import Chains
from .joins import Operand, Spread, spread
from .layout import Chain, Turn, chain_steps, lay_out
from .memory import Bound, Joined, Uses

TRIES = 3  # forwards in which the driver may refuse a capture


def inner_blobs(plan: Plan, source: Source, layers: Sequence[int]) -> set[str]:
    """The names of the blobs whose values nobody needs once the steps of a plan have run.

    Only layers write them of which every forward writes all of its tops; so it is with whatever shares their memory.
    """
    writers: dict[str, list[int]] = {}
    for i, (_, tops) in enumerate(source.names):
        for name in tops:
            writers.setdefault(name, []).append(i)
    once = {i for s in plan.steps if isinstance(s.lowering, Constant) for i in s.layers}
    inner = set()
    for name, by in writers.items():
        known = all(i in layers and i not in once and pure(source.layers[i]) for i in by)
        if known and name not in plan.wanted:
            inner.add(name)
    while True:  # a blob that shares memory with one that is needed is needed
        needed = {id(blob._data) for name, blob in source.blobs.items() if name not in inner}
        fewer = {name for name in inner if id(source.blobs[name]._data) not in needed}
        if fewer == inner:
            return inner
        inner = fewer


def pure(layer: Layer) -> bool:
    """Whether a forward of a layer does nothing but make its tops of its bottoms and parameters."""
    return Trait.WRITES_ALL in layer.traits and not layer.updates_parameters


class Segment:
    """Steps that run one after the other: captured as a graph where none of them needs the host.

    Attributes
    ----------
    steps
        In order.
    live
        Why it is not captured; "" where it is.
    rest
        Whether its last step is not done when it has run: the layer's `forward_finish` waits for it.
    graph
        The CapturedGraph, once captured.
    """

    def __init__(self, steps: Sequence[Step], live: str = "") -> None:
        self.steps, self.live = list(steps), live
        self.rest = False
        self.graph: CapturedGraph | None = None
        self.tries = 0
        self.limit = 0  # that its kernels have for what regions may cost
        self.bound: list[tuple[Blob, Buffer]] = []

    def valid(self) -> bool:
        """Whether the graph can be replayed: everything lies where it lay, and nobody has changed the limit."""
        if self.limit != LIMITS.region_samples:
            return False
        bound = all(blob._data is buffer for blob, buffer in self.bound)
        return self.graph is not None and bound and self.graph.valid()


class GpuProgram(Program):
    """A plan as graphs, and steps that run by themselves between them."""

    device: Cuda

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        plan, source, layers = self.plan, self.source, self.layers
        self.steps = self.running(plan)
        self.inner = inner_blobs(plan, source, layers)
        self.chains: Chains | None = None  # found in the first run
        self.more: dict[Value, Blob] = {}  # values that are in no blob of the net
        self.last: list[OnLast] = []  # how steps of channels-last chains run
        self.seen = Versions()  # of the parameters of which those keep something
        self.now: Collection[Chain] = ()  # the chains that are channels last
        self.shared: Bound | None = None
        self.outgrown: Callable[[GpuProgram], None] = lambda program: None  # called when it has moved the arena
        self.joined: set[int] = set()  # layers whose bottoms lie in their top
        self.spread: dict[int, Spread] = {}  # by its layer: concatenations of several images, and
        self.operands: dict[int, Operand] = {}  # by their layers: the convolutions that write into their tops
        self.runs = 0
        self.host: dict[int, str] = {}  # by the place of a step: why it cannot be captured
        self.tells: set[int] = set()  # layers that have given their tops other shapes in a forward
        self.rests: set[int] = set()  # the places of steps that can, but for their layers' `forward_finish`
        self.segments: list[Segment] = []

    def running(self, plan: Plan) -> list[Step]:
        """The steps of a plan that each forward runs."""
        return [
            s for s in plan.steps
            if not isinstance(s.lowering, Constant) and self.source.layers[s.layer].type != "Input"
        ]  # fmt: skip

    def blob(self, value: Value) -> Blob:
        """Where a value lies."""
        return self.more[value] if value in self.more else self.source.blobs[value[0]]

    # Layouts

    def settle(self) -> None:
        """Chooses the layout of chains, where that is due: with deterministic=True before anything has run, so that each
        forward gives the same bits, else in the second run, for many a shape is seen only once."""
        if self.chains is None:
            self.chains = Chains(self.plan, self.source, self.inner, self.device, self.lay, self.launch_chain)
        self.chains.decide(self.runs == 2 or self.device.deterministic)

    def lay(self, chains: Collection[Chain]) -> None:
        """From now on these chains are channels last. Raises DeviceError where there is no memory for it: all is as before."""
        if set(chains) == set(self.now):
            return
        before = self.now, self.steps, self.more, self.last
        plan = lay_out(self.plan, self.source, self.inner, chains)
        self.now, self.steps, self.more = list(chains), self.running(plan), {}
        for step in self.steps:
            if isinstance(step.lowering, Turn):
                plain, turned = (step.reads[0], step.writes[0])[:: 1 if step.lowering.last else -1]
                blob = self.blob(plain)
                self.more[turned] = Blob(blob.shape, blob.dtype, self.device)
        self.last = [step.lowering for step in self.steps if isinstance(step.lowering, OnLast)]
        try:
            self.move()
            self.remake()
        except DeviceError:
            self.now, self.steps, self.more, self.last = before
            self.move()
            self.remake()
            raise

    def move(self) -> None:
        """Gives the buffers of the steps of now their places in the arena; those of earlier steps lose theirs."""
        if self.shared is not None:
            self.shared.unbind()
        self.shared = None  # so that a larger arena can take its memory
        if self.share():
            self.outgrown(self)
        assert self.shared is not None
        self.shared.bind()

    def refresh(self) -> None:
        """What channels-last steps keep of parameters is as these are now."""
        if self.seen.old:
            self.remake()

    def remake(self) -> None:
        """Makes what channels-last steps keep of parameters, where it is missing or these have changed."""
        for lowering in self.last:
            lowering.refresh()
        self.seen = Versions(blob for lowering in self.last for blob in lowering.parameters())

    def launch_chain(self, chain: Chain) -> None:
        """Launches the steps of a chain as they lie now."""
        for step in chain_steps(self.steps, chain):
            try:
                self.launch(step)
            except Refused as error:
                error.layer = step.layer
                raise

    # Memory

    def share(self) -> bool:
        """Finds the buffers that can share memory; whether the arena had to move. All blobs have their shapes."""
        blobs, source = self.source.blobs, self.source
        # With BOXPRESSO_DEBUG each array has memory of its own, with its bounds.
        lasting = {id(blob._data) for name, blob in blobs.items() if self.device.debug or name not in self.inner}
        lasting |= {id(blob._data) for blob in self.more.values() if self.device.debug}
        uses: Uses = []
        for step in self.steps:
            if isinstance(step.lowering, (GpuLowering, OnLast)):
                reads, writes = ([self.blob(value) for value in values] for values in (step.reads, step.writes))
            else:
                reads, writes = source.bottoms[step.layer], source.tops[step.layer]
            for blob in (*reads, *writes):
                blob._data.grow(blob.count)
            uses.append(([blob._data for blob in reads], [blob._data for blob in writes]))
        lowered = [use for step, use in zip(self.steps, uses) if isinstance(step.lowering, (GpuLowering, OnLast))]
        tight = {id(buffer) for use in lowered for buffers in use for buffer in buffers}
        spreads = spread(self.steps, source, uses, lasting, self.blob)
        self.spread = {self.steps[join.place].layer: join for join in spreads}
        self.operands = {self.steps[o.producer].layer: o for join in spreads for o in join.operands.values()}
        tight |= {id(operand.whole._data) for operand in self.operands.values()}
        self.shared = Bound(self.arena, uses, lasting, self.joins(), tight)
        self.joined = {self.steps[place].layer for place in self.shared.joined}
        return self.shared.moved

    def joins(self) -> dict[int, Joined]:
        """{place of a step: its operands, and what they are of its top}, for joins of blobs as large as their memory."""
        counts: dict[int, set[int]] = {}
        for blob in self.source.blobs.values():
            counts.setdefault(id(blob._data), set()).add(blob.count)
        joins: dict[int, Joined] = {}
        for place, step in enumerate(self.steps):
            operands = list(zip(self.source.bottoms[step.layer], portions(step, self.source)))
            if operands and all(counts[id(blob._data)] == {blob.count} for blob, _ in operands):
                joins[place] = operands
        return joins

    def shaped(self, dynamic: Collection[int]) -> bool:
        """Whether the blobs have the shapes of this program, but for those that a layer of `dynamic`, or one that was seen to,
        shapes in each forward."""
        free = {id(blob) for i in self.tells.union(dynamic) for blob in self.source.tops[i]}
        return all(blob.shape == shape or id(blob) in free for blob, shape in self.shapes)

    def launch(self, step: Step) -> bool:
        """Launches what a step does; whether its layer has a rest, for `finish`."""
        if step.layer in self.joined:  # there is nothing to do but to know that it is there
            for blob in (*self.source.bottoms[step.layer], *self.source.tops[step.layer]):
                blob._data.on_device(blob is self.source.tops[step.layer][0])
            return False
        if isinstance(step.lowering, OnLast):
            with named(self.source.layers[step.layer]):
                step.lowering.run([self.blob(value) for value in step.reads], self.blob(step.writes[0]))
            return False
        if isinstance(step.lowering, Join) and step.layer in self.spread:
            self.spread[step.layer].run(self.source.bottoms[step.layer], self.source.tops[step.layer][0], self.device)
            return False
        if not isinstance(step.lowering, GpuLowering):
            layer = self.source.layers[step.layer]
            if layer.ours:
                with named(layer):
                    if layer.forward_launch(self.source.bottoms[step.layer], self.source.tops[step.layer]):
                        return True
            self.source.forward(step.layer)
            return False
        blobs = [self.source.blobs[value[0]] for value in step.reads]
        other = blobs[-1] if step.added is not None else None
        operand = self.operands.get(step.layer)
        with named(self.source.layers[step.layer]):
            if operand is None or not operand.run(blobs[0]):
                step.lowering.run(blobs[0], other, self.source.blobs[step.writes[0][0]])
        return False

    def run_step(self, step: Step) -> None:
        """All that a step does."""
        if self.launch(step):
            self.finish(step)

    def finish(self, step: Step) -> None:
        """Waits for what a step has launched, and gives its tops their shapes."""
        layer = self.source.layers[step.layer]
        with named(layer):
            layer.forward_finish(self.source.bottoms[step.layer], self.source.tops[step.layer])

    def run(self, dynamic: Collection[int]) -> int | None:
        self.runs += 1
        if self.runs <= 2:
            self.settle()
        self.refresh()
        if self.runs > 2 and not self.device.debug:
            if not self.segments:
                self.divide()
            return self.run_segments(dynamic)
        for place, step in enumerate(self.steps):
            layer = self.source.layers[step.layer]
            if self.runs == 2:
                self.upload(step)
            before, shapes = (self.device.host_work, layer.pass_number), self.tops(step)
            rest = self.launch(step)
            if self.runs == 2:
                reason = self.needs_host(step, before)
                if reason:
                    self.host[place] = reason
                elif rest:
                    self.rests.add(place)
            if rest:
                self.finish(step)
            if self.reshaped(step, shapes, dynamic):
                return step.layer
        return None

    def upload(self, step: Step) -> None:
        """Copies what the host has set since to the GPU, so that it does not count as the step's own work."""
        for i in step.layers:
            for blob in (*self.source.bottoms[i], *self.source.layers[i].blobs):
                data = blob._data
                if data.host_fresh and not data.device_fresh and data.memory is not None:
                    data.on_device(False)

    def needs_host(self, step: Step, before: tuple[int, int]) -> str:
        """Why a step that has just run cannot be captured; "" where it can. before: what was counted before it."""
        layer = self.source.layers[step.layer]
        if isinstance(step.lowering, (GpuLowering, OnLast)):
            return "" if self.device.host_work == before[0] else "needs the host"
        if not step.reads:
            return "gives data"
        if layer.type == "Python" or not layer.ours:
            return "runs a user's code"
        if layer.pass_number != before[1]:
            return "draws random numbers"
        return "" if self.device.host_work == before[0] else "needs the host"

    def tops(self, step: Step) -> list[tuple[int, ...]]:
        """The shapes of a step's tops."""
        return [blob.shape for blob in self.source.tops[step.layer]]

    def reshaped(self, step: Step, before: list[tuple[int, ...]], dynamic: Collection[int]) -> bool:
        """Whether a step has given its tops, which others read, shapes that nobody expected. before: those that they had."""
        if self.tops(step) == before:
            return False
        self.tells.add(step.layer)
        return step.layer in self.read and step.layer not in dynamic

    def divide(self) -> None:
        """Makes segments of the steps."""
        for place, step in enumerate(self.steps):
            reason = self.host.get(place, "")
            last = self.segments[-1] if self.segments else None
            if reason or last is None or last.live or last.rest:
                self.segments.append(Segment([step], reason))
            else:
                last.steps.append(step)
            self.segments[-1].rest = place in self.rests

    def run_segments(self, dynamic: Collection[int]) -> int | None:
        """As `run`, by graphs where there are."""
        for segment in self.segments:
            last = segment.steps[-1]
            shapes = self.tops(last)
            if not segment.live and not segment.valid():
                self.capture(segment)
            if segment.graph is not None:
                segment.graph.launch()
                if segment.rest:
                    self.finish(last)
                    if self.reshaped(last, shapes, dynamic):
                        return last.layer
                continue
            for step in segment.steps:
                shapes = self.tops(step)
                if self.launch(step):
                    self.finish(step)
                if self.reshaped(step, shapes, dynamic):
                    return step.layer
        return None

    def capture(self, segment: Segment) -> None:
        """Captures a segment; where the driver does not take it, it runs launch by launch. That is tried again in later
        forwards, for another thread may have broken the capture; in the end the segment says why."""

        def work() -> None:
            for step in segment.steps:
                self.launch(step)

        segment.graph, segment.limit = None, LIMITS.region_samples
        for step in segment.steps:
            self.upload(step)
        try:
            segment.graph = CapturedGraph(self.device, work)
        except (BoxpressoError, driver().Error) as error:
            segment.tries += 1
            if segment.tries == TRIES:
                segment.live = f"was not captured: {error}"
            return
        layers = [i for step in segment.steps for i in step.layers]
        blobs: dict[int, Blob] = {}
        for i in layers:
            for blob in (*self.source.bottoms[i], *self.source.tops[i], *self.source.layers[i].blobs):
                blobs[id(blob)] = blob
            if i in self.operands:
                blobs[id(self.operands[i].whole)] = self.operands[i].whole
        segment.bound = [(blob, blob._data) for blob in blobs.values()]

    def describe(self) -> dict[str, Any]:
        """How many graphs there are, what they replay, why other layers are not among it, and the layouts of chains where there
        are any."""
        graphs = [s.graph for s in self.segments if s.graph is not None]
        live = {self.source.layers[step.layer].name: s.live for s in self.segments if s.live for step in s.steps}
        said = {"graphs": len(graphs), "nodes": sum(g.nodes for g in graphs), "by themselves": live}
        layouts = self.layouts()
        return {**said, "layouts": layouts} if layouts else said

    def layouts(self) -> list[dict[str, Any]]:
        """Chains.describe, for the chains that are known by now."""
        return self.chains.describe() if self.chains is not None else []
