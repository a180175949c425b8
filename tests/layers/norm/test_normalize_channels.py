"""NormalizeChannels, which a Normalize with normalize_param is: by its definition in numpy, gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

X = np.random.default_rng(3).standard_normal((2, 3, 4, 5))
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (f'type: "Normalize" normalize_param {{ normalize_type: "{kind}" bp_norm: true }}', [X], None, {"tops": 2})
    for kind in ("L2", "L1")
]


@pytest.mark.parametrize(("kind", "order"), [("L2", 2), ("L1", 1)])
def test_lengths_of_places(kind, order, device):
    text = f'type: "Normalize" normalize_param {{ normalize_type: "{kind}" bp_norm: true }}'
    rig = Rig(text, [X], tops=2, device=device, dtype=np.float64)
    norm = (np.abs(X) ** order).sum(1, keepdims=True) + 1e-6
    norm = norm ** (1 / order)
    top, lengths = rig.forward()
    assert rig.layer.type == "NormalizeChannels"
    assert not rig.layer.blobs
    np.testing.assert_allclose(top, X / norm, rtol=1e-12)
    np.testing.assert_allclose(lengths, norm, rtol=1e-12)
    check_gradient(rig, samples=60)


def test_the_norms_pass_no_gradient_on_unless_asked(device):
    plain = Rig('type: "Normalize" normalize_param {}', [X], tops=2, device=device, dtype=np.float64)
    alone = Rig('type: "Normalize" normalize_param {}', [X], device=device, dtype=np.float64)
    diff = np.random.default_rng(4).standard_normal(X.shape)
    plain.forward(), alone.forward()
    with_norm = plain.backward([diff, np.ones((2, 1, 4, 5))])[0]
    np.testing.assert_array_equal(with_norm, alone.backward([diff])[0])


def test_a_second_top_tells_it_apart():
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 2] } } }
        layer { name: "n" type: "Normalize" bottom: "x" top: "y" top: "norm" }"""
    result = Net(parse_net(text), device="cpu").forward(x=np.array([[3, 4.0]]))
    np.testing.assert_allclose(result["norm"], [[5]], rtol=1e-6)


def test_ssds_layer_stays_what_it_is():
    assert Rig('type: "Normalize"', [X]).layer.type == "Normalize"
    assert len(Rig('type: "Normalize" norm_param { across_spatial: false }', [X]).layer.blobs) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('normalize_type: "L3"', "normalize_type must be L1 or L2, got 'L3'"),
        ("across_spatial: false", "across_spatial is not for it; for SSD's layer write norm_param"),
        ("fix_gradient: true", "fix_gradient of a fork"),
        ("coeff: 2", "coeff of a fork"),
    ],
)
def test_what_it_refuses(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Normalize" normalize_param {{ {text} }}', [X])
