"""Gradients of maps in tiles (layers/regions/tiles.h): the lists, the results beside those of whole maps, blocks, and bits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness import Rig, close
from region_checks import regions

from boxpresso.device import open_device
from boxpresso.layers.core.scratch import Scratch
from boxpresso.layers.regions import listed, region_base
from boxpresso.layers.regions.align_rotated_base import AlignRotated
from boxpresso.layers.regions.region_base import KERNELS, RegionLayer
from boxpresso.proto.errors import LayerError

pytestmark = pytest.mark.later

SIDE, SLAB = KERNELS.constants["TILE_SIDE"], KERNELS.constants["SLAB"]
GROUP = listed.Listed.sums.constants["GROUP"]
RNG = np.random.default_rng(5)
POOL = "pooled_h: 3 pooled_w: 4 spatial_scale: 0.5"
MAPS = RNG.standard_normal((2, 19, 37, 45))  # three tiles by three, two slabs, none of them full
PLANES = RNG.standard_normal((2, 18, 37, 45))
ROWS = regions(RNG, 14, 2, 80)
ROWS[3, 1:] = [5, 5, 200, 190]  # all of the map, and more
ROWS[5, 0], ROWS[6, 2] = 7, np.nan
TURNED = np.c_[ROWS[:, :1], (ROWS[:, 1:3] + ROWS[:, 3:]) / 2, ROWS[:, 3:] - ROWS[:, 1:3], RNG.uniform(-3, 3, 14)]
OFFSETS, MASK = RNG.uniform(-1, 1, (14, 2, 3, 4)), RNG.uniform(0, 1, (14, 1, 3, 4))
CLOSE = np.c_[
    RNG.integers(0, 2, 14), 40 + RNG.uniform(-1, 1, (14, 2)), 42 + RNG.uniform(0, 8, (14, 2))
]  # hundreds of bins a pixel
PSROI = "spatial_scale: 0.5 output_dim: 2 group_size: 3"
LISTED = "ROIAlign", "DeformROI", "ROIWarping"  # whose gradients of maps are made from lists of what each pixel gets

# name: layer, bottoms, which of them get a gradient
LAYERS: dict[str, tuple[str, list[np.ndarray], list[bool]]] = {
    "ROIAlign": (f'type: "ROIAlign" roi_align_param {{ {POOL} sampling_ratio: 2 }}', [MAPS, ROWS], [True, False]),
    "ROIAlign adaptive": (f'type: "ROIAlign" roi_align_param {{ {POOL} aligned: true }}', [MAPS, ROWS], [True, True]),
    "ROIAlign max": (
        f'type: "ROIAlign" roi_align_param {{ {POOL} aligned: true pool_mode: MAX }}', [MAPS, ROWS], [True, False],
    ),
    "ROIAlign max fixed": (
        f'type: "ROIAlign" roi_align_param {{ {POOL} sampling_ratio: 2 pool_mode: MAX }}', [MAPS, ROWS], [True, False],
    ),
    "ROIAlign many bins": (
        'type: "ROIAlign" roi_align_param { pooled_h: 17 pooled_w: 18 spatial_scale: 0.5 sampling_ratio: 1 }', [MAPS, ROWS],
        [True, False],
    ),
    "ROIPooling": (f'type: "ROIPooling" roi_pooling_param {{ {POOL} }}', [MAPS, ROWS], [True, False]),
    "ROIPooling many bins": (
        'type: "ROIPooling" roi_pooling_param { pooled_h: 24 pooled_w: 20 spatial_scale: 0.5 }', [MAPS, ROWS], [True, False],
    ),
    "PSROIPooling": (f'type: "PSROIPooling" psroi_pooling_param {{ {PSROI} }}', [PLANES, ROWS], [True, False]),
    "DeformablePSROIPooling": (
        f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {PSROI} pooled_size: 4 part_size: 3 sample_per_part: 3 '
        "trans_std: 0.2 }", [PLANES, ROWS, RNG.uniform(-1, 1, (14, 4, 3, 3))], [True, False, True],
    ),
    "DeformablePSROIPooling unmoved": (
        f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {PSROI} no_trans: true }}', [PLANES, ROWS], [True, False],
    ),
    "PrROIPooling": (f'type: "PrROIPooling" prroi_pooling_param {{ {POOL} }}', [MAPS, ROWS], [True, True]),
    "PrROIPooling many bins": (
        'type: "PrROIPooling" prroi_pooling_param { pooled_h: 15 pooled_w: 14 spatial_scale: 0.5 }', [MAPS, ROWS], [True, True],
    ),
    "PrROIPooling one place": (
        'type: "PrROIPooling" prroi_pooling_param { pooled_h: 12 pooled_w: 11 spatial_scale: 0.5 }',
        [np.tile(MAPS, (1, 14, 1, 1))[:, :261], CLOSE], [True, True],
    ),
    "PrROIPooling few channels": (
        'type: "PrROIPooling" prroi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 2 }', [MAPS[:, :3, :, :44], ROWS], [True, True],
    ),
    "ROIAlignRotated": (
        f'type: "ROIAlignRotated" roi_align_rotated_param {{ {POOL} sampling_ratio: 2 }}', [MAPS, TURNED], [True, True],
    ),
    "ROIAlignRotated adaptive": (
        f'type: "ROIAlignRotated" roi_align_rotated_param {{ {POOL} aligned: true clockwise: true }}', [MAPS, TURNED], [True, False],
    ),
    "ROIAlignRotated many samples": (
        'type: "ROIAlignRotated" roi_align_rotated_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 sampling_ratio: 18 }',
        [MAPS, TURNED], [True, False],
    ),
    "RiROIAlignRotated": (
        f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {POOL} sampling_ratio: 2 num_orientations: 2 }}',
        [PLANES, TURNED], [True, False],
    ),
    "RiROIAlignRotated five orientations": (  # not a part of what is packed together
        f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {POOL} num_orientations: 5 clockwise: true }}',
        [np.concatenate([PLANES, PLANES[:, :2]], 1), TURNED], [True, False],
    ),
    "DeformROIPooling": (
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {POOL} sampling_ratio: 2 gamma: 0.3 }}', [MAPS, ROWS, OFFSETS],
        [True, False, True],
    ),
    "ModulatedDeformROIPooling": (
        f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {POOL} }}', [MAPS, ROWS, OFFSETS, MASK],
        [True, False, True, True],
    ),
    "DeformROIPooling bins over many tiles": (
        'type: "DeformROIPooling" deform_roi_pooling_param { pooled_h: 1 pooled_w: 1 spatial_scale: 0.5 sampling_ratio: 3 gamma: 0.2 }',
        [MAPS, ROWS, OFFSETS[:, :, :1, :1]], [True, False, True],
    ),
    "ModulatedDeformROIPooling one place": (
        'type: "ModulatedDeformROIPooling" deform_roi_pooling_param { pooled_h: 12 pooled_w: 11 spatial_scale: 0.5 sampling_ratio: 3 }',
        [np.tile(MAPS, (1, 14, 1, 1))[:, :261], CLOSE, RNG.uniform(-1, 1, (14, 2, 12, 11)), RNG.uniform(0, 1, (14, 1, 12, 11))],
        [True, False, True, True],
    ),
    "ModulatedDeformROIPooling many samples": (
        f'type: "ModulatedDeformROIPooling" deform_roi_pooling_param {{ {POOL} sampling_ratio: 18 }}', [MAPS, ROWS, OFFSETS, MASK],
        [True, False, True, True],
    ),
    "ModulatedDeformROIPooling many bins": (
        'type: "ModulatedDeformROIPooling" deform_roi_pooling_param { pooled_h: 19 pooled_w: 9 spatial_scale: 0.5 sampling_ratio: 2 }',
        [np.tile(MAPS, (1, 2, 1, 1))[:, :35], ROWS, RNG.uniform(-1, 1, (14, 2, 19, 9)), RNG.uniform(0, 1, (14, 1, 19, 9))],
        [True, False, True, True],
    ),
    "PSROIAlign": (f'type: "PSROIAlign" psroi_align_param {{ {PSROI} sample_num: 2 }}', [PLANES, ROWS], [True, False]),
    "RotateROIPooling": (
        f'type: "RotateROIPooling" rotate_pooling_param {{ {POOL} }}',
        [MAPS, TURNED * [1, 1, 1, 1, 1, 57], np.array([[74, 90, 1]])], [True, False, False],
    ),
    "RotateROIPooling thin bins": (
        'type: "RotateROIPooling" rotate_pooling_param { pooled_h: 30 pooled_w: 2 spatial_scale: 0.1 }',
        [MAPS, TURNED * [1, 1, 1, 0.02, 1, 57], np.array([[740, 900, 1]])], [True, False, False],
    ),
    "ROIWarping": (f'type: "ROIWarping" roi_warping_param {{ {POOL} }}', [MAPS, ROWS], [True, False]),
}  # fmt: skip


def gradients(name: str, dtype: type) -> list[np.ndarray]:
    text, bottoms, down = LAYERS[name]
    rig = Rig(text, bottoms, dtype=dtype, device="cpu", phase="TRAIN")
    rig.forward()
    diff = np.random.default_rng(1).standard_normal(rig.top[0].shape)
    return [d for d, asked in zip(rig.backward([diff], down), down) if asked]


@pytest.mark.later(but=1)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=["double", "float", "half"])
@pytest.mark.parametrize("name", LAYERS)
def test_tiles_give_what_whole_maps_give(name, dtype, monkeypatch):
    with np.errstate(all="ignore"):
        wanted = gradients(name, dtype)
        monkeypatch.setitem(region_base.TILED, "cpu", True)
        got, again = gradients(name, dtype), gradients(name, dtype)
    limit = {np.float64: 1e-12, np.float32: 1e-5, np.float16: 2e-3}[dtype]
    assert wanted[0].any()
    for one, other, same in zip(got, wanted, again, strict=True):
        close(one, other, rtol=limit, atol=limit)
        assert np.array_equal(one, same)


@pytest.mark.parametrize("name", LAYERS)
def test_no_regions_and_no_pixels(name, monkeypatch):
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    text, bottoms, down = LAYERS[name]
    none = [bottoms[0], *(b[:0] if len(b) == len(ROWS) else b for b in bottoms[1:])]
    for changed in (none, [bottoms[0][:, :, :0], *bottoms[1:]]):
        with np.errstate(all="ignore"):
            rig = Rig(text, changed, device="cpu", phase="TRAIN")
            rig.forward()
            diff = rig.backward([np.ones(rig.top[0].shape)], down)[0]
        assert not diff.any()


@pytest.mark.later(but=2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=["double", "float", "half"])
@pytest.mark.parametrize(
    "name",
    [name for name in LAYERS if any(word in name for word in ("AlignRotated", "PrROI", *LISTED)) and "max" not in name],
)
def test_lists_without_room_give_the_same(name, dtype, monkeypatch):
    """Tiles whose lists have no room are made slab by slab, in the order of whole lists: none, some, all. The gradients of regions, offsets
    and masks come from the maps then. But for rounding: the two are kernels of their own."""
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    made = []
    with np.errstate(all="ignore"):
        for most in (2**27, 20000, 2000, 0):
            monkeypatch.setattr(listed, "MOST_ENTRIES", most)
            monkeypatch.setattr(listed, "FEW_ENTRIES", min(most, 2000))
            made.append(gradients(name, dtype))
    assert all(each.any() for each in made[0])
    for one, other in ((one, other) for got in made[1:] for one, other in zip(made[0], got, strict=True)):
        limit = np.abs(one.astype(np.float64)).max() * {8: 1e-12, 4: 1e-5, 2: 3e-3}[np.dtype(dtype).itemsize]
        np.testing.assert_allclose(other, one, rtol=0, atol=limit)


@pytest.mark.parametrize("name", ["ROIAlign", "PrROIPooling"])
def test_gradients_that_no_list_can_name_are_refused(name, monkeypatch):
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    monkeypatch.setattr(listed, "MOST_PLACED", 14 * 12 * 32)
    with np.errstate(all="ignore"), pytest.raises(LayerError, match=r"of 14 regions .* give fewer regions at once"):
        gradients(name, np.float32)


class Rotated(AlignRotated):
    """ROIAlignRotated of 2 x 3 bins, of which only the lists are made."""

    def lists(self, device: Any, size: tuple[int, int], ratio: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the entries of each pixel of each tile begin, and the entries: weights, and numbers of bins."""
        self.device, self.batch, self.channels, self.size, self.regions = device, 2, 20, size, len(rows)
        self.rooms, self.tile_cut, self.real, self.ratio = [Scratch(device)], None, np.dtype(np.float32), ratio
        self.pooled, self.scale, self.aligned, self.clockwise = (2, 3), 0.5, True, 0
        self.slab, self.slabs = SLAB, 2
        self.geometry = self.rotated.struct("GridGeometry", **self.fields, sampling_ratio=ratio, aligned=1)
        diffs = device.empty((len(rows), 20, 2, 3), np.float32)
        table = device.empty(rows.shape, np.float32)
        table[...] = rows
        self.ask_lists()
        self.to_tiles(diffs, table, device.empty((2, 20, *size), np.float32), 0)
        made, heads = np.asarray(self.room("entries")), np.asarray(self.room("heads"))
        tiles = len(heads) // (SIDE**2 + 2)  # behind them is how many entries each tile has
        return heads[:-tiles].reshape(tiles, -1), np.stack([made[:, 0], made.view(np.int32)[:, 1] // 8], 1)


@pytest.mark.parametrize("ratio", [2, 0])
def test_lists_name_the_bins_of_each_pixel(ratio, device, monkeypatch):
    """Beside a loop over all samples in float64: which bins, in their order, with what weights, and whole groups. A bin may have
    several entries, one after the other."""
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    monkeypatch.setattr(region_base, "FEW", 100)  # regions stay in their order
    rng, (height, width), pooled = np.random.default_rng(4), (21, 37), (2, 3)
    rows = np.c_[
        rng.integers(0, 2, 40), rng.uniform(-5, 70, (40, 2)), rng.uniform(1, 50, (40, 2)), rng.uniform(-3, 3, 40)
    ]
    rows[7, 0], rows[9, 3] = 5, np.inf
    rows = rows.astype(np.float32)
    layer: Any = Rotated.__new__(Rotated)
    heads, entries = layer.lists(open_device(device), (height, width), ratio, rows)
    wanted: dict[tuple[int, int, int], dict[int, float]] = {}
    for k, (image, *numbers) in enumerate(rows.astype(np.float64)):
        if image > 1 or not np.isfinite(numbers).all():
            continue
        cx, cy, wide, tall = 0.5 * np.array(numbers[:4]) - [0.5, 0.5, 0, 0]
        counts = [ratio or int(np.ceil(np.float32(size) / bins)) for size, bins in zip((tall, wide), pooled)]
        for row, column in np.ndindex(pooled[0] * counts[0], pooled[1] * counts[1]):
            down, across = (
                tall * ((row + 0.5) / pooled[0] / counts[0] - 0.5),
                wide * ((column + 0.5) / pooled[1] / counts[1] - 0.5),
            )
            sine, cosine = np.sin(numbers[4]), np.cos(numbers[4])
            y, x = down * cosine - across * sine + cy, down * sine + across * cosine + cx
            if not (-1 <= y <= height and -1 <= x <= width):
                continue
            y, x = max(y, 0), max(x, 0)
            top, left = min(int(y), height - 1), min(int(x), width - 1)
            for py in {top, min(top + 1, height - 1)}:
                for px in {left, min(left + 1, width - 1)}:
                    weight = max(0, 1 - abs(min(y, height - 1) - py)) * max(0, 1 - abs(min(x, width - 1) - px))
                    bin_ = (k * pooled[0] + row // counts[0]) * pooled[1] + column // counts[1]
                    bins = wanted.setdefault((int(image), py, px), {})
                    bins[bin_] = bins.get(bin_, 0) + weight / (counts[0] * counts[1])
    down_tiles, across_tiles, split, all_entries = -(-height // SIDE), -(-width // SIDE), 0, 0
    assert len(heads) == 2 * down_tiles * across_tiles
    for tile, pixel in np.ndindex(len(heads), SIDE * SIDE):
        image, place = divmod(tile, down_tiles * across_tiles)
        y, x = place // across_tiles * SIDE + pixel // SIDE, place % across_tiles * SIDE + pixel % SIDE
        mine = entries[heads[tile, pixel] : heads[tile, pixel + 1]]
        expected = sorted(wanted.pop((image, y, x), {}).items())
        zeros = mine[:, 1] == len(rows) * pooled[0] * pooled[1]  # the row of zeros
        assert len(mine) % GROUP == 0
        assert zeros.sum() < GROUP
        assert not mine[zeros, 0].any()
        mine = mine[~zeros]
        bins, first = np.unique(mine[:, 1], return_index=True)
        assert bins.tolist() == [bin_ for bin_, _ in expected]
        assert np.all(np.diff(mine[:, 1]) >= 0)
        split, all_entries = split + len(mine) - len(bins), all_entries + len(mine)
        if len(bins):
            sums = np.add.reduceat(mine[:, 0], first)
            np.testing.assert_allclose(sums, [weight for _, weight in expected], rtol=0, atol=1e-4)
    assert not wanted
    assert split < 0.25 * all_entries


class Layer(RegionLayer):
    """What `tiles` needs of a layer."""

    def __init__(self, device: Any, batch: int, channels: int, size: tuple[int, int], count: int) -> None:
        self.device, self.batch, self.channels, self.size, self.regions = device, batch, channels, size, count
        self.rooms, self.tile_cut, self.real = [Scratch(device)], None, np.dtype(np.float32)
        self.ask_tiles()


def test_lists_name_what_touches_a_tile(device, monkeypatch):
    """Beside a loop over all regions and tiles; more regions than a block counts at once."""
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    rng, count, size = np.random.default_rng(2), 700, (35, 50)
    first, length = rng.integers(-9, 50, (2, count, 2))
    boxes = np.stack([rng.integers(-1, 2, count), first[:, 0], length[:, 0], first[:, 1], length[:, 1]], 1)
    boxes[::7, 2] = 0
    order = rng.permutation(count)
    opened = open_device(device)
    layer = Layer(opened, 2, 16, size, count)
    tiles, lists = layer.tiles(opened.table(boxes), opened.table(order))
    assert tiles == 2 * 3 * 4
    rows = np.asarray(lists)
    assert rows[: KERNELS.constants["TILE_HEAD"]].tolist() == [SIDE, SIDE, 3, 4, count]
    entries = rows[KERNELS.constants["TILE_HEAD"] :].reshape(tiles, count + 1)
    for tile in range(tiles):
        image, y, x = tile // 12, tile % 12 // 4 * SIDE, tile % 4 * SIDE
        bottom, right = min(y + SIDE, size[0]), min(x + SIDE, size[1])
        wanted = [
            k for k in order
            if boxes[k, 0] == image and boxes[k, 2] > 0 and boxes[k, 4] > 0
            and max(boxes[k, 1], y) < min(boxes[k, 1] + boxes[k, 2], bottom)
            and max(boxes[k, 3], x) < min(boxes[k, 3] + boxes[k, 4], right)
        ]  # fmt: skip
        assert entries[tile, 1 : 1 + entries[tile, 0]].tolist() == wanted


def test_thousands_of_blocks_at_the_big_shape(monkeypatch):
    """[2, 256, 200, 304] with 998 regions, as the seeds' benchmark has it."""
    monkeypatch.setitem(region_base.TILED, "cpu", True)
    opened = open_device("cpu")
    layer = Layer(opened, 2, 256, (200, 304), 998)
    tiles, _ = layer.tiles(opened.empty((998, 5), np.int32), opened.table(np.arange(998)))
    assert tiles == 2 * 13 * 19
    assert tiles * layer.channel_slabs == 7904
    small = SimpleNamespace(device=SimpleNamespace(kind="cuda"))
    assert RegionLayer.tiled.fget(small)  # a GPU makes them so


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(
    ("channels", "size", "behind"), [(19, (13, 21), 1), (16, (16, 24), 0), (5, (1, 3), 2), (3, (0, 4), 1)]
)
def test_maps_are_packed_in_slabs(channels, size, behind, dtype, device, monkeypatch):
    """Whole slabs and parts of them, with zeros behind and in missing channels."""
    opened, slab = open_device(device), KERNELS.constants["SLAB"]
    maps = np.random.default_rng(1).standard_normal((2, channels, *size)).astype(dtype)
    count, area = -(-channels // slab), size[0] * size[1]
    wanted = np.zeros((2, count * slab, area + behind), dtype)
    wanted[:, :channels, :area] = maps.reshape(2, channels, area)
    wanted = wanted.reshape(2, count, slab, -1).transpose(0, 1, 3, 2)
    layer = Layer(opened, 2, channels, size, 1)
    features = opened.empty(maps.shape, dtype)
    features[...] = maps
    for packed in (True, False):
        monkeypatch.setitem(region_base.PACKED, opened.kind, packed)
        slabs = opened.empty(wanted.shape, np.float64 if dtype == np.float64 else np.float32)
        slabs.fill(np.nan)
        layer.pack_slabs(features, slabs, behind)
        assert np.array_equal(np.asarray(slabs), wanted)
