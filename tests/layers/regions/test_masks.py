"""MaskPooling and MaskResize, of MNC, against numpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.proto.errors import LayerError

POOLING = 'type: "MaskPooling"'
RESIZE = 'type: "MaskResize" mask_resize_param { output_height: %d output_width: %d }'


def inputs(seed: int = 0, shape: tuple = (3, 5, 4, 7)) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape), rng.standard_normal((shape[0], 1, *shape[2:]))]


# For tests/device/test_threaded.py.
LAUNCHES: list[tuple] = [(POOLING, inputs()), (RESIZE % (6, 15), inputs()[:1])]


def test_mask_pooling(device):
    features, masks = inputs(1)
    r = Rig(POOLING, [features, masks], device=device)
    close(r.forward()[0], features * masks)
    diff = np.random.default_rng(2).standard_normal(features.shape)
    down = r.backward([diff])
    close(down[0], diff * masks)
    close(down[1], (diff * features).sum(1, keepdims=True))
    for shape in ((2, 3, 5, 6), (0, 5, 4, 7), (2, 0, 5, 6)):
        features, masks = inputs(3, shape)
        r.set_bottom(0, features)
        r.set_bottom(1, masks)
        close(r.forward()[0], features * masks)
        close(r.backward([features])[1], (features * features).sum(1, keepdims=True))


def test_mask_pooling_gradient(device):
    check_gradient(Rig(POOLING, inputs(4), device=device, dtype=np.float64), bottoms=(0, 1))


@pytest.mark.parametrize("asked", [0, 1])
def test_mask_pooling_one_gradient(asked, device):
    r = Rig(POOLING, inputs(5), device=device)
    r.forward()
    down = r.backward([np.ones(r.top[0].shape)], [asked == 0, asked == 1])
    assert np.isnan(down[1 - asked]).all()
    assert np.isfinite(down[asked]).all()


def test_mask_pooling_float16(device):
    half, single = (Rig(POOLING, inputs(6), device=device, dtype=d) for d in (np.float16, np.float32))
    for i in (0, 1):
        single.set_bottom(i, np.array(half.bottom[i].data))
    close(half.forward()[0], single.forward()[0], rtol=1e-3)
    diff = np.random.default_rng(7).standard_normal(half.top[0].shape).astype(np.float16)
    for got, wanted in zip(half.backward([diff]), single.backward([diff]), strict=True):
        close(got, wanted, rtol=1e-3)


@pytest.mark.parametrize("shape", [(3, 2, 4, 7), (2, 1, 4, 7), (3, 1, 7, 4), (3, 4, 7)])
def test_mask_pooling_errors(shape):
    with pytest.raises(LayerError, match=r"the masks, must be \(3, 1, 4, 7\)"):
        Rig(POOLING, [np.zeros((3, 5, 4, 7)), np.zeros(shape)])


def reference(masks: np.ndarray, out: tuple[int, int]) -> np.ndarray:
    weights = []
    for size, wanted in zip(masks.shape[2:], out, strict=True):
        at = np.arange(wanted) * (size / wanted)
        hats = np.maximum(1 - np.abs(np.minimum(at, size - 1)[:, None] - np.arange(size)), 0)
        weights.append(hats * (at <= size - 0.5)[:, None])
    return np.einsum("ph,nchw,qw->ncpq", weights[0], masks, weights[1])


@pytest.mark.parametrize("out", [(4, 7), (2, 3), (8, 14), (9, 15), (14, 14), (1, 1), (25, 3)])
def test_mask_resize(out, device):
    masks = np.random.default_rng(8).standard_normal((2, 3, 4, 7))
    r = Rig(RESIZE % out, [masks], device=device, dtype=np.float64)
    wanted = reference(masks, out)
    close(r.forward()[0], wanted, rtol=1e-9, atol=1e-9)
    close(Rig(RESIZE % out, [masks], device=device).forward()[0], wanted)
    check_gradient(r)
    for shape in ((1, 1, 5, 5), (0, 3, 4, 7), (2, 3, 1, 1)):
        masks = np.random.default_rng(9).standard_normal(shape)
        r.set_bottom(0, masks)
        close(r.forward()[0], reference(masks, out), rtol=1e-9, atol=1e-9)
        r.backward([np.ones(r.top[0].shape)])
    r.set_bottom(0, np.zeros((2, 3, 0, 7)))
    assert not r.forward()[0].any()


def test_mask_resize_by_hand(device):
    top = Rig(RESIZE % (1, 6), [[[[[1, 3]]]]], device=device).forward()[0]
    close(top, [[[[1, 5 / 3, 7 / 3, 3, 3, 0]]]])  # at 0, 1/3, 2/3, 1, 4/3; 5/3 is beyond the last pixel


def test_mask_resize_errors():
    with pytest.raises(LayerError, match=r"must be positive, got \(0, 14\)"):
        Rig('type: "MaskResize" mask_resize_param { output_width: 14 }', [np.zeros((1, 1, 2, 2))])
