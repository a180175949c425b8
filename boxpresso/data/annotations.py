"""Files of annotations as programs for labelling write them, recognised by what is in them, wherever in a folder they lie.

VOC's XML, CVAT's XML of images, LabelMe's and Label Studio's JSON, and tables in CSV. Each reader gives `Annotated` pictures: a
Scene, the names of the classes of its objects, and the name of the split that the file gives it. A picture that cannot be used
is a Scene with `wrong`, which names the file and the line or the entry; the others are read.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from ..proto.errors import ModelError
from ..proto.reading import read_file
from .errors import DataError
from .folders import PICTURES, Scene, checked, fill_voc, in_order, xml_root
from .lines import below, read_json, read_text, words_of
from .picture import size_of


@dataclass
class Annotated:
    """A picture, the classes of its objects, and its split; "" where the file does not say. table: a file of many pictures."""

    scene: Scene
    classes: list[str] = field(default_factory=list)
    split: str = ""
    table: Path | None = None


@dataclass
class Shape:
    """An object as a file has it: corners or points, in pixels or, where `unit` is not 1, in parts of the picture's sides."""

    name: str
    points: np.ndarray  # (K, 2); their box is the object's
    difficult: bool = False
    swapped: Sequence[str] = ()  # a line where a file has corners in another order than it should


