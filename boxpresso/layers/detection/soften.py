"""Suppression that lowers scores, and overlaps of polygons and rotated boxes, by kernels; arrays are numpy's, in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import Device, Kernels
from .suppress import real_type

SOFTEN = Kernels(Path(__file__).with_name("soften.cu"))
OVERLAPS = Kernels(Path(__file__).with_name("overlaps.cu"))


def soft_suppress(
    device: Device, boxes: np.ndarray, scores: np.ndarray, starts: np.ndarray, *, method: str, threshold: float,
    sigma: float, least: float, last: int = 0,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The indices of the boxes that stay, of each group in the order of taking, and their scores then.

    Parameters
    ----------
    boxes : (N, 4) corners, group by group; starts : (groups + 1,), where each group starts, and N.
    method : "naive", "linear" or "gaussian". least : boxes whose score falls below it go; the best of a group never does.
    last : what is added to widths and heights.
    """
    real, bounds = real_type(boxes), device.table(starts)
    # A score that is not above -infinity is of no use, nor is NaN, and neither is taken.
    finite = np.where(scores > -np.inf, np.minimum(scores, np.finfo(real).max), -np.inf)
    left = device.table(np.maximum(finite, np.finfo(real).min), real)
    order, taken = device.empty((len(boxes),), np.int32), device.empty((len(boxes),), real)
    SOFTEN.on(device).soft_suppress(
        len(starts) - 1, device.table(boxes, real), bounds, left, order, taken, last, threshold, sigma, least,
        SOFTEN.constants[method.upper()],
    )  # fmt: skip
    stay = np.asarray(order)
    return stay[stay >= 0].astype(np.intp), np.asarray(taken)[stay >= 0]


def matrix_decay(
    device: Device, boxes: np.ndarray, classes: np.ndarray, *, method: str, sigma: float, last: int = 0
) -> np.ndarray:
    """What the score of each box is multiplied by; boxes (N, 4) best first."""
    real, count = real_type(boxes), len(boxes)
    rows, labels = device.table(boxes, real), device.table(classes)
    most, decay = device.empty((count,), real), device.empty((count,), real)
    SOFTEN.on(device).most_overlaps(count, rows, labels, most, last)
    SOFTEN.on(device).matrix_decay(count, rows, labels, most, decay, last, sigma, SOFTEN.constants[method.upper()])
    return np.asarray(decay)


def overlaps(
    device: Device, a: np.ndarray, b: np.ndarray, *, aligned: bool, foreground: bool, boxes: bool
) -> np.ndarray:
    """Intersection over union (A, B), or (A,) of the pairs of rows; over a's area where `foreground`.

    Parameters
    ----------
    a, b : rotated `boxes` (_, 5), or polygons (_, 2 corners).
    """
    real = real_type(a)
    shape = (len(a),) if aligned else (len(a), len(b))
    overlap = device.empty(shape, real)
    rows, columns = (device.table(a, real), device.table(b, real)), 0 if aligned else len(b)
    if boxes:
        OVERLAPS.on(device).box_overlaps(overlap.size, *rows, overlap, columns, int(foreground))
    else:
        corners = a.shape[1] // 2, b.shape[1] // 2
        OVERLAPS.on(device).polygon_overlaps(overlap.size, *rows, overlap, columns, *corners, int(foreground))
    return np.asarray(overlap)
