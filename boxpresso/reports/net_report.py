"""The report of a net: its graph, sums by layer type, a table and a card of each layer, its weights, times and plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..net import Net
from ..net.weights import CopyReport
from ..proto import LayerParameter
from ..proto.text import to_text
from ..summary import PlanSummary, Row, Summary, summarise
from ..timing import PlanTimes, Times
from .blocks import family, graph_of, is_split, originals
from .graph import Cost, draw
from .page import Column, bar, count, escape, facts, page, section, shape_text, size, table, tiles, write_page
from .weights import Statistics, statistics, weights_table

FAMILIES = {
    "dense": "convolutions, products, pooling", "norm": "normalisation, scale, softmax", "neuron": "activations",
    "shape": "shapes", "regions": "regions", "detection": "detection", "loss": "losses", "data": "data and inputs",
    "other": "others",
}  # fmt: skip


@dataclass
class Entry:
    """One layer: its place among those of the Net, its row of the summary, its times in milliseconds, its weights."""

    place: int
    row: Row
    forward: float | None = None
    backward: float | None = None
    weights: Sequence[tuple[str, Statistics]] = ()

    @property
    def time(self) -> float:
        """Forward and backward together."""
        return (self.forward or 0.0) + (self.backward or 0.0)


def write_net_report(
    path: str | os.PathLike[str],
    net: Net,
    *,
    model: str,
    weights: str | None = None,
    copied: CopyReport | None = None,
    times: Times | None = None,
    plan: PlanSummary | None = None,
    plan_times: PlanTimes | None = None,
) -> None:
    """Writes `net_page` as a file, which is replaced when it is whole.

    Raises BoxpressoError where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }'''), device="cpu")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_net_report(f"{folder}/net.html", net, model="net.prototxt")
    ...     Path(f"{folder}/net.html").read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    write_page(
        path,
        net_page(
            net, model=model, weights=weights, copied=copied, times=times, plan=plan, plan_times=plan_times,
        ),
    )  # fmt: skip


def net_page(
    net: Net,
    *,
    model: str,
    weights: str | None = None,
    copied: CopyReport | None = None,
    times: Times | None = None,
    plan: PlanSummary | None = None,
    plan_times: PlanTimes | None = None,
) -> str:
    """What a net is made of, and what its layers cost, as one page of HTML.

    Parameters
    ----------
    net
        The Net.
    model, weights
        The names of its files, to be shown; with weights the parameters have histograms.
    copied
        What the net took from the file of weights; None takes what the net knows of it.
    times
        Of `time_net`.
    plan, plan_times
        Of `summarise_plan` or of `time_plan`.
    """
    summary = summarise(net)
    places = [i for i, layer in enumerate(net.layers) if not is_split(layer.type, layer.name)]
    entries = [Entry(i, row) for i, row in zip(places, summary.layers)]
    if times is not None:
        each = 1000 / max(1, len(times.passes))
        both = any(back for _, back in times.passes)
        for entry in entries:
            entry.forward = times.forward[entry.place] * each
            entry.backward = times.backward[entry.place] * each if both else None
    if weights:
        for entry in entries:
            entry.weights = [
                (blob_name(i), statistics(np.asarray(blob.data)))
                for i, blob in enumerate(net.layers[entry.place].blobs)
            ]
    copied = copied or (net.copied[-1] if net.copied else None)
    title = summary.name or os.path.basename(model)
    parts = [
        head(net, summary, model, weights, times, plan_times),
        copied_part(copied), odd_weights(entries), graph_part(net, summary, entries, times), types_part(entries, times),
        plan_part(plan, plan_times), layers_part(entries, times), cards_part(net, entries),
    ]  # fmt: skip
    links = [
        ("graph-part", "Graph"),
        ("types", "By type"),
        ("plan", "Plan"),
        ("layers", "Layers"),
        ("cards", "Details"),
    ]
    whole = [part for part in parts if part]
    present = [(name, text) for name, text in links if any(f'<section id="{name}"' in part for part in whole)]
    kind = "times of" if times or plan_times else "the net"
    return page(title, f"{kind} {model}", whole, present)


def blob_name(i: int) -> str:
    """What a parameter is called here."""
    return f"parameter {i}"


def head(
    net: Net, summary: Summary, model: str, weights: str | None, times: Times | None, plan_times: PlanTimes | None
) -> str:
    """The numbers of the whole net, and what was looked at."""
    items = [
        ("layers", str(len(summary.layers))), ("parameters", count(summary.parameters)),
        ("multiply-adds of a forward", count(summary.macs)), ("to run it", size(net.memory.parts["process"])),
    ]  # fmt: skip
    if times is not None and times.passes:
        each = 1000 / len(times.passes)
        ahead, back = (sum(values) * each for values in zip(*times.passes))
        items.append(("forward, layer by layer", f"{ahead:.4g} ms"))
        if back:
            items.append(("backward", f"{back:.4g} ms"))
    if plan_times is not None and plan_times.passes:
        items.append(("forward by the plan", f"{1000 * sum(plan_times.passes) / len(plan_times.passes):.4g} ms"))
    about = [("model", model), ("weights", weights or "none"), ("phase", summary.phase)]
    about += [("inputs", named(net, summary.inputs)), ("outputs", named(net, summary.outputs))]
    if net.sources and net.sources.types:
        about.append(("without data", ", ".join(net.sources.types)))
    if times is not None or plan_times is not None:
        turns = len((times or plan_times).passes)  # type: ignore[union-attr]
        about += [("device", net.device.describe()), ("iterations", str(turns))]
    return tiles(items) + facts(about)


def named(net: Net, names: Sequence[str]) -> str:
    """Blobs with their shapes."""
    return ", ".join(f"{name} {shape_text(net.blobs[name].shape)}" for name in names) or "none"


def copied_part(copied: CopyReport | None) -> str:
    """What of the weights fitted."""
    if copied is None or not (copied.missing or copied.unused):
        return ""
    items = [
        ("copied to", f"{len(copied.matched)} layers"),
        ("missing in the file", ", ".join(copied.missing) or "none"),
    ]
    return f'<div class="warning">{facts([*items, ("unused from the file", ", ".join(copied.unused) or "none")])}</div>'


def odd_weights(entries: Sequence[Entry]) -> str:
    """The layers whose weights are not numbers, at the top, for a net with one gives nothing but such."""
    bad = [e.row.name for e in entries if any(stats.nans or stats.infinite for _, stats in e.weights)]
    if not bad:
        return ""
    shown = ", ".join(bad[:8]) + (f" and {len(bad) - 8} more" if len(bad) > 8 else "")
    return f'<p class="warning"><b class="bad">NaN or infinity</b> in the weights of {escape(shown)}</p>'


def graph_part(net: Net, summary: Summary, entries: Sequence[Entry], times: Times | None) -> str:
    """The graph, and the meaning of its colours."""
    whole = sum(entry.time for entry in entries)
    if times is not None and whole:
        cost = Cost({e.place: e.time / whole for e in entries}, "the time")
    else:
        cost = Cost({e.place: e.row.macs / summary.macs for e in entries} if summary.macs else {}, "the multiply-adds")
    numbers = {entry.place: i for i, entry in enumerate(entries)}
    graph = graph_of(net)
    if graph.boxes and not graph.root.items:
        words = (
            f"{len(graph.boxes):,} boxes and {len(graph.wires):,} wires, most of which go far: the graph is not drawn."
        )
        return section("Graph", f"<p>{words}</p>", "graph-part")
    drawn = draw(net, graph, cost, numbers)
    seen = {family(entry.row.type) for entry in entries}
    legend = "".join(
        f'<span><i class="strip {name}"></i>{text}</span>' for name, text in FAMILIES.items() if name in seen
    )
    tools = (
        '<div class="tools scripted" hidden>'
        '<button data-do="unfold">Unfold all</button><button data-do="fold">Fold all</button>'
        '<button data-do="fit">Fit</button><button data-do="larger" aria-label="larger">+</button>'
        '<button data-do="smaller" aria-label="smaller">&minus;</button></div>'
    )
    note = (
        f"Per cent and bars: share of {cost.name}. Numbers below a box: the shape of what it gives. "
        '<span class="scripted" hidden>A click on ▸ unfolds a block, on a box shows its layers.</span>'
    )
    return section("Graph", f'{tools}<div class="legend">{legend}</div>{drawn}', "graph-part", note)


@dataclass(frozen=True)
class Metric:
    """A column of numbers: of a layer, how they are written, the colour of their bars, and the words of a title."""

    head: str
    of: Callable[[Entry], float]
    show: Callable[[float], str]
    kind: str
    title: str


def metrics(entries: Sequence[Entry], times: Times | None) -> list[Metric]:
    """What layers are measured by."""
    matches = [
        Metric("parameters", lambda e: e.row.parameters, lambda v: f"{v:,.0f}", "params", "learned numbers"),
        Metric("multiply-adds", lambda e: e.row.macs, lambda v: f"{v:,.0f}", "macs", "of a forward pass"),
        Metric("memory", lambda e: e.row.bytes, size, "bytes", "that the tops add; none in place"),
    ]
    if times is not None:
        whole = sum(e.time for e in entries) or 1.0
        matches.append(
            Metric("forward ms", lambda e: e.forward or 0.0, "{:.3f}".format, "ahead", "mean of the iterations")
        )
        if any(e.backward is not None for e in entries):
            matches.append(
                Metric("backward ms", lambda e: e.backward or 0.0, "{:.3f}".format, "back", "mean of the iterations")
            )
        matches.append(Metric("share", lambda e: e.time / whole, "{:.1%}".format, "ahead", "of the time of all layers"))
    return matches


def metric_cells(groups: Sequence[Sequence[Entry]], known: Sequence[Metric]) -> list[list[tuple[str, float | None]]]:
    """The cells of some groups of layers; a bar is as long as its number is beside the largest of the column."""
    values = [[sum(map(metric.of, members)) for metric in known] for members in groups]
    most = [max(column, default=0.0) for column in zip(*values)]
    return [
        [
            (bar(value / top if top else 0.0, metric.show(value) if value else "", metric.kind), value)
            for value, top, metric in zip(row, most, known)
        ]
        for row in values
    ]


def metric_columns(known: Sequence[Metric]) -> list[Column]:
    """The heads of these cells."""
    return [Column(metric.head, bars=True, number=True, title=metric.title) for metric in known]


def types_part(entries: Sequence[Entry], times: Times | None) -> str:
    """Sums over the layers of each type, the most expensive first."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.row.type, []).append(entry)
    order = sorted(groups.items(), key=lambda item: [-sum(e.time for e in item[1]), -sum(e.row.macs for e in item[1])])
    known = metrics(entries, times)
    cells = metric_cells([members for _, members in order], known)
    rows = [
        ("", [(f"{swatch(kind)}{escape(kind)}", None), (str(len(members)), float(len(members))), *own])
        for (kind, members), own in zip(order, cells)
    ]
    heads = [Column("type"), Column("layers", number=True), *metric_columns(known)]
    return section("By layer type", table(heads, rows, "types"), "types")


def swatch(kind: str) -> str:
    """The colour of a layer type."""
    return f'<i class="strip {family(kind)}"></i>'


def layers_part(entries: Sequence[Entry], times: Times | None) -> str:
    """The table of the layers."""
    known = metrics(entries, times)
    rows = []
    for i, (entry, own) in enumerate(zip(entries, metric_cells([[entry] for entry in entries], known))):
        row = entry.row
        tops = "<br>".join(shape_text(shape) for shape in row.tops.values())
        link = f'<a href="#layer-{i}" data-cards="{i}">{escape(row.name)}</a>'
        rows.append(
            (
                "",
                [
                    (str(i + 1), float(i)),
                    (f"{swatch(row.type)}{escape(row.type)}", None),
                    (link, None),
                    (tops, None),
                    *own,
                ],
            )
        )
    heads = [Column("#", number=True), Column("type"), Column("name"), Column("top"), *metric_columns(known)]
    search = (
        '<p class="scripted" hidden><input type="search" data-filter="layers" placeholder="part of a name or a type" '
        'aria-label="filter"></p>'
    )
    note = (
        "Memory is of the tops' data; layers that work in place or share a bottom's memory add none."
        ' <span class="scripted" hidden>A click on a head sorts.</span>'
    )
    return section("Layers", search + table(heads, rows, "layers"), "layers", note)


def plan_part(plan: PlanSummary | None, times: PlanTimes | None) -> str:
    """The steps of a forward at TEST, with their times where they were taken."""
    if plan is None and times is None:
        return ""
    steps = times.steps if times is not None else plan.steps if plan is not None else []
    seconds = [1000 * value / max(1, len(times.passes)) for value in times.seconds] if times is not None else []
    most, whole = max(seconds, default=0.0) or 1.0, sum(seconds) or 1.0
    heads = [Column("#", number=True), Column("how"), Column("layers"), Column("top"), Column("lies in")]
    heads += [Column("ms", bars=True, number=True), Column("share", number=True)] if seconds else []
    rows = []
    for i, step in enumerate(steps):
        cells: list[tuple[str, float | None]] = [
            (str(i + 1), float(i)), (escape(step.what), None), (escape(" + ".join(step.layers)), None),
            (shape_text(step.shape), None), (escape(step.at), None),
        ]  # fmt: skip
        if seconds:
            value = seconds[i]
            cells += [(bar(value / most, f"{value:.3f}", "ahead"), value), (f"{value / whole:.1%}", value)]
        rows.append(("", cells))
    note = "At TEST a forward runs these steps, in which several layers may be one."
    if seconds:
        note += (
            " Each step was timed by itself, with a start and a wait of its own: their sum may be more than a forward."
        )
    if plan is not None:
        note += f" Left out: {escape(', '.join(plan.dropped) or 'none')}. Memory that values share: {size(plan.bytes)}."
    return section("Plan", table(heads, rows, "plan"), "plan", note)


def cards_part(net: Net, entries: Sequence[Entry]) -> str:
    """What is known of each layer, folded."""
    copies = originals(net)
    drawn = "weights' histograms, " if any(entry.weights for entry in entries) else ""
    note = (
        f"Shapes, {drawn}and the layer as the prototxt has it, after upgrades and defaults of data layers' stand-ins."
    )
    return section("Details", "\n".join(card(net, i, entry, copies) for i, entry in enumerate(entries)), "cards", note)


def card(net: Net, i: int, entry: Entry, copies: Mapping[str, str]) -> str:
    """What is known of one layer."""
    row, layer = entry.row, net.layers[entry.place]
    items = [(f"bottom {copies.get(name, name)}", shape_text(shape)) for name, shape in row.bottoms.items()]
    items += [(f"top {name}", shape_text(shape)) for name, shape in row.tops.items()]
    ahead, back = entry.forward or 0.0, entry.backward or 0.0
    numbers: list[tuple[str, float]] = [
        (f"{row.parameters:,} parameters", row.parameters), (f"{row.macs:,} multiply-adds", row.macs),
        (f"{size(row.bytes)} of memory", row.bytes), (f"forward {ahead:.3f} ms", ahead), (f"backward {back:.3f} ms", back),
    ]  # fmt: skip
    items += [("costs", ", ".join(text for text, value in numbers if value))] if any(v for _, v in numbers) else []
    if layer.blobs and not entry.weights:
        items.append(("weights", ", ".join(shape_text(blob.shape) for blob in layer.blobs)))
    about = weights_table(list(entry.weights)) if entry.weights else ""
    param = LayerParameter()
    param.CopyFrom(layer.param)
    param.bottom[:] = [copies.get(name, name) for name in param.bottom]
    return (
        f'<details class="card" data-card="{i}">'
        f"<summary>{swatch(row.type)}<b>{escape(row.name)}</b> {escape(row.type)}</summary>"
        f'<div id="layer-{i}">{facts(items)}{about}<pre>{escape(to_text(param).strip())}</pre></div></details>'
    )
