"""The verbs train and plot: a solver prototxt in, log lines, snapshots and curves out."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .layers.core.batches import BatchLayer
from .net import Solver
from .net.solver import glog
from .proto.errors import BoxpressoError


def train(args: Namespace) -> int:
    """Trains to max_iter. SIGINT ends it after the iteration with a snapshot, a second one at once; SIGHUP snapshots."""
    if args.weights and args.snapshot:
        raise BoxpressoError("--weights and --snapshot exclude each other: a snapshot names its own weights")
    weights = args.weights.split(",") if args.weights else ()
    solver = Solver(
        args.solver, weights=weights, device=args.device, deterministic=args.deterministic,
        python_layers=args.python_layers,
    )  # fmt: skip
    glog(f"Training on {solver.net.device.name}: {solver.net!r}")
    for report in solver.net.copied:
        glog(f"Copied {len(report.matched)} layers from {report.path}")
    with signals(solver), progress(solver):
        solver.solve(args.snapshot)
    for layer in solver.net.layers:
        if isinstance(layer, BatchLayer):
            glog(f"{layer} kept the net waiting {layer.waited:.1%} of the time; {len(layer.broken)} broken records skipped")
    return 0


@contextmanager
def signals(solver: Solver) -> Iterator[None]:
    """SIGINT stops with a snapshot where there is a name for one, SIGHUP takes one, as `caffe train` does."""
    named = solver.param.HasField("snapshot_prefix")

    def interrupt(number: int, frame: Any) -> None:
        if solver.stopping:
            raise KeyboardInterrupt
        solver.log("Stopping after this iteration; interrupt again to stop at once.")
        solver.stop(snapshot=named)

    def hang_up(number: int, frame: Any) -> None:
        solver.snapshot_wanted = named

    kept = {signal.SIGINT: signal.signal(signal.SIGINT, interrupt)}
    if hasattr(signal, "SIGHUP"):
        kept[signal.SIGHUP] = signal.signal(signal.SIGHUP, hang_up)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def progress(solver: Solver) -> Iterator[None]:
    """On a terminal where `rich` is installed, a bar below the log: loss, rate, images a second, time left."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    images = solver.param.iter_size * next((b.shape[0] for b in solver.net.blobs.values() if b.shape), 1)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4g}  rate {task.fields[rate]:.3g}  {task.fields[speed]:.0f} images/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=solver.param.max_iter, loss=0.0, rate=0.0, speed=0.0)

        def show() -> None:
            speed = (bar.tasks[task].speed or 0) * images
            bar.update(task, completed=solver.iter + 1, loss=solver.smoothed_loss, rate=solver.rate, speed=speed)

        solver.add_callback(on_gradients=show)
        yield


def plot(args: Namespace) -> int:
    """Draws the curves of a log."""
    from .curves import plot as draw

    print(f"drawn in {draw(args.log, args.out or args.log + '.png')}", file=sys.stdout)
    return 0
