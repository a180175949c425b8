"""A user's folder of pictures and annotations: which format it has, its splits, its classes, and what to learn from.

Four formats: VOC (JPEGImages, Annotations, ImageSets), COCO (pictures and .json files) and YOLO (a .txt for each picture), as
the usual tools for labelling write them, and the lists of WIDER FACE.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..data.errors import DataError
from ..data.folders import PICTURES, Scene, read_coco, read_voc, read_wider, read_yolo, wider_lists
from ..proto.errors import ModelError, nearest
from ..proto.reading import read_file

ODD = ("Cc", "Cs", "Zl", "Zp")  # of Unicode: signs that steer a terminal, halves of signs, ends of lines
FORMATS = ("voc", "coco", "yolo", "wider")
TRAIN, TEST = ("trainval", "train"), ("test", "val", "valid", "validation")  # names of splits
PAIRS = [
    ("trainval", "test"),
    *(("train", name) for name in ("val", "valid", "validation", "test")),
]  # the preferred first
LAYOUT = """\
  voc   FOLDER/JPEGImages and FOLDER/Annotations with an .xml for each picture
  coco  FOLDER/annotations/*.json (or FOLDER/*.json), and the pictures
  yolo  FOLDER/images and FOLDER/labels with a .txt for each picture
  wider FOLDER/wider_face_split/wider_face_train_bbx_gt.txt and FOLDER/WIDER_train/images"""


@dataclass
class Picture:
    """A picture, its objects, and the names of their classes; `scene.labels` are set when the classes are known."""

    scene: Scene
    classes: list[str]


@dataclass
class Pictures:
    """What a folder holds: pictures by split ("" where it has none), and the names of classes that it lists."""

    format: str
    splits: dict[str, list[Picture]]
    listed: list[str] = field(default_factory=list)


@dataclass
class Split:
    """What to learn from and what to test on, where they are from, in words, and classes of which no object can be learned."""

    train: list[Picture]
    test: list[Picture]
    origin: str
    dropped: list[str] = field(default_factory=list)


def recognise(root: Path) -> str:
    """The format of a folder.

    Raises
    ------
    DataError
        For no folder, an empty one, one of no known format, or one of several.
    """
    if not root.is_dir():
        raise DataError(f"there is no folder {root}; it must hold pictures and their annotations:\n{LAYOUT}")
    there = sorted(path.name + "/" * path.is_dir() for path in root.iterdir() if not path.name.startswith("."))
    if not there:
        raise DataError(f"the folder {root} is empty; it must hold pictures and their annotations:\n{LAYOUT}")
    signs = {"voc": is_voc, "coco": is_coco, "yolo": is_yolo, "wider": is_wider}
    found = [name for name, seen in signs.items() if seen(root)]
    if len(found) == 1:
        return found[0]
    seen = ", ".join(there[:8]) + (f" and {len(there) - 8} more" if len(there) > 8 else "")
    if found:
        raise DataError(f"{root} could be {' or '.join(found)}: say which with --format; it holds {seen}")
    inner = [path.name for path in sorted(root.iterdir()) if path.is_dir() and any(s(path) for s in (is_voc, is_yolo))]
    hint = f"; {' and '.join(inner)} in it could be meant" if inner else ""
    if any(root.glob("*.xml")):
        hint = (
            "; its .xml files look like VOC's: move them to a folder Annotations in it, and the pictures to JPEGImages"
        )
    raise DataError(f"{root} is none of the known formats{hint}. It holds {seen}; what is looked for:\n{LAYOUT}")


def is_voc(root: Path) -> bool:
    return (root / "Annotations").is_dir() and any((root / "Annotations").glob("*.xml"))


def is_coco(root: Path) -> bool:
    return bool(coco_files(root))


def is_yolo(root: Path) -> bool:
    if any((root / name / "labels").is_dir() for name in ("", *TRAIN, *TEST)):
        return True
    with_text = (p for p in root.iterdir() if p.suffix.lower() in PICTURES and p.with_suffix(".txt").is_file())
    return next(with_text, None) is not None


def is_wider(root: Path) -> bool:
    return bool(wider_lists(root))


def read(root: Path, format: str, more: Sequence[str] = ()) -> Pictures:
    """The pictures of a folder of a format, one of FORMATS; more: names of splits that are looked for beside the usual ones.

    Raises DataError for a folder that cannot be read.
    """
    readers: dict[str, Callable[[Path, Sequence[str]], Pictures]]
    readers = {"voc": voc, "coco": coco, "yolo": yolo, "wider": wider}
    if format not in readers:
        raise DataError(f"the format of a folder is one of {', '.join(FORMATS)}, not {format!r}")
    pictures = readers[format](root, [*dict.fromkeys((*TRAIN, *TEST, *filter(None, more)))])
    if not any(pictures.splits.values()):
        raise DataError(f"{root} holds no annotated picture; what is looked for:\n{LAYOUT}")
    return pictures


def named(scenes: Iterable[Scene], names: dict[int, str]) -> list[Picture]:
    """Scenes with the names of their classes. Raises DataError for a label without a name."""
    pictures = []
    for scene in scenes:
        if missing := sorted({label for label in scene.labels if label not in names}):
            raise DataError(
                f"{scene.path} has class {missing[0] - 1}, counted from 0, which has no name: list the names in the folder's "
                "classes.txt or data.yaml, or in a file for --classes, one in each line"
            )
        pictures.append(Picture(scene, [names[label] for label in scene.labels]))
    return pictures


# VOC


def voc(root: Path, known: Sequence[str]) -> Pictures:
    """A VOC folder; its splits are those of ImageSets/Main that have a usual name."""
    listed = sorted(voc_classes(root / "Annotations"))
    names = dict(enumerate(listed, 1))
    sets = root / "ImageSets" / "Main"
    splits = [name for name in known if (sets / f"{name}.txt").is_file()]
    return Pictures("voc", {s: named(read_voc(root, s, listed), names) for s in splits or [""]})


def voc_classes(folder: Path) -> set[str]:
    """The names of the classes of all objects; an annotation that cannot be parsed is named later, as a picture's."""
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}, where VOC keeps its .xml files")
    names: set[str] = set()
    for path in folder.glob("*.xml"):
        with suppress(ModelError, ElementTree.ParseError, ValueError, LookupError):
            objects = ElementTree.fromstring(read_file(path, "text_bytes")).iter("object")
            names.update((thing.findtext("name") or "").strip() for thing in objects)
    return names - {""}


# COCO


def coco_files(root: Path) -> list[Path]:
    """The .json files of instances: those of annotations/, of the folder itself, or of its folders."""
    for pattern in ("annotations/instances_*.json", "annotations/*.json", "*.json", "*/_annotations.coco.json"):
        if found := sorted(path for path in root.glob(pattern) if path.is_file() and b'"images"' in read_file(path)):
            return found
    return []


