"""BatchNorm, Scale, Bias, LRN and Normalize against their formulas in numpy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(11)
SHAPES = [(4, 3, 5, 6), (2, 3, 300, 7), (6, 5), (3, 2, 4), (7,), (2, 3, 2, 3, 2), (1, 3, 1, 40)]


def channels(shape) -> int:
    return shape[1] if len(shape) > 1 else 1


def per_channel(values, shape):
    return np.reshape(values, (1, -1) + (1,) * (len(shape) - 2)) if len(shape) > 1 else np.asarray(values)


def statistics(x):
    """Mean, variance and number of elements of each channel."""
    flat = x.reshape(1, -1) if x.ndim == 1 else np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)
    return flat.mean(1), flat.var(1), flat.shape[1]


# BatchNorm


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm_of_recorded_statistics(shape, in_place, device):
    x, c = RNG.standard_normal(shape).astype(np.float32), channels(shape)
    mean, variance = RNG.standard_normal(c), RNG.random(c) + 0.5
    rig = Rig('type: "BatchNorm"', [x], params=[mean * 4, variance * 4, [4]], in_place=in_place, device=device)
    inverse = 1 / np.sqrt(per_channel(variance, shape) + 1e-5)
    close(rig.forward()[0], (x - per_channel(mean, shape)) * inverse)
    grad = RNG.standard_normal(shape)
    close(rig.backward([grad])[0], grad * inverse)


@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm_of_the_batch(shape, device):
    x = (RNG.standard_normal(shape) * 3 + 500).astype(np.float32)
    param = 'type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.9 eps: 0.01 }'
    rig = Rig(param, [x], phase="TRAIN", device=device)
    mean, variance, count = statistics(x.astype(np.float64))
    wanted = (x - per_channel(mean, shape)) / np.sqrt(per_channel(variance, shape) + 0.01)
    sums, factor = np.zeros((2, channels(shape))), 0.0
    for _ in range(2):
        close(rig.forward()[0], wanted, rtol=1e-3)
        sums = 0.9 * sums + [mean, variance * count / max(count - 1, 1)]
        factor = 0.9 * factor + 1
    close(np.array(rig.layer.blobs[0].data), sums[0])
    close(np.array(rig.layer.blobs[1].data), sums[1], rtol=1e-3)
    close(np.array(rig.layer.blobs[2].data), np.array([factor]))


def test_batch_norm_keeps_digits(device):
    """A spread of 0.1 around 10000: the difference of mean square and squared mean would have lost it in float."""
    x = (10000 + 0.1 * RNG.standard_normal((2, 2, 40, 40))).astype(np.float32)
    rig = Rig('type: "BatchNorm" batch_norm_param { eps: 1e-9 }', [x], phase="TRAIN", device=device)
    rig.forward()
    np.testing.assert_allclose(
        np.array(rig.layer.blobs[1].data), statistics(x.astype(np.float64))[1] * 3200 / 3199, 1e-5
    )


def test_batch_norm_worked_by_hand(device):
    """1 and 3: mean 2, variance 1 (unbiased 2), so -1 and 1."""
    x = np.array([1, 3], np.float32).reshape(2, 1)
    rig = Rig('type: "BatchNorm" batch_norm_param { eps: 0 }', [x], phase="TRAIN", device=device)
    close(rig.forward()[0].ravel(), np.array([-1, 1]))
    close(np.concatenate([np.ravel(b.data) for b in rig.layer.blobs]), np.array([2, 2, 1]))


def test_batch_norm_with_a_factor_of_0(device):
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    rig = Rig('type: "BatchNorm"', [x], params=[np.ones(3), np.ones(3), [0]], device=device)
    close(rig.forward()[0], x / np.sqrt(1e-5))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("running", ["true", "false"])
@pytest.mark.parametrize("five", ["", "scale_bias: true"])
@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (5, 3), (6,)])
def test_batch_norm_gradient(shape, running, five, in_place, device):
    c = channels(shape)
    params = [RNG.standard_normal(c), RNG.random(c) + 0.5, [1]]
    if five:
        params += [RNG.random(c) + 0.5, RNG.standard_normal(c)]
    param = f'type: "BatchNorm" batch_norm_param {{ use_global_stats: {running} {five} }}'
    x = RNG.standard_normal(shape)
    rig = Rig(param, [x], params=params, phase="TRAIN", in_place=in_place, dtype=np.float64, device=device)
    rig.forward()
    if in_place:  # bottom and top are one blob, so upstream goes in where the answer comes out
        plain = Rig(param, [x], params=params, phase="TRAIN", dtype=np.float64, device=device)
        plain.forward()
        grad = RNG.standard_normal(shape)
        close(rig.backward([grad])[0], plain.backward([grad])[0], rtol=1e-9)
        for mine, wanted in zip(rig.param_diffs(), plain.param_diffs(), strict=True):
            close(mine, wanted, rtol=1e-9, atol=1e-9)
    else:
        check_gradient(rig, params=False)
        rig.backward([rng_like(shape)])
        for diff in rig.param_diffs()[:3]:
            assert (diff == 0).all(), "statistics never learn"


def rng_like(shape):
    return np.random.default_rng(5).standard_normal(shape)


def test_batch_norm_five_blobs(device):
    """NVCaffe's form: normalised * scale + bias, with plain running averages that begin with the first batch."""
    x = RNG.standard_normal((4, 3, 5, 6)).astype(np.float32)
    param = """type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.75
        scale_filler { type: "constant" value: 2 } bias_filler { type: "constant" value: 3 } }"""
    rig = Rig(param, [x], phase="TRAIN", device=device)
    assert [b.shape for b in rig.layer.blobs] == [(3,), (3,), (1,), (3,), (3,)]
    mean, variance, count = statistics(x)
    normal = (x - per_channel(mean, x.shape)) / np.sqrt(per_channel(variance, x.shape) + 1e-5)
    close(rig.forward()[0], normal * 2 + 3)
    rig.set_bottom(0, x + 8)
    rig.forward()
    close(np.array(rig.layer.blobs[0].data), mean + 2)
    close(np.array(rig.layer.blobs[1].data), variance * count / (count - 1))
    close(np.array(rig.layer.blobs[2].data), np.array([1]))
    grad = rng_like(x.shape)
    rig.backward([grad])
    diffs = rig.param_diffs()
    close(diffs[3], (grad * normal).sum((0, 2, 3)), rtol=1e-3)
    close(diffs[4], grad.sum((0, 2, 3)))


