"""Small pictures and folders drawn for tests of data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from harness import Rig

from boxpresso.data.picture import encode
from boxpresso.data.records import make_annotated, make_datum, write_records

VOC = """<annotation><filename>{name}.jpg</filename><size><width>{width}</width><height>{height}</height><depth>3</depth></size>
{objects}</annotation>"""
OBJECT = """<object><name>{kind}</name><difficult>{difficult}</difficult><part><name>head</name></part>
<bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"""


def picture(seed: int, height: int = 12, width: int = 16, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels)).astype(np.uint8)


def datum_lmdb(path: Path, count: int = 6, encoded: bool = False, **size: int) -> Path:
    """Records of label i and picture(i)."""
    write_records(
        path,
        (
            (
                f"{i:08d}",
                make_datum(encode(picture(i, **size), "PNG") if encoded else picture(i, **size), i).SerializeToString(),
            )
            for i in range(count)
        ),
    )
    return path


def data(source: Path | str, batch: int = 4, more: str = "", param: str = "", **options: Any) -> Rig:
    """A Data layer over an LMDB."""
    text = f'type: "Data" data_param {{ source: "{Path(source).as_posix()}" backend: LMDB batch_size: {batch} {param} }} {more}'
    return Rig(text, [], tops=2, **{"phase": "TRAIN", **options})


def boxes_of(i: int) -> np.ndarray:
    """Picture i has i % 3 boxes."""
    rng = np.random.default_rng(100 + i)
    start = rng.uniform(0, 0.5, (i % 3, 2))
    made = np.zeros((i % 3, 7), np.float32)
    made[:, 0], made[:, 2:4], made[:, 4:6] = np.arange(1, 1 + i % 3), start, start + rng.uniform(0.2, 0.5, (i % 3, 2))
    made[:, 6] = np.arange(i % 3) % 2
    return made


def annotated_lmdb(path: Path, count: int = 6, **size: int) -> Path:
    write_records(
        path,
        (
            (
                f"{i:08d}",
                make_annotated(make_datum(encode(picture(i, **size), "PNG"), i), boxes_of(i)).SerializeToString(),
            )
            for i in range(count)
        ),
    )
    return path


def voc_folder(
    root: Path, objects: dict[str, list[tuple[str, int, tuple[int, int, int, int]]]], split: str = "train"
) -> Path:
    """{picture name: [(class, difficult, corners)]}; pictures are 40 x 30 PNGs named .jpg."""
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    for i, (name, things) in enumerate(objects.items()):
        (root / "JPEGImages" / f"{name}.jpg").write_bytes(encode(picture(i, 30, 40), "PNG"))
        text = "".join(OBJECT.format(*corners, kind=kind, difficult=hard) for kind, hard, corners in things)
        (root / "Annotations" / f"{name}.xml").write_text(VOC.format(name=name, width=40, height=30, objects=text))
    (root / "ImageSets/Main" / f"{split}.txt").write_text("".join(f"{name}\n" for name in objects))
    return root


def coco_folder(root: Path) -> Path:
    (root / "annotations").mkdir(parents=True)
    (root / "val").mkdir()
    for i in range(2):
        (root / "val" / f"{i}.png").write_bytes(encode(picture(i, 30, 40), "PNG"))
    tables = {
        "images": [{"id": 10 + i, "file_name": f"{i}.png", "width": 40, "height": 30} for i in range(3)],
        "categories": [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}],
        "annotations": [
            {"image_id": 10, "category_id": 7, "bbox": [4, 3, 10, 6], "iscrowd": 0},
            {"image_id": 10, "category_id": 3, "bbox": [0, 0, 40, 30], "iscrowd": 1},
            {"image_id": 11, "category_id": 3, "bbox": [1, 1, 0, 5], "iscrowd": 0},
        ],
    }
    (root / "annotations" / "instances_val.json").write_text(json.dumps(tables))
    return root
