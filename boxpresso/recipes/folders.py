"""A user's folder of pictures and annotations: which format it has, its splits, its classes, and what to learn from.

A format is told by what is in the files, not by how folders are called: see LAYOUT.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from ..data.annotations import READERS, Annotated, Files, Table, first_tag, is_yolo, kind_of, kinds_in, yolo_texts
from ..data.errors import DataError
from ..data.folders import Scene, is_hidden, read_coco, read_voc, read_wider, wider_lists, yolo_scene
from ..labels import BACKGROUND
from ..proto.errors import ModelError, nearest
from ..proto.reading import read_file
from .yolo_names import listed_names, names_files, yaml_keypoints, yaml_names

ODD = ("Cc", "Cs", "Zl", "Zp")  # of Unicode: signs that steer a terminal, halves of signs, ends of lines
FORMATS = ("voc", "coco", "yolo", "wider", "csv", "labelme", "cvat", "labelstudio")
LOOKED_AT = 20  # files, to tell what a folder holds
# Names of splits.
TRAIN, TEST = ("trainval", "train", "training"), ("test", "val", "valid", "validation", "testing")
PAIRS = [
    ("trainval", "test"),
    *((one, other) for one in ("train", "training") for other in ("val", "valid", "validation", "test", "testing")),
]  # the preferred first
LAYOUT = """\
  voc         an .xml of <annotation> for each picture, in Annotations or elsewhere
  coco        a .json with "images", "annotations" and "categories"
  yolo        a .txt with `class x y width height` for each picture
  wider       wider_face_split/wider_face_train_bbx_gt.txt and WIDER_train/images
  csv         a table with columns filename, class, xmin, ymin, xmax, ymax
  labelme     a .json with "shapes" and "imagePath" for each picture
  cvat        an .xml of <annotations> with an <image> for each picture
  labelstudio a .json with a list of tasks
