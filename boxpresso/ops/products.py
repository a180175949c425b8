"""ROIAlign as products of matrices in a library's own operations: numpy's, torch's, jax's, which differentiate it.

It is the formula of docs/operators.md without a loop: an oracle, and a decomposition for what knows no operator of ours. All is
summed by matrix products, in one order. The image of a region is in the first product's matrix, not in a copy of the features
for each region: 1000 regions of a map (1, 256, 200, 304) take 1.6 GB, where such copies are 62 GB.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from ..device.foreign import package
from ..proto.errors import BoxpressoError
from .arrays import asked
from .parameters import Two, pair


def roi_align(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = True
) -> Any:
    """boxpresso.ops.roi_align's average, in the operations of x's own library.

    Parameters
    ----------
    x : (B, C, H, W), finite: a product with 0 does not hide NaN. Of numpy, torch or jax; the work grows with B.
    rois, output_size, spatial_scale, sampling_ratio, aligned : see boxpresso.ops.roi_align; where jax traces the regions
        sampling_ratio must be above 0, as sizes must be known there.

    Returns
    -------
    (K, C, *output_size), differentiable in x and rois by the library's own means.

    Examples
    --------
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> roi_align(x, np.array([[0, 0, 0, 4, 4]], np.float32), 2, sampling_ratio=2)[0, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    if asked.get():
        raise BoxpressoError(
            "ops.products: matrix products of numpy, torch and jax are not reproducible; call ops.roi_align"
        )
    xp, (batch, channels, height, width), bins = library_of(x), x.shape, pair(output_size)
    known = xp.isfinite(rois).all(1) & (rois[:, 0] > -1) & (rois[:, 0] < batch)
    rows = xp.where(known[:, None], rois, 0 * xp.ones_like(rois))
    corners = rows[:, 1:] * spatial_scale - (0.5 if aligned else 0)
    start, size = corners[:, :2], corners[:, 2:] - corners[:, :2]
    if not aligned:
        size = xp.where(size < 1, xp.ones_like(size), size)
    down = axis_weights(xp, start[:, 1], size[:, 1], bins[0], sampling_ratio, height)
    across = axis_weights(xp, start[:, 0], size[:, 0], bins[1], sampling_ratio, width)
    whole = xp.where(rows[:, 0] < 0, 0 * rows[:, 0], rows[:, 0])  # -0.5 is image 0, as kernels cut it
    of_image = (xp.floor(whole)[:, None] == steps(xp, batch, x)) & known[:, None]
    # The longer axis first: what is left for each region is a strip of the shorter one.
    flip = width < height
    first, second = (as_like(x, each) for each in ((down, across) if flip else (across, down)))
    lines = xp.moveaxis(x, 2 if flip else 3, 1)  # (B, longer, C, shorter)
    placed = first[:, :, None, :] * of_image[:, None, :, None]  # (K, bins, B, longer)
    count = len(rois)
    strips = placed.reshape(count * first.shape[1], batch * lines.shape[1]) @ lines.reshape(batch * lines.shape[1], -1)
    strips = strips.reshape(count, first.shape[1] * channels, lines.shape[3])
    result = (strips @ xp.moveaxis(second, 1, 2)).reshape(count, first.shape[1], channels, second.shape[1])
    return xp.moveaxis(result, 1, 2 if flip else 3)


def library_of(x: Any) -> Any:
    """The module whose functions take an array."""
    name = package(x)
    if name in ("jax", "jaxlib"):
        return import_module("jax.numpy")
    return import_module("torch") if name == "torch" else np


def as_like(x: Any, weights: Any) -> Any:
    """Weights in x's dtype: numpy makes them of float64."""
    return weights.to(x.dtype) if package(x) == "torch" else weights.astype(x.dtype)


def steps(xp: Any, count: int, like: Any) -> Any:
    """0, 1, .. count - 1 beside an array."""
    return xp.arange(count, device=like.device) if xp.__name__ == "torch" else xp.arange(count)


def axis_weights(xp: Any, start: Any, size: Any, bins: int, ratio: int, pixels: int) -> Any:
    """(K, bins, pixels): what each pixel of an axis weighs in each bin, the mean of the bin's samples."""
    bin = size / bins
    if ratio > 0:
        most, counts = ratio, xp.ones_like(bin) * ratio
    else:
        counts = xp.ceil(xp.where(bin < 0, 0 * bin, bin))
        try:
            most = math.ceil(counts.max().item()) if len(bin) else 0
        except TypeError as error:  # jax's, of an array that is traced
            raise BoxpressoError("sampling_ratio must be above 0 where the regions are traced") from error
    real = xp.where(counts < 1, xp.ones_like(counts), counts)[:, None, None]
    sample = steps(xp, most, start)
    at = (start[:, None] + steps(xp, bins, start) * bin[:, None])[..., None] + (sample + 0.5) * bin[
        :, None, None
    ] / real
    there = (sample < counts[:, None, None]) & (at >= -1) & (at <= pixels)
    held = xp.where(at < 0, 0 * at, xp.where(at > pixels - 1, 0 * at + (pixels - 1), at))
    far = 1 - abs(held[..., None] - steps(xp, pixels, start))
    hat = xp.where((far > 0) & there[..., None], far, 0 * far)
    return hat.sum(2) / real
