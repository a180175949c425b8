"""RoIAlign from a pyramid of features: levels by torchvision's formula, results bitwise those of the levels one by one."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import ops
from boxpresso.device import open_device
from boxpresso.layers.regions import levels
from boxpresso.layers.regions.levels import bounds_of, levels_of
from boxpresso.proto.errors import BoxpressoError, LayerError

SCALES = (1 / 4, 1 / 8, 1 / 16, 1 / 32)
SIZES = ((32, 40), (16, 20), (8, 10), (4, 5))
TEXT = (
    'type: "MultiScaleROIAlign" roi_align_param { pooled_h: 3 pooled_w: 2 sampling_ratio: 2 } '
    "python_param { param_str: \"'canonical_scale': 20, 'canonical_level': 3\" }"
)
OPTIONS = {"output_size": (3, 2), "sampling_ratio": 2, "canonical_scale": 20, "canonical_level": 3}


def pyramid(rng, channels=5, batch=2) -> list[np.ndarray]:
    return [rng.standard_normal((batch, channels, *size)) for size in SIZES]


def regions(rng, count=23) -> np.ndarray:
    """Of all sizes, so that each level has some; and wild ones."""
    low, size = rng.uniform(-5, 90, (count, 2)), 2 ** rng.uniform(2, 8, (count, 2))
    rows = np.concatenate([rng.integers(0, 2, (count, 1)), low, low + size], 1)
    wild = [[0, 9, 9, 3, 3], [0, np.nan, 1, 5, 5], [0, 1, 1, np.inf, 9], [7, 1, 1, 9, 9], [1, 2, 2, 2, 2]]
    return np.concatenate([rows, wild])


LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (TEXT, [*pyramid(np.random.default_rng(0)), regions(np.random.default_rng(1))], [True] * 4 + [False])
]


def test_levels():
    """A region of 224 is of level 4; half the size is one level lower; nothing is outside the levels."""
    sides = np.array([1, 111.9, 112, 223.9, 224, 447, 448, 1e4])
    rows = np.zeros((len(sides), 5), np.float32)
    rows[:, 3], rows[:, 4] = sides, sides
    assert levels_of(rows, SCALES).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    wild = np.array([[0, 5, 5, 1, 9], [0, np.nan, 0, 1, 1], [0, 0, 0, np.inf, 1], [0, 0, 0, 0, 0]])
    assert levels_of(wild, SCALES).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_as_the_levels_one_by_one(dtype):
    rng = np.random.default_rng(2)
    maps, rows = [x.astype(dtype) for x in pyramid(rng)], regions(rng).astype(np.float32)
    levels = levels_of(rows, SCALES, 20, 3)
    assert set(levels) == {0, 1, 2, 3}
    result = ops.multi_scale_roi_align(maps, rows, spatial_scales=SCALES, **OPTIONS)
    assert result.dtype == dtype
    grad = rng.standard_normal(result.shape).astype(dtype)
    grads = ops.multi_scale_roi_align_backward(grad, maps, rows, spatial_scales=SCALES, **OPTIONS)["features"]
    rig = Rig(TEXT, [*maps, rows], dtype=dtype)
    tops, diffs = rig.forward()[0], rig.backward([grad], [True] * 4 + [False])
    for i, scale in enumerate(SCALES):
        mine = levels == i
        one = ops.roi_align(maps[i], rows[mine], (3, 2), scale, 2, aligned=False)
        assert np.array_equal(result[mine], one)
        own = ops.roi_align_backward(grad[mine], maps[i], rows[mine], (3, 2), scale, 2, aligned=False)["x"]
        assert np.array_equal(grads[i], own)
        if dtype != np.float16:  # there the layer's regions are half, too
            assert np.array_equal(tops[mine], one)
            assert np.array_equal(diffs[i], own)
    assert not result[-4:-1].any()


@pytest.mark.parametrize(("phase", "ratio"), [("TEST", 2), ("TRAIN", 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_levels_at_once(dtype, phase, ratio, device, monkeypatch):
    """As on a GPU, where no host sorts the regions: bitwise the same where one compiler made both, and the gradients after it."""
    text = TEXT.replace("sampling_ratio: 2", f"sampling_ratio: {ratio}")
    rng = np.random.default_rng(7)
    maps, rows = pyramid(rng), regions(rng).astype(dtype)
    area = bounds_of(np.dtype(dtype), SCALES, 20, 3)
    edges = np.zeros((9, 5))
    edges[:, 3], edges[:, 4] = 1, np.concatenate([area, *(np.nextafter(area, dtype(to)) for to in (0, np.inf))])
    assert levels_of(edges.astype(dtype), SCALES, 20, 3).tolist() == [1, 2, 3, 0, 1, 2, 1, 2, 3]
    assert np.isinf(bounds_of(np.dtype(dtype), SCALES, 1e200, 4)).all()
    results = []
    for at_once, where in ((False, "cpu"), (True, device)):
        monkeypatch.setitem(levels.AT_ONCE, open_device(where).kind, at_once)
        rig = Rig(text, [*maps, np.concatenate([rows, edges])], dtype=dtype, device=where, phase=phase)
        assert rig.layer.at_once == at_once
        tops = rig.forward()
        results.append([*tops, *rig.backward([np.ones(tops[0].shape)], [True] * 4 + [False])])
    (np.testing.assert_array_equal if device == "cpu" else close)(results[1][0], results[0][0])
    for one, other in zip(results[1][1:5], results[0][1:5]):
        close(one, other)


def test_as_torchvision():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    rng = np.random.default_rng(3)
    maps, rows = [x.astype(np.float32) for x in pyramid(rng)], regions(rng)[:-5].astype(np.float32)
    boxes = [rows[rows[:, 0] == i, 1:] for i in (0, 1)]
    peer = torchvision.ops.MultiScaleRoIAlign(list("abcd"), (3, 2), 2, canonical_scale=20, canonical_level=3)
    named = {name: torch.tensor(x, requires_grad=True) for name, x in zip("abcd", maps)}
    wanted = peer(named, [torch.tensor(b) for b in boxes], [(128, 160)] * 2)
    result = ops.multi_scale_roi_align(maps, boxes, image_size=(128, 160), **OPTIONS)
    close(result, wanted.detach().numpy(), rtol=1e-5, atol=1e-5)
    grad = rng.standard_normal(result.shape).astype(np.float32)
    wanted.backward(torch.tensor(grad))
    grads = ops.multi_scale_roi_align_backward(grad, maps, boxes, image_size=(128, 160), **OPTIONS)["features"]
    for ours, theirs in zip(grads, named.values(), strict=True):
        close(ours, theirs.grad.numpy(), rtol=1e-5, atol=1e-5)
    from boxpresso.ops import torch as differentiable

    own = {name: torch.tensor(x, requires_grad=True) for name, x in zip("abcd", maps)}
    again = differentiable.multi_scale_roi_align(
        own, [torch.tensor(b) for b in boxes], image_size=(128, 160), **OPTIONS
    )
    assert np.array_equal(again.detach().numpy(), result)
    again.backward(torch.tensor(grad))
    assert all(np.array_equal(x.grad.numpy(), g) for x, g in zip(own.values(), grads, strict=True))


def test_gradient_of_the_layer(device):
    rng = np.random.default_rng(4)
    rig = Rig(TEXT, [*pyramid(rng), regions(rng)], device=device, dtype=np.float64)
    check_gradient(rig, bottoms=(0, 1, 2, 3))


def test_channels_last_and_one_level():
    rng = np.random.default_rng(5)
    maps, rows = pyramid(rng), regions(rng)
    result = ops.multi_scale_roi_align(maps, rows, spatial_scales=SCALES, **OPTIONS)
    turned = [np.ascontiguousarray(x.transpose(0, 2, 3, 1)) for x in maps]
    last = ops.multi_scale_roi_align(turned, rows, image_size=(128, 160), layout="NHWC", **OPTIONS)
    assert np.array_equal(last.transpose(0, 3, 1, 2), result)
    alone = ops.multi_scale_roi_align(maps[:1], rows, spatial_scales=[0.25], **OPTIONS)
    assert np.array_equal(alone, ops.roi_align(maps[0], rows, (3, 2), 0.25, 2, aligned=False))


def test_boxes_by_image():
    """A list of arrays (K, 4) in place of regions (K, 5), in all operators that have regions; also when some have none."""
    rng = np.random.default_rng(6)
    x, rows = rng.standard_normal((3, 4, 9, 9)), regions(rng)[:9]
    rows[:, 1:] /= 16
    rows[:, 0] = np.sort(rows[:, 0] * 2)  # images 0 and 2
    boxes = [rows[rows[:, 0] == i, 1:] for i in range(3)]
    for op in (ops.roi_align, ops.roi_pool, ops.prroi_pool, ops.ps_roi_align):
        assert np.array_equal(op(x, boxes, 2), op(x, rows, 2))
        assert np.array_equal(
            op.backward(op(x, boxes, 2), x, tuple(boxes), 2)["x"], op.backward(op(x, rows, 2), x, rows, 2)["x"]
        )
    turned = np.column_stack([rows, np.linspace(0, 1, 9)])
    listed = [turned[turned[:, 0] == i, 1:] for i in range(3)]
    assert np.array_equal(ops.roi_align_rotated(x, listed, 2), ops.roi_align_rotated(x, turned, 2))
    assert ops.roi_align(x, [], 2).shape == (0, 4, 2, 2)
    with pytest.raises(BoxpressoError, match="one width"):
        ops.roi_align(x, [np.zeros((1, 4)), np.zeros((1, 5))], 2)


def test_what_does_not_fit():
    maps, rows = pyramid(np.random.default_rng(7)), np.zeros((1, 5))
    with pytest.raises(BoxpressoError, match="falling"):
        ops.multi_scale_roi_align(maps, rows, 2, SCALES[:3])
    with pytest.raises(BoxpressoError, match="falling"):
        ops.multi_scale_roi_align(maps, rows, 2, SCALES[::-1])
    with pytest.raises(BoxpressoError, match="image_size"):
        ops.multi_scale_roi_align(maps, rows, 2)
    with pytest.raises(BoxpressoError, match=r"\(K, 5\)"):
        ops.multi_scale_roi_align(maps, np.zeros((2, 4)), 2, SCALES)
    with pytest.raises(LayerError, match="one B and C"):
        Rig(TEXT, [*maps[:3], maps[3][:, :1], rows])
    with pytest.raises(LayerError, match="falling numbers"):
        Rig(TEXT.replace("'canonical_scale'", "'spatial_scales': [1, 2, 3, 4], 'canonical_scale'"), [*maps, rows])


def test_no_regions(device):
    maps = pyramid(np.random.default_rng(8))
    rig = Rig(TEXT, [*maps, np.zeros((0, 5))], device=device)
    assert rig.forward()[0].shape == (0, 5, 3, 2)
    for diff, x in zip(rig.backward([np.zeros((0, 5, 3, 2))], [True] * 4 + [False])[:4], maps, strict=False):
        assert diff.shape == x.shape
        assert not diff.any()
