"""The verb train: a solver prototxt in, log lines and snapshots out."""

from __future__ import annotations

import importlib.util
import shlex
import signal
import time
import warnings
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..proto.errors import BoxpressoError
from . import arguments

if TYPE_CHECKING:
    from ..recipes.training import Project
    from ..train import Solver


NAME = "train"
SHORT = "train a net from a solver prototxt, or from a folder of pictures"
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

With FOLDER in the place of --solver nothing else is needed. A folder that
`boxpresso new` wrote is trained, from its newest snapshot. For a folder of
pictures with annotations one is written first (NAME_ssd_small: a small SSD,
which learns from nothing; `boxpresso new` has other nets, sizes and weights to
start from). Afterwards the best weights are tested, and a report is written.
"""
EPILOG = """\
examples:
  boxpresso train --solver solver.prototxt --weights vgg.caffemodel \\
    --log train.log
  boxpresso train photos --minutes 30
  boxpresso train --solver solver.prototxt --find-lr
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("folder", metavar="FOLDER", nargs="?", help="pictures with annotations, or what `boxpresso new` wrote of them")
    add("--solver", metavar="SOLVER", help="the solver prototxt")
    text = "for a folder that is trained for the first time: as many iterations as fit into M minutes on this machine"
    add("--minutes", metavar="M", type=minutes, help=text)
    add("--weights", metavar="FILES", help="weights to start from: .caffemodel or .h5, several with commas")
    add("--snapshot", metavar="FILE", help="continue from this .solverstate")
    text = "as --snapshot; auto: the newest whole snapshot of snapshot_prefix, if there is any"
    add("--resume", metavar="FILE", help=text, dest="resume")
    text = "write the log there too, and its numbers as a table beside it, .csv (a resumed training continues both)"
    add("--log", metavar="FILE", help=text)
    text = "write the numbers there for TensorBoard (pip install 'boxpresso[tensorboard]')"
    add("--tensorboard", metavar="FOLDER", help=text)
    text = (
        "show the curves on http://127.0.0.1:PORT/ while training runs (default: 8090; pip install 'boxpresso[serve]')"
    )
    add("--web", metavar="PORT", type=port, nargs="?", const=8090, help=text)
    text = "keep the weights of the best test as SNAPSHOT_PREFIX_best.caffemodel (default: yes)"
    add("--best", action=BooleanOptionalAction, default=True, help=text)
    text = "end after N tests without a better one, with a snapshot"
    add("--patience", metavar="N", type=arguments.positive, help=text)
    text = "bf16: factors of convolutions and of their gradients in bfloat16, on CPUs that multiply it"
    text += " (default: float32; for a FOLDER the faster of both)"
    add("--precision", choices=("float32", "bf16"), help=text)
    text = "train some iterations at growing rates, suggest one, and write nothing but a picture beside SOLVER"
    add("--find-lr", action="store_true", help=text)
    add("--allow-nan", action="store_true", help="go on when the loss is no longer a number")
    add("--deterministic", action="store_true", help="bitwise identical results on every run, on a GPU too")
    arguments.python_layers(parser)
    arguments.memory(parser, "everywhere")
    arguments.device(parser)


def minutes(text: str) -> float:
    """A number of minutes, above 0."""
    value = arguments.number(text)
    if not 0 < value < 1e6:
        raise ArgumentTypeError(f"{text!r} is not a number of minutes")
    return value


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
    from ..train.nets import weight_files
    from ..train.progress import Watch, progress
    from ..train.ranks import open_ranks
    from ..train.rows import TensorBoard
    from ..train.web import need_packages, page

    if bool(args.folder) == bool(args.solver):
        raise arguments.WrongUse("give a FOLDER, or --solver" + " and not both" * bool(args.folder))
    if args.minutes and not args.folder:
        raise BoxpressoError("--minutes is for a FOLDER; max_iter of the solver prototxt says how long it trains")
    if args.snapshot and args.resume:
        raise BoxpressoError("--snapshot and --resume exclude each other: both name the snapshot to continue from")
    resume = args.snapshot or args.resume
    if args.weights and resume and resume != "auto":
        raise BoxpressoError("--weights and --snapshot (--resume) exclude each other: a snapshot names its own weights")
    if args.web and not args.find_lr:
        need_packages()
    ranks = open_ranks()
    if args.find_lr and ranks.size > 1:
        raise BoxpressoError("--find-lr is for one process")
    with ranks.together(), ExitStack() as open_ones:
        project = None
        if args.folder:  # one rank writes its project, or finds it
            project = prepared(args) if ranks.rank == 0 else None
            chosen = args.solver, args.log, args.resume, args.precision
            args.solver, args.log, args.resume, args.precision = ranks.common(chosen)
            resume = args.snapshot or args.resume
        if args.find_lr:
            return find_lr(args)
        weights = weight_files(args.weights) if args.weights else ()
        with warnings.catch_warnings():
            if ranks.rank:
                warnings.simplefilter("ignore", UserWarning)  # about files that rank 0 reads too
            solver = Solver(
                args.solver, weights=weights, device=args.device, deterministic=args.deterministic,
                reproducible=args.reproducible, python_layers=args.python_layers, ranks=ranks, allow_nan=args.allow_nan,
                write_below=args.write_below or None, memory_limit=args.memory_limit, keep_best=args.best,
                patience=args.patience, precision=args.precision,
            )  # fmt: skip
        sinks = [TensorBoard(args.tensorboard)] if args.tensorboard and ranks.rank == 0 else []
        watch = Watch(solver, args.log, again=bool(resume), sinks=sinks)
        open_ones.callback(watch.close)
        if args.web and ranks.rank == 0:
            open_ones.enter_context(page(watch, args.web))
        open_ones.enter_context(signals(solver))
        open_ones.enter_context(progress(solver, watch))
        solve(solver, resume)
        ended = solver.iter >= solver.param.max_iter or bool(solver.best and solver.best.enough)
    if project is None:
        return 0
    if not ended:
        print(f"to go on: boxpresso train {shlex.quote(args.folder)}")
        return 0
    return tested(project, solver, args)


