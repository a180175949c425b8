"""Folders of pictures and annotations: lists with labels, VOC, COCO, YOLO and WIDER FACE, each as a list of Scenes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..proto.errors import ModelError, storable
from ..proto.reading import read_file
from .errors import BrokenRecord, DataError
from .lines import below, read_json, read_lines, read_text, words_of
from .picture import size_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")


@dataclass
class Scene:
    """A picture file and its objects. corners: (N, 4) xmin, ymin, xmax, ymax in pixels, 0 at the left and upper edge."""

    path: Path
    width: int
    height: int
    labels: list[int] = field(default_factory=list)
    corners: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    difficult: list[bool] = field(default_factory=list)
    wrong: str = ""  # what is wrong with it, when it cannot be used
    clipped: list[str] = field(default_factory=list)  # a line for each box that reached beyond the picture
    thin: list[str] = field(default_factory=list)  # a line for each box of at most one pixel in a direction
    swapped: list[str] = field(default_factory=list)  # a line for each box whose corners were in another order

    def check(self, strict: bool = False) -> None:
        """Raises BrokenRecord where it cannot be used; with `strict` for a box that was clipped, or put in order, too."""
        if line := self.wrong or next(iter([*self.swapped, *self.clipped] if strict else []), ""):
            raise BrokenRecord(line)

    def boxes(self) -> np.ndarray:
        """(N, 7) as in `records.BOX`: corners as fractions of the picture, objects of one class numbered from 0."""
        seen: dict[int, int] = {}
        rows = np.zeros((len(self.labels), 7), np.float32)
        for row, label, corners, difficult in zip(rows, self.labels, self.corners, self.difficult):
            row[0], row[1], row[6] = label, seen.setdefault(label, 0), difficult
            row[2:6] = corners / [self.width, self.height, self.width, self.height]
            seen[label] += 1
        return rows


def read_list(source: str) -> list[tuple[str, int]]:
    """The (path, label) of each line of a text; the path may hold blanks.

    Raises
    ------
    DataError that names file and line.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
    ...     _ = file.write("cats/a 1.jpg 0\\ndogs/b.jpg 1\\n")
    >>> read_list(file.name)
    [('cats/a 1.jpg', 0), ('dogs/b.jpg', 1)]
    >>> os.remove(file.name)
    """
    lines = read_lines(source, "the list", "list pictures, `path label` in each line")
    items = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            path, _, label = line.strip().rpartition(" ")
            if not path or not re.fullmatch(r"[+-]?\d{1,18}", label):
                raise DataError(f"{source}, line {number}: it must be `path label`, it is {words_of(line)}")
            items.append((path.strip(), int(label)))
    if not items:
        raise DataError(f"the list {source!r} is empty")
    return items


def is_hidden(path: Path) -> bool:
    """Whether a file or folder is one that programs put there for themselves, as macOS does with `._a.jpg`."""
    return path.name.startswith(".")


def is_picture(path: Path) -> bool:
    """Whether a file is called as a picture is, and is not hidden."""
    return path.suffix.lower() in PICTURES and not is_hidden(path)


def need_folder(folder: Path, subject: str) -> Path:
    if not os.path.isdir(folder):
        raise DataError(f"there is no folder {folder}: {subject}")
    return folder


def listed_names(path: str | Path) -> list[str]:
    """The names, without folder and ending, of the pictures of a list, a path in each line, as `boxpresso new` writes it."""
    return [name_of(path) for path in listed_paths(path)]


def listed_paths(path: str | Path) -> list[PurePosixPath]:
    """What a list names, a path in each line."""
    lines = (line.strip() for line in read_text(path).splitlines())
    return [PurePosixPath(line.replace("\\", "/")) for line in lines if line]


def name_of(path: PurePath) -> str:
    """The name of a picture without folder and ending, which it may lack: what else is behind a dot is of the name."""
    return path.stem if path.suffix.lower() in PICTURES else path.name


def in_list(path: str | Path, pictures: Sequence[Path]) -> list[int]:
    """The places of the pictures that a list names.

    Of several pictures of one name, those whose folders agree most with the listed path, from the last one on, are meant.
    """
    by_name: dict[str, list[int]] = {}
    for at, picture in enumerate(pictures):
        by_name.setdefault(name_of(picture), []).append(at)
    chosen: set[int] = set()
    for listed in listed_paths(path):
        same = by_name.get(name_of(listed), [])
        folders = listed.parts[-2::-1]
        equal = [
            [*(a == b for a, b in zip(pictures[at].absolute().parts[-2::-1], folders)), False].index(False)
            for at in same
        ]
        chosen.update(at for at, count in zip(same, equal) if count == max(equal))
    return sorted(chosen)


def voc_split(root: Path, split: str) -> list[str]:
    """The names of a split, ImageSets/Main/SPLIT.txt; all annotations where `split` is empty; of a list, its pictures'."""
    if split.endswith(".txt"):
        return listed_names(split)
    if not split:
        texts = need_folder(root / "Annotations", "VOC keeps its .xml there").glob("*.xml")
        return sorted(path.stem for path in texts if not is_hidden(path))
    path = root / "ImageSets" / "Main" / f"{split}.txt"
    try:
        lines = read_text(path).splitlines()
    except DataError as error:
        there = sorted(p.stem for p in path.parent.glob("*.txt")) if os.path.isdir(path.parent) else []
        raise DataError(f"{error}; splits there: {', '.join(there) or 'none'}") from error
    return [name for line in lines if (name := voc_name(line, root / "Annotations"))]


