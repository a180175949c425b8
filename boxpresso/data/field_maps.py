"""Images on a canvas, and maps of targets of detection without proposals: one for each size of receptive field (MS-CNN)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..proto.limits import LIMITS
from .errors import BrokenRecord
from .picture import resize


def rounded(value: float) -> int:
    """The nearest whole number, halves away from 0, as C's round.

    >>> rounded(0.5), rounded(-0.5), rounded(2.49)
    (1, -1, 2)
    """
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


@dataclass
class Scene:
    """An image (H, W, C) and what is on it, in its pixels.

    Attributes
    ----------
    boxes, regions
        (N, 4) and (M, 4): xmin, ymin, xmax, ymax, float32.
    labels, ignored, difficult
        (N): classes, which boxes do not count, and which are marked as difficult.
    center
        x and y of what a crop is laid around.
    """

    image: np.ndarray
    boxes: np.ndarray
    regions: np.ndarray
    labels: np.ndarray
    ignored: np.ndarray
    difficult: np.ndarray
    center: tuple[float, float] = (0.0, 0.0)

    @property
    def height(self) -> int:
        return int(self.image.shape[0])

    @property
    def width(self) -> int:
        return int(self.image.shape[1])

    def flip(self) -> None:
        """Left to right."""
        self.image = self.image[:, ::-1]
        for boxes in (self.boxes, self.regions):
            boxes[:, [0, 2]] = self.width - boxes[:, [2, 0]]

    def move(self, x: float, y: float, across: float = 1, down: float = 1) -> None:
        """Multiplies boxes and regions, then moves them."""
        for boxes in (self.boxes, self.regions):
            boxes *= np.array([across, down, across, down], np.float32)
            boxes += np.array([x, y, x, y], np.float32)

    def resize(self, width: int, height: int, subject: str) -> None:
        """To another size, boxes too. Raises BrokenRecord, which names `subject`, where no pixel would be left."""
        if (width, height) == (self.width, self.height):
            return
        across, down = np.float32(width) / np.float32(self.width), np.float32(height) / np.float32(self.height)
        self.image = scaled(self.image, width, height, subject)
        self.move(0, 0, float(across), float(down))

    def rescale(self, across: float, down: float, subject: str) -> tuple[int, int]:
        """By two factors, about the center; of a large one only a part of the image is kept. Gives the new width and height."""
        if across != 1 or down != 1:
            if across > 1.5 or down > 1.5:
                wide = min(rounded(1.2 * self.width / across), self.width)
                high = min(rounded(1.2 * self.height / down), self.height)
                x = max(rounded(self.center[0] - wide * 0.5), 0)
                y = max(rounded(self.center[1] - high * 0.5), 0)
                x, y = x - max(x + wide - self.width, 0), y - max(y + high - self.height, 0)
                self.image = self.image[y : y + high, x : x + wide]
                self.center = (self.center[0] - x, self.center[1] - y)
                self.move(-x, -y)
            width, height = rounded(self.width * across), rounded(self.height * down)
            self.image = scaled(self.image, width, height, subject)
        self.move(0, 0, across, down)
        return self.width, self.height


def scaled(image: np.ndarray, width: int, height: int, subject: str) -> np.ndarray:
    if min(width, height, *image.shape[:2]) < 1 or width * height > LIMITS.picture_pixels:
        raise BrokenRecord(f"{subject} of {image.shape[1]}x{image.shape[0]} would become {width}x{height}")
    return resize(np.ascontiguousarray(image), width, height)


@dataclass
class Place:
    """Where an image lies on the canvas: the part [top, top + high) x [left, left + wide) has pixels of it."""

    top: int
    left: int
    high: int
    wide: int


def along(canvas: int, size: int, center: float, noise: int) -> tuple[int, int, int]:
    """Of one axis: where the image begins on the canvas, which of its pixels comes there, and how many follow.

    A smaller image lies near the middle, of a larger one the part about `center` is taken.

    >>> along(10, 4, 0, 2), along(10, 30, 20.0, -1), along(10, 10, 3, 5)
    ((5, 0, 4), (0, 14, 10), (0, 0, 10))
    """
    if size < canvas:
        return min(max(rounded((canvas - size) / 2) + noise, 0), canvas - size), 0, size
    if size > canvas:
        return 0, min(max(rounded(center) + noise - rounded(canvas / 2), 0), size - canvas), canvas
    return 0, 0, canvas


def lay(
    scene: Scene, canvas: tuple[int, int], factors: tuple[float, float], noise: tuple[int, int]
) -> tuple[np.ndarray, Place]:
    """The part of an image that a canvas (height, width) shows, and its place; boxes move along.

    Parameters
    ----------
    scene
        After `rescale`.
    factors
        Of `rescale`, across and down: the center is of before.
    noise
        Pixels across and down by which it is moved, as far as the canvas allows.
    """
    left, x, wide = along(canvas[1], scene.width, scene.center[0] * factors[0], noise[0])
    top, y, high = along(canvas[0], scene.height, scene.center[1] * factors[1], noise[1])
    scene.move(left - x, top - y)
    return scene.image[y : y + high, x : x + wide], Place(top, left, high, wide)


@dataclass
class Rules:
    """How maps of targets are made.

    Attributes
    ----------
    strides, widths, heights
        Of each map: pixels between two cells, and the receptive field.
    threshold
        From which overlap on a cell learns a box.
    last
        1 where the last pixel belongs to a box (Cascade R-CNN), 0 where not (MS-CNN).
    region_share
        From which share of a field inside regions on it does not count.
    regions_first
        Whether that goes before a box that the field overlaps (MS-CNN).
    pick
        From which overlap on a box that no cell learns is given to the best map.
    margin, inside
        Optional (Cascade R-CNN): how far fields may leave the image, in half fields; or which share of a field must lie on it.
    """

    strides: list[int]
    widths: list[int]
    heights: list[int]
    threshold: float
    last: int = 0
    region_share: float = 0.4
    regions_first: bool = True
    pick: float = 0.2
    margin: float | None = None
    inside: float | None = None


def sizes(canvas: tuple[int, int], strides: list[int]) -> list[tuple[int, int]]:
    """Height and width of each map."""
    return [(rounded(canvas[0] / stride), rounded(canvas[1] / stride)) for stride in strides]


def overlap(a: np.ndarray, b: np.ndarray, last: int, first_only: bool) -> np.ndarray:
    """Intersection over union of boxes (.., 4), or over the first one, float32; 0 for boxes without area."""
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    side = high - low + np.float32(last)
    empty = (low[..., 0] > high[..., 0]) | (low[..., 1] >= high[..., 1]) if last else (low >= high).any(-1)
    both = np.where(empty, np.float32(0), side[..., 0] * side[..., 1])
    sizes_ = [np.prod(box[..., 2:] - box[..., :2] + np.float32(last), -1) for box in (a, b)]
    of = sizes_[0] + np.float32(0) * both if first_only else sizes_[0] + sizes_[1] - both
    bad = np.zeros(np.shape(both), bool)
    for box in (a, b):
        flat = box[..., 2:] < box[..., :2] if last else box[..., 2:] <= box[..., :2]
        bad |= flat.any(-1)
    bad |= ~(of > 0)
    return np.asarray(np.where(bad, np.float32(0), both / np.where(bad, np.float32(1), of)), np.float32)


def target_maps(scene: Scene, canvas: tuple[int, int], place: Place, rules: Rules) -> list[np.ndarray]:
    """Maps (6, H, W): class, centre x and y, width and height of the box that a cell learns, and its overlap.

    Background has class 0 and its largest overlap; what does not count has class 0 and the overlap 1, or that with the
    ignored box.
    """
    count = len(scene.boxes)
    learned, best, best_map = np.zeros(count, int), np.zeros(count, np.float32), np.zeros(count, int)
    maps = []
    for at, size in enumerate(sizes(canvas, rules.strides)):
        fields, valid = fields_of(at, size, place, rules)
        shares = sum(
            (overlap(fields, region, rules.last, True) for region in scene.regions), np.zeros(size, np.float32)
        )
        crowded = shares >= (np.float32(rules.region_share) if rules.last else rules.region_share)
        if rules.regions_first:
            valid = valid & ~crowded
        out = np.zeros((6, *size), np.float32)
        ious = np.zeros((count, *size), np.float32)
        for i, box in enumerate(scene.boxes):
            ious[i] = overlap(box, fields, rules.last, False)
        highest = ious.max(0) if count else np.zeros(size, np.float32)
        ious[:, ~valid] = 0
        tops = ious.reshape(count, -1).max(1) if ious.size else np.zeros(count, np.float32)
        best_map[tops > best] = at
        best = np.maximum(best, tops)
        out[5] = np.where(valid, highest, 1)
        fits = valid & (highest > np.float32(rules.threshold)) & (highest > 0)
        if count:
            match = ious.argmax(0)[fits]
            learned += np.bincount(match, minlength=count)
            out[0][fits] = np.where(scene.ignored[match], 0, scene.labels[match])
            out[1:5, fits] = shape_of(scene.boxes[match], rules.last).T
        if not rules.regions_first:
            out[5][valid & ~fits & crowded] = 1
        maps.append(out)
    pick_up(scene, rules, maps, learned, best, best_map)
    return maps


def fields_of(at: int, size: tuple[int, int], place: Place, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """The receptive fields (H, W, 4) of a map, and which of them count (H, W)."""
    stride, half = rules.strides[at], np.array([rules.widths[at], rules.heights[at]], np.float32) / 2
    x, y = (((np.arange(side) + 0.5) * stride).astype(np.float32) for side in (size[1], size[0]))
    centers = np.stack(np.broadcast_arrays(x[None, :], y[:, None]), -1)
    fields = np.concatenate([centers - half, centers + half], -1)
    top, left, high, wide = (rounded(v / stride) for v in (place.top, place.left, place.high, place.wide))
    valid = np.zeros(size, bool)
    valid[top : top + high, left : left + wide] = True
    if rules.margin is not None:
        x_room, y_room = np.float32(rules.margin) * half
        valid &= (fields[..., 0] >= place.left - x_room) & (fields[..., 2] < place.left + place.wide + x_room)
        valid &= (fields[..., 1] >= place.top - y_room) & (fields[..., 3] < place.top + place.high + y_room)
    elif rules.inside is not None:
        image = np.array([place.left, place.top, place.left + place.wide, place.top + place.high], np.float32)
        valid &= overlap(fields, image, rules.last, True) >= np.float32(rules.inside)
    return fields, valid


def shape_of(boxes: np.ndarray, last: int) -> np.ndarray:
    """Centre x and y, width and height (.., 4)."""
    return np.concatenate(
        [(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2] + np.float32(last)], -1
    )


def pick_up(
    scene: Scene, rules: Rules, maps: list[np.ndarray], learned: np.ndarray, best: np.ndarray, best_map: np.ndarray
) -> None:
    """Gives each box that no cell learns to the cell at its centre, in the map that overlaps it most."""
    for i in range(len(scene.boxes)) if maps else ():
        if scene.ignored[i] or learned[i] or best[i] < (np.float32(rules.pick) if rules.last else rules.pick):
            continue
        out, shape = maps[best_map[i]], shape_of(scene.boxes[i], rules.last)
        column, row = (
            min(max(math.floor(v / rules.strides[best_map[i]]), 0), side - 1)
            for v, side in zip(shape[:2], out.shape[:0:-1])
        )
        if out[0, row, column] > 0:
            continue
        out[0, row, column] = scene.labels[i]
        out[1:5, row, column] = shape
        if rules.last:
            out[5, row, column] = best[i]
