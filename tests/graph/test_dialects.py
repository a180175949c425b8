"""What `settle` writes in the place of forms that single programs have."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import BoxpressoError, Net
from boxpresso.graph.dialects import settle
from boxpresso.proto import parse_net

DATA = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [2, 3, 9, 8] } } }\n'
X = np.random.default_rng(4).standard_normal((2, 3, 9, 8)).astype(np.float32)


def convolution(pads: str, stride: int = 1) -> str:
    return f"""{DATA} layer {{ name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param {{
        num_output: 4 kernel_size: 3 stride: {stride} {pads} weight_filler {{ type: "gaussian" std: 1 }} }} }}"""


@pytest.mark.parametrize("sides", [(0, 1, 0, 1), (1, 1, 2, 2), (2, 0, 1, 3), (0, 0, 1, 1)])
def test_pads_of_single_sides(sides, device):
    left, right, above, below = sides
    text = f"pad_l: {left} pad_r: {right} pad_t: {above} pad_b: {below}"
    net = Net(parse_net(convolution(text, 2)), device=device, seed=3)
    plain = parse_net(convolution("", 2))
    plain.layer[0].input_param.shape[0].dim[2:] = [9 + above + below, 8 + left + right]
    wanted = Net(plain, device=device, seed=3)
    for own, other in zip(net.params["c"], wanted.params["c"]):
        other.data[...] = np.array(own.data)
    border = np.pad(X, [(0, 0), (0, 0), (above, below), (left, right)])
    np.testing.assert_allclose(net.forward(x=X)["c"], wanted.forward(x=border)["c"], rtol=1e-5, atol=1e-5)


def test_a_pad_stands_before_its_layer():
    net = settle(parse_net(convolution("pad_r: 1")))
    assert [layer.name for layer in net.layer] == ["x", "c/pad", "c"]
    assert list(net.layer[2].bottom) == list(net.layer[1].top) == ["c/pad"]
    even = settle(parse_net(convolution("pad_l: 1 pad_r: 1 pad_t: 2 pad_b: 2"))).layer[1].convolution_param
    assert (even.pad_h, even.pad_w, even.pad_l) == (2, 1, 0)


@pytest.mark.parametrize(
    "pads", ["pad: 1 pad_l: 1", "pad_h: 1 pad_w: 0 pad_b: 2", "pad_type: 1", "pad_type: 1 pad_l: 2"]
)
def test_two_kinds_of_pads_are_refused(pads):
    with pytest.raises(BoxpressoError, match="pad_l, pad_r, pad_t and pad_b"):
        Net(parse_net(convolution(pads)), device="cpu")


def test_pads_of_a_pooling(device):
    text = """layer { name: "p" type: "Pooling" bottom: "x" top: "p" pooling_param {
        pool: AVE_EXC_PAD kernel_size: 3 stride: 2 %s } }"""
    sides = Net(parse_net(DATA + text % "pad_l: 1 pad_r: 1 pad_t: 0 pad_b: 0"), device=device)
    plain = Net(parse_net(DATA + text % "pad_h: 0 pad_w: 1"), device=device)
    np.testing.assert_array_equal(sides.forward(x=X)["p"], plain.forward(x=X)["p"])
    with pytest.raises(BoxpressoError, match="pad_r of a fork is not supported"):
        Net(parse_net(DATA + text % "pad_r: 1"), device=device)


def test_a_reshape_that_shuffles_pixels(device):
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [2, 8, 3, 5] } } }
        layer { name: "y" type: "Reshape" bottom: "x" top: "y" reshape_param { pixelshuffler: 2 } }"""
    x = np.arange(240.0, dtype=np.float32).reshape(2, 8, 3, 5)
    wanted = np.zeros((2, 2, 6, 10))
    for n, c, h, w in np.ndindex(x.shape):  # as the program's loops have it
        wanted[n, c // 4, 2 * h + c // 2 % 2, 2 * w + c % 4 % 2] = x[n, c, h, w]
    np.testing.assert_array_equal(Net(parse_net(text), device=device).forward(x=x)["y"], wanted)
