"""SoftmaxKLDLoss against its formula in numpy, and its gradient by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(8)
SCORES, WEIGHTS = 3 * RNG.standard_normal((3, 5, 4, 2)), RNG.uniform(0, 2, (3, 1, 4, 2))
TRUTH = RNG.uniform(0, 1, SCORES.shape)
TRUTH /= TRUTH.sum(1, keepdims=True)
KLD = 'type: "SoftmaxKLDLoss" loss_param { %s }'
LAUNCHES: list[tuple] = [
    (KLD % "", [SCORES, TRUTH, WEIGHTS], [True, False, False])
]  # for tests/device/test_threaded.py


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("divergence", [False, True])
@pytest.mark.parametrize("mode", ["VALID", "FULL", "BATCH_SIZE", "NONE"])
def test_the_loss_of_each_place(device, mode, divergence, weighted, axis):
    truth = TRUTH / TRUTH.sum(axis, keepdims=True)
    weights = WEIGHTS if axis == 1 else np.moveaxis(RNG.uniform(0, 2, (3, 5, 2, 1)), 3, 2)
    text = f"normalization: {mode} " + "ignore_label: 0 " * divergence
    rig = Rig(
        f"{KLD % text} softmax_param {{ axis: {axis} }}",
        [SCORES, truth, *[weights] * weighted],
        device=device,
        dtype=np.float64,
    )
    p = softmax(SCORES, axis)
    m = weights if weighted else np.ones_like(weights)
    places = m.size
    by = {"VALID": m.sum(), "FULL": places, "BATCH_SIZE": 3 if axis == 1 else 15, "NONE": 1}[mode]
    losses = -m * truth * (np.log(p) - (np.log(truth) if divergence else 0))
    np.testing.assert_allclose(rig.forward()[0], losses.sum() / by, rtol=1e-12)
    diff = rig.backward([np.array(3.0)], [True, *[False] * (1 + weighted)])[0]
    np.testing.assert_allclose(diff, 3 * m * (p - truth) / by, rtol=1e-10, atol=1e-15)


def test_the_gradient_is_that_of_the_loss(device):
    check_gradient(Rig(KLD % "", [SCORES, TRUTH, WEIGHTS], device=device, dtype=np.float64), bottoms=[0], samples=40)


def test_a_truth_of_nothing_costs_nothing_and_no_probability_a_bounded_loss(device):
    scores, truth = np.float64([[0, 1000]]), np.float64([[1, 0]])
    rig = Rig(KLD % "ignore_label: 0", [scores, truth], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], -np.log(np.finfo(np.float32).tiny))


def test_a_mean_of_small_weights_is_divided_by_one(device):
    weights = np.full((3, 1, 4, 2), 1e-3)
    rig = Rig(KLD % "", [SCORES, TRUTH, weights], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], -1e-3 * (TRUTH * np.log(softmax(SCORES, 1))).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("bottoms", "message"),
    [
        ([SCORES, TRUTH[:2]], "needs a probability for each score"),
        ([SCORES, TRUTH, WEIGHTS[:1]], "a weight for each of the 24 places"),
    ],
)
def test_refused(bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(KLD % "", bottoms)
