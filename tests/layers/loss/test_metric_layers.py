"""Layers that learn distances (CenterLoss, lifted structures, margins on angles) against their formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(5)
ROWS, LABELS = RNG.standard_normal((9, 6)), np.array([0, 1, 2, 0, 1, 2, 0, 0, 3])
CENTERS = RNG.standard_normal((4, 6))
CENTER, LIFTED = (
    'type: "CenterLoss" center_loss_param { num_output: 4 %s }',
    'type: "LiftedStructSimilaritySoftmaxLoss"',
)
MARGIN = 'type: "%s" %s { num_output: 4 type: %s base: 2 gamma: 0.5 power: 2 lambda_min: 0.25 iteration: 1 }'
SPHERE, LARGE = ("MarginInnerProduct", "margin_inner_product_param"), (
    "LargeMarginInnerProduct", "largemargin_inner_product_param",
)  # fmt: skip
ADD = 'type: "LabelSpecificAdd" label_specific_add_param { bias: -0.4 }'
DISTANCE = 'type: "InnerDistance" inner_distance_param { num_output: 4 %s weight_filler { type: "gaussian" } }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (CENTER % "", [ROWS, LABELS], [True, False]),
    (LIFTED, [ROWS, LABELS], [True, False]),
    (MARGIN % (*SPHERE, "QUADRUPLE"), [ROWS, LABELS], [True, False]),
    (MARGIN % (*LARGE, "TRIPLE"), [ROWS, LABELS], [True, False]),
    (
        'type: "MarginSoftmaxLoss" margin_softmax_loss_param { num_output: 4 weight_filler { type: "gaussian" } }',
        [ROWS, LABELS],
        [True, False],
    ),
    (ADD, [ROWS, LABELS], [True, False]),
    (DISTANCE % "normalize: true", [ROWS], [True]),
    (DISTANCE % "update_center_only: true", [ROWS, LABELS], [True, False]),
    ('type: "NormalizationL2"', [ROWS]),
    ('type: "GradientScaler"', [ROWS]),
    ('type: "SigmoidCrossEntropyLossWeighted"', [ROWS, ROWS > 0, ROWS**2], [True, False, False]),
    ('type: "SigmoidCrossEntropyBalanceLoss"', [ROWS, ROWS > 0], [True, False]),
]


@pytest.mark.parametrize("kind", ["L1", "L2"])
def test_center_loss(kind, device):
    rig = Rig(CENTER % f'distance_type: "{kind}"', [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS])
    off = ROWS - CENTERS[LABELS]
    wanted = (off**2).sum() / 2 / 9 if kind == "L2" else np.abs(off).sum() / 9
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    moved = off if kind == "L2" else np.sign(off)
    np.testing.assert_allclose(rig.backward([np.array(3.0)], [True, False])[0], moved / 3, rtol=1e-12)
    centers = [-moved[label == LABELS].sum(0) / (1 + (label == LABELS).sum()) for label in range(4)]
    np.testing.assert_allclose(rig.param_diffs()[0], centers, rtol=1e-12)  # whatever the loss weighs


def lifted(rows: np.ndarray, labels: np.ndarray, margin: float) -> float:
    far = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(2))
    costs = []
    for i, j in np.argwhere(np.triu(labels[:, None] == labels, 1)):
        others = [np.exp(margin - far[a, k]) for a in (i, j) for k in range(len(rows)) if labels[k] != labels[a]]
        costs.append(max(0.0, far[i, j] + np.log(sum(others))) ** 2)
    return sum(costs) / 2 / len(costs)


@pytest.mark.parametrize("margin", [0.2, 1, 80])
def test_lifted_structures(margin, device):
    text = f"{LIFTED} lifted_struct_sim_softmax_loss_param {{ margin: {margin} }}"
    rig = Rig(text, [ROWS, LABELS], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], lifted(ROWS, LABELS, np.float32(margin)), rtol=1e-9)
    check_gradient(rig)


def test_lifted_structures_without_pairs_or_others(device):
    for labels in (np.arange(9), np.zeros(9)):
        rig = Rig(LIFTED, [ROWS, labels], device=device)
        assert rig.forward()[0] == 0
        assert not rig.backward([np.ones(())], [True, False])[0].any()
    twins = Rig(LIFTED, [np.zeros((4, 3)), [0, 0, 1, 1]], device=device)  # in one place: no direction, and no NaN
    assert np.isfinite(twins.forward()[0])
    assert not twins.backward([np.ones(())], [True, False])[0].any()


def psi(theta: np.ndarray, m: int) -> np.ndarray:
    k = np.floor(m * theta / np.pi)
    return (-1) ** k * np.cos(m * theta) - 2 * k


@pytest.mark.parametrize(("name", "m"), [("SINGLE", 1), ("DOUBLE", 2), ("TRIPLE", 3), ("QUADRUPLE", 4)])
@pytest.mark.parametrize("kind", [SPHERE, LARGE])
def test_margins(kind, name, m, device):
    rows = np.concatenate([ROWS, 3 * CENTERS[[1]], -CENTERS[[1]]])  # angles of 0 and pi besides
    labels = np.append(LABELS, [1, 1])
    rig = Rig(MARGIN % (*kind, name), [rows, labels], tops=2, device=device, dtype=np.float64, params=[CENTERS])
    sphere = kind is SPHERE
    weights = CENTERS / np.linalg.norm(CENTERS, axis=1, keepdims=True) if sphere else CENTERS
    scores, lengths = rows @ weights.T, np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(weights, axis=1))
    theta = np.arccos(np.clip(scores / lengths, -1, 1))
    for forward in (1, 2):
        share = max(2 * (1 + 0.5 * (1 + forward)) ** -2.0, 0.25)
        wanted = scores.copy()
        at = np.arange(11), labels
        if m > 1:
            wanted[at] = ((lengths * psi(theta, m))[at] + share * scores[at]) / (1 + share)
        top, shares = rig.forward()
        np.testing.assert_allclose(top, wanted, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(shares, [share], rtol=1e-12)
    if sphere:
        np.testing.assert_allclose(rig.layer.blobs[0].data, weights, rtol=1e-12)  # as that program leaves them


@pytest.mark.parametrize("name", ["SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE"])
def test_large_margin_gradient(name, device):
    text = f'type: "LargeMarginInnerProduct" largemargin_inner_product_param {{ num_output: 4 type: {name} base: 2 }}'
    check_gradient(Rig(text, [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS]))


SOFT = 'type: "MarginSoftmaxLoss" margin_softmax_loss_param { num_output: 4 lambda { %s } }'


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("value: 2", [2, 2, 2, 2, 2]),
        ("policy: STEPUP value: 8 gamma: 0.25 step: 2 min: 1 max: 9", [8, 8, 2, 2, 1]),
        ("policy: ADDUP value: 0.5 gamma: 3 step: 2 max: 4 iter: 1", [0.5, 3.5, 3.5, 4, 4]),
    ],
)
def test_a_loss_with_a_margin(schedule, shares, device):
    rig = Rig(SOFT % schedule, [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS])
    scores = ROWS @ CENTERS.T
    lengths = np.outer(np.linalg.norm(ROWS, axis=1), np.linalg.norm(CENTERS, axis=1))
    at = np.arange(9), LABELS
    for share in shares:
        held = scores.copy()
        held[at] = ((lengths * psi(np.arccos(scores / lengths), 4))[at] + share * scores[at]) / (1 + share)
        wanted = (np.log(np.exp(held).sum(1)) - held[at]).mean()
        np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-9)


def test_gradients_of_a_loss_with_a_margin(device):
    check_gradient(Rig(SOFT % "value: 0.5", [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS]))
    without = Rig(SOFT % "", [ROWS, np.full(9, 4)], device=device, params=[CENTERS])  # labels that are no classes
    assert without.forward()[0] == 0
    assert not without.backward([np.ones(())], [True, False])[0].any()
    with pytest.raises(LayerError, match="step must be 1 or more"):
        Rig(SOFT % "step: 0", [ROWS, LABELS])


def test_sphere_gradients_are_those_of_its_program(device):
    text = 'type: "MarginInnerProduct" margin_inner_product_param { num_output: 4 type: DOUBLE base: 3 }'
    rig = Rig(text, [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS])
    rig.forward()
    diff = RNG.standard_normal((9, 4))
    bottom = rig.backward([diff], [True, False])[0]
    w = CENTERS / np.linalg.norm(CENTERS, axis=1, keepdims=True)
    wanted = np.zeros_like(ROWS)
    for i, label in enumerate(LABELS):
        x = ROWS[i]
        length = np.linalg.norm(x)
        cosine = x @ w[label] / length
        of_w, of_x = 4 * np.sign(cosine) * cosine, -(2 * np.sign(cosine) * cosine**2 + 1) / length
        for j in range(4):
            plain = diff[i, j] * w[j]
            if j == label:
                plain = diff[i, j] * ((of_w * w[j] + of_x * x) / np.hypot(of_w, of_x) + 3 * w[j]) / 4
            wanted[i] += plain
    np.testing.assert_allclose(bottom, wanted, rtol=1e-9)
    np.testing.assert_allclose(rig.param_diffs()[0], diff.T @ ROWS, rtol=1e-9)


def test_label_specific_add(device):
    rig = Rig(ADD, [ROWS, LABELS], device=device, phase="TRAIN", dtype=np.float64)
    wanted = ROWS.copy()
    for row, label in zip(wanted, LABELS):
        row[label] += np.float32(-0.4) * (row[label] > 0.4)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-6)
    check_gradient(rig)
    np.testing.assert_array_equal(Rig(ADD, [ROWS, LABELS], device=device).forward()[0], ROWS.astype(np.float32))
    text = ADD.replace("bias: -0.4", "bias_base: 0.5 bias_gamma: 1 bias_max: 2.25 iteration: 1")
    grown = Rig(text, [ROWS, LABELS], tops=2, device=device, phase="TRAIN")
    assert [float(grown.forward()[1][0]) for _ in range(3)] == [1.5, 2.25, 2.25]  # 0.5 + (1 + i) - 1, i = 1, 2, 3


@pytest.mark.parametrize("kind", ["L1", "L2"])
def test_inner_distance(kind, device):
    text = DISTANCE % f'distance_type: "{kind}"'
    rig = Rig(text, [ROWS], device=device, dtype=np.float64, params=[CENTERS])
    off = ROWS[:, None] - CENTERS[None]
    wanted = np.abs(off).sum(2) if kind == "L1" else (off**2).sum(2)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    check_gradient(rig)
    two = f'type: "InnerDistance" inner_distance_param {{ distance_type: "{kind}" }}'
    check_gradient(Rig(two, [ROWS, CENTERS], device=device, dtype=np.float64))


def test_inner_distance_of_centres_alone_and_of_length_1(device):
    rig = Rig(DISTANCE % "update_center_only: true", [ROWS, LABELS], device=device, dtype=np.float64, params=[CENTERS])
    rig.forward()
    diff = RNG.standard_normal((9, 4))
    rig.backward([diff], [True, False])
    wanted = [2 * (diff[j == LABELS, j, None] * (CENTERS[j] - ROWS[j == LABELS])).sum(0) for j in range(4)]
    np.testing.assert_allclose(rig.param_diffs()[0], wanted, rtol=1e-9)
    unit = Rig(DISTANCE % "normalize: true", [ROWS], device=device, dtype=np.float64, params=[CENTERS])
    unit.forward()
    lengths = np.sqrt((CENTERS**2).sum(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(unit.layer.blobs[0].data, CENTERS / lengths, rtol=1e-12)


def test_what_is_refused():
    with pytest.raises(LayerError, match="label 7 at 2 is none of the 4 channels"):
        Rig(CENTER % "", [ROWS[:3], [0, 1, 7]]).forward()
    for text, bottoms, message in (
        ('type: "CenterLoss"', [ROWS, LABELS], "num_output"),
        (CENTER % "num_center: 2", [ROWS, LABELS], "num_center of a fork"),
        ('type: "MarginInnerProduct"', [ROWS, LABELS], "num_output"),
        (MARGIN % (*LARGE, "DOUBLE"), [ROWS, LABELS[:4]], "a label for each of the 9 rows"),
        (DISTANCE % 'distance_type: "L3"', [ROWS], "L1 or L2"),
        (DISTANCE % "", [ROWS, LABELS, LABELS], "update_center_only alone"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)


def test_rows_of_length_1(device):
    rows = np.concatenate([ROWS, np.zeros((1, 6))])
    rig = Rig('type: "NormalizationL2"', [rows], device=device, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(rig.forward()[0], rows / np.maximum(lengths, 1e-300), rtol=1e-12)
    assert not rig.backward([np.ones_like(rows)], [True])[0][-1].any()
    check_gradient(Rig('type: "NormalizationL2"', [ROWS], device=device, dtype=np.float64))
    check_gradient(Rig('type: "NormalizationL2"', [ROWS], device=device, dtype=np.float64, in_place=True))


@pytest.mark.parametrize("text", ["L2Norm", "L2Normalization", "L2Norm l2norm_param { eps: 0.5 }"])
def test_rows_of_length_1_by_other_names(text, device):
    kind, _, fields = text.partition(" ")
    eps = 0.5 if fields else 0
    rig = Rig(f'type: "{kind}" {fields}', [ROWS], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], ROWS / (np.linalg.norm(ROWS, axis=1, keepdims=True) + eps), rtol=1e-12)
    check_gradient(rig)
    check_gradient(Rig(f'type: "{kind}" {fields}', [ROWS], device=device, dtype=np.float64, in_place=True))


def test_another_forks_length_is_refused():
    with pytest.raises(LayerError, match="l2_length of a fork"):
        Rig('type: "L2Norm" l2norm_param { l2_length: 3 }', [ROWS])


def test_a_gradient_is_reversed(device):
    text = 'type: "GradientScaler" gradient_scaler_param { lower_bound: 0.25 upper_bound: 2 alpha: 3 max_iter: 4 }'
    rig = Rig(text, [ROWS], device=device, dtype=np.float64, phase="TRAIN")
    for iteration in range(6):
        np.testing.assert_array_equal(rig.forward()[0], ROWS)
        wide = 1.75
        wanted = 2 * wide / (1 + np.exp(-3 * min(1, iteration / 4))) - wide + 0.25
        np.testing.assert_allclose(rig.backward([ROWS], [True])[0], -wanted * ROWS, rtol=1e-12)
    with pytest.raises(LayerError, match="upper_bound, 1, is below lower_bound, 2"):
        Rig('type: "GradientScaler" gradient_scaler_param { lower_bound: 2 }', [ROWS])


def test_weighted_cross_entropy(device):
    targets, weights = (ROWS > 0).astype(float), ROWS**2
    weights[0] = 0
    rig_text = 'type: "SigmoidCrossEntropyLossWeighted"'
    rig = Rig(rig_text, [ROWS, targets, weights], device=device, dtype=np.float64)
    p = 1 / (1 + np.exp(-ROWS))
    wanted = -(weights * (targets * np.log(p) + (1 - targets) * np.log(1 - p))).sum() / 9
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10)
    check_gradient(rig)
    left_out = np.where(weights > 0, ROWS, np.nan)  # where the weight is 0, score and target do not matter
    rig = Rig(rig_text, [left_out, np.where(weights > 0, targets, np.inf), weights], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10)
    np.testing.assert_allclose(rig.backward([9], [True, False, False])[0], weights * (p - targets), atol=1e-12)
    with pytest.raises(LayerError, match="bottom 2 must have as many"):
        Rig(rig_text, [ROWS, targets, weights[:3]])


def test_balanced_cross_entropy(device):
    targets = (ROWS > 0.5).astype(float)
    targets[2], targets[3, 0] = 0, 255  # one kind alone weighs nothing; another value does not count
    rig = Rig('type: "SigmoidCrossEntropyBalanceLoss"', [ROWS, targets], device=device, dtype=np.float64)
    p, wanted = 1 / (1 + np.exp(-ROWS)), 0.0
    for x, t in zip(p, targets):
        ones, zeros = (t == 1).sum(), (t == 0).sum()
        wanted -= (zeros * np.log(x[t == 1]).sum() + ones * np.log(1 - x[t == 0]).sum()) / (ones + zeros)
    np.testing.assert_allclose(rig.forward()[0], wanted / 9, rtol=1e-10)
    check_gradient(rig)
    diff = rig.backward([np.ones(())], [True, False])[0]
    assert not diff[2].any()
    assert diff[3, 0] == 0
    blank = Rig('type: "SigmoidCrossEntropyBalanceLoss"', [ROWS, np.full_like(ROWS, 255)], device=device)
    assert blank.forward()[0] == 0
