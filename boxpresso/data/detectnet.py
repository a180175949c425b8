"""What DetectNet does to images and boxes: augmentation, maps of coverage, and boxes grouped from a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BOX = 16  # numbers of a label: x, y, width, height, angle, class, scenario, rotation, truncated, occluded, and seven in space
MARKS = 8  # maps of a label beside those of classes: foreground, four corners, two inverse sizes, norm
TINY = float(np.finfo(np.float32).eps)


@dataclass
class Change:
    """What happens to one image.

    Attributes
    ----------
    hue
        Degrees that are added.
    saturation
        A factor.
    flip
        Left to right.
    size
        Width and height to resize to.
    rotation
        Degrees.
    crop
        x and y of the corner from which on the output is cut.
    """

    hue: float
    saturation: float
    flip: bool
    size: tuple[int, int]
    rotation: float
    crop: tuple[int, int]


def draw_change(param: Any, width: int, height: int, wanted: tuple[int, int], rng: np.random.Generator) -> Change:
    """Draws a change for an image of width x height in TRAIN; wanted: width and height of the output."""
    p = param
    hue, saturation, size, rotation = 0.0, 1.0, (width, height), 0.0
    if rng.random() <= p.hue_rotation_prob:
        hue = float(np.clip((rng.random() - 0.5) * 2 * p.hue_rotation, -180, 180))
    if rng.random() <= p.desaturation_prob:
        saturation = 1 - rng.random() * p.desaturation_max
    flip = bool(rng.random() <= p.flip_prob)
    if rng.random() <= p.scale_prob:
        factor = p.scale_min + (p.scale_max - p.scale_min) * rng.random()
        size = (max(half_up(width * factor), 1), max(half_up(height * factor), 1))
    if rng.random() <= p.rotation_prob:
        rotation = (rng.random() - 0.5) * 2 * p.max_rotate_degree
    before = turned_size(*size, rotation) if abs(rotation) > TINY else size
    share, shift = (0.5, 0.5), (0, 0)
    if rng.random() <= p.crop_prob:
        share, shift = (rng.random(), rng.random()), (p.shift_x, p.shift_y)
    x, y = (
        half_up(part * (side - out + more) - more // 2) for part, side, out, more in zip(share, before, wanted, shift)
    )
    return Change(hue, saturation, flip, size, rotation, (x, y))


def half_up(value: float) -> int:
    """C's round: halves away from 0."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def change_image(image: np.ndarray, change: Change, mean: np.ndarray, wanted: tuple[int, int]) -> np.ndarray:
    """An image (H, W, 3), blue, green, red from 0 to 255, changed and minus the mean; (height, width, 3) as `wanted` says."""
    values = image.astype(np.float32) / np.float32(255)
    if abs(change.hue) > TINY or change.saturation < 1 - 1 / 255:
        values = recolor(values, change.hue, change.saturation)
    values -= mean.astype(np.float32) / np.float32(255)
    if change.flip:
        values = values[:, ::-1]
    values = cubic(values, *change.size)
    if abs(change.rotation) > TINY:
        values = turned(values, change.rotation)
    out = np.zeros((wanted[1], wanted[0], 3), np.float32)
    x, y = change.crop
    height, width = values.shape[:2]
    left, top, right, low = max(x, 0), max(y, 0), min(x + wanted[0], width), min(y + wanted[1], height)
    if left < right and top < low:
        out[top - y : low - y, left - x : right - x] = values[top:low, left:right]
    out *= np.float32(255)
    return out


def change_boxes(boxes: np.ndarray, change: Change, width: int, height: int) -> np.ndarray:
    """Boxes (N, 4) x, y, width, height of an image of width x height, changed as the image."""
    boxes = boxes.astype(np.float32)
    if change.flip:
        boxes[:, 0] = width - boxes[:, 0] - boxes[:, 2] - 1
    boxes *= np.array([change.size[0] / width, change.size[1] / height] * 2, np.float32)
    if abs(change.rotation) > TINY:
        matrix = turn(*change.size, change.rotation)
        centers = boxes[:, :2] + boxes[:, 2:] / 2
        boxes[:, :2] = centers @ matrix[:, :2].T + matrix[:, 2] - boxes[:, 2:] / 2
    boxes[:, :2] -= np.array(change.crop, np.float32)
    return boxes


