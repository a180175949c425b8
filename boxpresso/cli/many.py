"""`boxpresso detect --engine ray`: the pictures of a folder or of Parquet, by many processes, into Parquet."""

from __future__ import annotations

import hashlib
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..proto.errors import BoxpressoError
from .model import open_detector, recipe
from .output import Progress

OTHERS = ("draw", "json", "coco", "voc", "frames")  # what only the engine of one process does


def run(args: Namespace) -> int:
    """Detects in all pictures of a source, and goes on where a run before was ended. 1 when pictures could not be read."""
    from .. import parts
    from ..ray import run as run_parts

    for name in OTHERS:
        if getattr(args, name):
            raise BoxpressoError(f"--{name} is not for --engine {args.engine}, which writes Parquet into --out")
    if len(args.images) != 1:
        raise BoxpressoError(f"--engine {args.engine} takes one folder, or Parquet, but there are {len(args.images)}")
    if args.out is None:
        raise BoxpressoError(f"--engine {args.engine} needs --out FOLDER, where Parquet is written")
    detector = open_detector(args, "IMAGE..")  # what is wrong with it is said before workers begin
    per_part = args.part or parts.PER_PART
    job = parts.Job(args.images[0], args.out, settings_of(args, detector), args.column, per_part)
    gpus = 1 if detector.decoder.nets[0].device.kind != "cpu" else 0
    if not args.quiet:
        begun = f", {job.parts - len(job.todo())} of which an earlier run has done" if job.begun_before else ""
        print(f"{detector.describe()}")
        print(f"{args.images[0]}: {job.pictures} pictures in {job.parts} parts{begun}", flush=True)
    del detector
    shown: list[Progress] = []  # from when workers begin

    def tell(done: int, total: int) -> None:
        if not shown:
            shown.append(Progress("detect", "pictures", done))
        shown[0].tell(done, total)

    counted = run_parts(job, recipe(args), args.batch, args.workers, gpus=gpus, tell=tell)
    for progress in shown:
        progress.end()
    failed = f", {counted['errors']} could not be read (column error)" if counted["errors"] else ""
    print(f"{counted['detections']} detections in {counted['pictures']} pictures{failed}, in {args.out}")
    return 1 if counted["errors"] else 0


def settings_of(args: Namespace, detector: Any) -> dict[str, Any]:
    """What the detections depend on, for another run to be compared with: the model by its files, and all settings."""
    files = [path for settings in (args.model, args.weights or "") for path in settings.split(",")]
    settings = {name: str(value) for name, value in detector.given.items()}
    hashes = {
        Path(path).name: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in files if Path(path).is_file()
    }
    labels = {str(number): name for number, name in detector.names.items()}
    return {
        "model": args.model, "files": hashes, "decoder": detector.decoder.NAME, "clip": args.clip, "given": settings,
        "labels": labels,
    }  # fmt: skip