and the pictures, in the same folder or in folders of it"""


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
    without: list[Path] = field(default_factory=list)  # pictures beside these that nothing annotates


@dataclass
class Split:
    """What to learn from and what to test on, where they are from, in words, and classes of which no object can be learned."""

    train: list[Picture]
    test: list[Picture]
    origin: str
    dropped: list[str] = field(default_factory=list)


def recognise(root: Path) -> str:
    """The format of a folder, or of one file of annotations, by what is in its files.

    Raises
    ------
    DataError
        For no folder, an empty one, one of no known format, or one of several.
    """
    if root.is_file():
        if kind := kind_of(root):
            return kind
        raise DataError(
            f"{root} is no file of annotations that is known{lacking([root])}; what is looked for:\n{LAYOUT}"
        )
    if not root.is_dir():
        raise DataError(f"there is no folder {root}; it must hold pictures and their annotations:\n{LAYOUT}")
    if not any(not path.name.startswith(".") for path in root.iterdir()):
        raise DataError(f"the folder {root} is empty; it must hold pictures and their annotations:\n{LAYOUT}")
    if wider_lists(root):
        return "wider"
    files = Files(root)
    kinds = list(kinds_in(files))
    texts = yolo_texts(files)
    if (names_files(files) and texts) or any(is_yolo(path) for path in islice(texts.values(), LOOKED_AT)):
        kinds.append("yolo")
    if len(kinds) > 1 and "csv" in kinds:
        kinds.remove("csv")  # tables beside other annotations are made from these
    seen = ", ".join(f"{count} {suffix or 'without an ending'}" for suffix, count in endings(files))
    if len(kinds) > 1:
        raise DataError(f"{root} could be {' or '.join(kinds)}: say which with --format; it holds {seen}")
    if not kinds:
        there = lacking([*files.ending(".csv"), *files.ending(".xml", ".json")]) + beside(root)
        raise DataError(f"{root} is none of the known formats{there}. It holds {seen}; what is looked for:\n{LAYOUT}")
    return kinds[0]


def endings(files: Files) -> list[tuple[str, int]]:
    """The endings of the names of files and how many have each, the most frequent first."""
    return Counter(path.suffix.lower() for path in files.all).most_common(6)


def lacking(paths: Sequence[Path]) -> str:
    """What the first of some files lacks to be one of annotations, for an error."""
    for path in paths:
        if path.suffix.lower() == ".csv":
            with suppress(DataError):
                if lacks := Table(path).lacks:
                    return f": {path.name} has no column {' and no '.join(lacks)}"
        elif path.suffix.lower() == ".xml" and not first_tag(path):
            return f": {path.name} is not XML"
    return f": its {paths[0].suffix} files are none of VOC, CVAT, COCO, LabelMe or Label Studio" if paths else ""


def beside(root: Path) -> str:
    """The annotations that lie not in a folder of pictures, but beside it, for an error."""
    home = root.resolve().parent
    with suppress(OSError):
        for path in sorted(path for path in home.iterdir() if path.suffix.lower() in (".json", ".csv", ".xml"))[
            :LOOKED_AT
        ]:
            if kind := kind_of(path):
                return f"; {path.name} beside it is a file of {kind}: give --data {shlex.quote(str(root.parent / path.name))}"
        for name in ("annotations", "Annotations", "labels", "xml", "xmls"):
            if (home / name).is_dir():
                return f"; the folder {name} beside it may hold its annotations: give --data {shlex.quote(str(root.parent))}"
    return ""


def read(root: Path, format: str, more: Sequence[str] = ()) -> Pictures:
    """The pictures of a folder of a format, one of FORMATS; more: names of splits that are looked for beside the usual ones.

    root: the folder, or one file of annotations, whose pictures are in its folder. Raises DataError where it cannot be read.
    """
    if format not in FORMATS:
        raise DataError(f"the format of a folder is one of {', '.join(FORMATS)}, not {format!r}")
    known = [*dict.fromkeys((*TRAIN, *TEST, *filter(None, more)))]
    if not root.exists():
        raise DataError(f"there is no folder {root}; it must hold pictures and their annotations:\n{LAYOUT}")
    if format == "wider":
        pictures = wider(root)
    elif format == "voc" and (root / "JPEGImages").is_dir() and any((root / "Annotations").glob("*.xml")):
        pictures = voc(root, known)
    else:
        files = Files(root if root.is_dir() else root.parent)
        paths = [root] if root.is_file() else kinds_in(files).get(format, [])
        if format == "yolo":
            pictures = yolo(files, known)
        elif format == "coco":
            pictures = coco(files, paths, known)
        else:
            pictures = by_split(format, READERS[format](files, paths), files, known)
        used = {picture.scene.path for pictures_of in pictures.splits.values() for picture in pictures_of}
        homes = {path.parent for path in used}
        pictures.without = [path for path in files.pictures if path.parent in homes and path not in used]
    if not any(pictures.splits.values()):
        raise DataError(f"{root} holds no annotated picture; what is looked for:\n{LAYOUT}")
    return pictures


def by_split(format: str, annotated: Iterable[Annotated], files: Files, known: Sequence[str]) -> Pictures:
    """Pictures by the split that their file gives them, else by a folder in their path whose name is one of a split's, else, of
    a table of many pictures, by its own name."""
    splits: dict[str, list[Picture]] = {}
    tables = False
    for one in annotated:
        split = one.split or folder_split(one.scene.path, files, known)
        if one.table is not None:
            split, tables = split or file_split(one.table, files, known), True
        splits.setdefault(split, []).append(Picture(one.scene, one.classes))
    return Pictures(format, {split: merged(each) for split, each in splits.items()} if tables else splits)


def file_split(path: Path, files: Files, known: Sequence[str]) -> str:
    """The split that a word in the name of a file of annotations says, else a folder that it lies in; "" where none does.

    >>> file_split(Path("data/train_labels.csv"), Files(Path("data")), ())
    'train'
    """
    words = re.split(r"[^a-z\d]+", path.stem.lower())
    return next((word for word in words if word in known or usual(word)), "") or folder_split(path, files, known)


def merged(pictures: Iterable[Picture]) -> list[Picture]:
    """Each picture once, with the objects of all its entries, as of a table for each class. What two entries have alike is one
    object. Entries of two sizes, and one that cannot be used, make a picture that cannot be."""
    by_path: dict[Path, Picture] = {}
    for picture in pictures:
        first = by_path.setdefault(picture.scene.path, picture)
        if first is picture:
            continue
        one, two = first.scene, picture.scene
        if not one.wrong and not two.wrong and (one.width, one.height) != (two.width, two.height):
            one.wrong = f"{one.path} is annotated as {one.width}x{one.height} and as {two.width}x{two.height}"
        one.wrong = one.wrong or two.wrong
        if one.wrong:
            continue
        there = set(zip(first.classes, map(tuple, one.corners.tolist())))
        new = [i for i, c in enumerate(two.corners.tolist()) if (picture.classes[i], tuple(c)) not in there]
        first.classes += [picture.classes[i] for i in new]
        one.labels += [two.labels[i] for i in new]
        one.difficult += [two.difficult[i] for i in new]
        one.corners = np.concatenate([one.corners, two.corners[new]])
        one.clipped += [line for line in two.clipped if line not in one.clipped]
        one.thin += [line for line in two.thin if line not in one.thin]
        one.swapped += [line for line in two.swapped if line not in one.swapped]
    return list(by_path.values())


def folder_split(path: Path, files: Files, known: Sequence[str]) -> str:
    """The name of the split in the path of a picture; "" where none of its folders has one."""
    with suppress(ValueError):  # it is not in the folder
        return next((name for name in path.relative_to(files.root).parts[:-1] if name in known or usual(name)), "")
    return ""


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
    names: set[str] = set()
    for path in (path for path in folder.glob("*.xml") if not is_hidden(path)):
        with suppress(ModelError, ElementTree.ParseError, ValueError, LookupError):
            objects = ElementTree.fromstring(read_file(path, "text_bytes")).iter("object")
            names.update((thing.findtext("name") or "").strip() for thing in objects)
    return names - {""}


# COCO


def coco(files: Files, paths: Sequence[Path], known: Sequence[str]) -> Pictures:
    """COCO's tables; each .json is a split, called as the file, a word of its name, or its folder, as Roboflow does it."""
    if not paths:
        raise DataError(f"{files.root} has no .json file of COCO's instances")
    splits: dict[str, list[Picture]] = {}
    listed: dict[str, None] = {}
    names_of = {path: coco_split(path) for path in paths}
    for path, name in names_of.items():
        if not (usual(name) or name in known):
            said = file_split(path, files, known)
            # person_keypoints_val2017 is beside val2017
            name = said if said and said not in names_of.values() else name
        scenes, names = read_coco(path, name, find=partial(files.picture, beside=path, split=name))
        split = name if len(paths) > 1 or usual(name) or name in known else ""
        splits.setdefault(split, []).extend(named(scenes, names))
        listed |= dict.fromkeys(names.values())
    return Pictures("coco", {split: merged(each) for split, each in splits.items()}, list(listed))