def test_batch_norm_statistics_are_not_learned():
    rig = Rig('type: "BatchNorm" param { lr_mult: 1 }', [np.zeros((1, 2, 3, 3))])
    assert [(p.lr_mult, p.decay_mult) for p in rig.layer.param.param] == [(0, 0)] * 3
    assert rig.layer.param_propagate_down == [False] * 3


# Scale and Bias


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(
    ("param", "shape", "of"),
    [
        ("", (2, 3, 4, 5), (1, 3, 1, 1)),
        ("axis: 0", (2, 3, 4, 5), (2, 1, 1, 1)),
        ("axis: 0 num_axes: -1", (2, 3, 4, 5), (2, 3, 4, 5)),
        ("axis: 1 num_axes: 2", (2, 3, 4, 5), (1, 3, 4, 1)),
        ("axis: -1", (2, 3, 4, 5), (1, 1, 1, 5)),
        ("num_axes: 0", (2, 3, 4, 5), (1, 1, 1, 1)),
        ("", (4, 5), (1, 5)),
        ("", (2, 3, 71, 73), (1, 3, 1, 1)),  # more than a piece
        ("", (300, 3), (1, 3)),
    ],
)
def test_scale_and_bias(param, shape, of, in_place, device):
    x = RNG.standard_normal(shape).astype(np.float32)
    scale, bias, grad = RNG.standard_normal(of), RNG.standard_normal(of), rng_like(shape)
    axes = tuple(i for i, n in enumerate(of) if n == 1)
    rig = Rig(
        f'type: "Scale" scale_param {{ {param} bias_term: true }}',
        [x],
        params=[scale, bias],
        in_place=in_place,
        device=device,
    )
    close(rig.forward()[0], x * scale + bias)
    (diff,), (of_scale, of_bias) = rig.backward([grad]), rig.param_diffs()
    close(diff, grad * scale)
    close(of_scale, (grad * x).sum(axes).reshape(of_scale.shape), rtol=1e-3)
    close(of_bias, grad.sum(axes).reshape(of_bias.shape), rtol=1e-3)

    rig = Rig(f'type: "Bias" bias_param {{ {param} }}', [x], params=[bias], in_place=in_place, device=device)
    close(rig.forward()[0], x + bias)
    close(rig.backward([grad])[0], grad.astype(np.float32))
    close(rig.param_diffs()[0], grad.sum(axes).reshape(rig.layer.blobs[0].shape), rtol=1e-3)