def coco(root: Path, known: Sequence[str]) -> Pictures:
    """A COCO folder; each .json is a split, called as the file or, by Roboflow, as its folder."""
    paths = coco_files(root)
    if not paths:
        raise DataError(f"{root} has no .json file of COCO's instances, in annotations/ or beside the pictures")
    splits: dict[str, list[Picture]] = {}
    listed: dict[str, None] = {}
    for path in paths:
        name = path.parent.name if path.name.startswith("_annotations") else path.stem.replace("instances_", "")
        scenes, names = read_coco(path, name, pictures_beside(path, name, root))
        splits[name if len(paths) > 1 or usual(name) or name in known else ""] = named(scenes, names)
        listed |= dict.fromkeys(names.values())
    return Pictures("coco", splits, list(listed))


def pictures_beside(path: Path, split: str, root: Path) -> Path:
    """The folder that a .json of COCO means by the names of its pictures."""
    text = read_file(path).decode("utf-8", "replace")
    match = re.search(r'"file_name"\s*:\s*(?=")', text)
    first = ""
    with suppress(ValueError):  # which `read_coco` names
        first = json.JSONDecoder().raw_decode(text, match.end())[0] if match else ""
    tried = [root / split, root / "images" / split, root / "images", root, path.parent]
    tried += sorted(folder for folder in root.iterdir() if folder.is_dir())
    with suppress(OSError, ValueError):  # no name of a file
        return next((folder for folder in tried if first and os.path.isfile(folder / first)), root)
    return root


