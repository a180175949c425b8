"""The quality of detections: average precision by class, as a table, as JSON, and as precision-recall curves.

detections = [detect(net, path, threshold=0.01) for path in paths]
result = evaluate(detections, truth, {1: "cat", 2: "dog"})
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
from .data.evaluation import Curve, Shapes, average_precision, curves
from .data.folders import Scene
from .data.image import read_annotated
from .decoders.detections import class_id_of
from .detection import Detections, Detector
from .drawing import PALETTE
from .layers.detection.rcnn import Rotated
from .net import Net
from .ops import polygon_iou
from .proto.errors import BoxpressoError
from .tables import places, table
from .train.curves import label as shown
from .train.curves import save


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`; `str` of it is a table.

    Attributes
    ----------
    curves
        {label: Curve}, with `truths`, `scores`, `right`, `precision`, `recall`.
    names
        {label: name}.
    overlap, method
        As given to `evaluate`.
    coco
        COCO's own numbers, where they were asked for.
    rotated, area
        As given to `evaluate`.
    """

    curves: dict[int, Curve]
    names: Mapping[int, str] = field(default_factory=dict)
    overlap: float = 0.5
    method: str = "MaxIntegral"
    coco: Coco | None = None
    rotated: bool = False
    area: tuple[float, float] | None = None

    @property
    def aps(self) -> dict[int, float]:
        """{label: average precision}; NaN for a class without an object."""
        return {label: curve.ap(self.method) for label, curve in self.curves.items()}

    @property
    def mean(self) -> float:
        """mAP: the mean over the classes that have an object; NaN where none has."""
        known = [ap for ap in self.aps.values() if not math.isnan(ap)]
        return sum(known) / len(known) if known else math.nan

    def name(self, label: int) -> str:
        """The name of a class, or "label 3"."""
        return self.names.get(label) or f"label {label}"

    def __str__(self) -> str:
        return "\n".join(self.table())

    def table(self) -> list[str]:
        """The lines of a table: for each class the number of objects, of detections and of right ones, recall and AP."""
        aps, rows = self.aps, []
        for label, curve in self.curves.items():
            right = int(curve.right.sum())
            recall = right / curve.truths if curve.truths else math.nan
            counts = map(str, (curve.truths, len(curve.right), right))
            own = [fixed(self.coco.by_class.get(label, math.nan))] if self.coco else []
            rows.append((self.name(label), *counts, fixed(recall), fixed(aps[label]), *own))
        total = [str(sum(int(row[i]) for row in rows)) for i in (1, 2, 3)]
        head, own = ["class", "truths", "found", "right", "recall", f"AP@{self.overlap:g}"], []
        if self.coco:
            head, own = [*head, "AP@.5:.95"], [fixed(self.coco.stats["AP"])]
        rows.append(("mean", *total, "", fixed(self.mean), *own))
        lines = table(head, rows, "<>>>>>>")
        lines[-1:] = ["-" * max(map(places, lines)), lines[-1]]
        if self.coco:
            parts = [f"{name} {fixed(value)}" for name, value in self.coco.stats.items()]
            lines += ["", "COCO: " + ", ".join(parts[:6]), "      " + ", ".join(parts[6:])]
        return lines

    def as_json(self) -> dict[str, Any]:
        """The table as JSON; null for a number that does not exist."""
        aps = self.aps
        classes = [
            {
                "label": label,
                "name": self.names.get(label),
                "truths": curve.truths,
                "found": len(curve.right),
                "right": int(curve.right.sum()),
                "skipped": curve.skipped,
                "ap": finite(aps[label]),
                **({"coco_ap": finite(self.coco.by_class.get(label, math.nan))} if self.coco else {}),
            }
            for label, curve in self.curves.items()
        ]
        whole: dict[str, Any] = {
            "mean": finite(self.mean),
            "overlap": self.overlap,
            "method": self.method,
            "classes": classes,
        }
        if self.rotated:
            whole["rotated"] = True
        if self.area is not None:
            whole["area"] = [value if math.isfinite(value) else None for value in self.area]
        if self.coco:
            whole["coco"] = {name: finite(value) for name, value in self.coco.stats.items()}
        return whole

    def draw(self, path: str | Path) -> Path:
        """Draws the precision-recall curves.

        Of more than 20 classes the 10 with the highest AP and the 10 with the lowest are named, the others grey.

        Parameters
        ----------
        path
            The picture to write, in the format that its name ends in.

        Returns
        -------
        Path
            The picture.

        Raises
        ------
        DataError
            Where there is no curve, or matplotlib is missing.
        BoxpressoError
            Where the picture cannot be written.
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
                style["linewidth"] = 1.6 + (
                    len(named) - 1 - at if len(named) <= 5 else 0
                )  # few curves may hide each other
                style["label"] = f"{aps[label]:.3f}  {shown(self.name(label))}"
            precision = curve.precision
            axes.plot([0, *curve.recall], [*precision[:1], *precision] or [0], **style)
        title = f"{len(order)} classes, " if len(order) > len(named) else ""
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.01), title="AP", alignment="left", frameon=False)
        axes.set(
            xlabel="recall", ylabel="precision", xlim=(0, 1.005), ylim=(0, 1.02),
            title=f"{title}mAP {self.mean:.4f} at an overlap of {self.overlap:g}",
        )  # fmt: skip
        axes.grid(alpha=0.3)
        return save(figure, Path(path))


def fixed(value: float) -> str:
    """A number with 4 digits, "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def finite(value: float) -> float | None:
    """A number for JSON, with 6 digits; None for NaN."""
    return None if math.isnan(value) else round(value, 6)


