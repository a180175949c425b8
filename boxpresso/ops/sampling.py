"""Operators that sample images: crops of one size, points, masks in their boxes, upsampling, corner pooling, correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device import Array
from ..device.kernel import real_of
from ..layers.core.numbers import COUNT_LIMIT
from ..layers.regions.paste import paste
from ..proto.errors import BoxpressoError
from . import arrays
from .operator import Plan, operator
from .parameters import Two, number, pair


def text_of(**settings: Any) -> dict[str, Any]:
    """The parameter of a layer that reads its settings from a param_str."""
    parts = (f"{name!r}: {written(value)}" for name, value in settings.items())
    return {"python_param": {"param_str": f"{{{', '.join(parts)}}}"}}


def written(value: Any) -> str:
    """A value as a param_str has it; Python has no words for NaN and infinity, YAML has."""
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return repr(value)


@operator("x", "boxes", "box_indices", constant=("box_indices",))
def crop_and_resize(
    x: Any, boxes: Any, box_indices: Any, crop_size: Two, method: str = "bilinear", extrapolation_value: float = 0.0, *,
    layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Boxes of images, each resized to one size. The boxes have a gradient, too.

    Parameters
    ----------
    x, layout : see boxpresso.ops.
    boxes : (K, 4), y1, x1, y2, x2, where 0 is the first pixel's centre and 1 the last one's. box_indices : (K,), their images.
    crop_size : (height, width), or one number for both. method : "bilinear" or "nearest".
    extrapolation_value : the value of what lies outside the image.

    Returns
    -------
    (K, C, *crop_size)

    Source
    ------
    TensorFlow's tf.image.crop_and_resize, there with layout="NHWC"; see the layer CropAndResize.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> crop_and_resize(x, np.array([[0, 0.5, 1, 1]], np.float32), np.zeros(1), 2)[0, 0].tolist()
    [[1.0, 2.0], [7.0, 8.0]]
    """
    height, width = pair(crop_size, "crop_size")
    if not isinstance(extrapolation_value, (int, float, np.number)):
        raise BoxpressoError(f"extrapolation_value must be a number, got {extrapolation_value!r}")
    settings = {"crop_size": [height, width], "method": method, "extrapolation_value": float(extrapolation_value)}
    return Plan("CropAndResize", text_of(**settings), remembers=False)


@operator("x", "points", constant=())
def point_sample(x: Any, points: Any, align_corners: bool = False) -> Plan:
    """A bilinear sample of each map at each point; the points have a gradient, too.

    Parameters
    ----------
    x : (N, C, H, W). points : (N, P, 2) or (N, P, Q, 2), x and y in parts of the map's width and height.
    align_corners : 0 and 1 are the centres of the first and last pixels, not their outer edges.

    Returns
    -------
    (N, C, P) or (N, C, P, Q)

    Source
    ------
    Kirillov et al. 2020 (PointRend), as detectron2's and mmcv's point_sample; see the layer PointSample.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    >>> point_sample(x, np.array([[[0.5, 0.5], [0.25, 0.75]]], np.float32)).tolist()
    [[[1.5, 2.0]]]
    """
    return Plan("PointSample", text_of(align_corners=bool(align_corners)), remembers=False)


@operator("x", "masks", constant=(), linear=("x", "masks"))
def carafe(x: Any, masks: Any, kernel_size: int = 5, group_size: int = 1, scale_factor: int = 2) -> Plan:
    """Upsampling by a kernel for each pixel of the result.

    Parameters
    ----------
    x : (N, C, H, W). masks : (N, group_size kernel_size^2, H scale_factor, W scale_factor).
    kernel_size : odd. group_size : so many groups of channels have masks of their own.

    Returns
    -------
    (N, C, H scale_factor, W scale_factor)

    Source
    ------
    Wang et al. 2019 (CARAFE), as mmcv's carafe; see the layer Carafe.

    Examples
    --------
    >>> import numpy as np
    >>> carafe(np.array([[[[1.0, 2.0]]]]), np.full((1, 1, 2, 4), 3.0), 1)[0, 0].tolist()
    [[3.0, 3.0, 6.0, 6.0], [3.0, 3.0, 6.0, 6.0]]
    """
    settings = {"kernel_size": kernel_size, "group_size": group_size, "scale_factor": scale_factor}
    return Plan("Carafe", text_of(**settings), remembers=False)


@operator("x", constant=(), linear=())
def corner_pool(x: Any, mode: str) -> Plan:
    """The largest pixel from each one on, in one direction.

    Parameters
    ----------
    x : (N, C, H, W). mode : "top", "bottom", "left" or "right".

    Returns
    -------
    The shape of x.

    Source
    ------
    Law and Deng 2018 (CornerNet), as mmcv's CornerPool; see the layer CornerPool.

    Examples
    --------
    >>> import numpy as np
    >>> corner_pool(np.array([[[[1.0, 3.0, 2.0]]]]), "left").ravel().tolist()
    [3.0, 3.0, 2.0]
    """
    return Plan("CornerPool", text_of(mode=mode), remembers=False)


