"""Layers that take each element alone (AbsVal, BNLL, Clip, ELU, ...): by formula, in place and not."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.proto.errors import LayerError


def gelu(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


FORMULAS = {
    'type: "AbsVal"': np.abs,
    'type: "BNLL"': lambda x: np.logaddexp(0, x),
    'type: "Clip" clip_param { min: -1 max: 2 }': lambda x: np.clip(x, -1, 2),
    'type: "ELU"': lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    'type: "ELU" elu_param { alpha: 0.5 }': lambda x: np.where(x > 0, x, 0.5 * np.expm1(np.minimum(x, 0))),
    'type: "ELU" elu_param { alpha: -0.5 }': lambda x: np.where(x > 0, x, -0.5 * np.expm1(np.minimum(x, 0))),
    'type: "ELU" elu_param { alpha: 1.67 lambda: 1.05 }': (
        lambda x: 1.05 * np.where(x > 0, x, 1.67 * np.expm1(np.minimum(x, 0)))
    ),
    'type: "Exp"': np.exp,
    'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1 }': lambda x: 2 ** (1 + 0.5 * x),
    'type: "Exp" exp_param { scale: -0.5 shift: 0.25 }': lambda x: np.exp(0.25 - 0.5 * x),
    'type: "GELU"': lambda x: gelu(x),
    'type: "GELU" gelu_param { coeff: -1.7 }': lambda x: -1.7 * gelu(x),
    'type: "HardSigmoid"': lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    'type: "HardSigmoid" hard_sigmoid_param { alpha: -0.5 beta: 0.25 }': lambda x: np.clip(0.25 - 0.5 * x, 0, 1),
    'type: "HardSigmoid" hardsigmoid_param { alpha: 0.125 }': lambda x: np.clip(0.125 * x + 0.5, 0, 1),
    'type: "HardSwish"': lambda x: x * np.clip(x + 3, 0, 6) / 6,
    'type: "Mish"': lambda x: x * np.tanh(np.logaddexp(0, x)),
    'type: "Softplus"': lambda x: np.logaddexp(0, x),
    'type: "SignedSqrt"': lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    'type: "Softsign"': lambda x: x / (1 + np.abs(x)),
    'type: "Log" log_param { scale: 0.25 shift: 5 }': lambda x: np.log(5 + 0.25 * x),
    'type: "Log" log_param { base: 10 scale: -0.25 shift: 6 }': lambda x: np.log10(6 - 0.25 * x),
    'type: "Log" log_param { base: 0.5 scale: 0.25 shift: 5 }': lambda x: -np.log2(5 + 0.25 * x),
    'type: "Swish"': lambda x: x / (1 + np.exp(-x)),
    'type: "Swish" swish_param { beta: -0.5 }': lambda x: x / (1 + np.exp(0.5 * x)),
    'type: "Threshold"': lambda x: (x > 0).astype(float),
    'type: "Threshold" threshold_param { threshold: 0.5 }': lambda x: (x > 0.5).astype(float),
}
X = 3 * np.random.default_rng(0).standard_normal((3, 5, 4, 6)).astype(np.float32)
SMOOTH = [text for text in FORMULAS if "Threshold" not in text and "SignedSqrt" not in text]


LAUNCHES = [(text, [X], [] if "Threshold" in text else None) for text in FORMULAS]  # for tests/device/test_threaded.py


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_forward(text, in_place, device):
    """By formula, with a larger, an empty and a smaller input afterwards."""
    rig = Rig(text, [X], device=device, in_place=in_place)
    close(rig.forward()[0], FORMULAS[text](X))
    for shape in ((4, 5, 6, 7), (0, 5, 2, 2), (1, 5)):
        x = np.random.default_rng(1).standard_normal(shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], FORMULAS[text](x))


@pytest.mark.parametrize("text", SMOOTH)
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_gradient(text, in_place, device):
    check_gradient(Rig(text, [X], device=device, dtype=np.float64, in_place=in_place))


@pytest.mark.parametrize("text", SMOOTH)
def test_in_place_is_the_same(text, device):
    g = np.random.default_rng(2).standard_normal(X.shape)
    results = []
    for in_place in (False, True):
        rig = Rig(text, [X], device=device, in_place=in_place)
        rig.forward()
        if in_place:  # top and bottom are one: the diff given is the one to be overwritten
            rig.top[0].diff[...] = g
            rig.layer.backward(rig.top, [True], rig.bottom)
            results.append(np.array(rig.bottom[0].diff))
        else:
            results.append(rig.backward([g])[0])
    np.testing.assert_array_equal(*results)


def test_edges(device):
    """Large values do not overflow, NaN stays NaN, gradients at the corners are Caffe's."""
    x = np.array([-1e4, -100, 0, 100, 1e4, np.nan], np.float32)
    rig = Rig('type: "BNLL"', [x], device=device)
    close(rig.forward()[0], [0, 0, np.log(2), 100, 1e4, np.nan])
    close(rig.backward([np.ones(6)])[0], [0, 0, 0.5, 1, 1, np.nan])
    rig = Rig('type: "ELU"', [x], device=device)
    close(rig.forward()[0], [-1, -1, 0, 100, 1e4, np.nan])
    rig = Rig('type: "AbsVal"', [np.array([-2, 0, 3])], device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.ones(3)])[0], [-1, 0, 1])
    rig = Rig('type: "Clip" clip_param { min: -1 max: 1 }', [np.array([-2, -1, 0, 1, 2, np.nan])], device=device)
    np.testing.assert_array_equal(rig.forward()[0], [-1, -1, 0, 1, 1, np.nan])
    np.testing.assert_array_equal(rig.backward([np.ones(6)])[0], [0, 1, 1, 1, 0, 0])
    rig = Rig('type: "GELU"', [np.array([1e20, -1e20])], device=device)  # whose squares are infinite in float32
    np.testing.assert_array_equal(rig.forward()[0], [np.float32(1e20), 0])
    np.testing.assert_array_equal(rig.backward([np.ones(2)])[0], [1, 0])
    x = np.array([-np.inf, -4, -3, 3, 4, np.inf, np.nan])
    rig = Rig('type: "HardSwish"', [x], device=device)
    np.testing.assert_array_equal(rig.forward()[0], [0, 0, 0, 3, 4, np.inf, np.nan])
    np.testing.assert_array_equal(rig.backward([np.ones(7)])[0], [0, 0, 0, 1, 1, 1, np.nan])
    rig = Rig(
        'type: "HardSigmoid" hard_sigmoid_param { alpha: 1 beta: 0 }', [np.array([-1, 0, 1, 2, np.nan])], device=device
    )
    np.testing.assert_array_equal(rig.forward()[0], [0, 0, 1, 1, np.nan])
    np.testing.assert_array_equal(rig.backward([np.ones(5)])[0], [0, 0, 0, 0, 0])
    for layer, limit in (("Mish", 1e20), ("Softsign", 1)):
        rig = Rig(f'type: "{layer}"', [np.array([-1e20, 0, 1e20, np.nan])], device=device)
        np.testing.assert_array_equal(rig.forward()[0], np.float32([0 if layer == "Mish" else -1, 0, limit, np.nan]))
        slope = [0, 0.6, 1, np.nan] if layer == "Mish" else [0, 1, 0, np.nan]
        close(rig.backward([np.ones(4)])[0], slope)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('type: "Clip"', "needs both min and max"),
        ('type: "Clip" clip_param { min: 1 }', "needs both min and max"),
        ('type: "Clip" clip_param { min: 1 max: 0 }', "min 1 and max 0"),
        ('type: "HardSigmoid" hard_sigmoid_param {} hardsigmoid_param {}', "leave one away"),
        ('type: "Exp" exp_param { base: 0 }', "above 0, or -1 for e, got 0"),
        ('type: "Log" log_param { base: -2 }', "got -2"),
        ('type: "Log" log_param { base: 1 }', "not 1"),
    ],
)
def test_errors(text, match):
    with pytest.raises(LayerError, match=match):
        Rig(text, [X])


@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_the_gradient_of_a_root_is_bounded(in_place, device):
    rig = Rig('type: "SignedSqrt"', [X], device=device, dtype=np.float64, in_place=in_place)
    rig.forward()
    rig.top[0].diff[...] = np.full(X.shape, 3.0)
    rig.layer.backward(rig.top, [True], rig.bottom)
    np.testing.assert_allclose(rig.bottom[0].diff, 1.5 / (np.sqrt(np.abs(X.astype(np.float64))) + 0.03), rtol=1e-12)


def test_threshold_has_no_gradient():
    rig = Rig('type: "Threshold"', [X])
    rig.forward()
    with pytest.raises(LayerError, match="no gradient"):
        rig.backward([X])