class Files:
    """All files below a folder, hidden ones left out, and which picture a name in an annotation means.

    Links to folders are followed, to each once: pictures may lie on another disk.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.all: list[Path] = []
        seen = {os.path.realpath(root)}
        for folder, inner, names in os.walk(root, followlinks=True):
            there, inner[:] = sorted(name for name in inner if not name.startswith(".")), []
            for name in there:
                real = os.path.realpath(os.path.join(folder, name))
                if real not in seen:
                    seen.add(real)
                    inner.append(name)
            self.all += [Path(folder, name) for name in names if not name.startswith(".")]
        self.all.sort()

    def ending(self, *suffixes: str) -> list[Path]:
        return [path for path in self.all if path.suffix.lower() in suffixes]

    @cached_property
    def pictures(self) -> list[Path]:
        return self.ending(*PICTURES)

    @cached_property
    def by_stem(self) -> Mapping[str, list[Path]]:
        files: dict[str, list[Path]] = defaultdict(list)
        for path in self.pictures:
            files[composed(path.stem)].append(path)
        return files

    def picture(self, name: str, beside: Path, split: str = "") -> Path:
        """The picture of a name: as it stands from its annotation or the root, else by the end of its path.

        split: of several pictures, those below a folder of that name are preferred, then those beside the annotation, then
        those whose folders have most names in common with the annotation's. Raises DataError where there is none, or several
        fit as well.
        """
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..", ".")]
        if not parts:
            raise DataError(f"{beside}: the name of a picture is empty")
        for folder in (beside.parent, self.root):
            place = folder.joinpath(*parts)
            with suppress(OSError, ValueError):  # no name of a file
                if place.suffix.lower() in PICTURES and place.is_file():
                    return place
        stem = PurePosixPath(parts[-1]).stem if PurePosixPath(parts[-1]).suffix.lower() in PICTURES else parts[-1]
        same = self.by_stem.get(composed(stem), [])
        near = set(beside.parent.parts[len(self.root.parts) :])

        def fit(path: Path) -> tuple[int, bool, bool, int, bool]:
            folders = path.relative_to(self.root).parts[:-1]
            equal = [a == b for a, b in zip(reversed(folders), reversed(parts[:-1]))]
            return (
                [*equal, False].index(False),
                split in folders,
                path.parent == beside.parent,
                len(near.intersection(folders)),
                composed(path.name) == composed(parts[-1]),
            )

        best = sorted(same, key=fit, reverse=True)[:2]
        if not best:
            raise DataError(f"{beside}: there is no picture {'/'.join(parts)!r} in {self.root}")
        if len(best) == 2 and fit(best[0]) == fit(best[1]):
            raise DataError(f"{beside}: the picture {'/'.join(parts)!r} could be {best[0]} or {best[1]}")
        return best[0]


def composed(name: str) -> str:
    """A name with accents and letters as one sign each: macOS writes two in the names of files."""
    return unicodedata.normalize("NFC", name)


# What a file is


def first_tag(path: Path) -> str:
    """The name of the outermost element of a file of XML; "" for another file."""
    from xml.etree import ElementTree  # slow to import

    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(("start",))
    with suppress(OSError, ElementTree.ParseError, ValueError, LookupError), open(path, "rb") as file:
        for _ in range(16):
            parser.feed(file.read(4096))
            for event in parser.read_events():
                return str(event[1].tag)  # type: ignore[union-attr,misc]
    return ""


def kind_of(path: Path) -> str:
    """ "voc", "cvat", "coco", "labelme", "labelstudio" or "csv", for a file that is one; else ""."""
    suffix = path.suffix.lower()
    if suffix == ".xml":
        return {"annotation": "voc", "annotations": "cvat"}.get(first_tag(path), "")
    if suffix == ".csv":
        with suppress(DataError):
            return "csv" if Table(path).columns else ""
    if suffix == ".json":
        return kind_of_json(path)
    return ""


def kind_of_json(path: Path) -> str:
    with suppress(ModelError):
        data = read_file(path)
        if (
            b'"images"' not in data
            and b'"shapes"' not in data
            and b'"annotations"' not in data
            and b'"label"' not in data
        ):
            return ""  # most other files are not parsed
        with suppress(ValueError, RecursionError):
            value = json.loads(data)
            if isinstance(value, dict):
                if all(isinstance(value.get(key), list) for key in ("images", "categories", "annotations")):
                    return "coco"
                return "labelme" if isinstance(value.get("shapes"), list) and "imagePath" in value else ""
            first = value[0] if isinstance(value, list) and value else None
            if isinstance(first, dict) and (("data" in first and "annotations" in first) or label_lists(first)):
                return "labelstudio"
    return ""


def kinds_in(files: Files) -> dict[str, list[Path]]:
    """The files of annotations by what they are. Of the .xml and .json in one folder, the first that says it speaks for all."""
    paths: dict[str, list[Path]] = defaultdict(list)
    each: dict[tuple[Path, str], str] = {}
    for path in files.ending(".xml", ".json", ".csv"):
        key = path.parent, path.suffix.lower()
        kind = each.get(key) or kind_of(path)
        if kind in ("voc", "labelme"):  # one file a picture
            each[key] = kind
        if kind:
            paths[kind].append(path)
    return paths


# Scenes


def scene_of(
    files: Files, name: str, source: Path, where: str, shapes: Iterable[Shape], split: str = "",
    size: tuple[int, int] | None = None, table: Path | None = None,
) -> Annotated:  # fmt: skip
    """A picture with its objects. where: the file and the line or entry, for messages; size: that of the picture which the
    annotation says."""
    one = Annotated(Scene(files.root / Path(name).name, 0, 0), split=split, table=table)
    scene = one.scene
    try:
        scene.path = files.picture(name, source)
        below(files.root, [scene.path], name)
        scene.width, scene.height = size or size_of(scene.path, str(scene.path))
        rows = []
        for shape in shapes:
            if not shape.name:
                raise DataError(f"{where}: an object has no class")
            rows.append([*shape.points.min(0), *shape.points.max(0)])
            one.classes.append(shape.name)
            scene.difficult.append(shape.difficult)
            scene.swapped += shape.swapped
        scene.labels = [0] * len(rows)
        scene.corners = checked(np.array(rows, np.float64).reshape(-1, 4), scene, where)
    except DataError as error:
        scene.wrong = str(error)
    return one


def numbers(values: Iterable[Any], where: str) -> list[float]:
    """Finite numbers. Raises DataError."""
    try:
        read = [float(value) for value in values]
    except (TypeError, ValueError):
        read = [math.nan]
    if not all(map(math.isfinite, read)):
        raise DataError(f"{where}: the corners of a box must be finite numbers")
    return read


def rotated(x: float, y: float, w: float, h: float, degrees: float, around: tuple[float, float]) -> np.ndarray:
    """The corners of a box that is turned clockwise around a point."""
    angle = math.radians(degrees)
    points = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]]) - around
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return np.asarray(points @ turn + around) if degrees else np.asarray(points + around)


def size_in(has: Mapping[str, Any], width: str = "width", height: str = "height") -> tuple[int, int] | None:
    """The size of the annotated picture, where a file gives it."""
    with suppress(TypeError, ValueError, OverflowError):
        size = int(float(has.get(width) or 0)), int(float(has.get(height) or 0))
        return size if min(size) > 0 else None
    return None


# VOC


def read_voc_files(files: Files, paths: Sequence[Path]) -> Iterator[Annotated]:
    """VOC's XML beside the pictures or in any folder. The picture is that of `filename`, or of the file's own name."""
    for path in paths:
        one = Annotated(Scene(path, 0, 0))
        try:
            root = xml_root(path)
            one.classes = [(thing.findtext("name") or "").strip() for thing in root.iter("object")]
            one.scene.path = voc_picture(files, path, (root.findtext("filename") or "").strip())
            fill_voc(one.scene, path, root, dict.fromkeys(one.classes, 0))
        except DataError as error:
            one.scene.wrong = str(error)
        yield one


def voc_picture(files: Files, path: Path, name: str) -> Path:
    """The picture of an annotation: programs write other names into `filename` than the picture was given later."""
    wrong = ""
    for candidate in filter(None, (path.stem, name)):
        try:
            return files.picture(candidate, path)
        except DataError as error:
            wrong = wrong or str(error)
    raise DataError(wrong)


# CVAT


def read_cvat(files: Files, paths: Sequence[Path]) -> Iterator[Annotated]:
    """ "CVAT for images": boxes, turned ones too, polygons, ellipses and masks as the boxes around them.

    Raises DataError for a file of a video's tracks, and one that is not XML.
    """
    for path in paths:
        root = xml_root(path)
        if root.find("track") is not None and root.find("image") is None:
            raise DataError(f"{path} has the tracks of a video: export it from CVAT as 'CVAT for images'")
        for image in root.iter("image"):
            name = image.get("name") or ""
            where = f"{path}, image {name!r}"
            try:
                shapes = [shape for thing in image if (shape := cvat_shape(thing.tag, dict(thing.attrib), where))]
            except DataError as error:
                yield Annotated(Scene(files.root / Path(name).name, 0, 0, wrong=str(error)), table=path)
                continue
            split = (image.get("subset") or "").strip()
            yield scene_of(files, name, path, where, shapes, split, size_in(image.attrib), path)


def cvat_shape(tag: str, has: dict[str, str], where: str) -> Shape | None:
    name = (has.get("label") or "").strip()
    turn = numbers([has.get("rotation", 0)], where)[0]
    if tag == "box":
        left, top, right, bottom = numbers((has.get(key) for key in ("xtl", "ytl", "xbr", "ybr")), where)
        middle = (left + right) / 2, (top + bottom) / 2
        return Shape(name, rotated(left, top, right - left, bottom - top, turn, middle))
    if tag == "ellipse":
        x, y, a, b = numbers((has.get(key) for key in ("cx", "cy", "rx", "ry")), where)
        return Shape(name, rotated(x - a, y - b, 2 * a, 2 * b, turn, (x, y)))
    if tag == "mask":
        left, top, w, h = numbers((has.get(key) for key in ("left", "top", "width", "height")), where)
        return Shape(name, np.array([[left, top], [left + w, top + h]]))
    if tag == "polygon":
        corners = numbers(re.split(r"[,;]", has.get("points", "")), where)
        if len(corners) % 2:
            raise DataError(f"{where}: a polygon has {len(corners)} numbers, which are no pairs")
        return Shape(name, np.array(corners).reshape(-1, 2))
    if tag == "cuboid":  # the corners of its front, 1, and of its back, 2
        ends = [f"{row}{side}{face}" for row in "tb" for side in "lr" for face in "12"]
        corners = numbers((has.get(f"{axis}{end}") for end in ends for axis in "xy"), where)
        return Shape(name, np.array(corners).reshape(-1, 2))
    return None  # points, lines and tags have no box


# LabelMe


def read_labelme(files: Files, paths: Sequence[Path]) -> Iterator[Annotated]:
    """LabelMe, a .json for each picture: rectangles and circles, polygons and masks as the boxes around them."""
    for path in paths:
        try:
            tables = read_json(path, "a file of LabelMe")
            name = str(tables["imagePath"])
            shapes = [shape for entry in tables["shapes"] if (shape := labelme_shape(entry, str(path)))]
            size = size_in(tables, "imageWidth", "imageHeight")
        except DataError as error:
            yield Annotated(Scene(path, 0, 0, wrong=str(error)))
            continue
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = f"{path} is not a file of LabelMe: {type(error).__name__} {error}"
            yield Annotated(Scene(path, 0, 0, wrong=wrong))
            continue
        with suppress(DataError):
            files.picture(name, path)
            yield scene_of(files, name, path, str(path), shapes, size=size)
            continue
        yield scene_of(files, path.stem, path, str(path), shapes, size=size)


def labelme_shape(entry: dict[str, Any], where: str) -> Shape | None:
    kind = entry.get("shape_type") or "polygon"
    if kind in ("point", "points", "line", "linestrip"):
        return None
    points = np.array(numbers((value for point in entry["points"] for value in point), where)).reshape(-1, 2)
    if len(points) < 2:
        raise DataError(f"{where}: a {kind} has {len(points)} points")
    if kind == "circle":
        radius = float(np.hypot(*(points[1] - points[0])))
        points = np.array([points[0] - radius, points[0] + radius])
    flags = entry.get("flags")
    return Shape(
        str(entry.get("label") or "").strip(), points, bool(isinstance(flags, dict) and flags.get("difficult"))
    )


# Label Studio


def label_lists(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects of an entry of Label Studio's JSON-MIN: of all its lists of boxes, ellipses and polygons."""
    lists = (value for value in entry.values() if isinstance(value, list))
    return [
        item for each in lists for item in each if isinstance(item, dict) and any(k.endswith("labels") for k in item)
    ]