def voc_name(line: str, annotations: Path) -> str:
    """The name in a line of a VOC list, `name` or `name flag`; "" where the flag is -1. It may hold blanks, and an ending."""
    whole = line.strip()
    name, _, flag = re.sub(r"\s+", " ", whole).rpartition(" ")
    flagged = bool(name) and flag in ("-1", "0", "1")
    for one in (whole, name_of(PurePosixPath(whole.replace("\\", "/")))):
        if os.path.isfile(annotations / f"{one}.xml"):
            return one
    if flagged:
        return whole[: -len(flag)].strip() if flag != "-1" else ""
    return whole


VOC_CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog", "horse",
    "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip


def read_voc(folder: str | Path, split: str = "", classes: Sequence[str] = VOC_CLASSES) -> list[Scene]:
    """The scenes of a VOC folder (JPEGImages, Annotations, ImageSets), label 1 for the first class.

    Corners in the files count pixels from 1, the last one inside, so that (xmin - 1, ymin - 1, xmax, ymax) are the edges.
    An annotation that cannot be used is a Scene with `wrong`; boxes that reach beyond the picture are clipped.
    """
    root = need_folder(Path(folder), "give the folder that holds JPEGImages and Annotations, such as VOCdevkit/VOC2007")
    pictures = need_folder(root / "JPEGImages", "VOC keeps its pictures there")
    known = {name: label for label, name in enumerate(classes, 1)}
    paths = [path for path in pictures.iterdir() if is_picture(path)]  # endings in capitals, too
    paths.sort(key=lambda path: (-PICTURES.index(path.suffix.lower()), path))
    by_name = {path.stem: path for path in paths}  # the first of PICTURES comes last
    scenes = []
    for name in voc_split(root, split):
        scene = Scene(pictures / f"{name}.jpg", 0, 0)
        try:
            below(pictures, [scene.path], name)
            if not os.path.exists(scene.path):  # False for a name that no file can have, too
                scene.path = by_name.get(name, scene.path)
            if not os.path.exists(scene.path):
                raise DataError(f"there is no picture {scene.path}")
            path = root / "Annotations" / f"{name}.xml"
            fill_voc(scene, path, xml_root(path), known)
        except DataError as error:
            scene.wrong = str(error)
        scenes.append(scene)
    return scenes


def xml_root(path: Path) -> Element:
    """The outermost element of a file of XML. Raises DataError that names the file."""
    from xml.etree import ElementTree  # slow to import

    try:
        return ElementTree.fromstring(read_file(path, "text_bytes"))
    except ModelError as error:
        raise DataError(str(error)) from error
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # an encoding may be unknown
        raise DataError(f"{path} is not XML: {error}") from error


