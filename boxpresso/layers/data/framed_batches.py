"""What ImageGtData, DetectionData and EvalData share: images of a window file, their place on a canvas, rows of boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...data.field_maps import Place, Scene
from ...data.framed import Framed
from ...data.picture import decode
from .batches import Numpy


def scene_of(entry: Framed, folder: str) -> Scene:
    """The image of an entry, and what the list says of it."""
    image = decode(Path(folder + entry.path), True)
    labels, ignored, difficult = entry.marks.T
    return Scene(image, entry.boxes.copy(), entry.regions.copy(), labels, ignored != 0, difficult != 0)


def draw_center(scene: Scene, canvas: tuple[int, int], rng: np.random.Generator) -> int:
    """Sets the scene's center: that of a box that is drawn, whose number is given, or one that fits; then -1."""
    if len(scene.boxes):
        chosen = int(rng.integers(len(scene.boxes)))
        box = scene.boxes[chosen]
        scene.center = (float(box[0] + box[2]) / 2, float(box[1] + box[3]) / 2)
        return chosen
    x, y = (
        side / 2 if side < wanted else int(rng.integers(side - wanted + 1)) + wanted / 2
        for side, wanted in ((scene.width, canvas[1]), (scene.height, canvas[0]))
    )
    scene.center = (x, y)
    return -1


def on_canvas(part: Numpy, place: Place, canvas: tuple[int, int], mean: Numpy, scale: float) -> Numpy:
    """(3, H, W): (pixel - mean) * scale where the image lies, 0 elsewhere."""
    values = np.zeros((3, *canvas), np.float32)
    inside = (part.astype(np.float32) - mean) * np.float32(scale)
    values[:, place.top : place.top + place.high, place.left : place.left + place.wide] = inside.transpose(2, 0, 1)
    return values


def drop_outside(scene: Scene, canvas: tuple[int, int], smallest: tuple[float, float]) -> None:
    """Ignores boxes whose centre is not on the canvas, and those below a width and a height, the last pixel counted."""
    centers = (scene.boxes[:, :2] + scene.boxes[:, 2:]) / 2
    width, height = (scene.boxes[:, 2:] - scene.boxes[:, :2] + 1).T
    outside = (centers < 0).any(1) | (centers[:, 0] >= canvas[1]) | (centers[:, 1] >= canvas[0])
    scene.ignored |= outside | (width < smallest[0]) | (height < smallest[1])


def means(param: Any) -> Numpy:
    """The mean of each of three channels that a TransformationParameter gives, or 0."""
    return np.broadcast_to(np.array(list(param.mean_value) or [0], np.float32), 3)


def rows_of(tables: list[Numpy], without: list[float]) -> Numpy:
    """The rows (N, K, 1, 1) of a batch: the number of the image, then the row of its box; where no box is, `without`."""
    rows = [np.insert(np.asarray(table, np.float32), 0, i, axis=1) for i, table in enumerate(tables)]
    table = np.concatenate(rows) if sum(map(len, rows)) else np.array([without], np.float32)
    return table.reshape(len(table), -1, 1, 1)
