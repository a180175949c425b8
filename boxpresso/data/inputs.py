"""From pixels to the input of a net in Caffe's convention: (pixel - mean) * scale, blue first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from ..proto.binary import read_mean
from ..proto.errors import ModelError
from .picture import bilinear

Numpy = np.ndarray[Any, Any]
Mean = Union[None, float, Sequence[float], Numpy, str, "os.PathLike[str]"]


def resize(array: Numpy, width: int, height: int, factors: tuple[float, float] | None = None) -> Numpy:
    """(H, W, C) to (height, width, C), float32, bilinear between pixel centres.

    There is no smoothing before shrinking, as in OpenCV's INTER_LINEAR that Caffe uses: nets were trained on such pictures.
    factors: the exact enlargement across and down, where the sizes are rounded; by default the ratio of the sizes.
    """
    return bilinear(array, width, height, factors)


def channels_of(pixels: Numpy, channels: int, swap_rb: bool = False) -> Numpy:
    """Pixels (H, W) or (H, W, 3) in RGB order as (H, W, channels): grey, blue first, or with `swap_rb` red first.

    Raises ModelError for other channels than 1 and 3.
    """
    if channels not in (1, 3):
        raise ModelError(f"a picture has 1 or 3 channels, the net's input has {channels}")
    if channels == 1:
        if pixels.ndim == 3:  # as Pillow does: 19595, 38470 and 7471 of 65536
            weighted = pixels.astype(np.uint32) @ np.array([19595, 38470, 7471], np.uint32)
            pixels = ((weighted + 0x8000) >> 16).astype(np.uint8)
        return pixels[:, :, None]
    if pixels.ndim == 2:
        return np.repeat(pixels[:, :, None], 3, axis=2)
    return pixels if swap_rb else pixels[:, :, ::-1]


def input_values(
    pixels: Numpy,
    channels: int,
    width: int,
    height: int,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    factors: tuple[float, float] | None = None,
) -> Numpy:
    """Converts pixels (H, W) or (H, W, 3), uint8 in RGB order, to the input of a net; see `boxpresso.image.input_array`."""
    values = resize(channels_of(pixels, channels, swap_rb), width, height, factors).transpose(2, 0, 1)
    if mean is not None:
        values = values - mean_array(mean, channels, width, height)
    return np.ascontiguousarray(values * np.float32(scale))[None]


def mean_array(mean: Mean, channels: int, width: int, height: int) -> Numpy:
    """What to subtract, float32 of shape (channels or 1, height or 1, width or 1)."""
    source = f"the mean {os.fspath(mean)}" if isinstance(mean, (str, os.PathLike)) else "the mean"
    array = np.asarray(read_mean(mean) if isinstance(mean, (str, os.PathLike)) else mean, np.float32)
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.ndim not in (0, 1, 3) or (array.ndim and array.shape[0] not in (1, channels)):
        raise ModelError(
            f"{source} has the shape {array.shape}, but the net's input has {channels} channel{'s' * (channels > 1)}: give one "
            "number, or one for each channel"
        )
    if not array.size:
        raise ModelError(f"{source} has the shape {array.shape}, without a number: give a mean picture with pixels")
    if not np.isfinite(array).all():
        raise ModelError(f"{source} has numbers that are not finite, and so would have all pictures: make it anew")
    if array.ndim < 3:
        return array.reshape(-1, 1, 1)
    if array.shape[1:] not in ((1, 1), (height, width)):
        array = resize(array.transpose(1, 2, 0), width, height).transpose(2, 0, 1)
    return array