def fill_voc(scene: Scene, path: Path, root: Element, known: dict[str, int]) -> None:
    """Reads one VOC annotation, of the file `path`. Raises DataError that names the file."""
    try:
        scene.width, scene.height = (int(float(root.findtext(f"size/{side}") or 0)) for side in ("width", "height"))
        if scene.width <= 0 or scene.height <= 0:
            scene.width, scene.height = size_of(scene.path)
        rows = []
        for thing in root.iter("object"):
            name = (thing.findtext("name") or "").strip()
            if not name:
                raise DataError(f"{path}: an object has no class")
            if name not in known:
                raise DataError(f"{path}: the class {name!r} is none of the {len(known)} classes")
            corners = [float(thing.findtext(f"bndbox/{side}") or "nan") for side in ("xmin", "ymin", "xmax", "ymax")]
            box, swapped = in_order(np.array(corners).reshape(2, 2), str(path))
            scene.swapped += swapped
            rows.append((box - [[1, 1], [0, 0]]).ravel())
            scene.labels.append(known[name])
            scene.difficult.append((thing.findtext("difficult") or "0").strip() == "1")
    except (ValueError, OverflowError):
        raise DataError(f"{path}: a side of the size or of a box is not a finite number") from None
    scene.corners = checked(np.array(rows).reshape(-1, 4), scene, str(path))


def in_order(corners: np.ndarray, where: str) -> tuple[np.ndarray, list[str]]:
    """Two opposite corners (2, 2) of a box, the least first, and a line of it where they were not so.

    >>> in_order(np.array([[9, 2], [5, 4]]), "a.xml")
    (array([[5, 2],
           [9, 4]]), ['a.xml: the corners of the box [9, 2, 5, 4] are in another order'])
    """
    ordered = np.stack([corners.min(0), corners.max(0)])
    same = np.array_equal(ordered, corners, equal_nan=True)
    return ordered, [] if same else [f"{where}: the corners of the box {corners.ravel().tolist()} are in another order"]


def checked(corners: np.ndarray, scene: Scene, name: str) -> np.ndarray:
    """Corners clipped to the picture, which the scene notes where they reach beyond it by more than a pixel.

    Raises DataError for a box without area, or none of which is in the picture.
    """
    limit = np.array([scene.width, scene.height] * 2)
    inside = np.asarray(np.clip(corners, 0, limit))
    for row, within in zip(corners, inside):
        box = f"{name}: the box {row.tolist()}"
        if not np.isfinite(row).all() or not (row[2:] > row[:2]).all():
            raise DataError(f"{box} has no area")
        if not (within[2:] > within[:2]).all():
            raise DataError(f"{box} lies outside the picture of {scene.width}x{scene.height}")
        if (row < -1).any() or (row > limit + 1).any():
            scene.clipped.append(f"{box} leaves the picture of {scene.width}x{scene.height}")
        if (within[2:] - within[:2] <= 1).any():
            scene.thin.append(f"{box} is at most one pixel wide or high")
    return inside


