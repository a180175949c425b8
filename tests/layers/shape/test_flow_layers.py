"""FlowNet's FlowWarp, Resample, ChannelNorm, Downsample, Mean: their formulas in numpy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(5)
MAP, FLOW = RNG.standard_normal((2, 3, 4, 5)), RNG.uniform(-2.4, 2.4, (2, 2, 4, 5))
WARP = 'type: "FlowWarp"'
SIZES = [(9, 11), (3, 4), (4, 2), (6, 3), (4, 5)]
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (WARP, [MAP, FLOW]), ('type: "ChannelNorm"', [MAP]), ('type: "Resample" resample_param { height: 3 width: 7 }', [MAP], []),
    ('type: "Downsample" downsample_param { top_height: 2 top_width: 3 }', [MAP], []), ('type: "Mean" mean_param { value: 1 }', [MAP]),
]  # fmt: skip


def warped(image: np.ndarray, flow: np.ndarray, fill: float) -> np.ndarray:
    """Each place by itself: the four pixels about where the flow leads."""
    batch, _, height, width = image.shape
    top = np.full(image.shape, fill)
    for n, y, x in np.ndindex(batch, height, width):
        across, down = x + flow[n, 0, y, x], y + flow[n, 1, y, x]
        if 0 <= across < width and 0 <= down < height:
            u, v = int(across), int(down)
            a, b, right, below = across - u, down - v, min(u + 1, width - 1), min(v + 1, height - 1)
            above = (1 - a) * image[n, :, v, u] + a * image[n, :, v, right]
            top[n, :, y, x] = (1 - b) * above + b * ((1 - a) * image[n, :, below, u] + a * image[n, :, below, right])
    return top


@pytest.mark.parametrize(("text", "fill"), [("", 0.0), ("flow_warp_param { fill_value: NOT_A_NUMBER }", np.nan)])
def test_a_flow_leads_to_pixels_and_outside(device, text, fill):
    rig, expected = Rig(f"{WARP} {text}", [MAP, FLOW], device=device, dtype=np.float64), warped(MAP, FLOW, fill)
    outside = np.isnan(warped(MAP, FLOW, np.nan))
    assert 0 < outside.sum() < outside.size
    np.testing.assert_allclose(rig.forward()[0], expected, rtol=1e-12, atol=1e-12)


def test_the_gradient_of_map_and_flow(device):
    check_gradient(Rig(WARP, [MAP, FLOW], device=device, dtype=np.float64), samples=60)


def test_a_flow_to_nowhere_and_to_the_very_edge(device):
    """Infinity and NaN are outside; between the last pixel and the border the last pixel is taken, and has no slope."""
    flow = np.zeros((1, 2, 1, 4))
    flow[0, 0] = [np.inf, np.nan, 1.75, -3]
    rig = Rig(WARP, [np.float64([[[[1, 2, 3, 5]]]]), flow], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0].ravel(), [0, 0, 5, 1])
    of_map, of_flow = rig.backward([np.ones((1, 1, 1, 4))])
    np.testing.assert_array_equal(of_map.ravel(), [1, 0, 0, 1])
    np.testing.assert_array_equal(of_flow[0, 0].ravel(), [0, 0, 0, 1])


def test_a_flow_of_another_shape_is_refused():
    with pytest.raises(LayerError, match=r"must be the flow of bottom 0, \(2, 2, 4, 5\)"):
        Rig(WARP, [MAP, FLOW[:, :, :3]])


def resampled(image: np.ndarray, high: int, wide: int, kind: str, antialias: bool) -> np.ndarray:
    """A matrix for each axis: where no offset depends on the other axis' size, this is what the program does."""
    height, width = image.shape[2:]
    t, s = width / wide, height / high

    def weight(d: np.ndarray) -> np.ndarray:
        d = np.abs(d)
        if kind == "LINEAR":
            return np.maximum(1 - d, 0)
        near, far = 1.5 * d**3 - 2.5 * d**2 + 1, -0.5 * d**3 + 2.5 * d**2 - 4 * d + 2
        return np.where(d <= 1, near, np.where(d < 2, far, 0))

    def matrix(size: int, out: int, step: float, offset: float) -> np.ndarray:
        sharp = 1 / step if antialias and (s > 1 or t > 1) else 1.0
        at = np.arange(out)[:, None] * step + offset / 2 - 0.5
        pixel, taps = np.arange(size)[None], 4 if kind == "CUBIC" else 2
        reach = 2 if step < 1 else int(np.ceil(taps / sharp))
        nearest = np.floor(np.abs(at) + 0.5) * np.sign(at)
        return np.where(np.abs(pixel - nearest) <= reach, weight(sharp * (at - pixel)), 0)

    rows, columns = matrix(height, high, s, t), matrix(width, wide, t, s)
    whole = rows.sum(1)[:, None] * columns.sum(1)
    sums = np.einsum("iy,ncyx,jx->ncij", rows, image, columns)
    return np.where(whole, sums / np.where(whole, whole, 1), 0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "antialias"), [("LINEAR", True), ("LINEAR", False), ("CUBIC", True)])
