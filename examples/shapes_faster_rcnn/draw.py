"""Draws the scenes of ../shapes into a VOC folder: JPEGImages, Annotations, and ImageSets of those to learn from and to judge by.

python examples/shapes_faster_rcnn/draw.py [--out DIR] [--seed 1] [--scenes 4000] [--held-out 500]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.shapes.scenes import HELD_OUT, LABELS, TRAINING, Box, scene  # noqa: E402

SPLITS = {"train": TRAINING, "test": HELD_OUT}


def annotation(name: str, side: int, boxes: list[Box]) -> ElementTree:
    """A VOC annotation. Its corners count from 1, the last pixel inside, here with fractions."""
    root = Element("annotation")
    SubElement(root, "filename").text = f"{name}.jpg"
    size = SubElement(root, "size")
    for word, value in (("width", side), ("height", side), ("depth", 3)):
        SubElement(size, word).text = str(value)
    for label, *corners in boxes:
        thing = SubElement(root, "object")
        SubElement(thing, "name").text = LABELS[label]
        SubElement(thing, "difficult").text = "0"
        box = SubElement(thing, "bndbox")
        for word, corner, first in zip(("xmin", "ymin", "xmax", "ymax"), corners, (1, 1, 0, 0)):
            SubElement(box, word).text = f"{corner * side + first:.2f}"
    indent(root)
    return ElementTree(root)


Draw = Callable[[list[int]], tuple[Any, list[Box]]]  # a picture and its boxes, from a seed


def one(folder: Path, seed: int, split: str, scene: Draw, number: int) -> str:
    """Draws a scene into the folder; returns its name."""
    name = f"{split}_{number:06d}"
    image, boxes = scene([seed, SPLITS[split], number])
    image.save(folder / "JPEGImages" / f"{name}.jpg", quality=90)
    annotation(name, image.width, boxes).write(folder / "Annotations" / f"{name}.xml")
    return name


def draw(folder: Path, seed: int, counts: dict[str, int], scene: Draw = scene) -> Path:
    """Makes the VOC folder anew, with so many scenes in each split, by as many processes as there are cores; returns its path.

    scene: draws one, from [seed, split, number].
    """
    shutil.rmtree(folder, ignore_errors=True)
    sets = folder / "ImageSets" / "Main"
    for path in (folder / "JPEGImages", folder / "Annotations", sets):
        path.mkdir(parents=True)
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for split, count in counts.items():
            names = pool.imap(partial(one, folder, seed, split, scene), range(count), chunksize=16)
            (sets / f"{split}.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return folder


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--out", type=Path, default=HERE / "work" / "scenes")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--scenes", type=int, default=4000, help="how many to learn from")
    words.add_argument("--held-out", type=int, default=500, help="how many to judge by")
    args = words.parse_args()
    print(draw(args.out, args.seed, {"train": args.scenes, "test": args.held_out}))


if __name__ == "__main__":
    main()
