"""GroupNorm against its formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

X = np.random.default_rng(6).standard_normal((2, 6, 3, 4)) * 3 + 1
TEXT = 'type: "GroupNorm" group_norm_param { group_num: %d eps: 0.5 }'
LAUNCHES: list[tuple] = [(TEXT % 3, [X])]


def wanted(x: np.ndarray, groups: int) -> np.ndarray:
    rows = x.reshape(len(x), groups, -1)
    mean, variance = rows.mean(2, keepdims=True), rows.var(2, keepdims=True)
    return ((rows - mean) / np.sqrt(variance + 0.5)).reshape(x.shape)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_group_norm(groups, in_place, device):
    rig = Rig(TEXT % groups, [X], device=device, dtype=np.float64, in_place=in_place)
    np.testing.assert_allclose(rig.forward()[0], wanted(X, groups), rtol=1e-10, atol=1e-12)
    check_gradient(rig)


def test_of_volumes(device):
    x = X.reshape(2, 6, 3, 2, 2)
    rig = Rig(TEXT % 2, [x], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted(x, 2), rtol=1e-10, atol=1e-12)


def test_what_is_refused():
    for text, x, message in (
        (TEXT % 4, X, "group_num 4 does not part 6 channels"),
        (TEXT % 0, X, "group_num 0"),
        ('type: "GroupNorm" group_norm_param { eps: -1 }', X, "eps must not be negative"),
        (TEXT % 1, X.reshape(-1), "must be \\(N, C"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, [x])
