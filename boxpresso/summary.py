"""The structure of a net: shapes, parameters, multiply-adds and memory of each layer, for `boxpresso info`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from .graph.graph import BFLOAT16
from .layers.core import Layer, Trait
from .layers.core.gpu_lowering import OnLast
from .net import Net
from .run.cpu import CpuProgram
from .run.gpu.layout import Turn
from .run.gpu.program import GpuProgram, Segment

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One layer. parameters: learned numbers. macs: multiply-adds of a forward pass. bytes: that its tops' data adds;
    none in place or where it shares a bottom's memory."""

    name: str
    type: str
    bottoms: dict[str, Shape]
    tops: dict[str, Shape]
    parameters: int
    macs: int
    bytes: int


@dataclass(frozen=True)
class Summary:
    """A net, and its totals: a parameter that several layers share counts once."""

    name: str
    phase: str
    inputs: list[str]
    outputs: list[str]
    layers: list[Row]
    parameters: int
    macs: int
    bytes: int


def summarise(net: Net) -> Summary:
    """Shapes, parameters, multiply-adds and memory of each layer, as `boxpresso info` prints them.

    Parameters
    ----------
    net
        The Net, of any phase.

    Returns
    -------
    Summary
        A Row for each layer of the prototxt, without the Split layers that the Net adds itself, and totals.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }'''),
    ...     device="cpu")
    >>> summary = summarise(net)
    >>> summary.parameters, summary.macs, summary.bytes
    (8, 6, 20)
    """
    rows = []
    held: dict[int, int] = {}  # a buffer and how many elements of it earlier layers use
    for layer, (bottom_names, top_names), bottoms, tops in zip(net.layers, net.names, net.bottoms, net.tops):
        if layer.type == "Split" and layer.name.endswith("_split"):
            continue
        added = 0
        for blob in tops:
            before = held.get(id(blob._data), 0)
            held[id(blob._data)] = max(before, blob.count)
            added += max(0, blob.count - before)
        rows.append(
            Row(
                layer.name,
                layer.type,
                {name: blob.shape for name, blob in zip(bottom_names, bottoms)},
                {name: blob.shape for name, blob in zip(top_names, tops)},
                sum(blob.count for blob in layer.blobs),
                macs(layer, [blob.shape for blob in bottoms], [blob.shape for blob in tops]),
                added * net.dtype.itemsize,
            )
        )
    return Summary(
        net.name,
        net.phase,
        list(net.inputs),
        list(net.outputs),
        rows,
        sum(blob.count for blob, _, _ in net.learnable),
        sum(row.macs for row in rows),
        sum(row.bytes for row in rows),
    )


def macs(layer: Layer, bottoms: Sequence[Shape], tops: Sequence[Shape]) -> int:
    """Multiply-adds of one forward pass: the products with weights of layers that are linear maps; 0 for all others.

    Elements of padding count as any other, and a bias is not counted.
    """
    if Trait.WEIGHTED not in layer.traits:
        return 0
    linear: Any = layer
    weights, window = layer.blobs[0].shape, layer.window_of(layer.param)
    if window is not None and window.spreads:  # each element of a bottom spreads over one filter
        return sum(map(prod, bottoms)) * prod(weights[1:])
    return sum(map(prod, tops)) * prod(weights) // int(linear.outputs)  # each element of a top gathers over one filter


@dataclass(frozen=True)
class PlanRow:
    """One step of a plan. what: how it runs. layers: those of the prototxt that it stands for. shape: of what it writes.
    at: where that lies."""

    what: str
    layers: list[str]
    shape: Shape
    at: str


@dataclass(frozen=True)
class PlanSummary:
    """The plan of a net, the bytes of the memory that its values share, and on a GPU the layouts of its chains, in words."""

    steps: list[PlanRow]
    dropped: list[str]
    bytes: int
    layouts: list[str] = field(default_factory=list)


