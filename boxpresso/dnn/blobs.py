"""Images to the input of a net, as cv2.dnn.blobFromImage: resized, cropped, mean subtracted, scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from ..proto.errors import BoxpressoError
from .constants import (
    CV_8U,
    CV_32F,
    DNN_LAYOUT_NCHW,
    DNN_LAYOUT_NHWC,
    DNN_PMODE_CROP_CENTER,
    DNN_PMODE_LETTERBOX,
    DNN_PMODE_NULL,
)
from .errors import opencv_errors

Numpy = np.ndarray[Any, Any]
Scalar = Union[float, Sequence[float]]
UNIT = np.float32(2048)  # weights of the bilinear interpolation of bytes are whole numbers of this


@opencv_errors
def blobFromImage(
    image: Numpy,
    scalefactor: Scalar | None = 1.0,
    size: Sequence[int] | None = (0, 0),
    mean: Scalar | None = (),
    swapRB: bool | None = False,
    crop: bool | None = False,
    ddepth: int | None = CV_32F,
) -> Numpy:
    """An image as the input of a net: (pixel - mean) * scalefactor. None stands for a default, as in OpenCV.

    Parameters
    ----------
    image
        (H, W), (H, W, 1), (H, W, 3) or (H, W, 4), uint8 or float32; blue first, as OpenCV reads.
    scalefactor
        A number, or one for each channel.
    size
        (width, height) of the result; (0, 0) keeps the image's.
    mean
        What is subtracted, for each channel of the result: red, green, blue with swapRB.
    swapRB
        Whether the first and the third channel change places.
    crop
        Whether the image keeps its proportions and is cropped at the centre; else it is stretched.
    ddepth
        CV_32F, or CV_8U for bytes, which have no mean and no scale.

    Returns
    -------
    numpy.ndarray
        (1, C, height, width).

    Raises
    ------
    BoxpressoError
        For an image, a size or a mean that does not fit.

    Source
    ------
    OpenCV 4.12. Bytes are resized in whole numbers, so that results are bitwise OpenCV's.

    Examples
    --------
    >>> blobFromImage(np.full((4, 4, 3), (1, 2, 3), np.uint8), 2.0, (2, 2), (3, 2, 0), swapRB=True)[0, :, 0, 0]
    array([0., 0., 2.], dtype=float32)
    """
    return blobFromImages([image], scalefactor, size, mean, swapRB, crop, ddepth)


@opencv_errors
def blobFromImages(
    images: Sequence[Numpy],
    scalefactor: Scalar | None = 1.0,
    size: Sequence[int] | None = (0, 0),
    mean: Scalar | None = (),
    swapRB: bool | None = False,
    crop: bool | None = False,
    ddepth: int | None = CV_32F,
) -> Numpy:
    """`blobFromImage` of several images: (N, C, height, width). Without a size the first image's counts."""
    scale = tuple(scalar(1.0 if scalefactor is None else scalefactor, None, "scalefactor"))
    size, mean = (0, 0) if size is None else size, () if mean is None else mean
    ddepth = CV_32F if ddepth is None else ddepth
    params = Image2BlobParams(
        scale, size, mean, bool(swapRB), ddepth, paddingmode=DNN_PMODE_CROP_CENTER if crop else DNN_PMODE_NULL
    )
    return blobFromImagesWithParams(images, params)


SCALARS = ("scalefactor", "mean", "borderValue")