# YOLO


def yolo(root: Path, known: Sequence[str]) -> Pictures:
    """A YOLO folder: images/ and labels/, with or without folders of splits below or above them, or all in one folder."""
    splits = [name for name in known if (root / "images" / name).is_dir() or (root / name / "images").is_dir()]
    read_splits = {split: read_yolo(root, split) for split in splits or [""]}
    listed = next((list(names.values()) for _, names in read_splits.values() if names), []) or yaml_names(root)
    return Pictures("yolo", {s: yolo_named(scenes, listed) for s, (scenes, _) in read_splits.items()}, listed)


def yolo_named(scenes: list[Scene], listed: list[str]) -> list[Picture]:
    """YOLO's scenes with names; without any list of names those of the numbers, for --classes to name."""
    if listed:
        return named(scenes, dict(enumerate(listed, 1)))
    return [Picture(scene, [str(label - 1) for label in scene.labels]) for scene in scenes]


def yaml_names(root: Path) -> list[str]:
    """The `names` of a data.yaml, as Ultralytics and Roboflow write it: a list in brackets, of lines, or by numbers."""
    path = next(
        (p for p in (root / "data.yaml", root / "dataset.yaml", *sorted(root.glob("*.yaml"))) if p.is_file()), None
    )
    if path is None:
        return []
    text = read_file(path, "text_bytes").decode("utf-8", "replace")
    match = re.search(r"^names[ \t]*:", text, re.M)
    if match is None:
        return []
    rest = text[match.end() :].lstrip()
    if rest.startswith("["):
        inside, closed, _ = rest[1:].partition("]")
        return [name.strip().strip("'\"") for name in inside.split(",") if name.strip()] if closed else []
    first, *lines = text[match.end() :].splitlines() or [""]
    values: list[str] = []
    for line in (each.strip() for each in (lines if uncommented(first) == "" else ())):
        if line and not line.startswith("#"):
            item = re.match(r"-|\d+\s*:", line)
            if item is None:
                break
            values.append(uncommented(line[item.end() :]).strip("'\""))
    return [value for value in values if value]


def uncommented(text: str) -> str:
    """A text without spaces around it, and without a comment that stands apart."""
    match = re.search(r"(?:^|\s)#", text)
    return text[: match.start() if match else len(text)].strip()


# WIDER FACE


def wider(root: Path, known: Sequence[str]) -> Pictures:
    """A WIDER FACE folder; each of its lists of boxes is a split."""
    splits = {split: read_wider(root, split) for split in wider_lists(root)}
    return Pictures("wider", {split: named(scenes, names) for split, (scenes, names) in splits.items()}, ["face"])


# Splits


def usual(name: str) -> str:
    """ "train" or "test", for the name of a split such as train2017 or valid; else nothing.

    >>> usual("val2017"), usual("trainval"), usual("people")
    ('test', 'train', '')
    """
    plain = re.sub(r"[-_ ]?\d*$", "", name.lower())
    return "train" if plain in TRAIN else "test" if plain in TEST else ""


