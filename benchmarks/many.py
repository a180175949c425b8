"""What `boxpresso detect --engine ray` costs beside the bare loop: pictures a second of both, in turn, on the same processors.

    python benchmarks/many.py [MODEL WEIGHTS] [--workers N] [--batch N] [--part N] [--rounds N]

The bare loop is what one would write without an engine: `for ..: detector.batch(paths)` over its share of the files, in as many
processes as there are workers, with one thread each; it counts the detections and writes nothing. `parts` is `parts.Job` in
these same processes: files read ahead, and Parquet written. `ray` is the whole engine, whose workers, scheduler and command
share the processors. Loading a model and starting a cluster are left out of all three: the loops begin together when every
process has seen a batch, and the engine is timed from the end of its first round of parts to that of the last part. Each number
is the best round's. Without MODEL two nets are measured: examples/shapes, and the smallest that detects, where the engine costs
the largest part. On a shared machine only the ratios mean something.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from boxpresso import Detector
from boxpresso.parts import Job
from examples.shapes.scenes import scene

ROOT = Path(__file__).resolve().parents[1]
DISTINCT = 64  # scenes, written again and again under other names


def write_pictures(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:06}.jpg"
        if number < DISTINCT:
            scene(number, 300)[0].save(path, quality=90)
        else:
            path.write_bytes((folder / f"{number % DISTINCT:06}.jpg").read_bytes())


class Make:
    """Makes the Detector, in whichever process."""

    def __init__(self, *model: str) -> None:
        self.model = model

    def __call__(self) -> Detector:
        return Detector(*self.model, device="cpu")


def loop(detector: Detector, paths: list[str], batch: int) -> int:
    """The bare loop: how many detections."""
    return sum(
        len(found) for start in range(0, len(paths), batch) for found in detector.batch(paths[start : start + batch])
    )


def work(number: int, make: Make, args: Any, source: str, out: str | None, barrier: Any, results: Any) -> None:
    """A process of the loops: with `out` it does its parts of a Job, else its share of the files bare."""
    detector = make()
    paths = sorted(str(path) for path in Path(source).iterdir())
    loop(detector, paths[: args.batch], args.batch)
    job = None if out is None else Job(source, out, {}, per_part=args.part)
    barrier.wait()
    begun = time.perf_counter()
    if job is None:
        count = loop(detector, paths[number :: args.workers], args.batch)
    else:
        parts = range(number, job.parts, args.workers)
        count = sum(job.run(part, detector, args.batch)["detections"] for part in parts)
    results.put((begun, time.perf_counter(), count))


def by_processes(make: Make, args: Any, source: str, out: str | None) -> tuple[float, int]:
    """Pictures a second of processes that begin together, and the detections of all."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(args.workers), context.Queue()
    if out is not None:
        Job(source, out, {}, per_part=args.part)  # the plan, once
    given = [(number, make, args, source, out, barrier, results) for number in range(args.workers)]
    processes = [context.Process(target=work, args=each) for each in given]
    for process in processes:
        process.start()
    ends = [results.get() for _ in processes]
    for process in processes:
        process.join()
    seconds = max(end for _, end, _ in ends) - min(begun for begun, _, _ in ends)
    return args.pictures / seconds, sum(count for _, _, count in ends)


def by_ray(make: Make, args: Any, source: str, out: str) -> tuple[float, int]:
    """Pictures a second of the engine, from the end of the first round of parts on, and the detections of all."""
    from boxpresso.ray import run

    told: list[tuple[float, int]] = []
    job = Job(source, out, {}, per_part=args.part)
    counted = run(
        job, make, args.batch, args.workers, tell=lambda done, total: told.append((time.perf_counter(), done))
    )
    (begun, before), (end, after) = told[args.workers], told[-1]  # the first is told when nothing is done
    return (after - before) / (end - begun), counted["detections"]


def measure(name: str, make: Make, args: Any, folder: Path) -> None:
    ways: dict[str, Callable[[str], tuple[float, int]]] = {
        "bare": lambda out: by_processes(make, args, str(folder / "pictures"), None),
        "parts": lambda out: by_processes(make, args, str(folder / "pictures"), out),
        "ray": lambda out: by_ray(make, args, str(folder / "pictures"), out),
    }
    best = dict.fromkeys(ways, 0.0)
    counts = set()
    for number in range(args.rounds):
        for way, run in ways.items():
            rate, count = run(str(folder / f"{name}-{way}-{number}"))
            best[way] = max(best[way], rate)
            counts.add(count)
    if len(counts) > 1:
        raise SystemExit(f"{name}: the ways differ in their detections: {sorted(counts)}")
    rates = "".join(f"{best[way]:9.1f}" for way in ways)
    print(f"{name:<16}{rates}{best['parts'] / best['bare']:13.3f}{best['ray'] / best['bare']:12.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="MODEL WEIGHTS")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--part", type=int, default=250, help="pictures in a part")
    parser.add_argument("--parts", type=int, default=24, help="of each run")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.pictures = args.part * args.parts
    os.environ["BOXPRESSO_THREADS"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # Ray's workers
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_pictures(folder / "pictures", args.pictures)
        if args.model:
            models = {Path(args.model[0]).stem: tuple(args.model)}
        else:
            sys.path.insert(0, str(ROOT / "tests"))
            from tiny_ssd import write_tiny

            shapes = str(ROOT / "examples" / "shapes")
            models = {
                "shapes": (f"{shapes}/deploy.prototxt", f"{shapes}/shapes.caffemodel"),
                "tiny": write_tiny(folder),
            }
        said = f"{args.pictures} pictures in parts of {args.part}, batches of {args.batch}"
        print(f"{said}, {args.workers} workers of one thread")
        print("pictures a second   bare    parts      ray   parts / bare  ray / bare")
        for name, model in models.items():
            measure(name, Make(*model), args, folder)


if __name__ == "__main__":
    main()
