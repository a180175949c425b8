"""The position-sensitive region layers against recorded outputs of R-FCN's Caffe, MXNet and torchvision, by hand, and on
wild input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import FINITE, check_any_workers, check_wild_regions, regions
from shared import golden, recorded

from boxpresso.layers.core import layer_class
from boxpresso.proto.errors import LayerError

POOLING = 'type: "PSROIPooling" psroi_pooling_param { output_dim: %d group_size: %d spatial_scale: %r }'
ALIGN = 'type: "PSROIAlign" psroi_align_param { output_dim: %d group_size: %d spatial_scale: %r sample_num: %d }'
FEATURES_ONLY = [True, False]
REALS = ["float", "double"]


def case_of(path: Path, real: str) -> tuple[dict, dict, type, dict]:
    """A recorded case, its parameters, the dtype, and the tolerance; skips what is not recorded in double."""
    case, (suffix, dtype) = recorded(path), ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in case:
        pytest.skip("not recorded in double")
    for key in [k for k in case if suffix and k.endswith(suffix)]:
        case[key.removesuffix(suffix)] = case[key]
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    return case, json.loads(str(case["params"])), dtype, tolerance


def square(p: dict, c: dict) -> tuple[int, int, float]:
    group = p.get("group_size", p.get("pooled_height"))
    return c["input"].shape[1] // group**2, group, p["spatial_scale"]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSROIPooling"), ids=lambda p: p.stem)
def test_pooling_as_rfcn(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    r = Rig(POOLING % square(p, c), [c["input"], c["rois"]], device=device, dtype=dtype, tops=2)
    top, channel = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(channel, c["mapping_channel"])
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSRoIPool_torchvision"), ids=lambda p: p.stem)
def test_pooling_as_torchvision(path, real, device, monkeypatch):
    monkeypatch.setattr(layer_class("PSROIPooling", ""), "torchvision", True)
    c, p, dtype, tolerance = case_of(path, real)
    r = Rig(POOLING % square(p, c), [c["input"], c["rois"]], device=device, dtype=dtype)
    close(r.forward()[0], c["output"], **tolerance)
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSRoIAlign"), ids=lambda p: p.stem)
def test_align_as_torchvision(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    text = ALIGN % (*square(p, c), p["sampling_ratio"])
    r = Rig(text, [c["input"], c["rois"]], device=device, dtype=dtype, tops=2)
    top, channel = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(channel, c["channel_mapping"])
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


def test_edges_of_bins_are_rounded_twice(device):
    """Not once, as one instruction for a product and a sum does: a third, three times, less one is 0, and no pixel begins there."""
    region = [[0, 0, -0.5422021, 1.7707746, -0.50086844]]  # rows -1 to 0, in thirds
    assert np.float32(1 / 3) * np.float32(3) == 1 < float(np.float32(1 / 3)) * 3
    r = Rig(POOLING % (1, 3, 1.0), [np.ones((1, 9, 3, 3)), region], device=device)
    assert r.forward()[0][0].tolist() == [[[0, 0, 0]] * 3]
    assert np.array_equal(r.backward([np.ones((1, 1, 3, 3))], FEATURES_ONLY)[0], np.zeros((1, 9, 3, 3)))


def deformable(p: dict) -> str:
    names = ("output_dim", "group_size", "pooled_size", "part_size", "sample_per_part", "spatial_scale", "trans_std")
    values = " ".join(f"{name}: {p[name]!r}" for name in names)
    return f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {values} no_trans: {str(p["no_trans"]).lower()} }}'


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/DeformablePSROIPooling"), ids=lambda p: p.stem)
def test_deformable_as_mxnet(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    moved = [] if p["no_trans"] else [c["trans"]]
    r = Rig(deformable(p), [c["input"], c["rois"], *moved], device=device, dtype=dtype, tops=2)
    top, count = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(count, c["top_count"])
    diffs = r.backward([c["grad_output"]], [True, False, True][: len(r.bottom)])
    close(diffs[0], c["grad_input"], **tolerance)
    if moved:
        close(
            diffs[2],
            c["grad_trans"],
            rtol=max(1e-4 if real == "float" else 0, tolerance["rtol"]),
            atol=tolerance["atol"],
        )


MOVED = dict(
    output_dim=4, group_size=2, pooled_size=3, part_size=2, sample_per_part=3, spatial_scale=0.5, trans_std=0.3
)
EVERY = {
    "pooling": POOLING % (4, 2, 0.5),
    "align": ALIGN % (4, 2, 0.5, 2),
    "adaptive": ALIGN % (4, 2, 0.5, 0),
    "deformable": deformable({**MOVED, "no_trans": False}),
    "not moved": deformable({**MOVED, "no_trans": True}),
}
every = pytest.mark.parametrize("kind", EVERY)


def inputs(kind: str, rng, count: int = 9, shape: tuple = (2, 16, 6, 7)) -> list[np.ndarray]:
    moved = [rng.standard_normal((count, 4, 2, 2))] if kind == "deformable" else []
    return [rng.standard_normal(shape), regions(rng, count, max(shape[0], 1), 13), *moved]


# For tests/device/test_threaded.py.
LAUNCHES = [
    (text, inputs(kind, np.random.default_rng(0), 20), [True, False, True][: 3 if kind == "deformable" else 2])
    for kind, text in EVERY.items()
]


def down(r: Rig) -> list[bool]:
    return [True, False, True][: len(r.bottom)]


@every
def test_gradient(kind, device):
    rng = np.random.default_rng(1)
    r = Rig(EVERY[kind], inputs(kind, rng), device=device, dtype=np.float64)
    check_gradient(r, bottoms=[0, 2] if kind == "deformable" else [0])


@every
def test_new_shapes_no_regions_no_images(kind, device):
    rng = np.random.default_rng(2)
    bottoms = inputs(kind, rng)
    r = Rig(EVERY[kind], bottoms, device=device, tops=2)
    first = r.forward()
    for i, value in enumerate(bottoms[1:], 1):
        r.set_bottom(i, value[:0])
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)], down(r))[0].any()
    for i, value in enumerate(bottoms[1:], 1):
        r.set_bottom(i, value)
    for shape in ((0, 16, 8, 9), (2, 16, 0, 9), (2, 16, 8, 0)):
        r.set_bottom(0, np.zeros(shape))
        assert not r.forward()[0].any()
        for diff, asked in zip(r.backward([np.ones(r.top[0].shape)], down(r)), down(r), strict=True):
            assert not asked or not diff.any()
    r.set_bottom(0, bottoms[0])
    for again, top in zip(r.forward(), first, strict=True):
        assert np.array_equal(again, top)


@every
def test_wild_regions_contribute_nothing(kind, device):
    bottoms = inputs(kind, np.random.default_rng(3), 5)
    wanted = [True, False, True][: len(bottoms)]
    check_wild_regions(EVERY[kind], bottoms, wanted, device, exact=False, each=(1, 2))


@pytest.mark.parametrize("kind", [k for k in EVERY if k != "adaptive"])
def test_any_finite_region_is_survived(kind, device):
    rng = np.random.default_rng(4)
    bottoms = inputs(kind, rng, 2000)
    bottoms[1] = rng.choice(FINITE, (2000, 5))
    if kind == "deformable":
        bottoms[2] = rng.choice([*FINITE, np.nan, np.inf], bottoms[2].shape)
    r = Rig(EVERY[kind], bottoms, device=device)
    assert np.isfinite(r.forward()[0]).all()
    diffs = r.backward([np.ones(r.top[0].shape)], down(r))
    assert np.isfinite(diffs[0]).all()


@every
def test_bitwise_identical_for_any_number_of_workers(kind, monkeypatch):
    r = Rig(EVERY[kind], inputs(kind, np.random.default_rng(6), 40))
    check_any_workers(r, down(r), monkeypatch)


@every
def test_float16(kind, device):
    """Stored in half, computed in float: the rounding of the top and of the gradient is all that is lost."""
    rng = np.random.default_rng(7)
    bottoms = inputs(kind, rng)
    half, single = (Rig(EVERY[kind], bottoms, device=device, dtype=d) for d in (np.float16, np.float32))
    for i, blob in enumerate(half.bottom):
        single.set_bottom(i, np.array(blob.data))
    close(half.forward()[0], single.forward()[0], rtol=1e-3, atol=1e-5)
    diff = rng.standard_normal(half.top[0].shape).astype(np.float16)
    for got, wanted, asked in zip(
        half.backward([diff], down(half)), single.backward([diff], down(half)), down(half), strict=True
    ):
        if asked:
            close(got, wanted, rtol=1e-3, atol=1e-5)


def test_pooling_by_hand(device):
    features = np.stack([np.full((4, 4), c) + np.arange(4) / 10 for c in range(4)])[None]
    rows = [[0, 0, 0, 3, 3], [0, 0, 0, 1.5, 1], [0, 9, 9, 12, 12], [0, 3, 3, 0, 0]]
    top = Rig(POOLING % (1, 2, 1.0), [features, rows], device=device).forward()[0][:, 0]
    np.testing.assert_allclose(top[0], [[0.05, 1.25], [2.05, 3.25]], rtol=1e-6)
    # 1.5 rounds to 2, + 1: columns 0 to 3, bins of 1.5 that touch 0-1 and 1-2; rows 0 to 2, bins of 1
    np.testing.assert_allclose(top[1], [[0.05, 1.15], [2.05, 3.15]], rtol=1e-6)
    assert not top[2].any()
    np.testing.assert_allclose(top[3], [[0.3, 1.3], [2.3, 3.3]], rtol=1e-6)  # a side of 0.1 at 3


def test_align_by_hand(device):
    ramp = 10 * np.arange(4)[:, None] + np.arange(4)
    features = np.stack([ramp + 100 * c for c in range(4)])[None]
    top = Rig(ALIGN % (1, 2, 1.0, 1), [features, [[0, 0.5, 0.5, 2.5, 2.5]]], device=device).forward()[0]
    np.testing.assert_allclose(top[0, 0], [[5.5, 106.5], [215.5, 316.5]], rtol=1e-6)  # samples at 0.5 and 1.5
    empty = Rig(ALIGN % (1, 2, 1.0, 0), [features, [[0, 1, 1, 1, 3], [0, 3, 3, 1, 1]]], device=device).forward()[0]
    assert np.isnan(empty[0]).all()  # 0 / 0 samples
    assert not empty[1].any()


def test_deformable_by_hand(device):
    ramp = 10.0 * np.arange(6)[:, None] + np.arange(6)
    text = 'type: "DeformablePSROIPooling" deformable_psroi_pooling_param { spatial_scale: 1 output_dim: 1 group_size: 1 %s }'
    row = [[0, 1, 1, 2, 2]]  # from 0.5 to 2.5
    still = Rig(text % "no_trans: true", [ramp[None, None], row], device=device, tops=2).forward()
    assert (still[0].item(), still[1].item()) == (5.5, 1)  # one sample, at the start of the bin
    four = text % "no_trans: true sample_per_part: 2"
    assert Rig(four, [ramp[None, None], row], device=device).forward()[0].item() == 11  # at 0.5 and 1.5
    moved = [ramp[None, None], row, np.reshape([1, 0.5], (1, 2, 1, 1))]  # x first
    assert Rig(text % "trans_std: 0.5", moved, device=device).forward()[0].item() == 10 * 1 + 1.5
    outside = Rig(four, [ramp[None, None], [[0, -2, 4, 1, 5]]], device=device, tops=2).forward()
    assert (outside[0].item(), outside[1].item()) == (40.0, 2)  # x at -2.5 (left out) and -0.5 (0); y at 3.5 and 4.5


def test_pooled_size_is_the_group_size_unless_given(device):
    rng = np.random.default_rng(8)
    text = 'type: "DeformablePSROIPooling" deformable_psroi_pooling_param { %s spatial_scale: 0.5 no_trans: true }'
    bottoms = [rng.standard_normal((1, 18, 6, 6)), regions(rng, 3, 1, 12)]
    assert Rig(text % "output_dim: 2 group_size: 3", bottoms, device=device).top[0].shape == (3, 2, 3, 3)


def test_absurd_grids_are_refused():
    features = np.zeros((1, 4, 4, 4))
    with pytest.raises(LayerError, match="more than 2\\^20 samples"):
        Rig(ALIGN % (1, 2, 1.0, 0), [features, [[0, 0, 0, 1e30, 5]]]).forward()
    with pytest.raises(LayerError, match="more than 2\\^20 samples"):
        Rig(ALIGN % (1, 2, 1.0, 2000), [features, np.zeros((1, 5))])


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (POOLING % (0, 2, 1.0), [(1, 4, 4, 4), (1, 5)], "output_dim"),
        (POOLING % (1, 2, 0.0), [(1, 4, 4, 4), (1, 5)], "spatial_scale"),
        (POOLING % (1, 2, 1.0), [(1, 5, 4, 4), (1, 5)], r"output_dim \* group_size\^2 = 4 channels"),
        (POOLING % (1, 2, 1.0), [(1, 4, 4, 4), (1, 4)], r"must be \(K, 5\)"),
        (ALIGN % (1, 0, 1.0, 2), [(1, 4, 4, 4), (1, 5)], "group_size"),
        (ALIGN % (1, 2, 1.0, 2), [(1, 5, 4, 4), (1, 5)], r"output_dim \* group_size\^2 = 4 channels"),
        (ALIGN % (1, 2, 1.0, 2), [(1, 4, 4, 4), (1, 6)], r"must be \(K, 5\)"),
        (EVERY["deformable"], [(1, 16, 4, 4), (1, 5)], "third bottom"),
        (EVERY["deformable"], [(1, 16, 4, 4), (1, 5), (1, 3, 2, 2)], r"2 \* classes"),
        (EVERY["deformable"], [(1, 16, 4, 4), (1, 5), (1, 6, 2, 2)], "no multiple of the 3 classes"),
        (EVERY["deformable"], [(1, 16, 4, 4), (2, 5), (1, 4, 2, 2)], r"must be \(2, 2 \* classes"),
        (EVERY["not moved"], [(1, 15, 4, 4), (1, 5)], "16 channels"),
        (
            EVERY["not moved"].replace("sample_per_part: 3", "sample_per_part: 0"),
            [(1, 16, 4, 4), (1, 5)],
            "sample_per_part",
        ),
    ],
)
def test_errors(text, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros(shape) for shape in bottoms])


@every
def test_regions_get_no_gradient(kind):
    r = Rig(EVERY[kind], inputs(kind, np.random.default_rng(9)))
    r.forward()
    with pytest.raises(LayerError, match="no gradient for the regions"):
        r.backward([np.zeros(r.top[0].shape)])
    assert not r.layer.allow_force_backward(1)
