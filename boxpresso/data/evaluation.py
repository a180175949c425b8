"""Which detections are right, and the precision, recall and average precision that follow from it.

Rows of detections are (image, label, score, xmin, ymin, xmax, ymax), rows of truth (image, label, xmin, ymin, xmax, ymax,
difficult). Sources: the development kits of PASCAL VOC (Everingham et al. 2010), and SSD's Caffe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .boxes import area, iou
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


def area_under(precision: np.ndarray, recall: np.ndarray) -> float:
    """The area under a curve of precision over recall."""
    return float((precision * np.diff(recall, prepend=0)).sum(dtype=np.float64))


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "11point": at_recalls(11),  # VOC to 2009
    "101point": at_recalls(101),  # COCO
    "MaxIntegral": lambda precision, recall: area_under(envelope(precision), recall),  # VOC from 2010, ILSVRC
    "Integral": area_under,  # SSD's own
}


def average_precision(precision: np.ndarray, recall: np.ndarray, method: str = "MaxIntegral") -> float:
    """The average precision of a curve.

    Parameters
    ----------
    precision, recall : (D,), of the 1, 2, .. D best detections.
    method : in Caffe's names. "11point" and "101point" take the best precision at recalls 0, 0.1, .. 1 or 0, 0.01, .. 1;
        "MaxIntegral" is the area under the curve after it was made to fall, "Integral" the area under the curve as it is.

    Raises
    ------
    DataError: another method.

    Examples
    --------
    >>> import numpy as np
    >>> precision, recall = np.array([1, 0.5, 2 / 3]), np.array([0.5, 0.5, 1])
    >>> [round(average_precision(precision, recall, method), 3) for method in METHODS]
    [0.848, 0.835, 0.833, 0.833]
    """
    if method not in METHODS:
        raise DataError(f"average precision by {method!r} is not known; take one of {', '.join(METHODS)}")
    return METHODS[method](precision, recall)


@dataclass(frozen=True)
class Curve:
    """The detections of one class, best first. Those of difficult objects are left out of all but `skipped`.

    truths: how many objects there were to detect; scores: (D,), falling; right: (D,), which detections are right.
    """

    truths: int
    scores: np.ndarray
    right: np.ndarray
    skipped: int = 0

    @property
    def precision(self) -> np.ndarray:
        """The fraction of the best 1, 2, .. D detections that is right."""
        return np.cumsum(self.right) / np.arange(1, len(self.right) + 1)

    @property
    def recall(self) -> np.ndarray:
        """The fraction of the objects that they detect; 0 where there is no object."""
        return np.cumsum(self.right) / max(1, self.truths)

    def ap(self, method: str = "MaxIntegral") -> float:
        """The average precision by one of `METHODS`; NaN where there is no object."""
        value = average_precision(self.precision, self.recall, method)
        return value if self.truths else float("nan")


def judge(overlaps: np.ndarray, difficult: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """Which detections of one image and class are right.

    A detection is right when the true box that it overlaps most (among equals the first) is overlapped by the threshold at
    least, and no better detection has taken that box. When that box is difficult, the detection is skipped, as is any other
    that takes it.

    Parameters
    ----------
    overlaps : (D, G), intersection over union of each detection, best first, with each true box.
    difficult : (G,), of the true boxes.

    Returns
    -------
    RIGHT, SKIPPED or WRONG for each detection (D,).

    Source
    ------
    The development kits of PASCAL VOC.

    Examples
    --------
    >>> import numpy as np
    >>> judge(np.array([[0.8, 0.1], [0.7, 0], [0, 0.6], [0, 0.4]]), np.array([False, True])).tolist()
    [1, -1, 0, -1]
    """
    states = np.full(len(overlaps), WRONG)
    if not overlaps.shape[1]:
        return states
    taken = np.zeros(overlaps.shape[1], bool)
    for i, at in enumerate(overlaps.argmax(1)):
        if overlaps[i, at] >= threshold:
            states[i] = SKIPPED if difficult[at] else WRONG if taken[at] else RIGHT
            taken[at] = True
    return states


@dataclass(frozen=True)
class Shapes:
    """What rows say of where an object is, when it is not an upright box.

    numbers: how many they are; overlaps: the intersection over union (A, B) of those of a (A, numbers) and b (B, numbers);
    areas: (A,), the area of each.
    """

    numbers: int
    overlaps: Callable[[np.ndarray, np.ndarray], np.ndarray]
    areas: Callable[[np.ndarray], np.ndarray]


def upright(last_inside: bool) -> Shapes:
    """Boxes xmin, ymin, xmax, ymax; last_inside: whether these name the last pixel."""
    end = np.array([0, 0, last_inside, last_inside])
    return Shapes(4, lambda a, b: iou((a + end)[:, None], b + end), lambda a: area(a + end))


def curves(
    detections: np.ndarray,
    truth: np.ndarray,
    overlap: float = 0.5,
    last_inside: bool = False,
    *,
    shapes: Shapes | None = None,
    area: tuple[float, float] | None = None,
) -> dict[int, Curve]:
    """The precision-recall curve of each label, by the rule of `judge` with `overlap` as its threshold.

    Parameters
    ----------
    detections : (D, 7), rows of detections; those of equal score keep their order.
    truth : (G, 7), rows of truth.
    last_inside : whether corners name the last pixel of a box, so that its width is xmax - xmin + 1, as in VOC's files.
    shapes : of rows that have other numbers in the place of the four corners.
    area : (low, high): objects whose area is not from low on and below high are as difficult ones, and a wrong detection whose
        own area is not so is skipped.

    Returns
    -------
    {label: Curve} for the labels of either.

    Raises
    ------
    DataError: rows of another shape, with numbers that are not finite, or labels that are not whole.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([[0, 1, 10, 10, 20, 20, 0]])
    >>> detections = np.array([[0, 1, 0.9, 10, 10, 20, 19], [0, 1, 0.8, 50, 50, 60, 60]])
    >>> curves(detections, truth)[1].ap()
    1.0
    """
    shapes = shapes or upright(last_inside)
    columns = shapes.numbers + 3
    for rows, kind in ((detections, "detections"), (truth, "truth")):
        if rows.ndim != 2 or rows.shape[1] != columns:
            raise DataError(f"the {kind} must be rows of {columns} numbers, got shape {rows.shape}")
        bad = np.flatnonzero(~np.isfinite(rows).all(1))
        if len(bad):
            raise DataError(f"row {bad[0]} of the {kind} is not finite: {rows[bad[0]].tolist()}")
        part = np.flatnonzero(rows[:, 1] != np.floor(rows[:, 1]))
        if len(part):
            raise DataError(f"row {part[0]} of the {kind} has the label {rows[part[0], 1]:g}, which is no whole number")
    detections = detections[np.argsort(-detections[:, 2], kind="stable")]
    other = np.zeros(len(detections), bool)  # of another size than is asked for
    if area is not None:
        truth = truth.copy()
        truth[outside(shapes.areas(truth[:, 2:-1]), area), -1] = 1
        other = outside(shapes.areas(detections[:, 3:]), area)
    result = {}
    for label in np.union1d(detections[:, 1], truth[:, 1]):
        chosen = detections[:, 1] == label
        mine, true = detections[chosen], truth[truth[:, 1] == label]
        states = np.full(len(mine), WRONG)
        order = np.argsort(mine[:, 0], kind="stable")
        true_order = np.argsort(true[:, 0], kind="stable")
        for image in np.intersect1d(mine[:, 0], true[:, 0]):
            a = order[slice(*np.searchsorted(mine[order, 0], [image, image + 1]))]
            b = true_order[slice(*np.searchsorted(true[true_order, 0], [image, image + 1]))]
            states[a] = judge(shapes.overlaps(mine[a, 3:], true[b, 2:-1]), true[b, -1] != 0, overlap)
        states[other[chosen] & (states == WRONG)] = SKIPPED
        counted = states != SKIPPED
        result[int(label)] = Curve(
            int((true[:, -1] == 0).sum()), mine[counted, 2], states[counted] == RIGHT, int((~counted).sum())
        )
    return result


def outside(areas: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Which areas are not from the first bound on and below the second."""
    return np.asarray((areas < bounds[0]) | (areas >= bounds[1]))


def curves_of_rows(rows: np.ndarray) -> dict[int, Curve]:
    """The precision-recall curve of each label, from the rows of the layer DetectionEvaluate.

    Parameters
    ----------
    rows : (R, 5), the rows of any number of batches, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> curve = curves_of_rows(np.array([[-1, 1, 2, -1, -1], [0, 1, 0.9, 1, 0], [0, 1, 0.8, 0, 1]]))[1]
    >>> curve.truths, curve.right.tolist(), curve.recall.tolist()
    (2, [True, False], [0.5, 0.5])
    """
    counts, detections = rows[rows[:, 0] == -1], rows[rows[:, 0] != -1]
    detections = detections[np.argsort(-detections[:, 2], kind="stable")]
    result = {}
    for label in np.unique(counts[:, 1]):
        mine = detections[detections[:, 1] == label]
        judged = mine[mine[:, 3:].any(1)]
        truths = int(counts[counts[:, 1] == label, 2].sum())
        result[int(label)] = Curve(truths, judged[:, 2], judged[:, 3] != 0, len(mine) - len(judged))
    return result
