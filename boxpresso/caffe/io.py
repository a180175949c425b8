"""pycaffe's io: images in and out of nets, and numpy arrays to and from Caffe's messages.

Images are float32 (H, W, C) in [0, 1], red first, as in pycaffe. Pillow reads them and the interpolation is here, so that
scikit-image is not needed; see `resize_image` for which of its versions the results follow.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Union

import numpy as np

from ..data.picture import open_picture
from ..proto.errors import BoxpressoError, ModelError, nearest
from .proto import caffe_pb2

Numpy = np.ndarray[Any, Any]
Sizes = Union[Sequence[int], Numpy]  # height and width
GREY = np.array([0.2125, 0.7154, 0.0721])  # of red, green and blue: scikit-image's rgb2gray

# Messages and arrays


class UnreadableImage(BoxpressoError, OSError):
    """A file that cannot be read or is not an image: OSError, as in pycaffe, whose libraries raise it."""


def __getattr__(name: str) -> Any:
    """What pycaffe's io imports, and scripts take from it: skimage, its `resize`, which does not smooth, and scipy's `zoom`."""
    if name not in ("skimage", "resize", "zoom"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name == "zoom":
            return importlib.import_module("scipy.ndimage").zoom
        importlib.import_module("skimage.io")
        transform = importlib.import_module("skimage.transform")
    except ImportError as error:
        raise AttributeError(f"caffe.io.{name} needs {error.name}, which is not installed: {error}") from None
    if name == "skimage":
        return sys.modules["skimage"]

    @functools.wraps(transform.resize)
    def resize(
        image: Any, output_shape: Any, order: int = 1, mode: str = "constant", *args: Any, **options: Any
    ) -> Any:
        return transform.resize(image, output_shape, order, mode, *args, **{"anti_aliasing": False, **options})

    return resize


def blobproto_to_array(blob: Any, return_diff: bool = False) -> Numpy:
    """The data of a BlobProto, or its diff, in its shape.

    Raises
    ------
    ValueError
        For a blob without a shape that holds more than one number, and for one whose shape does not fit.
    """
    single, double = ("diff", "double_diff") if return_diff else ("data", "double_data")
    values = getattr(blob, double) if len(getattr(blob, double)) else getattr(blob, single)
    data = np.array(values)
    if any(blob.HasField(name) for name in ("num", "channels", "height", "width")):
        return data.reshape(blob.num, blob.channels, blob.height, blob.width)
    return data.reshape(tuple(blob.shape.dim))


def array_to_blobproto(arr: Numpy, diff: Numpy | None = None) -> Any:
    """A BlobProto of an array of any shape, and of a diff of the same shape."""
    blob = caffe_pb2.BlobProto()
    blob.shape.dim.extend(np.shape(arr))
    blob.data.extend(np.asarray(arr, float).ravel())
    if diff is not None:
        blob.diff.extend(np.asarray(diff, float).ravel())
    return blob


def arraylist_to_blobprotovector_str(arraylist: Iterable[Numpy]) -> bytes:
    """A list of arrays as the bytes of a BlobProtoVector."""
    vector = caffe_pb2.BlobProtoVector()
    vector.blobs.extend(array_to_blobproto(array) for array in arraylist)
    return bytes(vector.SerializeToString())


def blobprotovector_str_to_arraylist(str: bytes) -> list[Numpy]:
    """The arrays in the bytes of a BlobProtoVector."""
    vector = caffe_pb2.BlobProtoVector()
    vector.ParseFromString(str)
    return [blobproto_to_array(blob) for blob in vector.blobs]


def array_to_datum(arr: Numpy, label: int | None = None) -> Any:
    """A Datum of an array (C, H, W): uint8 as bytes, any other type as floats.

    Raises
    ------
    ValueError
        For an array that has not three axes.
    """
    if arr.ndim != 3:
        raise ValueError(f"Incorrect array shape: a Datum takes (channels, height, width), got {arr.shape}")
    datum = caffe_pb2.Datum(channels=arr.shape[0], height=arr.shape[1], width=arr.shape[2])
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(arr.astype(float).ravel())
    if label is not None:
        datum.label = int(label)
    return datum


def datum_to_array(datum: Any) -> Numpy:
    """The array (C, H, W) of a Datum, uint8 or float; `datum.label` is its label."""
    shape = datum.channels, datum.height, datum.width
    if len(datum.data):
        return np.array(np.frombuffer(datum.data, np.uint8).reshape(shape))
    return np.array(np.array(datum.float_data, float).reshape(shape))


# Images into nets


class Transformer:
    """Converts images to the input of a net and back, by rules that are set for each input.

    `preprocess` makes float32 of an image (H, W, C), resizes it to the input's height and width, and then, where they are set,
    applies transpose, channel_swap, raw_scale, mean and input_scale, in this order.

    Parameters
    ----------
    inputs
        {name: shape} of the net's inputs.

    Examples
    --------
    >>> transformer = Transformer({"data": (1, 3, 2, 2)})
    >>> transformer.set_transpose("data", (2, 0, 1))
    >>> transformer.set_channel_swap("data", (2, 1, 0))
    >>> transformer.set_raw_scale("data", 255)
    >>> transformer.set_mean("data", np.array([104, 117, 123]))
    >>> red = np.zeros((4, 4, 3), np.float32) + np.float32([1, 0, 0])
    >>> transformer.preprocess("data", red)[:, 0, 0]
    array([-104., -117.,  132.], dtype=float32)
    """

    def __init__(self, inputs: Mapping[str, Sequence[int]]) -> None:
        self.inputs = inputs
        self.transpose: dict[str, Sequence[int]] = {}
        self.channel_swap: dict[str, Sequence[int]] = {}
        self.raw_scale: dict[str, float] = {}
        self.mean: dict[str, Numpy] = {}
        self.input_scale: dict[str, float] = {}

    def _check(self, name: str) -> None:
        if name not in self.inputs:
            raise ModelError(
                f"{name} is not one of the net inputs: {', '.join(self.inputs)}{nearest(name, self.inputs)}"
            )

    def preprocess(self, in_: str, data: Numpy) -> Numpy:
        """An image (H, W, C) as (C, H, W) for that input."""
        self._check(in_)
        result = data.astype(np.float32, copy=False)
        size = tuple(self.inputs[in_][2:])
        if result.shape[:2] != size:
            result = resize_image(result, size)
        if in_ in self.transpose:
            result = result.transpose(self.transpose[in_])
        if in_ in self.channel_swap:
            result = result[list(self.channel_swap[in_]), :, :]
        if in_ in self.raw_scale:
            result = result * np.float32(self.raw_scale[in_])
        if in_ in self.mean:
            result = (result - self.mean[in_]).astype(np.float32)
        if in_ in self.input_scale:
            result = result * np.float32(self.input_scale[in_])
        return result

    def deprocess(self, in_: str, data: Numpy) -> Numpy:
        """The image of an input: what `preprocess` did, undone, but for the size."""
        self._check(in_)
        result = np.array(data).squeeze()
        if in_ in self.input_scale:
            result = result / self.input_scale[in_]
        if in_ in self.mean:
            result = result + self.mean[in_]
        if in_ in self.raw_scale:
            result = result / self.raw_scale[in_]
        if in_ in self.channel_swap:
            result = result[np.argsort(self.channel_swap[in_]), :, :]
        if in_ in self.transpose:
            result = result.transpose(np.argsort(self.transpose[in_]))
        return np.asarray(result, np.asarray(data).dtype)

    def set_transpose(self, in_: str, order: Sequence[int]) -> None:
        """The order of the axes; (2, 0, 1) makes (C, H, W) of (H, W, C)."""
        self._check(in_)
        if len(order) != len(self.inputs[in_]) - 1:
            raise ModelError(
                "Transpose order needs to have the same number of dimensions as the input: "
                f"{in_} is {tuple(self.inputs[in_])}, the order {tuple(order)}"
            )
        self.transpose[in_] = order

    def set_channel_swap(self, in_: str, order: Sequence[int]) -> None:
        """The order of the channels, after the transpose; (2, 1, 0) makes blue, green, red of red, green, blue."""
        self._check(in_)
        if len(order) != self.inputs[in_][1]:
            raise ModelError(
                "Channel swap needs to have the same number of dimensions as the input channels: "
                f"{in_} is {tuple(self.inputs[in_])}, the order {tuple(order)}"
            )
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_: str, scale: float) -> None:
        """What values are multiplied by before the mean is subtracted; 255 for nets that were trained on bytes."""
        self._check(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_: str, mean: Numpy) -> None:
        """What is subtracted: one number for each channel, or (C, H, W), which is resized to the input.

        Raises
        ------
        ValueError
            For a mean of another number of channels, or of a shape that cannot be.
        """
        self._check(in_)
        shape = tuple(self.inputs[in_])
        if mean.ndim == 1:
            if mean.shape[0] != shape[1]:
                raise ValueError(f"Mean channels incompatible with input: {mean.shape[0]}, but {in_} is {shape}")
            mean = mean[:, None, None]
        else:
            full = (1, *mean.shape) if mean.ndim == 2 else mean.shape
            if len(full) != 3:
                raise ValueError(f"Mean shape invalid: {mean.shape}; give (C,), (H, W) or (C, H, W)")
            if full != shape[1:]:
                mean = resize_image(mean.reshape(full).transpose(1, 2, 0), shape[2:]).transpose(2, 0, 1)
        self.mean[in_] = mean

    def set_input_scale(self, in_: str, scale: float) -> None:
        """What values are multiplied by at last."""
        self._check(in_)
        self.input_scale[in_] = scale


# Images


def load_image(filename: str | os.PathLike[str] | IO[bytes], color: bool = True) -> Numpy:
    """Reads an image as float32 in [0, 1], (H, W, 3) in the order red, green, blue, or with color=False (H, W, 1), from a path
    or an open file.

    Transparency is dropped; the orientation of EXIF is not applied, as in pycaffe.

    Raises
    ------
    UnreadableImage
        For a file that cannot be read or is not an image; it is a BoxpressoError and an OSError.
    """
    name = "of an open file" if hasattr(filename, "read") else os.fspath(filename)
    try:
        with open_picture(filename.read() if hasattr(filename, "read") else filename) as opened:
            deep = opened.mode.startswith("I")
            if not deep and opened.mode not in ("L", "RGB"):
                grey = opened.mode in ("1", "LA", "La")
                opened = opened.convert("L" if grey else "RGB")
            image = np.asarray(opened)
    except Exception as error:  # Pillow's are many, for damaged files
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise UnreadableImage(f"cannot read the image {name}: {reason}") from None
    scaled = image.astype(float) / (65535 if deep else 255)
    if color:
        scaled = np.repeat(scaled[:, :, None], 3, 2) if scaled.ndim == 2 else scaled
    else:
        scaled = (scaled if scaled.ndim == 2 else scaled @ GREY)[:, :, None]
    return scaled.astype(np.float32)


def resize_image(im: Numpy, new_dims: Sizes, interp_order: int = 1) -> Numpy:
    """Resizes an image (H, W, C) to `new_dims`, (height, width).

    With 1 or 3 channels it computes what scikit-image's `resize(order, mode="constant")` computes of the image scaled to
    [0, 1], without the smoothing before a reduction that scikit-image added in 0.15 (2019), which no Caffe model was trained
    or tested with: bilinear between pixel centres, and beyond the edge the image's smallest value. With any other number of
    channels it is scipy's `zoom`, where the centres of the corner pixels stay in place.

    Parameters
    ----------
    im
        Any numbers.
    new_dims
        Height and width of the result.
    interp_order
        0 nearest, 1 bilinear; any other needs scikit-image or scipy.

    Returns
    -------
    numpy.ndarray
        float32 of shape (height, width, C).
    """
    height, width = (int(size) for size in new_dims)
    values = np.asarray(im, np.float64)
    if interp_order not in (0, 1):
        return _spline(values, (height, width), interp_order)
    if im.shape[-1] not in (1, 3):
        rows, columns = _corners(im.shape[0], height), _corners(im.shape[1], width)
        return np.asarray(_sample(values, rows, columns, interp_order, edge=True), np.float32)
    low = values.min()
    rows, columns = _centres(im.shape[0], height), _centres(im.shape[1], width)
    return np.asarray(_sample(values - low, rows, columns, interp_order, edge=False) + low, np.float32)


def _centres(old: int, new: int) -> Numpy:
    """Where the centres of the new pixels lie, in old pixels, when both grids cover the same area."""
    return (np.arange(new) + 0.5) * (old / new) - 0.5


def _corners(old: int, new: int) -> Numpy:
    """Where the new pixels lie, when the centres of the first and of the last pixel stay in place."""
    return np.linspace(0, old - 1, new) if new > 1 else np.zeros(1)


def _sample(values: Numpy, rows: Numpy, columns: Numpy, order: int, edge: bool) -> Numpy:
    """Samples at rows x columns; beyond the edge zero counts, or with `edge` the last pixel."""
    for axis, at in enumerate((rows, columns)):
        size, lead = values.shape[axis], (slice(None),) * axis
        low = np.floor(at + 0.5 if order == 0 else at).astype(int)
        part = 0 * at if order == 0 else at - low
        result: Any = 0
        for index, weight in ((low, 1 - part), (low + 1, part)):
            inside = (index >= 0) & (index < size)
            weight = (weight if edge else weight * inside).reshape(-1, *(1,) * (values.ndim - 1 - axis))
            at_index = (*lead, np.clip(index, 0, size - 1))
            result = result + values[at_index] * weight
        values = result
    return values


def _spline(values: Numpy, size: tuple[int, int], order: int) -> Numpy:
    """Splines of a higher order, by the libraries that pycaffe takes."""
    try:
        if values.shape[-1] in (1, 3):
            from skimage.transform import resize  # type: ignore[import-not-found, import-untyped, unused-ignore]

            low, high = values.min(), values.max()
            if high == low:
                return np.full((*size, values.shape[-1]), low, np.float32)
            scaled = resize((values - low) / (high - low), size, order=order, mode="constant", anti_aliasing=False)
            return np.asarray(scaled * (high - low) + low, np.float32)
        from scipy.ndimage import zoom  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise BoxpressoError(
            f"resize_image: interp_order={order} needs {error.name}: pip install scikit-image; 0 and 1 need nothing"
        ) from None
    factors = (size[0] / values.shape[0], size[1] / values.shape[1], 1)
    return np.asarray(zoom(values, factors, order=order), np.float32)


def oversample(images: Sequence[Numpy], crop_dims: Sizes) -> Numpy:
    """Crops each image at its four corners and its centre, and mirrors the five crops.

    Parameters
    ----------
    images
        (H, W, C) each, all of one size.
    crop_dims
        Height and width of the crops.

    Returns
    -------
    numpy.ndarray
        (10 * N, height, width, C), float32: of each image the corners from top left to bottom right, the centre, and the
        same mirrored.
    """
    height, width = images[0].shape[:2]
    rows, columns = (int(size) for size in crop_dims)
    tops = [0, 0, height - rows, height - rows, int((height - rows) / 2.0)]
    lefts = [0, width - columns, 0, width - columns, int((width - columns) / 2.0)]
    crops = []
    for image in images:
        five = [image[top : top + rows, left : left + columns] for top, left in zip(tops, lefts)]
        crops += [*five, *(crop[:, ::-1] for crop in five)]
    return np.array(crops, np.float32)
