"""How good detections are: average precision by class, as a table, as JSON, and as precision-recall curves.

found = [detect(net, path, threshold=0.01) for path in paths]
result = evaluate(found, truth, {1: "cat", 2: "dog"})
print(result.mean, result.aps[1])
print(result)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .data.coco import Coco, dataset_of, evaluate_coco
from .data.errors import DataError, extra
from .data.evaluation import Curve, average_precision, curves
from .data.folders import Scene
from .detection import Detection, detect
from .drawing import PALETTE
from .image import read_image
from .net import Net
from .proto.errors import BoxpressoError
from .tables import table


@dataclass(frozen=True)
class Evaluation:
    """curves: {label: Curve}, with `truths`, `scores`, `right`, `precision`, `recall`; names: {label: name}.

    overlap, method: see `evaluate`; coco: COCO's own numbers, where they were asked for.
    """

    curves: dict[int, Curve]
    names: Mapping[int, str] = field(default_factory=dict)
    overlap: float = 0.5
    method: str = "MaxIntegral"
    coco: Coco | None = None

    @property
    def aps(self) -> dict[int, float]:
        """The average precision of each class; NaN for one that was found but is nowhere."""
        return {label: curve.ap(self.method) for label, curve in self.curves.items()}

    @property
    def mean(self) -> float:
        """mAP: the mean over the classes of which there is an object; NaN where there is none."""
        known = [ap for ap in self.aps.values() if not math.isnan(ap)]
        return sum(known) / len(known) if known else math.nan

    def name(self, label: int) -> str:
        return self.names.get(label) or f"label {label}"

    def __str__(self) -> str:
        return "\n".join(self.table())

    def table(self) -> list[str]:
        """Lines: for each class how many objects there are, what was found, what of it is right, recall and AP."""
        shown = lambda value: "-" if math.isnan(value) else f"{value:.4f}"  # noqa: E731
        aps, rows = self.aps, []
        for label, curve in self.curves.items():
            right = int(curve.right.sum())
            recall = right / curve.truths if curve.truths else math.nan
            counts = map(str, (curve.truths, len(curve.right), right))
            own = [shown(self.coco.by_class.get(label, math.nan))] if self.coco else []
            rows.append((self.name(label), *counts, shown(recall), shown(aps[label]), *own))
        total = [str(sum(int(row[i]) for row in rows)) for i in (1, 2, 3)]
        head, own = ["class", "truths", "found", "right", "recall", f"AP@{self.overlap:g}"], []
        if self.coco:
            head, own = [*head, "AP@.5:.95"], [shown(self.coco.stats["AP"])]
        rows.append(("mean", *total, "", shown(self.mean), *own))
        lines = table(head, rows, "<>>>>>>")
        lines[-1:] = ["-" * max(map(len, lines)), lines[-1]]
        if self.coco:
            parts = [f"{name} {shown(value)}" for name, value in self.coco.stats.items()]
            lines += ["", "COCO: " + ", ".join(parts[:6]), "      " + ", ".join(parts[6:])]
        return lines

    def as_json(self) -> dict[str, Any]:
        """What the table says; null for what there is not."""
        shown = lambda value: None if math.isnan(value) else round(value, 6)  # noqa: E731
        aps = self.aps
        classes = [
            {
                "label": label,
                "name": self.names.get(label),
                "truths": curve.truths,
                "found": len(curve.right),
                "right": int(curve.right.sum()),
                "skipped": curve.skipped,
                "ap": shown(aps[label]),
                **({"coco_ap": shown(self.coco.by_class.get(label, math.nan))} if self.coco else {}),
            }
            for label, curve in self.curves.items()
        ]
        made = {"mean": shown(self.mean), "overlap": self.overlap, "method": self.method, "classes": classes}
        if self.coco:
            made["coco"] = {name: shown(value) for name, value in self.coco.stats.items()}
        return made

    def draw(self, path: str | Path) -> Path:
        """Writes the precision-recall curves to a picture; returns its path.

        Of more than 20 classes the 10 with the highest AP and the 10 with the lowest are named, the others grey. Raises
        DataError where there is no curve or matplotlib is missing, BoxpressoError where the picture cannot be written.
        """
        aps = {label: ap for label, ap in self.aps.items() if not math.isnan(ap)}
        if not aps:
            raise DataError("there is no object of any class: no curve to draw")
        order = sorted(aps, key=lambda label: -aps[label])
        named = order if len(order) <= 20 else order[:10] + order[-10:]
        figure = extra("matplotlib.figure").Figure(figsize=(8.5, 5.6), layout="constrained")
        axes = figure.subplots()
        for label in order:
            curve, at = self.curves[label], named.index(label) if label in named else None
            style: dict[str, Any] = {"color": "#cccccc", "linewidth": 0.7, "zorder": 1}
            if at is not None:
                style = {"color": PALETTE[at % len(PALETTE)], "linestyle": "-" if at < len(PALETTE) else "--"}
                style["linewidth"] = 1.6 + (len(named) - 1 - at if len(named) <= 5 else 0)  # few may hide each other
                style["label"] = f"{aps[label]:.3f}  {self.name(label)}"
            precision = curve.precision
            axes.plot([0, *curve.recall], [*precision[:1], *precision] or [0], **style)
        title = f"{len(order)} classes, " if len(order) > len(named) else ""
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.01), title="AP", alignment="left", frameon=False)
        axes.set(
            xlabel="recall", ylabel="precision", xlim=(0, 1.005), ylim=(0, 1.02),
            title=f"{title}mAP {self.mean:.4f} at an overlap of {self.overlap:g}",
        )  # fmt: skip
        axes.grid(alpha=0.3)
        try:
            figure.savefig(path, dpi=110)
        except (OSError, ValueError) as error:
            raise BoxpressoError(f"cannot write the picture {path}: {error}") from error
        return Path(path)


def evaluate(
    found: Sequence[Iterable[Any]],
    truth: Sequence[Any],
    labels: Mapping[int, str] | None = None,
    *,
    overlap: float = 0.5,
    method: str = "MaxIntegral",
    last_inside: bool = False,
    coco: bool | dict[str, list[Any]] = False,
) -> Evaluation:
    """Compares what was found in each picture with what is there, by VOC's rules.

    found: for each picture its Detections, or rows (label, score, xmin, ymin, xmax, ymax). truth: for each picture a Scene, or
    rows (label, xmin, ymin, xmax, ymax[, difficult]), in the same pixels. labels: names of the classes, for printing.
    overlap: the intersection over union that makes a detection right. method: "MaxIntegral" (VOC from 2010), "11point"
    (VOC2007), "101point" (COCO), "Integral" (SSD's Caffe). last_inside: corners name a box's last pixel, as VOC's files do;
    by default they are its edges, as `detect` and Scene have them. coco: also COCO's own numbers, by pycocotools, where
    difficult objects are crowds; from these tables (see `data.coco.read_dataset`) where they are given.

    A second detection of one object is wrong; an object that is difficult counts neither when found nor when missed. Find
    with a low threshold (0.01): what is cut off is missing at the end of the curve. Of rotated boxes those around them are
    compared. Raises DataError for rows of another shape, for numbers that are not finite and for lists of unequal length.
    """
    if len(found) != len(truth):
        message = f"detections are of {len(found)} pictures, truth of {len(truth)}; give one of each for each picture"
        raise DataError(message)
    average_precision(np.zeros(0), np.zeros(0), method)  # a wrong name is an error before the work
    none = np.zeros((0, 7))
    mine = np.concatenate([none, *(numbered(i, as_found(rows), "detections") for i, rows in enumerate(found))])
    true = np.concatenate([none, *(numbered(i, as_truth(rows), "truth") for i, rows in enumerate(truth))])
    made = Evaluation(curves(mine, true, overlap, last_inside), labels or {}, overlap, method)
    if coco is False:
        return made
    return replace(made, coco=evaluate_coco(mine, dataset_of(true, len(truth)) if coco is True else coco))


def find(
    net: Net,
    scenes: Sequence[Scene],
    *,
    threshold: float = 0.01,
    strict: bool = False,
    tell: Callable[[int, int], None] = lambda done, all: None,
    **inputs: Any,
) -> tuple[list[list[Detection] | None], list[str]]:
    """What the net finds in each scene's picture, and what is wrong with those that are left out, which have None.

    inputs: mean, scale, swap_rb and size, as for `detect`. strict: the first that is wrong raises DataError. tell: called
    with how many are done, and of how many.
    """
    found: list[list[Detection] | None] = []
    wrong = []
    for i, scene in enumerate(scenes, 1):
        try:
            if scene.wrong:
                raise DataError(scene.wrong)
            picture = read_image(scene.path)
            if picture.size != (scene.width, scene.height):
                raise DataError(
                    f"{scene.path} is {picture.width}x{picture.height}, its annotation is of {scene.width}x{scene.height}"
                )
        except BoxpressoError as error:
            if strict:
                raise DataError(str(error)) from error
            wrong.append(str(error))
            found.append(None)
        else:
            found.append(detect(net, picture, threshold=threshold, **inputs))
        tell(i, len(scenes))
    return found, wrong


def as_found(rows: Iterable[Any]) -> list[Any]:
    return [(row.label, row.score, *row.box) if hasattr(row, "box") else row for row in rows]


def as_truth(rows: Any) -> list[Any]:
    if hasattr(rows, "corners"):
        rows = zip(rows.labels, *rows.corners.T, rows.difficult)
    return [(*row, 0) if len(row) == 5 else row for row in rows]


def numbered(picture: int, rows: list[Any], what: str) -> np.ndarray:
    """Rows (N, 7) that begin with the number of their picture, from rows of 6."""
    sizes = {len(row) for row in rows} - {6}
    if sizes:
        raise DataError(f"the {what} of picture {picture} must be rows of {WORDS[what]}, one has {sizes.pop()} numbers")
    made = np.full((len(rows), 7), picture, float)
    made[:, 1:] = np.array(rows, float).reshape(-1, 6)
    return made


WORDS = {
    "detections": "label, score, xmin, ymin, xmax, ymax",
    "truth": "label, xmin, ymin, xmax, ymax and perhaps difficult",
}
