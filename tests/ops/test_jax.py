"""boxpresso.jax: as boxpresso.ops bit for bit, under jit, grad and vmap; roi_align beside a form in jax's own operations."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from test_ops import CASES, IDS, ROIS, X, as_type, gradients

from boxpresso import ops
from boxpresso.proto.errors import BoxpressoError, LayerError

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
ours = pytest.importorskip("boxpresso.jax")


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_as_numpys(name, inputs, options, text):
    """Results and gradients, under jit."""
    inputs, op = as_type(inputs, np.float32), getattr(ops, name)
    want = op(**inputs, **options)
    result = jax.jit(lambda kwargs: getattr(ours, name)(**kwargs, **options))(inputs)
    assert np.array_equal(result, want)
    grad = np.random.default_rng(0).standard_normal(want.shape).astype(np.float32)
    wanted = gradients(name, inputs)
    slopes = op.backward(grad, **inputs, **options, wanted=wanted)
    fixed = {n: a for n, a in inputs.items() if n not in wanted}
    loss = jax.grad(lambda asked: (getattr(ours, name)(**asked, **fixed, **options) * grad).sum())
    grads = jax.jit(loss)({n: inputs[n] for n in wanted})
    for n in wanted:
        assert np.array_equal(grads[n], slopes[n]), n


def pure(x, roi, bins, scale, n):
    """roi_align of one region in jax's own operations; aligned, n x n samples."""

    def axis(low, high, size):
        at = low * scale - 0.5 + (jnp.arange(bins * n) + 0.5) * (high - low) * scale / (bins * n)
        hat = jnp.maximum(1 - jnp.abs(jnp.clip(at, 0, size - 1)[:, None] - jnp.arange(size)), 0)
        return jnp.where((at >= -1) & (at <= size), hat.T, 0).reshape(size, bins, n).mean(2)

    image = jnp.asarray(x)[roi[0].astype(int)]
    down, across = axis(roi[2], roi[4], x.shape[2]), axis(roi[1], roi[3], x.shape[3])
    return jnp.einsum("chw,hp,wq->cpq", image, down, across)


def test_beside_a_pure_form():
    """Values and both gradients, the regions' by jax's own derivatives."""
    x, rois = X.astype(np.float32), ROIS[:3].astype(np.float32)  # without the region of no image
    rois[:, 1:] += 0.13  # no sample lies on a pixel, where the regions' gradient has a kink
    mixed = np.random.default_rng(1).standard_normal((len(rois), x.shape[1], 3, 3)).astype(np.float32)

    def mine(x, rois):
        return (ours.roi_align(x, rois, 3, 0.5, 2) * mixed).sum()

    def theirs(x, rois):
        return (jax.vmap(lambda roi: pure(x, roi, 3, 0.5, 2))(rois) * mixed).sum()

    np.testing.assert_allclose(mine(x, rois), theirs(x, rois), rtol=1e-5)
    for a, b in zip(jax.grad(mine, (0, 1))(x, rois), jax.grad(theirs, (0, 1))(x, rois)):
        np.testing.assert_allclose(a, b, atol=1e-5 * np.abs(b).max())
    along = np.random.default_rng(2).standard_normal(x.shape).astype(np.float32)
    slopes = (jax.jvp(lambda x, run=run: run(x, rois), (x,), (along,))[1] for run in (mine, theirs))
    np.testing.assert_allclose(*slopes, rtol=1e-5)


SMOOTH = [case for case in CASES if getattr(ops, case[0]).linear_in(case[2]) or case[0] == "roi_pool"]


def moved(name, inputs, options):
    """The inputs that a derivative is taken along."""
    linear = {"roi_pool": ["x"]}.get(name) or getattr(ops, name).linear_in(
        {"pool_mode": "avg" * (name == "roi_align"), **options}
    )
    return [each for each in (*linear, "bias") if inputs.get(each) is not None]


