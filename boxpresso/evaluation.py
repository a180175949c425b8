"""How good detections are: average precision by class, as a table, as JSON, and as precision-recall curves.

    found = [detect(net, path, threshold=0.01) for path in paths]
    result = evaluate(found, truth, {1: "cat", 2: "dog"})
    print(result.mean, result.aps[1])
    print(result)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .data.errors import DataError, extra
from .data.evaluation import Curve, average_precision, curves
from .drawing import PALETTE
from .proto.errors import BoxpressoError


@dataclass(frozen=True)
class Evaluation:
    """curves: {label: Curve}, with `truths`, `scores`, `right`, `precision`, `recall`; names: {label: name}."""

    curves: dict[int, Curve]
    names: Mapping[int, str] = field(default_factory=dict)
    overlap: float = 0.5
    method: str = "MaxIntegral"

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
        from .command import table

        shown = lambda value: "-" if math.isnan(value) else f"{value:.4f}"  # noqa: E731
        aps, rows = self.aps, []
        for label, curve in self.curves.items():
            right = int(curve.right.sum())
            recall = right / curve.truths if curve.truths else math.nan
            counts = map(str, (curve.truths, len(curve.right), right))
            rows.append((self.name(label), *counts, shown(recall), shown(aps[label])))
        total = [str(sum(int(row[i]) for row in rows)) for i in (1, 2, 3)]
        rows.append(("mean", *total, "", shown(self.mean)))
        lines = table(("class", "truths", "found", "right", "recall", "AP"), rows, "<>>>>>")
        return [*lines[:-1], "-" * max(map(len, lines)), lines[-1]]

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
                style = {"color": PALETTE[at % len(PALETTE)], "linewidth": 1.6, "linestyle": "-" if at < len(PALETTE) else "--"}
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
) -> Evaluation:
    """Compares what was found in each picture with what is there, by VOC's rules.

    found: for each picture its Detections, or rows (label, score, xmin, ymin, xmax, ymax). truth: for each picture a Scene, or
    rows (label, xmin, ymin, xmax, ymax[, difficult]), in the same pixels. labels: names of the classes, for printing.
    overlap: the intersection over union that makes a detection right. method: "MaxIntegral" (VOC from 2010), "11point"
    (VOC2007), "101point" (COCO), "Integral" (SSD's Caffe). last_inside: corners name a box's last pixel, as VOC's files do;
    by default they are its edges, as `detect` and Scene have them.

    A second detection of one object is wrong; an object that is difficult counts neither when found nor when missed. Find
    with a low threshold (0.01): what is cut off is missing at the end of the curve. Raises DataError for rows of another
    shape, for numbers that are not finite and for lists of unequal length.
    """
    if len(found) != len(truth):
        raise DataError(f"detections are of {len(found)} pictures, truth of {len(truth)}; give one of each for each picture")
    average_precision(np.zeros(0), np.zeros(0), method)  # a wrong name is an error before the work
    mine = [numbered(i, as_found(rows), (6,), "detections") for i, rows in enumerate(found)]
    true = [numbered(i, as_truth(rows), (5, 6), "truth") for i, rows in enumerate(truth)]
    judged = curves(np.concatenate([np.zeros((0, 7)), *mine]), np.concatenate([np.zeros((0, 7)), *true]), overlap, last_inside)
    return Evaluation(judged, labels or {}, overlap, method)


def as_found(rows: Iterable[Any]) -> np.ndarray:
    return np.array([(r.label, r.score, *r.box) if hasattr(r, "box") else r for r in rows], float)


def as_truth(rows: Any) -> np.ndarray:
    if hasattr(rows, "corners"):
        return np.column_stack([rows.labels, rows.corners, rows.difficult])
    return np.asarray(rows, float)


def numbered(picture: int, rows: np.ndarray, columns: tuple[int, ...], what: str) -> np.ndarray:
    """Rows (N, 7) that begin with the number of their picture; a 0 is put where `difficult` is not said."""
    if not rows.size:
        return np.zeros((0, 7))
    if rows.ndim != 2 or rows.shape[1] not in columns:
        raise DataError(f"{what} of picture {picture} must be (N, {' or '.join(map(str, columns))}), got shape {rows.shape}")
    made = np.zeros((len(rows), 7))
    made[:, 0], made[:, 1 : 1 + rows.shape[1]] = picture, rows
    return made
