"""Operators called again and again on arrays of the CPU: what a call launches is kept on a tape (device/tape.py: HostTape) and made
again on the next arrays of the same kinds, where the layer says that this is all it does."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from harness import calls_of

from boxpresso import ops
from boxpresso.ops.operator import local
from boxpresso.proto.errors import LayerError
from boxpresso.proto.limits import LIMITS

RNG = np.random.default_rng(5)
CASES = {
    "samples": (ops.roi_align, dict(output_size=(3, 2), spatial_scale=0.5, sampling_ratio=2)),
    "adaptive": (ops.roi_align, dict(output_size=3, spatial_scale=0.5)),
    "largest": (ops.roi_align, dict(output_size=3, spatial_scale=0.5, sampling_ratio=2, pool_mode="max")),
    "pool": (ops.roi_pool, dict(output_size=(2, 3), spatial_scale=0.5)),
    "own channels": (ops.ps_roi_pool, dict(output_size=2, spatial_scale=0.5)),
    "samples of own channels": (ops.ps_roi_align, dict(output_size=2, spatial_scale=0.5, sampling_ratio=2)),
    "adaptive of own channels": (ops.ps_roi_align, dict(output_size=2, spatial_scale=0.5)),
}


def drawn(turn, channels=5, regions=7):
    rng = np.random.default_rng(turn)
    low = rng.uniform(0, 12, (regions, 2))
    rois = np.hstack([rng.integers(0, 2, (regions, 1)), low, low + rng.uniform(1, 14, (regions, 2))])
    return rng.standard_normal((2, channels, 12, 14)).astype(np.float32), rois.astype(np.float32)


@pytest.mark.parametrize("case", CASES)
def test_a_tape_gives_what_a_first_call_gives(case):
    """Also in turn with a call of other sizes, which has the layer in between."""
    op, options = CASES[case]
    for turn in range(8):
        x, rois = drawn(turn, channels=(5 if turn < 5 else 3 + turn % 2) * (4 if "own" in case else 1))
        grad = RNG.standard_normal(op(x, rois, **options).shape).astype(np.float32)
        again, slope = op(x, rois, **options), op.backward(grad, x, rois, **options)["x"]
        ops.forget()
        assert np.array_equal(op(x, rois, **options), again)
        ops.forget()
        assert np.array_equal(op.backward(grad, x, rois, **options)["x"], slope)
        for _ in range(3):  # until it is on a tape
            op(x, rois, **options), op.backward(grad, x, rois, **options)


def test_argmax_from_a_tape():
    """As numpy finds it: the first of the largest pixels of each bin."""
    for turn in range(5):
        x, rois = drawn(turn)
        values, places = ops.roi_pool_argmax(x, rois, 2, 0.5)
        flat = x.reshape(2, 5, -1)[rois[:, 0].astype(int)]
        here = np.take_along_axis(flat, np.maximum(places, 0).reshape(7, 5, -1).astype(np.int64), 2).reshape(
            values.shape
        )
        assert np.array_equal(np.where(places < 0, 0, here), values)
        ops.roi_pool(x, rois, 2, 0.5)


def test_it_costs_little_python():
    """Some 40 functions of Python, of a call on a tape; without it 110."""
    ops.forget()
    x, rois = drawn(0)
    for call in (
        lambda: ops.roi_align(x, rois, 7, 0.5, 2),
        lambda: ops.roi_pool(x, rois, 7, 0.5),
        lambda: ops.ps_roi_pool(x[:, :4].copy(), rois, 2, 0.5),
    ):
        for _ in range(4):
            call()
        assert any(call.tapes for call in local.calls.values())
        assert calls_of(call) < 45
    boxes, scores = rois[:, 1:].copy(), x[0, 0, 0, :7].copy()
    ops.nms(boxes, scores, 0.5)
    assert calls_of(lambda: ops.nms(boxes, scores, 0.5)) < 45


@pytest.mark.parametrize("op", [ops.roi_align, ops.ps_roi_align], ids=["roi_align", "ps_roi_align"])
def test_numbers_are_looked_at_each_time(op):
    """A call whose regions are absurd is refused, also where it could be played from a tape, and so is one above a new limit."""
    x, rois = drawn(0, channels=9)
    for _ in range(4):
        op(x, rois, 3)
    wild = rois.copy()
    wild[2, 3:] = 1e7
    with pytest.raises(LayerError, match="samples a bin"):
        op(x, wild, 3)
    before = LIMITS.region_samples
    LIMITS.set(region_samples=10)
    try:
        with pytest.raises(LayerError, match="are allowed in a call"):
            op(x, rois, 3)
    finally:
        LIMITS.set(region_samples=before)
    op(x, rois, 3)


def test_a_tape_keeps_no_array_of_the_caller():
    ops.forget()
    x, rois = drawn(0)
    for _ in range(4):
        result = ops.roi_align(x, rois, 3, 0.5, 2)
    ends = [weakref.ref(array) for array in (x, rois, result)]
    assert any(call.tapes for call in local.calls.values())
    del x, rois, result
    gc.collect()
    assert [end() for end in ends] == [None, None, None]


def test_arrays_that_share_memory():
    """One array for both inputs cannot be on a tape."""
    both = np.array([[0, 1, 1, 3, 3], [0, 0, 0, 2, 2]], np.float32)
    for _ in range(4):
        result = ops.roi_align(both.reshape(1, 1, 2, 5), both, 1, sampling_ratio=1)
    assert np.array_equal(result, ops.roi_align(both.copy().reshape(1, 1, 2, 5), both, 1, sampling_ratio=1))


def test_tensors_are_of_known_kinds():
    """Of torch on the CPU too; a view of other strides, of negated numbers or of another type is another kind."""
    torch = pytest.importorskip("torch")
    x, rois = (torch.from_numpy(a) for a in drawn(3))
    want = ops.roi_align(x.numpy(), rois.numpy(), 3, 0.5, 2)
    for _ in range(4):
        assert np.array_equal(ops.roi_align(x, rois, 3, 0.5, 2), want)
    assert any(call.tapes for key, call in local.calls.items() if "torch" in str(key))
    assert np.array_equal(ops.roi_align(x.transpose(2, 3).contiguous().transpose(2, 3), rois, 3, 0.5, 2), want)
    assert np.array_equal(ops.roi_align(torch._neg_view(x), rois, 3, 0.5, 2), -want)
    assert np.allclose(ops.roi_align(x.double(), rois, 3, 0.5, 2), want, atol=1e-5)