def dot(a, b):
    return sum(float((np.asarray(a[n], np.float64) * np.asarray(b[n], np.float64)).sum()) for n in b)


@pytest.mark.parametrize(("name", "inputs", "options", "text"), SMOOTH, ids=[case[0] for case in SMOOTH])
def test_forward_mode(name, inputs, options, text):
    """Of what is linear in an input, the derivative along it is a difference of two results; and it fits the gradient."""
    inputs, op = as_type(inputs, np.float32), getattr(ops, name)
    rng, names = np.random.default_rng(4), moved(name, inputs, options)
    along = {n: rng.standard_normal(inputs[n].shape).astype(np.float32) for n in names}
    fixed = {n: a for n, a in inputs.items() if n not in names}
    run = lambda asked: getattr(ours, name)(**asked, **fixed, **options)  # noqa: E731
    asked = {n: inputs[n] for n in names}
    result, slope = jax.jit(lambda asked: jax.jvp(run, (asked,), (along,)))(asked)
    assert np.array_equal(result, op(**inputs, **options))
    for n in names if name != "roi_pool" else ():
        _, part = jax.jvp(lambda value, n=n: run({**asked, n: value}), (inputs[n],), (along[n],))
        difference = op(**{**inputs, n: inputs[n] + along[n]}, **options) - op(**inputs, **options)
        np.testing.assert_allclose(part, difference, atol=2e-5 * max(1, np.abs(difference).max()))
    grad = rng.standard_normal(result.shape).astype(np.float32)
    slopes = op.backward(grad, **inputs, **options, wanted=names)
    assert dot({"": slope}, {"": grad}) == pytest.approx(dot(slopes, along), rel=1e-4, abs=1e-4)
    slopes_of_push = jax.grad(lambda along: (jax.jvp(run, (asked,), (along,))[1] * grad).sum())(along)
    for n in names:
        np.testing.assert_allclose(slopes_of_push[n], slopes[n], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "inputs", "options", "text"), SMOOTH, ids=[case[0] for case in SMOOTH])
def test_second_derivatives(name, inputs, options, text):
    """A gradient in one input is linear in another that the operator is linear in: its derivative is a difference of two gradients."""
    inputs, op = as_type(inputs, np.float32), getattr(ops, name)
    rng, names = np.random.default_rng(5), moved(name, inputs, options)
    along = {n: rng.standard_normal(inputs[n].shape).astype(np.float32) for n in names}
    grad = rng.standard_normal(op(**inputs, **options).shape).astype(np.float32)
    fixed = {n: a for n, a in inputs.items() if n not in names}

    def gradient(asked, grad):
        return jax.vjp(lambda asked: getattr(ours, name)(**asked, **fixed, **options), asked)[1](grad)[0]

    asked, weights = {n: inputs[n] for n in names}, {n: rng.standard_normal(inputs[n].shape) for n in names}
    total = lambda slopes: sum((slopes[n] * weights[n]).sum() for n in names)  # noqa: E731
    forward = jax.jit(lambda: jax.jvp(lambda asked: gradient(asked, grad), (asked,), (along,))[1])()
    backward = jax.jit(jax.grad(lambda asked: total(gradient(asked, grad))))(asked)
    want = {n: np.zeros(inputs[n].shape) for n in names}
    for n in names:
        if name != "roi_pool":
            there, here = (
                op.backward(grad, **{**inputs, **value}, **options, wanted=names)
                for value in ({n: inputs[n] + along[n]}, {})
            )
            for m in names:
                want[m] = want[m] + there[m] - here[m]
    for n in names:
        np.testing.assert_allclose(forward[n], want[n], atol=1e-4 * max(1, np.abs(want[n]).max()))
    assert dot(backward, along) == pytest.approx(dot(want, weights), rel=1e-3, abs=1e-3)
    of_grad = jax.grad(lambda grad: total(gradient(asked, grad)))(
        grad
    )  # along the weights, the operator's own derivative
    run = lambda asked: getattr(ours, name)(**asked, **fixed, **options)  # noqa: E731
    _, pushed = jax.jvp(run, (asked,), ({n: w.astype(np.float32) for n, w in weights.items()},))
    np.testing.assert_allclose(of_grad, pushed, rtol=1e-4, atol=1e-4)


