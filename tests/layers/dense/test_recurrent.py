"""LSTM, RNN and LSTMUnit: against plain numpy, step by step; gradients through time, states between forwards."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from harness import Rig, check_gradient, close

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

D = 4
FEW = 12  # samples of a gradient on a GPU, whose forwards are many small launches
ZERO = np.zeros((1, D))


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(x, cont, params, static=None, h=ZERO, c=0.0):
    """Outputs (T, N, D), and the states after the last step."""
    weights, bias, *fixed, hidden = params
    outputs = []
    for t in range(len(x)):
        pre = x[t].reshape(x.shape[1], -1) @ weights.T + bias + (h * cont[t][:, None]) @ hidden.T
        if static is not None:
            pre = pre + static.reshape(len(static), -1) @ fixed[0].T
        i, f, o, g = np.split(pre, 4, 1)
        c = cont[t][:, None] * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), h, c


def rnn(x, cont, params, static=None, h=ZERO):
    weights, bias, *fixed, hidden, out, out_bias = params
    outputs = []
    for t in range(len(x)):
        pre = x[t].reshape(x.shape[1], -1) @ weights.T + bias + (h * cont[t][:, None]) @ hidden.T
        if static is not None:
            pre = pre + static.reshape(len(static), -1) @ fixed[0].T
        h = np.tanh(pre)
        outputs.append(np.tanh(h @ out.T + out_bias))
    return np.stack(outputs), h


def bottoms(type: str, steps: int, count: int, static: bool, expose: bool, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((steps, count, 2, 3)), (rng.random((steps, count)) > 0.3).astype(float)]
    arrays += [rng.standard_normal((count, 5))] * static
    states = (2 if type == "LSTM" else 1) * expose
    return arrays + [rng.standard_normal((1, count, D)) for _ in range(states)]


def text(type: str, expose: bool = False) -> str:
    filler = 'filler { type: "uniform" min: -0.5 max: 0.5 }'
    return (f'type: "{type}" recurrent_param {{ num_output: {D} expose_hidden: {str(expose).lower()} '
            f"weight_{filler} bias_{filler} }}")  # fmt: skip


def make(type: str, blobs: list[np.ndarray], expose: bool = False, **options) -> Rig:
    tops = 1 + expose * (2 if type == "LSTM" else 1)
    return Rig(text(type, expose), blobs, dtype=np.float64, tops=tops, **options)


def wanted(type: str, rig: Rig, blobs: list[np.ndarray], static: bool, expose: bool, states: tuple = ()) -> tuple:
    params = [np.array(b.data) for b in rig.layer.blobs]
    first = [b[0] for b in blobs[2 + static :]] if expose else states
    return (lstm if type == "LSTM" else rnn)(blobs[0], blobs[1], params, blobs[2] if static else None, *first)


LAUNCHES = [  # for tests/device/test_threaded.py
    *[(text(type), bottoms(type, 3, 5, True, False), [True, False, True]) for type in ("LSTM", "RNN")],
    ('type: "LSTMUnit"', [random(1, 5, D), random(1, 5, 4 * D), np.ones((1, 5))], [True, True, False], {"tops": 2}),
]


@pytest.mark.later(one_of="type")
@pytest.mark.parametrize("type", ["LSTM", "RNN"])
@pytest.mark.parametrize("static", [False, True], ids=["", "static"])
@pytest.mark.parametrize("expose", [False, True], ids=["", "expose"])
def test_forward_and_gradient(type, static, expose, device):
    if stand_in.active() and static != expose:
        pytest.skip("plain loops: neither and both run on the stand-in")
    rig = make(type, bottoms(type, 3, 2, static, expose), expose, device=device)
    wide = 4 * D if type == "LSTM" else D
    shapes = [(wide, 6), (wide,), *[(wide, 5)] * static, (wide, D)] + [(D, D), (D,)] * (type == "RNN")
    assert [b.shape for b in rig.layer.blobs] == shapes
    for steps, count in ((3, 2), (5, 3), (1, 1), (2, 4)):
        blobs = bottoms(type, steps, count, static, expose, seed=steps)
        for i, blob in enumerate(blobs):
            rig.set_bottom(i, blob)
        outputs, *states = wanted(type, rig, blobs, static, expose)
        tops = rig.forward()
        close(tops[0], outputs)
        for top, state in zip(tops[1:], states):
            close(top, state[None])
    # The state that a forward leaves would move the next one, so that the check needs cont 0 at first, or the state given.
    blobs = bottoms(type, 4, 3, static, expose)
    blobs[1][0] *= expose
    for i, blob in enumerate(blobs):
        rig.set_bottom(i, blob)
    check_gradient(rig, bottoms=[i for i in range(len(blobs)) if i != 1], samples=FEW if device == "cuda" else 60)


@pytest.mark.parametrize("type", ["LSTM", "RNN"])
def test_states_last(type, device):
    """A sequence in two halves gives what it gives in one; another number of sequences starts afresh."""
    blobs = bottoms(type, 6, 2, False, False)
    rig = make(type, [b[:3] for b in blobs], device=device)
    whole, *_ = wanted(type, rig, blobs, False, False)
    close(rig.forward()[0], whole[:3])
    for i, blob in enumerate(blobs):
        rig.set_bottom(i, blob[3:])
    close(rig.forward()[0], whole[3:])
    blobs = bottoms(type, 2, 3, False, False)
    for i, blob in enumerate(blobs):
        rig.set_bottom(i, blob)
    close(rig.forward()[0], wanted(type, rig, blobs, False, False)[0])


@pytest.mark.parametrize("type", ["LSTM", "RNN"])
def test_gradients_add_up_and_obey(type, device):
    blobs = bottoms(type, 3, 2, True, False)
    rig = make(type, blobs, device=device)
    rig.forward()
    g = random(3, 2, D)
    diffs = rig.backward([g], [True, False, True])
    once = rig.param_diffs()
    rig.layer.backward(rig.top, [True, False, True], rig.bottom)
    for one, two in zip(once, rig.param_diffs()):
        close(two, 2 * one)
        assert one.any()
    rig.layer.param_propagate_down = [i != 2 for i in range(len(once))]
    other = rig.backward([g], [False, False, True])
    assert np.isnan(other[0]).all()
    close(other[2], diffs[2])
    assert not rig.param_diffs()[2].any()
    close(rig.param_diffs()[0], once[0])
    with pytest.raises(LayerError, match="cont has no gradient"):
        rig.backward([g], [True, True, True])


@pytest.mark.parametrize("type", ["LSTM", "RNN"])
def test_what_follows_may_be_in_place(type, device):
    """Backward does not read the top, which a layer in place has overwritten."""
    blobs = bottoms(type, 3, 2, False, False)
    blobs[1][0] = 0
    rig = make(type, blobs, device=device)
    rig.forward()
    g = random(3, 2, D)
    before = rig.backward([g], [True, False])[0]
    rig.forward()
    rig.top[0].data.fill(9)
    close(rig.backward([g], [True, False])[0], before)


@pytest.mark.parametrize("type", ["LSTM", "RNN"])
def test_no_sequences(type, device):
    blobs = bottoms(type, 3, 2, True, False)
    rig = make(type, blobs, device=device)
    for steps, count in ((3, 0), (0, 2)):
        for i, shape in enumerate(((steps, count, 2, 3), (steps, count), (count, 5))):
            rig.set_bottom(i, np.zeros(shape))
        assert rig.forward()[0].shape == (steps, count, D)
        diffs = rig.backward([], [True, False, True])
        assert not diffs[2].any()
        assert not any(d.any() for d in rig.param_diffs())


def test_a_first_state_of_nan_is_dropped(device):
    blobs = bottoms("LSTM", 2, 2, False, True)
    blobs[1][0] = 0
    blobs[2][:] = blobs[3][:] = np.nan
    rig = make("LSTM", blobs, True, device=device)
    assert all(np.isfinite(top).all() for top in rig.forward())
    assert np.isfinite(rig.backward([random(2, 2, D)], [True, False, False, False])[0]).all()


def test_lstm_unit(device):
    before, pre, cont = random(1, 3, D), random(1, 3, 4 * D, seed=1), np.array([[1.0, 0, 1]])
    rig = Rig('type: "LSTMUnit"', [before, pre, cont], dtype=np.float64, tops=2, device=device)
    for count in (3, 5, 0, 3):
        blobs = random(1, count, D, seed=2), random(1, count, 4 * D, seed=3), np.arange(count)[None] % 2.0
        for i, blob in enumerate(blobs):
            rig.set_bottom(i, blob)
        c, h = rig.forward()
        i, f, o, g = np.split(blobs[1], 4, 2)
        state = blobs[2][..., None] * sigmoid(f) * blobs[0] + sigmoid(i) * np.tanh(g)
        close(c, state)
        close(h, sigmoid(o) * np.tanh(state))
    check_gradient(rig, bottoms=(0, 1))
    check_gradient(rig, bottoms=(1,))
    check_gradient(rig, bottoms=(0,))
    with pytest.raises(LayerError, match="cont has no gradient"):
        rig.backward([], [True, True, True])


@pytest.mark.parametrize(
    ("layer", "shapes", "tops", "match"),
    [
        (text("LSTM").replace("num_output: 4", ""), [(3, 2, 5), (3, 2)], 1, "num_output must be given"),
        (text("LSTM"), [(3, 2), (3, 2)], 1, r"bottom 0 must be \(T, N, ...\)"),
        (text("LSTM"), [(3, 2, 5), (2, 3)], 1, r"cont must be \(T, N\) = \(3, 2\), got \(2, 3\)"),
        (text("LSTM"), [(3, 2, 5), (3, 2), (3, 4)], 1, "static input, must have 2 sequences"),
        (text("LSTM"), [(3, 2, 5), (3, 2), (2, 4), (2, 4)], 1, "takes 2 bottoms, or 3 with a static input"),
        (text("LSTM", True), [(3, 2, 5), (3, 2)], 3, "takes 4 bottoms, or 5"),
        (text("LSTM", True), [(3, 2, 5), (3, 2), (1, 2, 4), (1, 2, 4)], 1, "makes 3 tops"),
        (
            text("LSTM", True),
            [(3, 2, 5), (3, 2), (1, 2, 4), (1, 3, 4)],
            3,
            r"bottom 3, a first state, must be \(1, 2, 4\)",
        ),
        (text("RNN"), [(3, 2, 5), (3, 2)], 2, "makes 1 tops"),
        (text("RNN").replace("num_output", 'direction: "reverse" num_output'), [(3, 2, 5), (3, 2)], 1, "direction"),
        ('type: "LSTMUnit"', [(2, 3, 4), (2, 3, 16), (2, 3)], 2, r"must be \(1, N, D\)"),
        ('type: "LSTMUnit"', [(1, 3, 4), (1, 3, 12), (1, 3)], 2, r"bottom 1 must have the shape \(1, 3, 16\)"),
    ],
)
def test_errors(layer, shapes, tops, match):
    with pytest.raises(LayerError, match=match):
        Rig(layer, [np.zeros(s) for s in shapes], tops=tops)


UNIFORM = 'filler { type: "uniform" min: -0.5 max: 0.5 }'
OLDER = f'type: "Lstm" lstm_param {{ num_output: {D} clipping_threshold: %s weight_{UNIFORM} bias_{UNIFORM} }}'


@pytest.mark.later(but=1)
@pytest.mark.parametrize("with_cont", [False, True], ids=["", "cont"])
def test_the_older_lstm(with_cont, device):
    """CTPN's: W_x, W_h, b; cont may be left out, then every forward begins anew."""
    blobs = bottoms("LSTM", 5, 3, False, False)
    rig = Rig(OLDER % 0, blobs[: 1 + with_cont], dtype=np.float64, device=device)
    assert [b.shape for b in rig.layer.blobs] == [(16, 6), (16, D), (16,)]
    weights, hidden, bias = (np.array(b.data) for b in rig.layer.blobs)
    state: tuple = ()
    for steps in (5, 2, 5):
        blobs = bottoms("LSTM", steps, 3, False, False, seed=steps)
        for i, blob in enumerate(blobs[: 1 + with_cont]):
            rig.set_bottom(i, blob)
        cont = blobs[1] if with_cont else np.minimum(np.arange(steps), 1)[:, None] * np.ones((steps, 3))
        outputs, *state = lstm(blobs[0], cont, (weights, bias, hidden), None, *state)
        close(rig.forward()[0], outputs)
    if with_cont:
        rig.bottom[1].data[0] = 0
    check_gradient(rig, samples=FEW if device == "cuda" else 60)
    g = 1e-3 * random(5, 3, D)
    plain = rig.backward([g], [True, False][: 1 + with_cont])[0]
    for threshold, same in ((1, True), (1e-5, False)):
        clipped = Rig(OLDER % threshold, [np.array(b.data) for b in rig.bottom], dtype=np.float64, device=device,
                      params=[weights, hidden, bias])  # fmt: skip
        clipped.forward()
        assert np.allclose(clipped.backward([g], [True, False][: 1 + with_cont])[0], plain) == same
    assert np.abs(clipped.param_diffs()[2]).max() <= 15 * 1e-5  # 15 places, none with more than the threshold
    with pytest.raises(LayerError, match="1 or 2 bottoms"):
        Rig(OLDER % 0, [*blobs, blobs[0]])
    with pytest.raises(LayerError, match="takes 2 bottoms, or 3"):
        Rig(text("LSTM"), blobs[:1])