def read_labelstudio(files: Files, paths: Sequence[Path]) -> Iterator[Annotated]:
    """Label Studio's JSON and JSON-MIN. Of several annotations of a picture the last one that was not cancelled counts."""
    for path in paths:
        entries = read_json(path, "a file of Label Studio")
        if not isinstance(entries, list):
            raise DataError(f"{path} is not a file of Label Studio: it is no list of tasks")
        for number, entry in enumerate(entries, 1):
            where = f"{path}, task {number}"
            try:
                name, objects = studio_task(entry)
                name = studio_picture(files, name, path)
                shapes = [
                    shape for value, size in objects if (shape := studio_shape(value, size, files, name, path, where))
                ]
            except DataError as error:
                yield Annotated(Scene(path, 0, 0, wrong=str(error)))
                continue
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                wrong = f"{where} is none of Label Studio: {type(error).__name__} {error}"
                yield Annotated(Scene(path, 0, 0, wrong=wrong))
                continue
            yield scene_of(files, name, path, where, shapes)


def studio_task(entry: dict[str, Any]) -> tuple[str, list[tuple[dict[str, Any], Any]]]:
    """The picture's name of a task, and the value of each object with the picture's size as the file has it."""
    if "data" in entry:
        texts = [value for value in entry["data"].values() if isinstance(value, str)]
        annotations = [a for a in entry.get("annotations") or [] if not a.get("was_cancelled")]
        results = annotations[-1]["result"] if annotations else []
        values = [(r["value"], (r.get("original_width"), r.get("original_height"))) for r in results if "value" in r]
    else:
        texts = [value for value in entry.values() if isinstance(value, str)]
        values = [(v, (v.get("original_width"), v.get("original_height"))) for v in label_lists(entry)]
    names = [t for t in texts if PurePosixPath(studio_path(t)).suffix.lower() in PICTURES]
    if not names:
        raise DataError(f"a task of Label Studio names no picture: {', '.join(map(words_of, texts[:3])) or 'nothing'}")
    return names[0], values


