"""ReLU, ReLU6, PReLU, Sigmoid, TanH, Power, Dropout, Eltwise and Upsample: by formula, in numpy and by hand."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.proto.errors import LayerError


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def relu6(x, slope=0.0):
    return np.minimum(np.maximum(x, 0) + slope * np.minimum(x, 0), 6)


FORMULAS = {
    'type: "ReLU"': lambda x: np.maximum(x, 0),
    'type: "ReLU" relu_param { negative_slope: 0.1 }': lambda x: np.where(x > 0, x, 0.1 * x),
    'type: "ReLU" relu_param { relu6: true }': relu6,
    'type: "ReLU" relu_param { maximum: 1.5 }': lambda x: np.clip(x, 0, 1.5),
    'type: "ReLU" relu_param { upper_limit: 2 }': lambda x: np.clip(x, 0, 2),
    'type: "ReLU6"': relu6,
    'type: "ReLU6" relu6_param { negative_slope: 0.5 }': lambda x: relu6(x, 0.5),
    'type: "ReLU6" relu_param { negative_slope: 0.25 }': lambda x: relu6(x, 0.25),
    'type: "Sigmoid"': lambda x: 1 / (1 + np.exp(-x)),
    'type: "TanH"': np.tanh,
    'type: "Power"': lambda x: x,
    'type: "Power" power_param { scale: -2 shift: 3 }': lambda x: 3 - 2 * x,
    'type: "Power" power_param { power: 2 scale: 0.5 shift: 1 }': lambda x: (1 + 0.5 * x) ** 2,
    'type: "Power" power_param { power: 3 }': lambda x: x**3,
    'type: "Power" power_param { power: 0.5 scale: 0.1 shift: 5 }': lambda x: (5 + 0.1 * x) ** 0.5,
    'type: "Power" power_param { power: -1.5 scale: 0.1 shift: 5 }': lambda x: (5 + 0.1 * x) ** -1.5,
    'type: "Power" power_param { power: 0 scale: 3 shift: 2 }': np.ones_like,
    'type: "Power" power_param { power: 3 scale: 0 shift: 2 }': lambda x: np.full_like(x, 8),
    'type: "PReLU"': lambda x: np.where(x > 0, x, 0.25 * x),
    'type: "PReLU" prelu_param { channel_shared: true filler { value: -2 } }': lambda x: np.where(x > 0, x, -2 * x),
    'type: "Dropout"': lambda x: x,
    'type: "Dropout" dropout_param { dropout_ratio: 0.25 scale_train: false }': lambda x: 0.75 * x,
}
X = 4 * random(3, 5, 4, 6)


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_forward(text, in_place, device):
    """By formula, with a larger, an empty and a smaller input afterwards."""
    rig = Rig(text, [X], device=device, in_place=in_place)
    close(rig.forward()[0], FORMULAS[text](X))
    for shape in ((4, 5, 7, 9), (0, 5, 2, 2), (1, 5)):
        x = 4 * random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], FORMULAS[text](x))
        assert rig.backward([random(*shape)])[0].shape == shape


@pytest.mark.parametrize("text", [t for t in FORMULAS if "power: 0 " not in t and "scale: 0 " not in t])
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_gradient(text, in_place, device):
    check_gradient(Rig(text, [X], device=device, dtype=np.float64, in_place=in_place))


@pytest.mark.parametrize("text", [t for t in FORMULAS if t != 'type: "Dropout"'])
def test_gradient_is_left_alone_unasked(text, device):
    """Dropout at TEST has no diff of its own to leave alone."""
    rig = Rig(text, [X], device=device)
    rig.forward()
    assert np.isnan(rig.backward([X], [False])[0]).all()


# ReLU


def test_relu_at_its_corners(device):
    x = np.array([-1, 0, 3, 6, 7], np.float32)
    rig = Rig('type: "ReLU6" relu6_param { negative_slope: 0.5 }', [x], device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.full(5, 2)])[0], [1, 1, 2, 0, 0])
    rig = Rig('type: "ReLU"', [np.array([np.nan, np.inf, 5], np.float32)], device=device)
    np.testing.assert_array_equal(rig.forward()[0], [np.nan, np.inf, 5])


def test_relu_errors():
    rig = Rig('type: "ReLU" relu_param { negative_slope: -1 }', [X], in_place=True)
    rig.forward()
    with pytest.raises(LayerError, match=r"in place, a negative_slope below 0, -1\.0"):
        rig.backward([X])
    with pytest.raises(LayerError, match=r"minimum 1\.0 is not supported"):
        Rig('type: "ReLU" relu_param { minimum: 1 }', [X])


# Sigmoid


def test_sigmoid_far_out(device):
    rig = Rig('type: "Sigmoid"', [np.array([-1000, -80, -20, 0, 20, 1000], np.float32)], device=device)
    top = rig.forward()[0]
    assert top[0] == 0
    np.testing.assert_allclose(top[1:], [np.exp(-80.0), np.exp(-20.0), 0.5, 1, 1], rtol=1e-6)
    assert np.isfinite(rig.backward([np.ones(6)])[0]).all()


# Power


def test_power_where_the_base_is_zero(device):
    """Caffe divides by it and gives NaN."""
    rig = Rig('type: "Power" power_param { power: 3 }', [np.array([0, 1], np.float32)], device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.ones(2)])[0], [0, 3])


@pytest.mark.parametrize("param", ["power: 0 scale: 3 shift: 2", "power: 3 scale: 0 shift: 2"])
def test_power_without_an_input(param, device):
    rig = Rig(f'type: "Power" power_param {{ {param} }}', [np.full(3, np.nan)], device=device)
    np.testing.assert_array_equal(rig.forward()[0], [8, 8, 8] if "scale: 0" in param else [1, 1, 1])
    np.testing.assert_array_equal(rig.backward([np.ones(3)])[0], [0, 0, 0])
    with np.errstate(all="ignore"):
        assert np.isinf(Rig('type: "Power" power_param { scale: 0 power: -1 }', [X], device=device).forward()[0]).all()
        rig = Rig('type: "Power" power_param { scale: 0 power: 0.5 shift: -1 }', [X], device=device)
    assert np.isnan(rig.forward()[0]).all()


# PReLU


@pytest.mark.parametrize("shape", [(3, 5), (2, 5, 7), (3, 5, 20, 30), (0, 5, 4, 4)])
@pytest.mark.parametrize("shared", ["true", "false"])
def test_prelu_slopes(shape, shared, device):
    x, g = random(*shape), random(*shape, seed=1)
    a = random(5, seed=2) if shared == "false" else np.float32(-0.5)
    text = f'type: "PReLU" prelu_param {{ channel_shared: {shared} }}'
    rig = Rig(text, [x], device=device, params=[a])
    wide = np.broadcast_to(a, (5,)).reshape(5, *[1] * (len(shape) - 2))
    close(rig.forward()[0], np.where(x > 0, x, wide * x))
    close(rig.backward([g])[0], np.where(x > 0, g, wide * g))
    each = (g * np.minimum(x, 0)).sum(axis=(0, *range(2, len(shape))))
    close(rig.param_diffs()[0], each if shared == "false" else each.sum())


def test_prelu_filler_and_frozen_slope(device):
    rig = Rig('type: "PReLU" prelu_param { filler { type: "uniform" min: 1 max: 2 } }', [X], device=device)
    slope = np.asarray(rig.layer.blobs[0].data)
    assert slope.shape == (5,)
    assert ((slope >= 1) & (slope <= 2)).all()
    assert len(set(slope.tolist())) == 5
    rig.forward()
    rig.layer.param_propagate_down[0] = False
    rig.backward([X])
    assert (rig.param_diffs()[0] == 0).all()


def test_prelu_errors():
    with pytest.raises(LayerError, match=r"must have a channel axis, \(N, C, ...\), got shape \(3,\)"):
        Rig('type: "PReLU"', [np.zeros(3)])
    rig = Rig('type: "PReLU"', [X])
    rig.set_bottom(0, np.zeros((2, 4)))
    with pytest.raises(LayerError, match=r"parameter 0 has the shape \(5,\)"):
        rig.forward()


# Dropout


def philox(index: np.ndarray, iteration: int, key: int) -> np.ndarray:
    """Philox 2x32 with ten rounds, in uint64, as the paper writes it."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    left, right = index.astype(np.uint64), np.full(index.shape, iteration, np.uint64)
    for turn in range(10):
        product = np.uint64(0xD256D193) * left
        left = (product >> low) ^ np.uint64((key + turn * 0x9E3779B9) & 0xFFFFFFFF) ^ right
        right = product & mask
    return left


