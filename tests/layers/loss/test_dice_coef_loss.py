"""DiceCoefLoss against its formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError

RNG = np.random.default_rng(8)
X, Y = RNG.uniform(0, 1, (3, 1, 40, 9)), (RNG.uniform(0, 1, (3, 1, 40, 9)) > 0.6).astype(float)
TEXT = 'type: "DiceCoefLoss" dice_coef_loss_param { smooth: %g }'
LAUNCHES: list[tuple] = [(TEXT % 1, [X, Y])]


@pytest.mark.parametrize("smooth", [0, 2])
def test_loss_and_gradients(smooth, device):
    rig = Rig(TEXT % smooth, [X, Y], device=device, dtype=np.float64)

    def loss(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        def total(a: np.ndarray) -> np.ndarray:
            return a.reshape(3, -1).sum(1)

        return 1 - (2 * total(x * y) + smooth) / (total(x * x) + total(y * y) + smooth)

    np.testing.assert_allclose(rig.forward()[0], loss(X, Y).mean(), rtol=1e-12)
    diffs = rig.backward([np.array(3.0)], [True, True])
    for i, (diff, at) in enumerate(zip(diffs, (X, Y))):
        way = RNG.standard_normal(at.shape)
        near = [loss(*(b + sign * 1e-6 * way * (k == i) for k, b in enumerate((X, Y)))).sum() for sign in (1, -1)]
        np.testing.assert_allclose((diff * way).sum(), 3 * (near[0] - near[1]) / 2e-6, rtol=1e-6)  # the sum over images


def test_of_nothing(device):
    rig = Rig(TEXT % 0, [np.zeros((2, 4)), np.zeros((2, 4))], device=device)
    assert rig.forward()[0] == 0
    assert not np.any(rig.backward([np.ones(())], [True, True])[0])


def test_what_is_refused():
    for text, bottoms, message in (
        (TEXT % 1, [X, Y[:2]], "bottoms of one size"),
        (TEXT % -1, [X, Y], "smooth must not be negative"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