def studio_path(text: str) -> str:
    """The path of a picture of Label Studio: of an upload, of a local file, or of an address.

    >>> studio_path("/data/local-files/?d=photos/a%20b.jpg"), studio_path("s3://bucket/x/a.jpg")
    ('photos/a b.jpg', 'x/a.jpg')
    """
    parts = urlsplit(text)
    if local := parse_qs(parts.query).get("d"):
        return local[0]
    return unquote(parts.path).lstrip("/") if parts.path else text


def studio_picture(files: Files, name: str, beside: Path) -> str:
    """The name of a picture in the folder; an upload has eight digits and a dash before it, which a download may lack."""
    path = studio_path(name)
    plain = re.sub(r"(^|/)[0-9a-f]{8}-(?=[^/]+$)", r"\1", path)
    with suppress(DataError):
        files.picture(path, beside)
        return path
    return plain


def studio_shape(value: dict[str, Any], size: Any, files: Files, name: str, path: Path, where: str) -> Shape | None:
    labels = next((v for k, v in value.items() if k.endswith("labels") and isinstance(v, list) and v), None)
    if labels is None:
        return None  # a box without a class is drawn before it is named; its other entry has it
    sides = np.array(size if all(size) else size_of(files.picture(name, path)), np.float64)
    scale = sides / 100
    if "points" in value:
        points = np.array(numbers((c for p in value["points"] for c in p), where)).reshape(-1, 2) * scale
    elif "radiusX" in value:
        x, y, a, b, turn = numbers(
            (value["x"], value["y"], value["radiusX"], value["radiusY"], value.get("rotation", 0)), where
        )
        (x, y), (a, b) = (x, y) * scale, (a, b) * scale
        points = rotated(x - a, y - b, 2 * a, 2 * b, turn, (x, y))
    elif "width" in value and "height" in value:
        x, y, w, h, turn = numbers(
            (value["x"], value["y"], value["width"], value["height"], value.get("rotation", 0)), where
        )
        (x, y), (w, h) = (x, y) * scale, (w, h) * scale
        points = rotated(x, y, w, h, turn, (x, y))  # around the upper left corner
    else:
        return None  # points, brushes
    actual = np.array(size_of(files.picture(name, path)), np.float64)
    return Shape(str(labels[0]).strip(), points / sides * actual)


