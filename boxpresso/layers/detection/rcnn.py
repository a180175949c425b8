"""Boxes as the R-CNN family has them: in pixels of the net's input, the last pixel included, so a width is xmax - xmin + 1.

`Upright` boxes are (xmin, ymin, xmax, ymax). `Rotated` ones are RRPN's: (centre x, centre y, height, width, angle in degrees,
anti-clockwise), whose widths are plain lengths. Both offer: columns, anchors, decode, encode, overlaps, inside, suppress.
Sources: Girshick 2015 (Fast R-CNN), Ren et al. 2015 (Faster R-CNN), Ma et al. 2018 (RRPN), and the code of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...data.boxes import iou
from ...device import Device
from ...device.functions import exp, log, sine_cosine
from .suppress import overlaps_of_rotated

BLOCK = 2**15  # elements of a table that are computed together
Rounding = Callable[[np.ndarray], np.ndarray]


def shapes(base: float, ratios: Sequence[float], scales: Sequence[float], rounded: Rounding) -> np.ndarray:
    """(A, 2) widths and heights of a base x base square at each ratio height / width, rounded, then at each scale."""
    width = rounded(np.sqrt(base * base / np.asarray(ratios, np.float64)))
    height = rounded(width * np.asarray(ratios, np.float64))
    return (np.stack([width, height], 1)[:, None] * np.asarray(scales, np.float64)[:, None]).reshape(-1, 2)


def shifted(anchors: np.ndarray, height: int, width: int, stride: float, columns: Sequence[int]) -> np.ndarray:
    """The anchors at each place of a feature map, by row, column, anchor. columns: those that move in x and y, in turn."""
    y, x = np.mgrid[:height, :width] * stride
    moved = np.repeat(anchors[None], height * width, 0)
    for at in columns:
        moved[..., at] += (y if at % 2 else x).reshape(-1, 1)
    return moved.reshape(-1, anchors.shape[1])


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of the rows of a table, of so many elements each that what is computed of one stays in the caches."""
    step = max(1, BLOCK // max(1, columns))
    return (slice(first, first + step) for first in range(0, rows, step))


class Overlapping:
    """Boxes that overlap."""

    @staticmethod
    def overlaps(device: Device, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Intersection over union (A, B)."""
        raise NotImplementedError

    @classmethod
    def nearest(cls, device: Device, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number (A,) of the box of b that each of a overlaps most, and by how much; 0 where b is empty."""
        number, most = np.zeros(len(a), int), np.zeros(len(a))
        for rows in blocks(len(a), len(b)) if len(b) else ():
            shared = cls.overlaps(device, a[rows], b)
            number[rows], most[rows] = shared.argmax(1), shared.max(1)
        return number, most


class Upright(Overlapping):
    """(xmin, ymin, xmax, ymax)."""

    columns = 4

    @staticmethod
    def anchors(
        base: float, ratios: Sequence[float], scales: Sequence[float], angles: Sequence[float] = (),
        rounded: Rounding = np.round,
    ) -> np.ndarray:  # fmt: skip
        """(A, 4): the shapes around the centre of a base x base square at (0, 0)."""
        half = (shapes(base, ratios, scales, rounded) - 1) / 2
        centre = (base - 1) / 2
        return np.concatenate([centre - half, centre + half], 1)

    @staticmethod
    def everywhere(anchors: np.ndarray, height: int, width: int, stride: float) -> np.ndarray:
        return shifted(anchors, height, width, stride, (0, 1, 2, 3))

    @staticmethod
    def decode(boxes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Boxes (N, 4 K) at offsets (N, 4 K) from boxes (N, 4): centres move by parts of the size, sizes grow by exp."""
        boxes = boxes.astype(offsets.dtype, copy=False)
        size = boxes[:, 2:] - boxes[:, :2] + 1
        centre = boxes[:, :2] + offsets.dtype.type(0.5) * size
        by = offsets.reshape(len(boxes), offsets.shape[1] // 4, 4)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = by[..., :2] * size[:, None] + centre[:, None]
            half = offsets.dtype.type(0.5) * (exp(by[..., 2:]) * size[:, None])
            return np.concatenate([moved - half, moved + half], 2).reshape(offsets.shape)

    @staticmethod
    def decode_backward(boxes: np.ndarray, by: np.ndarray, diff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of boxes (N, 4) and of offsets (N, 4), from that of the boxes (N, 4) that `decode` makes of them."""
        size = boxes[:, 2:] - boxes[:, :2] + 1
        with np.errstate(over="ignore", invalid="ignore"):
            grown = exp(by[:, 2:])
            centre, width = diff[:, :2] + diff[:, 2:], (diff[:, 2:] - diff[:, :2]) / 2
            offsets = np.concatenate([centre * size, width * grown * size], 1)
            first = centre * (0.5 - by[:, :2]) - width * grown
            last = centre * (0.5 + by[:, :2]) + width * grown
        return np.concatenate([first, last], 1), offsets

    @staticmethod
    def encode(boxes: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The offsets (N, 4) from boxes (N, 4) at which truth (N, 4) lies."""
        size, true_size = boxes[:, 2:] - boxes[:, :2] + 1, truth[:, 2:] - truth[:, :2] + 1
        centre, true_centre = boxes[:, :2] + 0.5 * size, truth[:, :2] + 0.5 * true_size
        return np.concatenate([(true_centre - centre) / size, log(true_size / size)], 1)

    @staticmethod
    def clip(boxes: np.ndarray, height: float, width: float) -> np.ndarray:
        """Boxes (N, 4 K) with every corner on a pixel of the image."""
        most = np.tile(np.array([width - 1, height - 1], boxes.dtype), boxes.shape[1] // 2)
        return np.asarray(np.maximum(np.minimum(boxes, most), 0))

    @staticmethod
    def inside(boxes: np.ndarray, height: float, width: float, border: float) -> np.ndarray:
        """Which boxes leave the image by at most `border` pixels."""
        right = (boxes[:, 2] < width + border) & (boxes[:, 3] < height + border)
        return np.asarray((boxes[:, :2] >= -border).all(1) & right)

    @staticmethod
    def overlaps(device: Device, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Intersection over union (A, B); NaN for a box with NaN."""
        overlaps = np.empty((len(a), len(b)), np.result_type(a, b))
        for rows in blocks(len(a), len(b)):
            overlaps[rows] = iou(a[rows, None], b, last=1)
        overlaps[np.isnan(a).any(1)] = np.nan  # such a region is neither an object nor background
        overlaps[:, np.isnan(b).any(1)] = np.nan
        return overlaps

    @staticmethod
    def turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """By how many degrees the directions of boxes a (..., 4) and b (..., 4) differ."""
        return np.broadcast_to(0.0, np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))


class Rotated(Overlapping):
    """(centre x, centre y, height, width, angle in degrees)."""

    columns = 5

    @staticmethod
    def anchors(
        base: float, ratios: Sequence[float], scales: Sequence[float], angles: Sequence[float] = (0,),
        rounded: Rounding = np.round,
    ) -> np.ndarray:  # fmt: skip
        """(A, 5): each shape at each angle, at (base / 2 - 1, base / 2 - 1)."""
        size = shapes(base, ratios, scales, rounded)[:, ::-1]
        turned = np.tile(np.asarray(angles, np.float64), len(size))[:, None]
        return np.concatenate([np.full((len(turned), 2), base / 2 - 1), np.repeat(size, len(angles), 0), turned], 1)

    @staticmethod
    def everywhere(anchors: np.ndarray, height: int, width: int, stride: float) -> np.ndarray:
        return shifted(anchors, height, width, stride, (0, 1))

    @staticmethod
    def decode(boxes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Boxes (N, 5 K) at offsets (x, y, width, height, radians) from boxes (N, 5); angles end from -45 to 135."""
        boxes = boxes.astype(offsets.dtype, copy=False)
        by = offsets.reshape(len(boxes), offsets.shape[1] // 5, 5)
        size = boxes[:, None, 3:1:-1]  # width, height
        with np.errstate(over="ignore", invalid="ignore"):
            centre = by[..., :2] * size + boxes[:, None, :2]
            grown = exp(by[..., 2:4]) * size
        angle = by[..., 4:] * offsets.dtype.type(180 / np.pi) + boxes[:, None, 4:]
        angle = np.where(angle < -45, angle + 180, angle)
        angle = np.where(angle > 135, angle - 180, angle)
        return np.concatenate([centre, grown[..., ::-1], angle], 2).reshape(offsets.shape)

    @staticmethod
    def encode(boxes: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The offsets (N, 5) from boxes (N, 5) at which truth (N, 5) lies."""
        size, true_size = boxes[:, 3:1:-1], truth[:, 3:1:-1]
        turn = truth[:, 4:] - boxes[:, 4:]
        turn = turn + 180 * ((truth[:, 4:] <= -30) & (boxes[:, 4:] >= 120))
        turn = turn - 180 * ((truth[:, 4:] >= 120) & (boxes[:, 4:] <= -30))
        return np.concatenate([(truth[:, :2] - boxes[:, :2]) / size, log(true_size / size), turn * np.pi / 180], 1)

    @staticmethod
    def clip(boxes: np.ndarray, height: float, width: float) -> np.ndarray:
        """Rotated boxes are not clipped."""
        return boxes

    @staticmethod
    def corners(boxes: np.ndarray) -> np.ndarray:
        """(N, 4, 2): the corners, in order around the box."""
        angle = boxes[:, 4] * (np.pi / 180)
        sin, cos = sine_cosine(angle)
        along = np.stack([cos, -sin], 1) * boxes[:, 3:4] / 2  # y goes down: anti-clockwise turns towards smaller y
        across = np.stack([sin, cos], 1) * boxes[:, 2:3] / 2
        signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        return np.stack([boxes[:, :2] + u * along + v * across for u, v in signs], 1)

    @staticmethod
    def inside(boxes: np.ndarray, height: float, width: float, border: float) -> np.ndarray:
        """Which boxes have no corner outside the image by `border` pixels or more."""
        corners = Rotated.corners(boxes)
        most = np.array([width + border, height + border])
        return np.asarray(((corners > -border) & (corners < most)).all((1, 2)))

    @staticmethod
    def radians(boxes: np.ndarray) -> np.ndarray:
        """As kernels have them: (centre x, centre y, width, height, angle in radians)."""
        turned: np.ndarray = boxes[:, [0, 1, 3, 2, 4]]
        turned[:, 4] *= np.pi / 180
        return turned

    @staticmethod
    def overlaps(device: Device, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Intersection over union (A, B)."""
        return overlaps_of_rotated(device, Rotated.radians(a), Rotated.radians(b))

    @staticmethod
    def turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """By how many degrees the directions of boxes a (..., 5) and b (..., 5) differ; a half turn is none."""
        apart = np.abs(a[..., 4] - b[..., 4])
        return np.asarray(np.where(apart > 150, np.abs(180 - apart), apart))


Boxes = type[Upright] | type[Rotated]