def evaluate(
    detections: Sequence[Iterable[Any]],
    truth: Sequence[Any],
    labels: Mapping[int, str] | None = None,
    *,
    overlap: float = 0.5,
    method: str = "MaxIntegral",
    last_inside: bool = False,
    coco: bool | dict[str, list[Any]] = False,
    rotated: bool = False,
    area: tuple[float, float] | None = None,
) -> Evaluation:
    """Compares the detections of each picture with its true objects, by VOC's rules.

    A second detection of one object is wrong; a difficult object counts neither when detected nor when missed. Detect with a
    low threshold (0.01): a higher one cuts off the end of the curve. Of rotated boxes the upright ones around them are
    compared, unless `rotated` says otherwise.

    Parameters
    ----------
    detections
        For each picture its Detections, or rows (label, score, xmin, ymin, xmax, ymax).
    truth
        For each picture a Scene, or rows (label, xmin, ymin, xmax, ymax[, difficult]), in the same pixels.
    labels
        Names of the classes, for printing.
    overlap
        The intersection over union from which on a detection is right.
    method
        "MaxIntegral" (VOC from 2010), "11point" (VOC2007), "101point" (COCO), "Integral" (SSD's Caffe).
    last_inside
        Whether corners name a box's last pixel, as in VOC's files; by default they are its edges, as in `detect` and Scene.
    coco
        Also compute COCO's own numbers, by pycocotools, where difficult objects are crowds; or the tables from which to
        compute them, of `data.coco.read_dataset`.
    rotated
        Whether rotated boxes, or any quadrilaterals, are compared by what they cover themselves. Rows then have, in the place
        of the four corners' numbers, centre x, centre y, height, width and angle in degrees, anti-clockwise (as
        RotatedDetection has them), or x and y of four corners. Upright boxes among Detections and Scenes count as they are.
    area
        (low, high): only objects of so many square pixels count, from low on and below high; others are as difficult ones, and
        wrong detections of other areas count neither, as in COCO's small, medium and large.

    Returns
    -------
    Evaluation
        Curves, average precisions and their mean.

    Raises
    ------
    DataError
        For rows of another shape, for what is no finite number, for labels that are not whole, for an `overlap` that is not
        above 0 and at most 1 or an `area` that is no range, for lists of unequal length, and for `rotated` together with
        `coco` or `last_inside`.

    Source
    ------
    VOC's development kit, SSD's Caffe, and pycocotools; rotated as DOTA's evaluation (Xia et al. 2018).

    Examples
    --------
    >>> detections = [[(1, 0.9, 10, 10, 50, 50), (1, 0.8, 70, 70, 90, 90)]]
    >>> truth = [[(1, 12, 10, 50, 52), (1, 100, 100, 140, 140)]]
    >>> result = evaluate(detections, truth, {1: "cat"})
    >>> result.mean
    0.5
    >>> print(result)
    class  truths  found  right  recall  AP@0.5
    cat         2      2      1  0.5000  0.5000
    -------------------------------------------
    mean        2      2      1          0.5000

    A box of 40 x 10 pixels that lies across is wrong, though the upright boxes around the two are nearly the same:

    >>> found = [[(1, 0.9, 50, 50, 10, 40, 135)]]
    >>> [evaluate(found, [[(1, 50, 50, 10, 40, angle)]], rotated=True).mean for angle in (-45, 45)]
    [1.0, 0.0]
    """
    if len(detections) != len(truth):
        message = (
            f"detections are of {len(detections)} pictures, truth of {len(truth)}; give one of each for each picture"
        )
        raise DataError(message)
    average_precision(np.zeros(0), np.zeros(0), method)  # a wrong name is an error before the work
    if not (isinstance(overlap, (int, float, np.number)) and 0 < overlap <= 1):
        raise DataError(f"overlap must be a number above 0 and at most 1, got {overlap!r}")
    if area is not None and not (np.shape(area) == (2,) and area[0] < area[1]):
        raise DataError(f"area must be two numbers, (low, high), the first below the second; got {area!r}")
    if rotated and (last_inside or coco is not False):
        raise DataError("rotated boxes are compared by what they cover; last_inside and coco are for upright boxes")
    of_detections, of_truth = (corner_rows, true_corner_rows) if rotated else (detection_rows, truth_rows)
    numbers = 10 if rotated else 6
    none = np.zeros((0, 1 + numbers))
    rows = np.concatenate(
        [none, *(numbered(i, of_detections(r), "detections", numbers) for i, r in enumerate(detections))]
    )
    true = np.concatenate([none, *(numbered(i, of_truth(r), "truth", numbers) for i, r in enumerate(truth))])
    curve = curves(rows, true, overlap, last_inside, shapes=QUADRILATERALS if rotated else None, area=area)
    result = Evaluation(curve, labels or {}, overlap, method, rotated=rotated, area=area)
    if coco is False:
        return result
    return replace(result, coco=evaluate_coco(rows, dataset_of(true, len(truth)) if coco is True else coco))


