"""GRIDPooling, of faces: the maxima of its cells in numpy, and the gradient by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

X = np.random.default_rng(2).standard_normal((2, 3, 7, 5))
GRID = 'type: "GRIDPooling" grid_pooling_param { pooled_h: %d pooled_w: %d }'
LAUNCHES: list[tuple] = [(GRID % (3, 4), [X])]  # for tests/device/test_threaded.py


@pytest.mark.parametrize("size", [(3, 4), (7, 5), (9, 2), (1, 1)])
def test_the_maximum_of_each_cell(device, size):
    rig = Rig(GRID % size, [X], device=device, dtype=np.float64)
    top = rig.forward()[0]
    for i, j in np.ndindex(*size):
        rows = slice(int(np.floor(i * 7 / size[0])), int(np.ceil((i + 1) * 7 / size[0])))
        columns = slice(int(np.floor(j * 5 / size[1])), int(np.ceil((j + 1) * 5 / size[1])))
        np.testing.assert_array_equal(top[:, :, i, j], X[:, :, rows, columns].max((2, 3)))
    check_gradient(rig, samples=40)


def test_the_first_of_several_maxima_has_the_gradient(device):
    rig = Rig(GRID % (1, 1), [np.ones((1, 1, 2, 2))], device=device)
    rig.forward()
    np.testing.assert_array_equal(rig.backward([np.full((1, 1, 1, 1), 3.0)])[0], [[[[3, 0], [0, 0]]]])


def test_a_grid_without_cells_is_refused():
    with pytest.raises(LayerError, match="pooled_h and pooled_w must be given"):
        Rig('type: "GRIDPooling"', [X])
