"""The verbs train and plot: a solver prototxt in, log lines, snapshots and curves out."""

from __future__ import annotations

import signal
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..layers.data.batches import BatchLayer
from ..proto.errors import BoxpressoError
from ..train import Solver
from ..train.log import glog
from ..train.progress import progress
from ..train.ranks import open_ranks


def train(args: Namespace) -> int:
    """Trains to max_iter. SIGINT ends it after the iteration with a snapshot, a second one at once; SIGHUP snapshots.

    Under mpirun this process is one rank of several: a signal to any of them counts for all, and the first one writes.
    """
    if args.weights and args.snapshot:
        raise BoxpressoError("--weights and --snapshot exclude each other: a snapshot names its own weights")
    ranks = open_ranks()
    with ranks.together():
        weights = args.weights.split(",") if args.weights else ()
        with warnings.catch_warnings():
            if ranks.rank:
                warnings.simplefilter("ignore", UserWarning)  # about files that rank 0 reads too
            solver = Solver(
                args.solver, weights=weights, device=args.device, deterministic=args.deterministic,
                python_layers=args.python_layers, ranks=ranks,
            )  # fmt: skip
        with signals(solver), progress(solver):
            run(solver, args.snapshot)
    return 0


def run(solver: Solver, snapshot: str | None) -> None:
    """Trains, with lines in the log about the device before and about the waiting after."""
    net, ranks = solver.net, solver.ranks
    log = glog if ranks.rank == 0 else lambda line: None
    log(f"Training on {net.device.name}: {net!r}")
    if ranks.size > 1:
        for line in ranks.describe(net.device.name):
            log(line)
    for report in net.copied:
        log(f"Copied {len(report.matched)} layers from {report.path}")
    begun = time.perf_counter()
    solver.solve(snapshot)
    lapse = time.perf_counter() - begun
    for layer in net.layers:
        if isinstance(layer, BatchLayer):
            log(
                f"{layer} kept the net waiting {layer.waited:.1%} of the time; {len(layer.broken)} broken records skipped"
            )
    if solver.reduction:
        sent, share = solver.reduction.bytes / 1e6, solver.reduction.waited / lapse
        log(f"{sent:.1f} MB of gradients an iteration kept rank 0 waiting for the other ranks {share:.1%} of the time")


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


def plot(args: Namespace) -> int:
    """Draws the curves of a log."""
    from ..train.curves import plot as draw

    print(f"drawn in {draw(args.log, args.out or args.log + '.png')}", file=sys.stdout)
    return 0
