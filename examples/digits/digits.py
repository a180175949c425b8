"""Drawn digits: strokes of a pen, bent, slanted and turned, thick and thin, under noise, from a seed.

python examples/digits/digits.py sheet.png     # a sheet of them, a row for each digit
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from boxpresso.data.records import make_datum

SIZE, FINE = 28, 4  # pixels of a side, and how much finer it is drawn
TRAINING, HELD_OUT = 0, 1  # what the seeds of digits to learn from and of those to judge by have in between
Stroke = np.ndarray  # points (N, 2), x and y from 0 to 1, y down


def arc(x: float, y: float, wide: float, high: float, start: float, end: float) -> Stroke:
    """A part of an ellipse around (x, y), from one angle to another: degrees, 0 to the right, 90 down."""
    turn = np.radians(np.linspace(start, end, 2 + int(abs(end - start) / 15)))
    return np.stack([x + wide * np.cos(turn), y + high * np.sin(turn)], 1)


def line(*points: tuple[float, float]) -> Stroke:
    """Straight from point to point, with points in between, so that it can be bent."""
    parts = [np.linspace(a, b, 6) for a, b in pairwise(points)]
    return np.concatenate(parts)


SIX = np.concatenate([arc(0.72, 0.68, 0.52, 0.62, 268, 180), arc(0.48, 0.7, 0.28, 0.25, 180, 540)])
FORMS: list[list[list[Stroke]]] = [  # of each digit, the ways to write it
    [[arc(0.5, 0.5, 0.32, 0.45, 270, 630)]],
    [[line((0.5, 0.05), (0.5, 0.95))], [line((0.3, 0.25), (0.5, 0.05), (0.5, 0.95))],
     [line((0.3, 0.25), (0.5, 0.05), (0.5, 0.95)), line((0.28, 0.95), (0.72, 0.95))]],
    [[np.concatenate([arc(0.5, 0.3, 0.28, 0.25, 190, 390), line((0.74, 0.43), (0.2, 0.95), (0.82, 0.95))])]],
    [[np.concatenate([arc(0.47, 0.28, 0.27, 0.23, 200, 450), arc(0.47, 0.73, 0.31, 0.22, 270, 520)])],
     [np.concatenate([line((0.2, 0.06), (0.75, 0.06), (0.47, 0.42)), arc(0.47, 0.68, 0.31, 0.26, 270, 520)])]],
    [[line((0.62, 0.05), (0.16, 0.65), (0.86, 0.65)), line((0.64, 0.4), (0.64, 0.95))],
     [line((0.22, 0.08), (0.2, 0.55), (0.82, 0.55)), line((0.76, 0.08), (0.72, 0.95))]],
    [[np.concatenate([line((0.78, 0.06), (0.3, 0.06), (0.27, 0.48)), arc(0.48, 0.67, 0.3, 0.27, 225, 520)])]],
    [[SIX]],
    [[line((0.2, 0.07), (0.82, 0.07), (0.42, 0.95))],
     [line((0.2, 0.07), (0.82, 0.07), (0.42, 0.95)), line((0.36, 0.52), (0.76, 0.52))]],
    [[arc(0.5, 0.28, 0.24, 0.22, 90, 450), arc(0.5, 0.73, 0.29, 0.23, 270, 630)]],
    [[1 - SIX], [arc(0.5, 0.3, 0.26, 0.24, 0, 360), line((0.76, 0.3), (0.68, 0.95))]],
]  # fmt: skip


def draw(label: int, rng: np.random.Generator) -> np.ndarray:
    """A picture of a digit, uint8 (28, 28, 1), light on dark."""
    forms = FORMS[label]
    strokes = forms[rng.integers(len(forms))]
    height = rng.uniform(17, 23)
    turn, slant, wide = rng.normal(0, 0.12), rng.normal(0.1, 0.2), rng.uniform(0.6, 1.05)
    matrix = np.array([[wide, -slant], [0, 1]]) @ np.array(
        [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    )
    wave, phase, bend = rng.uniform(3, 7, 2), rng.uniform(0, 2 * np.pi, 2), rng.uniform(0, 0.05)
    centre, pen = SIZE / 2 + rng.uniform(-2, 2, 2), rng.uniform(1.3, 3.5)
    image = Image.new("L", (SIZE * FINE, SIZE * FINE))
    canvas, tip = ImageDraw.Draw(image), pen * FINE / 2
    for stroke in strokes:
        bent = stroke + bend * np.sin(stroke[:, ::-1] * wave + phase)
        points = ((bent - 0.5) @ matrix.T * height + centre) * FINE
        corners = [tuple(p) for p in points.tolist()]
        canvas.line(corners, fill=255, width=round(pen * FINE), joint="curve")
        for x, y in (corners[0], corners[-1]):
            canvas.ellipse((x - tip, y - tip, x + tip, y + tip), fill=255)
    small = image.resize((SIZE, SIZE), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(rng.uniform(0, 0.7)))
    values = np.asarray(small, np.float32) * rng.uniform(0.5, 1) + rng.normal(0, rng.uniform(2, 25), (SIZE, SIZE))
    return np.clip(values, 0, 255).astype(np.uint8)[..., None]


def records(seed: int, kind: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Digits as (key, Datum), as many of each. The same seed, the same digits."""
    for i in range(count):
        yield f"{i:08d}", make_datum(draw(i % 10, np.random.default_rng([seed, kind, i])), i % 10).SerializeToString()


if __name__ == "__main__":
    rows = [[draw(label, np.random.default_rng([label, i]))[..., 0] for i in range(24)] for label in range(10)]
    Image.fromarray(np.block(rows)).resize((24 * SIZE * 2, 10 * SIZE * 2)).save(sys.argv[1])