def test_a_map_at_another_size(device, size, kind, antialias):
    text = f"height: {size[0]} width: {size[1]} type: {kind} antialias: {str(antialias).lower()}"
    rig = Rig(f'type: "Resample" resample_param {{ {text} }}', [MAP], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], resampled(MAP, *size, kind, antialias), rtol=1e-9, atol=1e-12)


def test_twice_the_size_is_what_half_pixels_give(device):
    """Of equal steps it is the plain formula: a quarter and three quarters, and the border's pixel alone beyond it."""
    text = 'type: "Resample" resample_param { height: 4 width: 4 }'
    rig = Rig(text, [np.float64([[[[0, 4], [0, 4]]]])], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0][0, 0], [[0, 1, 3, 4]] * 4, atol=1e-12)


def test_the_size_of_another_blob_and_the_nearest_pixel(device):
    other = np.zeros((1, 7, 2, 10))
    rig = Rig('type: "Resample" resample_param { type: NEAREST }', [MAP, other], device=device, dtype=np.float64)
    s, t = 2.0, 0.5
    rows = np.clip(np.floor(np.arange(2) * s + t / 2), 0, 3).astype(int)
    columns = np.clip(np.floor(np.arange(10) * t + s / 2), 0, 4).astype(int)
    np.testing.assert_array_equal(rig.forward()[0], MAP[:, :, rows][..., columns])


def test_a_factor(device):
    """Twice the size repeats each pixel; of 4 x 5 pixels 1.5 times as many are 6 x 7."""
    rig = Rig('type: "Resample" resample_param { type: NEAREST factor: 2 }', [MAP], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], MAP.repeat(2, 2).repeat(2, 3))
    rig = Rig('type: "Resample" resample_param { factor: 1.5 }', [MAP], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], resampled(MAP, 6, 7, "LINEAR", True), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type: AREA height: 2 width: 2", "type: AREA is not supported"),
        ("factor: 2 height: 3", "give factor, or height and width"),
        ("factor: -1", "factor must be above 0"),
        ("factor: 0.1", "leaves nothing of"),
        ("height: 2", "height and width, or factor, must be given"),
    ],
)
def test_what_resample_refuses(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Resample" resample_param {{ {text} }}', [MAP])


def downsampled(image: np.ndarray, high: int, wide: int) -> np.ndarray:
    """A matrix for each axis, over all of its pixels: a weight of 0 is beyond the reach of the program's loops."""

    def matrix(size: int, out: int) -> np.ndarray:
        step = (size - 1) / max(out - 1, 1)
        off = np.abs(np.arange(out)[:, None] * step - np.arange(size))
        return np.maximum(1 - off / step, 0) if step else np.ones((out, size))

    rows, columns = matrix(image.shape[2], high), matrix(image.shape[3], wide)
    known = np.where(np.isnan(image), 0, 1)
    sums, whole = (np.einsum("iy,ncyx,jx->ncij", rows, part, columns) for part in (np.nan_to_num(image), known))
    unknown = np.einsum("iy,ncyx,jx->ncij", rows, 1 - known, columns)
    with np.errstate(invalid="ignore"):
        return np.where(unknown > whole / 2, np.nan, sums / whole)


@pytest.mark.parametrize("size", [(4, 3), (2, 2), (3, 9), (8, 10)])
def test_a_smaller_map_has_means(device, size):
    map = np.random.default_rng(5).standard_normal((2, 3, 8, 10))
    map[0, 1, 2:6, 3:7] = np.nan
    text = f"top_height: {size[0]} top_width: {size[1]}"
    rig = Rig(f'type: "Downsample" downsample_param {{ {text} }}', [map], device=device, dtype=np.float64)
    wanted = map if size == (8, 10) else downsampled(map, *size)
    assert np.isnan(wanted).any() == (size != (2, 2))
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-9, atol=1e-12)