# YOLO


def yolo_texts(files: Files) -> dict[Path, Path]:
    """{picture: its text of YOLO}: beside it, in the folder of labels that mirrors the pictures', or of its name alone."""
    texts: dict[str, list[Path]] = defaultdict(list)
    for path in files.ending(".txt"):
        texts[path.stem].append(path)

    def home(path: Path) -> list[str]:
        return [part.casefold() for part in path.relative_to(files.root).parts[:-1]]

    pictures = {}
    for picture in files.pictures:
        same = texts.get(picture.stem, [])
        beside = home(picture)
        every = ["labels" if part == "images" else part for part in beside]
        last = len(beside) - beside[::-1].index("images") if "images" in beside else 0
        mirrored = [*beside[: last - 1], "labels", *beside[last:]] if last else every
        places = [path for wanted in (beside, every, mirrored) for path in same if home(path) == wanted]
        places += same if len(same) == 1 and len(files.by_stem[picture.stem]) == 1 else []
        if places:
            pictures[picture] = places[0]
    return pictures


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)


def is_yolo(path: Path) -> bool:
    """Whether the first line of a text is one of YOLO's; an empty text is one of a picture without an object."""
    with suppress(DataError):
        words = next((line.split() for line in read_text(path).splitlines() if line.strip()), [])
        return not words or (len(words) >= 5 and words[0].isdecimal() and all(map(NUMBER.fullmatch, words[1:])))
    return False


# Tables


WORDS = {  # what columns are called, without capitals, blanks and underscores
    "picture": (
        "filename", "imagefilename", "image", "imagepath", "filepath", "path", "img", "imgname", "imagename", "imageid", "file",
        "picture", "name",
    ),
    "class": ("class", "classname", "label", "labelname", "category", "object", "type"),
    "left": ("xmin", "x1", "left", "bboxxmin", "bboxx1", "xtl", "xminpx"),
    "top": ("ymin", "y1", "top", "bboxymin", "bboxy1", "ytl", "yminpx"),
    "right": ("xmax", "x2", "right", "bboxxmax", "bboxx2", "xbr", "xmaxpx"),
    "bottom": ("ymax", "y2", "bottom", "bboxymax", "bboxy2", "ybr", "ymaxpx"),
    "x": ("x", "bboxx", "xleft"),
    "y": ("y", "bboxy", "ytop"),
    "w": ("w", "boxwidth", "bboxwidth", "bboxw", "width"),
    "h": ("h", "boxheight", "bboxheight", "bboxh", "height"),
    "difficult": ("difficult", "iscrowd", "isgroupof"),
    "split": ("split", "set", "subset", "usage"),
}  # fmt: skip
CORNERS = ("left", "top", "right", "bottom")


