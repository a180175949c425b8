"""Pooling against windows written out in numpy, and its shapes, gradients and errors."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

LOWEST = -np.finfo(np.float32).max


def layer(param: str) -> str:
    return f'type: "Pooling" pooling_param {{ {param} }}'


def pooled(x, kernel, stride, pad, method="MAX", down=False):
    """What Caffe documents, window by window."""
    size = x.shape[2:]
    count = []
    for s, k, t, p in zip(size, kernel, stride, pad, strict=True):
        c = (floor if down else ceil)((s + 2 * p - k) / t) + 1
        count.append(c - 1 if any(pad) and (c - 1) * t >= s + p else c)
    out, mask = np.full((*x.shape[:2], *count), np.nan), np.full((*x.shape[:2], *count), -1.0)
    for i, j in np.ndindex(*count):
        y, z = i * stride[0] - pad[0], j * stride[1] - pad[1]
        ys = slice(max(y, 0), max(min(y + kernel[0], size[0]), 0))
        zs = slice(max(z, 0), max(min(z + kernel[1], size[1]), 0))
        window = x[:, :, ys, zs]
        flat = window.reshape(*x.shape[:2], -1)
        if method == "MAX":
            out[:, :, i, j] = flat.max(-1, initial=LOWEST)
            if flat.shape[-1]:
                row, column = np.divmod(flat.argmax(-1), window.shape[3])
                mask[:, :, i, j] = (row + ys.start) * size[1] + column + zs.start
        else:
            end_y, end_x = (size[0] + pad[0], size[1] + pad[1]) if method == "AVE" else size
            begin = (y, z) if method == "AVE" else (max(y, 0), max(z, 0))
            area = (min(y + kernel[0], end_y) - begin[0]) * (min(z + kernel[1], end_x) - begin[1])
            out[:, :, i, j] = flat.sum(-1) / area
    return out, mask


GEOMETRIES = [  # kernel, stride, pad, image
    ((2, 2), (2, 2), (0, 0), (8, 9)),
    ((3, 3), (1, 1), (1, 1), (7, 9)),
    ((3, 3), (2, 2), (0, 0), (8, 10)),
    ((3, 2), (1, 3), (1, 0), (7, 9)),
    ((3, 3), (3, 3), (2, 2), (7, 8)),
    ((2, 2), (2, 2), (1, 1), (5, 8)),
    ((5, 4), (2, 1), (3, 2), (11, 6)),
    ((1, 1), (2, 2), (0, 0), (9, 5)),
    ((6, 6), (4, 4), (0, 0), (6, 6)),
    ((4, 70), (2, 3), (1, 5), (9, 140)),  # wide windows
    ((2, 3), (1, 1), (0, 1), (3, 1100)),  # several pieces of a row
    ((1, 60), (1, 7), (0, 0), (2, 900)),
]


def text(kernel, stride, pad) -> str:
    names = (("kernel", kernel), ("stride", stride), ("pad", pad))
    return " ".join(f"{name}_h: {h} {name}_w: {w}" for name, (h, w) in names)


@pytest.mark.parametrize(("kernel", "stride", "pad", "size"), GEOMETRIES)
def test_max_and_its_mask(kernel, stride, pad, size, device):
    x = np.random.default_rng(1).integers(-4, 5, (2, 3, *size)).astype(np.float32)  # with ties: the first wins
    top, mask = Rig(layer(text(kernel, stride, pad)), [x], tops=2, device=device).forward()
    wanted, places = pooled(x, kernel, stride, pad)
    np.testing.assert_array_equal(top, wanted)
    np.testing.assert_array_equal(mask, places)


@pytest.mark.parametrize(("kernel", "stride", "pad", "size"), GEOMETRIES)
@pytest.mark.parametrize(("method", "param"), [("AVE", "pool: AVE"), ("INSIDE", "pool: AVE avg_include_pad: false")])
def test_mean(kernel, stride, pad, size, method, param, device):
    x = np.random.default_rng(2).standard_normal((2, 3, *size)).astype(np.float32)
    rig = Rig(layer(f"{param} {text(kernel, stride, pad)}"), [x], device=device)
    close(rig.forward()[0], pooled(x, kernel, stride, pad, method)[0])


@pytest.mark.parametrize("method", ["MAX", "AVE"])
@pytest.mark.parametrize("down", ["ceil_mode: false", "round_mode: FLOOR"])
def test_forks_round_down(method, down, device):
    x = np.random.default_rng(3).standard_normal((1, 2, 8, 10)).astype(np.float32)
    rig = Rig(layer(f"pool: {method} kernel_size: 3 stride: 2 {down}"), [x], device=device)
    wanted = pooled(x, (3, 3), (2, 2), (0, 0), method, down=True)[0]
    assert wanted.shape == (1, 2, 3, 4)
    close(rig.forward()[0], wanted)


@pytest.mark.parametrize("method", ["MAX", "AVE"])
def test_global_follows_the_image(method, device):
    rng = np.random.default_rng(4)
    rig = Rig(layer(f"pool: {method} global_pooling: true"), [rng.standard_normal((2, 3, 7, 9))], device=device)
    for shape in ((2, 3, 7, 9), (1, 3, 33, 20), (4, 3, 1, 1)):
        x = rng.standard_normal(shape).astype(np.float32)
        rig.set_bottom(0, x)
        wanted = x.max((2, 3)) if method == "MAX" else x.mean((2, 3))
        close(rig.forward()[0][..., 0, 0], wanted)


@pytest.mark.parametrize(("kernel", "stride", "pad", "size"), [g for g in GEOMETRIES if g[3][1] < 200])
@pytest.mark.parametrize("method", ["MAX", "AVE"])
def test_gradient(kernel, stride, pad, size, method, device):
    x = np.random.default_rng(5).permutation(np.prod((2, 2, *size))).reshape(2, 2, *size) / 100.0
    rig = Rig(layer(f"pool: {method} {text(kernel, stride, pad)}"), [x], dtype=np.float64, device=device)
    check_gradient(rig, step=1e-3)


def test_worked_gradient_of_overlapping_windows(device):
    """Windows 0-2, 2-4 of [1 5 9 2 3]: both have their maximum at the 9, and the mean shares 1/3 each."""
    x = np.array([1, 5, 9, 2, 3], np.float32).reshape(1, 1, 1, 5)
    for method, wanted in (("MAX", [0, 0, 30, 0, 0]), ("AVE", [10 / 3, 10 / 3, 10, 20 / 3, 20 / 3])):
        rig = Rig(layer(f"pool: {method} kernel_h: 1 kernel_w: 3 stride: 2"), [x], device=device)
        assert rig.forward()[0].shape == (1, 1, 1, 2)
        close(rig.backward([np.array([10, 20]).reshape(1, 1, 1, 2)])[0].ravel(), np.array(wanted))


def test_an_empty_window_is_lowest_and_gives_no_gradient(device):
    x = np.ones((1, 1, 9, 9), np.float32)
    rig = Rig(layer("kernel_size: 2 stride: 3"), [x], tops=2, device=device)
    top, mask = rig.forward()
    assert (top[..., 3, :] == LOWEST).all()
    assert (mask[..., 3, :] == -1).all()
    diff = rig.backward([np.ones(top.shape), np.zeros(top.shape)])[0]
    assert diff.sum() == 9  # 3 x 3 of the 4 x 4 windows have pixels
    assert np.isnan(Rig(layer("pool: AVE kernel_size: 2 stride: 3"), [x], device=device).forward()[0][..., 3, :]).all()


@pytest.mark.parametrize("param", ["kernel_size: 2", "pool: AVE global_pooling: true"])
def test_reshape_and_no_images(param, device):
    rig = Rig(layer(param), [np.ones((2, 3, 6, 6), np.float32)], device=device)
    rig.forward()
    for images in (0, 1, 5):
        rig.set_bottom(0, np.full((images, 3, 5, 4), 2.0))
        top = rig.forward()[0]
        assert top.shape[:2] == (images, 3)
        assert (top == 2).all()
        assert rig.backward([np.ones(top.shape)])[0].shape == (images, 3, 5, 4)


def test_stochastic(device):
    """TRAIN draws a pixel with its share of the sum for a probability; TEST is the mean with these weights."""
    x = np.tile(np.array([0, 1, 2, 5], np.float32).reshape(1, 1, 2, 2), (1, 1, 100, 200))
    param = layer("pool: STOCHASTIC kernel_size: 2 stride: 2")
    close(Rig(param, [x], device=device).forward()[0], np.full((1, 1, 100, 200), 30 / 8))
    rig = Rig(param, [x], phase="TRAIN", device=device)
    first = rig.forward()[0]
    shares = [(first == value).mean() for value in (0, 1, 2, 5)]
    np.testing.assert_allclose(shares, [0, 1 / 8, 2 / 8, 5 / 8], atol=0.015)
    diff = rig.backward([first])[0]
    np.testing.assert_array_equal(diff, np.where(diff != 0, x, 0))
    assert diff.sum() == first.sum()
    assert (rig.forward()[0] != first).any(), "the second forward draws again"
    again = Rig(param, [x], phase="TRAIN", device=device)
    np.testing.assert_array_equal(again.forward()[0], first)


def test_stochastic_of_zeros(device):
    rig = Rig(layer("pool: STOCHASTIC kernel_size: 2"), [np.zeros((1, 1, 3, 3))], phase="TRAIN", device=device)
    assert (rig.forward()[0] == 0).all()


@pytest.mark.parametrize(
    ("param", "words"),
    [
        ("", "kernel_size"),
        ("kernel_size: 2 kernel_h: 2 kernel_w: 2", "kernel_size"),
        ("kernel_h: 2", "kernel_h and kernel_w"),
        ("kernel_size: 0", "1 or more"),
        ("kernel_size: 2 stride: 0", "stride must be 1"),
        ("kernel_size: 2 stride_h: 2", "stride_h and stride_w"),
        ("kernel_size: 2 pad: 2", "smaller than the kernel"),
        ("kernel_size: 9", "larger than the padded image"),
        ("global_pooling: true kernel_size: 2", "remove kernel_size"),
        ("global_pooling: true stride: 2", "pad 0 and stride 1"),
        ("pool: STOCHASTIC kernel_size: 2 pad: 1", "no padding"),
        ("kernel_size: 2 dilation: 5", "larger than the padded image"),
        ("kernel_size: 2 pad_l: 1", "pad_l"),
    ],
)
def test_errors(param, words):
    with pytest.raises(LayerError, match=words):
        Rig(layer(param), [np.zeros((1, 1, 5, 5))])


def test_a_mask_of_a_mean_is_refused():
    with pytest.raises(LayerError, match="second top"):
        Rig(layer("pool: AVE kernel_size: 2"), [np.zeros((1, 1, 5, 5))], tops=2)
