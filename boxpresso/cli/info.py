"""The verb info: the layers of a net, their shapes, parameters and costs."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..proto.errors import ModelError
from ..tables import places, table
from . import arguments
from .output import size

if TYPE_CHECKING:
    from ..graph.quantization import Quantization
    from ..net import Net
    from ..net.memory import Memory
    from ..net.weights import CopyReport
    from ..summary import PlanSummary, Summary


NAME = "info"
SHORT = "list layers, shapes, parameters and multiply-adds"
TEXT = """\
Show what a net is made of: its layers, the shapes of their tops, how many
numbers they learn and how many multiply-adds a forward pass takes. With WEIGHTS
also which layers the file fits. Neither its data nor a compiler is needed: tops
of data layers have the shapes that their fields give. --html also draws the net
as a graph, with histograms of its weights.
"""
EPILOG: str | None = None
FORWARDS = 4  # until a GPU has chosen layouts and captured its graphs


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=False)
    arguments.phase(parser)
    arguments.data(parser)
    parser.add_argument(
        "--plan", action="store_true", help="show the steps of a forward at TEST in place of the layers"
    )
    text = "run the net too, and say in which precision a forward is fastest here: float32, bf16, or with scales int8"
    parser.add_argument("--fastest", action="store_true", help=text)
    text = "with --plan, a GPU (cuda or cuda:N) that runs the net and whose plan is shown (default: cpu, which runs nothing)"
    parser.add_argument("--device", metavar="D", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    arguments.html(parser)


def run(args: Namespace) -> int:
    """Prints the layers of a net, their shapes, parameters and costs."""
    from ..net import Net
    from ..summary import summarise, summarise_plan
    from ..timing import timing_net

    if args.html:
        from ..reports import check_place, write_net_report

        check_place(args.html)
    if args.device not in (None, "cpu") and not args.plan:
        raise ModelError("info runs nothing, and needs no GPU: --device is for --plan")
    if args.fastest and args.device not in (None, "cpu"):
        raise ModelError("--fastest is for the CPU")
    options: dict[str, Any] = {"phase": args.phase, "level": args.level, "stages": args.stage}
    options |= {**arguments.of_data(args), **arguments.of_net(args)}
    on_gpu = args.plan and args.device not in (None, "cpu")
    if on_gpu:
        net = timing_net(args.model, backward=False, device=args.device, **options)
    else:
        net = Net(args.model, device="cpu", lazy=True, precision="fastest" if args.fastest else None, **options)
    report = net.copy_from(args.weights) if args.weights else None
    for _ in range(FORWARDS if on_gpu else int(args.fastest)):
        net.forward()
    plan = summarise_plan(net) if args.plan else None
    if args.html:
        write_net_report(args.html, net, model=args.model, weights=args.weights, copied=report, plan=plan)
    if args.plan:
        print_plan(plan, net, args)
    else:
        print_summary(summarise(net), report, net, args)
    if args.html and not args.json:
        print(f"\nreport in {args.html}")
    return 0


def print_summary(summary: Summary, report: CopyReport | None, net: Net, args: Namespace) -> None:
    """The layers, as JSON or as a table."""
    if args.json:
        print_json(summary, report, net)
    else:
        print_table(summary, report, net, args.model)


def print_plan(plan: PlanSummary | None, net: Net, args: Namespace) -> None:
    """The steps of a plan."""
    if plan is None:
        print(f"{net.name or args.model}: runs layer by layer, it has no plan: those are of phase TEST")
        return
    if args.json:
        print(json.dumps(asdict(plan), indent=2))
        return
    cells = [
        (row.what, " + ".join(row.layers), " x ".join(map(str, row.shape)) or "one number", row.at)
        for row in plan.steps
    ]
    print(f"{net.name or args.model}: {len(net.layers)} layers in {len(plan.steps)} steps, phase {net.phase}\n")
    print("\n".join(table(("how", "layers", "top", "lies in"), cells, "<<<<")))
    print(f"\nleft out: {', '.join(plan.dropped) or 'none'}")
    print(f"memory that values share: {size(plan.bytes)}")
    for line in plan.layouts:
        print(f"layout: {line}")


WHAT = {
    "parameters": "learned numbers",
    "gradients": "of parameters and blobs",
    "blobs": "data of tops and values that a forward keeps",
    "packed": "weights as convolutions and products read them",
    "scratch": "what layers keep for themselves",
    "code": "modules and compiled kernels, about",
}


def print_needs(memory: Memory) -> None:
    """What a net takes to run, part by part."""
    from ..net.memory import CODE

    parts = {**memory.parts, "code": CODE}
    more = "; a solver adds its history" if memory.diffs else ""
    print(f"needs {size(memory.total + CODE)} to run, {size(memory.total)} of them in arrays{more}")
    rows = [(f"  {name}", size(parts[name]), meaning) for name, meaning in WHAT.items() if parts[name]]
    print("\n".join(table(("", "", ""), rows, "<><")[-len(rows) :]))


def print_json(summary: Summary, report: CopyReport | None, net: Net) -> None:
    """The summary, and what WEIGHTS fits, as JSON."""
    whole = asdict(summary) | {"memory": net.memory.parts}
    if report:
        whole["weights"] = asdict(report)
    if net.precision_times:
        whole["fastest"] = net.precision_times
    if net.quantization:
        whole["int8"] = json.loads(net.quantization.to_text())
    print(json.dumps(whole, indent=2))


def print_table(summary: Summary, report: CopyReport | None, net: Net, model: str) -> None:
    """The summary as a table, and what WEIGHTS fits."""
    stood_in = net.sources.types if net.sources else {}
    cells = [
        (
            stood_in.get(row.name, row.type),
            row.name,
            ", ".join(" x ".join(map(str, shape)) or "one number" for shape in row.tops.values()),
            f"{row.parameters:,}" if row.parameters else "",
            f"{row.macs:,}" if row.macs else "",
            size(row.bytes) if row.bytes else "",
        )
        for row in summary.layers
    ]
    print(f"{summary.name or model}: {len(summary.layers)} layers, phase {summary.phase}")
    if stood_in:
        print(f"without data: {', '.join(stood_in)} (--data read opens it)")
    print(f"inputs: {', '.join(net.inputs) or 'none'}; outputs: {', '.join(net.outputs) or 'none'}\n")
    total = ("total", "", "", f"{summary.parameters:,}", f"{summary.macs:,}", size(summary.bytes))
    lines = table(("type", "name", "top", "parameters", "multiply-adds", "memory"), [*cells, total], "<<<>>>")
    print("\n".join([*lines[:-1], "-" * max(map(places, lines)), lines[-1]]))
    print("\nmemory: of the tops' data; layers that work in place or share a bottom's memory add none")
    print_needs(net.memory)
    if report:
        print(f"\n{report.path}")
        print(f"  copied to {len(report.matched)} layers")
        print(f"  missing in the file: {', '.join(report.missing) or 'none'}")
        print(f"  unused from the file: {', '.join(report.unused) or 'none'}")
    if net.quantization:
        print_scales(net.quantization)
    if net.precision_times:
        first, *others = (f"{kind} ({ms:.3g} ms)" for kind, ms in net.precision_times.items())
        print(f"fastest here: {first}; {', '.join(others) or 'nothing else was measured'}")


def print_scales(scales: Quantization) -> None:
    """Which layers run in 8 bits, and what was measured when they were chosen."""
    chosen = scales.chosen
    print(f"in 8 bits: {len(chosen)} of {len(scales.layers)} layers that can: {', '.join(chosen) or 'none'}")
    others: dict[str, list[str]] = {}
    for name, note in scales.layers.items():
        if name not in set(chosen):
            others.setdefault(note.why or "no reason is kept", []).append(name)
    for why, names in others.items():
        print(f"  in float32, {why}: {', '.join(names)}")
    notes = scales.notes
    if {"lost", "lost_of", "pictures"} <= notes.keys():
        print(f"  lost {notes['lost']:.5f} of {notes['lost_of']}, on {notes['pictures']} pictures")
    if {"ms", "machine"} <= notes.keys():
        print(f"  a forward took {notes['ms'][1]:.2f} ms, and {notes['ms'][0]:.2f} in float32 ({notes['machine']})")
