"""MMDLoss by loops over its draws, its gradient by differences of them, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(9)
S, T = RNG.standard_normal((5, 4)), 1 + RNG.standard_normal((7, 2, 2))
TEXT = 'type: "MMDLoss" mmd_param { %s }'
LAUNCHES: list[tuple] = [(TEXT % "", [S, T])]  # for tests/device/test_threaded.py


def gamma_of(rows: np.ndarray) -> float:
    total = len(rows)
    return (total * total - total) / sum(((a - b) ** 2).sum() for a in rows for b in rows)


def loss(rows: np.ndarray, pairs: np.ndarray, gamma: float, kernels: int, factor: float) -> float:
    value = 0.0
    for draw in pairs:
        for (a, b), sign in zip(draw, (1, 1, -1, -1)):
            square = ((rows[a] - rows[b]) ** 2).sum()
            value += sign * sum(np.exp(-gamma * factor ** (j - kernels // 2) * square) for j in range(kernels))
    return value


@pytest.mark.parametrize(("text", "kernels", "factor"), [("", 5, 2), ("kernel_num: 2 kernel_mul: 3", 2, 3)])
def test_pairs_of_two_domains(text, kernels, factor, device):
    rig = Rig(TEXT % text, [S, T], device=device, dtype=np.float64)
    top = rig.forward()[0]
    rows, pairs = np.concatenate([S, T.reshape(7, 4)]), np.array(rig.layer.pairs)
    how = pairs, gamma_of(rows), kernels, factor
    np.testing.assert_allclose(top, loss(rows, *how), rtol=1e-12)
    first, second = rig.backward([np.array(3.0)])
    wanted, step = np.zeros_like(rows), 1e-6
    for at in np.ndindex(rows.shape):
        moved = [rows.copy(), rows.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        wanted[at] = 3 * (loss(moved[0], *how) - loss(moved[1], *how)) / (2 * step) / len(pairs)
    np.testing.assert_allclose(np.concatenate([first, second.reshape(7, 4)]), wanted, atol=1e-8)
    assert second.shape == T.shape


def test_what_is_drawn(device):
    """Other pairs in each forward, of two rows that differ, of the domains that they are meant for."""
    rig = Rig(TEXT % "", [S, T], device=device)
    drawn = []
    for _ in range(30):
        rig.forward()
        drawn.append(np.array(rig.layer.pairs))
    assert len({pairs.tobytes() for pairs in drawn}) == 30
    every = np.array(drawn)
    assert (every[..., 0] != every[..., 1]).all()
    assert set(every[:, :, 0].ravel()) == set(range(5))
    assert set(every[:, :, 1].ravel()) == set(range(5, 12))
    s, s2, t, t2 = every[:, :, 0, 0], every[:, :, 0, 1], every[:, :, 1, 0], every[:, :, 1, 1]
    np.testing.assert_array_equal(every[:, :, 2:], np.stack([np.stack([s, t2], -1), np.stack([s2, t], -1)], 2))


def test_gamma_can_stay(device):
    for text, stays in (("", False), ("fix_gamma: true", True)):
        rig = Rig(TEXT % text, [S, T], device=device, dtype=np.float64)
        rig.forward()
        before = float(np.array(rig.layer.gamma)[0])
        rig.bottom[0].data[...] = 2 * S
        rig.layer.forward(rig.bottom, rig.top)
        assert (float(np.array(rig.layer.gamma)[0]) == before) is stays


def test_rows_that_do_not_differ_and_single_ones(device):
    same = Rig(TEXT % "", [np.ones((3, 2)), np.ones((3, 2))], device=device)
    assert same.forward()[0] == 0
    assert not any(diff.any() for diff in same.backward([np.array(1.0)]))
    single = Rig(TEXT % "", [np.ones((1, 4)), T], device=device)
    assert np.isfinite(single.forward()[0])
    assert not any(diff.any() for diff in single.backward([np.array(1.0)]))


@pytest.mark.parametrize(
    ("text", "shapes", "message"),
    [
        ("", [(2, 4), (2, 5)], "rows of bottom 0 have 4 numbers, those of bottom 1 have 5"),
        ("", [(0, 4), (2, 4)], "a loss over an empty batch"),
        ("kernel_num: 0", [(2, 4), (2, 4)], "kernel_num must be from 1 to 1000, got 0"),
        ("kernel_num: 536870912", [(2, 4), (2, 4)], "kernel_num must be from 1 to 1000, got 536870912"),
        ("kernel_mul: -1", [(2, 4), (2, 4)], "kernel_mul must be above 0"),
        ("num_of_kernel: 3", [(2, 4), (2, 4)], "num_of_kernel is of another layer of this name"),
    ],
)
def test_what_it_refuses(text, shapes, message):
    with pytest.raises(LayerError, match=message):
        Rig(TEXT % text, [np.zeros(shape) for shape in shapes])
