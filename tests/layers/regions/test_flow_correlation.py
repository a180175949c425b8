"""Correlation of FlowNet by loops over padded maps, its gradient by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(10)
A, B = RNG.standard_normal((2, 2, 3, 9, 11))
TEXT = 'type: "Correlation" correlation_param { %s }'
HOW = {  # kernel_size, max_displacement, pad, stride_1, stride_2
    "FlowNetC's": (1, 4, 4, 1, 2),
    "a kernel and strides": (3, 2, 3, 2, 1),
    "no pad": (1, 3, 0, 1, 2),
    "wide pad": (1, 1, 4, 3, 1),
}


def text_of(how: tuple[int, ...]) -> str:
    return TEXT % "kernel_size: {} max_displacement: {} pad: {} stride_1: {} stride_2: {}".format(*how)


LAUNCHES: list[tuple] = [(text_of(HOW["a kernel and strides"]), [A, B])]  # for tests/device/test_threaded.py


def correlation(a: np.ndarray, b: np.ndarray, how: tuple[int, ...]) -> np.ndarray:
    """As FlowNet's program has it: maps with zeros around them, places from max_displacement on."""
    kernel, most, pad, stride, step = how
    a, b = (np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for x in (a, b))
    reach, border = most // step, 2 * most + kernel - 1
    patch = 2 * reach + 1
    rows, columns = (int(np.ceil((side - border) / stride)) for side in a.shape[2:])
    top = np.zeros((len(a), patch * patch, rows, columns))
    for channel, y, x in np.ndindex(top.shape[1:]):
        dy, dx = (channel // patch - reach) * step, (channel % patch - reach) * step
        v, w = y * stride + most, x * stride + most
        one = a[:, :, v : v + kernel, w : w + kernel]
        other = b[:, :, v + dy : v + dy + kernel, w + dx : w + dx + kernel]
        top[:, channel, y, x] = (one * other).mean((1, 2, 3))
    return top


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_correlation(how, device):
    rig = Rig(text_of(how), [A, B], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], correlation(A, B, how), atol=1e-14)
    check_gradient(rig, (0, 1), samples=40)


def test_a_sum_may_be_more_than_float16_holds(device):
    """It is the mean that is stored: rounded once."""
    a, b = np.full((1, 256, 5, 5), 25.0), np.full((1, 256, 5, 5), 31.0)
    rig = Rig(TEXT % "kernel_size: 1 max_displacement: 1 pad: 1", [a, b], device=device, dtype=np.float16)
    assert rig.forward()[0][0, 4, 2, 2] == 775
    np.testing.assert_array_equal(rig.forward()[0], correlation(a, b, (1, 1, 1, 1, 1)).astype(np.float16))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel_size: 1", "max_displacement must be given"),
        ("max_displacement: 1", "kernel_size must be given"),
        ("kernel_size: 2 max_displacement: 1", "kernel_size must be odd, got 2"),
        (
            "kernel_size: 1 max_displacement: 2 pad: 2 stride_2: 536870912",
            "stride_2 must be at most 1048576, got 536870912",
        ),
        ("kernel_size: 1 max_displacement: 1 stride_2: 0", "must be at least 1"),
        ("kernel_size: 1 max_displacement: 5", "do not fit maps of 9 x 11"),
        ("kernel_size: 1 max_displacement: 1 correlation_type: SUBTRACT", "SUBTRACT is not supported"),
        ("kernel_size: 1 max_displacement: 1 single_direction: 1", "single_direction is not supported"),
    ],
)
def test_what_it_refuses(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(TEXT % text, [A, B])
    with pytest.raises(LayerError, match="must be of one shape"):
        Rig(TEXT % "kernel_size: 1 max_displacement: 1", [A, B[:, :2]])
