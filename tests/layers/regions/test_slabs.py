"""Forwards of region operators from slabs that are packed first, as on a GPU (layers/regions/wide.h): bits, blocks and launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import Rig
from region_checks import regions
from test_sampling import layer

from boxpresso.device import open_device
from boxpresso.layers.regions import psroi_base, region_base
from boxpresso.layers.regions.psroi_base import PositionSensitive
from boxpresso.layers.regions.roi_pooling import ROIPooling

pytestmark = pytest.mark.later

RNG = np.random.default_rng(8)
POOL = "pooled_h: 3 pooled_w: 4 spatial_scale: 0.5"
MANY_BINS = "pooled_h: 9 pooled_w: 11 spatial_scale: 0.5"
MAPS = np.round(2 * RNG.standard_normal((2, 19, 18, 22)))  # two slabs, one of them not full; many numbers are equal
MAPS[1, :, 5:10, 5:10], MAPS[0, 1, 3, 3], MAPS[1, 2, 12, 7] = np.nan, -np.inf, np.inf
SMOOTH = RNG.standard_normal(MAPS.shape)
ROWS = regions(RNG, 12, 2, 40)
ROWS[3, 1:] = [5, 5, 200, 190]  # all of the map, and more
ROWS[5, 0], ROWS[6, 2] = 7, np.nan
TURNED = np.c_[ROWS[:, :1], (ROWS[:, 1:3] + ROWS[:, 3:]) / 2, ROWS[:, 3:] - ROWS[:, 1:3], RNG.uniform(-170, 170, 12)]
OFFSETS, MASK = RNG.uniform(-1, 1, (12, 2, 3, 4)), RNG.uniform(0, 1, (12, 1, 3, 4))
OFFSETS[2, 0, 1, 1], OFFSETS[3, 1, 0, 0], OFFSETS[4, 0, 2, 2] = np.nan, np.inf, 1e30
SIZES = np.array([[36, 44, 1], [30, 40, 1]])
BOXES, OF = RNG.uniform(-0.2, 1.2, (30, 4)), np.arange(30) % 3
BOXES[4, 2] = np.nan
POINTS = RNG.uniform(-0.1, 1.1, (2, 130, 2))
FEATURES = [True, False, False]

# name: layer, bottoms, which of them get a gradient, further options
LAYERS: dict[str, tuple[str, list[Any], list[bool], dict[str, Any]]] = {
    "ROIAlign": (  # more slabs than a block takes
        f'type: "ROIAlign" roi_align_param {{ {POOL} sampling_ratio: 2 aligned: true }}',
        [np.tile(SMOOTH, (1, 4, 1, 1))[:, :70], ROWS], [], {},
    ),
    "ROIAlign many bins": (f'type: "ROIAlign" roi_align_param {{ {MANY_BINS} }}', [SMOOTH, ROWS], [], {}),
    "ROIAlign many entries": (  # than a block keeps
        'type: "ROIAlign" roi_align_param { pooled_h: 2 pooled_w: 300 spatial_scale: 0.5 sampling_ratio: 2 }', [SMOOTH, ROWS], [], {},
    ),
    "ROIAlign max": (
        f'type: "ROIAlign" roi_align_param {{ {POOL} sampling_ratio: 2 pool_mode: MAX }}', [MAPS, ROWS], FEATURES, {"tops": 3},
    ),
    "ROIAlign max adaptive": (
        f'type: "ROIAlign" roi_align_param {{ {POOL} aligned: true pool_mode: MAX }}', [MAPS, ROWS], FEATURES, {},
    ),
    "ROIAlign max many bins": (
        f'type: "ROIAlign" roi_align_param {{ {MANY_BINS} sampling_ratio: 1 pool_mode: MAX }}', [MAPS, ROWS], FEATURES, {},
    ),
    "ROIPooling": (f'type: "ROIPooling" roi_pooling_param {{ {POOL} }}', [MAPS, ROWS], FEATURES, {"tops": 2}),
    "ROIPooling many bins": (f'type: "ROIPooling" roi_pooling_param {{ {MANY_BINS} }}', [MAPS, ROWS], FEATURES, {}),
    "ROIPooling tested": (f'type: "ROIPooling" roi_pooling_param {{ {POOL} }}', [MAPS, ROWS], [], {"phase": "TEST"}),
    "RotateROIPooling": (
        f'type: "RotateROIPooling" rotate_pooling_param {{ {POOL} }}', [MAPS, TURNED, SIZES], FEATURES, {"tops": 2},
    ),
    "ROIWarping": (f'type: "ROIWarping" roi_warping_param {{ {POOL} }}', [SMOOTH, ROWS], [True, True], {}),
    "ROIWarping many bins": (f'type: "ROIWarping" roi_warping_param {{ {MANY_BINS} }}', [MAPS, ROWS], FEATURES, {}),
    "CropAndResize": (
        layer("CropAndResize", crop_size=[5, 7], extrapolation_value=0.5), [SMOOTH, BOXES, OF], [True, True, False], {},
    ),
    "CropAndResize nearest": (
        layer("CropAndResize", crop_size=[9, 11], method="nearest"), [MAPS, BOXES, OF], [], {},
    ),
    "DeformROIPooling": (
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {POOL} sampling_ratio: 2 gamma: 0.3 }}', [SMOOTH, ROWS, OFFSETS], [],
        {},
    ),
    "ModulatedDeformROIPooling": (
        f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {POOL} gamma: 0.3 }}', [MAPS, ROWS, OFFSETS, MASK], [], {},
    ),
    "DeformROIPooling many samples": (
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {POOL} sampling_ratio: 18 gamma: 0.3 }}', [SMOOTH, ROWS, OFFSETS],
        [], {},
    ),
    "DeformROIPooling samples off the map": (
        'type: "DeformROIPooling" deform_roi_pooling_param { pooled_h: 9 pooled_w: 11 spatial_scale: 2 sampling_ratio: 33 }',
        [SMOOTH, ROWS], [], {},
    ),
    "PrROIPooling": (f'type: "PrROIPooling" prroi_pooling_param {{ {POOL} }}', [SMOOTH, ROWS], [], {}),
    "PrROIPooling many bins": (
        'type: "PrROIPooling" prroi_pooling_param { pooled_h: 2 pooled_w: 70 spatial_scale: 0.5 }', [SMOOTH, ROWS], [], {},
    ),
    "PrROIPooling wide maps": (
        'type: "PrROIPooling" prroi_pooling_param { pooled_h: 3 pooled_w: 2 }',
        [np.tile(SMOOTH[:, :5, :9], (1, 1, 1, 30)), ROWS * [1, 12, 0.5, 16, 0.2]], [], {},
    ),
    "PointSample": (layer("PointSample"), [SMOOTH, POINTS], [True, True], {}),
}  # fmt: skip
PLANES = RNG.standard_normal((2, 18, 18, 24))  # rows that begin at a multiple of 128 bits
PLANES[0, 3, 5, 5], PLANES[1, :, 8, 9], PLANES[1, 4, 2, 2] = np.nan, np.inf, -np.inf
PSROI = "spatial_scale: 0.5 output_dim: 2 group_size: 3"
CUT: dict[str, tuple[str, list[Any], list[bool], dict[str, Any]]] = {
    "PSROIPooling": (f'type: "PSROIPooling" psroi_pooling_param {{ {PSROI} }}', [PLANES, ROWS], FEATURES, {}),
    "PSROIAlign": (f'type: "PSROIAlign" psroi_align_param {{ {PSROI} sample_num: 2 }}', [PLANES, ROWS], FEATURES, {}),
    "PSROIAlign adaptive": (f'type: "PSROIAlign" psroi_align_param {{ {PSROI} }}', [PLANES, ROWS], FEATURES, {}),
    "DeformablePSROIPooling": (
        f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {PSROI} pooled_size: 4 part_size: 3 '
        "sample_per_part: 3 trans_std: 0.2 }", [PLANES, ROWS, RNG.uniform(-1, 1, (12, 4, 3, 3))], [True, False, True], {"tops": 2},
    ),
}  # fmt: skip


def results(case: tuple, dtype: type, device: str = "cpu") -> list[np.ndarray]:
    text, bottoms, down, options = case
    with np.errstate(all="ignore"):
        rig = Rig(text, bottoms, dtype=dtype, device=device, **{"phase": "TRAIN", **options})
        tops = rig.forward()
        if not down:
            return tops
        diffs = [np.random.default_rng(1).standard_normal(top.shape) for top in tops]
        gradients = rig.backward(diffs, down[: len(bottoms)])
    return [*tops, *(gradient for gradient, asked in zip(gradients, down) if asked)]


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)


@pytest.mark.later(but=2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=["double", "float", "half"])
@pytest.mark.parametrize("name", LAYERS)
def test_slabs_give_the_bits_of_planes(name, dtype, monkeypatch):
    """Values, places of the largest, the first of equals, NaN and infinity, and gradients. Samples that are averaged are
    products and sums whose rounding a compiler may choose in each kernel: they agree to that."""
    wanted = results(LAYERS[name], dtype)
    monkeypatch.setitem(region_base.PACKED, "cpu", True)
    got, again = results(LAYERS[name], dtype), results(LAYERS[name], dtype)
    assert any(np.nan_to_num(w).any() for w in wanted)
    limit = {np.float64: 1e-13, np.float32: 1e-5, np.float16: 2e-3}[dtype]
    for one, other, repeated in zip(got, wanted, again, strict=True):
        assert same(one, repeated)
        if ("Pooling" in name and not name.startswith(("Deform", "Modulated", "PrROI"))) or "nearest" in name:
            assert same(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


@pytest.mark.parametrize("channels", [3, 19, 32, 36])
def test_channels_last_are_packed(channels, monkeypatch):
    """Whole slabs of channels that lie at multiples of 128 bits, and those that do not."""
    monkeypatch.setattr(ROIPooling, "last", True)
    maps = np.tile(MAPS, (1, 2, 1, 1))[:, :channels].transpose(0, 2, 3, 1)
    case = (LAYERS["ROIPooling"][0], [maps, ROWS], FEATURES, {"tops": 2})
    wanted = results(case, np.float32)
    monkeypatch.setitem(region_base.PACKED, "cpu", True)
    assert all(same(one, other) for one, other in zip(results(case, np.float32), wanted, strict=True))


@pytest.mark.parametrize("together", [1, 5, 256])
@pytest.mark.parametrize("name", CUT)
def test_regions_of_a_channel_are_cut_among_blocks(name, together, monkeypatch):
    wanted = results(CUT[name], np.float32)

    def parts(self: PositionSensitive, bins: int = 1, alone: bool = False) -> tuple[int, int]:
        return self.channels * -(-self.regions // together), together

    monkeypatch.setattr(PositionSensitive, "parts", parts)
    assert all(same(one, other) for one, other in zip(results(CUT[name], np.float32), wanted, strict=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=["double", "float", "half"])
@pytest.mark.parametrize("samples", [1, 2, 3])
def test_samples_one_by_one_give_what_weights_of_rows_give(samples, dtype, monkeypatch):
    """On planes of finite numbers: a weight of 0 times infinity is NaN, and rows that no sample touches have one."""
    text = f'type: "PSROIAlign" psroi_align_param {{ {PSROI} sample_num: {samples} }}'
    case = text, [np.nan_to_num(PLANES, posinf=2, neginf=-2), ROWS], FEATURES, {}
    wanted = results(case, dtype)
    monkeypatch.setitem(psroi_base.ONE_BY_ONE, "cpu", True)
    limit = {np.float64: 1e-13, np.float32: 1e-5, np.float16: 2e-3}[dtype]
    assert wanted[0].any()
    for one, other in zip(results(case, dtype), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


@pytest.mark.parametrize("name", [*LAYERS, *CUT])
def test_on_a_device_as_on_the_host(name, device):
    """On a GPU, or its stand-in, the kernels of a GPU."""
    case = {**LAYERS, **CUT}[name]
    for one, other in zip(results(case, np.float32, device), results(case, np.float32), strict=True):
        size = np.abs(other[np.isfinite(other)]).max(initial=1)  # sums of many cancel
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6 * max(size, 10))


@pytest.mark.parametrize("name", [*LAYERS, *CUT])
def test_no_regions_no_pixels_no_channels(name, monkeypatch):
    monkeypatch.setitem(region_base.PACKED, "cpu", True)
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    text, bottoms, down, options = {**LAYERS, **CUT}[name]
    none = [bottoms[0], *(b[:0] if len(b) == len(bottoms[1]) else b for b in bottoms[1:])]
    if name == "PointSample":
        none = [bottoms[0], bottoms[1][:, :0]]
    changes = [none, [bottoms[0][:, :, :0], *bottoms[1:]]]
    if name in LAYERS:
        changes.append([bottoms[0][:, :0], *bottoms[1:]])
    for changed in changes:
        for array in results((text, changed, down, options), np.float32):
            assert array.size == 0 or np.isfinite(array).all()


@pytest.mark.later(but=2)
@pytest.mark.parametrize("shift", [0, 1], ids=["", "unaligned"])
@pytest.mark.parametrize("area", [1, 7, 49, 64, 100, 255, 256, 260, 513])
@pytest.mark.parametrize("channels", [1, 16, 21, 48])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=["double", "float", "half"])
def test_slabs_of_maps(dtype, channels, area, shift, device):
    """Maps (2, C, area) as they lie in slabs of 16 channels, with two pixels of zeros behind each."""
    kernels, device = region_base.KERNELS, open_device(device)
    pixels, real = kernels.constants["PACKED_PIXELS"], np.float64 if dtype == np.float64 else np.float32
    maps = RNG.standard_normal((2, channels, area)).astype(dtype)
    slabs, parts = -(-channels // 16), -(-area // pixels)
    padded = np.zeros((2, slabs * 16, area), real)
    padded[:, :channels] = maps
    wanted = np.zeros((2 * slabs, area + 2, 16), real)
    wanted[:, :area] = padded.reshape(2 * slabs, 16, area).transpose(0, 2, 1)
    start = shift * max(4 // maps.itemsize, 1)  # an array may begin at any multiple of 4 bytes
    memory = device.table(np.concatenate([np.zeros(start), maps.ravel()]), dtype)
    got = device.table(np.full(wanted.shape, np.nan), real)
    kernels.on(device).region_pack(
        2 * slabs * parts, device.part(memory, start, maps.shape), got, channels, area, 2, pixels
    )
    assert np.array_equal(np.asarray(got), wanted)
