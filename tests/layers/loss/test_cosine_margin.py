"""CosinAddm, ArcFace's margin, against its formula in numpy and differences; NormL2; InnerProduct with normalize."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(12)
COSINES, LABELS = RNG.uniform(-0.95, 0.95, (6, 5)), np.array([0, 4, 2, 2, 1, 3])
COSINES[0, 0], COSINES[1, 4] = 1.0, -0.99  # the same angle, and one that the margin takes past pi
MARGIN = 'type: "CosinAddm" cosin_add_m_param { m: %g }'
LAUNCHES: list[tuple] = [
    (MARGIN % 0.5, [COSINES, LABELS], [True, False], {"phase": "TRAIN"}),
    ('type: "Norm"', [np.tile(COSINES[:, :, None], 3)]),
]  # for tests/device/test_threaded.py
TRUE = np.arange(6), LABELS


def added(cosines: np.ndarray, m: float) -> np.ndarray:
    top, c = cosines.copy(), cosines[TRUE]
    angle = np.arccos(np.minimum(c, 1))
    top[TRUE] = np.where(angle + m < np.pi, np.cos(angle + m), c - m * np.sin(m))
    return top


@pytest.mark.parametrize("m", [0.5, 0.25])
def test_the_angle_of_the_true_class_grows(device, m):
    rig = Rig(MARGIN % m, [COSINES, LABELS], device=device, dtype=np.float64, phase="TRAIN")
    np.testing.assert_allclose(rig.forward()[0], added(COSINES, m), rtol=1e-12)


def test_the_gradient(device):
    rig = Rig(MARGIN % 0.5, [COSINES, LABELS], device=device, dtype=np.float64, phase="TRAIN")
    rig.forward()
    diff = rig.backward([np.ones((6, 5))], [True, False])[0]
    wanted, inner = np.ones((6, 5)), COSINES[TRUE][2:]
    wanted[TRUE[0][2:], LABELS[2:]] = np.sin(np.arccos(inner) + 0.5) / np.sin(np.arccos(inner))
    np.testing.assert_allclose(diff, wanted, rtol=1e-10)  # the first two are the top's own


def test_differences(device):
    cosines = 0.9 * COSINES
    check_gradient(Rig(MARGIN % 0.5, [cosines, LABELS], device=device, dtype=np.float64, phase="TRAIN"), samples=30)


def test_at_test_nothing_is_added_unless_it_is_asked_for(device):
    bottoms = [COSINES, LABELS]
    np.testing.assert_array_equal(Rig(MARGIN % 0.5, bottoms, device=device, dtype=np.float64).forward()[0], COSINES)
    text = 'type: "CosinAddm" cosin_add_m_param { transform_test: true }'
    rig = Rig(text, bottoms, device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], added(COSINES, 0.5), rtol=1e-12)


def test_a_cosine_above_one_is_one_and_a_label_of_no_class_adds_nothing(device):
    rig = Rig(MARGIN % 0.5, [[[1.01, 0], [0.5, 0.25]], [0, -1]], device=device, dtype=np.float64, phase="TRAIN")
    np.testing.assert_allclose(rig.forward()[0], [[np.cos(0.5), 0], [0.5, 0.25]], rtol=1e-12)
    np.testing.assert_array_equal(rig.backward([np.ones((2, 2))], [True, False])[0], np.ones((2, 2)))


@pytest.mark.parametrize("kind", ["NormL2", "L2Normalize"])
def test_rows_of_length_one(kind, device):
    x = RNG.standard_normal((3, 4, 2, 5))
    rig = Rig(f'type: "{kind}"', [x], device=device, dtype=np.float64)
    wanted = x / np.sqrt((x**2).sum((1, 2, 3), keepdims=True) + 1e-7)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    check_gradient(rig, samples=40)


@pytest.mark.parametrize("bias", [None, 0, 2])
def test_global_response_normalization(bias, device):
    x = RNG.standard_normal((3, 4, 2, 5))
    fields = "" if bias is None else f"grn_param {{ bias: {bias} }}"
    rig = Rig(f'type: "GRN" {fields}', [x], device=device, dtype=np.float64)
    wanted = x / np.sqrt((x**2).sum(1, keepdims=True) + (1e-7 if bias is None else bias))
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-7)
    check_gradient(rig, samples=40)
    for field, message in (
        ("bias: -1", "below 0"),
        ("dummy_backward: true", "dummy_backward"),
        ("global: true", "global"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(f'type: "GRN" grn_param {{ {field} }}', [x])


@pytest.mark.parametrize("size", [1, 1e-5])  # short ones, of which what is added to the root is a part
def test_channels_of_length_one(size, device):
    x = size * RNG.standard_normal((3, 4, 2, 5))
    rig = Rig('type: "Norm"', [x], device=device, dtype=np.float64)
    lengths = np.sqrt((x**2).sum(1, keepdims=True))
    np.testing.assert_allclose(rig.forward()[0], x / (lengths + np.float32(1e-6)), rtol=1e-9)
    diff = RNG.standard_normal(x.shape)
    along = (x * diff).sum(1, keepdims=True) / lengths / (lengths + 1e-6) ** 2
    np.testing.assert_allclose(rig.backward([diff], [True])[0], diff / (lengths + 1e-6) - x * along, rtol=1e-6)
    nothing = Rig('type: "Norm"', [0 * x], device=device, dtype=np.float64)
    assert not nothing.forward()[0].any()
    np.testing.assert_allclose(nothing.backward([diff], [True])[0], 1e6 * diff, rtol=1e-6)
    with pytest.raises(LayerError, match="norm_param is of another layer"):
        Rig('type: "Norm" norm_param { eps: 1 }', [x])