def recolor(values: np.ndarray, hue: float, saturation: float) -> np.ndarray:
    """Turns the hue and multiplies the saturation of an image (H, W, 3) of blue, green, red from 0 to 1."""
    blue, green, red = (values[..., i].astype(np.float64) for i in range(3))
    high, low = values.max(-1).astype(np.float64), values.min(-1).astype(np.float64)
    diff = high - low
    by = 60 / (diff + TINY)
    angle = np.where(
        high == red, (green - blue) * by, np.where(high == green, (blue - red) * by + 120, (red - green) * by + 240)
    )
    angle = (angle + 360 * (angle < 0) + hue) / 60 % 6
    share = diff / (np.abs(high) + TINY) * saturation
    sector = np.floor(angle).astype(int)
    part = angle - sector
    sector %= 6
    table = np.stack([high, high * (1 - share), high * (1 - share * part), high * (1 - share * (1 - part))], -1)
    order = np.array([[1, 3, 0], [1, 0, 2], [3, 0, 1], [0, 2, 1], [0, 1, 3], [2, 1, 0]])[sector]
    return np.take_along_axis(table, order, -1).astype(np.float32)


def cubic(values: np.ndarray, width: int, height: int) -> np.ndarray:
    """Resizes (H, W, C) by cubic convolution (a = -0.75) between pixel centres, edges repeated, as OpenCV's INTER_CUBIC.

    >>> cubic(np.arange(4, dtype=np.float32).reshape(1, 4, 1), 4, 1).ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    for axis, count in ((0, height), (1, width)):
        size = values.shape[axis]
        if size == count:
            continue
        at = (np.arange(count) + 0.5) * (size / count) - 0.5
        first = np.floor(at).astype(int)
        t, a = at - first, -0.75
        near = [t + 1, t, 1 - t]
        outer = ((a * near[0] - 5 * a) * near[0] + 8 * a) * near[0] - 4 * a
        inner = [((a + 2) * d - (a + 3)) * d * d + 1 for d in near[1:]]
        weights = [outer, *inner, 1 - outer - inner[0] - inner[1]]
        shape = [count if i == axis else 1 for i in range(3)]
        values = sum(
            (
                np.take(values, np.clip(first + k - 1, 0, size - 1), axis)
                * weights[k].reshape(shape).astype(np.float32)
                for k in range(4)
            ),
            np.float32(0),
        )
    return values


def around(width: float, height: float, center: tuple[float, float], degrees: float) -> tuple[int, int, int, int]:
    """The whole pixels about a turned rectangle: x, y, width, height."""
    angle = math.radians(degrees)
    x = [
        center[0] + math.cos(angle) * u * width / 2 - math.sin(angle) * v * height / 2 for u in (-1, 1) for v in (-1, 1)
    ]
    y = [
        center[1] + math.sin(angle) * u * width / 2 + math.cos(angle) * v * height / 2 for u in (-1, 1) for v in (-1, 1)
    ]
    left, top = (math.floor(np.float32(min(v))) for v in (x, y))
    return left, top, math.ceil(np.float32(max(x))) - left + 1, math.ceil(np.float32(max(y))) - top + 1


def turned_size(width: int, height: int, degrees: float) -> tuple[int, int]:
    """Width and height of an image after it is turned."""
    return around(width, height, (width // 2, height // 2), degrees)[2:]


def turn(width: int, height: int, degrees: float) -> np.ndarray:
    """The matrix (2, 3) that turns an image about its centre and moves it so that nothing is left or above of 0."""
    center = np.array([width / 2, height / 2])
    left, top = around(width, height, (width / 2, height / 2), degrees)[:2]
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    matrix = np.array([[cosine, -sine], [sine, cosine]])
    return np.column_stack([matrix, center - [left, top] - matrix @ center])


def turned(values: np.ndarray, degrees: float) -> np.ndarray:
    """An image turned, bilinear; 0 where no pixel of it comes."""
    height, width = values.shape[:2]
    wide, high = turned_size(width, height, degrees)
    matrix = turn(width, height, degrees)
    back = np.linalg.inv(matrix[:, :2])
    x, y = np.meshgrid(np.arange(wide) - matrix[0, 2], np.arange(high) - matrix[1, 2])
    u, v = back[0, 0] * x + back[0, 1] * y, back[1, 0] * x + back[1, 1] * y
    inside = (u >= 0) & (v >= 0) & (u < width - 1) & (v < height - 1)
    u, v = np.where(inside, u, 0), np.where(inside, v, 0)
    left, top = u.astype(int), v.astype(int)
    right, low = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    across, down = ((at - first).astype(np.float32)[..., None] for at, first in ((u, left), (v, top)))
    upper = values[top, left] * (1 - across) + values[top, right] * across
    lower = values[low, left] * (1 - across) + values[low, right] * across
    return np.asarray(np.where(inside[..., None], upper * (1 - down) + lower * down, 0), np.float32)


# Maps of coverage


def classes_of(param: Any) -> dict[int, int]:
    """{class in the labels: number of its map}; a car of KITTI (1) alone where a DetectNetGroundTruthParameter names none."""
    return {mapping.src: mapping.dst for mapping in param.object_class} or {1: 0}


def grid_of(param: Any) -> tuple[int, int, int]:
    """Maps, height and width of the coverage that a DetectNetGroundTruthParameter asks for."""
    height, width = (int(np.rint(side / param.stride)) for side in (param.image_size_y, param.image_size_x))
    return MARKS + max(classes_of(param).values()) + 1, height, width


def coverage(labels: np.ndarray, boxes: np.ndarray, param: Any) -> np.ndarray:
    """The maps (8 + classes, H, W) of an image's labels (N, 16), whose boxes (N, 4) are given apart."""
    out, known = np.zeros(grid_of(param), np.float32), classes_of(param)
    size, stride = np.array([param.image_size_x, param.image_size_y], np.float64), param.stride
    for label, box in zip(labels, boxes.astype(np.float64)):
        start, end = box[:2], box[:2] + box[2:]
        if param.crop_bboxes:
            start, end = np.maximum(start, 0), np.minimum(end, size)
        wide, high = end - start
        if int(label[5]) not in known or label[5] < 0 or wide <= 0 or high <= 0 or wide * high < TINY:
            continue
        center, sides = (start + end) / 2, (end - start) * float(np.float32(param.scale_cvg))
        if param.gridbox_type == param.GRIDBOX_MIN:
            sides = np.minimum(end - start, np.maximum(param.min_cvg_len, sides))
        else:
            sides = np.minimum(param.max_cvg_len, sides)
        low, far = center - sides / 2, center + sides / 2
        first = np.maximum(np.floor(low / stride), 0).astype(int)
        after = np.minimum(np.ceil(far / stride), out.shape[:0:-1]).astype(int)
        if (after <= first).any():
            continue
        x, y = (np.arange(a, b) * stride for a, b in zip(first, after))
        across, down = (
            np.maximum(np.minimum(at + stride, far[i]) - np.maximum(at, low[i]), 0) for i, at in enumerate((x, y))
        )
        rows, columns = np.nonzero(down[:, None] * across / stride**2 > TINY)
        norm = max(0.0 if param.obj_norm else 1.0, stride**2 / float(np.prod(sides)))
        at = (rows + first[1], columns + first[0])
        out[MARKS:, at[0], at[1]] = 0
        out[MARKS + known[int(label[5])], at[0], at[1]] = 1
        for channel, values in enumerate(
            (start[0] - x[columns], start[1] - y[rows], end[0] - x[columns], end[1] - y[rows]), 1
        ):
            out[channel, at[0], at[1]] = values
        for channel, value in ((0, 1), (5, 1 / wide), (6, 1 / high), (7, norm)):
            out[channel, at[0], at[1]] = value
    return out


