"""DomainTransform: against recursions along lists of numbers, and gradients."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(9)
SCORES, EDGES, SIZES = RNG.standard_normal((2, 3, 4, 5)), RNG.uniform(0, 9, (2, 1, 4, 5)), np.array([[4, 5], [3, 4]])
TEXT = 'type: "DomainTransform%s" domain_transform_param { num_iter: %d spatial_sigma: 6 range_sigma: 5 %s }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (TEXT % ("", 2, ""), [SCORES, EDGES, SIZES], [True, True, False]),
    (TEXT % ("ForwardOnly", 2, ""), [SCORES, EDGES, SIZES], []),
]


def along(line: list[float], weights: list[float]) -> list[float]:
    """Forwards, then backwards; weights[k]: between the places k - 1 and k."""
    line = list(line)
    for k in range(1, len(line)):
        line[k] += weights[k] * (line[k - 1] - line[k])
    for k in range(len(line) - 2, -1, -1):
        line[k] += weights[k + 1] * (line[k + 1] - line[k])
    return line


def filtered(plane: np.ndarray, edges: np.ndarray, iterations: int, least: float) -> np.ndarray:
    plane = plane.copy()
    for i in range(iterations):
        s = 6 * sqrt(3) * 2 ** (iterations - i - 1) / sqrt(4**iterations - 1)
        weights = [[max(exp(-sqrt(2) / s * (1 + edge * 6 / 5)), least) for edge in row] for row in edges]
        for y in range(len(plane)):
            plane[y] = along(plane[y], weights[y])
        for x in range(plane.shape[1]):
            plane[:, x] = along(plane[:, x], [row[x] for row in weights])
    return plane


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("kind", ["", "ForwardOnly"])
@pytest.mark.parametrize("least", [0, 0.25])
def test_planes_within_their_padding(kind, iterations, least, device):
    rig = Rig(
        TEXT % (kind, iterations, f"min_weight: {least}"), [SCORES, EDGES, SIZES], device=device, dtype=np.float64
    )
    wanted = SCORES.copy()
    for n, (high, wide) in enumerate(SIZES):
        for c in range(3):
            wanted[n, c, :high, :wide] = filtered(
                SCORES[n, c, :high, :wide], EDGES[n, 0, :high, :wide], iterations, least
            )
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10)
    assert np.abs(wanted - SCORES).max() > 0.5
    nothing = Rig(TEXT % (kind, 2, ""), [SCORES, EDGES, 0 * SIZES], device=device, dtype=np.float64)
    np.testing.assert_array_equal(nothing.forward()[0], SCORES)


@pytest.mark.parametrize("iterations", [1, 2])
def test_gradient(iterations, device):
    rig = Rig(TEXT % ("", iterations, ""), [SCORES, EDGES, SIZES], device=device, dtype=np.float64)
    check_gradient(rig, bottoms=[0, 1])
    diff = rig.backward([np.ones(SCORES.shape)], [True, True, False])[1]
    assert diff[0].any()
    assert not diff[1, 0, 3:].any()


def test_the_smallest_weight_lets_gradients_through(device):
    """As its program: with min_weight an edge learns where its weight is at that limit."""
    text = (
        'type: "DomainTransform" domain_transform_param { num_iter: 1 spatial_sigma: 1 range_sigma: 1 min_weight: 0.5 }'
    )
    rig = Rig(text, [[[[[1.0, 0]]]], [[[[0, 9.0]]]], [[1, 2]]], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0].ravel(), [0.75, 0.5])  # to the right, then back
    diff = rig.backward([np.array([[[[0.0, 1]]]])], [True, True, False])[1]
    np.testing.assert_allclose(diff.ravel(), [0, -sqrt(2) * 0.5 * 1])  # s is 1, the step 1 - 0


def test_refused():
    for text, bottoms, message in (
        (TEXT % ("", 0, ""), [SCORES, EDGES, SIZES], "num_iter must be from 1 to 100"),
        (TEXT % ("", 1, "min_weight: -1"), [SCORES, EDGES, SIZES], "min_weight must not be negative"),
        (
            'type: "DomainTransform" domain_transform_param { range_sigma: 0 }',
            [SCORES, EDGES, SIZES],
            "must be above 0",
        ),
        (TEXT % ("", 1, ""), [SCORES, SCORES, SIZES], "the edges, must be"),
        (TEXT % ("", 1, ""), [SCORES, EDGES, SIZES[:1]], "for each of 2 images, got 2 numbers"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
    for kind, down, message in (
        ("", [True, True, True], "bottom 2, the sizes"),
        ("ForwardOnly", [True, False, False], "gradient"),
    ):
        rig = Rig(TEXT % (kind, 1, ""), [SCORES, EDGES, SIZES])
        rig.forward()
        with pytest.raises(LayerError, match=message):
            rig.backward([SCORES], down)
