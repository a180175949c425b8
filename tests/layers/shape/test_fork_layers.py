"""Layers of public forks: BN, Interp, ShuffleChannel, Axpy, CReLU, Reorg, Transpose and Reverse, by formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from vector_cases import resized

from boxpresso.proto.errors import LayerError


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def double(text: str, *bottoms: np.ndarray, **options) -> Rig:
    return Rig(text, bottoms, dtype=np.float64, **options)


LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    ('type: "BN"', [random(3, 4, 9, 31)], None, {"phase": "TRAIN"}),
    ('type: "BN"', [random(3, 4, 9, 31)]),
    ('type: "Interp" interp_param { zoom_factor: 3 }', [random(2, 3, 7, 31)]),
    ('type: "Resize" resize_param { height: 11 width: 5 }', [random(2, 3, 7, 9)]),
    ('type: "Axpy"', [random(3, 4), random(3, 4, 9, 31), random(3, 4, 9, 31)]),
    ('type: "CReLU"', [random(3, 4, 9)]),
    ('type: "ShuffleChannel" shuffle_channel_param { group: 2 }', [random(3, 4, 9)]),
    ('type: "Reorg" reorg_param { stride: 2 }', [random(2, 8, 6, 4)]),
    ('type: "Tiling" tiling_param { tile_dim: 2 }', [random(2, 8, 3, 4)]),
    ('type: "Reverse"', [random(3, 4, 9)]),
]


# BN

AXES, ONE = (0, 2, 3), (1, -1, 1, 1)


def normalised(x: np.ndarray, eps: float) -> np.ndarray:
    return (x - x.mean(AXES, keepdims=True)) / np.sqrt(x.var(AXES, keepdims=True) + eps)


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_bn_of_pspnet(in_place, device):
    x = 5 + random(3, 4, 5, 6)
    params = [1 + random(4), random(4, seed=1), random(4, seed=2), 1 + random(4, seed=3) ** 2]
    scale, shift, mean, variance = (p.reshape(ONE) for p in params)
    text = 'type: "BN" bn_param { momentum: 0.75 eps: 0.01 }'
    rig = double(text, x, params=params, phase="TRAIN", in_place=in_place, device=device)
    assert [b.shape for b in rig.layer.blobs] == [(1, 4)] * 4
    close(rig.forward()[0], scale * normalised(x, 0.01) + shift)
    close(np.array(rig.layer.blobs[2].data), [0.75 * params[2] + 0.25 * x.mean(AXES)])
    close(np.array(rig.layer.blobs[3].data), [0.75 * params[3] + 0.25 * x.var(AXES)])
    assert [p.lr_mult for p in rig.layer.param.param] == [1, 1, 0, 0]
    for options in (dict(phase="TEST"), dict(phase="TRAIN")):
        frozen = "frozen: true" if options["phase"] == "TRAIN" else ""
        rig = double(f'type: "BN" bn_param {{ eps: 0.01 {frozen} }}', x, params=params, in_place=in_place, device=device,
                     **options)  # fmt: skip
        close(rig.forward()[0], scale * (x - mean) / np.sqrt(variance + 0.01) + shift)
        close(np.array(rig.layer.blobs[2].data), params[2][None])  # nothing is recorded
        assert rig.layer.param_propagate_down == ([False] * 4 if frozen else [True, True, False, False])
        rig.set_bottom(0, x)
        check_gradient(rig, params=False)


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
@pytest.mark.parametrize("mode", ["LEARN", "INFERENCE"])
@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_bn_of_segnet(mode, phase, in_place, device):
    x, params = 5 + random(3, 4, 5, 6), [1 + random(4), random(4, seed=1)]
    scale, shift = (p.reshape(ONE) for p in params)
    text = f'type: "BN" bn_param {{ scale_filler {{ value: 1 }} shift_filler {{ value: 0.001 }} bn_mode: {mode} }}'
    rig = double(text, x, params=params, phase=phase, in_place=in_place, device=device)
    assert [b.shape for b in rig.layer.blobs] == [(1, 4, 1, 1)] * 2
    for shape in ((3, 4, 5, 6), (1, 4, 7, 3), (2, 4, 3, 3)):
        x = 5 + random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], scale * (normalised(x, 1e-9) if mode == "LEARN" else x) + shift)
    rig.set_bottom(0, x)
    check_gradient(rig)
    rig.set_bottom(0, x[:0])
    assert rig.forward()[0].shape == (0, 4, 3, 3)


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_bn_gradient_of_pspnet(in_place, device):
    """In TRAIN the averages follow every forward, but neither the top nor the gradient depends on them."""
    x, g = 3 + random(3, 4, 5, 6), random(3, 4, 5, 6, seed=2)
    rig = double('type: "BN"', x, phase="TRAIN", in_place=in_place, device=device)
    check_gradient(rig, params=False)
    rig.forward()
    for blob in rig.layer.blobs:
        blob.diff[...] = 1
    rig.top[0].diff[...] = g
    rig.layer.backward(rig.top, [True], rig.bottom)
    scale_diff, shift_diff, *rest = rig.param_diffs()
    close(scale_diff, [(g * normalised(x, 1e-5)).sum(AXES)])
    close(shift_diff, [g.sum(AXES)])
    assert not any(r.any() for r in rest)


def test_bn_tops_and_errors(device):
    x = random(3, 4, 5, 6)
    _, mean, variance = double('type: "BN" bn_param { bn_mode: LEARN }', x, tops=3, device=device).forward()
    close(mean, x.mean(AXES).reshape(ONE))
    close(variance, x.var(AXES).reshape(ONE))
    for param, tops, match in (
        ("bn_mode: LEARN eps: 1", 1, "fields of several layers"),
        ("moving_average: true bn_mode: LEARN", 1, "fields of several layers"),
        ("", 2, "more than one top"),
        ("bn_mode: INFERENCE", 2, "no statistics"),
        ("eps: -1", 1, "must not be negative"),
    ):
        with pytest.raises(LayerError, match=match):
            Rig(f'type: "BN" bn_param {{ {param} }}', [x], tops=tops)
    with pytest.raises(LayerError, match=r"\(N, C, ...\)"):
        Rig('type: "BN"', [np.zeros(3)])


# Interp


SIZES = {
    "height: 7 width: 3": lambda h: {5: 7, 6: 3}[h],
    "zoom_factor: 3": lambda h: h + (h - 1) * 2,
    "shrink_factor: 2": lambda h: (h - 1) // 2 + 1,
    "shrink_factor: 2 zoom_factor: 4": lambda h: (h - 1) // 2 * 4 + 1,
    "shrink_factor: 2 zoom_factor: 4 height: 7 width: 3": lambda h: {5: 7, 6: 3}[h],
    "zoom_factor: 2 height: 7 width: 3": lambda h: 2 * h - 1,
    "full_zoom_factor: 2": lambda h: 2 * h,
    "height: 5 width: 6": lambda h: h,
    "height: 1 width: 1": lambda h: 1,
}


@pytest.mark.parametrize("param", SIZES)
def test_interp(param, device):
    x = random(2, 3, 5, 6)
    rig = double(f'type: "Interp" interp_param {{ {param} }}', x, device=device)
    close(rig.forward()[0], resized(x, (SIZES[param](5), SIZES[param](6))))
    check_gradient(rig)
    rig.set_bottom(0, np.zeros((0, 3, 5, 6)))
    assert rig.forward()[0].shape[0] == 0


def test_interp_of_labels_is_of_images_of_one_pixel(device):
    rig = double('type: "Interp" interp_param { height: 2 width: 3 }', np.float64([4, 7]), device=device)
    np.testing.assert_array_equal(rig.forward()[0], np.float64([4, 7]).reshape(2, 1, 1, 1).repeat(2, 2).repeat(3, 3))
    with pytest.raises(LayerError, match="at most 4 axes"):
        Rig('type: "Interp" interp_param { height: 2 width: 3 }', [np.zeros((1, 1, 1, 2, 2))])


def test_interp_cuts(device):
    x = random(1, 2, 7, 8)
    rig = double('type: "Interp" interp_param { zoom_factor: 2 pad_beg: -1 pad_end: -2 }', x, device=device)
    close(rig.forward()[0], resized(x[:, :, 1:-2, 1:-2], (7, 9)))
    check_gradient(rig)


@pytest.mark.parametrize(
    ("param", "match"),
    [
        ("", "give height and width"),
        ("height: 3", "give height and width"),
        ("zoom_factor: 0", "zoom_factor must be at least 1"),
        ("zoom_factor: 2 pad_beg: 1", "cannot be above"),
        ("zoom_factor: 2 align_corners: false", "align_corners"),
        ("zoom_factor: 2 pad_beg: -3 pad_end: -2", "leave nothing"),
        ("height: 0 width: 3", "at least 1, got"),
    ],
)
def test_interp_errors(param, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Interp" interp_param {{ {param} }}', [np.zeros((1, 1, 5, 6))])


# Resize


def from_corner(size: int, out: int) -> np.ndarray:
    """(out, size): the weights of pixel y of the top, at y size / out, for its neighbours, of which there may be but one."""
    weights = np.zeros((out, size))
    for y in range(out):
        whole, part = divmod(y * size, out)
        weights[y, whole] = 1 - part / out
        if whole + 1 < size:
            weights[y, whole + 1] = part / out
    return weights


@pytest.mark.parametrize("size", [(5, 6), (9, 13), (2, 3), (1, 1), (10, 6)])
def test_resize(size, device):
    x = random(2, 3, 5, 6)
    rig = double(f'type: "Resize" resize_param {{ height: {size[0]} width: {size[1]} }}', x, device=device)
    close(rig.forward()[0], from_corner(5, size[0]) @ x @ from_corner(6, size[1]).T)
    check_gradient(rig)


def test_resize_by_a_scale(device):
    text = 'type: "Resize" resize_param { is_pyramid_test: true out_height_scale: 0.5 out_width_scale: 1.5 }'
    rig = double(text, random(2, 3, 5, 6), device=device)
    close(rig.forward()[0], from_corner(5, 2) @ random(2, 3, 5, 6) @ from_corner(6, 9).T)
    rig.set_bottom(0, random(1, 2, 7, 2))
    close(rig.forward()[0], from_corner(7, 3) @ random(1, 2, 7, 2) @ from_corner(2, 3).T)


@pytest.mark.parametrize(
    ("param", "match"),
    [
        ("height: 3", r"must be at least 1, got \[3, 0\]"),
        ("is_pyramid_test: true out_height_scale: 0.1 out_width_scale: 1", r"got \[0, 6\]"),
        ("height: 3 width: 3 prob: 0.5", "prob of SSD's augmentation mean nothing here"),
    ],
)
def test_resize_errors(param, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Resize" resize_param {{ {param} }}', [np.zeros((1, 1, 5, 6))])


# ShuffleChannel, Axpy, CReLU, Reorg


@pytest.mark.parametrize("group", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(2, 6, 4, 5), (3, 6), (2, 12, 1, 1), (1, 6, 40)])
def test_shuffle_channel(group, shape, device):
    x = random(*shape)
    rig = double(f'type: "ShuffleChannel" shuffle_channel_param {{ group: {group} }}', x, device=device)
    wanted = x.reshape(shape[0], group, shape[1] // group, -1).swapaxes(1, 2).reshape(shape)
    close(rig.forward()[0], wanted)
    check_gradient(rig)
    rig.set_bottom(0, x[:0])
    assert rig.forward()[0].shape == x[:0].shape


@pytest.mark.parametrize("form", [(3, 4), (3, 4, 1, 1)])
def test_axpy(form, device):
    a, x, y = random(*form), random(3, 4, 5, 6, seed=1), random(3, 4, 5, 6, seed=2)
    rig = double('type: "Axpy"', a, x, y, device=device)
    close(rig.forward()[0], a.reshape(3, 4, 1, 1) * x + y)
    check_gradient(rig, bottoms=(0, 1, 2))
    for i, value in enumerate((a[:0], x[:0], y[:0])):
        rig.set_bottom(i, value)
    assert rig.forward()[0].shape == (0, 4, 5, 6)
    with pytest.raises(LayerError, match="a must be"):
        Rig('type: "Axpy"', [a[:, :3], x, y])
    with pytest.raises(LayerError, match="one shape"):
        Rig('type: "Axpy"', [a, x, y[:, :, :4]])


@pytest.mark.parametrize("axis", [1, 0, -1])
@pytest.mark.parametrize("slope", [0, 0.25])
def test_crelu(axis, slope, device):
    x = random(3, 4, 5)
    text = f'type: "CReLU" crelu_param {{ concat_axis: {axis} negative_slope: {slope} }}'
    rig = double(text, x, device=device)
    relu = lambda v: np.where(v > 0, v, slope * v)  # noqa: E731
    close(rig.forward()[0], np.concatenate([relu(x), relu(-x)], axis))
    check_gradient(rig)
    rig.set_bottom(0, np.array([[[0, np.nan]]]))
    top = rig.forward()[0].ravel()
    assert np.isnan(top).sum() == 2


def darknet(x: np.ndarray, s: int, reverse: bool) -> np.ndarray:
    """Element by element, by darknet's indices."""
    images, channels, height, width = x.shape
    few, flat, made = channels // s**2, x.ravel(), np.zeros(x.size)
    for b, k, j, i in np.ndindex(*x.shape):
        here = i + width * (j + height * (k + channels * b))
        row, column = j * s + k // few // s, i * s + k // few % s
        there = column + width * s * (row + height * s * (k % few + few * b))
        if reverse:
            made[there] = flat[here]
        else:
            made[here] = flat[there]
    if reverse:
        return made.reshape(images, few, height * s, width * s)
    return made.reshape(images, channels * s**2, height // s, width // s)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_reorg(stride, device):
    x = random(2, 18 if stride == 3 else 8, 6, 12)
    text = f'type: "Reorg" reorg_param {{ stride: {stride} %s }}'
    for reverse in (False, True):
        rig = double(text % f"reverse: {str(reverse).lower()}", x, device=device)
        close(rig.forward()[0], darknet(x, stride, reverse))
        check_gradient(rig)
    for shape, match in (((1, 18, 7, 12), "height 7 and width 12 do not divide"), ((1, 7, 6, 12), "7 channels")):
        with pytest.raises(LayerError, match=match):
            Rig('type: "Reorg" reorg_param { stride: 2 }' if shape[1] == 7 else 'type: "Reorg" reorg_param { stride: 3 }',
                [np.zeros(shape)])  # fmt: skip
    with pytest.raises(LayerError, match="stride must be given"):
        Rig('type: "Reorg"', [x])


@pytest.mark.parametrize("dims", [(3, 2, 0, 1), (2, 3, 1, 0), (0, 1, 2, 3), (0, 2, 3, 1)])
def test_transpose(dims, device):
    lines = " ".join(f"dim: {d}" for d in dims)
    rig = double(f'type: "Transpose" transpose_param {{ {lines} }}', random(2, 3, 4, 5), device=device)
    for shape in ((2, 3, 4, 5), (5, 1, 2, 40), (0, 3, 4, 5)):
        x = random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], x.transpose(dims))
    rig.set_bottom(0, random(2, 3, 4, 5))
    check_gradient(rig)
    for bad in ("", "dim: 0 dim: 1", "dim: 0 dim: 1 dim: 2 dim: 2"):
        with pytest.raises(LayerError, match="each axis"):
            Rig(f'type: "Transpose" transpose_param {{ {bad} }}', [random(2, 3, 4, 5)])


