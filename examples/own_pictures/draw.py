"""Draws a folder of annotated pictures, circles, boxes and triangles, as if it were one's own: docs/train_your_own.md.

    python examples/own_pictures/draw.py FOLDER [--format voc|coco|yolo] [--pictures 400] [--seed 1]

FOLDER must not exist yet. There is no split into pictures to learn from and to test on: `boxpresso new` draws one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.shapes.scenes import LABELS, Box, scene  # noqa: E402
from examples.shapes_faster_rcnn.draw import annotation  # noqa: E402

FOLDERS = {"voc": ("JPEGImages", "Annotations"), "coco": ("images", "annotations"), "yolo": ("images", "labels")}
OWN = 3  # scene([seed, OWN, i]); 1 and 2 are those of ../shapes


def one(folder: Path, format: str, seed: int, number: int) -> tuple[str, int, list[Box]]:
    """Draws a picture and, unless for COCO, its annotation. Returns its name, its sides and its boxes."""
    image, boxes = scene([seed, OWN, number])
    pictures, texts = (folder / name for name in FOLDERS[format])
    name = f"{number:06d}"
    image.save(pictures / f"{name}.jpg", quality=90)
    if format == "voc":
        annotation(name, image.width, boxes).write(texts / f"{name}.xml")
    elif format == "yolo":
        rows = [(label - 1, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1) for label, x1, y1, x2, y2 in boxes]
        lines = (f"{label} {' '.join(f'{value:.6f}' for value in values)}\n" for label, *values in rows)
        (texts / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    return name, image.width, boxes


def tables(drawn: list[tuple[str, int, list[Box]]]) -> dict[str, list[dict[str, object]]]:
    """COCO's tables."""
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for number, (name, side, boxes) in enumerate(drawn, 1):
        images.append({"id": number, "file_name": f"{name}.jpg", "width": side, "height": side})
        for label, *corners in boxes:
            x1, y1, x2, y2 = (round(corner * side, 2) for corner in corners)
            area = {"area": (x2 - x1) * (y2 - y1), "iscrowd": 0, "bbox": [x1, y1, x2 - x1, y2 - y1]}
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": label, **area})
    categories: list[dict[str, object]] = [{"id": i, "name": name} for i, name in enumerate(LABELS) if i]
    return {"images": images, "annotations": annotations, "categories": categories}


def draw(folder: Path, format: str = "voc", pictures: int = 400, seed: int = 1, workers: int | None = None) -> Path:
    """Draws the folder, by as many processes as there are cores, or here with workers=0; returns its path."""
    for name in FOLDERS[format]:
        (folder / name).mkdir(parents=True)
    work = partial(one, folder, format, seed)
    if workers == 0:
        drawn = [work(number) for number in range(pictures)]
    else:
        with multiprocessing.get_context("spawn").Pool(workers or min(os.cpu_count() or 1, 8)) as pool:
            drawn = pool.map(work, range(pictures), chunksize=16)
    if format == "coco":
        (folder / "annotations" / "instances_all.json").write_text(json.dumps(tables(drawn)), encoding="utf-8")
    elif format == "yolo":
        (folder / "classes.txt").write_text("".join(f"{name}\n" for name in LABELS[1:]), encoding="utf-8")
    return folder


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", type=Path)
    words.add_argument("--format", choices=list(FOLDERS), default="voc")
    words.add_argument("--pictures", type=int, default=400)
    words.add_argument("--seed", type=int, default=1)
    args = words.parse_args()
    if args.folder.exists():
        words.error(f"{args.folder} exists already; name another folder")
    print(f"{draw(args.folder, args.format, args.pictures, args.seed)}: {args.pictures} pictures")


if __name__ == "__main__":
    main()