@pytest.mark.parametrize(
    ("axis", "other"), [(0, (2, 3, 4, 5)), (1, (3,)), (1, (3, 4)), (2, (4, 5)), (-1, (5,)), (1, ()), (0, (2, 3))]
)
def test_two_bottoms(axis, other, device):
    x, scale = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal(other)
    axis = axis % 4 if other else 0
    wide = scale.reshape((1,) * axis + other + (1,) * (4 - axis - len(other)))
    param = f"scale_param {{ axis: {axis} bias_term: true bias_filler {{ value: 2 }} }}"
    rig = Rig(f'type: "Scale" {param}', [x, scale], dtype=np.float64, device=device)
    close(rig.forward()[0], x * wide + 2)
    check_gradient(rig, bottoms=(0, 1))
    rig = Rig(f'type: "Bias" bias_param {{ axis: {axis} }}', [x, scale], dtype=np.float64, device=device)
    close(rig.forward()[0], x + wide)
    check_gradient(rig, bottoms=(0, 1))


def test_only_what_is_asked_for(device):
    rig = Rig('type: "Scale" scale_param { bias_term: true }', [np.ones((2, 3, 4, 5))], device=device)
    rig.forward()
    rig.layer.param_propagate_down = [False, True]
    diff = rig.backward([np.ones((2, 3, 4, 5))], [False])[0]
    assert np.isnan(diff).all()
    of_scale, of_bias = rig.param_diffs()
    assert (of_scale == 0).all()
    assert (of_bias == 40).all()


def test_fillers(device):
    rig = Rig(
        'type: "Scale" scale_param { filler { value: 3 } bias_term: true bias_filler { value: 2 } }',
        [np.ones((1, 2, 1, 1))],
        device=device,
    )
    assert (rig.forward()[0] == 5).all()
    assert (Rig('type: "Scale"', [np.full((1, 2), 7)], device=device).forward()[0] == 7).all()
    assert (Rig('type: "Bias"', [np.full((1, 2), 7)], device=device).forward()[0] == 7).all()


@pytest.mark.parametrize(
    ("text", "bottoms", "words"),
    [
        ('type: "Scale" scale_param { axis: 3 num_axes: 2 }', [(1, 2, 3, 4)], "num_axes 2"),
        ('type: "Scale" scale_param { axis: 4 }', [(1, 2, 3, 4)], "axis 4"),
        ('type: "Scale" scale_param { num_axes: -2 }', [(1, 2, 3, 4)], "num_axes must be"),
        ('type: "Scale"', [(1, 2, 3, 4), (3,)], r"bottom 1 of shape \(3,\)"),
        ('type: "Bias"', [(1, 2, 3, 4), (2, 3, 4, 5)], "does not fit"),
        ('type: "BatchNorm" batch_norm_param { disable_mean: true }', [(1, 2, 3, 4)], "disable_mean"),
        ('type: "LRN" lrn_param { local_size: 4 }', [(1, 2, 3, 4)], "odd, got 4"),
        ('type: "LRN"', [(1, 2, 3)], "4 axes"),
        ('type: "Normalize"', [(3,)], "axis 1"),
    ],
)
def test_errors(text, bottoms, words):
    with pytest.raises(LayerError, match=words):
        Rig(text, [np.zeros(b) for b in bottoms])


def test_a_parameter_holds_its_size():
    for text in (
        'type: "Scale"',
        'type: "Bias"',
        'type: "BatchNorm"',
        'type: "Normalize" norm_param { channel_shared: false }',
    ):
        rig = Rig(text, [np.zeros((1, 3, 2, 2))])
        rig.set_bottom(0, np.zeros((1, 4, 2, 2)))
        with pytest.raises(LayerError, match="parameter 0"):
            rig.forward()


# LRN


def lrn(x, size, alpha, beta, k, within):
    total = np.zeros_like(x)
    h = size // 2
    for at in np.ndindex(*x.shape):
        n, c, i, j = at
        window = (
            x[n, c, max(i - h, 0) : i + h + 1, max(j - h, 0) : j + h + 1]
            if within
            else x[n, max(c - h, 0) : c + h + 1, i, j]
        )
        total[at] = (window**2).sum()
    count, k = (size * size, 1) if within else (size, k)
    return x * (k + alpha / count * total) ** -beta


