"""What `boxpresso detect --engine ray` costs beside the bare loop, in whole runs over the same files by as many processes.

    python benchmarks/many.py [MODEL WEIGHTS] [--tiny] [--workers N] [--batch N] [--part N] [--few N] [--many N] [--rounds N]

The bare loop is what one would write without an engine: as many processes as there are workers, with one thread each, take
their share of the files in a loop of `detector.batch(paths)`; they count the detections and write nothing. The engine is the
command, which lists the files, decides who takes which, reads ahead and writes Parquet; its scheduler shares the processors.

Both are run over --few and over --many files, and timed from the start of the first process to the end of the last.
A picture costs the difference of the two times, divided by that of the numbers of files: what a run costs once (imports,
loading, the start and end of a cluster) is in both, and goes out; so does what the workers that end first wait for the last, as
long as --few is several parts for each. The engine has 95 % of the loop's throughput where `loop / ray` is 0.95. Nothing of
this holds on a machine that has other work: Ray's workers are given no lower priority here (it gives them 15), but the threads
that read ahead take more of such a machine.

Without MODEL it is examples/shapes on pictures of 300 x 300; --tiny takes the smallest net that detects, on pictures of
96 x 96, where the engine costs the largest part.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

DISTINCT = 61  # pictures, under many names; no multiple of the number of processes, so that all have the same to do


class Run(NamedTuple):
    """A whole run: its seconds, and the detections that it counted."""

    seconds: float
    detections: int


def write_pictures(folder: Path, count: int, pixels: int) -> None:
    """Scenes of so many pixels a side: a file each for the first DISTINCT, then links to these."""
    from examples.shapes.scenes import scene

    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:06}.jpg"
        if number < DISTINCT:
            scene(number, pixels)[0].save(path, quality=90)
        else:
            path.hardlink_to(folder / f"{number % DISTINCT:06}.jpg")


def loop(model: Sequence[str], folder: str, batch: int, first: int, step: int) -> int:
    """The bare loop of one process over each step-th file: how many detections."""
    from boxpresso import Detector

    detector = Detector(*model, device="cpu")
    paths = sorted(str(path) for path in Path(folder).iterdir())[first::step]
    return sum(
        len(boxes) for start in range(0, len(paths), batch) for boxes in detector.batch(paths[start : start + batch])
    )


def whole(commands: Sequence[Sequence[str]]) -> Run:
    """Runs commands at once, until the last has ended; each prints its detections first in its last line."""
    begun = time.perf_counter()
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for words in commands]
    said = [each.communicate() for each in running]
    seconds = time.perf_counter() - begun
    for each, (_, errors) in zip(running, said):
        if each.returncode:
            raise SystemExit(errors)
    return Run(seconds, sum(int(lines.splitlines()[-1].split()[0]) for lines, _ in said))


def bare_run(model: Sequence[str], folder: Path, args: argparse.Namespace) -> Run:
    """The loop, by a process for each worker."""
    own = [sys.executable, __file__, *model, "--batch", str(args.batch), "--workers", str(args.workers)]
    return whole([[*own, "--loop", str(folder), "--first", str(number)] for number in range(args.workers)])


def ray_run(model: Sequence[str], folder: Path, args: argparse.Namespace) -> Run:
    """The command."""
    words = {"engine": "ray", "workers": args.workers, "batch": args.batch, "part": args.part, "device": "cpu"}
    options = [text for name, value in words.items() for text in (f"--{name}", str(value))]
    with tempfile.TemporaryDirectory() as out:
        return whole([[sys.executable, "-m", "boxpresso", "detect", *model, str(folder), *options, "--out", out]])


def measure(model: Sequence[str], few: Path, many: Path, args: argparse.Namespace) -> None:
    """Prints a row a round: milliseconds a picture of both ways, which take turns in being first, and their ratio."""
    ways = {"loop": bare_run, "ray": ray_run}
    ratios = []
    print("ms a picture     loop      ray   loop / ray")
    for number in range(args.rounds):
        cost, counted = {}, set()
        for name in sorted(ways, reverse=bool(number % 2)):
            first, last = (ways[name](model, folder, args) for folder in (few, many))
            cost[name] = 1000 * (last.seconds - first.seconds) / (args.many - args.few)
            counted.add((first.detections, last.detections))
        if len(counted) > 1:
            raise SystemExit(f"the two differ in their detections: {sorted(counted)}")
        ratios.append(cost["loop"] / cost["ray"])
        print(f"round {number + 1:<6}{cost['loop']:9.3f}{cost['ray']:9.3f}{ratios[-1]:13.3f}", flush=True)
    print(f"median{statistics.median(ratios):37.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="MODEL WEIGHTS")
    parser.add_argument("--tiny", action="store_true", help="the smallest net, on pictures of 96 x 96")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--part", type=int, default=500, help="pictures in a part")
    parser.add_argument("--few", type=int, default=2000, help="files of the short run")
    parser.add_argument("--many", type=int, default=14000, help="files of the long one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loop", metavar="FOLDER", help=argparse.SUPPRESS)  # what bare_run begins
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.loop:
        print(loop(args.model, args.loop, args.batch, args.first, args.workers))
        return
    # the workers of both have one thread, and the same priority
    os.environ.update(BOXPRESSO_THREADS="1", RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # Ray's workers
    os.environ.pop("RAY_ADDRESS", None)
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch) / "few", Path(scratch) / "many"
        for folder, count in ((few, args.few), (many, args.many)):
            write_pictures(folder, count, 96 if args.tiny else 300)
        model = args.model or [
            str(ROOT / "examples" / "shapes" / f"{name}") for name in ("deploy.prototxt", "shapes.caffemodel")
        ]
        if args.tiny:
            from tiny_ssd import write_tiny

            model = list(write_tiny(Path(scratch)))
        said = f"{args.few} and {args.many} pictures, parts of {args.part}, batches of {args.batch}"
        print(f"{Path(model[0]).parent.name}: {said}, {args.workers} processes of one thread", flush=True)
        measure(model, few, many, args)


if __name__ == "__main__":
    main()
