"""Pictures of a user: whatever holds one, as a Pillow image of 8 bits."""

from __future__ import annotations

import os
import re
from typing import IO, Any, Union

import numpy as np
from PIL import Image, ImageOps
from PIL.Image import Image as PillowImage

from ..proto.errors import BoxpressoError
from ..proto.reading import FilePath
from .errors import DataError
from .picture import open_picture, upper_halves

Numpy = np.ndarray[Any, Any]
ImageLike = Union[FilePath, bytes, IO[bytes], PillowImage, Numpy, Any]
ADDRESS = re.compile("https?://", re.IGNORECASE)
SECONDS, DOWNLOADED = 30, 64 << 20  # of a picture's address: how long it may be silent, and how many bytes it may have


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
    if is_address(name):
        return read_bytes(download(name), name)
    if os.path.isdir(path):
        raise BoxpressoError(f"{name} is a folder; name the pictures in it")
    return _read(path, name)


def read_annotated(path: FilePath, size: tuple[int, int]) -> PillowImage:
    """The picture of an annotation that gives its size: as it is shown, else as it is stored; see `picture.decode_annotated`.

    Raises BoxpressoError for one that cannot be read or has another size.
    """
    picture = read_image(path)
    if picture.size == size:
        return picture
    stored = _read(path, os.fspath(path), turn=False) if picture.size == size[::-1] else picture
    if stored.size != size:
        raise DataError(
            f"{os.fspath(path)} is {picture.width}x{picture.height}, its annotation is of {size[0]}x{size[1]}"
        )
    return stored


def read_bytes(data: bytes, name: str = "the picture") -> PillowImage:
    """Reads a picture from the bytes of its file, as `read_image` does; errors call it `name`.

    >>> from boxpresso.data.picture import encode
    >>> read_bytes(encode(np.zeros((2, 3, 1), np.uint8), "PNG")).size
    (3, 2)
    """
    return _read(data, name)


def _read(source: FilePath | bytes, name: str, turn: bool = True) -> PillowImage:
    """The picture of a file or of its bytes."""
    try:
        with open_picture(source) as opened:
            if turn:
                ImageOps.exif_transpose(opened, in_place=True)  # else it copies what need not be turned
            return eight_bits(opened, name)
    except BoxpressoError as error:
        raise error if name in str(error) else BoxpressoError(f"cannot read the picture {name}: {error}") from None
    except FileNotFoundError:
        raise BoxpressoError(f"there is no picture {name}") from None
    except Image.UnidentifiedImageError:
        raise BoxpressoError(f"{name} is not an image that Pillow can read (JPEG, PNG, BMP, WebP, TIFF ..)") from None
    except Exception as error:  # decoders raise all kinds, from SyntaxError to struct.error, on a broken file
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BoxpressoError(f"cannot read the picture {name}: {reason}") from error


def is_address(name: object) -> bool:
    """Whether a name is an address on the web.

    >>> is_address("https://example.org/street.jpg"), is_address("street.jpg")
    (True, False)
    """
    return isinstance(name, str) and ADDRESS.match(name) is not None


def download(address: str) -> bytes:
    """The bytes at an address on the web. Raises BoxpressoError that names it."""
    from http.client import HTTPException
    from urllib.request import Request, urlopen  # slow to import

    request = Request(address, headers={"User-Agent": "boxpresso"})
    try:
        with urlopen(request, timeout=SECONDS) as answer:
            data: bytes = answer.read(DOWNLOADED + 1)
    except (OSError, HTTPException, ValueError) as error:  # URLError and HTTPError are OSErrors
        raise BoxpressoError(f"cannot read the picture {address}: {getattr(error, 'reason', None) or error}") from None
    if len(data) > DOWNLOADED:
        raise BoxpressoError(f"the picture {address} has more than {DOWNLOADED >> 20} MiB")
    return data


def as_image(image: ImageLike) -> PillowImage:
    """A picture of any kind as Pillow's "L" or "RGB".

    Parameters
    ----------
    image
        A path; an address (https://..); the bytes of a file, or a file that is open in binary mode; a Pillow image; an array
        (H, W), (H, W, 1) or (H, W, 3 or 4) of uint8 in RGB order (OpenCV's is BGR: pass `array[..., ::-1]`); or a torch
        tensor (H, W, C) or (C, H, W), of uint8, or of floats from 0 to 1 as torchvision's.

    Raises
    ------
    BoxpressoError
        For what is none of these, or cannot be read.

    Examples
    --------
    >>> as_image(np.zeros((2, 3, 3), np.uint8)).size
    (3, 2)
    """
    if isinstance(image, (str, os.PathLike)):
        return read_image(image)
    if isinstance(image, (bytes, bytearray, memoryview)):
        return read_bytes(bytes(image))
    if isinstance(image, Image.Image):
        return eight_bits(image, "the image")
    if hasattr(image, "read"):
        data = image.read()
        if not isinstance(data, bytes):
            raise BoxpressoError("a file with a picture must be open in binary mode, open(path, 'rb')")
        return read_bytes(data, str(getattr(image, "name", "the picture")))
    return Image.fromarray(of_array(image))


def as_pixels(image: ImageLike) -> Numpy:
    """What `as_image` takes, as pixels (H, W) or (H, W, 3), uint8 in RGB order; an array is not copied.

    >>> as_pixels(np.zeros((2, 3, 4), np.uint8)).shape
    (2, 3, 3)
    """
    known = isinstance(image, (str, os.PathLike, bytes, bytearray, memoryview, Image.Image)) or hasattr(image, "read")
    return np.asarray(as_image(image)) if known else of_array(image)


def of_array(image: Any) -> Numpy:
    """An array or a tensor of a picture as (H, W) or (H, W, 3). Raises BoxpressoError for what is none."""
    array = of_tensor(image) if hasattr(image, "detach") else np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if (
        array.dtype != np.uint8
        or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4)))
        or not array.size
    ):
        raise BoxpressoError(
            f"an image must be a path, an address, bytes or an open file, a Pillow image, or a uint8 array (H, W) or "
            f"(H, W, 3) in RGB order, got {array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array[..., :3] if array.ndim == 3 else array)


def of_tensor(tensor: Any) -> Numpy:
    """A torch tensor of a picture as an array (H, W) or (H, W, C): channels first are put last, and floats from 0 to 1 become
    bytes. Raises BoxpressoError for other numbers."""
    array = np.asarray(tensor.detach().cpu())
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = array.transpose(1, 2, 0)
    if array.dtype.kind == "f" and array.size:
        low, high = float(array.min()), float(array.max())
        if not (low >= 0 and high <= 1):
            raise BoxpressoError(
                f"a tensor of floats must have values from 0 to 1, got {low:g} to {high:g}: pass the picture before it is "
                "normalised"
            )
        array = (array * 255).round().astype(np.uint8)
    return array


def eight_bits(image: PillowImage, name: str) -> PillowImage:
    """Any of Pillow's modes as "L" or "RGB"."""
    if image.mode in ("L", "RGB"):
        image.load()
        return image
    if image.mode in ("1", "LA", "La"):
        return image.convert("L")
    if image.mode[0] in "IF":  # 16 bits, or more
        try:
            return Image.fromarray(upper_halves(image))
        except DataError as error:
            raise BoxpressoError(f"cannot read the picture {name}: {error}") from None
    return image.convert("RGB")
