"""The functions for images that scipy.misc had until 2019, by Pillow; old scripts read and resize images with them."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from PIL import Image

from ..data.errors import DataError
from ..data.picture import open_picture

Numpy = np.ndarray[Any, Any]
FILTERS = {
    "nearest": Image.Resampling.NEAREST, "lanczos": Image.Resampling.LANCZOS, "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC, "cubic": Image.Resampling.BICUBIC,
}  # fmt: skip

__all__ = ["bytescale", "fromimage", "imread", "imresize", "imsave", "toimage"]


def bytescale(
    data: Numpy, cmin: float | None = None, cmax: float | None = None, high: int = 255, low: int = 0
) -> Numpy:
    """Numbers as bytes: from `cmin` to `cmax`, by default the smallest and largest, to `low` to `high`; bytes stay."""
    if data.dtype == np.uint8:
        return data
    least = float(data.min() if cmin is None else cmin)
    most = float(data.max() if cmax is None else cmax)
    values = (data - least) * (float(high - low) / ((most - least) or 1)) + low
    return np.asarray(np.clip(values, low, high) + 0.5, np.uint8)


def toimage(arr: Numpy, high: int = 255, low: int = 0, cmin: float | None = None, cmax: float | None = None) -> Any:
    """An array (H, W), (H, W, 3) or (3, H, W) as a Pillow image, through `bytescale`."""
    array = bytescale(np.asarray(arr), cmin, cmax, high, low)
    if array.ndim == 3 and array.shape[2] not in (3, 4) and array.shape[0] in (3, 4):
        array = array.transpose(1, 2, 0)
    return Image.fromarray(np.ascontiguousarray(array))


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Numpy:
    """A Pillow image as an array; with flatten as grey float32."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    return np.array(im.convert("F") if flatten else im)


def imread(name: Union[str, os.PathLike[str], Any], flatten: bool = False, mode: str | None = None) -> Numpy:
    """Reads an image as an array."""
    if not isinstance(name, (str, os.PathLike)):
        with Image.open(name) as image:
            return fromimage(image, flatten, mode)
    try:
        with open_picture(name) as image:
            return fromimage(image, flatten, mode)
    except DataError as error:
        raise DataError(f"cannot read the image {os.fspath(name)}: {error}") from None


def imsave(name: Union[str, os.PathLike[str], Any], arr: Numpy, format: str | None = None) -> None:
    """Writes an array as an image."""
    toimage(arr).save(name, format)


def imresize(arr: Numpy, size: Any, interp: str = "bilinear", mode: str | None = None) -> Numpy:
    """Resizes an image, as bytes; `size` is (height, width), a fraction, or per cent as a whole number."""
    image = toimage(arr) if mode is None else toimage(arr).convert(mode)
    if isinstance(size, (int, np.integer)):
        size = size / 100.0
    if isinstance(size, (float, np.floating)):
        width, height = (int(side * size) for side in image.size)
    else:
        height, width = (int(side) for side in size)
    return fromimage(image.resize((width, height), FILTERS[interp]))