@pytest.mark.parametrize("region", ["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
@pytest.mark.parametrize(
    ("size", "alpha", "beta", "k"), [(5, 2.0, 0.75, 1), (3, 0.5, 0.6, 2.5), (7, 1.0, 1.0, 1), (1, 1, 0.75, 1)]
)
def test_lrn(region, size, alpha, beta, k, device):
    x = RNG.standard_normal((2, 6, 4, 5))
    param = f"local_size: {size} alpha: {alpha} beta: {beta} k: {k} norm_region: {region}"
    rig = Rig(f'type: "LRN" lrn_param {{ {param} }}', [x], dtype=np.float64, device=device)
    close(rig.forward()[0], lrn(x, size, alpha, np.float32(beta), k, region == "WITHIN_CHANNEL"), rtol=1e-6)
    check_gradient(rig)


def test_lrn_of_large_planes(device):
    x = RNG.standard_normal((1, 4, 20, 30)).astype(np.float32)  # more positions than a block does
    close(Rig('type: "LRN" lrn_param { local_size: 3 }', [x], device=device).forward()[0], lrn(x, 3, 1, 0.75, 1, False))


# Normalize


@pytest.mark.parametrize("across", ["true", "false"])
@pytest.mark.parametrize("shared", ["true", "false"])
@pytest.mark.parametrize("shape", [(2, 5, 3, 4), (2, 3, 20, 30), (3, 4)])
def test_normalize(across, shared, shape, device):
    x = RNG.standard_normal(shape)
    scale = np.array(3.0) if shared == "true" else np.full(shape[1], 3.0)
    param = f'type: "Normalize" norm_param {{ across_spatial: {across} channel_shared: {shared} eps: 0.25 }}'
    rig = Rig(param, [x], params=[scale], dtype=np.float64, device=device)
    axes = tuple(range(1, len(shape))) if across == "true" else 1
    close(rig.forward()[0], 3 * x / np.sqrt((x**2).sum(axes, keepdims=True) + 0.25), rtol=1e-9)
    assert rig.layer.blobs[0].shape == scale.shape


@pytest.mark.parametrize("across", ["true", "false"])
@pytest.mark.parametrize("shared", ["true", "false"])
def test_normalize_gradient(across, shared, device):
    """Where the scales of channels agree, Caffe's gradient is the true one."""
    param = f"across_spatial: {across} channel_shared: {shared} scale_filler {{ value: 20 }}"
    x = RNG.standard_normal((2, 5, 3, 4))
    check_gradient(Rig(f'type: "Normalize" norm_param {{ {param} }}', [x], dtype=np.float64, device=device))


def test_normalize_a_zero_vector(device):
    rig = Rig('type: "Normalize" norm_param { across_spatial: false }', [np.zeros((1, 3, 2, 2))], device=device)
    assert (rig.forward()[0] == 0).all()
    assert np.isfinite(rig.backward([np.ones((1, 3, 2, 2))])[0]).all()


# All of them


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
@pytest.mark.parametrize(
    "text",
    [
        'type: "BatchNorm"',
        'type: "BatchNorm" batch_norm_param { scale_bias: true }',
        'type: "Scale" scale_param { bias_term: true }',
        'type: "Bias"',
        'type: "LRN"',
        'type: "LRN" lrn_param { norm_region: WITHIN_CHANNEL }',
        'type: "Normalize"',
        'type: "Normalize" norm_param { across_spatial: false }',
    ],
)
def test_reshape_and_no_images(text, phase, device):
    x = rng_like((4, 3, 9, 8)).astype(np.float32)
    rig = Rig(text, [x], phase=phase, device=device)
    rig.forward()
    for shape in ((0, 3, 9, 8), (2, 3, 5, 4), (5, 3, 11, 13)):
        x = rng_like(shape).astype(np.float32)
        rig.set_bottom(0, x)
        params = [np.array(b.data) for b in rig.layer.blobs]
        top = rig.forward()[0]
        fresh = Rig(text, [x], phase=phase, params=params, device=device)
        np.testing.assert_array_equal(top, fresh.forward()[0])
        np.testing.assert_array_equal(rig.backward([x])[0], fresh.backward([x])[0])
        for mine, wanted in zip(rig.param_diffs(), fresh.param_diffs(), strict=True):
            np.testing.assert_array_equal(mine, wanted)
