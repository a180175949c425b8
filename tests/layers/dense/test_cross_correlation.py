"""CrossCorrelation: sums in numpy, and gradients of both bottoms by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(3)
PICTURE, TARGET = RNG.standard_normal((2, 4, 6, 7)), RNG.standard_normal((1, 4, 3, 3))
PLAIN = 'type: "CrossCorrelation" convolution_param { num_output: 1 kernel_size: 3 }'
LAUNCHES: list[tuple] = [(PLAIN, [PICTURE, TARGET])]  # for tests/device/test_threaded.py


def correlated(x: np.ndarray, w: np.ndarray, stride: int, pad: int, group: int) -> np.ndarray:
    """Window by window, group by group."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, group, 1), np.split(w, group, 0))
    return np.concatenate([np.einsum("ncyxij,mcij->nmyx", part, own) for part, own in parts], 1)


@pytest.mark.parametrize(
    ("outputs", "kernel", "stride", "pad", "group"), [(1, 3, 1, 0, 1), (3, 2, 2, 1, 1), (4, 3, 1, 1, 2)]
)
def test_the_second_bottom_is_the_weights(device, outputs, kernel, stride, pad, group):
    w = RNG.standard_normal((outputs, 4 // group, kernel, kernel))
    text = f"num_output: {outputs} kernel_size: {kernel} stride: {stride} pad: {pad} group: {group}"
    rig = Rig(
        f'type: "CrossCorrelation" convolution_param {{ {text} bias_filler {{ type: "constant" value: 0.5 }} }}',
        [PICTURE, w], device=device, dtype=np.float64,
    )  # fmt: skip
    np.testing.assert_allclose(
        rig.forward()[0], correlated(PICTURE, w, stride, pad, group) + 0.5, rtol=1e-9, atol=1e-12
    )
    check_gradient(rig, bottoms=(0, 1), samples=40, zero={"parameter 0": "nothing reads it"})


def test_another_target_gives_another_map(device):
    """What was computed from the first target does not stay: its weights are a blob, not a parameter."""
    rig = Rig(PLAIN, [PICTURE, TARGET], device=device, dtype=np.float64)
    rig.forward()
    rig.set_bottom(1, -2 * TARGET)
    np.testing.assert_allclose(rig.forward()[0], correlated(PICTURE, -2 * TARGET, 1, 0, 1), rtol=1e-9, atol=1e-12)


def test_a_target_of_another_size_is_refused():
    with pytest.raises(LayerError, match=r"must hold the weights \(1, 4, 3, 3\), its shape is \(1, 4, 3, 4\)"):
        Rig(PLAIN, [PICTURE, RNG.standard_normal((1, 4, 3, 4))])
