"""ROIAlign as matrix products, in numpy and without loops: an oracle that shares nothing with the kernels.

A sample's weights are products of one for its row and one for its column, and so is whether it lies on the map. So a region's
bins are Wy X Wx^T / samples, where row p of Wy holds what each row of the map weighs in bin row p, summed over its samples:

    weight of row i for a sample at y = max(0, 1 - |min(max(y, 0), H - 1) - i|) if -1 <= y <= H else 0

and the gradient of X is Wy^T G Wx / samples, summed over the regions of the image.
"""

from __future__ import annotations

import numpy as np


def axis_weights(
    start: np.ndarray, size: np.ndarray, bins: int, ratio: int, pixels: int
) -> tuple[np.ndarray, np.ndarray]:
    """W (K, bins, pixels) of one axis, and the samples of a bin along it (K,).

    start, size : (K,), of the regions on the map. ratio : samples of a bin; 0 or less: as many as it has pixels, rounded up.
    """
    bin = size / bins
    count = np.full(len(start), ratio) if ratio > 0 else np.maximum(np.ceil(bin), 0).astype(int)
    sample, most = np.arange(count.max(initial=0)), np.maximum(count, 1)[:, None, None]
    at = (start[:, None] + np.arange(bins) * bin[:, None])[..., None] + (sample + 0.5) * bin[:, None, None] / most
    there = (sample < count[:, None, None]) & (at >= -1) & (at <= pixels)
    distance = np.clip(at, 0, pixels - 1)[..., None] - np.arange(pixels)
    return (np.maximum(1 - np.abs(distance), 0) * there[..., None]).sum(2), count


def region_weights(rois, shape, output_size, scale, ratio, aligned) -> tuple[np.ndarray, ...]:
    """The image of each region, Wy / samples, and Wx; all weights of a region that lies nowhere are 0."""
    rows = np.asarray(rois, np.float64)
    known = np.isfinite(rows).all(1) & (rows[:, 0] > -1) & (rows[:, 0] < shape[0])
    rows = np.where(known[:, None], rows, 0)
    low, high = rows[:, 1:3] * scale - 0.5 * aligned, rows[:, 3:5] * scale - 0.5 * aligned
    size = high - low if aligned else np.maximum(high - low, 1)
    wy, down = axis_weights(low[:, 1], size[:, 1], output_size[0], ratio, shape[2])
    wx, across = axis_weights(low[:, 0], size[:, 0], output_size[1], ratio, shape[3])
    return rows[:, 0].astype(int), wy * (known / np.maximum(down * across, 1))[:, None, None], wx


def roi_align(x, rois, output_size, scale=1.0, ratio=0, aligned=True) -> np.ndarray:
    """(K, C, *output_size)"""
    image, wy, wx = region_weights(rois, x.shape, output_size, scale, ratio, aligned)
    return wy[:, None] @ x[image].astype(np.float64) @ wx[:, None].transpose(0, 1, 3, 2)


def roi_align_backward(grad, rois, shape, scale=1.0, ratio=0, aligned=True) -> np.ndarray:
    """The gradient of x, of the given shape."""
    image, wy, wx = region_weights(rois, shape, grad.shape[2:], scale, ratio, aligned)
    each = wy[:, None].transpose(0, 1, 3, 2) @ grad.astype(np.float64) @ wx[:, None]
    of_image = (image == np.arange(shape[0])[:, None]).astype(np.float64)  # (B, K)
    return (of_image @ each.reshape(len(image), -1)).reshape(shape)