def test_downsample_takes_the_size_of_another_blob(device):
    rig = Rig('type: "Downsample"', [MAP[:, :, :1], np.zeros((1, 7, 1, 3))], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], downsampled(MAP[:, :, :1], 1, 3), rtol=1e-9)
    for text, message in (
        ("top_height: 2", "top_height and top_width must be given"),
        ("top_height: 1 top_width: 2", "one has no two"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(f'type: "Downsample" downsample_param {{ {text} }}', [MAP])


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_means_of_channels(in_place, device):
    x = np.random.default_rng(6).standard_normal((2, 6, 3, 5))
    fields = "operation: SUBTRACT value: 1 value: 2 value: 3 input_scale: 0.5 mean_scale: 2 output_scale: 4"
    rig = Rig(f'type: "Mean" mean_param {{ {fields} }}', [x], device=device, dtype=np.float64, in_place=in_place)
    means = np.tile([1.0, 2, 3], 2).reshape(6, 1, 1)
    np.testing.assert_allclose(rig.forward()[0], 4 * (0.5 * x - 2 * means), rtol=1e-12, atol=1e-12)
    check_gradient(rig, samples=40)


def test_means_of_several_bottoms(device):
    bottoms = [np.ones((1, 2, 3)), np.full((2, 4), 5.0)]
    tops = Rig('type: "Mean" mean_param { value: 1 value: 2 }', bottoms, device=device, tops=2).forward()
    for x, y in zip(bottoms, tops):
        np.testing.assert_array_equal(y, x + np.tile([1, 2], x.shape[1] // 2).reshape(-1, *[1] * (x.ndim - 2)))
    for fields, message in (
        ("", "at least one value"),
        ('file: "mean"', "file is not supported"),
        ("value: [1, 2, 3]", "multiple of the 3"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(f'type: "Mean" mean_param {{ {fields} }}', [np.ones((1, 2, 3))])


@pytest.mark.parametrize(
    "text",
    ['Resample" resample_param { height: 3 width: 7 }', 'Downsample" downsample_param { top_height: 3 top_width: 7 }'],
)
def test_resampled_maps_have_no_gradient(text):
    rig = Rig(f'type: "{text}', [MAP])
    rig.forward()
    with pytest.raises(LayerError, match="has no gradient"):
        rig.backward([np.ones((2, 3, 3, 7))])


def test_the_length_of_the_channels(device):
    rig = Rig('type: "ChannelNorm"', [MAP], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], np.linalg.norm(MAP, axis=1, keepdims=True), rtol=1e-12)
    check_gradient(rig, samples=40)


def test_no_length_has_no_slope(device):
    rig = Rig('type: "ChannelNorm"', [np.zeros((1, 2, 3))], device=device)
    assert not rig.forward()[0].any()
    assert not rig.backward([np.ones((1, 1, 3))])[0].any()
