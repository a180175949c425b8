"""SpatialTransformer against its formulas in numpy, pixel by pixel."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(17)
MAP = RNG.standard_normal((2, 3, 5, 7))
AFFINE = np.array([[0.9, 0.2, -0.1, -0.3, 1.1, 0.2], [1.3, -0.4, 0.3, 0.1, -0.6, 0.15]]) + RNG.uniform(
    0, 0.03, (2, 6)
)  # off the pixels
PROJECTIVE = np.array(
    [[0.9, 0.2, -0.1, -0.3, 0.8, 0.2, 0.1, -0.2], [1.1, 0.1, 0.2, 0.05, 1.2, -0.1, 0.3, 0.1]]
) + RNG.uniform(0, 0.03, (2, 8))
TEXT = 'type: "SpatialTransformer" st_param { output_H: 4 output_W: 6 %s }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (TEXT % "", [MAP, AFFINE], [True, True]),
    (TEXT % 'transform_type: "projective"', [MAP, PROJECTIVE], [True, True]),
]


def sample(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """The map at a place, 0 outside, by the hat of each pixel."""
    rows, columns = (np.maximum(0, 1 - np.abs(at - np.arange(size))) for at, size in ((y, 5), (x, 7)))
    return np.asarray(image @ columns @ rows)


def affine(image: np.ndarray, theta: np.ndarray) -> np.ndarray:
    top = np.zeros((3, 4, 6))
    for i, j in product(range(4), range(6)):
        y, x = theta.reshape(2, 3) @ [2 * i / 4 - 1, 2 * j / 6 - 1, 1]
        top[:, i, j] = sample(image, (y + 1) * 5 / 2, (x + 1) * 7 / 2)
    return top


def projective(image: np.ndarray, theta: np.ndarray) -> np.ndarray:
    top = np.zeros((3, 4, 6))
    for i, j in product(range(4), range(6)):
        a, b, d = np.append(theta, 1).reshape(3, 3) @ [2 * j / 5 - 1, 2 * i / 3 - 1, 1]
        top[:, i, j] = sample(image, np.clip((b / d + 1) * 2, 0, 4), np.clip((a / d + 1) * 3, 0, 6))
    return top


@pytest.mark.parametrize("kind", ["affine", "projective"])
def test_transforms(kind, device):
    theta, definition = (AFFINE, affine) if kind == "affine" else (PROJECTIVE, projective)
    rig = Rig(TEXT % f'transform_type: "{kind}"', [MAP, theta], device=device, dtype=np.float64)
    wanted = [definition(image, row) for image, row in zip(MAP, theta)]
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10, atol=1e-12)
    check_gradient(rig, (0, 1))


def test_fixed_numbers(device):
    fixed = "theta_1_2: 0 theta_2_1: 0 theta_2_3: 0.5"
    free = AFFINE[:, [0, 2, 4]]
    whole = np.array([[a, 0, b, 0, c, 0.5] for a, b, c in free])
    rig = Rig(TEXT % fixed, [MAP, free], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], [affine(m, t) for m, t in zip(MAP, whole)], rtol=1e-10, atol=1e-12)
    check_gradient(rig, (0, 1))


def test_far_away_and_nan(device):
    """Neither reads outside the map, whatever the transform is."""
    for kind, theta, wanted in (
        ("affine", np.array([[0, 0, 1e30] * 2, [np.nan] * 6]), [0, 0]),
        ("projective", np.array([[0, 0, 1e30, 0, 0, 1e30, 0, 0], [np.nan] * 8]), [MAP[0, :, -1, -1], MAP[1, :, 0, 0]]),
    ):
        rig = Rig(TEXT % f'transform_type: "{kind}"', [MAP, theta], device=device, dtype=np.float64)
        top = rig.forward()[0]
        for image, value in zip(top, wanted):
            np.testing.assert_array_equal(image, np.broadcast_to(np.reshape(value, (-1, 1, 1)), image.shape))


def test_what_is_refused():
    for text, theta, message in (
        (TEXT % "", PROJECTIVE, "needs 6 numbers for each of 2 images"),
        (TEXT % 'transform_type: "grid"', AFFINE, "'grid' is not supported"),
        (TEXT % 'sampler_type: "nearest"', AFFINE, "'nearest' is not supported"),
        (TEXT % 'transform_type: "projective" theta_1_1: 1', PROJECTIVE, "theta_1_1 fixes a number of an affine"),
        (TEXT.replace("4 ", "0 ") % "", AFFINE, "must have places"),
        ('type: "SpatialTransformer" spatialtransformer_param { mirror: true }', AFFINE, "turns and mirrors"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, [MAP, theta])
