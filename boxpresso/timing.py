"""The times of the layers of a net, for `boxpresso time`, as `caffe time` measures them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from .device.chain import Chain
from .graph.anchors import read_anchors
from .layers.core.lowering import Constant
from .net import Net
from .proto import NetParameter, read_net
from .proto.errors import ModelError
from .proto.reading import FilePath
from .run.cpu import CpuProgram
from .run.gpu.program import GpuProgram
from .summary import PlanRow, layouts_of, plan_rows


@dataclass
class Times:
    """Seconds: of each layer, summed over the iterations; of the two passes of each iteration; of everything.

    `order` gives the layers by cost, `by_type` sums over the layers of each type.
    """

    names: list[str]
    forward: list[float]
    backward: list[float]
    passes: list[tuple[float, float]] = field(default_factory=list)  # (forward, backward)
    total: float = 0.0
    types: list[str] = field(default_factory=list)

    @property
    def whole(self) -> float:
        """The seconds of all layers, forward and backward: what shares are shares of."""
        return sum(self.forward) + sum(self.backward)

    def order(self) -> list[int]:
        """The numbers of the layers, the most expensive first; among equals as in the net."""
        return sorted(range(len(self.names)), key=lambda i: -(self.forward[i] + self.backward[i]))

    def share(self, i: int) -> float:
        """What part of the time of all layers one layer takes, forward and backward, from 0 to 1."""
        return (self.forward[i] + self.backward[i]) / self.whole if self.whole else 0.0

    def by_type(self) -> list[TypeTimes]:
        """The sums over the layers of each type, the most expensive first."""
        rows: dict[str, TypeTimes] = {}
        for kind, ahead, back in zip(self.types, self.forward, self.backward):
            row = rows.setdefault(kind, TypeTimes(kind))
            row.layers, row.forward, row.backward = row.layers + 1, row.forward + ahead, row.backward + back
        return sorted(rows.values(), key=lambda row: -(row.forward + row.backward))


@dataclass
class TypeTimes:
    """The seconds of all layers of one type, and how many layers these are."""

    type: str
    layers: int = 0
    forward: float = 0.0
    backward: float = 0.0


@dataclass
class PlanTimes:
    """Seconds of a forward by a net's plan: of each step, summed over the iterations, and of each whole forward.

    Steps are timed one by one, each with a start of its own; `passes` are those of `net.forward()`, which runs them together.
    """

    steps: list[PlanRow]
    seconds: list[float]
    passes: list[float] = field(default_factory=list)
    layouts: list[str] = field(default_factory=list)  # on a GPU, of chains of steps

    def order(self) -> list[int]:
        """The numbers of the steps, the most expensive first; among equals as in the plan."""
        return sorted(range(len(self.steps)), key=lambda i: -self.seconds[i])

    def share(self, i: int) -> float:
        """What part of the time of all steps one step takes, from 0 to 1."""
        whole = sum(self.seconds)
        return self.seconds[i] / whole if whole else 0.0


def timing_net(
    model: FilePath | NetParameter,
    weights: FilePath | None = None,
    *,
    backward: bool = True,
    device: str | None = None,
    **options: Any,
) -> Net:
    """A net to be timed, its inputs filled with random numbers from 0 to 1, and im_info with the size of the picture.

    Parameters
    ----------
    model, weights, device, options
        As for Net.
    backward
        Whether the backward pass will be timed: a net without a loss then computes all gradients, as if its prototxt said
        `force_backward: true`.

    Returns
    -------
    Net
        Ready for `time_net`.
    """
    param = NetParameter()
    if not isinstance(model, NetParameter):
        options["source"] = os.fspath(model)
    param.CopyFrom(model if isinstance(model, NetParameter) else read_net(model))
    options["anchors"] = read_anchors(options.get("anchors"), model)
    net = Net(param, weights, device=device, **options)
    if backward and not any(net._gradients.layer_needs):
        param.force_backward = True
        net = Net(param, weights, device=device, **options)
    if net.sources:  # which has filled the inputs
        return net
    rng = np.random.default_rng(0)
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = rng.random(blob.shape)
    picture = next((net.blobs[name].shape for name in net.inputs if len(net.blobs[name].shape) == 4), None)
    if picture and "im_info" in net.inputs:  # else no region fits the picture
        info = net.blobs["im_info"]
        info.data[...] = np.ones(info.shape)
        info.data[:, :2] = picture[2:]
    return net


def time_net(
    net: Net, iterations: int = 50, *, backward: bool = True, report: Callable[[int, float], None] = lambda i, s: None
) -> Times:
    """Measures the layers of a net: one iteration to warm up, then `iterations`, with a wait for the device after each layer.

    Parameters
    ----------
    net
        Of `timing_net`, or any other with its inputs filled.
    iterations
        How many.
    backward
        Whether to run the backward pass too.
    report
        Called after each iteration with its number, from 1, and its seconds.

    Returns
    -------
    Times
        Seconds of layers and passes, summed over the iterations.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }'''), device="cpu")
    >>> times = time_net(net, 3, backward=False)
    >>> times.names, len(times.passes), times.total > 0
    (['x', 'y'], 3, True)
    """
    order = range(len(net.layers))
    times = Times(net.layer_names, [0.0] * len(order), [0.0] * len(order), types=[layer.type for layer in net.layers])
    start = end = 0.0
    if net._runner is not None:  # from here on the layers run one by one
        net._runner.make_way(net.blobs)
    for turn in range(iterations + 1):
        if turn == 1:  # turn 0 compiled, allocated and filled caches
            start = perf_counter()
            times.forward, times.backward = [0.0] * len(order), [0.0] * len(order)
        ahead = run_layers(net, order, net.forward_layer, times.forward)
        back = 0.0
        if backward:
            fill_diffs(net)
            back = run_layers(net, order[::-1], net.backward_layer, times.backward)
        if turn:
            end = perf_counter()
            times.passes.append((ahead, back))
            report(turn, ahead + back)
    times.total = end - start
    return times


def run_layers(net: Net, order: Sequence[int], step: Callable[[int], None], spent: list[float]) -> float:
    """Runs layers one by one and adds the seconds of each to `spent`; returns those of all."""
    net.device.synchronize()
    start = before = perf_counter()
    for i in order:
        step(i)
        net.device.synchronize()
        now = perf_counter()
        spent[i] += now - before
        before = now
    return before - start


def fill_diffs(net: Net) -> None:
    """Fills the diffs from which the backward pass starts: of a loss with its weight, of any other output with 1."""
    for (_, names), weights, tops in zip(net.names, net.loss_weights, net.tops):
        for name, weight, top in zip(names, weights, tops):
            if weight or name in net.outputs:
                top.diff.fill(weight or 1)


def time_plan(net: Net, iterations: int = 50, *, report: Callable[[int, float], None] = lambda i, s: None) -> PlanTimes:
    """Measures a forward by a net's plan, whole and step by step: one iteration to warm up, then `iterations` of each.

    Parameters
    ----------
    net
        Of `timing_net(..., backward=False)`, or any other of phase TEST with its inputs filled.
    iterations
        How many.
    report
        Called after each whole forward with its number, from 1, and its seconds.

    Returns
    -------
    PlanTimes
        Seconds of steps, summed over the iterations, and of the whole forwards.

    Raises
    ------
    ModelError
        Where the net has no plan: of phase TRAIN, with `optimize=False` or force_backward.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    ...     layer { name: "y" type: "Convolution" bottom: "x" top: "y"
    ...             convolution_param { num_output: 4 kernel_size: 3 } }
    ...     layer { name: "z" type: "ReLU" bottom: "y" top: "y" }'''), device="cpu")
    >>> times = time_plan(net, 3)
    >>> [row.layers for row in times.steps], len(times.passes), min(times.seconds) > 0
    ([['y', 'z'], ['y']], 3, True)
    """
    for _ in range(4 if net.device.kind != "cpu" else 1):  # compiles, allocates; a GPU captures its graphs in the third
        net.forward()
    programs = net._runner.describe() if net._runner is not None else []
    if not programs:
        raise ModelError(
            f"net {net.name!r} has no plan to time: those are of phase TEST, without force_backward; it runs layer by layer"
        )
    passes = []
    for turn in range(iterations):
        net.device.synchronize()
        start = perf_counter()
        net.forward()
        net.device.synchronize()
        passes.append(perf_counter() - start)
        report(turn + 1, passes[-1])
    rows = [row for program in programs for row in plan_rows(net, program)]
    assert net._runner is not None
    with net._layers.at_work:
        works: list[tuple[int, Callable[[], object]]] = []  # the number of a step, and what runs it or a part of it
        first = 0
        for program in programs:
            works += [(first + i, work) for i, work in step_works(net, program)]
            first += len(plan_rows(net, program))
        seconds = [0.0] * len(rows)
        for turn in range(iterations + 1):
            for i, work in works:
                net.device.synchronize()
                start = perf_counter()
                work()
                net.device.synchronize()
                seconds[i] += (perf_counter() - start) * (turn > 0)
    return PlanTimes(rows, seconds, passes, layouts_of(programs))


def step_works(net: Net, program: CpuProgram | GpuProgram) -> list[tuple[int, Callable[[], object]]]:
    """What a part of a plan runs one after the other, each with the number of its step, as `summary.plan_rows` counts them.

    A step that goes through the images of a batch one by one has several parts; one that runs once for a shape has none.
    """
    if isinstance(program, GpuProgram):
        steps = [step for segment in program.segments for step in segment.steps] or program.steps
        return [(i, partial(program.run_step, step)) for i, step in enumerate(steps)]
    actions = program.placement.actions
    shown = [i for i, a in enumerate(actions) if a.step is None or net.layers[a.step.layer].type != "Input"]
    rows = {i: row for row, i in enumerate(shown)}
    works: list[tuple[int, Callable[[], object]]] = []
    for first, end, images in program.groups:
        step = actions[first].step
        if actions[first].kind == "forward" and step is not None:
            if first in rows and not isinstance(step.lowering, Constant):
                works.append((rows[first], partial(net.forward_layer, step.layer)))
            continue
        for image in range(images) if images > 1 else [None]:
            for i in range(first, end):
                chain = Chain(program.device, program.dtype)
                program.launch_named(chain, actions[i], image)
                works.append((rows[i], chain.run))
    return works
