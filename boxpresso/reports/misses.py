"""What a detector misses and what it finds that is not there, at the score that a user would choose, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.boxes import iou
from ..data.evaluation import RIGHT, WRONG, Curve, judge
from ..data.folders import Scene
from ..evaluation import detection_rows, truth_rows

NEAR = 0.1  # the overlap from which on a detection is meant for an object
Numpy = np.ndarray[Any, Any]
WHY_FALSE = {
    "second": "a second box of an object",
    "place": "badly placed",
    "class": "another class",
    "nothing": "nothing there",
}
WHY_MISSED = {
    "score": "found with a lower score",
    "place": "badly placed",
    "class": "taken for another class",
    "nothing": "nothing near",
}


@dataclass(frozen=True)
class Fault:
    """A missed object, or a detection that is wrong.

    Attributes
    ----------
    picture
        The number of the picture.
    label, box
        Of the object or of the detection.
    why
        A key of WHY_MISSED or WHY_FALSE.
    weight
        By which the worst come first: of a missed object its part of the picture, of a detection its score.
    near
        (label, score, box) of the detection that comes nearest to a missed object; of a wrong detection (label, NaN, box) of
        the object that it overlaps most.
    overlap
        With `near`.
    missed
        Whether it is a missed object.
    """

    picture: int
    label: int
    box: tuple[float, ...]
    why: str
    weight: float
    near: tuple[int, float, tuple[float, ...]] | None = None
    overlap: float = 0.0
    missed: bool = False


@dataclass(frozen=True)
class Judged:
    """The faults of all pictures, the worst first, how many detections from the score on are right, and that score."""

    missed: list[Fault]
    false: list[Fault]
    right: int
    score: float


def best_score(curves: Mapping[int, Curve]) -> tuple[float, float]:
    """The score from which on detections of all classes together have the highest F1, and that F1; 0 and 0 without any right.

    F1 is the harmonic mean of precision and recall.

    Examples
    --------
    >>> import numpy as np
    >>> curve = Curve(2, np.array([0.9, 0.8, 0.3, 0.2]), np.array([True, True, False, False]))
    >>> best_score({1: curve})
    (0.8, 1.0)
    """
    if not curves:
        return 0.0, 0.0
    scores = np.concatenate([curve.scores for curve in curves.values()])
    right = np.concatenate([curve.right for curve in curves.values()])
    truths = sum(curve.truths for curve in curves.values())
    order = np.argsort(-scores, kind="stable")
    right_so_far, scores = np.cumsum(right[order]), scores[order]
    if not len(right_so_far) or not truths or not right_so_far[-1]:
        return 0.0, 0.0
    f1 = 2 * right_so_far / (np.arange(1, len(right_so_far) + 1) + truths)
    ends = np.append(scores[1:] != scores[:-1], True)  # a score takes all detections that have it
    best = int(np.argmax(np.where(ends, f1, -1)))
    return float(scores[best]), float(f1[best])


def judge_pictures(
    detections: Sequence[Iterable[Any]], scenes: Sequence[Scene], overlap: float, score: float
) -> Judged:
    """The faults of a detector, by the rules of `evaluate`, among the detections from `score` on.

    Parameters
    ----------
    detections
        Of each picture, as for `evaluate`.
    scenes
        Their objects.
    overlap
        From which on a detection is right.
    score
        The lowest that counts.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> scene = Scene(Path("a.jpg"), 100, 100, [1], np.array([[10.0, 10, 60, 60]]), [False])
    >>> judged = judge_pictures([[(1, 0.9, 40, 40, 90, 90)]], [scene], 0.5, 0.5)
    >>> [fault.why for fault in judged.missed], [fault.why for fault in judged.false], judged.missed[0].weight
    (['nothing'], ['nothing'], 0.25)
    """
    missed: list[Fault] = []
    false: list[Fault] = []
    right = 0
    for number, (of_picture, scene) in enumerate(zip(detections, scenes)):
        rows = np.array(detection_rows(of_picture), float).reshape(-1, 6)
        rows = rows[np.argsort(-rows[:, 1], kind="stable")]
        true = np.array(truth_rows(scene), float).reshape(-1, 6)
        good, bad, lost = judge_picture(number, rows, true, (scene.width * scene.height) or 1, overlap, score)
        right += good
        false += bad
        missed += lost
    missed.sort(key=lambda fault: -fault.weight)
    false.sort(key=lambda fault: -fault.weight)
    return Judged(missed, false, right, score)


COLUMNS = (
    "picture",
    "fault",
    "why",
    "class",
    "score",
    "xmin",
    "ymin",
    "xmax",
    "ymax",
    "near_class",
    "near_score",
    "overlap",
)


def fault_rows(judged: Judged, scenes: Sequence[Scene], name: Callable[[int], str]) -> list[list[str]]:
    """A row of COLUMNS for each fault: wrong detections by score, then missed objects by size; name: of a class.

    A detection of a high score where nothing is annotated, or another class, is often a wrong annotation. A box is in pixels of
    its picture; what is near is the object that a wrong detection overlaps most, or the detection that comes nearest to a
    missed object.
    """

    def number(value: float, digits: int) -> str:
        return "" if math.isnan(value) else f"{value:.{digits}f}"

    rows = []
    for fault in (*judged.false, *judged.missed):
        reasons, word = (WHY_MISSED, "missed") if fault.missed else (WHY_FALSE, "wrong")
        label, score, _ = fault.near or (None, math.nan, None)
        rows.append([
            str(scenes[fault.picture].path), word, reasons[fault.why], name(fault.label),
            number(math.nan if fault.missed else fault.weight, 4), *(number(side, 1) for side in fault.box),
            "" if label is None else name(label), number(score, 4), number(fault.overlap, 3) if fault.near else "",
        ])  # fmt: skip
    return rows


def judge_picture(
    number: int, rows: Numpy, true: Numpy, area: float, overlap: float, score: float
) -> tuple[int, list[Fault], list[Fault]]:
    """Of one picture: how many detections are right, the wrong ones, and the missed objects.

    rows: (label, score, box), best first. true: (label, box, difficult).
    """
    certain = rows[:, 1] >= score
    overlaps = (
        iou(rows[:, None, 2:6], true[None, :, 1:5]) if len(rows) and len(true) else np.zeros((len(rows), len(true)))
    )
    same = rows[:, None, 0] == true[None, :, 0]
    states = np.full(len(rows), WRONG)
    taken = np.zeros(len(true), bool)
    for label in np.unique(rows[certain, 0]):
        mine, own = np.flatnonzero(certain & (rows[:, 0] == label)), np.flatnonzero(true[:, 0] == label)
        states[mine] = judge(overlaps[np.ix_(mine, own)], true[own, 5] != 0, overlap)
        for i in mine[states[mine] == RIGHT]:
            taken[own[overlaps[i, own].argmax()]] = True
    false = [
        wrong(number, rows[i], true, overlaps[i], same[i], overlap) for i in np.flatnonzero(certain & (states == WRONG))
    ]
    lost = [
        lost_object(number, true[j], rows, overlaps[:, j], same[:, j], certain, (area, overlap))
        for j in np.flatnonzero(~taken & (true[:, 5] == 0))
    ]
    return int((states == RIGHT).sum()), false, lost


def wrong(number: int, row: Numpy, true: Numpy, overlaps: Numpy, same: Numpy, threshold: float) -> Fault:
    """Why a detection is wrong."""
    own = np.where(same, overlaps, 0.0)
    why, at = "nothing", None
    if len(true) and own.max() >= threshold:
        why, at = "second", int(own.argmax())
    elif len(true) and overlaps.max() >= threshold:
        why, at = "class", int(overlaps.argmax())
    elif len(true) and own.max() >= NEAR:
        why, at = "place", int(own.argmax())
    near = None if at is None else (int(true[at, 0]), math.nan, tuple(true[at, 1:5].tolist()))
    with_it = 0.0 if at is None else float(overlaps[at])
    return Fault(number, int(row[0]), tuple(row[2:6].tolist()), why, float(row[1]), near, with_it)


def lost_object(
    number: int, truth: Numpy, rows: Numpy, overlaps: Numpy, same: Numpy, certain: Numpy, limits: tuple[float, float]
) -> Fault:
    """Why an object was missed. limits: the area of the picture, and the overlap from which on a detection is right."""
    area, threshold = limits
    why, at = "nothing", None
    choices = [("score", same & ~certain & (overlaps >= threshold)), ("class", ~same & certain & (overlaps >= threshold)),
               ("place", same & (overlaps >= NEAR))]  # fmt: skip
    for name, chosen in choices:
        if chosen.any():
            why, at = name, int(np.flatnonzero(chosen)[0])  # the one with the highest score
            break
    left, top, right, bottom = truth[1:5]
    share = max(0.0, right - left) * max(0.0, bottom - top) / area
    near = None if at is None else (int(rows[at, 0]), float(rows[at, 1]), tuple(rows[at, 2:6].tolist()))
    with_it = 0.0 if at is None else float(overlaps[at])
    return Fault(number, int(truth[0]), tuple(truth[1:5].tolist()), why, float(share), near, with_it, missed=True)
