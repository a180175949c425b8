"""PairCosineLoss against its program's sum over the pairs that were drawn, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(17)
TEXT = 'type: "Python" python_param { module: "caffe.CosineLossLayer" layer: "CosineLossLayer" }'
FEATURES, LABELS = RNG.standard_normal((14, 6)), np.array([0, 1, 2, 0, 1, 2, 0, 1, 1, 1, 0, 0, 2, 2])
LAUNCHES: list[tuple] = [
    ('type: "PairCosineLoss"', [FEATURES, LABELS], [True, False])
]  # for tests/device/test_threaded.py


def loss_of(order: np.ndarray, features: np.ndarray, labels: np.ndarray) -> float:
    """As that program's forward has it: half of the pairs of the order, by 2 / N."""
    total = 0.0
    for a, b in order.reshape(-1, 2)[: len(order) // 2 >> 1]:
        lengths = [np.linalg.norm(features[i]) or 1 for i in (a, b)]
        cosine = abs(features[a] @ features[b]) / np.prod(lengths)
        total += 1 - cosine if labels[a] == labels[b] else cosine
    return total / len(features) * 2


@pytest.mark.parametrize("count", [14, 12, 4, 2])
def test_the_sum_over_drawn_pairs(count, device):
    features = FEATURES[:count].copy()
    features[1] = 0
    rig = Rig(TEXT, [features, LABELS[:count]], device=device, dtype=np.float64)
    for step in range(6):
        rig.layer.draws = lambda step=step: np.random.default_rng(step)
        order = np.random.default_rng(step).permutation(count)
        np.testing.assert_allclose(rig.forward()[0], loss_of(order, features, LABELS[:count]), rtol=1e-9, atol=1e-12)


def test_pairs_are_drawn_anew_and_by_the_seed():
    one, other = (Rig(TEXT, [FEATURES, LABELS]) for _ in range(2))
    values = [float(one.forward()[0]) for _ in range(8)]
    assert len(set(values)) > 5
    assert values == [float(other.forward()[0]) for _ in range(8)]


def test_gradient(device):
    rig = Rig('type: "PairCosineLoss"', [FEATURES, LABELS], device=device, dtype=np.float64)
    rig.layer.draws = lambda: np.random.default_rng(3)  # the same pairs in each pass
    check_gradient(rig)
    order = np.random.default_rng(3).permutation(14)
    rig.forward()
    diff = rig.backward([np.ones(())], [True, False])[0]
    assert not diff[order[6:]].any()  # three of seven pairs count
    assert diff[order[:6]].any(1).all()


def test_rows_of_zeros_and_wrong_shapes():
    rig = Rig('type: "PairCosineLoss"', [np.zeros((8, 3)), np.zeros(8)])
    assert rig.forward()[0] == 0.5  # two pairs of one label cost 1 each, by 2 / 8
    assert not rig.backward([np.ones(())], [True, False])[0].any()
    with pytest.raises(LayerError, match="needs an even number of them, got 7"):
        Rig(TEXT, [FEATURES[:7], LABELS[:7]])
    with pytest.raises(LayerError, match="a label for each of the 14 rows"):
        Rig(TEXT, [FEATURES, LABELS[:7]])
