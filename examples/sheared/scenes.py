"""Drawn scenes with sheared plates on textured ground, from a seed. A plate has 4 x 4 fields, each light or dark.

    python -m examples.sheared.scenes 3 scene.png     # from the repository's root

A plate is seen from aside: sheared, turned a little, and smaller where it is farther off. What is known of it is the box
around it, upright, in pixels: x1, y1, x2, y2.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from examples.shapes.scenes import ground

SIZE, PLATES, FIELDS = 128, 4, 4  # pixels of a scene, plates in it, fields of a plate in each direction
SIDE = (24.0, 36.0)  # of a plate before it is sheared, in pixels
FINE = 3  # pixels to draw in for one of the scene


@dataclass
class Plate:
    """fields (4, 4): 1 where a field is dark. Where they lie: `map` of points in the plate, 0..1."""

    fields: np.ndarray
    centre: np.ndarray
    spread: np.ndarray  # (2, 2), pixels
    farther: np.ndarray  # (2,), how much smaller the plate gets along its sides

    def map(self, points: np.ndarray) -> np.ndarray:
        """Points (.., 2) of the plate, x and y from 0 to 1, in pixels of the scene."""
        inner = np.asarray(points) - 0.5
        return self.centre + inner @ self.spread.T / (1 + inner @ self.farther)[..., None]

    @property
    def corners(self) -> np.ndarray:
        return self.map(np.array([(0, 0), (1, 0), (1, 1), (0, 1)]))

    @property
    def middles(self) -> np.ndarray:
        """The middles (4, 4, 2) of the fields, in pixels of the scene."""
        steps = (np.arange(FIELDS) + 0.5) / FIELDS
        return self.map(np.stack(np.meshgrid(steps, steps), -1))

    @property
    def box(self) -> np.ndarray:
        return np.concatenate([self.corners.min(0), self.corners.max(0)])


def plate(rng: np.random.Generator, size: int) -> Plate:
    side, turn = np.exp(rng.uniform(*np.log(SIDE))), rng.uniform(-0.25, 0.25)
    turned = np.array([(np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))])
    sheared = np.array([(1, rng.uniform(-0.8, 0.8)), (rng.uniform(-0.3, 0.3), 1)])
    fields = rng.integers(0, 2, (FIELDS, FIELDS))
    return Plate(fields, rng.uniform(0, size, 2), side * turned @ sheared, rng.uniform(-0.25, 0.25, 2))


def layout(rng: np.random.Generator, size: int, plates: int) -> list[Plate]:
    """So many plates inside the scene, whose boxes do not overlap."""
    result: list[Plate] = []
    for attempt in range(1, 10**6):
        if attempt % 500 == 0:
            result = []  # there was no room left
        new = plate(rng, size)
        x1, y1, x2, y2 = new.box
        inside = min(x1, y1) > 2 and max(x2, y2) < size - 2
        if inside and all(x2 < o.box[0] or y2 < o.box[1] or x1 > o.box[2] or y1 > o.box[3] for o in result):
            result.append(new)
        if len(result) == plates:
            break
    return result


def colours(rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The colour of light fields, of dark ones, and any one for the rim."""
    grey, result = np.array([0.299, 0.587, 0.114]), []
    for low, high in ((140, 255), (0, 105), (0, 255)):
        while not low <= (colour := rng.integers(0, 256, 3)) @ grey <= high:
            pass
        result.append(tuple(int(c) for c in colour))
    return result


def scene(seed: int | list[int], size: int = SIZE, plates: int = PLATES) -> tuple[Image.Image, list[Plate]]:
    """An RGB image of size x size pixels and the plates in it. The same seed, the same scene."""
    rng = np.random.default_rng(seed)
    result = layout(rng, size, plates)
    layer = Image.new("RGBA", (size * FINE, size * FINE))
    drawing = ImageDraw.Draw(layer)
    lines = np.linspace(0, 1, FIELDS + 1)
    for new in result:
        *two, rim = colours(rng)
        knots = new.map(np.stack(np.meshgrid(lines, lines), -1)) * FINE
        for i, j in np.ndindex(FIELDS, FIELDS):
            around = knots[i, j], knots[i, j + 1], knots[i + 1, j + 1], knots[i + 1, j]
            drawing.polygon([tuple(p) for p in around], fill=two[new.fields[i, j]])
        ring = [tuple(p * FINE) for p in (*new.corners, *new.corners[:2])]
        drawing.line(ring, fill=rim, width=FINE, joint="curve")
    small = layer.reduce(FINE)
    image = ground(rng, size).convert("RGB")
    image.paste(small.convert("RGB"), mask=small.getchannel("A"))
    noisy = np.asarray(image, np.float32) + rng.normal(0, rng.uniform(0, 10), (size, size, 1))
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)), result


if __name__ == "__main__":
    image, items = scene(int(sys.argv[1]))
    image.save(sys.argv[2])
    for one in items:
        print("box", *(f"{value:.1f}" for value in one.box), "fields", *("".join(map(str, row)) for row in one.fields))
