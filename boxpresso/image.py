"""Pictures: read from any file, and converted to the input of a net in Caffe's convention."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data.image import ImageLike, as_image, as_pixels, read_image
from .data.inputs import Mean, input_values, mean_array, resize

__all__ = ["ImageLike", "Mean", "as_image", "input_array", "mean_array", "read_image", "resize"]

Numpy = np.ndarray[Any, Any]


def input_array(
    image: ImageLike,
    channels: int,
    width: int,
    height: int,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    factors: tuple[float, float] | None = None,
) -> Numpy:
    """Converts a picture to the input of a net: (pixel - mean) * scale, with pixels from 0 to 255.

    Parameters
    ----------
    image
        A path, a Pillow image, or a uint8 array in RGB order.
    channels
        1 for grey; 3 for blue, green, red, or with `swap_rb` red, green, blue.
    width, height
        Of the result, in pixels.
    mean
        One number, one for each channel in the order of the net's channels, an array (channels, H, W), or the path of a
        .binaryproto or .npy with one; a mean picture of another size is resized.
    factors
        The exact enlargement across and down, where width and height are rounded.

    Returns
    -------
    numpy.ndarray
        float32 of shape (1, channels, height, width).

    Raises
    ------
    ModelError
        For a mean or a number of channels that does not fit.
    BoxpressoError
        For a picture that cannot be read.

    Examples
    --------
    >>> red = np.full((4, 4, 3), (255, 0, 0), np.uint8)
    >>> input_array(red, 3, 2, 2, mean=(0, 0, 5))[0, :, 0, 0]
    array([  0.,   0., 250.], dtype=float32)
    """
    pixels = as_pixels(image)
    return input_values(pixels, channels, width, height, mean=mean, scale=scale, swap_rb=swap_rb, factors=factors)
