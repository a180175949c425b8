"""ConvLSTM against its definition in numpy, float64, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(5)
T, N, C, D, H, W = 3, 2, 2, 3, 4, 5
X = RNG.standard_normal((T, N, C, H, W))
CONT = np.array([[1, 0], [1, 0], [1, 1.0]])
CONV = 'lstm_conv_param { num_output: 3 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.5 } }'
EXPOSED = "recurrent_param { expose_hidden: true }"
STATES = list(RNG.standard_normal((2, 1, N, D, H, W)))
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (f'type: "ConvLSTM" {CONV} {EXPOSED}', [X, CONT, *STATES], [True, False, True, True], {"tops": 3})
]


def convolved(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(N, C, H, W) by weights of an odd kernel, padded so that the size stays."""
    reach = [side // 2 for side in weights.shape[2:]]
    padded = np.pad(x, [(0, 0), (0, 0), (reach[0],) * 2, (reach[1],) * 2])
    out = np.zeros((len(x), len(weights), *x.shape[2:]))
    for i, j in np.ndindex(*weights.shape[2:]):
        out += np.einsum("nchw,oc->nohw", padded[:, :, i : i + x.shape[2], j : j + x.shape[3]], weights[:, :, i, j])
    return out


def defined(x, cont, params, h, c, ignore_x=False):
    """h of every step, and the last h and c."""
    params = list(params)
    of_x = None if ignore_x else params.pop(0)
    of_h, bias, *peeps = params
    result = []
    for step, keeps in zip(x, cont):
        keeps = keeps[:, None, None, None]
        pre = convolved(keeps * h, of_h) + bias[:, None, None]
        if of_x is not None:
            pre = pre + convolved(step, of_x)
        gates = np.split(pre, 4, 1)
        for gate, weights in enumerate(peeps):
            gates[gate] = gates[gate] + weights * c
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in gates[:3])
        c = keeps * f * c + i * np.tanh(gates[3])
        h = o * np.tanh(c)
        result.append(h)
    return np.stack(result), h[None], c[None]


def drawn(rig: Rig) -> list[np.ndarray]:
    """Gives every parameter random values; them."""
    for blob in rig.layer.blobs:
        blob.data[...] = RNG.standard_normal(blob.shape) * 0.5
    return [np.array(blob.data) for blob in rig.layer.blobs]


@pytest.mark.parametrize(
    "debug", ["", "disable_hadamard: true", "ignore_x: true", "axis_hadamard: 2 num_axes_hadamard: 3"]
)
def test_steps_and_gradients(debug, device):
    states = RNG.standard_normal((2, 1, N, D, H, W))
    text = f'type: "ConvLSTM" {CONV} {EXPOSED} lstm_debug_param {{ {debug} }}'
    rig = Rig(text, [X, CONT, *states], tops=3, device=device, dtype=np.float64)
    params = drawn(rig)
    wanted = defined(X, CONT, params, states[0][0], states[1][0], "ignore_x" in debug)
    for top, right in zip(rig.forward(), wanted):
        np.testing.assert_allclose(top, right, rtol=1e-9, atol=1e-12)
    check_gradient(rig, bottoms=(2, 3) if "ignore_x" in debug else (0, 2, 3), samples=25)
    diffs = rig.backward([RNG.standard_normal(top.shape) for top in wanted], [True, False, True, True])
    assert diffs[0].any() == ("ignore_x" not in debug)


def test_states_are_carried_on(device):
    """Without expose_hidden: the second forward begins where the first one ended."""
    rig = Rig(f'type: "ConvLSTM" {CONV}', [X, np.ones((T, N))], device=device, dtype=np.float64)
    params = drawn(rig)
    assert [blob.shape for blob in rig.layer.blobs] == [(12, 2, 3, 3), (12, 3, 3, 3), (12,), (4, 5), (4, 5), (4, 5)]
    zeros = np.zeros((N, D, H, W))
    first, h, c = defined(X, np.ones((T, N)), params, zeros, zeros)
    second, *_ = defined(X, np.ones((T, N)), params, h[0], c[0])
    np.testing.assert_allclose(rig.forward()[0], first, rtol=1e-9)
    np.testing.assert_allclose(rig.forward()[0], second, rtol=1e-9)


