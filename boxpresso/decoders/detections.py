"""What a detector finds in one picture: `Detections`, arrays with a row for each object, and `Detection`, one of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Union, overload

import numpy as np

from ..device import open_device
from ..layers.detection.suppress import suppress_boxes
from ..proto.errors import BoxpressoError

Numpy = np.ndarray[Any, Any]
Box = tuple[float, float, float, float]
Point = tuple[float, float]
KINDS = ("boxes", "classes", "segments", "picture")


@dataclass(frozen=True)
class Detection:
    """One object.

    Attributes
    ----------
    label
        The name of its class where names are known, else its number, as the net numbers classes.
    score
        From 0 to 1.
    box
        Left, top, right and bottom in pixels of the picture as it is shown (after its EXIF turn), clipped to it; with
        `Detector(clip=False)` the box of an object that is partly outside the picture may be too.
    """

    label: int | str
    score: float
    box: Box

    @property
    def number(self) -> int:
        """The number of its class, as the net numbers classes."""
        if isinstance(self.label, str):
            raise BoxpressoError(f"the number of the class {self.label!r} is not known; give labels as numbers")
        return self.label


@dataclass(frozen=True)
class RotatedDetection(Detection):
    """One object of a net for rotated boxes; `box` is the upright box around `rotated`.

    Attributes
    ----------
    rotated
        Centre x, centre y, height, width, and the angle in degrees, anti-clockwise.
    """

    rotated: tuple[float, float, float, float, float]


@dataclass(frozen=True)
class DetailedDetection(Detection):
    """One object of which more is known than its class and its upright box.

    Attributes
    ----------
    number
        The number of its class, as the net numbers classes.
    name
        The name of its class, None where it is not known.
    rotated
        As of RotatedDetection, None for an upright box.
    angle
        By how many degrees the object is turned, anti-clockwise.
    quadrilateral
        Its four corners (x, y), the top left one of the upright object first, then clockwise.
    landmarks
        Points (x, y) in the decoder's order; None for one that was not found.
    mask
        (H, W) of the picture, bool: the object's pixels.
    """

    number: int = 0
    name: str | None = None
    rotated: tuple[float, float, float, float, float] | None = None
    angle: float | None = None
    quadrilateral: tuple[Point, ...] | None = None
    landmarks: tuple[Point | None, ...] | None = None
    mask: Numpy | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Detections(Sequence[Detection]):
    """The objects of one picture, in pixels of the picture as it is shown. It is a sequence of Detection.

    Parameters
    ----------
    boxes
        (N, 4) float32: left, top, right, bottom.
    scores
        (N,) float32, from 0 to 1.
    labels
        (N,) int64, as the net numbers classes.
    names
        {label: name}.
    angles
        (N,) float32, degrees, anti-clockwise; or None.
    quadrilaterals
        (N, 4, 2) float32, corners (x, y), the top left one of the upright object first, then clockwise; or None. With
        `angles` they are rotated boxes.
    landmarks
        (N, K, 2) float32, points (x, y), NaN for one that was not found; or None.
    landmark_scores
        (N, K) float32, or None.
    links
        Pairs of landmarks that a line joins, such as the limbs of a pose.
    masks
        (N, H, W) bool, or None.
    kind
        "boxes"; "classes", of the whole picture; "segments", a class of each pixel; "picture", where the result is `picture`.
    picture
        (H, W) or (H, W, 3) uint8 in RGB order: what a net gives that makes a picture; or None.

    Raises
    ------
    BoxpressoError
        For arrays that do not fit each other.

    Examples
    --------
    >>> found = Detections([[0, 0, 10, 10], [1, 1, 10, 10]], [0.9, 0.6], [1, 2], {1: "cat"})
    >>> len(found), found[0].label, found[1].label, found.boxes.shape
    (2, 'cat', 2, (2, 4))
    >>> found[found.scores > 0.7]
    Detections(1: cat 0.90 (0, 0, 10, 10))
    """

    boxes: Numpy
    scores: Numpy
    labels: Numpy
    names: Mapping[int, str] = field(default_factory=dict)
    angles: Numpy | None = None
    quadrilaterals: Numpy | None = None
    landmarks: Numpy | None = None
    landmark_scores: Numpy | None = None
    masks: Numpy | None = None
    links: tuple[tuple[int, int], ...] = ()
    kind: str = "boxes"
    picture: Numpy | None = None

    def __post_init__(self) -> None:
        count = np.size(self.scores)
        wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
            "boxes": (np.float32, (count, 4)),
            "scores": (np.float32, (count,)),
            "labels": (np.int64, (count,)),
            "angles": (np.float32, (count,)),
            "quadrilaterals": (np.float32, (count, 4, 2)),
            "landmarks": (np.float32, (count, -1, 2)),
            "landmark_scores": (np.float32, (count, -1)),
            "masks": (np.bool_, (count, -1, -1)),
        }
        for name, (dtype, shape) in wanted.items():
            value = getattr(self, name)
            if value is None:
                continue
            array = np.asarray(value, dtype)
            if not array.size and not count and array.ndim != len(shape):
                array = array.reshape([max(0, side) for side in shape])
            fits = array.ndim == len(shape) and all(s in (-1, a) for s, a in zip(shape, array.shape))
            if not fits:
                stated = ", ".join("any" if side < 0 else str(side) for side in shape)
                raise BoxpressoError(f"{name} of {count} detections must have the shape ({stated}), got {array.shape}")
            object.__setattr__(self, name, array)
        if self.kind not in KINDS:
            raise BoxpressoError(f"the kind of detections is one of {', '.join(KINDS)}, got {self.kind!r}")

    @classmethod
    def none(cls, names: Mapping[int, str] | None = None, **more: Any) -> Detections:
        """No detections."""
        return cls(np.zeros((0, 4)), np.zeros(0), np.zeros(0), names or {}, **more)

    @classmethod
    def concatenate(cls, parts: Sequence[Detections]) -> Detections:
        """All detections of several, in their order.

        Raises BoxpressoError where some have, say, landmarks and others not, or where the same number has two names.
        """
        if not parts:
            return cls.none()
        names: dict[int, str] = {}
        for part in parts:
            for label, name in part.names.items():
                if names.setdefault(label, name) != name:
                    raise BoxpressoError(
                        f"label {label} is {names[label]!r} in one of the detections, {name!r} in another"
                    )
        joined: dict[str, Any] = {}
        rows = [part for part in parts if len(part)] or list(parts[:1])
        for name in ARRAYS:
            values = [getattr(part, name) for part in rows]
            missing = sum(value is None for value in values)
            if missing not in (0, len(values)):
                raise BoxpressoError(f"some of the detections have {name}, others not; they cannot be concatenated")
            joined[name] = None if missing else np.concatenate(values)
        return replace(rows[0], names=names, **joined)

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, index: int) -> Detection: ...
    @overload
    def __getitem__(self, index: slice | Numpy | Sequence[int] | Sequence[bool]) -> Detections: ...
    def __getitem__(self, index: Any) -> Detection | Detections:
        """One detection by its index; several by a slice, an array of indices or a mask."""
        if isinstance(index, (int, np.integer)):
            return self.row(range(len(self))[index])
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = index if index.dtype == bool else index.astype(np.intp)
        return self.take(index)

    def take(self, index: Numpy | slice) -> Detections:
        """The detections of these indices, or of this mask."""
        chosen = {name: value[index] for name in ARRAYS if (value := getattr(self, name)) is not None}
        return replace(self, **chosen)

    def __iter__(self) -> Iterator[Detection]:
        return (self.row(i) for i in range(len(self)))

    def row(self, i: int) -> Detection:
        """Detection `i` as plain Python values."""
        number, score, box = int(self.labels[i]), float(self.scores[i]), plain(self.boxes[i])
        name = self.names.get(number)
        label = number if name is None else name
        extra = any(value is not None for value in (self.landmarks, self.masks, self.quadrilaterals, self.angles))
        if name is None and not extra:
            return Detection(number, score, box)
        turned = plain(self.rotated[i]) if self.angles is not None and self.quadrilaterals is not None else None
        if name is None and turned is not None and self.landmarks is None and self.masks is None:
            return RotatedDetection(number, score, box, turned)
        points = None
        if self.landmarks is not None:
            points = tuple(plain(p) if np.isfinite(p).all() else None for p in self.landmarks[i])
        return DetailedDetection(
            label, score, box, number, name, turned,
            None if self.angles is None else float(self.angles[i]),
            None if self.quadrilaterals is None else tuple(plain(p) for p in self.quadrilaterals[i]),
            points,
            None if self.masks is None else self.masks[i],
        )  # fmt: skip

    @property
    def rotated(self) -> Numpy:
        """(N, 5): centre x, centre y, height, width and angle of the rotated boxes.

        Raises BoxpressoError where boxes are not rotated.
        """
        if self.quadrilaterals is None or self.angles is None:
            raise BoxpressoError("these detections have no rotated boxes")
        corners = self.quadrilaterals.astype(np.float64)
        sides = np.linalg.norm(corners[:, [3, 1]] - corners[:, :1], axis=2)
        return np.concatenate([corners.mean(1), sides, self.angles[:, None]], 1)

    def label(self, i: int) -> str:
        """The name of detection `i`'s class, or "label 3"."""
        return self.names.get(int(self.labels[i])) or f"label {self.labels[i]}"

    def filter(self, score: float = 0.0, labels: Sequence[int | str] | None = None) -> Detections:
        """The detections of at least this score, and of these classes, given by number or name."""
        keep = self.scores >= np.float32(score)
        if labels is not None:
            numbers = [n for n in set(self.labels.tolist()) if n in labels or self.names.get(n) in labels]
            keep &= np.isin(self.labels, np.array(numbers, np.int64))
        return self.take(keep)

    def sorted(self) -> Detections:
        """Best first."""
        return self.take(np.argsort(-self.scores, kind="stable"))

    def finite(self) -> Detections:
        """Those whose box and score are finite numbers."""
        return self.take(np.isfinite(self.boxes).all(1) & np.isfinite(self.scores))

    def clipped(self, width: float, height: float) -> Detections:
        """With upright boxes clipped to a picture of this size, without those that lie outside it. Rotated boxes,
        quadrilaterals and landmarks stay as they are.

        Examples
        --------
        >>> detections = Detections([[-2, 3, 9, 40], [50, 0, 60, 9]], [0.9, 0.8], [1, 1])
        >>> detections.clipped(20, 30)
        Detections(1: 1 0.90 (0, 3, 9, 30))
        """
        if self.quadrilaterals is not None or self.kind != "boxes":
            return self
        corners = self.boxes.reshape(-1, 2, 2)
        meets = np.all((corners[:, 0] < [width, height]) & (corners[:, 1] > 0), axis=1)
        holds = np.all((corners >= 0) & (corners <= [width, height]), axis=(1, 2))  # so has an empty one at the edge
        bounds = np.array([width, height, width, height], np.float32)
        return replace(self, boxes=np.clip(self.boxes, 0, bounds)).take(np.asarray(meets | holds))

    def suppress(self, overlap: float, *, across: bool = False, pixels: bool = False) -> Detections:
        """Best first, without those that overlap a better one that stays by more than `overlap`.

        Parameters
        ----------
        overlap
            Of intersection over union; of rotated boxes that of these.
        across
            Whether detections of different classes suppress each other.
        pixels
            Whether boxes name their last pixels, so that a width is right - left + 1.

        Examples
        --------
        >>> found = Detections([[0, 0, 10, 10], [1, 1, 10, 10]], [0.6, 0.9], [1, 2])
        >>> len(found.suppress(0.5)), found.suppress(0.5, across=True).labels
        (2, array([2]))
        """
        found = self.sorted()
        group = np.argsort(np.zeros(len(found)) if across else found.labels, kind="stable")
        found = found.take(group)
        edges = np.flatnonzero(np.diff(found.labels)) + 1 if not across else np.zeros(0, int)
        starts = np.concatenate([[0], edges, [len(found)]]).astype(np.int32)
        if found.angles is not None and found.quadrilaterals is not None:
            boxes = found.rotated[:, [0, 1, 3, 2, 4]] * [1, 1, 1, 1, -np.pi / 180]
        else:
            boxes = found.boxes.astype(np.float64)
        stay = suppress_boxes(open_device("cpu"), boxes, overlap, starts=starts, pixels=pixels, strict=True)
        return found.take(stay).sorted()

    def __repr__(self) -> str:
        rows = [
            f"{self.names.get(int(n), n)} {s:.2f} ({', '.join(f'{v:.0f}' for v in b)})"
            for n, s, b in zip(self.labels[:3], self.scores[:3], self.boxes[:3])
        ]
        more = [f"and {len(self) - 3} more"] if len(self) > 3 else []
        return f"Detections({len(self)}{': ' if rows else ''}{', '.join(rows + more)})"


