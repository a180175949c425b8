"""Detections as JSON, as COCO's results, and as an annotation of VOC."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from ..data.inputs import Numpy
from ..proto.errors import BoxpressoWarning
from .rows import Rows


def as_json(found: Rows) -> list[dict[str, Any]]:
    """Each detection as plain values for JSON.

    Returns
    -------
    list of dict
        `class_id`, `class_name`, None where it is not known, `score` and `box` (left, top, right, bottom in pixels); and where
        there are any `rotated` (centre x, centre y, height, width, angle), `angle`, `quadrilateral`, `landmarks` (None for one
        that was not found), `landmark_scores` and `mask` (COCO's run lengths). `label` and `name` are older names of class_id
        and class_name.

    Examples
    --------
    >>> from boxpresso import Detections
    >>> (row,) = as_json(Detections([[1, 2, 3, 4]], [0.5], [7], {7: "cat"}))
    >>> {name: row[name] for name in ("class_id", "class_name", "score", "box")}
    {'class_id': 7, 'class_name': 'cat', 'score': 0.5, 'box': [1.0, 2.0, 3.0, 4.0]}
    """
    rotated = found.rotated if found.angles is not None and found.quadrilaterals is not None else None
    rows = []
    for i, number in enumerate(found.class_ids.tolist()):
        row: dict[str, Any] = {
            "class_id": number,
            "class_name": found.names.get(number),
            "score": round(float(found.scores[i]), 6),
            "box": rounded(found.boxes[i]),
            "label": number,
            "name": found.names.get(number),
        }
        if rotated is not None:
            row["rotated"] = rounded(rotated[i])
        if found.angles is not None:
            row["angle"] = round(float(found.angles[i]), 2)
        if found.quadrilaterals is not None:
            row["quadrilateral"] = rounded(found.quadrilaterals[i])
        if found.landmarks is not None:
            row["landmarks"] = [rounded(p) if np.isfinite(p).all() else None for p in found.landmarks[i]]
        if found.landmark_scores is not None:
            row["landmark_scores"] = [round(float(s), 4) for s in found.landmark_scores[i]]
        if found.masks is not None:
            row["mask"] = run_lengths(found.masks[i])
        rows.append(row)
    return rows


def rounded(values: Numpy) -> Any:
    """Lists of numbers with two digits."""
    return np.round(values.astype(np.float64), 2).tolist()


def run_lengths(mask: Numpy) -> dict[str, Any]:
    """A mask as COCO's uncompressed run lengths: by columns, of pixels outside first.

    >>> run_lengths(np.array([[False, True], [False, True]]))
    {'size': [2, 2], 'counts': [2, 2]}
    """
    flat = np.concatenate([[False], mask.ravel(order="F"), [False]])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    counts = np.diff(np.concatenate([[0], edges, [mask.size]])).tolist()
    while len(counts) > 1 and counts[-1] == 0:
        counts.pop()
    return {"size": list(mask.shape), "counts": counts}


def number_in(file: str) -> int | None:
    """The number that a picture's name ends in, as those of COCO do; None where it ends in none.

    >>> number_in("val2014/COCO_val2014_000000000042.jpg"), number_in("street.jpg")
    (42, None)
    """
    digits = PurePath(file).stem.rsplit("_", 1)[-1]
    return int(digits) if digits.isdecimal() else None


def image_ids(files: Sequence[str]) -> list[int | str]:
    """An image_id for each of several pictures, no two the same where their paths are not: the number that its name ends in;
    the name itself where it ends in none, or another's in the same; the path where names are the same.

    >>> image_ids(["a/000000000139.jpg", "street.jpg"]), image_ids(["a/1.jpg", "b/1.jpg"]), image_ids(["x_1.jpg", "y_1.jpg"])
    ([139, 'street.jpg'], ['a/1.jpg', 'b/1.jpg'], ['x_1.jpg', 'y_1.jpg'])
    """
    ids: dict[str, int | str] = {}
    choices: list[dict[str, int | str]] = [
        {file: PurePath(file).name if (number := number_in(file)) is None else number for file in files},
        {file: PurePath(file).name for file in files},
        {file: file for file in files},
    ]
    for choice in choices:
        taken = Counter([*ids.values(), *(choice[file] for file in choice if file not in ids)])
        ids.update({file: one for file, one in choice.items() if file not in ids and taken[one] == 1})
    return [ids[file] for file in files]


def coco_results(
    found: Rows, file: str, image_id: int | str | None = None, categories: Mapping[int, int | str] | None = None
) -> list[dict[str, Any]]:
    """COCO's results, as pycocotools' loadRes reads them.

    Parameters
    ----------
    found
        The detections; their classes are the categories.
    file
        The picture's path.
    image_id
        By default the number that the file's name ends in (000000000139.jpg is 139), else the name itself; of several
        pictures see `image_ids`.
    categories
        {class_id: category_id}; by default the class_ids themselves.

    Examples
    --------
    >>> from boxpresso import Detections
    >>> coco_results(Detections([[1, 2, 4, 8]], [0.5], [7]), "val/000000000139.jpg")
    [{'image_id': 139, 'category_id': 7, 'bbox': [1.0, 2.0, 3.0, 6.0], 'score': 0.5}]
    """
    if image_id is None:
        number = number_in(file)
        image_id = PurePath(file).name if number is None else number
    rows = []
    for i, (x1, y1, x2, y2) in enumerate(found.boxes.astype(np.float64)):
        row: dict[str, Any] = {
            "image_id": image_id,
            "category_id": (categories or {}).get(int(found.class_ids[i]), int(found.class_ids[i])),
            "bbox": rounded(np.array([x1, y1, x2 - x1, y2 - y1])),
            "score": round(float(found.scores[i]), 6),
        }
        if found.masks is not None:
            row["segmentation"] = run_lengths(found.masks[i])
        elif found.quadrilaterals is not None:
            row["segmentation"] = [rounded(found.quadrilaterals[i].ravel())]
        if found.landmarks is not None:
            there = np.isfinite(found.landmarks[i]).all(1)
            points = np.where(there[:, None], found.landmarks[i], 0)
            row["keypoints"] = rounded(np.column_stack([points, 2 * there]).ravel())
        rows.append(row)
    return rows


def voc_results(names: Sequence[str], detections: Sequence[Rows], classes: Mapping[int, str]) -> dict[str, str]:
    """The files of VOC's detection results, {comp4_det_test_CLASS.txt: text}: a line `name score left top right bottom` for
    each detection, corners counted from 1; a class without detections has an empty file.

    Parameters
    ----------
    names
        Of the pictures, without their endings.
    detections
        Of each picture.
    classes
        {class_id: class_name}.

    Warns
    -----
    BoxpressoWarning
        For names with blanks, at which programs split the lines.

    Source
    ------
    The development kit of VOC2007, as py-faster-rcnn and SSD write them.

    Examples
    --------
    >>> from boxpresso import Detections
    >>> voc_results(["000001"], [Detections([[9, 19, 30, 40]], [0.5], [1])], {1: "cat"})
    {'comp4_det_test_cat.txt': '000001 0.500000 10.0 20.0 30.0 40.0\\n'}
    """
    strange = [name for name in dict.fromkeys(names) if not name or name.split() != [name]]
    if strange:
        warnings.warn(
            f"{len(strange)} pictures have blanks in their names, such as {strange[0]!r}: programs split the lines of VOC's "
            "results at blanks, and find no picture of that name; rename them, or write COCO's results",
            BoxpressoWarning,
            stacklevel=2,
        )
    lines: dict[int, list[str]] = {label: [] for label in classes}
    for name, rows in zip(names, detections, strict=True):
        for label, score, box in zip(rows.class_ids.tolist(), rows.scores, rows.boxes.astype(np.float64)):
            corners = " ".join(f"{value:.1f}" for value in box + np.array([1, 1, 0, 0]))
            lines.setdefault(label, []).append(f"{name} {score:.6f} {corners}\n")
    files: dict[str, str] = {}
    owners: dict[str, str] = {}  # classes may have one name, or names that no two files can have
    for label, of_class in lines.items():
        name = str(classes.get(label, label))
        file = re.sub(r"[^\w .-]", "_", name)
        file = file if owners.setdefault(file.lower(), name) == name else f"{file}-{label}"
        place = f"comp4_det_test_{file}.txt"
        files[place] = files.get(place, "") + "".join(of_class)
    return files


NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # signs that no XML can hold


def voc_xml(found: Rows, file: str, width: int, height: int, depth: int = 3) -> str:
    """An annotation in VOC's form: corners in pixels counted from 1, names, and scores as <confidence>.

    Examples
    --------
    >>> from boxpresso import Detections
    >>> print(voc_xml(Detections([[0, 0, 10, 8]], [0.5], [1], {1: "cat"}), "in/a.jpg", 20, 10))
    <annotation>
      <folder>in</folder>
      <filename>a.jpg</filename>
      <size>
        <width>20</width>
        <height>10</height>
        <depth>3</depth>
      </size>
      <segmented>0</segmented>
      <object>
        <name>cat</name>
        <pose>Unspecified</pose>
        <truncated>0</truncated>
        <difficult>0</difficult>
        <confidence>0.500000</confidence>
        <bndbox>
          <xmin>1</xmin>
          <ymin>1</ymin>
          <xmax>10</xmax>
          <ymax>8</ymax>
        </bndbox>
      </object>
    </annotation>
    """
    from xml.etree import ElementTree  # slow to import

    root = ElementTree.Element("annotation")

    def add(parent: ElementTree.Element, **values: object) -> None:
        for name, value in values.items():
            ElementTree.SubElement(parent, name).text = NO_XML.sub("?", str(value))

    add(root, folder=PurePath(file).parent.name, filename=PurePath(file).name)
    add(ElementTree.SubElement(root, "size"), width=width, height=height, depth=depth)
    add(root, segmented=0)
    for i in range(len(found)):
        x1, y1, x2, y2 = found.boxes[i].astype(np.float64)
        left, right = pixels_of(x1, x2, width)
        top, bottom = pixels_of(y1, y2, height)
        one = ElementTree.SubElement(root, "object")
        add(one, name=found.label(i), pose="Unspecified", truncated=0, difficult=0)
        add(one, confidence=f"{found.scores[i]:.6f}")
        add(ElementTree.SubElement(one, "bndbox"), xmin=left, ymin=top, xmax=right, ymax=bottom)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def pixels_of(start: float, end: float, size: int) -> tuple[int, int]:
    """The first and last pixel, counted from 1, of a side between two edges; one at least.

    >>> pixels_of(0.0, 10.0, 20), pixels_of(3.6, 4.4, 20), pixels_of(30.0, 40.0, 20)
    ((1, 10), (5, 5), (20, 20))
    """
    first, last = (min(max(round(v), 1), size) for v in (start + 1, end))
    return first, max(first, last)
