"""Multi-scale deformable attention beside its definition, written as loops over samples, and beside torch's grid_sample."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from region_checks import check_any_workers

from boxpresso import ops
from boxpresso.proto.errors import LayerError

TEXT = 'type: "MultiScaleDeformableAttention"'
LEVELS = ((6, 8), (3, 4), (1, 2))
DOWN = [True, False, False, True, True]


def inputs(rng, batch=2, heads=3, depth=5, queries=7, points=4, levels=LEVELS, dtype=np.float64) -> list[np.ndarray]:
    """The five bottoms; some places lie outside the maps."""
    ends = np.cumsum([h * w for h, w in levels])
    places = rng.uniform(-0.2, 1.2, (batch, queries, heads, len(levels), points, 2))
    weights = rng.uniform(-1, 1, places.shape[:-1])
    value = rng.standard_normal((batch, ends[-1], heads, depth))
    starts = np.array([0, *ends[:-1]])
    return [
        value.astype(dtype),
        np.array(levels, float),
        starts.astype(float),
        places.astype(dtype),
        weights.astype(dtype),
    ]


def definition(value, shapes, starts, places, weights) -> np.ndarray:
    """The sum over all samples, one after another, in float64."""
    value, weights = value.astype(np.float64), weights.astype(np.float64)
    out = np.zeros((*weights.shape[:3], value.shape[3]))
    for n, q, m, level, p in np.ndindex(weights.shape):
        (height, width), start = shapes[level].astype(int), int(starts[level])
        x, y = places[n, q, m, level, p] * (width, height) - 0.5
        if not (-1 < x < width and -1 < y < height):
            continue
        left, top = int(np.floor(x)), int(np.floor(y))
        for row, column in ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)):
            if 0 <= row < height and 0 <= column < width:
                share = (1 - abs(x - column)) * (1 - abs(y - row))
                out[n, q, m] += weights[n, q, m, level, p] * share * value[n, start + row * width + column, m]
    return out.reshape(*weights.shape[:2], -1)


LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py: few samples, and more than a block keeps
    (TEXT, inputs(np.random.default_rng(0), depth=depth, points=points, queries=queries), DOWN, {"dtype": dtype})
    for depth, points, queries in ((5, 4, 7), (33, 90, 3))
    for dtype in (np.float32, np.float16)
]


@pytest.mark.parametrize(("depth", "points"), [(1, 1), (5, 4), (32, 4), (83, 2), (16, 90)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_defined(depth, points, dtype, device):
    """Depths below, at and beyond the vectors of the host, and more samples than a block keeps."""
    arrays = inputs(np.random.default_rng(depth), depth=depth, points=points, queries=3 if points > 9 else 7)
    result = Rig(TEXT, arrays, device=device, dtype=dtype).forward()[0]
    close(result, definition(*arrays), rtol=1e-5 if dtype == np.float32 else 1e-12, atol=2e-6)


def test_gradients(device):
    """Of the values, the places and the weights; where a place crosses a pixel there is a kink, which is passed over."""
    arrays = inputs(np.random.default_rng(1))
    check_gradient(Rig(TEXT, arrays, device=device, dtype=np.float64), bottoms=(0, 3, 4), step=1e-5)


@pytest.mark.parametrize(("depth", "points"), [(32, 4), (16, 90)])
def test_as_torch(depth, points):
    """Forward and the three gradients of the form with grid_sample, which users without the CUDA kernel run."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    value, shapes, starts, places, weights = inputs(np.random.default_rng(2), depth=depth, points=points)
    v, p, w = (torch.tensor(a, requires_grad=True) for a in (value, places, weights))
    samples = []
    for level, (height, width) in enumerate(LEVELS):
        start = int(starts[level])
        maps = v[:, start : start + height * width].permute(0, 2, 3, 1).reshape(-1, depth, height, width)
        grid = 2 * p[:, :, :, level].transpose(1, 2).flatten(0, 1) - 1
        samples.append(torch.nn.functional.grid_sample(maps, grid, align_corners=False))
    sums = (torch.cat(samples, -1) * w.transpose(1, 2).flatten(3).flatten(0, 1)[:, None]).sum(-1)
    wanted = sums.reshape(2, -1, sums.shape[-1]).transpose(1, 2)
    result = ops.multi_scale_deformable_attn(value, shapes, starts, places, weights)
    close(result, wanted.detach().numpy(), rtol=1e-12, atol=1e-12)
    grad = np.random.default_rng(3).standard_normal(result.shape)
    wanted.backward(torch.tensor(grad))
    grads = ops.multi_scale_deformable_attn_backward(grad, value, shapes, starts, places, weights)
    for name, tensor in zip(("value", "sampling_locations", "attention_weights"), (v, p, w), strict=True):
        close(grads[name], tensor.grad.numpy(), rtol=1e-11, atol=1e-12, title=name)


