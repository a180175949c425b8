"""A call of a region operator that would read more samples than the limit is refused by name; what any real net asks for is not."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, ops
from boxpresso.proto.limits import LIMITS, Limits

MAP = np.random.default_rng(0).normal(size=(1, 49, 20, 24))
ROWS = np.array([[0, 2, 3, 14, 15]] * 10, float)
TURNED = np.array([[0, 9, 9, 12, 12, 0.3]] * 10)
MOVES = np.zeros((10, 2, 7, 7))
BINS = "pooled_h: 7 pooled_w: 7 spatial_scale: 1 sampling_ratio: 4"
EACH = 4 * (49 + 32)
PARTS = "spatial_scale: 1 output_dim: 1 group_size: 7"
# The layer, its regions, further bottoms, and what a call of them reads: four pixels of each channel for a sample, and 32 times as
# many to find where it lies.
CASES = {
    "RoIAlign, max": (f'type: "ROIAlign" roi_align_param {{ {BINS} pool_mode: MAX }}', ROWS, (), 10 * 49 * 16 * EACH),
    "RoIAlignRotated": (f'type: "ROIAlignRotated" roi_align_rotated_param {{ {BINS} }}', TURNED, (), 10 * 49 * 16 * EACH),
    "DeformROIPooling": (
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {BINS} }}', ROWS, (MOVES,), 10 * 49 * 16 * EACH,
    ),
    "DeformablePSROIPooling": (
        f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {PARTS} no_trans: true sample_per_part: 4 }}',
        ROWS, (), 10 * 49 * 16 * 32,
    ),
}  # fmt: skip
# Where rows and columns are weighed apart: the pixels of a region with a border, and 256 for each of a bin's samples along an axis.
APART = {
    "RoIAlign": (f'type: "ROIAlign" roi_align_param {{ {BINS} }}', 10 * (49 + 32) * 28 * 28 + 10 * 256 * 14 * 4),
    "PSROIAlign": (f'type: "PSROIAlign" psroi_align_param {{ {PARTS} sample_num: 4 }}', 10 * 33 * 28 * 28 + 10 * 256 * 14 * 4),
    "ROIPooling": ('type: "ROIPooling" roi_pooling_param { pooled_h: 7 pooled_w: 7 }', 10 * (49 + 32) * 28 * 28),
    "PrROIPooling": ('type: "PrROIPooling" prroi_pooling_param { pooled_h: 7 pooled_w: 7 spatial_scale: 1 }', 10 * (49 + 32) * 28 * 28),
    "PSROIPooling": (f'type: "PSROIPooling" psroi_pooling_param {{ {PARTS} }}', 10 * 33 * 28 * 28),
}  # fmt: skip


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    for name, value in vars(Limits()).items():
        monkeypatch.setattr(LIMITS, name, value)
    monkeypatch.setenv("BOXPRESSO_LIMITS", "")


def refused(rig: Rig, most: int) -> None:
    """A call passes with the limit that it needs, and is refused by name with one less."""
    LIMITS.set(region_samples=most)
    rig.forward()
    LIMITS.set(region_samples=most - 1)
    with pytest.raises(
        LayerError, match=r"pixels of a map of .* are allowed in a call: .*limit 'region_samples'"
    ) as caught:
        rig.forward()
    assert rig.layer.type in str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_every_sample_counts(name, device):
    text, rows, more, samples = CASES[name]
    refused(Rig(text, [MAP, rows, *more], device=device), samples)


@pytest.mark.parametrize("name", APART)
def test_where_rows_and_columns_are_weighed_apart(name, device):
    text, samples = APART[name]
    refused(Rig(text, [MAP, ROWS], device=device), samples)


@pytest.mark.parametrize("name", [*CASES, *APART])
def test_what_lies_outside_costs_nothing(name, device):
    """Regions of no image, or with NaN, are not counted; nor are those without a ratio that lie beside the map, but for a border."""
    text, rows = (CASES[name][0], CASES[name][1]) if name in CASES else (APART[name][0], ROWS)
    odd = rows.copy()
    odd[:, 0] = 7
    odd[1, 1] = np.nan
    more = CASES[name][2] if name in CASES else ()
    LIMITS.set(region_samples=1)
    assert not np.any(Rig(text, [MAP, odd, *more], device=device).forward()[0])


def test_dense_samples_are_refused_at_once():
    """2^20 samples in each bin: by the sum along both axes they are cheap, by their product they would take hours."""
    rows = np.tile(ROWS, (200, 1))
    dense = BINS.replace("ratio: 4", "ratio: 1024")
    rig = Rig(f'type: "ROIAlign" roi_align_param {{ {dense} }}', [MAP, rows[:50]])
    few = Rig(f'type: "ROIAlign" roi_align_param {{ {BINS.replace("ratio: 4", "ratio: 64")} }}', [MAP, rows[:50]])
    np.testing.assert_allclose(rig.forward()[0], few.forward()[0], atol=1e-3)
    for text, regions in (
        (f'type: "ROIAlign" roi_align_param {{ {dense} pool_mode: MAX }}', rows),
        (f'type: "ROIAlignRotated" roi_align_rotated_param {{ {dense} }}', np.tile(TURNED, (200, 1))),
    ):
        with pytest.raises(
            LayerError, match=r"2000 regions of 7 x 7 bins of 1024 x 1024 samples read 3\.33e\+13 pixels"
        ):
            Rig(text, [MAP, regions]).forward()


@pytest.mark.parametrize("name", ["RoIAlignRotated", "DeformROIPooling"])
def test_very_many_bins_are_refused(name):
    """A million bins of a region took minutes, as the pixels of each are looked for apart."""
    text = CASES[name][0].replace("pooled_h: 7", "pooled_h: 1000000")
    with pytest.raises(LayerError, match="pooled_h and pooled_w must be at most 1024"):
        Rig(text, [MAP, CASES[name][1], *CASES[name][2]])


def test_no_table_is_made_for_half_a_billion_bins():
    text = APART["PrROIPooling"][0].replace("pooled_w: 7", "pooled_w: 536870912")
    with pytest.raises(LayerError, match=r"at most 2\^20, got \(7, 536870912\)"):
        Rig(text, [MAP, ROWS])


def test_operators_have_the_limit_too():
    LIMITS.set(region_samples=1000)
    with pytest.raises(LayerError, match="region_samples"):
        ops.roi_align_rotated(MAP.astype(np.float32), TURNED.astype(np.float32), (7, 7), sampling_ratio=4)


@pytest.mark.parametrize(
    ("regions", "channels", "size", "ratio"),
    [(32000, 256, (200, 336), 2), (2000, 1024, (84, 84), 0), (16 * 512, 1024, (50, 84), 2), (300, 2048, (64, 64), 7)],
)
def test_real_nets_are_below_it(regions, channels, size, ratio):
    """Pyramids of 16 images in training, R-CNNs whose regions cover all of the last map: 1000 x 1300 pixels and more."""
    each = 4 * 49 * ratio**2 if ratio else (size[0] + 16) * (size[1] + 16)
    assert regions * (channels + 32) * each < LIMITS.region_samples
