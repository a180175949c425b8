"""Pictures as arrays: uint8 (height, width, channels), blue, green, red, or one channel of grey, as OpenCV gives them."""

from __future__ import annotations

import io
import math
import mmap
import os
import re
from collections.abc import Sequence
from typing import Any, Union

import numpy as np
from PIL import Image

from ..proto.limits import LIMITS
from ..proto.reading import FilePath, kind_of
from .errors import BrokenRecord, DataError

PictureFile = Union[bytes, FilePath]


# What is read: not all that Pillow knows, which runs another program for some. The first five come with it at once.
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM")
OTHERS = ("TIFF", "WEBP", "JPEG2000", "AVIF", "TGA", "MPO", "DIB", "ICO", "PCX", "SGI", "SUN", "XBM", "QOI")
STRIP = 1 << 20  # bytes of a picture that are copied at a time
MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")  # of a JPEG: not a stuffed zero, a restart or a filler
SOS, EOI = b"\xda", b"\xd9"
SEGMENTS = 100_000  # of a JPEG; one of a camera has some twenty
ORIENTATION = 0x0112  # the tag of EXIF that says how a picture is turned to be shown


def scans_of(data: Union[bytes, mmap.mmap], most: int) -> int:
    """How many scans a JPEG has: the markers SOS outside of other segments, up to EOI; counting ends above `most`.

    Raises
    ------
    DataError for more than SEGMENTS segments.

    Examples
    --------
    >>> import numpy as np
    >>> scans_of(encode(np.zeros((8, 8, 3), np.uint8)), 5)
    1
    """
    at, scans, segments = 2, 0, 0
    while scans <= most:
        marker = MARKER.search(data, at)
        if marker is None or marker[1] == EOI:
            break
        segments += 1
        if segments > SEGMENTS:
            raise DataError(f"a JPEG of more than {SEGMENTS} segments")
        scans += marker[1] == SOS
        at = marker.end() + max(2, int.from_bytes(data[marker.end() : marker.end() + 2], "big"))
    return scans