def choose(pictures: Pictures, share: float | None, seed: int, train: str = "", test: str = "") -> Split:
    """What to learn from and what to test on.

    Parameters
    ----------
    pictures
        Of `read`.
    share
        The part of all pictures to test on, drawn by `seed`; None takes the folder's own split, or 0.1 where it has none.
    train, test
        The names of splits.

    Raises
    ------
    DataError
        For a split that does not exist, and for fewer than two pictures.
    """
    splits = pictures.splits
    for name in filter(None, (train, test)):
        if name not in splits:
            raise DataError(f"there is no split {name!r}; there: {', '.join(filter(None, splits)) or 'none'}")
    if share is None:
        plain = {re.sub(r"[-_ ]?\d*$", "", name.lower()): name for name in splits}
        pairs = [(plain[a], plain[b]) for a, b in PAIRS if a in plain and b in plain]
        named_pairs = [(a, b) for a, b in pairs if train in ("", a) and test in ("", b)]
        first, second = named_pairs[0] if named_pairs else (train, test)
        if test and not first:  # of other names
            first = next((plain[name] for name in TRAIN if name in plain), "")
        if first and second and first != second:
            return Split(splits[first], splits[second], f"its own split: {first} and {second}")
    pool = splits[train] if train else unique(p for each in splits.values() for p in each)
    pool = sorted(pool, key=lambda picture: str(picture.scene.path))
    if len(pool) < 2:
        raise DataError(
            f"the folder has {len(pool)} picture{'s' * (len(pool) != 1)}; it takes one to learn from and one to test on"
        )
    chosen = draw(pool, share, seed)
    said = f"drawn by seed {seed}: {len(chosen)} of {len(pool)} pictures to test on"
    return Split([p for i, p in enumerate(pool) if i not in chosen], [pool[i] for i in sorted(chosen)], said)


