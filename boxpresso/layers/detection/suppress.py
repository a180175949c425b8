"""Greedy suppression of boxes and overlaps of rotated boxes, by kernels; arrays are numpy's, in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import Device, Kernels

kernels = Kernels(Path(__file__).with_name("suppress.cu"))


def suppress_boxes(
    device: Device,
    boxes: np.ndarray,
    threshold: float,
    limit: int = -1,
    starts: np.ndarray | None = None,
    *,
    pixels: bool = True,
    strict: bool = False,
) -> np.ndarray:
    """The indices of boxes that stay, in order; at most `limit` of each group from 0 on.

    boxes: (N, 4) in whole pixels (xmin, ymin, xmax, ymax) with widths xmax - xmin + 1, where an overlap of the threshold
    suppresses (py-faster-rcnn's CPU rule); without `pixels` widths are xmax - xmin, and if `strict` an overlap above the
    threshold suppresses (torchvision's rule); or (N, 5) rotated (centre x, centre y, width, height, angle in radians,
    clockwise), where an overlap above it does (mmcv's and RRPN's rule). They come best first. starts: the index at which
    each group starts, with N at the end; groups do not see each other. None is one group.
    """
    count, columns = boxes.shape
    if not count:
        return np.zeros(0, np.intp)
    starts = np.array([0, count]) if starts is None else starts
    real = boxes.dtype if boxes.dtype == np.float64 else np.dtype(np.float32)
    kept = device.empty((count,), np.int32)
    on_device, limit = device.table(boxes, real), count if limit < 0 else limit
    if columns == 5:
        kernels.on(device).suppress_rotated(len(starts) - 1, on_device, device.table(starts), kept, limit, threshold)
    else:
        least = real.type(threshold)  # the threshold is a double: the first Real that is not below it, or is above it
        if float(least) < threshold or (strict and float(least) == threshold):
            least = np.nextafter(least, real.type(np.inf))
        room = device.empty((5 * count,), real)
        kernels.on(device).suppress_pixels(
            len(starts) - 1, on_device, device.table(starts), room, kept, limit, int(pixels), float(least)
        )
    chosen = np.asarray(kept)
    return chosen[chosen >= 0].astype(np.intp)


def overlaps_of_rotated(device: Device, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union (A, B) of rotated boxes a (A, 5) and b (B, 5), angles in radians; in a's dtype."""
    real = a.dtype if a.dtype == np.float64 else np.dtype(np.float32)
    overlap = device.empty((len(a), len(b)), real)
    kernels.on(device).rotated_overlaps(
        len(a) * len(b), device.table(a, real), device.table(b, real), overlap, max(1, len(b))
    )
    return np.asarray(overlap)
