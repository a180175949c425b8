"""Elementwise layers of forks: BReLU, ScaleTanH, OutputDecay, and those that draw or are guided (Noise, GuidedDropout), against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(4)
X = RNG.standard_normal((3, 6, 4, 5))
GUIDE = RNG.standard_normal((3, 6))
GUIDED = 'type: "GuidedDropout" guided_dropout_param { type: "%s" sigmoid_scaler: 0.5 guidance_threshold: 0.1 }'
SCALED = 'type: "ScaleTanH" scale_tanh_param { init_scale: 0.5 step_size: 3 gamma: 0.25 power: 0.5 }'
LAUNCHES: list[tuple] = [
    ('type: "BReLU"', [X]),
    (SCALED, [X]),
    ('type: "OutputDecay" output_decay_param { output_decay: 0.5 }', [X]),
    ('type: "Noise" noise_param { gaussian_std: 2 }', [X], None, {"phase": "TRAIN"}),
    (GUIDED % "deterministic", [X, GUIDE], [True, False]),
]


@pytest.mark.parametrize("in_place", [False, True])
def test_brelu(in_place, device):
    text = 'type: "BReLU" brelu_param { minval: -0.5 maxval: 0.75 }'
    rig = Rig(text, [X], device=device, dtype=np.float64, in_place=in_place)
    np.testing.assert_array_equal(rig.forward()[0], np.clip(X, -0.5, 0.75))
    check_gradient(Rig(text, [X], device=device, dtype=np.float64, in_place=in_place))
    with pytest.raises(LayerError, match="minval must not be above maxval"):
        Rig('type: "BReLU" brelu_param { minval: 2 }', [X])


def test_scale_tanh_grows_in_train(device):
    rig = Rig(SCALED, [X], device=device, dtype=np.float64, phase="TRAIN")
    scales = [0.5] + [0.5 * 1.75**0.5] * 3 + [0.5 * 2.5**0.5] * 3  # steps at 3 and 6; the first forward is number 2
    for scale in scales:
        top = rig.forward()[0]
        np.testing.assert_allclose(top, np.tanh(scale * X), rtol=1e-12)
        diff = rig.backward([np.ones_like(X)], [True])[0]
        np.testing.assert_allclose(diff, scale * (1 - np.tanh(scale * X) ** 2), rtol=1e-9, atol=1e-15)
    test = Rig(SCALED, [X], device=device, dtype=np.float64)
    for _ in range(4):
        np.testing.assert_allclose(test.forward()[0], np.tanh(0.5 * X), rtol=1e-12)
    check_gradient(Rig(SCALED, [X], device=device, dtype=np.float64, in_place=True))
    rig.layer.resume(1)
    np.testing.assert_allclose(rig.forward()[0], np.tanh(scales[1] * X), rtol=1e-12)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("kind", "slope"), [("L2", X), ("L1", np.sign(X))])
def test_outputs_decay(kind, slope, in_place, device):
    text = f'type: "OutputDecay" output_decay_param {{ output_decay: 0.25 regularization_type: "{kind}" }}'
    rig = Rig(text, [X], device=device, dtype=np.float64, in_place=in_place)
    np.testing.assert_array_equal(rig.forward()[0], X)
    top = RNG.standard_normal(X.shape)
    np.testing.assert_allclose(rig.backward([top], [True])[0], top + 0.25 * slope, rtol=1e-12)


def test_another_decay_is_refused():
    with pytest.raises(LayerError, match="regularization_type is L1 or L2, got 'L3'"):
        Rig('type: "OutputDecay" output_decay_param { regularization_type: "L3" }', [X])


def test_noise(device):
    x = RNG.standard_normal((1, 50000)) * 3
    size = np.sqrt((x**2).mean())
    for text, phase, mean, deviation, normal in (
        ("gaussian_std: 0.5 bias: 0.25", "TRAIN", 0.25, 0.5 * size, True),
        ("uniform_range: 2 bias: 1", "TRAIN", 1, 2 / 3**0.5, False),
        ("mu: -1 sigma: 0.5", "TEST", -1, 0.5, True),
    ):
        rig = Rig(f'type: "Noise" noise_param {{ {text} }}', [x], device=device, dtype=np.float64, phase=phase)
        drawn = rig.forward()[0] - x
        assert abs(drawn.mean() - mean) < 5 * deviation / len(x.T) ** 0.5
        assert abs(drawn.std() / deviation - 1) < 0.02
        kurtosis = ((drawn - drawn.mean()) ** 4).mean() / drawn.var() ** 2
        assert abs(kurtosis - (3 if normal else 1.8)) < 0.15
        assert abs(np.corrcoef(drawn[0, 1:], drawn[0, :-1])[0, 1]) < 0.03
        assert (rig.forward()[0] - x != drawn).mean() > 0.99  # others in the next forward
        np.testing.assert_array_equal(rig.backward([x], [True])[0], x)
        again = Rig(f'type: "Noise" noise_param {{ {text} }}', [x], device=device, dtype=np.float64, phase=phase)
        np.testing.assert_array_equal(again.forward()[0] - x, drawn)
        place = Rig(
            f'type: "Noise" noise_param {{ {text} }}', [x], device=device, dtype=np.float64, phase=phase, in_place=True
        )
        np.testing.assert_allclose(place.forward()[0] - x, drawn, atol=1e-12)
    silent = Rig('type: "Noise" noise_param { gaussian_std: 9 }', [x], device=device, dtype=np.float64)
    np.testing.assert_array_equal(silent.forward()[0], x)
    with pytest.raises(LayerError, match="two programs"):
        Rig('type: "Noise" noise_param { mu: 1 bias: 2 }', [x])


def test_guided_dropout(device):
    rig = Rig(GUIDED % "deterministic", [X, GUIDE], device=device, dtype=np.float64)
    stays = np.float32(0.1) < GUIDE
    factor = (stays * 6 / np.maximum(stays.sum(1, keepdims=True), 1))[..., None, None]
    np.testing.assert_allclose(rig.forward()[0], X * factor, rtol=1e-12)
    np.testing.assert_allclose(rig.backward([X], [True, False])[0], X * factor, rtol=1e-12)
    none = Rig(GUIDED % "deterministic", [X, -np.ones((3, 6, 1, 1))], device=device)
    assert not none.forward()[0].any()
    test = Rig(GUIDED % "stochastic", [X, GUIDE], device=device, dtype=np.float64)
    np.testing.assert_array_equal(test.forward()[0], X)
    likely = 1 / (1 + np.exp(-0.5 * GUIDE))
    train = Rig(GUIDED % "stochastic", [X, GUIDE], device=device, dtype=np.float64, phase="TRAIN")
    counts = np.zeros_like(GUIDE)
    for _ in range(400):
        share = (train.forward()[0] / X)[:, :, 0, 0]
        np.testing.assert_allclose(
            share[share != 0], np.broadcast_to(6 / likely.sum(1, keepdims=True), share.shape)[share != 0]
        )
        counts += share != 0
    assert np.abs(counts / 400 - likely).max() < 0.12
    np.testing.assert_allclose(train.backward([X], [True, False])[0], X * share[..., None, None], rtol=1e-12)
    for text, bottoms, message in (
        (GUIDED % "random", [X, GUIDE], '"deterministic" or "stochastic"'),
        (GUIDED % "stochastic", [X, GUIDE[:2]], "a number for each of"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
