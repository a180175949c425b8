"""CrossCorrelation and SiameseLogisticLoss, of trackers: sums in numpy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(3)
PICTURE, TARGET = RNG.standard_normal((2, 4, 6, 7)), RNG.standard_normal((1, 4, 3, 3))
PLAIN = 'type: "CrossCorrelation" convolution_param { num_output: 1 kernel_size: 3 }'
LOSS = 'type: "SiameseLogisticLoss"'
SCORES, SIDES = 4 * RNG.standard_normal((3, 1, 5, 5)), RNG.choice([-1.0, 1.0], (3, 1, 5, 5))
WEIGHTS = RNG.uniform(0.1, 1, (3, 1, 5, 5))
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (PLAIN, [PICTURE, TARGET]), (LOSS, [SCORES, SIDES, WEIGHTS], [True, False, False]),
]  # fmt: skip


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


def test_a_target_whose_size_no_field_tells_is_as_large_as_the_kernel():
    """Without its data, the net takes what the layer expects for what a data layer leaves open."""
    text = """layer { name: "%s" type: "Data" top: "%s" data_param { source: "x" batch_size: 1 } }"""
    net = parse_net(
        text % ("a", "search")
        + text % ("b", "target")
        + """
        layer { name: "c" type: "CrossCorrelation" bottom: "search" bottom: "target" top: "c"
                convolution_param { num_output: 1 kernel_size: 5 } }"""
    )
    blobs = Net(net, data="shapes", device="cpu").blobs
    assert blobs["target"].shape == (1, 3, 5, 5)
    assert blobs["search"].shape[2] > 5


def test_the_loss_of_a_map_of_scores(device):
    rig = Rig(LOSS, [SCORES, SIDES, WEIGHTS], device=device, dtype=np.float64)
    expected = (WEIGHTS * np.log1p(np.exp(-SIDES * SCORES))).sum() / 3
    np.testing.assert_allclose(rig.forward()[0], expected, rtol=1e-12)
    check_gradient(rig, bottoms=(0,), samples=40)


def test_large_scores_and_weights_of_0(device):
    scores, sides = np.array([[800.0, -800.0, np.nan]]), np.array([[-1.0, -1.0, 1.0]])
    rig = Rig(LOSS, [scores, sides, np.array([[1.0, 1.0, 0.0]])], device=device, dtype=np.float64)
    assert rig.forward()[0] == 800
    np.testing.assert_array_equal(rig.backward([np.array(2.0)], [True, False, False])[0], [[2, 0, 0]])


def test_what_the_loss_refuses():
    with pytest.raises(LayerError, match="bottom 2 must have as many elements as bottom 0"):
        Rig(LOSS, [SCORES, SIDES, WEIGHTS[:2]])
    rig = Rig(LOSS, [SCORES, SIDES, WEIGHTS])
    rig.forward()
    with pytest.raises(LayerError, match="labels and weights have no gradient"):
        rig.backward([np.array(1.0)], [True, True, False])