def read_coco(
    folder: str | Path,
    split: str = "",
    pictures_in: str | Path | None = None,
    find: Callable[[str], Path] | None = None,
) -> tuple[list[Scene], dict[int, str]]:
    """The scenes of a COCO folder, and the names of labels, which count from 1 in the order of the category ids.

    folder: holds annotations/instances_SPLIT.json, and pictures in SPLIT/, images/SPLIT/ or images/; or `folder` is the JSON.
    pictures_in: the folder of the pictures, where it is another. find: gives the picture of a name or raises DataError, in
    place of looking in these folders. Objects of a crowd are difficult. A picture that cannot be used is a Scene with `wrong`.
    """
    root = Path(folder)
    if root.suffix == ".json":
        path, root = root, root.parent.parent
        split = split or path.stem.replace("instances_", "")
    else:
        need_folder(root, "give the folder that holds annotations/instances_SPLIT.json")
        files = sorted((root / "annotations").glob(f"instances_{split or '*'}.json"))
        if len(files) != 1:
            there = sorted(p.name for p in (root / "annotations").glob("*.json"))
            raise DataError(
                f"{root} has {len(files)} files annotations/instances_{split or '*'}.json; name the split; there: {there}"
            )
        path = files[0]
        split = path.stem.replace("instances_", "")
    try:
        tables = read_json(path, "a COCO file of instances")
        categories = sorted(tables["categories"], key=lambda c: c["id"])
        known = {category["id"]: label for label, category in enumerate(categories, 1)}
        names = {label: storable(str(category["name"]).strip()) for label, category in enumerate(categories, 1)}
        by_picture: dict[Any, list[dict[str, Any]]] = {}
        for annotation in tables["annotations"]:
            by_picture.setdefault(annotation.get("image_id"), []).append(annotation)
        pictures = [
            (str(p.get("file_name", "")), p.get("id"), int(p.get("width") or 0), int(p.get("height") or 0))
            for p in tables["images"]
        ]
        of_id: dict[Any, set[str]] = {}
        for name, number, *_ in pictures:
            of_id.setdefault(number, set()).add(name)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise DataError(f"{path} is not a COCO file of instances: {type(error).__name__} {error}") from error
    folders = [f for f in (root / split, root / "images" / split, root / "images", root) if os.path.isdir(f)]
    if pictures_in is not None:
        folders = [need_folder(Path(pictures_in), "give the folder that holds the pictures")]
    scenes = []
    for name, number, width, height in pictures:
        scene = Scene(folders[0] / name, width, height)
        try:
            if find is not None:
                scene.path = find(name)
            else:
                places = below(root if pictures_in is None else folders[0], [f / name for f in folders], name)
                scene.path = next((place for place in places if os.path.isfile(place)), places[0])
            if not os.path.isfile(scene.path):
                raise DataError(f"there is no picture {scene.path}")
            if len(of_id[number]) > 1:
                raise DataError(
                    f"{path}, picture {name!r}: {len(of_id[number])} pictures have the id {number!r}; whose objects are they?"
                )
            if width <= 0 or height <= 0:
                scene.width, scene.height = size_of(scene.path, str(scene.path))
            rows = []
            for a in by_picture.get(number, []):
                x, y, w, h = (float(v) for v in a["bbox"])
                if w <= 0 or h <= 0:  # COCO has some; they hold no object
                    continue
                rows.append([x, y, x + w, y + h])
                scene.labels.append(known[a["category_id"]])
                scene.difficult.append(bool(a.get("iscrowd", 0)))
            scene.corners = checked(np.array(rows).reshape(-1, 4), scene, f"{path}, picture {name!r}")
        except DataError as error:
            scene.wrong = str(error)
        except (KeyError, TypeError, ValueError, OverflowError, OSError) as error:
            scene.wrong = f"{path}, picture {name!r}: {type(error).__name__} {error}"
        scenes.append(scene)
    return scenes, names


def read_yolo(folder: str | Path, split: str = "") -> tuple[list[Scene], dict[int, str]]:
    """The scenes of a YOLO folder and the names of labels, from 1; classes in the files count from 0.

    folder: images/ (or images/SPLIT/) and labels/ beside it, a text for each picture with lines `class x y width height`, the
    centre and size as fractions of the picture; or both in one folder. A line `class x1 y1 x2 y2 x3 y3 ...` is a polygon, whose
    box is the one around it. Names: classes.txt, or obj.names, one per line.
    """
    root = need_folder(Path(folder), "give the folder that holds images and labels")
    pictures = next(
        (f for f in (root / "images" / split, root / split / "images", root / split) if os.path.isdir(f)),
        root / "images" / split,
    )
    need_folder(pictures, "YOLO keeps its pictures there")
    parts = ["labels" if part == "images" else part for part in pictures.relative_to(root).parts]
    labels = root.joinpath(*parts)
    listed = next(
        (p for p in (root / "classes.txt", root / "obj.names", labels / "classes.txt") if os.path.isfile(p)), None
    )
    names = read_names(listed) if listed else []
    scenes = []
    for path in sorted(p for p in pictures.iterdir() if is_picture(p)):
        scenes.append(yolo_scene(path, labels / f"{path.stem}.txt", names))
    if not scenes:
        raise DataError(f"there is no picture in {pictures}")
    return scenes, {label: name for label, name in enumerate(names, 1) if name}