def test_wild_places_count_for_nothing(device):
    """NaN, infinity and places far away, whatever their weight; no pixel that is not read changes anything."""
    arrays = inputs(np.random.default_rng(4))
    wild = [a.copy() for a in arrays]
    bad = [np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9]
    for i, value in enumerate(bad):
        wild[3][i % 2, i, 0, i % 3, 1, i % 2] = value
        wild[4][i % 2, i, 0, i % 3, 1] = [np.nan, np.inf, 7][i % 3]
    tame = [a.copy() for a in wild]
    gone = ~(np.abs(wild[3]) < 1e3).all(-1)
    tame[3][gone], tame[4][gone] = 0.5, 0
    rigs = [Rig(TEXT, bottoms, device=device) for bottoms in (wild, tame)]
    got, wanted = (rig.forward()[0] for rig in rigs)
    assert np.array_equal(got, wanted)
    diff = np.random.default_rng(5).standard_normal(got.shape)
    got, wanted = (rig.backward([diff], DOWN) for rig in rigs)
    assert np.array_equal(got[0], wanted[0])
    assert not got[3][gone].any()
    assert not got[4][gone].any()
    assert np.array_equal(got[3][~gone], wanted[3][~gone])
    arrays[0][:, 5] = np.nan  # a pixel outside: beside the left border lies the last pixel of the row above
    arrays[3][..., 0, :, :] = (1e-3, 3.5 / 6)  # level 0, between rows 3 and 4, left of column 0
    assert np.isfinite(Rig(TEXT, arrays, device=device).forward()[0]).all()


def test_any_workers(monkeypatch):
    check_any_workers(Rig(TEXT, inputs(np.random.default_rng(6), depth=20)), DOWN, monkeypatch)


def test_half_is_rounded_once(device):
    arrays = inputs(np.random.default_rng(7), depth=20)
    halves = [a.astype(np.float16) if i not in (1, 2) else a for i, a in enumerate(arrays)]
    half, single = (Rig(TEXT, halves, device=device, dtype=dtype) for dtype in (np.float16, np.float32))
    top = half.forward()[0]
    assert np.array_equal(top, single.forward()[0].astype(np.float16))
    diff = np.random.default_rng(8).standard_normal(top.shape).astype(np.float16)
    for got, wanted, asked in zip(half.backward([diff], DOWN), single.backward([diff], DOWN), DOWN):
        assert not asked or np.array_equal(got, wanted.astype(np.float16))


@pytest.mark.parametrize("empty", ["batch", "heads", "depth", "queries", "points", "levels"])
def test_nothing_there(empty, device):
    """A result of the right shape, zeros where there are no samples, and gradients that are zeros."""
    sizes = {empty: () if empty == "levels" else 0}
    arrays = [
        np.zeros((2, 0, 3, 5)),
        np.zeros((0, 2)),
        np.zeros(0),
        np.zeros((2, 7, 3, 0, 4, 2)),
        np.zeros((2, 7, 3, 0, 4)),
    ]
    rig = Rig(TEXT, arrays if empty == "levels" else inputs(np.random.default_rng(9), **sizes), device=device)
    top = rig.forward()[0]
    n, _, m, d = rig.bottom[0].shape
    assert top.shape == (n, rig.bottom[4].shape[1], m * d)
    assert not top.any()
    for blob, diff, asked in zip(rig.bottom, rig.backward([top], DOWN), DOWN):
        assert diff.shape == blob.shape
        assert not asked or not diff.any()


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (1, [[6, 8], [3, 4], [1, 3]], "reach past"), (1, [[6, 8], [3, 4], [1, np.nan]], "whole numbers"),
        (1, [[6, 8], [3.5, 4], [1, 2]], "whole numbers"), (2, [0, 40, 60], "overlap"), (2, [0, -1, 60], "whole numbers"),
        (1, [[6, 8], [3, 4], [1e9, 1e9]], "reach past"), (1, [[6, 8]], "spatial_shapes must be"),
        (4, np.zeros((2, 7, 3, 3, 5)), "sampling_locations the same"),
    ],
)  # fmt: skip
def test_what_does_not_fit(index, value, message):
    arrays = inputs(np.random.default_rng(10))
    arrays[index] = np.asarray(value)
    with pytest.raises(LayerError, match=message):
        Rig(TEXT, arrays).forward()