# Boxes of a grid


def grid_boxes(cover: np.ndarray, corners: np.ndarray, size: tuple[int, int], stride: int, least: float) -> np.ndarray:
    """The boxes (N, 4) xmin, ymin, xmax, ymax of the cells whose coverage (H, W) is `least` or more, above 0 for 0.

    Parameters
    ----------
    corners
        (4, H, W), from the corner of each cell.
    size
        Width and height of the image.
    """
    wide, high = size[0] // stride, size[1] // stride
    part = cover[:high, :wide]
    y, x = np.nonzero(part >= np.float32(least) if least > 0 else part > 0)
    moved = np.stack([x * (size[0] / wide), y * (size[1] / high)] * 2)
    return np.asarray((corners[:, y, x] + moved).T)


def group_rectangles(rectangles: Sequence[Sequence[int]], threshold: int, eps: float) -> list[tuple[list[int], int]]:
    """Means of groups of alike rectangles (x, y, width, height), and how many each has, of more than `threshold`.

    Rectangles are alike where no side differs by more than eps times their mean size (half of the smaller width and
    height); groups are what hangs together. A small group inside a larger one is left out.

    Source
    ------
    OpenCV's groupRectangles.

    Examples
    --------
    >>> group_rectangles([[10, 10, 20, 20], [11, 10, 20, 20], [11, 10, 21, 20]], 1, 0.2)
    [([11, 10, 20, 20], 3)]
    """
    table = np.array(rectangles, np.int64).reshape(-1, 4)
    if threshold <= 0 or not len(table):
        return [(row, 1) for row in table.tolist()]
    group = groups_of(table, eps)
    sizes = np.bincount(group)
    sums = np.stack([np.bincount(group, table[:, k]) for k in range(4)], 1).astype(np.float32)
    means = np.rint(sums * (np.float32(1) / sizes.astype(np.float32))[:, None]).astype(np.int64)
    large = np.flatnonzero(sizes > threshold)
    means, sizes = means[large], sizes[large]
    return [(means[i].tolist(), int(sizes[i])) for i in range(len(large)) if not inside(i, means, sizes, eps)]