def read_names(path: Path) -> list[str]:
    """The names of YOLO's classes, a line each; an empty line is a number without a name."""
    return [line.strip() for line in read_text(path).rstrip().splitlines()]


def yolo_scene(path: Path, text: Path, names: Sequence[str], keypoints: int = 0) -> Scene:
    """A picture and the objects of its text, where there is one. names: of the classes, where they are known, "" for a number
    that has none; keypoints: how many numbers of key points follow each box."""
    scene = Scene(path, 0, 0)
    try:
        scene.width, scene.height = size_of(path, str(path))
        rows = []
        for number, line in enumerate(read_text(text).splitlines() if os.path.exists(text) else [], 1):
            if not line.split():
                continue
            try:
                kind, *numbers = (float(word) for word in line.split())
                corners = yolo_corners(numbers[:4] if keypoints and len(numbers) == 4 + keypoints else numbers)
            except ValueError:
                raise DataError(
                    f"{text}, line {number}: it must be `class x y width height`, it is {words_of(line)}"
                ) from None
            if not (0 <= kind < 2**31 - 1) or kind != int(kind) or (names and kind >= len(names)):
                raise DataError(f"{text}, line {number}: class {kind:g} is none of the {len(names)} classes")
            if names and not names[int(kind)]:
                raise DataError(
                    f"{text}, line {number}: class {kind:g}, counted from 0, has no name in the list of classes"
                )
            rows.append(corners)
            scene.labels.append(int(kind) + 1)
            scene.difficult.append(False)
        size = [scene.width, scene.height] * 2
        scene.corners = checked(np.array(rows).reshape(-1, 4) * size, scene, str(text))
    except DataError as error:
        scene.wrong = str(error)
    return scene


def yolo_corners(numbers: Sequence[float]) -> list[float]:
    """The corners of a line of YOLO's, its class left out. Raises ValueError for what is neither a box nor a polygon.

    >>> yolo_corners([0.5, 0.5, 0.5, 1.0])
    [0.25, 0.0, 0.75, 1.0]
    >>> yolo_corners([0.1, 0.2, 0.6, 0.2, 0.3, 0.9])
    [0.1, 0.2, 0.6, 0.9]
    """
    if len(numbers) >= 6 and len(numbers) % 2 == 0:
        return [min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])]
    x, y, w, h = numbers[:4] if len(numbers) == 5 else numbers  # a fifth is the score of a detection
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


def wider_lists(root: Path) -> dict[str, Path]:
    """The lists of boxes of a WIDER FACE folder by their splits: wider_face_SPLIT_bbx_gt.txt, in it or in wider_face_split."""
    by_name: dict[str, Path] = {}
    for place in (root / "wider_face_split", root):
        for path in sorted(place.glob("wider_face_*_bbx_gt.txt")):
            by_name.setdefault(path.name[len("wider_face_") : -len("_bbx_gt.txt")], path)
    return by_name


def read_wider(folder: str | Path, split: str = "") -> tuple[list[Scene], dict[int, str]]:
    """The scenes of WIDER FACE, and the names of labels: 1 is a face.

    folder: holds wider_face_split/wider_face_SPLIT_bbx_gt.txt and the pictures in WIDER_SPLIT/images; or `folder` is such a
    list, with the pictures in WIDER_SPLIT/images beside its folder, beside it, or in `images` there. A list has for each
    picture its path, the number of its faces, and for each a line `x y width height blur expression illumination invalid
    occlusion pose`, of which the first four are needed; faces marked invalid are difficult. Without a split all lists are read.

    Raises
    ------
    DataError that names file and line, for a list that is none; a picture that cannot be used is a Scene with `wrong`.

    Source
    ------
    Yang et al. 2016, WIDER FACE; the readme of its annotations.
    """
    root = Path(folder)
    if root.suffix == ".txt":
        known = re.fullmatch(r"wider_face_(.+)_bbx_gt\.txt", root.name)
        lists = {split or (known[1] if known else "train"): root}
        root = root.parent.parent if root.parent.name == "wider_face_split" else root.parent
    else:
        lists = wider_lists(need_folder(root, "give the folder that holds wider_face_split and WIDER_train"))
        if not lists or (split and split not in lists):
            raise DataError(
                f"{root} has no wider_face_{split or '*'}_bbx_gt.txt, in it or in wider_face_split; "
                f"splits there: {', '.join(lists) or 'none'}"
            )
        lists = {name: path for name, path in lists.items() if split in ("", name)}
    return [scene for name, path in lists.items() for scene in wider_scenes(path, root, name)], {1: "face"}


