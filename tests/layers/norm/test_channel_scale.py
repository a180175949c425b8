"""ChannelScale: products in numpy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(2)
X, SCALE = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 1, 4, 5))
LAUNCHES: list[tuple] = [('type: "ChannelScale"', [X, SCALE])]  # for tests/device/test_threaded.py


def test_each_place_has_a_number(device):
    rig = Rig('type: "ChannelScale"', [X, SCALE], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], X * SCALE)
    check_gradient(rig, samples=40)


def test_what_may_be_left_out(device):
    diff = RNG.standard_normal(X.shape)
    text = 'type: "ChannelScale" channel_scale_param { do_forward: false do_backward_feature: false do_backward_scale: false }'
    rig = Rig(text, [X, SCALE], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], X)
    of_x, of_scale = rig.backward([diff])
    np.testing.assert_array_equal(of_x, diff)
    assert not of_scale.any()


@pytest.mark.parametrize(
    ("text", "scale", "message"),
    [
        ("channel_scale_param { global_scale: true }", SCALE, "global_scale is not supported"),
        ("", SCALE[:, :, :2], "must have 20 numbers for each of 2 images, got shape"),
        ("", SCALE.reshape(4, 10), "must have 20 numbers for each of 2 images, got shape"),
    ],
)
def test_what_it_refuses(text, scale, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "ChannelScale" {text}', [X, scale])