def groups_of(table: np.ndarray, eps: float) -> np.ndarray:
    """The number of the group of each rectangle (N, 4), counted by the first of each."""
    ends, group, count = table[:, :2] + table[:, 2:], np.full(len(table), -1), 0
    order = np.argsort(table[:, 0], kind="stable")
    lefts = table[order, 0]
    for start in range(len(table)):
        if group[start] >= 0:
            continue
        waiting, group[start] = [start], count
        while waiting:
            i = waiting.pop()
            most = eps * table[i, 2:].sum() * 0.5 + 1  # by which the left of another may differ, at most
            nearby = order[slice(*np.searchsorted(lefts, (table[i, 0] - most, table[i, 0] + most)))]
            nearby = np.sort(nearby[group[nearby] < 0])
            delta = eps * np.minimum(table[i, 2:], table[nearby, 2:]).sum(1) * 0.5
            apart = np.maximum(np.abs(table[i, :2] - table[nearby, :2]).max(1), np.abs(ends[i] - ends[nearby]).max(1))
            near = nearby[apart <= delta]
            group[near] = count
            waiting += near.tolist()
        count += 1
    return group


def inside(i: int, means: np.ndarray, sizes: np.ndarray, eps: float) -> bool:
    """Whether the group i lies in another and is small beside it."""
    room = np.rint(means[:, 2:] * eps)
    low = (means[i, :2] >= means[:, :2] - room).all(1)
    high = (means[i, :2] + means[i, 2:] <= means[:, :2] + means[:, 2:] + room).all(1)
    beside = (sizes > max(3, sizes[i])) | (sizes[i] < 3)
    beside[i] = False
    return bool((low & high & beside).any())


def judged(truth: np.ndarray, boxes: np.ndarray, least: float = 0.7) -> np.ndarray:
    """Rows (N, 5) xmin, ymin, xmax, ymax and 1 for a right box, 2 for a wrong one, 3 for a true box that was missed.

    Each true box in turn takes the first free box that overlaps it by `least` or more.
    """
    taken, met = np.zeros(len(boxes), bool), np.zeros(len(truth), bool)
    for i, box in enumerate(truth):
        free = np.flatnonzero(~taken)
        enough = free[shared_with(box, boxes[free]) >= least]
        taken[enough[:1]] = met[i] = len(enough) > 0
    parts = [(boxes[taken], 1), (boxes[~taken], 2), (truth[~met], 3)]
    return np.concatenate([np.column_stack([rows, np.full(len(rows), mark)]) for rows, mark in parts])


def shared_with(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union (N,) of boxes (N, 4) xmin, ymin, xmax, ymax with one; 0 where they do not meet."""
    with np.errstate(over="ignore", invalid="ignore"):
        width, height = (
            np.maximum(np.minimum(others[:, k + 2], box[k + 2]) - np.maximum(others[:, k], box[k]), 0) for k in (0, 1)
        )
        both = width * height
        areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1]) + (box[2] - box[0]) * (box[3] - box[1])
        return np.asarray(np.divide(both, areas - both, out=np.zeros(len(others)), where=both != 0))