def wider_scenes(path: Path, root: Path, split: str) -> list[Scene]:
    """The scenes of one list of WIDER FACE."""
    places = [root / f"WIDER_{split}" / "images", root / "images", path.parent / "images"]
    pictures = next((place for place in places if os.path.isdir(place)), root)
    lines = read_lines(str(path), "the list", "list faces as WIDER FACE does")
    scenes, at = [], 0
    while at < len(lines):
        name = lines[at].strip()
        at += 1
        if not name:
            continue
        count = lines[at].strip() if at < len(lines) else ""
        if not count.isdecimal() or len(count) > 18:
            raise DataError(
                f"{path}, line {at + 1}: the number of faces of the picture must be here, not {words_of(count)}"
            )
        rows = lines[at + 1 : at + 1 + int(count)]
        if len(rows) < int(count):
            raise DataError(f"{path}: {name} has {count} faces, and the list ends after {len(rows)}")
        faces = [face_of(row, path, at + 2 + i) for i, row in enumerate(rows)]
        at += 1 + len(rows)
        if not rows and at < len(lines) and re.fullmatch(r"\s*0(\s+0)+\s*", lines[at]):
            at += 1  # a line of zeros stands for no face
        scenes.append(wider_scene(pictures, name, faces))
    if not scenes:
        raise DataError(f"the list {path} is empty")
    return scenes


def face_of(line: str, path: Path, number: int) -> list[float]:
    """x, y, width, height, and whether it is invalid, of a line."""
    try:
        values = [float(word) for word in line.split()]
    except ValueError:
        values = []
    if len(values) < 4 or not np.isfinite(values).all():
        raise DataError(f"{path}, line {number}: it must be `x y width height ...`, it is {words_of(line)}")
    return [*values[:4], values[7] if len(values) > 7 else 0]


def wider_scene(folder: Path, name: str, faces: list[list[float]]) -> Scene:
    """A picture of a folder and its faces, cut at its edges; what has no area there is left out."""
    path = folder / name
    scene = Scene(path, 0, 0)
    try:
        below(folder, [path], name)
        scene.width, scene.height = size_of(path, str(path))
    except DataError as error:
        scene.wrong = str(error) if os.path.exists(path) else f"there is no picture {path}"
        return scene
    table = np.array(faces).reshape(-1, 5)
    corners = np.column_stack([table[:, :2], table[:, :2] + table[:, 2:4]])
    corners = np.clip(corners, 0, [scene.width, scene.height] * 2)
    valid = (corners[:, 2:] > corners[:, :2]).all(1)
    scene.corners, scene.difficult = corners[valid], [bool(flag) for flag in table[valid, 4]]
    scene.labels = [1] * int(valid.sum())
    return scene


def read_images(folder: str | Path) -> tuple[list[tuple[Path, int]], dict[int, str]]:
    """(picture, label) of a folder with one folder for each class, labels from 0 in the order of names; and the names."""
    root = need_folder(Path(folder), "give a folder with one folder of pictures for each class")
    kinds = sorted(p for p in root.iterdir() if os.path.isdir(p) and not is_hidden(p))
    items = [
        (path, label)
        for label, kind in enumerate(kinds)
        for path in sorted(kind.rglob("*"))
        if is_picture(path) and not any(map(is_hidden, path.relative_to(kind).parents[:-1]))
    ]
    if not items:
        raise DataError(f"there is no picture in the folders of {root}; it must hold one folder for each class")
    return items, {label: kind.name for label, kind in enumerate(kinds)}