def test_jacobians_and_what_has_none():
    """jacfwd is jacrev, under vmap; a derivative that there is not is refused by name."""
    x, rois = X[:1, :1, :3, :4].astype(np.float32), np.array([[0, 0.2, 0.3, 2.6, 2.2]], np.float32)
    run = lambda x: ours.roi_align(x, rois, 2, sampling_ratio=2)  # noqa: E731
    there, back = jax.jacfwd(run)(x), jax.jacrev(run)(x)
    assert there.shape == (1, 1, 2, 2, 1, 1, 3, 4)
    np.testing.assert_allclose(there, back, atol=1e-6)
    _, slope = jax.jvp(jax.vmap(run), (jnp.stack([x, 2 * x]),), (jnp.stack([x, 3 * x]),))
    np.testing.assert_allclose(slope, jnp.stack([run(x), 3 * run(x)]), rtol=1e-4)
    with pytest.raises(BoxpressoError, match="prroi_pool has no derivative along rois in jax's forward mode"):
        jax.jvp(lambda rois: ours.prroi_pool(x, rois, 2), (rois,), (rois,))
    with pytest.raises(BoxpressoError, match="prroi_pool has no second derivative in rois under jax"):
        jax.grad(lambda rois: jax.grad(lambda rois: ours.prroi_pool(x, rois, 2).sum())(rois).sum())(rois)


def test_vmap():
    x, rois = np.stack([X, 2 * X, -X]).astype(np.float32), ROIS.astype(np.float32)
    want = np.stack([ops.roi_align(each, rois, 3, 0.5) for each in x])
    assert np.array_equal(jax.vmap(lambda each: ours.roi_align(each, rois, 3, 0.5))(x), want)
    slope = jax.vmap(jax.grad(lambda each: ours.roi_align(each, rois, 3, 0.5).sum()))(x)
    one = ops.roi_align_backward(np.ones_like(want[0]), x[0], rois, 3, 0.5)["x"]
    assert np.array_equal(slope, np.stack([one] * 3))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_types_of_16_bits(dtype):
    x = jnp.asarray(X, dtype)
    want = ops.roi_align(np.asarray(x, np.float32), ROIS.astype(np.float32), 3, 0.5, 2)
    result = ours.roi_align(x, ROIS.astype(np.float32), 3, 0.5, 2)
    assert result.dtype == x.dtype
    assert np.array_equal(result, jnp.asarray(want, dtype))
    assert jax.grad(lambda x: ours.roi_align(x, ROIS, 3).sum().astype("float32"))(x).dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_gradient_of_points_beside_16_bits(dtype):
    """Of one bilinear sample it is the difference of the pixels beside it; the maps are whole numbers, which 16 bits hold."""
    x, points = jnp.asarray([[[[1, 3], [7, 13]]]], dtype), jnp.full((1, 1, 2), 0.5, jnp.float32)
    slopes = jax.grad(lambda x, at: ours.point_sample(x, at).sum().astype("float32"), (0, 1))(x, points)
    assert np.asarray(slopes[0], np.float32).ravel().tolist() == [0.25] * 4
    assert slopes[1].ravel().tolist() == [2 * (2 + 6) / 2, 2 * (6 + 10) / 2]


def test_lists_of_boxes_and_nothing():
    x = jnp.asarray(X, "float32")
    boxes = [ROIS[ROIS[:, 0] == i, 1:].astype(np.float32) for i in (0, 1)]
    assert np.array_equal(ours.roi_align(x, boxes, 3), ops.roi_align(np.asarray(x), boxes, 3))
    assert ours.roi_align(x, [], 3).shape == (0, x.shape[1], 3, 3)
    assert not jax.grad(lambda x: ours.roi_align(x, jnp.zeros((0, 5)), 3).sum())(x).any()