def test_philox_gives_the_published_numbers():
    """Known answers of Random123, first word."""
    assert philox(np.array([0]), 0, 0)[0] == 0xFF1DAE59
    assert philox(np.array([0xFFFFFFFF]), 0xFFFFFFFF, 0xFFFFFFFF)[0] == 0x2C3F628B
    assert philox(np.array([0x243F6A88]), 0x85A308D3, 0x13198A2E)[0] == 0xDD7CE038


def dropout(param: str = "", x=X, **options) -> Rig:
    return Rig(f'type: "Dropout" dropout_param {{ {param} }}', [x], **{"phase": "TRAIN", **options})


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_dropout_trains(in_place, device):
    x = random(40, 500)
    rig = dropout("dropout_ratio: 0.3 random_seed: 77", x, device=device, in_place=in_place)
    for iteration in (1, 2):
        rig.set_bottom(0, x)
        keep = (philox(np.arange(x.size), iteration, 77) >= round(0.3 * 2**32)).reshape(x.shape)
        assert abs(keep.mean() - 0.7) < 0.01
        close(rig.forward()[0], np.where(keep, x / 0.7, 0))
        close(rig.backward([x])[0], np.where(keep, x / 0.7, 0))


def test_dropout_depends_on_seed_and_iteration(device):
    x = np.ones((100, 100))

    def forwards(seed: int) -> list[np.ndarray]:
        rig = dropout(x=x, device=device, seed=seed)
        return [rig.forward()[0].copy() for _ in range(2)]

    (a, b), (again, _), (other, _) = forwards(1), forwards(1), forwards(2)
    np.testing.assert_array_equal(a, again)
    for left, right in ((a, b), (a, other)):  # independent: a quarter passes in both
        assert abs(((left > 0) & (right > 0)).mean() - 0.25) < 0.02


