"""What the numbers of a picture file become, as OpenCV reads them for Caffe."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from boxpresso.data.errors import BrokenRecord
from boxpresso.data.picture import decode


def file_of(image: Image.Image, format: str = "PNG") -> bytes:
    to = io.BytesIO()
    image.save(to, format)
    return to.getvalue()


@pytest.mark.parametrize("format", ["PNG", "TIFF", "PPM"])
@pytest.mark.parametrize("color", [None, True, False])
def test_of_16_bits_the_upper_half_is_taken(format, color):
    deep = np.array([[0, 200, 256, 511], [5000, 35000, 65407, 65535]], np.uint16)
    picture = decode(file_of(Image.fromarray(deep), format), color)
    assert picture.shape == (2, 4, 3 if color else 1)
    assert (picture == [[[0], [0], [1], [1]], [[19], [136], [255], [255]]]).all()


def test_16_bits_in_the_other_order_are_grey_too():
    deep = np.array([[256, 65535]], ">u2")
    picture = decode(file_of(Image.frombytes("I;16B", (2, 1), deep.tobytes()), "TIFF"))
    assert picture.tolist() == [[[1], [255]]]


@pytest.mark.parametrize(
    ("numbers", "said"), [(np.full((2, 2), 70000, np.int32), "70000"), (np.ones((2, 2), np.float32), "floating-point")]
)
def test_numbers_whose_white_is_not_known_are_refused(numbers, said):
    with pytest.raises(BrokenRecord, match=said):
        decode(file_of(Image.fromarray(numbers), "TIFF"), name="deep.tif")


def test_labels_of_16_bits_are_refused():
    labels = np.array([[3, 20]], np.uint16)
    with pytest.raises(BrokenRecord, match=r"labels\.png.*save it with 8 bits"):
        decode(file_of(Image.fromarray(labels)), False, "labels.png", labels=True)
    assert decode(file_of(Image.fromarray(labels.astype(np.uint8))), False, labels=True).tolist() == [[[3], [20]]]


def test_grey_of_a_jpeg_is_the_brightness_that_it_holds():
    """Not that of the colours, which are cut at 0 and 255."""
    planes = [Image.new("L", (16, 16), value) for value in (128, 255, 0)]
    data = file_of(Image.merge("YCbCr", planes), "JPEG")
    assert (decode(data, False) == 128).all()
    assert decode(data, True).max() == 255
