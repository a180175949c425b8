"""ConsistencyLoss by a loop over joints, and its gradient by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(8)
TEXT = 'type: "ConsistencyLoss"'
FLOW = RNG.standard_normal((2, 2, 5, 6))
JOINTS = RNG.integers(-2, 7, (2, 12, 1, 2)) + RNG.uniform(0.2, 0.8, (2, 12, 1, 2))  # far from whole pixels
LAUNCHES: list[tuple] = [(TEXT, [JOINTS, FLOW], [True, False])]  # for tests/device/test_threaded.py


def loss(joints: np.ndarray, flow: np.ndarray) -> float:
    total = 0.0
    for n, place in np.ndindex(2, 2):
        for x, y, to_x, to_y in joints[n, :, 0, place].reshape(3, 4):
            column, to_column = (int(np.clip(at, 0, 5)) for at in (x, to_x))
            row, to_row = (int(np.clip(at, 0, 4)) for at in (y, to_y))
            u = (flow[n, 0, row, column] + flow[n, 0, to_row, to_column]) / 2
            v = (flow[n, 1, row, column] + flow[n, 1, row, to_column]) / 2
            total += abs(x + u - to_x) + abs(y + v - to_y)
    return total / 2


def test_joints_beside_the_flow(device):
    rig = Rig(TEXT, [JOINTS, FLOW], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], loss(JOINTS, FLOW), rtol=1e-13)
    check_gradient(rig, (0,))


@pytest.mark.parametrize(
    ("joints", "flow", "message"),
    [
        ((2, 6), (2, 2, 5, 6), r"must be \(N, 4 joints, ...\)"),
        ((0, 8), (0, 2, 5, 6), r"must be \(N, 4 joints, ...\)"),
        ((2, 8), (1, 2, 5, 6), r"must be \(2, 2, H, W\)"),
        ((2, 8), (2, 3, 5, 6), r"must be \(2, 2, H, W\)"),
        ((2, 8), (2, 2, 0, 6), r"must be \(2, 2, H, W\)"),
    ],
)
def test_what_it_refuses(joints, flow, message):
    with pytest.raises(LayerError, match=message):
        Rig(TEXT, [np.zeros(joints), np.zeros(flow)])
    rig = Rig(TEXT, [JOINTS, FLOW])
    rig.forward()
    with pytest.raises(LayerError, match="the flow has no gradient"):
        rig.backward([np.ones(())], [True, True])