def test_dropout_is_the_same_for_any_number_of_threads(tmp_path):
    script = (
        "import numpy as np; from test_elementwise import dropout;"
        "print(dropout(x=np.ones((100, 100)), seed=3).forward()[0].tobytes().hex()[:20000])"
    )
    runs = []
    for threads in ("1", "5"):
        env = {**os.environ, "BOXPRESSO_THREADS": threads, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        runs.append(subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True))
    assert runs[0].stdout == runs[1].stdout


def test_dropout_shares_memory_when_it_does_nothing(device):
    for rig in (dropout(device=device, phase="TEST"), dropout("dropout_ratio: 0", device=device)):
        rig.top[0].data.fill(3)
        rig.top[0].diff.fill(4)
        assert (np.asarray(rig.bottom[0].data) == 3).all()
        assert (np.asarray(rig.bottom[0].diff) == 4).all()


def test_dropout_of_forks(device):
    output = dropout("scale_train: false", np.ones(1000), device=device).forward()[0]
    assert set(output.tolist()) == {0.0, 1.0}
    sampled = dropout("sample_weights_test: true", np.ones(1000), device=device, phase="TEST").forward()[0]
    assert set(sampled.tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(("param", "match"), [("dropout_ratio: 1", "below 1, got 1"), ("dropout_ratio: -1", "got -1"),
                                              ("sqrt_scale: true", "sqrt_scale")])  # fmt: skip
def test_dropout_errors(param, match):
    with pytest.raises(LayerError, match=match):
        dropout(param)


def test_dropout_of_everything_passes_at_test(device):
    x = random(3, 5, 4)
    np.testing.assert_array_equal(dropout("dropout_ratio: 1", x, device=device, phase="TEST").forward()[0], x)


# Eltwise

BOTTOMS = [random(3, 5, 4, seed=i) for i in range(4)]
ELTWISE = {
    "": lambda *b: sum(b),
    "operation: PROD": lambda *b: np.prod(b, axis=0),
    "operation: PROD stable_prod_grad: false": lambda *b: np.prod(b, axis=0),
    "operation: MAX": lambda *b: np.max(b, axis=0),
}


@pytest.mark.parametrize("param", ELTWISE)
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_eltwise(param, count, in_place, device):
    rig = Rig(f'type: "Eltwise" eltwise_param {{ {param} }}', BOTTOMS[:count], device=device, dtype=np.float64,
              in_place=in_place)  # fmt: skip
    close(rig.forward()[0], ELTWISE[param](*BOTTOMS[:count]))
    rig.set_bottom(0, BOTTOMS[0])
    check_gradient(rig, bottoms=range(count))
    for shape in ((2, 7), (0, 3), (5, 3)):
        bottoms = [random(*shape, seed=i) for i in range(count)]
        for i, bottom in enumerate(bottoms):
            rig.set_bottom(i, bottom)
        close(rig.forward()[0], ELTWISE[param](*bottoms))


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_eltwise_coeff(in_place, device):
    text = 'type: "Eltwise" eltwise_param { coeff: 2 coeff: -0.5 coeff: 0.25 }'
    rig = Rig(text, BOTTOMS[:3], device=device, dtype=np.float64, in_place=in_place)
    close(rig.forward()[0], 2 * BOTTOMS[0] - 0.5 * BOTTOMS[1] + 0.25 * BOTTOMS[2])
    rig.set_bottom(0, BOTTOMS[0])
    check_gradient(rig, bottoms=(0, 1, 2))


def test_eltwise_max_ties(device):
    """Bottom 1 wins over bottom 0, both over later ones."""
    columns = np.array([[1, 1, 1], [1, 1, 0], [2, 1, 2], [0, 3, 3]], np.float32).T
    rig = Rig('type: "Eltwise" eltwise_param { operation: MAX }', columns, device=device)
    np.testing.assert_array_equal(rig.forward()[0], [1, 1, 2, 3])
    diffs = rig.backward([np.array([1, 2, 3, 4])])
    np.testing.assert_array_equal(diffs, [[0, 0, 3, 0], [1, 2, 0, 4], [0, 0, 0, 0]])


def test_eltwise_product_with_zeros(device):
    """The stable gradient survives a factor of 0, the quotient does not."""
    bottoms = [np.array([0, 2], np.float32), np.array([3, 4], np.float32)]
    rig = Rig('type: "Eltwise" eltwise_param { operation: PROD }', bottoms, device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.ones(2)]), [[3, 4], [0, 2]])
    rig = Rig('type: "Eltwise" eltwise_param { operation: PROD stable_prod_grad: false }', bottoms, device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.ones(2)]), [[np.nan, 4], [0, 2]])


