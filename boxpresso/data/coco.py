"""COCO's average precision and recall, computed by pycocotools (Lin et al. 2014)."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DataError, extra
from .lines import read_json

STATS = (
    "AP", "AP50", "AP75", "AP small", "AP medium", "AP large",
    "AR1", "AR10", "AR100", "AR small", "AR medium", "AR large",
)  # fmt: skip


@dataclass(frozen=True)
class Coco:
    """stats: {name: value} by the names of `STATS`; by_class: {label: AP}. NaN without any object of that kind.

    AP is the mean over overlaps from 0.50 to 0.95, AP50 and AP75 that at one; small objects are below 32 x 32 pixels, large
    ones from 96 x 96. AR is the mean recall with 1, 10 or 100 detections a picture.
    """

    stats: dict[str, float]
    by_class: dict[int, float]


def dataset_of(truth: np.ndarray, pictures: int) -> dict[str, list[Any]]:
    """COCO's tables from rows (G, 7) picture, label, xmin, ymin, xmax, ymax, difficult. Difficult objects become crowds."""
    boxes = np.concatenate([truth[:, 2:4], truth[:, 4:6] - truth[:, 2:4]], 1)
    annotations = [
        {"image_id": int(row[0]), "category_id": int(row[1]), "bbox": box.tolist(), "iscrowd": int(row[6] != 0)}
        for row, box in zip(truth, boxes)
    ]
    return {"images": [{"id": i} for i in range(pictures)], "annotations": annotations}


def read_dataset(path: str | Path, pictures: Sequence[int], labels: Mapping[int, int]) -> dict[str, list[Any]]:
    """The tables of a file of instances, with areas and crowds as it says them, numbered as rows of detections are.

    pictures: which ones of the file's images, in the order of rows; labels: {label as `read_coco` counts: label in rows}.
    Raises DataError for a file that cannot be read or is another file.
    """
    try:
        tables = read_json(path, "a COCO file of instances")
        number = {tables["images"][at]["id"]: i for i, at in enumerate(pictures)}
        label = {one: labels[i] for i, one in enumerate(sorted(c["id"] for c in tables["categories"]), 1)}
        annotations = [
            {**a, "image_id": number[a["image_id"]], "category_id": label[a["category_id"]]}
            for a in tables["annotations"]
            if a["image_id"] in number
        ]
        for a in annotations:  # what is compared must be numbers
            a["bbox"] = [float(value) for value in a["bbox"]]
            a["iscrowd"] = int(bool(a.get("iscrowd", 0)))
            if len(a["bbox"]) != 4 or not all(map(math.isfinite, a["bbox"])):
                raise ValueError(f"the box {a['bbox']} is not four numbers")
            if "area" in a:
                a["area"] = float(a["area"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise DataError(f"{path} is not a COCO file of instances: {type(error).__name__} {error}") from error
    return {"images": [{"id": i} for i in range(len(pictures))], "annotations": annotations}


def read_ids(path: str | Path) -> tuple[list[int | str], list[int | str]]:
    """The ids of a file's images, in its order, and of its categories by label: the first is that of label 1.

    Raises DataError for a file that cannot be read or is another file.
    """
    try:
        tables = read_json(path, "a COCO file of instances")
        return [image["id"] for image in tables["images"]], sorted(category["id"] for category in tables["categories"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a COCO file of instances: {type(error).__name__} {error}") from error


def known(value: float) -> float:
    """A number of pycocotools, whose -1 stands for none, with NaN for it."""
    return float("nan") if value == -1 else float(value)


def evaluate_coco(detections: np.ndarray, dataset: dict[str, list[Any]]) -> Coco:
    """COCO's numbers for rows (D, 7) picture, label, score, xmin, ymin, xmax, ymax in pixels.

    dataset: from `dataset_of` or `read_dataset`. Raises DataError where pycocotools is missing.
    """
    coco, evaluation = extra("pycocotools.coco"), extra("pycocotools.cocoeval")
    boxes = np.concatenate([detections[:, 3:5], detections[:, 5:7] - detections[:, 3:5]], 1)
    results = [
        {
            "image_id": int(row[0]),
            "category_id": int(row[1]),
            "score": float(row[2]),
            "bbox": box.tolist(),
            "iscrowd": 0,
        }
        for row, box in zip(detections, boxes)
    ]
    truth = [{"area": a["bbox"][2] * a["bbox"][3], "iscrowd": 0, **a} for a in dataset["annotations"]]
    classes = sorted({a["category_id"] for a in truth})
    sides = []
    for side_boxes in (truth, [{**r, "area": r["bbox"][2] * r["bbox"][3]} for r in results]):
        numbered = [{**a, "id": i} for i, a in enumerate(side_boxes, 1)]  # pycocotools takes an id of 0 for none
        side = coco.COCO()
        side.dataset = {
            "images": dataset["images"], "annotations": numbered, "categories": [{"id": c} for c in classes],
        }  # fmt: skip
        sides.append(side)
    with contextlib.redirect_stdout(io.StringIO()):
        for side in sides:
            side.createIndex()
        judge = evaluation.COCOeval(*sides, "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    precision = judge.eval["precision"][:, :, :, 0, -1]  # overlaps, recalls, classes; all sizes, 100 detections
    by_class = {c: known(precision[:, :, k].mean()) for k, c in enumerate(classes)}
    return Coco({name: known(value) for name, value in zip(STATS, judge.stats)}, by_class)