def find_lr(args: Namespace) -> int:
    """Prints losses by rate and a suggestion, and draws them where matplotlib is installed."""
    from ..tables import table
    from ..train.nets import weight_files
    from ..train.rate_range import find_rate
    from .output import progress

    if args.snapshot or (args.resume and args.resume != "auto"):
        raise BoxpressoError("--find-lr starts with the solver's weights or --weights, not from a snapshot")
    rate_range = find_rate(
        args.solver, tell=progress("train: rates"), weights=weight_files(args.weights) if args.weights else (),
        device=args.device, deterministic=args.deterministic, reproducible=args.reproducible,
        python_layers=args.python_layers, memory_limit=args.memory_limit, precision=args.precision,
    )  # fmt: skip
    print(*table(("rate", "loss", "smoothed"), rate_range.rows(), ">>>"), "", sep="\n")
    print(f"suggested base_lr: {rate_range.rate:.2g} (the solver has {rate_range.own:g})")
    if importlib.util.find_spec("matplotlib"):
        print(f"drawn in {rate_range.draw(Path(args.solver).with_suffix('.rates.png'))}")
    return 0


def prepared(args: Namespace) -> Project:
    """Finds or writes the project of FOLDER, says so, and makes it what is trained."""
    from ..recipes.training import faster, fit, project_of, sized, usual_plan
    from .new import describe, warn_of
    from .output import progress as progress_of
    from .output import warn

    if args.weights:
        raise BoxpressoError(
            "--weights: a folder starts from weights by `boxpresso new ssd --weights FILE --data FOLDER`"
        )
    shown: dict[str, Callable[[int, int], None]] = {}

    def tell(step: str, done: int, all: int) -> None:
        shown.setdefault(step, progress_of(f"new: {step}"))(done, all)

    project = project_of(Path(args.folder), tell)
    share = 1.0  # of an iteration's time, with bfloat16
    if args.precision is None and not args.reproducible:
        args.precision, share = faster(project.solver, args.device)
    if args.minutes:
        project = sized(project, args.minutes, args.device, tell=tell, precision=args.precision)
    if project.made is not None:
        warn_of(project.made)
        print("\n".join(describe(project.made)[:-3]), flush=True)
    else:
        print(
            f"{project.folder}: its newest snapshot is gone on from" if project.begun else f"{project.folder}",
            flush=True,
        )
        if newer := project.newer():
            warn(
                f"{newer} of the files of {project.data} are newer than {project.folder}, made of those of before: to read "
                f"them, train after `boxpresso new ssd --backbone small --data {shlex.quote(str(project.data))} --force`"
            )
    if args.minutes and (project.begun or usual_plan(project)[0] is None):
        warn(f"--minutes is for the first training of a folder: {project.solver} has its own schedule")
    elif args.minutes:
        plan = fit(project, args.minutes, args.device, precision=args.precision)
        mosaic = project.made.wish.augmentation.get("mosaic", 0) if project.made else 0
        more = f"; {mosaic:.0%} of the pictures are mosaics of four" if mosaic else ""
        words = f"{args.minutes:g} minutes: {plan.iterations} iterations, a test every {plan.test_interval}{more}"
        print(words, flush=True)
    if share < 1:
        print(
            f"convolutions in bfloat16: an iteration takes {share:.0%} of its time in float32"
            if args.precision
            else f"convolutions in float32: bfloat16 would take {share:.0%} of the time",
            flush=True,
        )
    args.solver, args.log = str(project.solver), args.log or str(project.folder / "train.log")
    args.resume = args.resume or (None if args.snapshot else "auto")
    return project


def tested(project: Project, solver: Solver, args: Namespace) -> int:
    """Tests the weights of a project, on its test pictures as files where they were given, and writes a report."""
    from . import test

    folder, prefix = project.folder, Path(solver.param.snapshot_prefix)
    best, last = (prefix.with_name(f"{prefix.name}_{end}.caffemodel") for end in ("best", f"iter_{solver.iter}"))
    weights = str(best if args.best and best.exists() else last)
    if project.data is None:
        words = [str(folder / "test.prototxt"), weights, "--iterations", str(solver.param.test_iter[0])]
    else:
        words = [
            str(folder / "deploy.prototxt"),
            weights,
            "--data",
            str(project.data),
            "--set",
            str(folder / "test.txt"),
        ]
    labels = str(folder / "labelmap.prototxt")
    words += ["--labels", labels, "--html", str(folder / "report.html")]
    words += ["--device", args.device] if args.device else []
    print(f"\n{weights}:", flush=True)
    parser = ArgumentParser()
    test.add_arguments(parser)
    status = test.run(parser.parse_args(words, Namespace(words=["test", *words])))
    detect = ("boxpresso", "detect", str(folder / "deploy.prototxt"), weights, "PICTURE", "--labels", labels)
    print(f"in a picture:\n  {shlex.join(detect)}")
    return status


def solve(solver: Solver, snapshot: str | None) -> None:
    """Trains, with lines in the log about the device before and about the waiting after."""
    from ..layers.data.batches import BatchLayer
    from ..train.evaluation import protocol

    net, ranks, log = solver.net, solver.ranks, solver.log
    log(f"Training on {net.device.name}: {net!r}")
    if solver.param.eval_type == "detection":
        for number, tested in enumerate(solver.test_nets):
            log(f"mAP of test net #{number}: {protocol(tested, solver.param)}")
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
