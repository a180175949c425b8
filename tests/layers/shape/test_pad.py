"""Pad and Padding against numpy's pad."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

X = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
NONE = [(0, 0), (0, 0)]
CASES = {  # the layer, and what numpy is asked for
    'type: "Padding"': ([*NONE, (0, 0), (0, 0)], {}),
    'type: "Padding" padding_param { pad_beg: 1 pad_end: 2 }': ([*NONE, (1, 2), (1, 2)], {}),
    'type: "Padding" padding_param { pad: 2 }': ([*NONE, (2, 2), (2, 2)], {}),
    'type: "Padding" padding_param { pad_h: 2 pad_w: 1 }': ([*NONE, (2, 2), (1, 1)], {}),
    'type: "Padding" padding_param { pad_h_top: 2 pad_w_right: 1 }': ([*NONE, (2, 0), (0, 1)], {}),
    'type: "Padding" padding_param { pad_l: 3 pad_b: 1 pad_method: CONSTANT pad_value: 7 }': (
        [*NONE, (0, 1), (3, 0)],
        {"constant_values": 7},
    ),
    'type: "Padding" padding_param { pad_l: 3 pad_r: 1 pad_t: 2 pad_method: REPEAT }': (
        [*NONE, (2, 0), (3, 1)],
        {"mode": "edge"},
    ),
    'type: "Pad" pad_param { pad_u: 1 pad_d: 2 pad_l: 3 pad_r: 4 pad_value: -0.5 }': (
        [*NONE, (1, 2), (3, 4)],
        {"constant_values": -0.5},
    ),
    'type: "Pad" pad_param { pad_u: 1 pad_r: 6 pad_type: REPLICATE }': ([*NONE, (1, 0), (0, 6)], {"mode": "edge"}),
    'type: "Pad" pad_param { pad_u: 3 pad_d: 2 pad_l: 1 pad_r: 4 pad_type: REFLECT }': (
        [*NONE, (3, 2), (1, 4)],
        {"mode": "reflect"},
    ),
    'type: "Pad" pad_param { pad_h: 1 pad_w: 2 }': ([*NONE, (1, 1), (2, 2)], {}),
    'type: "Pad" pad_param { paddings: [0, 1, 2, 3, 0, 0, 4, 0] constant_values: 2 }': (
        [(0, 1), (2, 3), (0, 0), (4, 0)],
        {"constant_values": 2},
    ),
}
LAUNCHES = [(text, [X]) for text in CASES]  # for tests/device/test_threaded.py


@pytest.mark.parametrize("text", CASES)
def test_forward(text, device):
    widths, how = CASES[text]
    rig = Rig(text, [X], device=device)
    for x in (X, X[:1, :2], np.concatenate([X, X], 3)):
        rig.set_bottom(0, x)
        np.testing.assert_array_equal(rig.forward()[0], np.pad(x.astype(np.float32), widths, **how))


@pytest.mark.parametrize("text", CASES)
def test_gradient(text, device):
    check_gradient(Rig(text, [X], device=device, dtype=np.float64))


def test_negative_borders_take_away(device):
    rig = Rig('type: "Padding" padding_param { pad_beg: -1 pad_end: -2 }', [X], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], X[:, :, 1:-2, 1:-2])
    check_gradient(rig)
    rig = Rig('type: "Pad" pad_param { pad_u: -1 pad_l: 2 }', [X], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], np.pad(X[:, :, 1:], [*NONE, (0, 0), (2, 0)]))
    check_gradient(rig)


def test_axes(device):
    for shape in ((4, 5), (3, 4, 5), (2, 2, 3, 4, 5)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        rig = Rig('type: "Padding" padding_param { pad: 1 }', [x], device=device)
        np.testing.assert_array_equal(rig.forward()[0], np.pad(x, [(0, 0)] * (len(shape) - 2) + [(1, 1), (1, 1)]))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('type: "Padding" padding_param { pad: 1 pad_beg: 1 }', "pad, pad_beg are of several forks"),
        ('type: "Padding" padding_param { pad_l: 1 }', "need pad_method"),
        ('type: "Padding" padding_param { pad_l: 1 pad_method: WRAP }', "need pad_method"),
        ('type: "Padding" padding_param { pad_to_power_of_2: true }', "pad_to_power_of_2"),
        ('type: "Padding" padding_param { pad_beg: -2 pad_end: -2 }', "takes all of 4"),
        ('type: "Pad" pad_param { paddings: [1, 1] }', "got 2 for the shape"),
        ('type: "Pad" pad_param { paddings: 1 }', "two for each axis"),
        ('type: "Pad" pad_param { pad_u: 4 pad_type: REFLECT }', "a mirror of 4 has 3, not 4"),
    ],
)
def test_errors(text, match):
    with pytest.raises(LayerError, match=match):
        Rig(text, [X])
