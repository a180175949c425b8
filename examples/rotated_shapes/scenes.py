"""Drawn scenes with boxes, ellipses and lozenges at any angle on textured ground, from a seed.

    python -m examples.rotated_shapes.scenes 3 scene.png     # from the repository's root

A shape fills a rotated box: centre x and y, height and width in pixels, and the angle in degrees, anti-clockwise, by which the
width is turned against the x axis; as RRPN's layers have it. Widths are the longer sides, angles from -45 to 135: a shape that is
turned by half is the same.
"""

from __future__ import annotations

import sys

import numpy as np
from PIL import Image, ImageChops, ImageDraw

from examples.shapes.scenes import colour, ground

SIZE = 160  # pixels of a scene
LONG, FLAT = (26.0, 76.0), (0.25, 0.6)  # widths in pixels, heights in parts of the width
LABELS = ("background", "box", "ellipse", "lozenge")
Shape = tuple[int, np.ndarray]  # label and rotated box (5,)


def outline(label: int, box: np.ndarray) -> np.ndarray:
    """The corners (K, 2) of a shape in its rotated box."""
    cx, cy, high, wide, angle = box
    if label == 1:
        along, across = np.array([-1, 1, 1, -1]), np.array([-1, -1, 1, 1])
    else:
        turn = np.linspace(0, 2 * np.pi, 64 if label == 2 else 4, endpoint=False)
        along, across = np.cos(turn), np.sin(turn)
    sin, cos = np.sin(np.radians(angle)), np.cos(np.radians(angle))  # y points down
    x, y = along * wide / 2, across * high / 2
    return np.stack([cx + x * cos + y * sin, cy - x * sin + y * cos], 1)


def place(rng: np.random.Generator, taken: Image.Image) -> np.ndarray | None:
    """A rotated box inside the scene that touches none of those in `taken`, which gets it; None if none is found."""
    for _ in range(50):
        wide = np.exp(rng.uniform(*np.log(LONG)))
        box = np.array([*rng.uniform(0, taken.width, 2), wide * rng.uniform(*FLAT), wide, rng.uniform(-45, 135)])
        points = outline(1, box)
        if points.min() < 1 or points.max() > taken.width - 1:
            continue
        mine = Image.new("1", taken.size)
        ImageDraw.Draw(mine).polygon([tuple(p) for p in points], fill=1)
        if not ImageChops.logical_and(mine, taken).getbbox():
            taken.paste(1, mask=mine)
            return box
    return None


def scene(seed: int | list[int], size: int = SIZE) -> tuple[Image.Image, list[Shape]]:
    """An RGB image of size x size pixels and the two to seven shapes in it. The same seed, the same scene."""
    rng = np.random.default_rng(seed)
    image, taken = ground(rng, size), Image.new("1", (size, size))
    shapes: list[Shape] = []
    for _ in range(int(rng.integers(2, 8))):
        box, label = place(rng, taken), int(rng.integers(1, len(LABELS)))
        if box is None:
            continue
        fill = colour(rng, np.asarray(image)[int(box[1]), int(box[0])])
        layer = Image.new("L", (size * 3, size * 3), 0)
        ImageDraw.Draw(layer).polygon([tuple(p) for p in outline(label, box) * 3], fill=255)
        image.paste(fill, mask=layer.resize((size, size), Image.Resampling.BOX))
        shapes.append((label, box))
    return image, shapes


if __name__ == "__main__":
    image, shapes = scene(int(sys.argv[1]))
    image.save(sys.argv[2])
    for label, box in shapes:
        print(LABELS[label], *(f"{value:.1f}" for value in box))