def test_options_of_numpy_are_plain_numbers():
    x, rois = X.astype(np.float32), ROIS.astype(np.float32)
    pooled = ours.roi_align(x, rois, np.array([3, 2]), np.float32(0.5), np.int64(2))
    np.testing.assert_array_equal(pooled, ops.roi_align(x, rois, (3, 2), 0.5, 2))


def test_suppression_of_a_fixed_size():
    rng = np.random.default_rng(2)
    low = rng.uniform(0, 20, (30, 2))
    boxes, scores = (
        np.hstack([low, low + rng.uniform(2, 12, (30, 2))]).astype(np.float32),
        rng.random(30).astype(np.float32),
    )
    want = ops.nms(boxes, scores, 0.3)
    chosen = np.asarray(jax.jit(lambda b, s: ours.nms(b, s, 0.3))(boxes, scores))
    assert chosen[: len(want)].tolist() == want.tolist()
    assert (chosen[len(want) :] == -1).all()
    assert len(chosen) == 30
    assert np.asarray(ours.nms(boxes, scores, 0.3, most=2)).tolist() == want[:2].tolist()
    turned = np.hstack([boxes, scores[:, None]])
    want = ops.nms_rotated(turned, scores, 0.1)
    assert np.asarray(ours.nms_rotated(turned, scores, 0.1))[: len(want)].tolist() == want.tolist()


def test_errors():
    """What shapes tell when it is traced, what numbers tell when it runs; both with the operator's name."""
    x, rois = X.astype(np.float32), ROIS.astype(np.float32)
    with pytest.raises(LayerError, match="roi_align: output_size must be above 0, got -1"):
        jax.jit(lambda x: ours.roi_align(x, rois, -1))(x)
    with pytest.raises(BoxpressoError, match="rois must be an array, got None"):
        ours.roi_align(x, None, 3)
    with pytest.raises(BoxpressoError, match="x must be of a float type, got int32"):
        ours.roi_align(x.astype(np.int32), rois, 3)
    with pytest.raises(BoxpressoError, match="spatial_scale must be a number, not a traced array"):
        jax.jit(lambda scale: ours.roi_align(x, rois, 3, scale))(0.5)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        ours.roi_align(x, rois, 3, x=x)
    with pytest.raises(TypeError, match="too many positional arguments"):
        ours.roi_align(x, rois, 3, 0.5, 2, True, "avg", "NHWC")
    with pytest.raises(LayerError, match=r"roi_align: an array has too few or too many axes: .*rois \(\)"):
        ours.roi_align(x, np.float32(0), 3)
    with pytest.raises(LayerError, match="deform_conv2d: a kernel is larger than what it goes over"):
        ours.deform_conv2d(x[..., :1], np.ones((2, 18, 1, 1), np.float32), np.ones((1, x.shape[1], 3, 3), np.float32))
    wild = rois.copy()
    wild[1, 3:] = 1e9
    with pytest.raises(Exception, match="ask for more than 2\\^20 samples a bin"):
        jax.block_until_ready(ours.roi_align(x, wild, 3))
    assert np.array_equal(ours.roi_align(x, rois, 3), ops.roi_align(x, rois, 3))  # goes on after an error


def test_a_program_ends_with_results_that_nobody_has_waited_for():
    """Its last calls come to XLA's threads when Python ends; without care half of such programs stood still."""
    program = """
import jax
import boxpresso.jax as ops
x = jax.numpy.ones((1, 64, 50, 76))
rois = jax.numpy.array([[0, 10.0, 20, 300, 200]])
loss = jax.jit(lambda x: (ops.roi_align(x, rois, 7, spatial_scale=1 / 16) ** 2).sum())
loss(x).block_until_ready()
for _ in range(20):
    jax.grad(loss)(x)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
