"""ops.products: ROIAlign as matrix products beside the kernels, in numpy, torch and jax, with both gradients."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from boxpresso import ops
from boxpresso.ops import products
from boxpresso.proto.errors import BoxpressoError

RNG = np.random.default_rng(4)


def drawn(shape=(2, 3, 9, 13), count=9):
    x, low = RNG.standard_normal(shape), RNG.uniform(-4, 20, (count, 2))
    rois = np.hstack([RNG.integers(0, shape[0], (count, 1)), low, low + RNG.uniform(-1, 15, (count, 2))])
    rois[0, 0], rois[1, 3], rois[2, 0] = 7, np.nan, -0.5
    return x, rois


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [0, 1, 3])
@pytest.mark.parametrize("shape", [(2, 3, 9, 13), (3, 2, 14, 6)])
def test_as_the_kernels(shape, ratio, aligned):
    x, rois = drawn(shape)
    want = ops.roi_align(x, rois, (3, 2), 0.5, ratio, aligned)
    np.testing.assert_allclose(products.roi_align(x, rois, (3, 2), 0.5, ratio, aligned), want, atol=1e-12)
    assert products.roi_align(x, rois[:0], 2).shape == (0, shape[1], 2, 2)


def test_differentiable_in_torch():
    torch = pytest.importorskip("torch")
    x, rois = drawn()
    grad, tensors = RNG.standard_normal((9, 3, 3, 2)), [torch.tensor(a, requires_grad=True) for a in (x, rois)]
    (products.roi_align(*tensors, (3, 2), 0.5) * torch.tensor(grad)).sum().backward()
    want = ops.roi_align_backward(grad, x, rois, (3, 2), 0.5, wanted=("x", "rois"))
    np.testing.assert_allclose(tensors[0].grad, want["x"], atol=1e-12)
    fine = np.isfinite(rois).all(1)
    np.testing.assert_allclose(tensors[1].grad[fine][:, 1:], want["rois"][fine][:, 1:], atol=1e-12)


def test_differentiable_in_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x, rois = (a.astype(np.float32) for a in drawn())
    grad = RNG.standard_normal((9, 3, 3, 2)).astype(np.float32)
    loss = jax.jit(jax.grad(lambda x: (products.roi_align(x, jax.numpy.asarray(rois), (3, 2), 0.5, 2) * grad).sum()))
    want = ops.roi_align_backward(grad, x, rois, (3, 2), 0.5, 2)["x"]
    np.testing.assert_allclose(loss(jax.numpy.asarray(x)), want, atol=2e-5)
    with pytest.raises(BoxpressoError, match="sampling_ratio must be above 0"):
        jax.jit(lambda rois: products.roi_align(jax.numpy.asarray(x), rois, 3))(rois)


def test_it_copies_no_image_for_each_region():
    """Which would be 195 MB; strips of 7 lines are 9."""
    x, rois = np.ones((1, 16, 100, 152), np.float32), np.tile(np.array([[0, 10, 10, 60, 60]], np.float32), (200, 1))
    tracemalloc.start()
    try:
        assert products.roi_align(x, rois, 7, sampling_ratio=1).dtype == np.float32
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