@pytest.mark.parametrize("down", [(True, False, False), (False, True, False), (False, False, True)])
@pytest.mark.parametrize("param", ELTWISE)
def test_eltwise_asks_for_some_gradients_alone(param, down, device):
    rig = Rig(f'type: "Eltwise" eltwise_param {{ {param} }}', BOTTOMS[:3], device=device)
    rig.forward()
    for diff, asked in zip(rig.backward([BOTTOMS[3]], down), down, strict=True):
        assert np.isnan(diff).all() != asked


def test_eltwise_of_legacy_shapes(device):
    """A loss for each region as (R,) and as (R, 1, 1, 1): R-FCN's training adds them. The top has bottom 0's shape."""
    rig = Rig('type: "Eltwise"', [np.arange(3.0), np.ones((3, 1, 1, 1))], device=device)
    (top,) = rig.forward()
    np.testing.assert_array_equal(top, [1, 2, 3])
    assert [d.shape for d in rig.backward([np.ones(3)])] == [(3,), (3, 1, 1, 1)]


@pytest.mark.parametrize(
    ("param", "shapes", "match"),
    [
        ("coeff: 1", [(2,), (2,)], r"one coeff for each of the 2 bottoms, or none; got \[1.0\]"),
        ("operation: PROD coeff: 1 coeff: 1", [(2,), (2,)], "operation PROD takes none"),
        ("operation: DIV", [(2,), (2,)], "operation DIV is not one of"),
        ("", [(2, 3), (3, 2)], r"bottom 1 has shape \(3, 2\), bottom 0 has \(2, 3\)"),
        ("", [(2, 3)], "takes 2 or more bottoms"),
    ],
)
def test_eltwise_errors(param, shapes, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Eltwise" eltwise_param {{ {param} }}', [np.zeros(s) for s in shapes])


# Upsample

NEAREST = {
    'type: "Upsample"': (1, 1),
    'type: "Upsample" upsample_param { scale: 2 }': (2, 2),
    'type: "Upsample" upsample_param { scale_h: 3 scale_w: 2 }': (3, 2),
    'type: "UpsampleNearest" upsample_nearest_param { scale: 4 }': (4, 4),
    'type: "UpsampleDarknet" upsample_darknet_param { stride: 2 }': (2, 2),
}


@pytest.mark.parametrize("text", NEAREST)
def test_upsample_nearest(text, device):
    rig = Rig(text, [random(2, 3, 4, 5)], device=device, dtype=np.float64)
    for shape in ((2, 3, 4, 5), (1, 1, 1, 1), (0, 3, 2, 2), (3, 2, 5, 7)):
        rig.set_bottom(0, random(*shape))
        close(rig.forward()[0], random(*shape).repeat(NEAREST[text][0], 2).repeat(NEAREST[text][1], 3))
    check_gradient(rig)


def unpool(param: str, x, mask, **options) -> Rig:
    return Rig(f'type: "Upsample" upsample_param {{ {param} }}', [x, mask], **options)


SIZES = [("", 8, 10), ("scale: 3", 12, 15), ("scale_h: 2 scale_w: 4", 8, 20), ("pad_out_h: true", 7, 10),
         ("scale: 2 pad_out_w: true", 8, 9), ("upsample_h: 9 upsample_w: 11", 9, 11)]  # fmt: skip


@pytest.mark.parametrize(("param", "height", "width"), SIZES)
def test_upsample_undoes_pooling(param, height, width, device):
    rng = np.random.default_rng(0)
    x = random(2, 3, 4, 5)
    mask = np.stack([rng.permutation(height * width)[:20] for _ in range(6)]).reshape(x.shape)
    rig = unpool(param, x, mask, device=device, dtype=np.float64)
    wanted = np.zeros((6, height * width))
    np.put_along_axis(wanted, mask.reshape(6, 20), x.reshape(6, 20), 1)
    close(rig.forward()[0], wanted.reshape(2, 3, height, width))
    g = random(2, 3, height, width, seed=1)
    diff, other = rig.backward([g], [True, False])
    close(diff, np.take_along_axis(g.reshape(6, -1), mask.reshape(6, 20), 1).reshape(x.shape))
    assert np.isnan(other).all()
    check_gradient(rig)
    assert (rig.backward([g], [False, True])[1] == 0).all()
    rig.set_bottom(0, x[:0])
    rig.set_bottom(1, mask[:0])
    assert rig.forward()[0].shape == (0, 3, height, width)


def test_upsample_where_places_meet_or_lie_outside(device):
    """The last of those that meet wins and has the gradient; what lies outside goes nowhere."""
    x = np.array([1, 2, 3, 4, 5, 6], np.float64).reshape(1, 1, 2, 3)
    mask = np.array([5, 0, 5, -1, 24, np.nan]).reshape(1, 1, 2, 3)
    rig = unpool("scale: 2", x, mask, device=device, dtype=np.float64)
    top = rig.forward()[0].ravel()
    assert {int(i): float(top[i]) for i in np.flatnonzero(top)} == {0: 2.0, 5: 3.0}
    diff = rig.backward([np.arange(1.0, 25).reshape(1, 1, 4, 6)], [True, False])[0]
    np.testing.assert_array_equal(diff.ravel(), [0, 1, 6, 0, 0, 0])


@pytest.mark.parametrize(
    ("param", "bottoms", "match"),
    [
        ("scale: 2 scale_h: 2 scale_w: 2", 1, "not both"),
        ("scale_h: 2", 1, r"from 1, got \(2, 0\)"),
        ("scale: 0", 1, "from 1"),
        ("upsample_h: 4 upsample_w: 4", 1, "need a mask"),
        ("scale: 2 pad_out_h: true", 1, "need a mask"),
        ("upsample_h: 4", 2, "both upsample_h and upsample_w"),
        ("scale: 3 pad_out_h: true", 2, "for scale 2"),
    ],
)
def test_upsample_errors(param, bottoms, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Upsample" upsample_param {{ {param} }}', [np.zeros((1, 1, 2, 2))] * bottoms)


def test_upsample_bottoms_must_fit():
    with pytest.raises(LayerError, match=r"must have the shape of the data, \(1, 1, 2, 2\), got \(1, 1, 2, 3\)"):
        unpool("", np.zeros((1, 1, 2, 2)), np.zeros((1, 1, 2, 3)))
    with pytest.raises(LayerError, match="must have 4 axes"):
        Rig('type: "Upsample"', [np.zeros((2, 2))])
