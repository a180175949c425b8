"""Which detections are right, and what that is worth: precision, recall and average precision.

Rows of detections are (picture, label, score, xmin, ymin, xmax, ymax), rows of truth (picture, label, xmin, ymin, xmax, ymax,
difficult). Sources: the development kits of PASCAL VOC (Everingham et al. 2010), and SSD's Caffe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .boxes import jaccard
from .errors import DataError

RIGHT, SKIPPED, WRONG = 1, 0, -1


def at_recalls(points: int) -> Callable[[np.ndarray, np.ndarray], float]:
    """The mean, over evenly spaced recalls from 0 to 1, of the best precision at that recall or a higher one."""

    def mean(precision: np.ndarray, recall: np.ndarray) -> float:
        reached = np.searchsorted(recall.astype(np.float64), np.arange(points) / (points - 1))
        return float(np.append(envelope(precision), 0)[reached].mean())

    return mean


def envelope(precision: np.ndarray) -> np.ndarray:
    """At each place the best precision there or later, where recall is higher."""
    return np.maximum.accumulate(precision[::-1])[::-1]


def area(precision: np.ndarray, recall: np.ndarray) -> float:
    return float((precision * np.diff(recall, prepend=0)).sum(dtype=np.float64))


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "11point": at_recalls(11),  # VOC to 2009
    "101point": at_recalls(101),  # COCO
    "MaxIntegral": lambda precision, recall: area(envelope(precision), recall),  # VOC from 2010, ILSVRC
    "Integral": area,  # SSD's own
}


def average_precision(precision: np.ndarray, recall: np.ndarray, method: str = "MaxIntegral") -> float:
    """The average precision of a curve, (D,) and (D,), best detection first; by one of `METHODS`, in Caffe's names.

    "11point" and "101point" take the best precision at recalls 0, 0.1, .. 1 or 0, 0.01, .. 1; "MaxIntegral" is the area
    under the curve made to fall, "Integral" under the curve as it is. Raises DataError for another method.
    """
    if method not in METHODS:
        raise DataError(f"average precision by {method!r} is not known; take one of {', '.join(METHODS)}")
    return METHODS[method](precision, recall)


@dataclass(frozen=True)
class Curve:
    """What was found of one class, best first. Detections of difficult objects are left out of all but `skipped`.

    truths: how many objects there were to find; scores: (D,), falling; right: (D,), which detections are right.
    """

    truths: int
    scores: np.ndarray
    right: np.ndarray
    skipped: int = 0

    @property
    def precision(self) -> np.ndarray:
        """Which part of the best 1, 2, .. D detections is right."""
        return np.cumsum(self.right) / np.arange(1, len(self.right) + 1)

    @property
    def recall(self) -> np.ndarray:
        """Which part of the objects they find; 0 where there is none to find."""
        return np.cumsum(self.right) / max(1, self.truths)

    def ap(self, method: str = "MaxIntegral") -> float:
        """The average precision; NaN where there was nothing to find."""
        value = average_precision(self.precision, self.recall, method)
        return value if self.truths else float("nan")


def judge(
    found: np.ndarray, truth: np.ndarray, difficult: np.ndarray, overlap: float = 0.5, last_inside: bool = False
) -> np.ndarray:
    """For one picture and class: RIGHT, SKIPPED or WRONG (D,) for boxes found (D, 4), best first; true ones (G, 4).

    A detection is right when the true box that it overlaps most (among equals the first) is overlapped by at least
    `overlap`, and not taken by a better detection; when that box is difficult (G,), it is skipped, as are others that take
    it. last_inside: corners name the last pixel of a box, so that its width is xmax - xmin + 1, as in VOC's files.
    """
    states = np.full(len(found), WRONG)
    if not len(truth):
        return states
    end = [0, 0, last_inside, last_inside]
    shared = jaccard((found + end)[:, None], (truth + end)[None])
    taken = np.zeros(len(truth), bool)
    for i, at in enumerate(shared.argmax(1)):
        if shared[i, at] >= overlap:
            states[i] = SKIPPED if difficult[at] else WRONG if taken[at] else RIGHT
            taken[at] = True
    return states


def curves(found: np.ndarray, truth: np.ndarray, overlap: float = 0.5, last_inside: bool = False) -> dict[int, Curve]:
    """{label: Curve} of rows found (D, 7) and true (G, 7), for the labels of either; see `judge`.

    Detections of equal score keep the order that they have. Raises DataError for another shape or numbers that are not finite.
    """
    for rows, what in ((found, "detections"), (truth, "truth")):
        if rows.ndim != 2 or rows.shape[1] != 7:
            raise DataError(f"the {what} must be rows of 7 numbers, got shape {rows.shape}")
        bad = np.flatnonzero(~np.isfinite(rows).all(1))
        if len(bad):
            raise DataError(f"row {bad[0]} of the {what} is not finite: {rows[bad[0]].tolist()}")
    found = found[np.argsort(-found[:, 2], kind="stable")]
    made = {}
    for label in np.union1d(found[:, 1], truth[:, 1]):
        mine, true = found[found[:, 1] == label], truth[truth[:, 1] == label]
        states = np.full(len(mine), WRONG)
        places = np.argsort(mine[:, 0], kind="stable")
        there = np.argsort(true[:, 0], kind="stable")
        for picture in np.intersect1d(mine[:, 0], true[:, 0]):
            a = places[slice(*np.searchsorted(mine[places, 0], [picture, picture + 1]))]
            b = there[slice(*np.searchsorted(true[there, 0], [picture, picture + 1]))]
            states[a] = judge(mine[a, 3:], true[b, 2:6], true[b, 6] != 0, overlap, last_inside)
        counted = states != SKIPPED
        made[int(label)] = Curve(
            int((true[:, 6] == 0).sum()), mine[counted, 2], states[counted] == RIGHT, int((~counted).sum())
        )
    return made


def curves_of_rows(rows: np.ndarray) -> dict[int, Curve]:
    """{label: Curve} of the rows (R, 5) that DetectionEvaluate gave for any number of batches, one after the other."""
    counts, found = rows[rows[:, 0] == -1], rows[rows[:, 0] != -1]
    found = found[np.argsort(-found[:, 2], kind="stable")]
    made = {}
    for label in np.unique(counts[:, 1]):
        mine = found[found[:, 1] == label]
        judged = mine[mine[:, 3:].any(1)]
        truths = int(counts[counts[:, 1] == label, 2].sum())
        made[int(label)] = Curve(truths, judged[:, 2], judged[:, 3] != 0, len(mine) - len(judged))
    return made
