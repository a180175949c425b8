"""MAE, RankingLoss, CenterCosLoss and NPairCLoss against loops in numpy, by the text of their programs."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(14)
SCORES, LABELS = RNG.standard_normal((6, 8)), np.array([0, 3, 7, 3, 1, 3])
CENTERS = RNG.standard_normal((9, 8))
RANKED, FIRST = (
    'type: "RankingLoss" ranking_loss_param { margin: 0.5 }',
    "ranking_loss_param { margin: 0.5 trunc: true }",
)
CENTRED = 'type: "CenterCosLoss" center_cos_loss_param { num_output: 9 center_cos_filler { type: "gaussian" } }'
ORDINAL = 'type: "MAE" mae_param { ordinal: true ignore_label: 7 }'
PAIRED, ROWS = 'type: "NPairCLoss" group_id: 1', RNG.standard_normal((14, 9)) * 30
PAIRS = np.stack([np.zeros(14), RNG.permutation(14) // 2], 1)
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (RANKED, [SCORES, LABELS], [True, False]),
    (f'type: "RankingLoss" {FIRST}', [SCORES, LABELS], [True, False]),
    (CENTRED, [SCORES, LABELS], [True, False]),
    (ORDINAL, [SCORES, LABELS], []),
    ('type: "MAE"', [SCORES, LABELS], []),
    (PAIRED, [ROWS, PAIRS], [True, False], {"tops": 2}),
]


@pytest.mark.parametrize("trunc", [False, True])
def test_scores_a_margin_below_that_of_the_label(trunc, device):
    rig = Rig(f'type: "RankingLoss" {FIRST}' if trunc else RANKED, [SCORES, LABELS], device=device, dtype=np.float64)
    loss, diff = 0.0, np.zeros_like(SCORES)
    for i, label in enumerate(LABELS):
        for j in range(8):
            over = 0.5 - SCORES[i, label] + SCORES[i, j]
            if j != label and over > 0:
                loss += over / 6
                diff[i, j] += 1 / 6
                diff[i, label] -= 1 / 6
                if trunc:
                    break
    np.testing.assert_allclose(rig.forward()[0], loss, rtol=1e-7)
    np.testing.assert_allclose(rig.backward([np.array(3.0)], [True, False])[0], 3 * diff, rtol=1e-6, atol=1e-9)
    check_gradient(rig, [0])


def test_angles_to_centres(device):
    rig = Rig(CENTRED, [SCORES, LABELS], device=device, dtype=np.float64)
    rig.layer.blobs[0].data[...] = CENTERS
    unit = [rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (SCORES, CENTERS)]
    cosines = (unit[0] * unit[1][LABELS]).sum(1)
    np.testing.assert_allclose(rig.forward()[0], -cosines.sum(), rtol=1e-9)
    step, moved = 1e-6, np.zeros_like(SCORES)
    for i, k in np.ndindex(*SCORES.shape):  # the mean's derivative, by differences
        for sign in (1, -1):
            x = SCORES[i].copy()
            x[k] += sign * step
            moved[i, k] -= sign * x @ unit[1][LABELS[i]] / np.linalg.norm(x) / (2 * step) / 6
    np.testing.assert_allclose(rig.backward([np.array(2.0)], [True, False])[0], 2 * moved, rtol=1e-5, atol=1e-8)
    turned = np.zeros_like(CENTERS)
    for c, k in np.ndindex(*CENTERS.shape):
        rows = np.flatnonzero(c == LABELS)
        for sign in (1, -1):
            center = CENTERS[c].copy()
            center[k] += sign * step
            turned[c, k] -= (
                sign * (unit[0][rows] @ center).sum() / np.linalg.norm(center) / (2 * step) / (1 + len(rows))
            )
    np.testing.assert_allclose(np.asarray(rig.layer.blobs[0].diff) - 1, turned, rtol=1e-5, atol=1e-8)


def test_a_row_of_zeros_has_no_direction(device):
    rows = SCORES.copy()
    rows[2] = 0
    rig = Rig(CENTRED, [rows, LABELS], device=device)
    assert np.isfinite(rig.forward()[0])
    assert not rig.backward([np.array(1.0)], [True, False])[0][2].any()


def test_ages_of_ranks_distributions_and_values(device):
    maps, labels = RNG.standard_normal((3, 6, 2, 2)), RNG.integers(0, 4, (3, 2, 2))
    text = 'type: "MAE" mae_param { ordinal: true ignore_label: 2 }'
    ranks = (maps[:, ::2] < maps[:, 1::2]).sum(1)
    wanted = np.abs(ranks - labels)[labels != 2].mean()
    np.testing.assert_allclose(Rig(text, [maps, labels], device=device).forward()[0], wanted, rtol=1e-6)
    best = SCORES.argmax(1)
    for other, told in ((LABELS + 0.25, LABELS + 0.25), (CENTERS[:6, :5], CENTERS[:6, :5].argmax(1))):
        rig = Rig('type: "MAE"', [SCORES, other], device=device)
        np.testing.assert_allclose(rig.forward()[0], np.abs(best - told).mean(), rtol=1e-6)
    rig = Rig('type: "MAE"', [SCORES[:, :1], LABELS], device=device)
    np.testing.assert_allclose(rig.forward()[0], np.abs(SCORES[:, 0] - LABELS).mean(), rtol=1e-6)


def npairs(rows):
    """(loss, share of the ten nearest), row by row."""
    near, losses, shares = 0.001 * rows @ rows.T, [], []
    for i in range(14):
        own = PAIRS[:, 1] == PAIRS[i, 1]
        (partner,) = np.flatnonzero(own & (np.arange(14) != i))
        losses.append(np.log(1 + np.exp(near[i, ~own] - near[i, partner]).sum()))
        shares.append(own[np.argsort(-near[i])[:10]].sum() / 10)
    return np.mean(losses), np.mean(shares)


def test_pairs_of_rows(device):
    rig = Rig(PAIRED, [ROWS, PAIRS], device=device, dtype=np.float64, tops=2)
    np.testing.assert_allclose(rig.forward(), npairs(ROWS), rtol=1e-9)
    step, slope = 1e-5, np.zeros_like(ROWS)
    for at in np.ndindex(*ROWS.shape):
        for sign in (1, -1):
            moved = ROWS.copy()
            moved[at] += sign * step
            slope[at] += sign * npairs(moved)[0] / (2 * step)
    diff = rig.backward([np.array(2.0), np.array(0.0)], [True, False])[0]
    np.testing.assert_allclose(diff, 2 * (slope + 1e-6 * ROWS / 14), rtol=1e-6, atol=1e-9)


def test_a_class_has_two_rows():
    for labels, message in (
        (PAIRS[:, :1], "group_id 1 is none of the 1 labels"),
        (PAIRS // 2 * 2, "two rows in a batch"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(PAIRED, [ROWS, labels], tops=2).forward()


def test_a_net_says_by_its_loss_that_ages_are_ranks():
    text = """layer { name: "x" type: "Input" top: "x" top: "label" input_param { shape { dim: 2 dim: 8 } shape { dim: 2 } } }
        layer { name: "age" type: "MAE" bottom: "x" bottom: "label" top: "age" } LOSS"""
    loss = 'layer { name: "loss" type: "OrdinalRegressionLoss" bottom: "x" bottom: "label" top: "loss" }'
    x = np.array([[0, 1, 0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 0, 2]])
    train = loss[:-1] + " include { phase: TRAIN } }"
    for end, wanted in ((loss, 1.5), (train, 1.5), ("", 3)):  # ranks 2 and 1; the largest are at 1 and 7
        net = Net(parse_net(text.replace("LOSS", end)), device="cpu", phase="TEST")
        net.blobs["x"].data[...], net.blobs["label"].data[...] = x, [0, 2]
        assert net.forward()["age"] == wanted


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (RANKED, [SCORES, LABELS[:5]], "a label for each of the 6 rows"),
        (CENTRED.replace("num_output: 9", ""), [SCORES, LABELS], "num_output"),
        ('type: "MAE" mae_param { ignore_label: 1 }', [SCORES, LABELS], "goes with ordinal"),
        (ORDINAL, [SCORES[:, :7], LABELS], "two scores for each rank, got 7"),
        (ORDINAL, [SCORES, LABELS[:5]], "has not what belongs to the 6 rows"),
    ],
)
def test_refused(text, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, bottoms)


@pytest.mark.parametrize("text", [RANKED, CENTRED])
def test_a_label_that_is_no_class_is_refused(text):
    with pytest.raises(LayerError, match="label 9 at 2 is none of the"):
        Rig(text, [SCORES, np.array([0, 3, 9, 3, 1, 3])]).forward()