@operator("x", "other", constant=(), linear=("x", "other"))
def correlation(
    x: Any, other: Any, kernel_size: int = 1, max_displacement: int = 1, stride: int = 1, padding: int = 0,
    dilation: int = 1, dilation_patch: int = 1,
) -> Plan:  # fmt: skip
    """For each pixel and each displacement the product of two maps, summed over the channels and a kernel.

    Parameters
    ----------
    x, other : (N, C, H, W). The others : see the layer LocalCorrelation.

    Returns
    -------
    (N, P, P, H', W') with P = 2 max_displacement + 1: displaced down, then to the right.

    Source
    ------
    Dosovitskiy et al. 2015 (FlowNet), as mmcv's Correlation; see the layer LocalCorrelation.

    Examples
    --------
    >>> import numpy as np
    >>> correlation(np.array([[[[1.0, 2.0, 3.0]]]]), np.array([[[[4.0, 5.0, 6.0]]]]))[0, 1, :, 0].tolist()
    [[0.0, 8.0, 15.0], [4.0, 10.0, 18.0], [5.0, 12.0, 0.0]]
    """
    settings = {
        "kernel_size": kernel_size, "max_displacement": max_displacement, "stride": stride, "padding": padding,
        "dilation": dilation, "dilation_patch": dilation_patch,
    }  # fmt: skip
    return Plan("LocalCorrelation", text_of(**settings), remembers=False)


def paste_masks(
    masks: Any, boxes: Any, image_size: Sequence[int], threshold: float | None = 0.5, mode: str = "detectron2"
) -> Any:
    """Masks of objects in images: each is resized to its box, and is 0 elsewhere.

    Parameters
    ----------
    masks : (N, h, w) or (N, 1, h, w), from 0 to 1. boxes : (N, 4), x1, y1, x2, y2 in pixels of the image.
    image_size : (height, width).
    threshold : what is at least so much belongs to the object; None gives the resized masks themselves.
    mode : "detectron2", which keeps boxes as they are, or "torchvision", which widens masks by a pixel and cuts boxes to whole
        pixels.

    Returns
    -------
    (N, height, width), or (N, 1, height, width): bool (a numpy array for a GPU's Array), or of the masks' dtype without a
    threshold. A box without an area, or with NaN or infinity, has no pixels.

    Raises
    ------
    BoxpressoError: another mode, or arrays of other shapes.

    Source
    ------
    detectron2's paste_masks_in_image; torchvision's, which has no threshold.

    Examples
    --------
    >>> import numpy as np
    >>> paste_masks(np.ones((1, 2, 2), np.float32), np.array([[1, 0, 3, 1]], np.float32), (2, 4)).astype(int).tolist()
    [[[0, 1, 1, 0], [0, 0, 0, 0]]]
    """
    if mode not in ("detectron2", "torchvision"):
        raise BoxpressoError(f"mode must be 'detectron2' or 'torchvision', got {mode!r}")
    if masks is None or boxes is None:
        raise BoxpressoError(f"{'masks' if masks is None else 'boxes'} must be an array, got None")
    threshold = None if threshold is None else number(threshold, "threshold")
    device = arrays.device_of(masks)
    planes = arrays.take(masks, device)
    if planes.dtype not in arrays.FLOATS:
        raise BoxpressoError(f"masks must be of float16, bfloat16, float32 or float64, got {planes.dtype}")
    if threshold is not None:  # what is compared with it is not rounded to 16 bits before
        planes = arrays.take(planes, device, real_of(planes.dtype))
    rows = arrays.take(boxes, device)
    if rows.dtype not in arrays.FLOATS and rows.dtype.kind not in "biu":
        raise BoxpressoError(f"boxes must be of real numbers, got {rows.dtype}")
    rows = arrays.take(rows, device, real_of(planes.dtype))
    extra = (1,) if planes.ndim == 4 else ()
    fits = planes.ndim in (3, 4) and planes.shape[1:-2] == extra and rows.shape == (planes.shape[0], 4)
    size = pair(image_size, "image_size")
    if not fits or min(size) < 0:
        raise BoxpressoError(
            f"masks must be (N, h, w) or (N, 1, h, w), boxes (N, 4) and image_size not below 0; got {tuple(planes.shape)}, "
            f"{tuple(rows.shape)} and {size}"
        )
    shape = planes.shape[0], *extra, *size
    if math.prod(shape) > COUNT_LIMIT:
        raise BoxpressoError(f"image_size {size} of {shape[0]} masks: kernels count their pixels to 2^31 - 1")
    result, ours = arrays.Results(masks, device).empty(shape, planes.dtype)
    flat = device.part(planes, 0, (planes.shape[0], *planes.shape[-2:]))
    if planes.size:
        paste(device, flat, rows, device.part(ours, 0, (shape[0], *size)), whole=mode == "torchvision")
    else:
        ours[...] = 0
    device.synchronize()
    if threshold is None:
        return result
    return (np.asarray(result) if isinstance(result, Array) else result) >= threshold