@opencv_errors
@dataclass
class Image2BlobParams:
    """The parameters of blobFromImageWithParams, in OpenCV's order.

    scalefactor, mean and borderValue become tuples of four numbers, for each channel, where those that are missing are 0: as
    in OpenCV, one number is that of the first channel alone. A sequence that is assigned later leaves those as they were
    that it does not have.

    >>> params = Image2BlobParams((2.0, 3.0, 4.0), mean=(1, 2, 3))
    >>> params.mean = (5,)
    >>> params.scalefactor, params.mean
    ((2.0, 3.0, 4.0, 0.0), (5.0, 2.0, 3.0, 0.0))
    """

    scalefactor: Scalar = (1.0, 1.0, 1.0, 1.0)
    size: Sequence[int] = (0, 0)
    mean: Scalar = ()
    swapRB: bool = False
    ddepth: int = CV_32F
    datalayout: int = DNN_LAYOUT_NCHW
    paddingmode: int = DNN_PMODE_NULL
    borderValue: Scalar = 0.0

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SCALARS:
            before = self.__dict__.get(name, ()) if np.ndim(value) else ()
            four = scalar(value, 0.0, name).tolist()
            value = (*four[: np.size(value)], *(before or four)[np.size(value) :])
        object.__setattr__(self, name, value)

    def blobRectToImageRect(self, rBlob: Sequence[float], size: Sequence[int]) -> tuple[int, int, int, int]:
        """A box (x, y, width, height) of the blob's pixels in those of an image of that size, (width, height).

        >>> Image2BlobParams(size=(300, 300)).blobRectToImageRect((10, 20, 30, 40), (640, 480))
        (21, 32, 64, 64)
        """
        x, y, width, height = self.blobRectsToImageRects([rBlob], size)[0].tolist()
        return x, y, width, height

    def blobRectsToImageRects(self, rBlob: Any, size: Sequence[int]) -> Numpy:
        """The same for several boxes, (N, 4), int32; numbers are cut off behind the point, as in OpenCV.

        Raises
        ------
        BoxpressoError
            For boxes that are not (N, 4), and without a `size` of the blob.
        """
        boxes = np.asarray(rBlob, np.float64)
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise BoxpressoError(f"blobRectsToImageRects takes boxes (N, 4), got shape {boxes.shape}")
        blob, image = np.array(self.size, np.float32), np.array(size, np.float32)
        if not blob.all():
            raise BoxpressoError("blobRectsToImageRects needs the size of the blob: params.size = (width, height)")
        if self.paddingmode not in (DNN_PMODE_CROP_CENTER, DNN_PMODE_LETTERBOX):
            return np.asarray(np.trunc(boxes.astype(np.float32) * np.tile(image, 2) / np.tile(blob, 2)), np.int32)
        whole = self.paddingmode == DNN_PMODE_LETTERBOX
        factor = (blob / image).min() if whole else (blob / image).max()
        if whole:  # in float, as OpenCV
            start = np.tile((blob.astype(int) - (image * factor).astype(int)) // 2, 2) * (1, 1, 0, 0)
            return np.asarray(np.trunc((boxes - start).astype(np.float32) / factor), np.int32)
        places = (boxes[:, :2] + 0.5 * (image * factor - blob).astype(np.float64)) / float(factor)  # in double
        sides = boxes[:, 2:].astype(np.float32) / factor
        return np.asarray(np.trunc(np.concatenate([places, sides], 1)), np.int32)


@opencv_errors
def blobFromImageWithParams(image: Numpy, blob: Any = None, param: Image2BlobParams | None = None) -> Numpy:
    """`blobFromImage` with the choice of a layout, and of letterboxes; `blob` is as for blobFromImagesWithParams."""
    return blobFromImagesWithParams([image], blob, param)


@opencv_errors
def blobFromImagesWithParams(images: Sequence[Numpy], blob: Any = None, param: Image2BlobParams | None = None) -> Numpy:
    """`blobFromImages` with the choice of a layout, and of letterboxes.

    Parameters
    ----------
    images, param
        The images, and what is done to them.
    blob
        A float32 array of the result's shape, into which it is written; may be left out, so that `param` comes second.

    Raises
    ------
    BoxpressoError
        For parameters or images that do not fit.
    """
    if isinstance(blob, Image2BlobParams):
        blob, param = None, blob
    p = param or Image2BlobParams()
    if p.ddepth not in (CV_8U, CV_32F):
        raise BoxpressoError(f"blobFromImage: ddepth must be CV_32F (5) or CV_8U (0), got {p.ddepth}")
    if p.datalayout not in (DNN_LAYOUT_NCHW, DNN_LAYOUT_NHWC):
        raise BoxpressoError(f"blobFromImage: datalayout must be NCHW (2) or NHWC (4), got {p.datalayout}")
    arrays = [checked(image) for image in images]
    if not arrays:
        raise BoxpressoError("blobFromImages: there are no images")
    width, height = (int(side) for side in p.size)
    if width == 0 and height == 0:
        height, width = arrays[0].shape[:2]
    if width <= 0 or height <= 0:
        raise BoxpressoError(
            f"blobFromImage: size must be (width, height) above 0, or (0, 0) for the image's own, got {(width, height)}"
        )
    channels = {array.shape[2] for array in arrays}
    if len(channels) > 1:
        raise BoxpressoError(f"blobFromImages: the images have {sorted(channels)} channels; all must have the same")
    fitted = np.stack([fit(array, width, height, p) for array in arrays])
    mean, scale = scalar(p.mean, 0.0, "mean"), scalar(p.scalefactor, 0.0, "scalefactor")
    count = channels.pop()
    if p.swapRB and count >= 3:
        fitted = fitted[..., [2, 1, 0, *range(3, count)]]
    if p.ddepth == CV_8U:
        if fitted.dtype != np.uint8 or mean.any() or (scale != 1).any():
            raise BoxpressoError("blobFromImage: with ddepth=CV_8U the image is uint8, and there is no mean or scale")
    else:
        fitted = (fitted.astype(np.float32) - mean[:count].astype(np.float32)) * scale[:count].astype(np.float32)
    result = np.ascontiguousarray(fitted.transpose(0, 3, 1, 2) if p.datalayout == DNN_LAYOUT_NCHW else fitted)
    if blob is None or (blob.shape, blob.dtype) != (result.shape, result.dtype):
        return result
    blob[...] = result
    return np.asarray(blob)


def checked(image: Any) -> Numpy:
    """An image as (H, W, C). Raises BoxpressoError for what is no image."""
    array = np.asarray(image)
    if image is None or array.ndim not in (2, 3) or not array.size or array.dtype == object:
        raise BoxpressoError(
            f"blobFromImage: an image is an array (H, W) or (H, W, C), got "
            f"{'None: was the file read?' if image is None else f'{array.dtype} of shape {array.shape}'}"
        )
    array = array.reshape(*array.shape[:2], -1)
    if array.shape[2] > 4:
        raise BoxpressoError(f"blobFromImage: an image has 1 to 4 channels, got shape {array.shape}")
    return array if array.dtype == np.uint8 else array.astype(np.float32)


def scalar(value: Scalar, rest: float | None, subject: str) -> Numpy:
    """Four numbers, as OpenCV's Scalar: those missing are `rest`, or with None a single one stands for all."""
    values = np.atleast_1d(np.asarray(value, float)).ravel()
    if values.size > 4:
        raise BoxpressoError(f"blobFromImage: {subject} has at most 4 numbers, got {values.size}")
    if rest is None:
        return np.full(4, values[0]) if values.size == 1 else np.pad(values, (0, 4 - values.size))
    return np.pad(values, (0, 4 - values.size), constant_values=rest)


def fit(image: Numpy, width: int, height: int, p: Image2BlobParams) -> Numpy:
    """An image in the size of the blob."""
    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
    if p.paddingmode == DNN_PMODE_CROP_CENTER:
        factor = float(max(np.float32(width) / np.float32(columns), np.float32(height) / np.float32(rows)))
        grown = resize(image, max(1, round(columns * factor)), max(1, round(rows * factor)), factor)
        top, left = int(0.5 * (grown.shape[0] - height)), int(0.5 * (grown.shape[1] - width))
        return grown[top : top + height, left : left + width]
    if p.paddingmode == DNN_PMODE_LETTERBOX:
        factor = min(np.float32(width) / np.float32(columns), np.float32(height) / np.float32(rows))
        across, down = int(np.float32(columns) * factor), int(np.float32(rows) * factor)  # in float, as OpenCV
        if across == 0 or down == 0:
            raise BoxpressoError(
                f"blobFromImage: an image of {columns} x {rows} pixels in a letterbox of {width} x {height} keeps no pixel "
                "of its shorter side; give a larger size"
            )
        top, left = (height - down) // 2, (width - across) // 2
        border = scalar(p.borderValue, 0.0, "borderValue")[: image.shape[2]]
        if image.dtype == np.uint8:
            border = np.clip(np.rint(border), 0, 255)
        result = np.empty((height, width, image.shape[2]), image.dtype)
        result[...] = border.astype(image.dtype)
        result[top : top + down, left : left + across] = resize(image, across, down)
        return result
    return resize(image, width, height)


def resize(image: Numpy, width: int, height: int, factor: float | None = None) -> Numpy:
    """cv2.resize of (H, W, C), bilinear; `factor` is the exact enlargement where the sizes are rounded."""
    rows, columns = image.shape[:2]
    x, part_x = positions(columns, width, factor or width / columns)
    y, part_y = positions(rows, height, factor or height / rows)
    part_x = np.where((x < 0) | (x >= columns - 1), np.float32(0), part_x)
    x = np.clip(x, 0, columns - 1)
    right, below = np.minimum(x + 1, columns - 1), np.clip(y + 1, 0, rows - 1)
    y = np.clip(y, 0, rows - 1)
    if image.dtype != np.uint8:
        across = image[:, x] * (1 - part_x)[:, None] + image[:, right] * part_x[:, None]
        return np.asarray(across[y] * (1 - part_y)[:, None, None] + across[below] * part_y[:, None, None], np.float32)
    left_weight, right_weight = whole(1 - part_x)[:, None], whole(part_x)[:, None]
    upper, lower = whole(1 - part_y)[:, None, None], whole(part_y)[:, None, None]
    values = image.astype(np.int32)
    across = (values[:, x] * left_weight + values[:, right] * right_weight) >> 4
    result = (((upper * across[y]) >> 16) + ((lower * across[below]) >> 16) + 2) >> 2
    return np.asarray(np.clip(result, 0, 255), np.uint8)


def positions(old: int, new: int, factor: float) -> tuple[Numpy, Numpy]:
    """For each new pixel the old one left of its centre, and how far right of that it lies."""
    at = ((np.arange(new) + 0.5) * (1 / factor) - 0.5).astype(np.float32)
    low = np.floor(at)
    return low.astype(int), at - low


def whole(weights: Numpy) -> Numpy:
    return np.asarray(np.rint(weights * UNIT), np.int32)


@opencv_errors
def imagesFromBlob(blob_: Numpy) -> tuple[Numpy, ...]:
    """The images (H, W, C), of one channel (H, W), of a blob (N, C, H, W).

    Raises
    ------
    BoxpressoError
        For a blob of other axes.
    """
    if np.ndim(blob_) != 4:
        raise BoxpressoError(f"imagesFromBlob takes a blob (N, C, H, W), got shape {np.shape(blob_)}")
    images = (np.asarray(image).transpose(1, 2, 0) for image in np.asarray(blob_))
    return tuple(np.ascontiguousarray(image[..., 0] if image.shape[2] == 1 else image) for image in images)