@pytest.mark.parametrize("axes", [(), (0,), (1,), (-1,), (0, 2)])
def test_reverse(axes, device):
    lines = " ".join(f"axis: {a}" for a in axes)
    rig = double(f'type: "Reverse" reverse_param {{ {lines} }}', random(3, 4, 5), device=device)
    for shape in ((3, 4, 5), (1, 7, 2), (0, 4, 5)):
        x = random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], np.flip(x, axes or (0,)))
    rig.set_bottom(0, random(3, 4, 5))
    check_gradient(rig)
    with pytest.raises(LayerError, match="twice"):
        Rig('type: "Reverse" reverse_param { axis: 0 axis: -3 }', [random(3, 4, 5)])
    with pytest.raises(LayerError, match="axis 3 does not fit"):
        Rig('type: "Reverse" reverse_param { axis: 3 }', [random(3, 4, 5)])


# Tiling


def test_tiling_makes_pixels_of_channels(device):
    x = random(2, 18, 3, 4)
    top = Rig('type: "Tiling" tiling_param { tile_dim: 3 }', [x], device=device, dtype=np.float64).forward()[0]
    assert top.shape == (2, 2, 9, 12)
    for i, j in np.ndindex(3, 3):
        np.testing.assert_array_equal(top[:, :, i::3, j::3], x[:, [3 * i + j, 9 + 3 * i + j]])


@pytest.mark.parametrize(
    ("text", "message"), [("", "must be given"), ("tile_dim: -1", "at least 1"), ("tile_dim: 3", "8 channels")]
)
def test_tiles_that_do_not_fit(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Tiling" tiling_param {{ {text} }}', [random(1, 8, 2, 2)])
