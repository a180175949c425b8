"""Losses of forks (hashing, triplets, saliency, ordered labels, points) against their formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(31)
ROWS, OTHERS, THIRD = (RNG.standard_normal((5, 6)) for _ in range(3))
LABELS, SEVERAL = np.array([0, 1, 0, 2, 1]), np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0]])
HASH = 'type: "HashingLoss" hashing_loss_param { bi_margin: %g tradeoff: %g }'
TRIPLET = 'type: "TripletLoss" triplet_loss_param { margin: %g }'
K1, K2, BITS = 'type: "K1_EuclideanLoss"', 'type: "K2_EuclideanLoss"', RNG.uniform(0.1, 1, (5, 3, 2))
KL, NSS, ORDINAL, RELEVANT = (
    f'type: "{name}"' for name in ("KLDivLoss", "NSSLoss", "OrdinalRegressionLoss", "RelevantLoss")
)
NORMALS, SEEN = (
    each / np.sqrt((each**2).sum(1, keepdims=True)) for each in RNG.standard_normal((2, 3, 4, 5, 6))
)  # of surfaces, at 5 x 6 places
MAPS, LOOKS = (
    RNG.uniform(0.1, 1, (3, 1, 7, 9)),
    RNG.uniform(0, 1, (3, 1, 7, 9)) * (RNG.uniform(0, 1, (3, 1, 7, 9)) > 0.7),
)
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (HASH % (9, 0.1), [ROWS, LABELS], [True, False]),
    (K1, [BITS, BITS], [True, True]),
    ('type: "AngleLoss"', [NORMALS, SEEN], [True, False]),
    (K2, [BITS, BITS], [True, True]),
    (TRIPLET % 1, [ROWS, OTHERS, THIRD], [True, True, True]),
    (KL, [MAPS, LOOKS], [True, False]),
    (NSS, [MAPS, LOOKS], [True, False]),
    (ORDINAL, [ROWS, LABELS], [True, False]),
    (RELEVANT, [ROWS, OTHERS], [True, True]),
]


def close(actual, wanted, rtol=1e-12):
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("labels", [LABELS, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize(("margin", "tradeoff"), [(9, 0), (14, 0.3)])
def test_hashing_loss(labels, margin, tradeoff, device):
    rig = Rig(HASH % (margin, tradeoff), [ROWS, labels], device=device, dtype=np.float64)
    like = labels[:, None] == labels[None] if labels.ndim == 1 else labels @ labels.T > 0

    def pairs(rows: np.ndarray) -> float:
        far = ((rows[:, None] - rows[None]) ** 2).sum(2)
        return np.triu(np.where(like, far, np.maximum(margin - far, 0)), 1).sum() / 20

    def codes(rows: np.ndarray) -> float:
        return float(np.float32(tradeoff)) / 5 * np.abs(np.abs(rows) - 1).sum()

    close(rig.forward()[0], pairs(ROWS) + codes(ROWS))
    way = RNG.standard_normal(ROWS.shape)
    slopes = [(of(ROWS + 1e-6 * way) - of(ROWS - 1e-6 * way)) / 2e-6 for of in (pairs, codes)]
    diff = rig.backward([np.array(3.0)], [True, False])[0]
    close((diff * way).sum(), 3 * (slopes[0] / 2 + slopes[1]), 1e-7)


def test_angles_between_normals(device):
    labels = SEEN.copy()
    labels[0, 0, 1:3], labels[2, 0, 4, 4] = 11, -20  # places without a normal
    counted = np.abs(labels[:, 0]) <= 10
    cosines = (NORMALS * labels).sum(1)[counted]
    rig = Rig('type: "AngleLoss"', [NORMALS, labels], device=device, dtype=np.float64)
    close(rig.forward()[0], np.arccos(cosines).sum() / 3, 1e-9)
    diff = rig.backward([np.array(2.0)], [True, False])[0].transpose(0, 2, 3, 1)
    assert not diff[~counted].any()
    wanted = -2 / 3 * labels.transpose(0, 2, 3, 1)[counted] / (np.sqrt(1 - cosines**2) + 1e-6)[:, None]
    np.testing.assert_allclose(diff[counted], wanted, rtol=1e-8)
    same = Rig('type: "AngleLoss"', [1.01 * SEEN, SEEN], device=device, dtype=np.float64)
    assert same.forward()[0] == 0  # beyond 1 by rounding, or more: an angle of 0
    np.testing.assert_allclose(same.backward([np.array(3.0)], [True, False])[0], -1e6 * SEEN, rtol=1e-6)
    with pytest.raises(LayerError, match="must have one shape"):
        Rig('type: "AngleLoss"', [NORMALS, SEEN[:, :1]])


@pytest.mark.parametrize("type", [K1, K2])
def test_numbers_that_should_be_bits(type, device):
    rig = Rig(type, [BITS, BITS], device=device, dtype=np.float64)
    loss = -((BITS - 0.5) ** 2).sum() / (2 * 5 * 30) if type == K1 else (BITS.mean() - 0.5) ** 2 / (2 * 5)
    slope = (0.5 - BITS) / (5 * 30) if type == K1 else np.full(BITS.shape, (BITS.mean() - 0.5) / (5 * 30))
    close(rig.forward()[0], loss)
    diff, other = rig.backward([np.array(3.0)], [True, True])
    close(diff, 3 * slope)
    assert not other.any()  # that the second bottom is the first, too, takes nothing away
    check_gradient(rig, bottoms=[0])


def test_bits_want_two_bottoms_of_one_shape():
    with pytest.raises(LayerError, match=r"must have one shape, got \(5, 3, 2\) and \(5, 6\)"):
        Rig(K1, [BITS, ROWS])


@pytest.mark.parametrize("weighted", [False, True])
def test_triplet_loss(weighted, device):
    weights = RNG.uniform(0.5, 2, 5)
    bottoms = [ROWS, OTHERS, THIRD, *([weights] if weighted else [])]
    rig = Rig(TRIPLET % 2, bottoms, device=device, dtype=np.float64)
    cost = 2 + ((ROWS - OTHERS) ** 2).sum(1) - ((ROWS - THIRD) ** 2).sum(1)
    assert (cost > 0).any()
    assert (cost < 0).any()
    close(rig.forward()[0], (np.maximum(cost, 0) * (weights if weighted else 1)).sum() / 10)
    check_gradient(rig, (0, 1, 2))


def test_divergence(device):
    rig = Rig(KL, [MAPS, LOOKS], device=device, dtype=np.float64)
    whole = MAPS.reshape(3, -1).sum(1)[:, None, None, None]
    f, s = LOOKS / (LOOKS.reshape(3, -1).sum(1)[:, None, None, None] + 1e-6), MAPS / (whole + 1e-6)
    close(rig.forward()[0], (f * np.log(f / (s + 1e-6) + 1e-6)).sum() / 3, 1e-10)
    diff = rig.backward([np.array(2.0)], [True, False])[0]
    close(diff, -2 / 3 * f * (whole - MAPS) / (whole * MAPS + 1e-6))


def test_scanpath_saliency(device):
    looks = LOOKS.copy()
    looks[1] = 0  # nobody looked
    rig = Rig(NSS, [MAPS, looks], device=device, dtype=np.float64)
    close(rig.forward()[0], -sum((MAPS[i] * looks[i]).sum() / looks[i].sum() for i in (0, 2)) / 3)
    check_gradient(rig)


def test_ordinal_regression(device, tmp_path):
    weights = RNG.uniform(0.5, 2, 3)
    (tmp_path / "weights").write_text("\n".join(map(str, weights)))
    scores = ROWS.reshape(5, 3, 2)
    chances = np.exp(scores) / np.exp(scores).sum(2, keepdims=True)
    true = np.arange(3) <= LABELS[:, None]
    logs = -np.log(np.where(true, chances[..., 1], chances[..., 0]))
    for text, w in (("", np.full(3, 1 / 3)), (f'k: 3 weight_file: "{(tmp_path / "weights").as_posix()}"', weights)):
        rig = Rig(
            f"{ORDINAL} ordinal_regression_loss_param {{ {text} }}", [ROWS, LABELS], device=device, dtype=np.float64
        )
        close(rig.forward()[0], (logs * w).sum() / 5)
        check_gradient(rig)


@pytest.mark.parametrize("length", [6, 5])
def test_relevant_loss(length, device):
    a, b = ROWS[:, :length], OTHERS[:, :length]
    rig = Rig(RELEVANT, [a, b], device=device, dtype=np.float64)
    halves = [(a - b)[:, : length // 2], (a - b)[:, length // 2 :]]
    costs = [np.triu((half[:, :, None] - half[:, None]) ** 2, 1).sum() for half in halves]
    close(rig.forward()[0], sum(costs) / 10)
    check_gradient(rig, (0, 1))


def test_what_is_refused(tmp_path):
    missing = f'{ORDINAL} ordinal_regression_loss_param {{ weight_file: "{(tmp_path / "none").as_posix()}" }}'
    for text, bottoms, message in (
        (HASH % (1, 1), [ROWS[:1], LABELS[:1]], "needs two at least"),
        (HASH % (1, 1), [ROWS, LABELS[:4]], "needs labels for each of 5 rows"),
        (TRIPLET % 1, [ROWS, OTHERS, THIRD[:, :5]], "must have one size"),
        (TRIPLET % 1, [ROWS, OTHERS, THIRD, LABELS[:4]], "a weight for each of 5 rows"),
        (KL, [MAPS, LOOKS[:2]], "maps of one size"),
        (ORDINAL + " ordinal_regression_loss_param { k: 4 }", [ROWS, LABELS], "needs 8 scores a row"),
        (missing, [ROWS, LABELS], "weight_file: cannot read"),
        (RELEVANT, [ROWS, OTHERS[:, :4]], "must agree"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
    with pytest.raises(LayerError, match="label 3 at 1 is none of the 3"):
        Rig(ORDINAL, [ROWS[:2], np.array([0, 3])]).forward()
