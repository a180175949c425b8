"""Pictures: read from any file, and converted to the input of a net in Caffe's convention."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from PIL import Image, ImageOps
from PIL.Image import Image as PillowImage

from .data.inputs import Mean, input_values, mean_array, resize
from .data.picture import open_picture
from .proto.errors import BoxpressoError
from .proto.reading import FilePath

__all__ = ["ImageLike", "Mean", "as_image", "input_array", "mean_array", "read_image", "resize"]

Numpy = np.ndarray[Any, Any]
ImageLike = Union[FilePath, PillowImage, Numpy]  # a path, a Pillow image, or an array in RGB order


def read_image(path: FilePath) -> PillowImage:
    """Reads a picture.

    Palettes and CMYK become RGB, 16 bits become 8, transparency is dropped as in Caffe and OpenCV; of an animation the first
    frame is read.

    Parameters
    ----------
    path
        A file of any format that Pillow reads.

    Returns
    -------
    PIL.Image.Image
        Of mode "L" (grey) or "RGB", turned as its EXIF orientation says.

    Raises
    ------
    BoxpressoError
        Names the file when it cannot be read or is not an image.
    """
    name = os.fspath(path)
    if os.path.isdir(path):
        raise BoxpressoError(f"{name} is a folder; name the pictures in it")
    try:
        with open_picture(path) as opened:
            ImageOps.exif_transpose(opened, in_place=True)  # else it copies what need not be turned
            return _eight_bits(opened, name)
    except BoxpressoError as error:
        raise error if name in str(error) else BoxpressoError(f"cannot read the picture {name}: {error}") from None
    except FileNotFoundError:
        raise BoxpressoError(f"there is no picture {name}") from None
    except Image.UnidentifiedImageError:
        raise BoxpressoError(f"{name} is not an image that Pillow can read (JPEG, PNG, BMP, WebP, TIFF ..)") from None
    except Exception as error:  # decoders raise all kinds, from SyntaxError to struct.error, on a broken file
        what = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BoxpressoError(f"cannot read the picture {name}: {what}") from error


def as_image(image: ImageLike) -> PillowImage:
    """A path, a Pillow image or an array (H, W), (H, W, 1), (H, W, 3 or 4; RGB order) of uint8, as Pillow's "L" or "RGB"."""
    if isinstance(image, (str, os.PathLike)):
        return read_image(image)
    if isinstance(image, Image.Image):
        return _eight_bits(image, "the image")
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if (
        array.dtype != np.uint8
        or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4)))
        or not array.size
    ):
        raise BoxpressoError(
            f"an image must be a path, a Pillow image, or a uint8 array (H, W) or (H, W, 3) in RGB order, got "
            f"{array.dtype} of shape {array.shape}"
        )
    return Image.fromarray(np.ascontiguousarray(array[..., :3] if array.ndim == 3 else array))


def _eight_bits(image: PillowImage, name: str) -> PillowImage:
    """Any of Pillow's modes as "L" or "RGB"."""
    if image.mode in ("L", "RGB"):
        image.load()
        return image
    if image.mode in ("1", "LA", "La"):
        return image.convert("L")
    if image.mode.startswith("I"):  # 16 bits; Pillow's own conversion would cut all above 255
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 65535:
            raise BoxpressoError(f"{name} has numbers from {values.min()} to {values.max()}; save it with 8 or 16 bits")
        bytes_ = np.empty(values.shape, np.uint8)
        for row, line in zip(bytes_, values):
            row[:] = (line.astype(np.int64) * 255 + 32767) // 65535
        return Image.fromarray(bytes_)
    if image.mode == "F":
        raise BoxpressoError(
            f"{name} holds floating-point numbers, whose white is not known; save it with 8 or 16 bits"
        )
    return image.convert("RGB")


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
    pixels = np.asarray(as_image(image))
    return input_values(pixels, channels, width, height, mean=mean, scale=scale, swap_rb=swap_rb, factors=factors)
