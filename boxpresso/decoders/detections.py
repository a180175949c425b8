"""What a detector finds in one picture: `Detections`, arrays with a row for each object, and `Detection`, one of its rows."""

from __future__ import annotations

import base64
import html
import importlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Union, overload

import numpy as np
from PIL import Image as PillowModule
from PIL.Image import Image as PillowImage

from ..data.image import ImageLike, as_image
from ..device import open_device
from ..device.functions import length
from ..layers.detection.suppress import suppress_boxes
from ..proto.errors import BoxpressoError, nearest

Numpy = np.ndarray[Any, Any]
Box = tuple[float, float, float, float]
Point = tuple[float, float]
THUMBNAIL, LISTED = 800, 20  # in a notebook: pixels of the longer side, and rows of the table
KINDS = ("boxes", "classes", "segments", "picture")


@dataclass(frozen=True, repr=False)
class Detection:
    """One object.

    Attributes
    ----------
    class_id
        The number of its class, as the net numbers classes.
    score
        From 0 to 1.
    box
        Left, top, right and bottom (xyxy) in pixels of the picture as it is shown (after its EXIF turn), clipped to it; with
        `Detector(clip=False)` the box of an object that is partly outside the picture may be too. Of a rotated object it is
        the upright box around it.
    rotated
        Of a net for rotated boxes: centre x, centre y, height, width, and the angle in degrees, anti-clockwise; else None.
    class_name
        The name of its class, None where it is not known.
    angle
        By how many degrees the object is turned, anti-clockwise; None where that is not known.
    quadrilateral
        Its four corners (x, y), the top left one of the upright object first, then clockwise; or None.
    landmarks
        Points (x, y) in the decoder's order, None for one that was not found; or None.
    mask
        (H, W) of the picture, bool: the object's pixels; or None.
    label, number, name
        Older names: class_name where it is known, else class_id; class_id; class_name.

    Examples
    --------
    >>> found = Detection(7, 0.5, (1.0, 2.0, 3.0, 4.0), class_name="cat")
    >>> found, found.label
    (Detection(class_id=7, score=0.5, box=(1.0, 2.0, 3.0, 4.0), class_name='cat'), 'cat')
    """

    class_id: int
    score: float
    box: Box
    rotated: tuple[float, float, float, float, float] | None = None
    class_name: str | None = field(default=None, kw_only=True)
    angle: float | None = field(default=None, kw_only=True)
    quadrilateral: tuple[Point, ...] | None = field(default=None, kw_only=True)
    landmarks: tuple[Point | None, ...] | None = field(default=None, kw_only=True)
    mask: Numpy | None = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.class_id, str):
            raise BoxpressoError(
                f"the number of the class {self.class_id!r} is not known: Detection(class_id, score, box, class_name=..)"
            )

    @property
    def label(self) -> int | str:
        """An older name: class_name where it is known, else class_id."""
        return self.class_id if self.class_name is None else self.class_name

    @property
    def number(self) -> int:
        """An older name of class_id."""
        return self.class_id

    @property
    def name(self) -> str | None:
        """An older name of class_name."""
        return self.class_name

    def __repr__(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.mask is not None:
            values["mask"] = f"{int(self.mask.sum())} pixels of {self.mask.shape[1]} x {self.mask.shape[0]}"
        described = ", ".join(f"{name}={value!r}" for name, value in values.items() if value is not None)
        return f"Detection({described})"


RotatedDetection = DetailedDetection = Detection  # older names


@dataclass(frozen=True, eq=False)
class Detections(Sequence[Detection]):
    """The objects of one picture, in pixels of the picture as it is shown. It is a sequence of Detection.

    Parameters
    ----------
    boxes
        (N, 4) float32: left, top, right, bottom.
    scores
        (N,) float32, from 0 to 1.
    class_ids
        (N,) int64, as the net numbers classes. `labels` is an older name.
    names
        {class_id: class_name}.
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
    image
        The picture that they are of, as it was given (a path, an array ..), for `plot`, `show` and `save`; None where it is
        not known.

    Raises
    ------
    BoxpressoError
        For arrays that do not fit each other.

    Examples
    --------
    >>> found = Detections([[0, 0, 10, 10], [1, 1, 10, 10]], [0.9, 0.6], [1, 2], {1: "cat"})
    >>> len(found), found[0].class_name, found[1].class_id, found.boxes.shape
    (2, 'cat', 2, (2, 4))
    >>> found[found.scores > 0.7]
    Detections(1: cat 0.90 (0, 0, 10, 10))
    >>> found[found.class_ids == 2].class_names
    [None]
    """

    boxes: Numpy
    scores: Numpy
    class_ids: Numpy
    names: Mapping[int, str] = field(default_factory=dict)
    angles: Numpy | None = None
    quadrilaterals: Numpy | None = None
    landmarks: Numpy | None = None
    landmark_scores: Numpy | None = None
    masks: Numpy | None = None
    links: tuple[tuple[int, int], ...] = ()
    kind: str = "boxes"
    picture: Numpy | None = None
    image: ImageLike | None = None

    def __post_init__(self) -> None:
        count = np.size(self.scores)
        wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
            "boxes": (np.float32, (count, 4)),
            "scores": (np.float32, (count,)),
            "class_ids": (np.int64, (count,)),
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
            with np.errstate(over="ignore"):  # a box of weights that are no good: what float32 cannot hold is infinite
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
        image = parts[0].image if all(part.image is parts[0].image for part in parts) else None
        joined: dict[str, Any] = {"image": image}
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
        class_id, score, box = int(self.class_ids[i]), float(self.scores[i]), plain(self.boxes[i])
        points = None
        if self.landmarks is not None:
            points = tuple(plain(p) if np.isfinite(p).all() else None for p in self.landmarks[i])
        turned = self.angles is not None and self.quadrilaterals is not None
        return Detection(
            class_id,
            score,
            box,
            plain(self.rotated[i]) if turned else None,
            class_name=self.names.get(class_id),
            angle=None if self.angles is None else float(self.angles[i]),
            quadrilateral=None if self.quadrilaterals is None else tuple(plain(p) for p in self.quadrilaterals[i]),
            landmarks=points,
            mask=None if self.masks is None else self.masks[i],
        )

    @property
    def labels(self) -> Numpy:
        """An older name of class_ids."""
        return self.class_ids

    @property
    def class_names(self) -> list[str | None]:
        """The name of each one's class, None where it is not known."""
        return [self.names.get(class_id) for class_id in self.class_ids.tolist()]

    @property
    def rotated(self) -> Numpy:
        """(N, 5): centre x, centre y, height, width and angle of the rotated boxes.

        Raises BoxpressoError where boxes are not rotated.
        """
        if self.quadrilaterals is None or self.angles is None:
            raise BoxpressoError("these detections have no rotated boxes")
        corners = self.quadrilaterals.astype(np.float64)
        sides = length(corners[:, [3, 1]] - corners[:, :1])
        return np.concatenate([corners.mean(1), sides, self.angles[:, None]], 1)

    def label(self, i: int) -> str:
        """The name of detection `i`'s class, or "label 3"."""
        return self.names.get(int(self.class_ids[i])) or f"label {self.class_ids[i]}"

    def filter(self, score: float = 0.0, labels: Sequence[int | str] | int | str | None = None) -> Detections:
        """The detections of at least this score, and of these classes, or this one, given by number or name.

        Raises BoxpressoError for a name that no class has.
        """
        keep = self.scores >= np.float32(score)
        if labels is not None:
            labels = [labels] if isinstance(labels, (int, str, np.integer)) else labels
            keep &= np.isin(self.class_ids, np.array(numbers_of(labels, self.names), np.int64))
        return self.take(keep)

    # What people do with them

    def plot(self, image: ImageLike | None = None) -> PillowImage:
        """A copy of the picture with boxes, names and scores drawn, as a Pillow image; see `boxpresso.drawing`.

        Parameters
        ----------
        image
            The picture; by default the one that they are of, which is read again where it was given as a path.

        Raises
        ------
        BoxpressoError
            Where the picture is neither given nor known, or cannot be read.
        """
        from .drawing import draw

        if image is None and self.picture is not None:
            image = self.picture  # of which nothing is drawn: it is the result itself
        return draw(as_image(self._picture(image)), self)

    def show(self, image: ImageLike | None = None) -> None:
        """Shows `plot` in the notebook that this runs in, else in the viewer of this machine."""
        notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if notebook is not None and hasattr(notebook, "kernel"):
            importlib.import_module("IPython.display").display(self.plot(image))
        else:
            self.plot(image).show("detections")

    def save(self, path: str | os.PathLike[str], image: ImageLike | None = None) -> None:
        """Writes `plot` to a picture file (.png, .jpg ..), or, to a .json file, `to_json`.

        Raises BoxpressoError where the file cannot be written, or its ending is of no picture.
        """
        from ..proto.files import beside, write_text

        target = Path(path)
        if target.suffix.lower() == ".json":
            write_text(target, json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n")
            return
        PillowModule.init()
        if target.suffix.lower() not in PillowModule.EXTENSION:
            raise BoxpressoError(f"{target} ends in no picture's ending (.png, .jpg ..), nor in .json")
        drawing = self.plot(image)
        part = beside(target, target.suffix)
        try:
            drawing.save(part, PillowModule.EXTENSION[target.suffix.lower()])
            os.replace(part, target)
        except (OSError, ValueError, KeyError) as error:  # Pillow's of a format that it only reads
            part.unlink(missing_ok=True)
            raise BoxpressoError(f"cannot write {target}: {getattr(error, 'strerror', None) or error}") from error

    def to_json(self) -> list[dict[str, Any]]:
        """Each detection as plain values: class_id, class_name, score, box, and what else there is; see `saving.as_json`."""
        from .saving import as_json

        return as_json(self)

    def to_coco(self, image_id: int | str, categories: Mapping[int, int | str] | None = None) -> list[dict[str, Any]]:
        """COCO's results, as pycocotools' loadRes reads them: image_id, category_id, bbox (left, top, width, height), score.

        Parameters
        ----------
        image_id
            Of the picture, in the annotations.
        categories
            {class_id: category_id}; by default the class_ids themselves.

        Examples
        --------
        >>> Detections([[1, 2, 4, 8]], [0.5], [7]).to_coco(139)
        [{'image_id': 139, 'category_id': 7, 'bbox': [1.0, 2.0, 3.0, 6.0], 'score': 0.5}]
        """
        from .saving import coco_results

        return coco_results(self, str(image_id), image_id, categories)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each: class_id, class_name, score, xmin, ymin, xmax, ymax, and angle where known.

        Raises BoxpressoError where pandas is not installed.
        """
        pandas = extra_package("pandas", "to_pandas")
        columns: dict[str, Any] = {"class_id": self.class_ids, "class_name": self.class_names, "score": self.scores}
        columns.update(zip(("xmin", "ymin", "xmax", "ymax"), self.boxes.T))
        if self.angles is not None:
            columns["angle"] = self.angles
        return pandas.DataFrame(columns)

    def to_supervision(self) -> Any:
        """A supervision.Detections: xyxy, mask, confidence, class_id, and `data` with class_name, and with the corners of
        rotated boxes as supervision has them (xyxyxyxy).

        Raises BoxpressoError where supervision is not installed.
        """
        supervision = extra_package("supervision", "to_supervision")
        data: dict[str, Any] = {"class_name": np.array([self.label(i) for i in range(len(self))], dtype=str)}
        if self.quadrilaterals is not None:
            data["xyxyxyxy"] = self.quadrilaterals
        return supervision.Detections(
            xyxy=self.boxes, mask=self.masks, confidence=self.scores, class_id=self.class_ids, data=data
        )

    def _picture(self, image: ImageLike | None) -> ImageLike:
        """The picture, or the one that these are of. Raises BoxpressoError."""
        if image is None and self.image is None:
            raise BoxpressoError("the picture of these detections is not known: give it, as plot(picture)")
        return self.image if image is None else image

    def _thumbnail(self) -> bytes | None:
        """The drawing as PNG, shrunk where it is large; None where there is no picture any more."""
        if self.image is None and self.picture is None:
            return None
        try:
            drawing = self.plot()
        except BoxpressoError:
            return None
        drawing.thumbnail((THUMBNAIL, THUMBNAIL))
        to = io.BytesIO()
        drawing.save(to, "PNG")
        return to.getvalue()

    def _repr_png_(self) -> bytes | None:
        """The drawing, for notebooks."""
        return self._thumbnail()

    def _repr_html_(self) -> str:
        """The drawing and a table, for notebooks."""
        png = self._thumbnail()
        text = "" if png is None else f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}"><br>'
        angles = ["angle"] if self.angles is not None else []
        head = ["class_id", "class_name", "score", "left", "top", "right", "bottom", *angles]
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>"]
        for row in self[:LISTED]:
            numbers = [
                f"{value:.1f}" for value in (*row.box, *([row.angle] if angles and row.angle is not None else []))
            ]
            cells = [str(row.class_id), html.escape(row.class_name or ""), f"{row.score:.3f}", *numbers]
            rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        more = f"<br>and {len(self) - LISTED} more" if len(self) > LISTED else ""
        count = f"{len(self)} detection{'s' * (len(self) != 1)}"
        return f"{text}{count}{f'<table>{chr(10).join(rows)}</table>' if len(self) else ''}{more}"

    # Other detections of these

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
        >>> len(found.suppress(0.5)), found.suppress(0.5, across=True).class_ids
        (2, array([2]))
        """
        ordered = self.sorted()
        group = np.argsort(np.zeros(len(ordered)) if across else ordered.class_ids, kind="stable")
        ordered = ordered.take(group)
        edges = np.flatnonzero(np.diff(ordered.class_ids)) + 1 if not across else np.zeros(0, int)
        starts = np.concatenate([[0], edges, [len(ordered)]]).astype(np.int32)
        if ordered.angles is not None and ordered.quadrilaterals is not None:
            boxes = ordered.rotated[:, [0, 1, 3, 2, 4]] * [1, 1, 1, 1, -np.pi / 180]
        else:
            boxes = ordered.boxes.astype(np.float64)
        stay = suppress_boxes(open_device("cpu"), boxes, overlap, starts=starts, pixels=pixels, strict=True)
        return ordered.take(stay).sorted()

    def __repr__(self) -> str:
        rows = [
            f"{self.names.get(int(n), n)} {s:.2f} ({', '.join(f'{v:.0f}' for v in b)})"
            for n, s, b in zip(self.class_ids[:3], self.scores[:3], self.boxes[:3])
        ]
        more = [f"and {len(self) - 3} more"] if len(self) > 3 else []
        return f"Detections({len(self)}{': ' if rows else ''}{', '.join(rows + more)})"


ARRAYS = tuple(
    f.name
    for f in fields(Detections)
    if f.name in ("boxes", "scores", "class_ids", "angles", "quadrilaterals", "landmarks", "landmark_scores", "masks")
)
Found = Union[Detections, Sequence[Detection]]


def plain(values: Any) -> Any:
    """A tuple of Python's floats."""
    return tuple(map(float, values))


def numbers_of(classes: Iterable[int | str], names: Mapping[int, str]) -> list[int]:
    """The numbers of classes that are given by number or name. Raises BoxpressoError for a name that no class has.

    >>> numbers_of(["cat", 7], {1: "cat", 2: "dog", 3: "cat"})
    [1, 3, 7]
    """
    numbers: list[int] = []
    for one in classes:
        called = [number for number, name in names.items() if name == one] if isinstance(one, str) else [one]
        if not called:
            known = sorted(set(names.values()))
            listed = f"; the classes are {', '.join(known)}" if 0 < len(known) <= 100 else ""
            unnamed = "" if known else "; their names are not known: give numbers, or labels to the Detector"
            raise BoxpressoError(f"no class is called {one!r}{nearest(str(one), known)}{listed}{unnamed}")
        numbers += called
    return numbers


def class_id_of(row: Any) -> int:
    """The number of the class of a Detection, or of another's object, which may have it as class_id, number or label."""
    value = next((getattr(row, name) for name in ("class_id", "number", "label") if hasattr(row, name)), None)
    if value is None or isinstance(value, str):
        raise BoxpressoError(f"the number of the class of {row!r} is not known: it needs class_id")
    return int(value)


def extra_package(name: str, purpose: str) -> Any:
    """A package that is imported for one thing alone. Raises BoxpressoError that says how to get it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BoxpressoError(f"{purpose} needs {name}: pip install {name}") from error


def as_detections(detections: Any, names: Mapping[int, str] | None = None) -> Detections:
    """Detections of a list of Detection, or of anything else with class_id (or label), score and box; names are added."""
    if isinstance(detections, Detections):
        return replace(detections, names={**detections.names, **names}) if names else detections
    rows = list(detections)
    numbers = [class_id_of(row) for row in rows]
    own = {n: str(name) for n, row in zip(numbers, rows) if (name := getattr(row, "class_name", None)) is not None}
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
