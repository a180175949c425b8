"""The verb time: how long each layer takes, forward and backward, or each step of a plan."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..tables import table
from . import arguments

if TYPE_CHECKING:
    from ..net import Net
    from ..timing import PlanTimes, Times

NAME = "time"
SHORT = "time each layer, forward and backward"
TEXT = """\
Time each layer, forward and backward, as `caffe time` does, with random inputs,
and sum the times by layer type. Data layers give random values too, unless
--data read opens their data. A net without a loss gets its gradients as if its
prototxt said `force_backward: true`.

The layers are run one by one. At TEST a net's own forward runs by a plan, in
which several layers are one step (`boxpresso info --plan`): --plan times that
forward, and its steps.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=False)
    add = parser.add_argument
    text = "how often to run it (default: 50)"
    add("--iterations", metavar="N", type=arguments.positive, default=50, help=text)
    both = parser.add_mutually_exclusive_group()
    both.add_argument("--backward", action="store_true", default=True, help="time both passes (the default)")
    both.add_argument("--forward-only", dest="backward", action="store_false", help="time the forward pass alone")
    both.add_argument("--plan", action="store_true", help="time the forward by the plan of a net at TEST, step by step")
    add("--sort", action="store_true", help="the most expensive first, with shares (default: in the order of the net)")
    arguments.html(parser)
    arguments.phase(parser)
    arguments.data(parser)
    arguments.device(parser)


def run(args: Namespace) -> int:
    """Prints what `caffe time` prints: the average times of each layer, and of the net; then sums by type."""
    from ..timing import time_net, time_plan, timing_net

    if args.html:
        from ..reports import check_place, write_net_report

        check_place(args.html)
    backward = args.backward and not args.plan
    net = timing_net(
        args.model, args.weights, backward=backward, device=args.device, phase=args.phase, level=args.level,
        stages=args.stage, **arguments.of_data(args), **arguments.of_net(args),
    )  # fmt: skip
    if net.sources and net.sources.types:
        print(f"Without data: {', '.join(net.sources.types)} (--data read opens it)")
    kind = "forward-backward" if backward else "forward"
    print(f"*** Benchmark begins *** ({net.device.describe()})")
    print(f"Testing for {args.iterations} iterations.", flush=True)

    def show(i: int, seconds: float) -> None:
        print(f"Iteration: {i} {kind} time: {1000 * seconds:.4g} ms.", flush=True)

    layers = plan = None
    if args.plan:
        plan = time_plan(net, args.iterations, report=show)
        print_plan(plan, args)
    else:
        layers = time_net(net, args.iterations, backward=backward, report=show)
        print_layers(layers, args)
        print_types(layers, args, net)
    if args.html:
        write_net_report(args.html, net, model=args.model, weights=args.weights, times=layers, plan_times=plan)
        print(f"report in {args.html}")
    return 0


def print_layers(times: Times, args: Namespace) -> None:
    """The times of the layers, in Caffe's words; with --sort the most expensive first, each with its share."""
    each = 1000 / args.iterations
    width = max(map(len, times.names), default=0)
    print("Average time per layer:")
    for i in times.order() if args.sort else range(len(times.names)):
        share = f"\t{times.share(i):.1%}" if args.sort else ""
        print(f"{times.names[i]:>{width}}\tforward: {times.forward[i] * each:.4g} ms.{share}")
        if args.backward:
            print(f"{times.names[i]:>{width}}\tbackward: {times.backward[i] * each:.4g} ms.")
    ahead, back = (sum(values) * each for values in zip(*times.passes))
    print(f"Average Forward pass: {ahead:.4g} ms.")
    if args.backward:
        print(f"Average Backward pass: {back:.4g} ms.")
        print(f"Average Forward-Backward: {times.total * each:.4g} ms.")
    print(f"Total Time: {1000 * times.total:.4g} ms.")
    print("*** Benchmark ends ***")


def print_types(times: Times, args: Namespace, net: Net) -> None:
    """The sums by layer type, and what was timed."""
    each = 1000 / args.iterations
    head, align = ["type", "layers", "forward ms", "share"], "<>>>"
    if args.backward:
        head, align = ["type", "layers", "forward ms", "backward ms", "share"], "<>>>>"
    cells = []
    for row in times.by_type():
        back = [milliseconds(row.backward * each)] if args.backward else []
        share = (row.forward + row.backward) / times.whole if times.whole else 0.0
        cells.append((row.type, str(row.layers), milliseconds(row.forward * each), *back, f"{share:.1%}"))
    print("\nTime by layer type, the most expensive first:\n")
    print("\n".join(table(head, cells, align)))
    if net.phase == "TEST":
        print("\nTimed: the layers one by one. A net at TEST runs by a plan, in which several")
        print("layers are one step; `boxpresso time --plan` times that.")


def print_plan(times: PlanTimes, args: Namespace) -> None:
    """The times of the steps of a plan, and of the forward that runs them together."""
    each = 1000 / args.iterations
    order: Sequence[int] = times.order() if args.sort else range(len(times.steps))
    cells = [
        (milliseconds(times.seconds[i] * each), f"{times.share(i):.1%}", times.steps[i].what, " + ".join(times.steps[i].layers))
        for i in order
    ]  # fmt: skip
    print("Average time per step of the plan:")
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    print("\n".join(shorten(line, room) for line in table(("ms", "share", "how", "layers"), cells, ">><<")))
    print(f"Average of the steps one by one: {sum(times.seconds) * each:.4g} ms.")
    print(f"Average Forward pass: {sum(times.passes) * each:.4g} ms.")
    print(f"Total Time: {1000 * sum(times.passes):.4g} ms.")
    print("*** Benchmark ends ***")
    for line in times.layouts:
        print(f"layout: {line}")
    print("\nTimed: forward passes by the net's plan; then each step by itself, with a start")
    print("and a wait of its own, so that the steps' sum may be more than a forward.")


def milliseconds(value: float) -> str:
    """Milliseconds with as many digits as are of use in a column.

    >>> milliseconds(123.456), milliseconds(0.01234)
    ('123.456', '0.012')
    """
    return f"{value:.3f}"


def shorten(line: str, room: int) -> str:
    """A line that fits a terminal of `room` columns; 0 is no limit.

    >>> shorten("conv1 + relu1", 10), shorten("conv1 + relu1", 0)
    ('conv1 +...', 'conv1 + relu1')
    """
    return line if not room or len(line) <= room else line[: room - 3] + "..."