def check_scans(opened: Image.Image, source: PictureFile) -> None:
    """Raises DataError for a JPEG of more scans than the limits allow. Its pixels are not decoded yet."""
    if opened.format not in ("JPEG", "MPO"):
        return
    pixels = max(1, opened.size[0] * opened.size[1])
    most = min(LIMITS.picture_scans, LIMITS.scanned_pixels // pixels)

    def check(data: Union[bytes, mmap.mmap]) -> None:
        at, seen = 0, 0
        while seen <= most and (at := data.find(b"\xff\xda", at) + 2) > 1:  # no fewer than there are, and found at once
            seen += 1
        if seen <= most or (scans := scans_of(data, most)) <= most:
            return
        name = "picture_scans" if most == LIMITS.picture_scans else "scanned_pixels"
        raise DataError(
            f"a JPEG of {scans} scans or more, each over its {opened.size[0]}x{opened.size[1]} pixels; {LIMITS.advice(name)}"
        )

    if isinstance(source, bytes):
        check(source)
        return
    with open(source, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        check(data)


def open_picture(source: PictureFile, header_alone: bool = False) -> Image.Image:
    """A picture as Pillow opens it, before its pixels are decoded. header_alone: they will not be.

    Raises
    ------
    DataError for one whose header asks for more pixels than its size or the limits allow, a JPEG of more scans than those
    allow, and for what is no regular file; otherwise what Pillow raises.
    """
    if isinstance(source, bytes):
        size = len(source)
    else:
        seen = os.stat(source)
        if kind := kind_of(seen.st_mode):
            raise DataError(f"it is {kind}, not a regular file")
        size = seen.st_size
    default = Image.MAX_IMAGE_PIXELS
    if default is not None and default < LIMITS.picture_pixels:
        Image.MAX_IMAGE_PIXELS = LIMITS.picture_pixels  # Pillow has a limit of its own

    def attempt(formats: Sequence[str]) -> Image.Image:
        try:
            return Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=formats)
        except Image.DecompressionBombError as error:  # of a frame, or a format that says so before it is opened
            raise DataError(f"{error}; {LIMITS.advice('picture_pixels')}") from None

    Image.preinit()  # else Pillow 13 loads one of the five by the file's ending, and all formats that it knows for the next
    try:
        opened = attempt(FORMATS)
    except Image.UnidentifiedImageError:
        Image.init()
        opened = attempt([name for name in OTHERS if name in Image.OPEN])
    pixels = opened.size[0] * opened.size[1]
    wanted = pixels * max(len(opened.getbands()), 3) * (2 if opened.format == "WEBP" else 1)  # its decoder holds two
    if pixels > LIMITS.picture_pixels or wanted > LIMITS.expanded(size):
        name = "picture_pixels" if pixels > LIMITS.picture_pixels else "expansion_factor"
        opened.close()
        raise DataError(
            f"its header says {opened.size[0]}x{opened.size[1]} pixels, {wanted} bytes of a file of {size}; "
            f"{LIMITS.advice(name)}"
        )
    if not header_alone:
        try:
            check_scans(opened, source)
        except DataError:
            opened.close()
            raise
    return opened


def decode(source: PictureFile, color: bool | None = None, name: str = "", labels: bool = False) -> np.ndarray:
    """Decodes a picture.

    EXIF orientation is not applied, as in Caffe, whose annotations are for pixels as they are stored. As OpenCV does it there,
    16 bits become 8, and of a JPEG grey is the brightness that its file holds.

    Parameters
    ----------
    source : a path, or the bytes of a file.
    color : True for three channels, False for grey, None as the file has it.
    name : what to call bytes in errors.
    labels : whether it is a map of labels, whose numbers of 16 bits would be 0 in 8.

    Returns
    -------
    (H, W, 3 or 1), uint8; blue, green, red.

    Raises
    ------
    BrokenRecord that names the file, or `name` for bytes; also for labels in 16 bits.

    Examples
    --------
    >>> import numpy as np
    >>> decode(encode(np.full((2, 3, 3), 7, np.uint8), "PNG"))[0, 0].tolist()
    [7, 7, 7]
    """
    name = name or ("the picture" if isinstance(source, bytes) else os.fspath(source))
    try:
        with open_picture(source) as opened:
            if color is None:
                color = opened.mode not in ("1", "L", "LA", "La", "F") and not opened.mode.startswith("I")
            mode = "RGB" if color else "L"
            opened.draft(mode, None)  # a JPEG is decoded to its brightness alone
            opened.load()
            deep = opened.mode[0] in "IF"
            if deep and labels:
                raise DataError("its labels have 16 bits, of which Caffe reads the upper half; save it with 8 bits")
            if deep:
                return np.repeat(upper_halves(opened)[..., None], len(mode), axis=2)
            return from_pillow(opened if opened.mode == mode else opened.convert(mode))  # convert would copy
    except FileNotFoundError:
        raise BrokenRecord(f"there is no picture {name}") from None
    except Image.UnidentifiedImageError:
        raise BrokenRecord(f"{name} is not an image that Pillow can read (JPEG, PNG, BMP, WebP ..)") from None
    except Exception as error:  # decoders raise all kinds, from SyntaxError to struct.error, on a broken file
        raise BrokenRecord(f"cannot read the picture {name}: {error or type(error).__name__}") from error


def upper_halves(image: Image.Image) -> np.ndarray:
    """The upper 8 bits of a grey image of 16, of Pillow's modes I, I;16 and their like, (H, W), as OpenCV takes them.
    Pillow's own conversion cuts all above 255.

    Raises
    ------
    DataError for numbers outside 0 to 65535, and for floating-point numbers.

    Examples
    --------
    >>> import numpy as np
    >>> upper_halves(Image.fromarray(np.array([[255, 256, 65535]], np.uint16))).tolist()
    [[0, 1, 255]]
    """
    if image.mode == "F":
        raise DataError("it holds floating-point numbers, whose white is not known; save it with 8 or 16 bits")
    upper, rows = np.empty((image.height, image.width), np.uint8), max(1, STRIP // max(1, 4 * image.width))
    for top in range(0, image.height, rows):  # in strips: Pillow copies bytes twice
        values = np.asarray(image.crop((0, top, image.width, min(top + rows, image.height))))
        if values.min() < 0 or values.max() > 65535:
            low, high = np.asarray(image).min(), np.asarray(image).max()
            raise DataError(f"it has numbers from {low} to {high}; save it with 8 or 16 bits")
        upper[top : top + rows] = values >> 8
    return upper


def read_numbers(source: PictureFile, name: str = "") -> np.ndarray:
    """The numbers that a picture of one channel holds, as they are stored: of a palette the indices, of 16 bits all of them.

    Parameters
    ----------
    source : a path, or the bytes of a file.
    name : what to call bytes in errors.

    Returns
    -------
    (H, W), of whole numbers.

    Raises
    ------
    BrokenRecord that names the file, or `name` for bytes, for a file that is none or a picture of several channels.

    Examples
    --------
    >>> import numpy as np
    >>> read_numbers(encode(np.full((1, 2, 1), 7, np.uint8), "PNG")).tolist()
    [[7, 7]]
    """
    name = name or ("the picture" if isinstance(source, bytes) else os.fspath(source))
    try:
        with open_picture(source) as opened:
            mode = opened.mode
            values = np.array(opened) if mode in ("1", "L", "P", "I") or mode.startswith("I;16") else None
    except FileNotFoundError:
        raise BrokenRecord(f"there is no picture {name}") from None
    except Image.UnidentifiedImageError:
        raise BrokenRecord(f"{name} is not an image that Pillow can read (PNG, BMP, TIFF ..)") from None
    except Exception as error:  # as in decode
        raise BrokenRecord(f"cannot read the picture {name}: {error or type(error).__name__}") from error
    if values is None:
        raise BrokenRecord(f"{name} must hold one number for each pixel (grey or a palette), it is a picture of {mode}")
    return values.astype(np.uint8) if values.dtype == bool else values


def size_of(source: PictureFile, name: str = "") -> tuple[int, int]:
    """(width, height) of a picture as it is shown, after its EXIF turn, from the header of its file.

    Raises BrokenRecord for a file that is none.

    Examples
    --------
    >>> import numpy as np
    >>> size_of(encode(np.zeros((2, 3, 1), np.uint8)))
    (3, 2)
    """
    try:
        with open_picture(source, header_alone=True) as opened:
            width, height = opened.size
            return (int(height), int(width)) if orientation_of(opened) > 4 else (int(width), int(height))
    except Exception as error:
        raise BrokenRecord(f"cannot read the picture {name or source!r}: {error}") from error


def orientation_of(opened: Image.Image) -> int:
    """EXIF's orientation of a picture that is open, 1 to 8; 1 where nothing turns it."""
    if opened.format == "TIFF":  # Pillow has turned it
        return 1
    if opened.format == "PNG" and not opened.info.keys() & {"exif", "XML:com.adobe.xmp"}:  # else it decodes the pixels
        return 1
    try:
        value = opened.getexif().get(ORIENTATION, 1)
    except Exception:  # what is broken there turns nothing
        return 1
    return int(value) if value in range(1, 9) else 1


def upright(picture: np.ndarray, orientation: int) -> np.ndarray:
    """A picture (H, W, C) turned as EXIF's orientation says.

    Examples
    --------
    >>> import numpy as np
    >>> upright(np.array([[[1], [2]]]), 6)[..., 0].tolist()
    [[1], [2]]
    """
    if orientation > 4:
        picture = picture.swapaxes(0, 1)
    rows, columns = (slice(None, None, -1 if orientation in kinds else 1) for kinds in ((3, 4, 7, 8), (2, 3, 6, 7)))
    return np.ascontiguousarray(picture[rows, columns])


def decode_annotated(
    path: FilePath, color: bool | None = None, expect: tuple[int, int] | None = None
) -> tuple[np.ndarray, bool]:
    """A picture in the pixels that its annotation counts, and whether it was turned for that.

    Programs for labelling show a picture turned as its EXIF orientation says, so that boxes are of the turned one; those of an
    annotation that gives the size of the stored one, where the two differ, are of that.

    Parameters
    ----------
    expect : the (width, height) that the annotation says, or None.

    Raises
    ------
    BrokenRecord that names the file, also for one of another size.
    """
    picture = decode(path, color)
    stored = picture.shape[1], picture.shape[0]
    with open_picture(path, header_alone=True) as opened:
        orientation = orientation_of(opened)
    shown = stored[::-1] if orientation > 4 else stored
    if expect is not None and expect not in (shown, stored):
        raise BrokenRecord(f"{os.fspath(path)} is {shown[0]}x{shown[1]}, its annotation says {expect[0]}x{expect[1]}")
    if orientation == 1 or (expect is not None and expect != shown):
        return picture, False
    return upright(picture, orientation), True


def encode(picture: np.ndarray, format: str = "JPEG", quality: int = 95) -> bytes:
    """Encodes a picture as the bytes of a file.

    Parameters
    ----------
    format : Pillow's name, such as JPEG or PNG. quality : of JPEG and WEBP.

    Examples
    --------
    >>> import numpy as np
    >>> encode(np.zeros((2, 3, 1), np.uint8), "PNG")[1:4]
    b'PNG'
    """
    to = io.BytesIO()
    to_pillow(picture).save(to, format, **({"quality": quality} if format.upper() in ("JPEG", "WEBP") else {}))
    return to.getvalue()


def from_pillow(image: Any) -> np.ndarray:
    """A Pillow image of mode RGB or L as a picture."""
    if image.mode == "L":
        return np.asarray(image)[..., None]
    rows = max(1, STRIP // max(1, image.width * 3))
    if image.height <= rows:
        return np.frombuffer(image.tobytes("raw", "BGR"), np.uint8).reshape(image.height, image.width, 3)
    picture = np.empty((image.height, image.width, 3), np.uint8)
    for top in range(0, image.height, rows):  # in strips: Pillow's bytes of a whole picture are there twice for a while
        strip = image.crop((0, top, image.width, min(top + rows, image.height)))
        picture[top : top + rows] = np.frombuffer(strip.tobytes("raw", "BGR"), np.uint8).reshape(-1, image.width, 3)
    return picture


def to_pillow(picture: np.ndarray) -> Any:
    """A picture as a Pillow image of mode RGB or L."""
    if picture.shape[2] == 1:
        return Image.fromarray(picture[..., 0])
    size = picture.shape[1], picture.shape[0]
    return Image.frombuffer("RGB", size, np.ascontiguousarray(picture), "raw", "BGR", 0, 1)


def resize(picture: np.ndarray, width: int, height: int, mode: str = "LINEAR") -> np.ndarray:
    """Resizes a picture (H, W, C) to (height, width, C).

    Parameters
    ----------
    mode : LINEAR interpolates between pixel centres, without smoothing before shrinking, as OpenCV's; NEAREST takes the pixel
        at floor(x * scale), as OpenCV's; AREA the mean of the pixels covered, or where an axis grows the part of two that a
        pixel covers along each, as OpenCV's; CUBIC and LANCZOS4 are Pillow's kernels, whose values differ from OpenCV's.

    Raises
    ------
    DataError: another mode; other modes than NEAREST for other pictures than bytes of 1 or 3 channels.

    Examples
    --------
    >>> import numpy as np
    >>> resize(np.array([[[0], [4]]], np.uint8), 4, 1)[0, :, 0].tolist()
    [0, 1, 3, 4]
    """
    rows, columns, channels = picture.shape
    if mode != "NEAREST" and (picture.dtype != np.uint8 or channels not in (1, 3)):
        raise DataError(f"only bytes of 1 or 3 channels can be resized, got {picture.dtype} of {channels}; use NEAREST")
    if (rows, columns) == (height, width):
        return picture
    if mode == "NEAREST":
        y = (np.arange(height) * (1 / (height / rows))).astype(np.intp)  # rounded twice, as there
        x = (np.arange(width) * (1 / (width / columns))).astype(np.intp)
        return np.asarray(picture[np.minimum(y, rows - 1)[:, None], np.minimum(x, columns - 1)])
    if mode == "LINEAR" or (mode == "AREA" and (height > rows or width > columns)):
        values = bilinear(picture, width, height, covers=mode == "AREA")
        return np.asarray(np.rint(values, out=values), np.uint8)
    if mode == "AREA":
        values = means(means(picture, height, 0), width, 1)
        halves = (rows, columns) == (
            2 * height,
            2 * width,
        )  # there OpenCV adds four integers, and rounds up what lies between
        return np.asarray(np.floor(values + np.float32(0.5)) if halves else np.rint(values), np.uint8)
    image, method = to_pillow(picture), Image.Resampling
    if mode == "LANCZOS4":
        return from_pillow(image.resize((width, height), method.LANCZOS))
    if mode == "CUBIC":
        places = (columns / width, 0, 0, 0, rows / height, 0)
        return from_pillow(image.transform((width, height), Image.Transform.AFFINE, places, method.BICUBIC))
    raise DataError(f"resize knows LINEAR, AREA, NEAREST, CUBIC and LANCZOS4, not {mode!r}")


def means(array: np.ndarray, count: int, axis: int) -> np.ndarray:
    """`count` means along an axis, of parts of one length. An element that lies in two of them counts for both, as far as it
    lies there.

    Examples
    --------
    >>> means(np.array([3, 6, 0]), 2, 0).round(3).tolist()
    [4.0, 2.0]
    """
    size = array.shape[axis]
    if count == size:
        return array
    starts = np.arange(count + 1) * (size / count)
    first = starts[:-1].astype(np.intp)
    shape = tuple(-1 if i == axis else 1 for i in range(array.ndim))
    sums = np.zeros(())
    for i in range(math.ceil(size / count) + 1):  # as many elements as a part may touch
        at = first + i
        share = np.clip(np.minimum(starts[1:], at + 1) - np.maximum(starts[:-1], at), 0, 1) * (count / size)
        values = array.take(np.minimum(at, size - 1), axis).astype(np.float32, copy=False)
        values *= share.astype(np.float32).reshape(shape)
        sums = values if i == 0 else np.add(sums, values, out=sums)
    return sums


def bilinear(
    array: np.ndarray, width: int, height: int, factors: tuple[float, float] | None = None, covers: bool = False
) -> np.ndarray:
    """Resizes by bilinear interpolation between pixel centres; first the rows, then the columns.

    Nothing is smoothed before shrinking, as in OpenCV's INTER_LINEAR that Caffe uses: nets have learned from such images.

    Parameters
    ----------
    array : (H, W, C), of any dtype.
    factors : how many times wider and higher it gets, where width and height are those sizes, rounded; None: width / W and
        height / H.
    covers : whether two pixels count by how much of each a new one covers, as OpenCV's INTER_AREA has it where an axis grows.

    Returns
    -------
    (height, width, C), float32.

    Examples
    --------
    >>> import numpy as np
    >>> bilinear(np.array([[[0], [4]]], np.uint8), 4, 1)[0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    """

    def places(count: int, size: int, factor: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if covers:
            grown, new = count / size, np.arange(count)
            first = np.minimum((new * (1 / grown)).astype(np.intp), size - 1)
            part = np.maximum(new + 1 - (first + 1) * grown, 0).astype(np.float32)
            return first, np.minimum(first + 1, size - 1), part - np.floor(part)
        at = np.clip((np.arange(count) + 0.5) * (1 / factor if factor else size / count) - 0.5, 0, size - 1)
        first = at.astype(np.intp)
        return first, np.minimum(first + 1, size - 1), (at - first).astype(np.float32)

    top, bottom, down = places(height, array.shape[0], factors[1] if factors else None)
    left, right, across = places(width, array.shape[1], factors[0] if factors else None)
    rows = array[top].astype(np.float32)
    rows += (array[bottom] - rows) * down[:, None, None]
    output: np.ndarray = rows[:, left]
    output += (rows[:, right] - output) * across[:, None]
    return output


def pad(picture: np.ndarray, top: int, bottom: int, left: int, right: int, mode: str, value: np.ndarray) -> np.ndarray:
    """A border around a picture. mode: CONSTANT of `value` (channels,), MIRRORED without the edge twice, REPEAT_NEAREST."""
    around = ((top, bottom), (left, right), (0, 0))
    if mode == "MIRRORED" and min(picture.shape[:2]) > 1:
        return np.pad(picture, around, mode="reflect")
    if mode in ("MIRRORED", "REPEAT_NEAREST"):
        return np.pad(picture, around, mode="edge")
    height, width, channels = picture.shape
    padded = np.empty((height + top + bottom, width + left + right, channels), picture.dtype)
    row = np.clip(np.rint(np.broadcast_to(value, channels)), 0, 255).astype(picture.dtype)
    padded.reshape(padded.shape[0], -1)[:] = np.tile(row, padded.shape[1])  # whole rows: many times faster than pixels
    padded[top : top + height, left : left + width] = picture
    return padded


def short_side(width: int, height: int, short: float, longest: float) -> float:
    """The factor that makes the shorter side `short`, or less so that the longer side is `longest` at most; NaN without pixels.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN).

    Examples
    --------
    >>> short_side(500, 375, 600, 1000), short_side(1000, 100, 600, 1000)
    (1.6, 1.0)
    """
    return min(short / min(width, height), longest / max(width, height)) if width and height else math.nan