def coco_split(path: Path) -> str:
    """The name of a split as COCO and Roboflow write it."""
    return path.parent.name if path.name.startswith("_annotations") else path.stem.replace("instances_", "")


# YOLO


def yolo(files: Files, known: Sequence[str]) -> Pictures:
    """Pictures and texts of YOLO: beside each other, in images/ and labels/, or wherever a text is called as one picture."""
    texts = yolo_texts(files)
    listed = listed_names(names_files(files)) or yaml_names(files)
    keypoints = yaml_keypoints(files)
    homes = {picture.parent for picture in texts}
    splits: dict[str, list[Picture]] = {}
    for picture in (path for path in files.pictures if path.parent in homes):
        scene = yolo_scene(picture, texts.get(picture, picture.with_suffix(".txt")), listed, keypoints)
        splits.setdefault(folder_split(picture, files, known), []).append(yolo_named(scene, listed))
    return Pictures("yolo", splits, listed)


def yolo_named(scene: Scene, listed: list[str]) -> Picture:
    """One of YOLO's scenes with names; without any list of names those of the numbers, for --classes to name."""
    return Picture(scene, [listed[label - 1] if listed else str(label - 1) for label in scene.labels])


def wider(root: Path) -> Pictures:
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
    if taken := next((name for name in classes if name.casefold() in BACKGROUND), None):
        raise DataError(
            f"a class is called {taken!r}, which is what a net calls places without an object: give it another name, or leave "
            "its objects out by a list of the others for --classes, and --leave-out-others"
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
