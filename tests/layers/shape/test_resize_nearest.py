"""ResizeNearestNeighbor and Squeeze, of nets of TensorFlow: pixel by pixel in numpy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

TEXT = 'type: "ResizeNearestNeighbor" resize_nearest_neighbor_param { %s }'
MAP = np.random.default_rng(6).standard_normal((2, 3, 5, 7))

# For tests/device/test_threaded.py.
LAUNCHES: list[tuple] = [(TEXT % 'output_height: 9 output_width: 4 data_format: "NCHW"', [MAP])]


def nearest(image: np.ndarray, out: tuple[int, int], how: str) -> np.ndarray:
    """Of (N, C, H, W), by exact fractions."""
    tables = []
    for size, many in zip(image.shape[2:], out):
        if how == "align_corners" and many > 1:
            at = [(2 * i * (size - 1) + many - 1) // (2 * (many - 1)) for i in range(many)]
        elif how == "half_pixel_centers":
            at = [(2 * i + 1) * size // (2 * many) for i in range(many)]
        else:
            at = [i * size // many if how == "" else 0 for i in range(many)]
        tables.append(np.minimum(at, size - 1))
    return image[:, :, tables[0]][..., tables[1]]


@pytest.mark.parametrize("out", [(10, 14), (3, 2), (5, 7), (1, 1), (8, 5), (15, 21)])
@pytest.mark.parametrize("how", ["", "align_corners", "half_pixel_centers"])
@pytest.mark.parametrize("order", ["NCHW", "NHWC"])
def test_the_nearest_pixel(out, how, order, device):
    turn = (lambda a: a) if order == "NCHW" else (lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1)))
    fields = f'output_height: {out[0]} output_width: {out[1]} data_format: "{order}" ' + (f"{how}: true" if how else "")
    rig = Rig(TEXT % fields, [turn(MAP)], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], turn(nearest(MAP, out, how)))
    check_gradient(rig)


def test_a_size_by_scales(device):
    rig = Rig(TEXT % 'scale_height: 2 scale_width: 1.5 data_format: "NCHW"', [MAP], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], nearest(MAP, (10, 10), ""))
    rig.set_bottom(0, MAP[:0])
    assert rig.forward()[0].shape == (0, 3, 10, 10)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('data_format: "CHWN"', "must be NHWC or NCHW, got 'CHWN'"),
        ("align_corners: true half_pixel_centers: true", "go not together"),
        ("half_pixel_onnx: true", "half_pixel_onnx is not supported"),
        ("output_height: 0", "cannot make 0 x 5 pixels of 3 x 5"),
    ],
)
def test_what_it_refuses(fields, message):
    with pytest.raises(LayerError, match=message):
        Rig(TEXT % fields, [MAP])


@pytest.mark.parametrize(
    ("axes", "shape"), [([], (2, 3)), ([0], (2, 1, 3, 1)), ([-1, 2], (1, 2, 3)), ([0, 2, 4], (2, 3))]
)
def test_squeeze(axes, shape, device):
    x = np.arange(6.0).reshape(1, 2, 1, 3, 1)
    fields = " ".join(f"axis: {axis}" for axis in axes)
    rig = Rig(f'type: "Squeeze" squeeze_param {{ {fields} }}', [x], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], x.reshape(shape))
    check_gradient(rig)


def test_what_squeeze_refuses():
    for axis, message in ((1, r"axis 1 of shape \(1, 2\) is not of length 1"), (3, "axis 3")):
        with pytest.raises(LayerError, match=message):
            Rig(f'type: "Squeeze" squeeze_param {{ axis: {axis} }}', [np.zeros((1, 2))])
