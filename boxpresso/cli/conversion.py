"""The verbs convert and mean: folders of pictures into LMDBs, and their mean."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence

import numpy as np

from ..labels import BACKGROUND, read_labels
from ..proto.errors import BoxpressoError


def convert(args: Namespace) -> int:
    """Writes an LMDB and names, on stderr, what was left out."""
    from ..data.convert import Options, convert
    from ..data.folders import VOC_CLASSES

    classes: Sequence[str] = VOC_CLASSES
    if args.classes:
        classes = [name for _, name in sorted(read_labels(args.classes).items()) if name.lower() not in BACKGROUND]
    options = Options(args.size, not args.gray, not args.raw, args.shuffle, args.strict)
    report = convert(
        args.kind, args.folder, args.lmdb, split=args.split, classes=classes, options=options, tell=progress("convert")
    )
    for line in report.skipped:
        print(f"boxpresso: warning: skipped: {line}", file=sys.stderr)
    what = f"{report.boxes} boxes" if args.kind != "images" else f"{len(report.labels)} classes"
    skipped = f"; {len(report.skipped)} skipped" if report.skipped else ""
    print(f"{args.lmdb}: {report.pictures} pictures, {what}{skipped}")
    if report.labels:
        print(f"{args.lmdb}_labelmap.prototxt: the names of {len(report.labels)} labels")
    return 0


def mean(args: Namespace) -> int:
    """Prints the mean of each channel, and writes the mean picture where FILE is given."""
    from ..data.convert import mean_of, write_mean

    found = mean_of(args.lmdb, progress("mean"))
    channels = found.mean((1, 2))
    names = ("blue", "green", "red") if len(channels) == 3 else tuple(f"channel {i}" for i in range(len(channels)))
    print("\n".join(f"mean_value: {value:<9.6g} # {name}" for name, value in zip(names, channels)))
    if args.file:
        try:
            write_mean(args.file, found)
        except OSError as error:
            raise BoxpressoError(f"cannot write {args.file}: {error.strerror or error}") from error
        print(f"{args.file}: {' x '.join(map(str, np.shape(found)))}")
    return 0


def progress(verb: str) -> Callable[[int, int], None]:
    """Says on a terminal how far it is, some times a second."""
    shown = time.monotonic()

    def tell(done: int, all: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if sys.stderr.isatty() and (now - shown > 0.2 or done == all):
            shown = now
            print(f"\r{verb}: {done} of {all}", end="\n" if done == all else "", file=sys.stderr, flush=True)

    return tell