ARRAYS = tuple(
    f.name
    for f in fields(Detections)
    if f.name in ("boxes", "scores", "labels", "angles", "quadrilaterals", "landmarks", "landmark_scores", "masks")
)
Found = Union[Detections, Sequence[Detection]]


def plain(values: Any) -> Any:
    """A tuple of Python's floats."""
    return tuple(map(float, values))


def as_detections(found: Any, names: Mapping[int, str] | None = None) -> Detections:
    """Detections of a list of Detection, or of anything else with label, score and box; names are added."""
    if isinstance(found, Detections):
        return replace(found, names={**found.names, **names}) if names else found
    rows = list(found)
    numbers = [getattr(row, "number", row.label) for row in rows]
    own = {n: row.label for n, row in zip(numbers, rows) if isinstance(row.label, str)}
    boxes, scores = [row.box for row in rows], [row.score for row in rows]
    turned = [getattr(row, "rotated", None) for row in rows]
    more: dict[str, Any] = {}
    if rows and all(value is not None for value in turned):
        from ..layers.detection.rcnn import Rotated

        table = np.array(turned, np.float64)
        more = {"angles": table[:, 4], "quadrilaterals": Rotated.corners(table)}
    else:
        quads = [getattr(row, "quadrilateral", None) for row in rows]
        if rows and all(value is not None for value in quads):
            more["quadrilaterals"] = quads
    points = [getattr(row, "landmarks", None) for row in rows]
    if rows and all(value is not None for value in points):
        more["landmarks"] = [[(np.nan, np.nan) if p is None else p for p in row or ()] for row in points]
    return Detections(
        np.array(boxes, np.float32).reshape(-1, 4),
        np.array(scores),
        np.array(numbers),
        {**own, **(names or {})},
        **more,
    )
