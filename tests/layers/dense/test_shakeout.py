"""Shakeout against numpy, with the inputs that a layer without weights' signs shows to be kept."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso.proto.errors import LayerError

X = np.random.default_rng(1).standard_normal((6, 2, 5))
W = np.random.default_rng(2).standard_normal((4, 10))
W[1, 3] = 0
BIAS = np.random.default_rng(3).standard_normal(4)
G = np.random.default_rng(4).standard_normal((6, 4))
TEXT = """type: "Shakeout" inner_product_param { num_output: %d transpose: %s }
    shakeout_param { operate_layer_type: "InnerProduct" dropout_ratio: 0.25 shakeout_scale: %g tanh_smooth_scale: 1.5 }"""

# For tests/device/test_threaded.py.
LAUNCHES: list[tuple] = [(TEXT % (4, "false", 0.375), [X], None, {"phase": "TRAIN"})]


def layer(scale: float, transpose: bool = False, phase: str = "TRAIN", **options) -> Rig:
    weights = [W.T if transpose else W, BIAS]
    text = TEXT % (4, str(transpose).lower(), scale)
    return Rig(text, [X], params=weights, dtype=np.float64, phase=phase, seed=9, **options)


def kept(device: str, passes: int) -> np.ndarray:
    """What each input is multiplied by in the last of some passes: the top of weights that are the identity."""
    text = TEXT % (10, "false", 0)
    rig = Rig(
        text,
        [np.ones((6, 2, 5))],
        params=[np.eye(10), np.zeros(10)],
        dtype=np.float64,
        phase="TRAIN",
        seed=9,
        device=device,
    )
    return [rig.forward()[0] for _ in range(passes)][-1]


def test_inputs_are_kept_or_dropped(device):
    first, second = kept(device, 1), kept(device, 2)
    assert {*np.unique(first)} == {0, 1 / 0.75}
    assert 30 < np.count_nonzero(first) < 57
    assert (first != second).any()


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("passes", [1, 3])
def test_shakeout(transpose, passes, device):
    rig, q, x = layer(0.375, transpose, device=device), kept(device, passes), X.reshape(6, 10)
    tops = [rig.forward()[0] for _ in range(passes)]
    kept_x, moved = x * q, 0.375 * x * (q - 1)
    close(tops[-1], kept_x @ W.T + moved @ np.sign(W).T + BIAS, rtol=1e-9, atol=1e-9)
    close(rig.backward([G])[0].reshape(6, 10), q * (G @ W) + 0.375 * (q - 1) * (G @ np.sign(W)), rtol=1e-9, atol=1e-9)
    wanted = G.T @ kept_x + (G.T @ moved) * 1.5 * (1 - np.tanh(1.5 * W) ** 2)
    diffs = [np.asarray(blob.diff) - 1 for blob in rig.layer.blobs]  # which are added to
    close(diffs[0], wanted.T if transpose else wanted, rtol=1e-9, atol=1e-9)
    close(diffs[1], G.sum(0), rtol=1e-9, atol=1e-9)


def test_without_signs_it_is_dropout(device):
    close(layer(0, device=device).forward()[0], (X.reshape(6, 10) * kept(device, 1)) @ W.T + BIAS, rtol=1e-9, atol=1e-9)


def test_at_test_it_is_an_inner_product(device):
    rig = layer(0.375, phase="TEST", device=device)
    for _ in range(2):
        close(rig.forward()[0], X.reshape(6, 10) @ W.T + BIAS, rtol=1e-9, atol=1e-9)
    close(rig.backward([G])[0].reshape(6, 10), G @ W, rtol=1e-9, atol=1e-9)
    close(np.asarray(rig.layer.blobs[0].diff) - 1, G.T @ X.reshape(6, 10), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('operate_layer_type: "Convolution"', "must be \"InnerProduct\".*got 'Convolution'"),
        ("", "must be \"InnerProduct\".*got ''"),
        ('operate_layer_type: "InnerProduct" dropout_ratio: 1', "from 0 to below 1, got 1"),
    ],
)
def test_what_it_refuses(fields, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Shakeout" inner_product_param {{ num_output: 2 }} shakeout_param {{ {fields} }}', [X])