def test_inputs_of_another_length_are_refused():
    rig = make("LSTM", bottoms("LSTM", 3, 2, False, False))
    rig.bottom[0].reshape(3, 2, 7)
    with pytest.raises(LayerError, match=r"parameter 0 has the shape \(16, 6\)"):
        rig.layer.reshape(rig.bottom, rig.top)


def test_a_net_learns_with_it(device):
    """A little LSTM learns to repeat what it saw a step ago."""
    layers = """layer { name: "in" type: "Input" top: "x" top: "cont" top: "y"
        input_param { shape { dim: 6 dim: 4 dim: 1 } shape { dim: 6 dim: 4 } shape { dim: 6 dim: 4 dim: 1 } } }
    layer { name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "h"
        recurrent_param { num_output: 6 weight_filler { type: "uniform" min: -0.3 max: 0.3 } } }
    layer { name: "out" type: "InnerProduct" bottom: "h" top: "o"
        inner_product_param { axis: 2 num_output: 1 weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "o" bottom: "y" top: "l" }"""
    net = Net(parse_net(layers), device=device, phase="TRAIN", seed=1)
    rng, cont, losses = np.random.default_rng(0), np.ones((6, 4)), []
    cont[0] = 0
    for _ in range(150):
        x = rng.choice([-1.0, 1.0], (6, 4, 1))
        y = np.concatenate([np.zeros((1, 4, 1)), x[:-1]])
        losses.append(float(net.forward(x=x, cont=cont, y=y)["l"]))
        net.clear_param_diffs()
        net.backward()
        for blobs in net.params.values():
            for blob in blobs:
                blob.data[...] = np.asarray(blob.data) - 0.2 * np.asarray(blob.diff)
    assert np.mean(losses[-10:]) < 0.2 * np.mean(losses[:10])