def draw(pool: Sequence[Picture], share: float | None, seed: int) -> set[int]:
    """The places of the pictures to test on, drawn by a seed.

    No class loses its last picture to learn from. Each class gets a picture to test on where it has another; for that a tenth,
    where no share is asked for, may become a quarter.
    """
    count = min(max(1, round((0.1 if share is None else share) * len(pool))), len(pool) - 1)
    order = np.random.default_rng(seed).permutation(len(pool)).tolist()
    has = [set() if picture.scene.wrong else set(picture.classes) for picture in pool]
    remaining = Counter(name for names in has for name in names)
    chosen: set[int] = set()

    def take(wanted: str | None, most: int) -> None:
        for at in order:
            if len(chosen) >= most:
                return
            if at in chosen or (wanted is not None and wanted not in has[at]) or any(remaining[n] < 2 for n in has[at]):
                continue
            chosen.add(at)
            remaining.subtract(has[at])
            if wanted is not None:
                return

    most = count if share is not None else max(count, min(len(remaining), len(pool) // 4))
    for name, _ in sorted(remaining.items(), key=lambda item: (item[1], item[0])):
        if not any(name in has[at] for at in chosen):
            take(name, most)
    take(None, count)
    if not chosen:
        raise DataError(
            f"no picture can be kept for testing: of the {len(pool)} each has the only object of its class to learn from; "
            "annotate more, or name the splits with --train and --test"
        )
    return chosen


def unique(pictures: Iterable[Picture]) -> list[Picture]:
    """Each picture once: VOC lists one in several splits."""
    return list({str(picture.scene.path): picture for picture in pictures}.values())


# Classes


def settle(
    pictures: Pictures, split: Split, wanted: Sequence[str], source: str = "", leave_out: bool = False
) -> list[str]:
    """Gives every object its label, 1 for the first class, and returns the classes.

    Parameters
    ----------
    pictures
        Of `read`.
    split
        Of `choose`; its objects are changed.
    wanted
        The classes; empty takes those that can be learned, by name: objects of others, which only the test has, are left out.
    source
        The file that `wanted` is from, for errors.
    leave_out
        Leave out objects of other classes, in place of an error.

    Raises
    ------
    DataError
        For objects of other classes, classes that do not occur in what is learned from, or no object at all.
    """
    used = [picture for picture in (*split.train, *split.test) if not picture.scene.wrong]
    if pictures.format == "yolo" and not pictures.listed:
        name_numbers(used, wanted)
    there = Counter(name for picture in used for name in picture.classes)
    learned = Counter(name for picture in split.train if not picture.scene.wrong for name in picture.classes)
    if not there:
        raise DataError(f"none of the {len(used)} pictures has an object{wrong_example((*split.train, *split.test))}")
    if not learned:
        raise DataError("no picture to learn from has an object: choose another split with --train, or --test-share")
    classes = list(wanted) or sorted(learned)
    if not wanted:
        need_distinct(there)
    if odd := next((name for name in classes if any(unicodedata.category(c) in ODD for c in name)), None):
        raise DataError(
            f"the class {odd!r} has signs in its name that no line of a text can hold; give it another name"
        )
    if len(set(classes)) < len(classes):
        doubled = next(name for name, count in Counter(classes).items() if count > 1)
        raise DataError(f"{source or 'the list of classes'} has {doubled!r} twice")
    others = sorted(there.keys() - set(classes))
    if not wanted:
        split.dropped = others
    elif others and not leave_out:
        counted = ", ".join(f"{name!r} ({there[name]})" for name in others[:6]) + (" .." if len(others) > 6 else "")
        raise DataError(
            f"{source} does not have {len(others)} of the classes of the pictures: {counted}{nearest(others[0], classes)}; add "
            "them, or leave their objects out with --leave-out-others"
        )
    if absent := [name for name in classes if not learned[name]]:
        raise DataError(
            f"no picture to learn from has an object of {', '.join(map(repr, absent[:6]))}{nearest(absent[0], others)}; the "
            f"classes there: {', '.join(sorted(learned)[:12])}. Remove the others from {source}"
        )
    numbers = {name: label for label, name in enumerate(classes, 1)}
    for picture in used:
        relabel(picture, numbers)
    return classes


def need_distinct(counts: Counter[str]) -> None:
    """Raises DataError for two names of classes that differ in capitals, blanks or signs between words alone."""
    plain: dict[str, str] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        other = plain.setdefault(re.sub(r"[\s_-]", "", name).casefold(), name)
        if other != name:
            raise DataError(
                f"there are objects of {other!r} ({counts[other]}) and of {name!r} ({counts[name]}): did you mean one class? "
                "Mend the annotations; where they are two, name all classes in a file for --classes, one in each line"
            )


def name_numbers(pictures: Sequence[Picture], wanted: Sequence[str]) -> None:
    """Gives YOLO's numbers the names of a list. Raises DataError without one, or for a number beyond it."""
    highest = max((int(name) for picture in pictures for name in picture.classes), default=-1)
    if highest >= len(wanted):
        raise DataError(
            f"the labels have class {highest}, counted from 0, and "
            + (f"--classes names {len(wanted)}" if wanted else "the folder has no classes.txt or data.yaml")
            + ": name all classes in a file for --classes, one in each line"
        )
    for picture in pictures:
        picture.classes = [wanted[int(name)] for name in picture.classes]


def relabel(picture: Picture, numbers: dict[str, int]) -> None:
    """Sets the labels of a scene, and leaves out the objects of other classes."""
    scene = picture.scene
    keep = [i for i, name in enumerate(picture.classes) if name in numbers]
    scene.labels = [numbers[picture.classes[i]] for i in keep]
    scene.corners = scene.corners[keep]
    scene.difficult = [scene.difficult[i] for i in keep]
    picture.classes = [picture.classes[i] for i in keep]


def wrong_example(pictures: Iterable[Picture]) -> str:
    """The first of what is wrong with pictures, for an error."""
    wrong = [picture.scene.wrong for picture in pictures if picture.scene.wrong]
    return f"; {len(wrong)} more cannot be used, the first: {wrong[0]}" if wrong else ""
