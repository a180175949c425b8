"""Drawn scenes with known boxes: circles, boxes and triangles on textured ground, from a seed.

python scenes.py 56 scene.png     # the scene of seed 56, the one that is shipped
"""

from __future__ import annotations

import io
import multiprocessing
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from boxpresso.data.records import boxes_of, make_annotated, make_datum, open_records, parse, write_records
from boxpresso.proto import AnnotatedDatum

TRAINING, HELD_OUT = 1, 2  # scene([seed, TRAINING, i]) is to learn from, scene([seed, HELD_OUT, i]) to judge by
LABELS = ("background", "circle", "box", "triangle")
Box = tuple[int, float, float, float, float]  # label, then x1, y1, x2, y2 in 0..1


def ground(rng: np.random.Generator, size: int) -> Image.Image:
    """Blurred noise under stripes and grain: nothing that a detector could take for a flat colour."""
    base, cells = rng.integers(60, 190, 3), (*rng.integers(3, 10, 2), 1)
    noise = base + rng.normal(0, 24, cells) + rng.normal(0, 9, (*cells[:2], 3))  # light and dark more than hue
    noise = np.clip(noise, 0, 255).astype(np.uint8)
    image = np.asarray(Image.fromarray(noise).resize((size, size), Image.Resampling.BICUBIC), np.float64)
    y, x = np.mgrid[0:size, 0:size] / size
    angle, frequency = rng.uniform(0, np.pi), rng.uniform(10, 60)
    stripes = np.sin((x * np.cos(angle) + y * np.sin(angle)) * frequency) * rng.uniform(0, 14)
    grain = rng.normal(0, rng.uniform(2, 9), (size, size, 1))
    return Image.fromarray(np.clip(image + stripes[..., None] + grain, 0, 255).astype(np.uint8))


def colour(rng: np.random.Generator, under: np.ndarray) -> tuple[int, ...]:
    """A colour that stands out from what lies under the shape."""
    while True:
        candidate = rng.integers(0, 256, 3)
        if np.abs(candidate - under).sum() > 150:
            return tuple(int(c) for c in candidate)


def outline(rng: np.random.Generator, label: int, x: float, y: float, w: float, h: float) -> np.ndarray:
    """The corners of a shape that fills the box (x, y, w, h), as points (N, 2)."""
    if label == 1:
        turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        return np.stack([x + w / 2 * (1 + np.cos(turn)), y + h / 2 * (1 + np.sin(turn))], 1)
    if label == 2:
        return np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])
    tip = rng.uniform(0.2, 0.8)
    points = np.array([(x, y + h), (x + w, y + h), (x + tip * w, y)])
    return np.array([(px, 2 * y + h - py) for px, py in points]) if rng.random() < 0.5 else points


def overlap(a: Box, b: Box) -> float:
    """The part of the smaller box that the other covers."""
    w = min(a[3], b[3]) - max(a[1], b[1])
    h = min(a[4], b[4]) - max(a[2], b[2])
    smaller = min((k[3] - k[1]) * (k[4] - k[2]) for k in (a, b))
    return max(w, 0) * max(h, 0) / smaller


def scene(
    seed: int | list[int], size: int = 256, smallest: float = 0.12, largest: float = 0.5, most: int = 6
) -> tuple[Image.Image, list[Box]]:
    """An RGB image of size x size pixels and the boxes of the one to `most` shapes in it, from `smallest` to `largest` of its
    side wide. The same seed, the same scene."""
    rng = np.random.default_rng(seed)
    image = ground(rng, size)
    boxes: list[Box] = []
    for _ in range(int(rng.integers(1, most + 1))):
        label = int(rng.integers(1, 4))
        w = float(np.exp(rng.uniform(np.log(smallest), np.log(largest))))
        h = w if label == 1 else float(np.clip(w * np.exp(rng.uniform(-0.6, 0.6)), smallest, 1.1 * largest))
        x, y = rng.uniform(0.01, 0.99 - w), rng.uniform(0.01, 0.99 - h)
        box = (label, x, y, x + w, y + h)
        if any(overlap(box, other) > 0.15 for other in boxes):
            continue
        points = outline(rng, label, x, y, w, h)
        centre = np.asarray(image)[int((y + h / 2) * size), int((x + w / 2) * size)]
        fill = colour(rng, centre)
        layer = Image.new("L", (size * 2, size * 2), 0)
        ImageDraw.Draw(layer).polygon([tuple(p) for p in points * size * 2], fill=255)
        image.paste(fill, mask=layer.resize((size, size), Image.Resampling.BOX))
        boxes.append(box)
    if rng.random() < 0.5:
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0, 0.004) * size)))
    return image, boxes


def record(seed: tuple[int, int, int]) -> bytes:
    """The scene of a seed as an AnnotatedDatum with a JPEG."""
    image, boxes = scene(list(seed))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    rows = np.array([(label, 0, *corners, 0) for label, *corners in boxes], np.float32)
    return make_annotated(make_datum(file.getvalue()), rows).SerializeToString()


def records(seed: int, kind: int, count: int) -> Iterator[tuple[str, bytes]]:
    """The scenes [seed, kind, 0 .. count - 1] as (key, AnnotatedDatum), drawn by a process per core, eight at most."""
    seeds = [(seed, kind, i) for i in range(count)]
    with multiprocessing.get_context("spawn").Pool(min(os.cpu_count() or 1, 8)) as pool:
        for i, value in enumerate(pool.imap(record, seeds, chunksize=16)):
            yield f"{i:08d}", value


def draw(to: Path, records: Iterable[tuple[str, bytes]]) -> Path:
    """Writes records to the LMDB `to`, in place of one that is there; returns its path."""
    shutil.rmtree(to, ignore_errors=True)
    write_records(to, records)
    return to


def load(path: Path) -> list[tuple[Image.Image, list[Box]]]:
    """The scenes of an LMDB, in order."""
    scenes, records = [], open_records(str(path))
    for i in range(len(records)):
        annotated = parse(AnnotatedDatum(), records[i], records.name(i))
        image = Image.open(io.BytesIO(annotated.datum.data))
        scenes.append((image, [(int(row[0]), *row[2:6]) for row in boxes_of(annotated).tolist()]))
    return scenes


if __name__ == "__main__":
    seed, path = int(sys.argv[1]), sys.argv[2]
    image, boxes = scene(seed, 512)
    image.save(path)
    for label, *corners in boxes:
        print(LABELS[label], *(f"{c * 512:.0f}" for c in corners))