@dataclass(frozen=True)
class Protocol:
    """A mean average precision by one set of rules, which `words` say; NaN without an object."""

    name: str
    value: float
    words: str


def protocols(detections: Sequence[Iterable[Any]], truth: Sequence[Any], coco: Coco | None = None) -> list[Protocol]:
    """The mean average precision by the rules of VOC, VOC2007 and COCO, and with difficult objects as all others.

    detections, truth: as `evaluate` takes them. coco: COCO's numbers, where they are known; else they are computed where
    pycocotools is installed, and left out where it is not. Boxes are edges for all: VOC's files name the last pixel inside,
    which its readers turn into an edge.
    """
    voc = evaluate(detections, truth)
    old = replace(voc, method="11point")
    plain = evaluate(detections, [[(*row[:5], 0) for row in truth_rows(rows)] for rows in truth])
    rules = [
        Protocol("VOC", voc.mean, "overlap 0.5, all points (from 2010); difficult left out"),
        Protocol("VOC2007", old.mean, "overlap 0.5, 11 points; difficult left out"),
        Protocol("plain", plain.mean, "overlap 0.5, all points; difficult objects count"),
    ]
    if coco is None:
        try:
            coco = evaluate(detections, truth, coco=True).coco
        except DataError:  # without pycocotools
            return rules
    assert coco is not None
    whole = Protocol("COCO", coco.stats["AP"], "overlaps 0.50 to 0.95, 101 points; crowds left out")
    half = Protocol("COCO@0.5", coco.stats["AP50"], "overlap 0.5, 101 points; crowds left out")
    return [*rules[:2], whole, half, rules[2]]


def find(
    net: Net | Detector,
    scenes: Sequence[Scene],
    *,
    threshold: float = 0.01,
    strict: bool = False,
    tell: Callable[[int, int], None] = lambda done, total: None,
    **inputs: Any,
) -> tuple[list[Detections | None], list[str]]:
    """Detects objects in the picture of each scene.

    Parameters
    ----------
    net
        A Net, or a Detector, which has its own settings.
    threshold, inputs
        Of a Net's Detector: the lowest score, and mean, scale, swap_rb and size.
    scenes
        Pictures and their annotations, such as `data.folders.read_voc` gives.
    strict
        Whether the first scene that cannot be used raises an error; else it is left out.
    tell
        Called after each scene with how many are done, and of how many.

    Returns
    -------
    tuple
        The detections of each scene, None for one that is left out; and for each of these a line that says why.

    Raises
    ------
    DataError
        With strict.
    """
    detector = net if isinstance(net, Detector) else Detector(net, threshold=threshold, **inputs)
    detections: list[Detections | None] = []
    skipped = []
    for i, scene in enumerate(scenes, 1):
        try:
            scene.check()
            picture = read_annotated(scene.path, (scene.width, scene.height))
        except BoxpressoError as error:
            if strict:
                raise DataError(str(error)) from error
            skipped.append(str(error))
            detections.append(None)
        else:
            detections.append(detector(picture))
        tell(i, len(scenes))
    return detections, skipped


