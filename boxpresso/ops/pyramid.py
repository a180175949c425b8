"""RoIAlign from a pyramid of features, each region from the level that its size chooses (FPN)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..device.kernel import real_of
from ..layers.regions.levels import levels_of, put_rows, scale_of, take_rows
from ..proto.errors import BoxpressoError
from . import arrays
from .parameters import Two, number, pair
from .regions import roi_align


def multi_scale_roi_align(
    features: Sequence[Any], rois: Any, output_size: Two, spatial_scales: Sequence[float] | None = None,
    sampling_ratio: int = 0, aligned: bool = False, canonical_scale: float = 224, canonical_level: float = 4, *,
    image_size: Two | None = None, layout: str = "NCHW",
) -> Any:  # fmt: skip
    """RoIAlign of each region from its level of a feature pyramid, all levels in one call.

    Parameters
    ----------
    features : the maps of the levels, the largest first, each (B, C, H, W).
    rois : (K, 5), or a list of boxes (K, 4), one for each image; see boxpresso.ops.
    output_size, layout : see boxpresso.ops. sampling_ratio, aligned : see `roi_align`.
    spatial_scales : pixels of each level per pixel of the image, falling; None takes them from image_size as the nearest
        powers of two.
    canonical_scale, canonical_level : a region of so many pixels is of the level of scale 2^-canonical_level.
    image_size : (height, width) of the images, the largest of a batch.

    Returns
    -------
    (K, C, *output_size), in the order of the regions.

    Raises
    ------
    BoxpressoError: no features, scales that do not fit them, or neither scales nor image_size.

    Source
    ------
    Lin et al. 2017 (FPN), as torchvision's MultiScaleRoIAlign; see the layer MultiScaleROIAlign.

    Examples
    --------
    >>> import numpy as np
    >>> maps = [np.full((1, 1, 2**k, 2**k), 7 - k, np.float32) for k in (7, 6, 5, 4)]
    >>> boxes = [np.array([[9, 9, 233, 233], [9, 9, 37, 37]], np.float32)]
    >>> multi_scale_roi_align(maps, boxes, 1, image_size=512).ravel().tolist()
    [2.0, 0.0]
    """
    rows, levels, options = chosen(
        features, rois, output_size, spatial_scales, sampling_ratio, aligned, canonical_scale, canonical_level,
        image_size=image_size, layout=layout,
    )  # fmt: skip
    result: Any = None
    ours: Any = None
    device = arrays.device_of(features[0])
    for i, option in enumerate(options):
        index = np.flatnonzero(levels == i)
        if len(index) == 0 and (i + 1 < len(options) or result is not None):
            continue
        part = roi_align(features[i], device.table(rows[index], rows.dtype), **option)
        if len(index) == len(rows):
            return part
        taken = arrays.take(part, device)
        if result is None:
            result, ours = arrays.Results(features[0], device).empty((len(rows), *taken.shape[1:]), taken.dtype)
        put_rows(device, taken, index, ours)
    device.synchronize()
    return result


def multi_scale_roi_align_backward(
    grad: Any, features: Sequence[Any], rois: Any, output_size: Two, spatial_scales: Sequence[float] | None = None,
    sampling_ratio: int = 0, aligned: bool = False, canonical_scale: float = 224, canonical_level: float = 4, *,
    image_size: Two | None = None, layout: str = "NCHW",
) -> dict[str, list[Any]]:  # fmt: skip
    """The gradients of sum(grad * multi_scale_roi_align(...)).

    Parameters
    ----------
    grad : an array of the result's shape. The others : see `multi_scale_roi_align`.

    Returns
    -------
    {"features": a list of the gradient of each level}

    Raises
    ------
    BoxpressoError: as `multi_scale_roi_align`, and for a grad of another shape.

    Examples
    --------
    >>> import numpy as np
    >>> maps, boxes = [np.zeros((1, 1, 2, 2), np.float32)] * 2, [np.array([[0, 0, 8, 8]], np.float32)]
    >>> grads = multi_scale_roi_align_backward(np.ones((1, 1, 1, 1), np.float32), maps, boxes, 1, [1 / 4, 1 / 8], 1)
    >>> grads["features"][0][0, 0].tolist(), grads["features"][1].any().item()
    ([[0.0, 0.0], [0.0, 1.0]], False)
    """
    rows, levels, options = chosen(
        features, rois, output_size, spatial_scales, sampling_ratio, aligned, canonical_scale, canonical_level,
        image_size=image_size, layout=layout,
    )  # fmt: skip
    device = arrays.device_of(features[0])
    gradient = arrays.take(grad, device, arrays.take(features[0], device).dtype)
    if gradient.ndim != 4 or gradient.shape[0] != len(rows):
        raise BoxpressoError(
            f"grad must be of the result's shape, with {len(rows)} regions; got {tuple(gradient.shape)}"
        )
    results = []
    for i, option in enumerate(options):
        index = np.flatnonzero(levels == i)
        part = device.empty((len(index), *gradient.shape[1:]), gradient.dtype)
        take_rows(device, gradient, index, part)
        regions = device.table(rows[index], rows.dtype)
        results.append(roi_align.backward(part, features[i], regions, **option)["x"])
    return {"features": results}


def chosen(
    features: Sequence[Any], rois: Any, output_size: Two, spatial_scales: Sequence[float] | None = None,
    sampling_ratio: int = 0, aligned: bool = False, canonical_scale: float = 224, canonical_level: float = 4, *,
    image_size: Two | None = None, layout: str = "NCHW",
) -> tuple[np.ndarray, np.ndarray, list[dict[str, Any]]]:  # fmt: skip
    """The regions (K, 5) on the host, the level of each, and the arguments of roi_align for each level."""
    if not isinstance(features, (list, tuple)) or not features:
        raise BoxpressoError(f"features must be a list of at least one level, got {type(features).__name__}")
    if not np.isfinite(number(canonical_level, "canonical_level")):
        raise BoxpressoError(f"canonical_level must be finite, got {canonical_level!r}")
    if not 0 < number(canonical_scale, "canonical_scale") < np.inf:
        raise BoxpressoError(f"canonical_scale must be above 0, got {canonical_scale!r}")
    scales = spatial_scales
    if scales is not None and np.ndim(scales) != 1:
        raise BoxpressoError(f"spatial_scales must be numbers, one for each of {len(features)} levels, got {scales!r}")
    scales = None if scales is None else [number(scale, "spatial_scales") for scale in scales]
    if scales is None:
        if image_size is None:
            raise BoxpressoError("give spatial_scales, or image_size to take them from")
        image = pair(image_size, "image_size")
        if min(image) < 1:
            raise BoxpressoError(f"image_size must be above 0, got {image_size!r}")
        axes = slice(1, 3) if layout == "NHWC" else slice(2, 4)
        scales = [scale_of(tuple(x.shape)[axes], image) for x in features]
    falling = all(0 < b < a < np.inf for a, b in pairwise(scales)) and 0 < scales[0] < np.inf
    if len(scales) != len(features) or not falling:
        raise BoxpressoError(
            f"spatial_scales must be falling, one for each of {len(features)} levels, got {list(scales)}"
        )
    device = arrays.device_of(features[0])
    regions = arrays.regions_of(rois, features[0])
    rows = arrays.real_values(regions, arrays.device_of(regions), "rois")
    if rows.ndim != 2 or rows.shape[1] != 5:
        raise BoxpressoError(f"rois must be (K, 5), or a list of boxes (K, 4), one for each image; got {rows.shape}")
    rows = rows.astype(real_of(arrays.take(features[0], device).dtype))
    levels = levels_of(rows, scales, canonical_scale, canonical_level)
    shared = {"output_size": output_size, "sampling_ratio": sampling_ratio, "aligned": aligned, "layout": layout}
    return rows, levels, [{**shared, "spatial_scale": float(scale)} for scale in scales]
