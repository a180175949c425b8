"""The verb train: a solver prototxt in, log lines and snapshots out."""

from __future__ import annotations

import signal
import time
import warnings
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from ..proto.errors import BoxpressoError
from . import arguments

if TYPE_CHECKING:
    from ..train import Solver


NAME = "train"
SHORT = "train a net from a solver prototxt"
TEXT = """\
Train a net, with Caffe's solver files, log lines and snapshots. The log goes to
standard error: losses, learning rate, test results such as the mAP, images a
second and the time left; --log keeps it in a file too, --web shows its curves
in a browser, and `boxpresso plot LOG --follow` draws them as they grow.

Ctrl-C ends training after the iteration with a snapshot; a hang-up signal takes
one and goes on; a termination signal, an error and a loss of nan end training
with a snapshot of the last complete iteration.
`mpirun -n N boxpresso train ..` trains with N processes, each on its own share
of the data and its own device.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("--solver", metavar="SOLVER", required=True, help="the solver prototxt")
    add("--weights", metavar="FILES", help="weights to start from: .caffemodel or .h5, several with commas")
    add("--snapshot", metavar="FILE", help="continue from this .solverstate")
    text = "as --snapshot; auto: the newest whole snapshot of snapshot_prefix, if there is any"
    add("--resume", metavar="FILE", help=text, dest="resume")
    add("--log", metavar="FILE", help="write the log there too (a resumed training continues it)")
    text = (
        "show the curves on http://127.0.0.1:PORT/ while training runs (default: 8090; pip install 'boxpresso[serve]')"
    )
    add("--web", metavar="PORT", type=port, nargs="?", const=8090, help=text)
    text = "keep the weights of the best test as SNAPSHOT_PREFIX_best.caffemodel (default: yes)"
    add("--best", action=BooleanOptionalAction, default=True, help=text)
    text = "end after N tests without a better one, with a snapshot"
    add("--patience", metavar="N", type=arguments.positive, help=text)
    add("--allow-nan", action="store_true", help="go on when the loss is no longer a number")
    add("--deterministic", action="store_true", help="bitwise identical results on every run, on a GPU too")
    arguments.python_layers(parser)
    arguments.memory(parser, "everywhere")
    arguments.device(parser)


def port(text: str) -> int:
    """The number of a port."""
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"{text!r} is not a port, a number from 1 to 65535")
    return int(text)


def run(args: Namespace) -> int:
    """Trains to max_iter. SIGINT ends it after the iteration with a snapshot, a second one at once; SIGHUP snapshots.

    Under mpirun this process is one rank of several: a signal to any of them counts for all, and the first one writes.
    """
    from ..train import Solver
    from ..train.progress import Watch, progress
    from ..train.ranks import open_ranks
    from ..train.web import need_packages, page

    if args.snapshot and args.resume:
        raise BoxpressoError("--snapshot and --resume exclude each other: both name the snapshot to continue from")
    resume = args.snapshot or args.resume
    if args.weights and resume and resume != "auto":
        raise BoxpressoError("--weights and --snapshot (--resume) exclude each other: a snapshot names its own weights")
    if args.web:
        need_packages()
    ranks = open_ranks()
    with ranks.together(), ExitStack() as open_ones:
        weights = args.weights.split(",") if args.weights else ()
        with warnings.catch_warnings():
            if ranks.rank:
                warnings.simplefilter("ignore", UserWarning)  # about files that rank 0 reads too
            solver = Solver(
                args.solver, weights=weights, device=args.device, deterministic=args.deterministic,
                reproducible=args.reproducible, python_layers=args.python_layers, ranks=ranks, allow_nan=args.allow_nan,
                write_below=args.write_below or None, memory_limit=args.memory_limit, keep_best=args.best,
                patience=args.patience,
            )  # fmt: skip
        watch = Watch(solver, args.log, again=bool(resume))
        open_ones.callback(watch.close)
        if args.web and ranks.rank == 0:
            open_ones.enter_context(page(watch, args.web))
        open_ones.enter_context(signals(solver))
        open_ones.enter_context(progress(solver, watch))
        solve(solver, resume)
    return 0


def solve(solver: Solver, snapshot: str | None) -> None:
    """Trains, with lines in the log about the device before and about the waiting after."""
    from ..layers.data.batches import BatchLayer

    net, ranks, log = solver.net, solver.ranks, solver.log
    log(f"Training on {net.device.name}: {net!r}")
    if ranks.size > 1:
        for line in ranks.describe(net.device.name):
            log(line)
    if solver.reduction:
        log(f"Gradients are summed {solver.reduction.sums.how}")
    for report in net.copied:
        log(f"Copied {len(report.matched)} layers from {report.path}")
    start = time.perf_counter()
    solver.solve(snapshot)
    lapse = time.perf_counter() - start
    if solver.best and (summary := solver.best.summary()):
        log(summary)
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
    """SIGINT stops with a snapshot where there is a name for one, SIGHUP takes one, as `caffe train` does.

    SIGTERM ends training at once, or after an update in progress, with a snapshot of the last complete iteration: those who
    send it (docker, SLURM, systemd) wait for some seconds only. Of several ranks, `Ranks.together` handles it.
    """
    from ..train.ranks import Terminated

    named = solver.param.HasField("snapshot_prefix")

    def interrupt(number: int, frame: FrameType | None) -> None:
        if solver.stopping:
            raise KeyboardInterrupt
        solver.log("Stopping after this iteration; interrupt again to stop at once.")
        solver.stop(snapshot=named)

    def hang_up(number: int, frame: FrameType | None) -> None:
        solver.snapshot_wanted = named

    def terminate(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
        solver.ranks.terminated = True  # seen after the next update where the error below is lost, as in a finalizer
        if not (solver.ranks.updating or solver.ranks.ending):
            raise Terminated(128 + signal.SIGTERM)

    handlers = {signal.SIGINT: signal.signal(signal.SIGINT, interrupt)}
    if solver.ranks.size == 1:
        handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, terminate)
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, hang_up)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