def detection_rows(rows: Iterable[Any]) -> list[Any]:
    """Detections as rows (label, score, xmin, ymin, xmax, ymax)."""
    if isinstance(rows, Detections):
        table = np.column_stack([rows.class_ids, rows.scores.astype(np.float64), rows.boxes.astype(np.float64)])
        return list(map(tuple, table.tolist()))
    return [(class_id_of(row), row.score, *row.box) if hasattr(row, "box") else row for row in rows]


def truth_rows(rows: Any) -> list[Any]:
    """A Scene, or rows with or without `difficult`, as rows (label, xmin, ymin, xmax, ymax, difficult)."""
    if hasattr(rows, "corners"):
        rows = zip(rows.labels, *rows.corners.T, rows.difficult)
    return [(*row, 0) if len(row) == 5 else row for row in rows]


def corner_rows(rows: Iterable[Any]) -> list[Any]:
    """Detections as rows (label, score, x and y of four corners)."""
    if isinstance(rows, Detections):
        quads = quadrilaterals(rows.boxes) if rows.quadrilaterals is None else rows.quadrilaterals
        numbers = quads.reshape(len(rows), 8).astype(np.float64)
        return list(map(tuple, np.column_stack([rows.class_ids, rows.scores.astype(np.float64), numbers]).tolist()))
    return [
        (class_id_of(row), row.score, *corners_of(where(row)))
        if hasattr(row, "box")
        else (*row[:2], *corners_of(row[2:]))
        for row in rows
    ]


def true_corner_rows(rows: Any) -> list[Any]:
    """A Scene, or rows with or without `difficult`, as rows (label, x and y of four corners, difficult)."""
    if hasattr(rows, "corners"):
        return [(label, *corners_of(box), hard) for label, box, hard in zip(rows.labels, rows.corners, rows.difficult)]
    return [
        (row[0], *corners_of(row[1:-1]), row[-1]) if len(row) in (7, 10) else (row[0], *corners_of(row[1:]), 0)
        for row in rows
    ]


def where(row: Any) -> Sequence[float]:
    """The numbers that say where a Detection is, most exactly."""
    quadrilateral = getattr(row, "quadrilateral", None)
    if quadrilateral is not None:
        return [value for point in quadrilateral for value in point]
    turned: Sequence[float] = getattr(row, "rotated", None) or row.box
    return turned


def corners_of(numbers: Sequence[float]) -> list[float]:
    """x and y of four corners, of an upright box (4 numbers), a rotated one (5) or these themselves (8)."""
    values = np.array(numbers, np.float64)[None]
    if values.shape[1] == 4:
        values = quadrilaterals(values)
    elif values.shape[1] == 5:
        values = Rotated.corners(values)
    flat: list[float] = values.reshape(-1).tolist()
    return flat


def quadrilaterals(boxes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The corners (N, 4, 2) of boxes (N, 4)."""
    return boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)


def quadrilateral_areas(corners: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The areas of quadrilaterals (N, 8)."""
    x, y = corners[:, ::2], corners[:, 1::2]
    return np.asarray(np.abs((x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(1)) / 2)


QUADRILATERALS = Shapes(8, polygon_iou, quadrilateral_areas)


def numbered(picture: int, rows: list[Any], kind: str, numbers: int) -> np.ndarray[Any, Any]:
    """Rows (N, 1 + numbers) that begin with the number of their picture, from rows of so many."""
    sizes = {len(row) for row in rows} - {numbers}
    if sizes:
        wanted = (WORDS if numbers == 6 else ROTATED_WORDS)[kind]
        raise DataError(f"the {kind} of picture {picture} must be rows of {wanted}, one has {sizes.pop()} numbers")
    table = np.full((len(rows), 1 + numbers), picture, float)
    try:
        table[:, 1:] = np.array(rows, float).reshape(-1, numbers)
    except (TypeError, ValueError) as error:
        raise DataError(f"the {kind} of picture {picture} must be rows of numbers: {error}") from None
    return table


WORDS = {
    "detections": "label, score, xmin, ymin, xmax, ymax",
    "truth": "label, xmin, ymin, xmax, ymax and perhaps difficult",
}
ROTATED_WORDS = {
    "detections": "label, score, and centre x, centre y, height, width, angle or x and y of four corners",
    "truth": "label, centre x, centre y, height, width, angle or x and y of four corners, and perhaps difficult",
}
