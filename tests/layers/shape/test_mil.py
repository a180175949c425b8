"""MIL: the largest and noisy or, over places and over rows, in numpy; gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(4)
X, ROWS = RNG.uniform(0.02, 0.9, (2, 3, 4, 5)), RNG.standard_normal((12, 7))
MAX, NOR, CONTEXT = (
    'type: "MIL"',
    'type: "MIL" mil_param { type: NOR }',
    'type: "MIL" mil_param { context_per_roi: %d }',
)
LAUNCHES: list[tuple] = [(NOR, [X]), (CONTEXT % 4, [ROWS])]  # for tests/device/test_threaded.py


@pytest.mark.parametrize(
    ("text", "x", "wanted"),
    [
        (MAX, X, X.max((2, 3))),
        (NOR, X, 1 - np.prod(1 - X, (2, 3))),
        (CONTEXT % 4, ROWS, ROWS.reshape(3, 4, 7).max(1)),
        (CONTEXT % 4, ROWS[:, :, None, None], ROWS.reshape(3, 4, 7).max(1)),
    ],
)
def test_scores(text, x, wanted, device):
    rig = Rig(text, [x], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted[:, :, None, None], rtol=1e-13)
    check_gradient(rig, samples=40)


def test_equal_scores_and_certain_ones(device):
    """All elements that are the largest have its gradient; one that is true for certain has the whole of NOR's."""
    x, diff = np.array([[[[0.25, 1.0, 1.0, 0.5]]]]), np.full((1, 1, 1, 1), 3.0)
    rig = Rig(MAX, [x], device=device, dtype=np.float64)
    assert rig.forward()[0].item() == 1
    np.testing.assert_array_equal(rig.backward([diff])[0].ravel(), [0, 3, 3, 0])
    rig = Rig(NOR, [x], device=device, dtype=np.float64)
    assert rig.forward()[0].item() == 1
    np.testing.assert_array_equal(rig.backward([diff])[0].ravel(), [0, 3, 3, 0])


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        (MAX, (3,), r"must be \(N, C, ...\)"),
        (MAX, (2, 3, 0, 5), "has no elements"),
        (CONTEXT % 5, (12, 7), "12 rows are no multiple of context_per_roi: 5"),
        (CONTEXT % 2, (12, 7, 2, 1), r"must be \(rows, C\)"),
        ('type: "MIL" mil_param { context_per_roi: 2 type: NOR }', (12, 7), "goes with type: MAX alone"),
    ],
)
def test_what_it_refuses(text, shape, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros(shape)])
