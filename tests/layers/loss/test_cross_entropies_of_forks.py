"""CrossEntropyLoss, SoftmaxCrossEntropyLoss, WeightedSigmoidCrossEntropyLoss, WeightedEuclideanLoss, MultiLabelAccuracy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(41)
P, T = RNG.uniform(0.05, 0.95, (2, 3, 5, 2))
X, Y, W = RNG.standard_normal((3, 3, 5, 2))
BITS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
SCORES = 2 * RNG.standard_normal((3, 4))
PLAIN, SOFT, WEIGHTED = (
    f'type: "{name}"' for name in ("CrossEntropyLoss", "SoftmaxCrossEntropyLoss", "WeightedSigmoidCrossEntropyLoss")
)
SQUARES, MEASURE = 'type: "WeightedEuclideanLoss"', 'type: "MultiLabelAccuracy"'
WEIGHTS = " softmax_cross_entropy_loss_param { weights: 1 weights: 2 weights: 0.5 weights: 0 weights: 3 }"
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (PLAIN, [RNG.uniform(0.1, 0.9, (40, 70)), RNG.uniform(0, 1, (40, 70))], [True, False]),
    (SOFT + WEIGHTS.replace("0.5", "0.5 zero_channel: 1"), [RNG.standard_normal((20, 5, 30)), RNG.uniform(0, 1, (20, 5, 30))],
     [True, False]),
    (WEIGHTED, [RNG.standard_normal((40, 70)), RNG.integers(0, 2, (40, 70))], [True, False]),
    (SQUARES, [X, Y, W], [True, True, False]),
    ('type: "GANLoss"', [RNG.uniform(0.1, 0.9, (40, 70)), RNG.uniform(0.1, 0.9, (40, 70))], [True, True]),
    (MEASURE, [RNG.standard_normal((40, 70)), RNG.integers(-1, 2, (40, 70))], []),
]  # fmt: skip


def double(text: str, *bottoms: np.ndarray, device: str) -> Rig:
    return Rig(text, list(bottoms), device=device, dtype=np.float64)


def close(actual, wanted, rtol=1e-12):
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=1e-14)


def of_sign(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x) - x * t


def test_probabilities_of_targets(device):
    rig = double(PLAIN, P, T, device=device)
    terms = -T * np.log(P) - (1 - T) * np.log(1 - P)
    close(rig.forward()[0], terms.mean())
    check_gradient(rig, (0,))
    of_wsl = double(PLAIN + " cross_entropy_loss_param { display: 5 }", P, np.where(W > 0, T, -1), device=device)
    close(of_wsl.forward()[0], terms[W > 0].sum() / 3)
    check_gradient(of_wsl, (0,))
    assert not of_wsl.backward([np.array(1.0)], [True, False])[0][W <= 0].any()


def test_probabilities_of_0_and_1(device):
    rig = double(PLAIN, [[0, 1, 0, 1]], [[0, 1, 1, 0]], device=device)
    close(rig.forward()[0], -np.log(1e-5) / 2)
    close(rig.backward([np.array(4.0)], [True, False])[0], [[1, -1, -1e5, 1e5]])


def test_probabilities_of_classes(device):
    rows, labels = RNG.uniform(0.1, 0.9, (4, 3)), np.array([2, 0, 1, 1])
    rig = double(PLAIN, rows, labels, device=device)
    close(rig.forward()[0], -np.log(rows[np.arange(4), labels]).mean())
    check_gradient(rig, (0,))
    with pytest.raises(LayerError, match="label 3 at 1 is none of the 3 channels"):
        Rig(PLAIN, [rows, [2, 3, 0, 0]], device=device).forward()


@pytest.mark.parametrize(
    ("mode", "by"), [("", 3), ("normalization: FULL", 30), ("normalize: true", 30), ("normalization: NONE", 1)]
)
def test_softmax_of_targets(mode, by, device):
    x, t = RNG.standard_normal((3, 5, 2)), RNG.dirichlet(np.ones(5), (3, 2)).transpose(0, 2, 1)
    logs = x - np.logaddexp.reduce(x, 1, keepdims=True)
    rig = double(f"{SOFT} loss_param {{ {mode} }}", x, t, device=device)
    close(rig.forward()[0], -(t * logs).sum() / by)
    check_gradient(rig, (0,))


def test_weights_and_a_zero_channel(device):
    by = np.array([1, 2, 0.5, 0, 3]).reshape(1, 5, 1)
    x, t = RNG.standard_normal((3, 5, 2)), RNG.uniform(0, 1, (3, 5, 2))
    logs = x - np.logaddexp.reduce(x, 1, keepdims=True)
    rig = double(SOFT + WEIGHTS, x, t, device=device)
    close(rig.forward()[0], -(by * t * logs).sum() / 3)
    close(rig.backward([np.array(6.0)], [True, False])[0], 2 * by * (np.exp(logs) - t))
    without = np.where(np.arange(5).reshape(1, 5, 1) == 1, 0, x)
    logs = without - np.logaddexp.reduce(without, 1, keepdims=True)
    rig = double(f"{SOFT} softmax_cross_entropy_loss_param {{ zero_channel: 1 }}", x, t, device=device)
    close(rig.forward()[0], -(t * logs).sum() / 3)
    wanted = (np.exp(logs) - t) / 3
    wanted[:, 1] = 0
    close(rig.backward([np.array(1.0)], [True, False])[0], wanted)


def test_ignored_targets_of_a_softmax(device):
    x, t = RNG.standard_normal((3, 5)), RNG.integers(0, 3, (3, 5)).astype(float)
    logs = x - np.logaddexp.reduce(x, 1, keepdims=True)
    rig = double(f"{SOFT} loss_param {{ ignore_label: 2 normalization: VALID }}", x, t, device=device)
    close(rig.forward()[0], -(t * logs)[t != 2].sum() / (t != 2).sum())
    assert not rig.backward([np.array(1.0)], [True, False])[0][t == 2].any()


def test_weights_of_targets_are_a_bottom(device):
    x, weights = SCORES, RNG.uniform(0, 2, SCORES.shape)
    rig = double(WEIGHTED, x, BITS, weights, device=device)
    close(rig.forward()[0], (weights * of_sign(x, BITS)).sum() / 3)
    check_gradient(rig, (0,))
    with pytest.raises(LayerError, match="no loss_param beside the weights"):
        Rig(WEIGHTED + " loss_param {}", [x, BITS, weights])


@pytest.mark.parametrize("kind", ["both", "yes", "no"])
def test_kinds_of_targets_weigh_the_same(kind, device):
    t = {"both": BITS, "yes": np.ones_like(BITS), "no": np.zeros_like(BITS)}[kind]
    terms, yes = of_sign(SCORES, t), t.mean()
    rig = double(WEIGHTED, SCORES, t, device=device)
    close(rig.forward()[0], (np.where(t > 0, 1 - yes, yes) * terms).sum() / 3)
    if kind == "both":
        check_gradient(rig, (0,))
    else:  # a kind alone weighs nothing
        assert not rig.backward([np.array(1.0)], [True, False])[0].any()
    held = np.clip(yes, 1 / 12, 11 / 12)
    rig = double(WEIGHTED + " loss_param { normalization: VALID }", SCORES, t, device=device)
    close(rig.forward()[0], (np.where(t > 0, 0.5 / held, 0.5 / (1 - held)) * terms).mean())
    check_gradient(rig, (0,))


def test_ignored_targets_weigh_nothing(device):
    t = BITS.copy()
    t[1] = 7
    rig = double(WEIGHTED + " loss_param { ignore_label: 7 normalization: VALID }", SCORES, t, device=device)
    counted, terms = t != 7, of_sign(SCORES, BITS)
    wanted = (np.where(t == 1, 2, 2 / 3) * terms)[counted].mean()
    close(rig.forward()[0], wanted)
    assert not rig.backward([np.array(1.0)], [True, False])[0][1].any()


def test_weighted_squares(device):
    rig = double(SQUARES, X, Y, W, device=device)
    close(rig.forward()[0], (W * (X - Y) ** 2).sum() / 6)
    check_gradient(rig, (0, 1))
    with pytest.raises(LayerError, match="a weight for each element"):
        Rig(SQUARES, [X, Y, W[:, :1]])
    with pytest.raises(LayerError, match="weights have no gradient"):
        rig.backward([np.array(1.0)], [False, False, True])


@pytest.mark.parametrize("shape", [(40, 70), (3, 2, 4, 5), (1, 1)])
def test_shares_of_labels(shape, device):
    x, t = RNG.standard_normal(shape), RNG.integers(-1, 2, shape)
    tp, fn = ((x >= 0) & (t > 0)).sum(), ((x < 0) & (t > 0)).sum()
    tn, fp = ((x < 0) & (t < 0)).sum(), ((x >= 0) & (t < 0)).sum()
    recall, specificity = tp / max(1, tp + fn), tn / max(1, tn + fp)
    both = 2 / (1 / recall + 1 / specificity) if recall and specificity else 0
    wanted = [recall, specificity, both, tp / max(1, tp + fp), 2 * tp / max(1, 2 * tp + fp + fn)]
    shares = double(MEASURE, x, t, device=device).forward()[0]
    assert shares.shape == (1, 5, 1, 1)
    close(shares.ravel(), wanted)


def test_old_prototxts_with_these_losses():
    net = Net(parse_net("""
        input: "x" input_dim: 2 input_dim: 5 input_dim: 1 input_dim: 1
        input: "t" input_dim: 2 input_dim: 5 input_dim: 1 input_dim: 1
        layers { name: "p" type: SIGMOID bottom: "x" top: "p" }
        layers { name: "loss" type: CROSS_ENTROPY_LOSS bottom: "p" bottom: "t" top: "loss" }
        layers { name: "shares" type: MULTI_LABEL_ACCURACY bottom: "x" bottom: "t" top: "shares" }"""), device="cpu")  # fmt: skip
    x, t = RNG.standard_normal((2, 5, 1, 1)), RNG.integers(0, 2, (2, 5, 1, 1))
    np.testing.assert_allclose(net.forward(x=x, t=t)["loss"], of_sign(x, t).mean(), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "bottoms", "match"),
    [
        (PLAIN, [P, T[:2]], "a target for each probability"),
        (PLAIN + " loss_param { normalize: true }", [P, T], "SoftmaxCrossEntropyLoss, which takes it"),
        (PLAIN + " cross_entropy_loss_param { ignore_label: 1 }", [P, T], "ignore_label 1 of a fork"),
        (SOFT, [X, Y[:2]], "a target for each score"),
        (SOFT + " softmax_cross_entropy_loss_param { weights: 1 }", [X, Y], "gives 1 weights"),
        (SOFT + " softmax_cross_entropy_loss_param { zero_channel: 5 }", [X, Y], "zero_channel 5"),
        (WEIGHTED, [X, Y[:2]], "bottom 1 must have as many elements"),
        (MEASURE, [X, [0, 1, 2]], "go with Accuracy"),
    ],
)  # fmt: skip
def test_errors(text, bottoms, match):
    with pytest.raises(LayerError, match=match):
        Rig(text, bottoms)


GAN = 'type: "GANLoss" gan_loss_param { %s }'


def test_true_and_generated(device):
    both = double(GAN % "", P, T, device=device)
    close(both.forward()[0], -np.log(P).mean() - np.log(1 - T).mean())
    check_gradient(both, (0, 1))
    alone = double(GAN % "", P, device=device)
    close(alone.forward()[0], -np.log(P).mean())
    check_gradient(alone)


def test_each_second_forward_has_a_gradient(device):
    rig = double(GAN % "dis_iter: 2 gen_iter: 5", P, T, device=device)
    for step in range(1, 5):
        rig.forward()
        assert [diff.any() for diff in rig.backward([np.array(1.0)], [True, True])] == [step % 2 == 0] * 2
    with pytest.raises(LayerError, match="dis_iter and gen_iter"):
        Rig(GAN % "dis_iter: 0", [P])
