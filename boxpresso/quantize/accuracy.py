"""How far a net in 8 bits is from the same net in float: its boxes, and its numbers, on pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.boxes import iou
from ..decoders.detections import Detections
from ..evaluation import evaluate
from ..layers.core import Trait
from ..net import Net

Numpy = np.ndarray[Any, np.dtype[Any]]
LOW = 0.1  # of the threshold: how much lower scores count among the boxes that are compared
AGAIN = 0.7  # the overlap from which on a box is found again


@dataclass(frozen=True)
class Loss:
    """What a net in 8 bits loses: of all pictures, and how far each picture's result is from that in float."""

    value: float
    pictures: list[float]


def rows_of(detections: Detections) -> list[tuple[float, ...]]:
    """Rows (label, score, corners) of those that are finite."""
    return [
        (int(label), float(score), *map(float, box))
        for box, score, label in zip(detections.boxes, detections.scores, detections.labels)
        if np.isfinite([*box, score]).all()
    ]


def mean_precision(detections: Sequence[Detections], truth: Sequence[Any]) -> float:
    """The mean average precision (an overlap of 0.5) against labels: for each picture a Scene, or rows as `evaluate` takes."""
    return float(evaluate([rows_of(each) for each in detections], truth).mean)


def moved(true: Detections, detections: Detections, threshold: float) -> float:
    """By how much the boxes of one picture have moved: the largest 1 - overlap of a box with its best, from a score on.

    Examples
    --------
    >>> a = Detections([[0, 0, 10, 10], [20, 0, 40, 10]], [0.9, 0.8], [1, 2])
    >>> b = Detections([[0, 0, 10, 10], [20, 0, 40, 8]], [0.9, 0.8], [1, 2])
    >>> round(moved(a, b, 0.5), 3), moved(a, a, 0.5), moved(a, b[b.scores > 0.85], 0.5)
    (0.2, 0.0, 1.0)
    """
    there = detections[detections.scores >= threshold]
    worst = 0.0
    for box, score, label in zip(true.boxes, true.scores, true.labels):
        if score >= threshold:
            overlaps = iou(np.asarray(box, np.float64), there.boxes[there.labels == label].astype(np.float64))
            worst = max(worst, 1 - float(np.max(overlaps, initial=0)))
    return worst


def boxes_lost(reference: Sequence[Detections], detections: Sequence[Detections], threshold: float) -> float:
    """What is lost of the reference's boxes from a score of `threshold` on: the larger of two shares.

    By how much mAP (an overlap of 0.5) falls from 1 with these boxes as truth, for which lower scores count too; and the share
    of them that is not found again from that score on, as the same class at an overlap of 0.7.

    Examples
    --------
    >>> def of(*rows):
    ...     boxes, scores, labels = (np.array(column) for column in zip(*rows))
    ...     return Detections(boxes.astype(np.float32), scores.astype(np.float32), labels)
    >>> true = [of(((10, 10, 50, 50), 0.9, 1), ((60, 10, 90, 50), 0.8, 1))]
    >>> boxes_lost(true, [of(((11, 10, 50, 51), 0.7, 1), ((60, 12, 90, 50), 0.6, 1))], 0.5)
    0.0
    >>> boxes_lost(true, [of(((11, 10, 50, 51), 0.7, 1), ((60, 12, 90, 50), 0.4, 1))], 0.5)
    0.5
    >>> boxes_lost(true, [of(((11, 10, 50, 51), 0.7, 1))], 0.5)
    0.5
    """
    truth = [
        [(int(label), *map(float, box)) for box, score, label in zip(d.boxes, d.scores, d.labels) if score >= threshold]
        for d in reference
    ]
    labels = {row[0] for rows in truth for row in rows}
    rows = [[row for row in rows_of(d) if row[0] in labels] for d in detections]
    many = sum(map(len, truth))
    again = sum(found_again(true, [row for row in mine if row[1] >= threshold]) for true, mine in zip(truth, rows))
    return max(1 - float(evaluate(rows, truth).mean), 1 - again / many if many else 0.0)


def found_again(truth: Sequence[Sequence[float]], rows: Sequence[Sequence[float]]) -> int:
    """How many boxes (label, corners) have one of (label, score, corners) of their class that overlaps by AGAIN."""
    if not rows:
        return 0
    mine = np.array(rows, np.float64)
    overlaps = (iou(np.array(true[1:]), mine[mine[:, 0] == true[0], 2:]) for true in truth)
    return sum(bool(len(each) and each.max() >= AGAIN) for each in overlaps)


def compared(net: Net) -> list[str]:
    """The blobs whose numbers are compared: outputs, and in the place of rows that a layer chooses, what it chooses by.

    Nothing behind such a layer is: other rows are of other things.
    """
    written: dict[str, int] = {name: i for i, (_, tops) in enumerate(net.names) for name in tops}
    chosen: set[str] = set()  # blobs that depend on rows that were chosen
    result: dict[str, None] = {}
    for layer, (bottoms, tops) in zip(net.layers, net.names):
        if Trait.CHOOSES_ROWS in layer.traits:
            for name in bottoms:
                if (
                    name not in chosen
                    and name not in net.inputs
                    and Trait.CONSTANT not in net.layers[written[name]].traits
                ):
                    result[name] = None
        if Trait.CHOOSES_ROWS in layer.traits or chosen.intersection(bottoms):
            chosen.update(tops)
    result.update(dict.fromkeys(name for name in net.outputs if name not in chosen))
    return list(result)


def numbers(net: Net, inputs: Mapping[str, Numpy], names: Iterable[str]) -> dict[str, Numpy]:
    """Some blobs of a forward."""
    names = list(names)
    out = net.forward(names, **inputs)  # type: ignore[arg-type]  # inputs by their names
    return {name: np.array(out[name]) for name in names}


def distance(reference: Sequence[Mapping[str, Numpy]], outputs: Sequence[Mapping[str, Numpy]]) -> float:
    """The largest, over the blobs, of the distance between all their numbers over the length of the reference's; infinite where
    one of the others is NaN.

    >>> distance([{"a": np.array([3.0, 4.0])}], [{"a": np.array([3.0, 4.5])}])
    0.1
    >>> distance([{"a": np.array([3.0, 4.0])}], [{"a": np.array([3.0, np.nan])}])
    inf
    """
    worst = 0.0
    for name in reference[0] if reference else ():
        pairs = [(np.asarray(a[name], np.float64), np.asarray(b[name], np.float64)) for a, b in zip(reference, outputs)]
        if any(a.shape != b.shape for a, b in pairs):
            return 1.0
        size = sum(float((a * a).sum()) for a, _ in pairs)
        off = sum(float(((a - b) ** 2).sum()) for a, b in pairs)
        if np.isnan(off):  # max passes over it
            return float("inf")
        worst = max(worst, float(np.sqrt(off / size)) if size else float(off > 0))
    return worst