class Table:
    """A table of boxes: a line of names of columns and a line a box, or `path,x1,y1,x2,y2,class` without names.

    columns: the number of the column of each of WORDS that it has; empty where it is another table. In a table with `x` and `y`
    the width and height are the box's, else the picture's. Raises DataError for a file that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text = read_text(path).lstrip("\ufeff")
        head = text.partition("\n")[0]
        separator = max(",;\t", key=head.count)
        try:
            rows = list(enumerate(csv.reader(text.splitlines(), delimiter=separator), 1))
        except csv.Error as error:
            raise DataError(f"{path} is no table that can be read: {error}") from error
        self.rows = [(number, row) for number, row in rows if row]
        self.columns: dict[str, int] = {}
        self.sides: dict[str, int] = {}  # the columns of the picture's size
        self.lacks: list[str] = []  # of a line of names
        if not self.rows:
            return
        first = [re.sub(r"[\s_-]", "", cell).casefold() for cell in self.rows[0][1]]
        named = {}
        for key, words in WORDS.items():
            at = [first.index(word) for word in words if word in first]
            if at:
                named[key] = at[0]
        corners = CORNERS if named.keys() >= set(CORNERS) else ("x", "y", "w", "h")
        self.lacks = [key for key in ("picture", "class", *CORNERS) if key not in named]
        if named.keys() >= {"picture", "class", *corners}:
            others = {"x", "y", "w", "h", *CORNERS} - set(corners)
            self.columns = {key: at for key, at in named.items() if key not in others}
            if corners == CORNERS:
                self.sides = {word: first.index(word) for word in ("width", "height") if word in first}
            self.rows = self.rows[1:]
        elif headless(self.rows[0][1]):
            self.columns = {"picture": 0, "left": 1, "top": 2, "right": 3, "bottom": 4, "class": 5}

    def cell(self, row: Sequence[str], key: str) -> str:
        at = self.columns.get(key, len(row))
        return row[at].strip() if at < len(row) else ""

    def size(self, row: Sequence[str], shapes: Sequence[Shape]) -> tuple[int, int] | None:
        """The size of the picture of a line, from columns beside those of the corners; None where they are of the box."""
        size = size_in({key: row[at].strip() for key, at in self.sides.items() if at < len(row)})
        return None if any(np.allclose(np.ptp(shape.points, 0), size or 0, atol=1.01) for shape in shapes[:1]) else size


def headless(row: Sequence[str]) -> bool:
    """Whether a line is `path,x1,y1,x2,y2,class`, or `path,,,,,` of a picture without an object."""
    name = PurePosixPath(row[0].replace("\\", "/")) if row else PurePosixPath()
    return (
        len(row) == 6
        and name.suffix.lower() in PICTURES
        and all(re.fullmatch(r"\s*(-?[\d.]+)?\s*", c) for c in row[1:5])
    )


def read_csv(files: Files, paths: Sequence[Path]) -> Iterator[Annotated]:
    """Tables of boxes, in pixels or, as `in_parts` says, in parts of the picture's sides; a line a box."""
    for path in paths:
        table = Table(path)
        grouped: dict[str, list[tuple[int, Sequence[str]]]] = defaultdict(list)
        for number, row in table.rows:
            grouped[table.cell(row, "picture")].append((number, row))
        parts = in_parts(table)
        for name, rows in grouped.items():
            split = next((s for _, row in rows if (s := table.cell(row, "split"))), "")
            try:
                scale = np.array(size_of(files.picture(name, path)), np.float64) if parts else 1.0
                shapes = [shape for number, row in rows if (shape := csv_shape(table, row, f"{path}, line {number}"))]
                shapes = [replace(shape, points=shape.points * scale) for shape in shapes]
            except DataError as error:
                yield Annotated(Scene(files.root / Path(name).name, 0, 0, wrong=str(error)), split=split, table=path)
                continue
            size = None if parts else table.size(rows[0][1], shapes)
            yield scene_of(files, name, path, f"{path}, line {rows[0][0]}", shapes, split, size, path)


def in_parts(table: Table) -> bool:
    """Whether the corners are parts of the sides: some is no whole number, and all are below 2, as a box may reach beyond the
    picture, if by a rounding alone."""
    keys = [key for key in (*CORNERS, "x", "y", "w", "h") if key in table.columns]
    values = []
    for _, row in table.rows:
        with suppress(ValueError):
            values += [float(cell) for key in keys if (cell := table.cell(row, key))]
    return bool(values) and max(values) < 2 and any(value != int(value) for value in values if math.isfinite(value))


def csv_shape(table: Table, row: Sequence[str], where: str) -> Shape | None:
    name = table.cell(row, "class")
    keys = CORNERS if "left" in table.columns else ("x", "y", "w", "h")
    cells = [table.cell(row, key) for key in keys]
    if not any(cells) and not name:
        return None  # a picture without an object
    a, b, c, d = numbers(cells, where)
    if keys is CORNERS:
        points, swapped = in_order(np.array([[a, b], [c, d]]), where)
    else:
        points, swapped = np.array([[a, b], [a + c, b + d]]), []
    if (points[1] <= points[0]).any():
        raise DataError(f"{where}: the box {[a, b, c, d]} has no area")
    return Shape(name, points, table.cell(row, "difficult").lower() in ("1", "true", "yes"), swapped)


Reader = Callable[[Files, Sequence[Path]], Iterator[Annotated]]
READERS: dict[str, Reader] = {
    "voc": read_voc_files, "cvat": read_cvat, "labelme": read_labelme, "labelstudio": read_labelstudio, "csv": read_csv,
}  # fmt: skip