def summarise_plan(net: Net) -> PlanSummary | None:
    """The steps that a net's forward takes for the shapes of now, as `boxpresso info --plan` prints them.

    Parameters
    ----------
    net
        The Net.

    Returns
    -------
    PlanSummary or None
        None where the net runs layer by layer: at TRAIN, with `optimize=False` or force_backward.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    ...     layer { name: "y" type: "Convolution" bottom: "x" top: "y"
    ...             convolution_param { num_output: 4 kernel_size: 3 } }
    ...     layer { name: "z" type: "ReLU" bottom: "y" top: "y" }'''), device="cpu")
    >>> [(row.what, row.layers, row.shape) for row in summarise_plan(net).steps]
    [('convolution', ['y', 'z'], (1, 4, 6, 6)), ('to planes', ['y'], (1, 4, 6, 6))]
    """
    runner = net._runner
    programs = (
        runner.sketch() if runner is not None and net.device.kind == "cpu" else runner.describe() if runner else []
    )
    if not programs:
        return None
    rows = [row for program in programs for row in plan_rows(net, program)]
    dropped = [
        net.layers[i].name for p in programs for i in p.plan.dropped if not net.layers[i].name.endswith("_split")
    ]
    shared = [program_bytes(net, program) for program in programs]
    return PlanSummary(rows, dropped, max(shared, default=0), layouts_of(programs))


def program_bytes(net: Net, program: CpuProgram | GpuProgram) -> int:
    """The bytes of the memory that a program's values share."""
    if isinstance(program, CpuProgram):
        return int(program.shared.size * net.dtype.itemsize)
    return int(program.shared.size) if program.shared is not None else 0


def layouts_of(programs: Sequence[CpuProgram | GpuProgram]) -> list[str]:
    """The chains of programs on a GPU and their layouts, each in a line."""
    on_gpu = [program for program in programs if isinstance(program, GpuProgram)]
    return [line for program in on_gpu if program.chains is not None for line in program.chains.lines()]


def gpu_rows(net: Net, program: GpuProgram) -> list[PlanRow]:
    """The same on a GPU, where a step is part of a graph, once that is captured, or runs by itself."""
    rows, graphs = [], 0
    for segment in program.segments or [Segment(program.steps, "not captured yet")]:
        graphs += segment.graph is not None
        for step in segment.steps:
            kind = step.lowering.what if step.lowering is not None else "layer"
            if isinstance(step.lowering, Turn):
                kind = "channels last" if step.lowering.last else "to planes"
            elif isinstance(step.lowering, OnLast):
                kind = f"{kind}, channels last"
            at = f"graph {graphs - 1}" if segment.graph is not None else segment.live
            shape = program.blob(step.writes[0]).shape if step.writes else ()
            rows.append(PlanRow(kind, [net.layers[i].name for i in step.layers], shape, at))
    return rows


# What a value is turned to, by its layout.
TURNS = {"plain": "to planes", "last": "channels last", "int8": "to 8 bits", "bfloat16": "to bfloat16"}


def plan_rows(net: Net, program: CpuProgram | GpuProgram) -> list[PlanRow]:
    """The steps of a part of a net."""
    if isinstance(program, GpuProgram):
        return gpu_rows(net, program)
    rows, place = [], program.placement
    for action in place.actions:
        step = action.step
        if action.kind in ("lowered", "planes", "forward") and step is not None:
            if net.layers[step.layer].type == "Input":
                continue
            lowering = type(step.lowering).__name__.removesuffix("Lowering").removesuffix("Bf16").lower()
            if step.lowering is not None and step.lowering.takes == BFLOAT16:
                lowering += "bf16"
            words = (
                "kernels"
                if action.kind == "planes"
                else lowering
                if action.kind == "lowered"
                else "once"
                if lowering == "constant"
                else "layer"
            )
            names = [net.layers[i].name for i in step.layers]
            if not step.writes:
                rows.append(PlanRow(words, names, (), ""))
                continue
            target = place.written(step) if action.kind == "lowered" else (step.writes[0], "plain")
        else:
            assert action.target is not None
            assert action.source is not None
            target = action.target
            words = "copy" if action.kind == "copy" else TURNS[target[1]]
            names = [action.source[0][0]]
        home = place.homes[target]
        written = step.writes[0] if action.kind != "copy" and step is not None else (action.source or target)[0]
        kind, name = home.base
        at = f"blob {name}" if kind == "blob" else f"memory {program.shared.starts[home.base] * net.dtype.itemsize}"
        rows.append(PlanRow(words, names, net.blobs[written[0]].shape, at))
    return rows
