"""Values that a net without its data can run with: images, labels, boxes and what else a data layer gives."""

from __future__ import annotations

from typing import Any

import numpy as np

Numpy = np.ndarray[Any, Any]


def fill(role: str, shape: tuple[int, ...], image: tuple[int, ...], classes: int, rng: np.random.Generator) -> Numpy:
    """Values of one top; `image` is the shape of the images that it belongs to.

    >>> fill("info", (1, 3), (1, 3, 600, 800), 2, np.random.default_rng(0)).tolist()
    [[600.0, 800.0, 1.0]]
    """
    height, width = image[-2:] if len(image) > 1 else (1, 1)
    images, count = max(1, image[0]) if image else 1, int(np.prod(shape))
    if role == "image":
        return rng.standard_normal(shape) * 50
    if role == "class":
        return rng.integers(0, max(1, classes), shape).astype(float)
    if role == "ones":
        return np.ones(shape)
    if role == "info":
        return np.resize([height, width, *([1.0] * max(1, shape[-1] - 2))][: max(1, shape[-1])], shape).astype(float)
    if role == "sizes":
        return np.resize([height, width], shape).astype(float)
    if role == "identity":
        return np.eye(shape[-1]) if shape and count == shape[-1] ** 2 else np.ones(shape)
    if role == "mask sizes":
        return np.full(shape, 14.0)  # of by_name's masks
    if role == "cells" and len(shape) == 2:  # three cells have an object, of class 0
        number, values = shape[1] // 7, np.zeros(shape)
        side = max(1, round(number**0.5))
        values[:, 2 * number : 3 * number] = -1
        for row in values:
            for box in boxes("yolo", (3, 5), (1, 1), 1, rng):
                at = int(box[2] * side) * side + int(box[1] * side)
                row[number + at], row[2 * number + at] = 1, 0
                row[3 * number + 4 * at : 3 * number + 4 * at + 4] = box[1:]
        return values
    if role == "instances":
        return instances(shape, rng)
    if role == "detectnet labels" and len(shape) == 4:  # a row that counts, then x, y, width, height, .., class
        values = np.zeros(shape)
        rows = boxes("objects", (shape[2] - 1, 5), (height, width), 1, rng)
        values[:, :, 0, :2] = shape[2] - 1, shape[3]
        values[:, :, 1:, :4] = np.column_stack([rows[:, :2], rows[:, 2:4] - rows[:, :2]])
        values[:, :, 1:, 5] = 1
        return values
    if role == "detection map":
        values = np.zeros(shape)
        if count:
            values[:, :, shape[2] // 2, shape[3] // 2] = [1, width / 4, height / 4, width / 2, height / 2, 1][
                : shape[1]
            ]
        return values
    if role in (
        "objects",
        "areas",
        "objects of images",
        "viewed objects",
        "polygons",
        "rotated objects",
        "object rows",
        "rois",
        "boxes",
        "rotated rows",
        "yolo",
    ):
        return boxes(role, shape, (height, width), images, rng).reshape(shape)
    return rng.standard_normal(shape) * 0.1


def instances(shape: tuple[int, ...], rng: np.random.Generator) -> Numpy:
    """Images with three boxes, whose pixels have the number of the box; 0 elsewhere."""
    values = np.zeros(shape)
    rows = boxes("objects", (3, 5), (shape[-2], shape[-1]), 1, rng).astype(int)
    for number, (x0, y0, x1, y1, _) in enumerate(rows, 1):
        values[..., y0 : y1 + 1, x0 : x1 + 1] = number
    return values


def boxes(role: str, shape: tuple[int, ...], size: tuple[int, int], images: int, rng: np.random.Generator) -> Numpy:
    """Rows of boxes inside the image, an eighth to a half of its sides, of class 1."""
    columns = 5 if role in ("rois", "yolo") and len(shape) < 2 else shape[1] if role == "object rows" else shape[-1]
    count = int(np.prod(shape)) // max(1, columns)
    height, width = size
    part = rng.uniform([0, 0, 0.125, 0.125], [0.45, 0.45, 0.5, 0.5], (count, 4))  # xmin, ymin, width, height
    corners = np.concatenate([part[:, :2], part[:, :2] + part[:, 2:]], 1)
    pixels = np.floor(corners * [width, height, width, height])
    number, one, zero = np.arange(count)[:, None] % images, np.ones((count, 1)), np.zeros((count, 1))
    centres = part[:, :2] + part[:, 2:] / 2
    rows = {
        "objects": [pixels, one],
        "areas": [pixels],
        "objects of images": [pixels, one, number],
        "viewed objects": [pixels, one, zero],
        "polygons": [pixels[:, [0, 1, 2, 1, 2, 3, 0, 3]], one],
        "rotated objects": [centres * [width, height], part[:, [3, 2]] * [height, width], zero, one],
        "object rows": [number, pixels, one, zero, zero, zero, zero],
        "rois": [zero, pixels],
        "boxes": [number, one, zero, corners, zero],
        "rotated rows": [number, one, zero, corners, zero, zero],
        "yolo": [zero, centres, part[:, 2:]],
    }[role]
    whole = np.concatenate(rows, 1)
    if role in ("boxes", "rotated rows"):
        whole = whole[np.argsort(whole[:, 0], kind="stable")]
    return np.resize(whole[:, :columns], (count, columns))