def test_two_kernels_and_floats(device):
    """W_x and W_h of their own sizes, groups in W_h; peepholes begin as 1."""
    text = """type: "ConvLSTM" lstm_conv_param { type: "hidden" num_output: 4 kernel_size: 1 group: 2 }
        lstm_conv_param { type: "input" num_output: 4 kernel_h: 3 kernel_w: 5 pad_h: 1 pad_w: 2 }"""
    rig = Rig(text, [X, CONT], device=device)
    assert [blob.shape for blob in rig.layer.blobs[:2]] == [(16, 2, 3, 5), (16, 2, 1, 1)]
    assert all((np.asarray(blob.data) == 1).all() for blob in rig.layer.blobs[3:])
    params = drawn(rig)
    whole = np.zeros((16, 4, 1, 1))
    whole[:8, :2], whole[8:, 2:] = params[1][:8], params[1][8:]
    zeros = np.zeros((N, 4, H, W))
    right, *_ = defined(X.astype(np.float32), CONT, [params[0], whole, *params[2:]], zeros, zeros)
    np.testing.assert_allclose(rig.forward()[0], right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "takes one or two lstm_conv_param, the prototxt gives 0"),
        ("lstm_conv_param { kernel_size: 3 pad: 1 }", "num_output must be given"),
        (
            "lstm_conv_param { num_output: 3 kernel_size: 3 }",
            r"must keep the size of maps: of \[4, 5\] they make \[2, 3\]",
        ),
        (f"{CONV} {CONV}", 'have type "input" and "hidden"'),
        (f"{CONV} {EXPOSED}", "takes 4 bottoms with expose_hidden: true"),
        (f'{CONV} lstm_debug_param {{ expose: "c_t=1" }}', "expose is not supported"),
        (f"{CONV} lstm_debug_param {{ axis_hadamard: 1 }}", "must be 3 and 2, or 2 and 3"),
        (
            'lstm_conv_param { num_output: 3 kernel_size: 1 type: "input" } lstm_conv_param { num_output: 2 kernel_size: 1 '
            'type: "hidden" }',
            "num_output must be the same for both, got 3, 2",
        ),
        ("lstm_conv_param { num_output: 3 kernel_size: 1 group: 5 }", "2 channels cannot be divided into 5 groups"),
    ],
)
def test_what_it_refuses(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "ConvLSTM" {text}', [X, CONT])


def test_sequences_of_other_shapes():
    with pytest.raises(LayerError, match=r"cont must be \(T, N\) = \(3, 2\), got \(2, 3\)"):
        Rig(f'type: "ConvLSTM" {CONV}', [X, CONT.T])
    with pytest.raises(LayerError, match="a first state, must be"):
        Rig(f'type: "ConvLSTM" {CONV} {EXPOSED}', [X, CONT, X[:1], X[:1]], tops=3)


def test_a_net_trains():
    """In a net, which counts its memory, and with W_h that does not learn."""
    text = f"""layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: [3, 2, 2, 4, 5] }} }} }}
        layer {{ name: "cont" type: "Input" top: "cont" input_param {{ shape {{ dim: [3, 2] }} }} }}
        layer {{ name: "l" type: "ConvLSTM" bottom: "x" bottom: "cont" top: "h" param {{}} param {{ lr_mult: 0 }} {CONV} }}
        layer {{ name: "loss" type: "Reduction" bottom: "h" top: "loss" loss_weight: 1 }}"""
    net = Net(parse_net(text), phase="TRAIN", device="cpu", seed=1)
    net.forward(x=X, cont=CONT)
    net.backward()
    diffs = [np.asarray(blob.diff) for blob in net.params["l"]]
    assert [diff.any() for diff in diffs] == [True, False, True, True, True, True]
    assert net.memory.total > 0
