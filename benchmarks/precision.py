"""How much less exact arithmetic changes what detectors find, and what it saves.

    python -m benchmarks.precision --pictures FOLDER [MODEL[,WEIGHTS]]...

MODEL is the folder of a cascade, or a prototxt with its WEIGHTS; without one, examples/shapes. Each detector looks at every
picture with Net(...), with fast_math=True and, on a CPU that can, with precision="bf16". A detection counts as found again
where the other has one of the same class whose intersection over union is at least 0.5, each at most once, the best first.

Columns: detections in float32; of the other arithmetic those found again, those missed and those that are new; the least
intersection over union, the largest distance of a side in pixels and the largest difference of a score among those found again;
the time of all pictures over that of float32, the least of several rounds. What is missed or new lies mostly at the threshold:
`margin` is the largest distance from it of a score that only one of the two has.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import Detector
from boxpresso.device import open_device
from boxpresso.image import read_image
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.proto.errors import BoxpressoWarning, ModelError

ROOT = Path(__file__).resolve().parents[1]
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp")
AGAIN = 0.5  # intersection over union from which on two detections are one object
KINDS: dict[str, dict[str, Any]] = {"fast_math": {"fast_math": True}, "bf16": {"precision": "bf16"}}
ROUNDS = 3
WIDTHS = {
    "detector": -34, "arithmetic": -10, "found": 5, "again": 5, "missed": 6, "new": 4, "least IoU": 9, "px": 6, "score": 6,
    "margin": 6, "time": 5,
}  # fmt: skip


@dataclass
class Sums:
    """What was compared over all pictures."""

    detections: int = 0
    again: int = 0
    missed: int = 0
    new: int = 0
    overlap: float = 1.0
    pixels: float = 0.0
    score: float = 0.0
    margin: float = 0.0


def overlaps(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(len(a), len(b)) of the intersections over unions of boxes (left, top, right, bottom)."""
    sides = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2])
    common = np.prod(np.maximum(sides, 0), 2)
    areas = [np.prod(np.maximum(x[:, 2:] - x[:, :2], 0), 1) for x in (a, b)]
    return common / np.maximum(areas[0][:, None] + areas[1][None, :] - common, 1e-12)


def compare(sums: Sums, exact: Any, other: Any, threshold: float) -> None:
    """Adds one picture's detections to the sums."""
    table = overlaps(exact.boxes, other.boxes) if len(exact) and len(other) else np.zeros((len(exact), len(other)))
    table = np.where(np.asarray(exact.labels)[:, None] == np.asarray(other.labels)[None, :], table, 0)
    rows, columns = set(range(len(exact))), set(range(len(other)))
    for flat in np.argsort(-table, axis=None):
        row, column = divmod(int(flat), max(len(other), 1))
        if table[row, column] < AGAIN:
            break
        if row in rows and column in columns:
            rows.remove(row)
            columns.remove(column)
            sums.again += 1
            sums.overlap = min(sums.overlap, float(table[row, column]))
            sums.pixels = max(sums.pixels, float(np.abs(exact.boxes[row] - other.boxes[column]).max()))
            sums.score = max(sums.score, abs(float(exact.scores[row]) - float(other.scores[column])))
    sums.detections += len(exact)
    sums.missed += len(rows)
    sums.new += len(columns)
    alone = [float(exact.scores[row]) for row in rows] + [float(other.scores[column]) for column in columns]
    sums.margin = max([sums.margin, *(abs(score - threshold) for score in alone)])


def seconds(detector: Detector, pictures: Sequence[Any]) -> float:
    """The least time of several rounds over all pictures."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for picture in pictures:
            detector(picture)
        times.append(time.perf_counter() - start)
    return min(times)


def measure(model: str, pictures: Sequence[Any]) -> None:
    """Prints the rows of one detector."""
    net, _, weights = model.partition(",")
    files = (net, weights) if weights else (net,)
    name = "/".join(Path(net).parts[-2:])
    exact = Detector(*files, device="cpu")
    wanted = [exact(picture) for picture in pictures]
    base = seconds(exact, pictures)
    kinds = [kind for kind in KINDS if kind != "bf16" or bf16_available(open_device("cpu"))]
    for kind in kinds:
        detector, sums = Detector(*files, device="cpu", **KINDS[kind]), Sums()
        for picture, one in zip(pictures, wanted):
            compare(sums, one, detector(picture), float(detector.settings.threshold))
        cells = [name, kind, *map(str, (sums.detections, sums.again, sums.missed, sums.new))]
        cells += [f"{sums.overlap:.4f}", f"{sums.pixels:.2f}", f"{sums.score:.3f}", f"{sums.margin:.3f}"]
        print(row([*cells, f"{seconds(detector, pictures) / base:.2f}"]), flush=True)


def row(cells: Iterable[str]) -> str:
    """A line of the table."""
    pairs = zip(cells, WIDTHS.values())
    return " ".join(cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pictures", metavar="FOLDER", default=str(ROOT / "examples" / "shapes"))
    parser.add_argument("models", metavar="MODEL[,WEIGHTS]", nargs="*")
    args = parser.parse_args()
    shapes = ROOT / "examples" / "shapes"
    models = args.models or [f"{shapes / 'deploy.prototxt'},{shapes / 'shapes.caffemodel'}"]
    paths = sorted(
        p for p in Path(args.pictures).iterdir() if p.suffix.lower() in ENDINGS and "detections" not in p.name
    )
    pictures = [read_image(path) for path in paths]
    print(f"{len(pictures)} pictures, {open_device('cpu').describe()}\n\n{row(WIDTHS)}")
    warnings.simplefilter("ignore", BoxpressoWarning)
    for model in models:
        try:
            measure(model, pictures)
        except ModelError as error:
            print(f"{model}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
