"""InnerProduct against numpy, its gradient, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(3)


def rig(text: str, bottom: np.ndarray, device: str, dtype: type = np.float32) -> Rig:
    filler = 'weight_filler { type: "gaussian" std: 1 } bias_filler { type: "uniform" min: -1 max: 1 }'
    return Rig(f'type: "InnerProduct" inner_product_param {{ {text} {filler} }}', [bottom], device=device, dtype=dtype)


@pytest.mark.parametrize("shape", [(1, 700), (2, 3, 4, 5), (37, 60), (0, 6)])
@pytest.mark.parametrize("text", ["", "bias_term: false", "transpose: true", "axis: -1", "axis: 0"])
def test_product_plus_bias(shape, text, device):
    if "axis: 0" in text and shape[0] == 0:
        pytest.skip("a row without elements is refused, see below")
    x = RNG.standard_normal(shape)
    case = rig(f"num_output: 9 {text}", x, device)
    axis = {"axis: 0": 0, "axis: -1": -1}.get(text, 1)
    flat = x.reshape(int(np.prod(shape[:axis])), int(np.prod(shape[axis:])))
    weights = np.asarray(case.layer.blobs[0].data, np.float64)
    wanted = flat @ (weights if "transpose" in text else weights.T)
    if "bias_term" not in text:
        wanted = wanted + np.asarray(case.layer.blobs[1].data)
    close(case.forward()[0], wanted.reshape(*shape[:axis], 9))


@pytest.mark.parametrize("text", ["", "bias_term: false", "transpose: true", "axis: 2", "axis: 0"])
@pytest.mark.parametrize("batch", [1, 3])
def test_gradient(text, batch, device):
    check_gradient(rig(f"num_output: 5 {text}", RNG.standard_normal((batch, 2, 7)), device, np.float64))


def test_another_batch_then_none(device):
    case = rig("num_output: 4", RNG.standard_normal((3, 6)), device)
    for batch in (5, 0, 1):
        case.set_bottom(0, np.ones((batch, 6)))
        assert case.forward()[0].shape == (batch, 4)
        case.backward([np.ones((batch, 4))])
        close(case.param_diffs()[0], np.full((4, 6), batch))
        close(case.param_diffs()[1], np.full(4, batch))


def test_infinity_and_nan_go_through(device):
    case = rig("num_output: 20 bias_term: false", np.zeros((20, 64)), device)
    case.layer.blobs[0].data[...] = 1
    x = np.zeros((20, 64))
    x[3, 60], x[7, 1] = np.inf, np.nan
    case.set_bottom(0, x)
    top = case.forward()[0]
    assert np.isposinf(top[3]).all()
    assert np.isnan(top[7]).all()
    assert (np.delete(top, [3, 7], 0) == 0).all()


def test_refusals(device):
    with pytest.raises(LayerError, match="num_output"):
        rig("", np.ones((1, 2)), device)
    with pytest.raises(LayerError, match="axis 3 does not fit"):
        rig("num_output: 2 axis: 3", np.ones((1, 2)), device)
    with pytest.raises(LayerError, match="no elements"):
        rig("num_output: 2", np.ones((1, 0)), device)
    case = rig("num_output: 2", np.ones((1, 6)), device)
    case.set_bottom(0, np.ones((1, 7)))
    with pytest.raises(LayerError, match="6 elements a row"):
        case.forward()


def test_normalize_keeps_rows_of_weights_at_length_one(device):
    x = RNG.standard_normal((4, 7))
    case = rig("num_output: 3 bias_term: false normalize: true", x, device, np.float64)
    before = np.array(case.layer.blobs[0].data, np.float64)
    unit = before / np.sqrt((before**2).sum(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(case.forward()[0], x @ unit.T, rtol=1e-12)
    np.testing.assert_allclose(case.layer.blobs[0].data, unit, rtol=1e-12)
    diff = RNG.standard_normal((4, 3))
    np.testing.assert_allclose(case.backward([diff])[0], diff @ unit, rtol=1e-12)
    np.testing.assert_allclose(case.param_diffs()[0], diff.T @ x, rtol=1e-12)


def test_a_net_with_normalize_runs_in_a_plan_as_without(device):
    """Nothing is folded into weights whose length is lost, and no plan reads them before they are brought to it."""
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 6 } } }
        layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 4 normalize: true
          weight_filler { type: "gaussian" std: 3 } bias_filler { type: "uniform" } } }
        layer { name: "s" type: "Scale" bottom: "ip" top: "ip" scale_param { filler { value: 30 } } }
        layer { name: "r" type: "ReLU" bottom: "ip" top: "ip" }"""
    x = RNG.standard_normal((3, 6)).astype(np.float32)
    tops = [Net(parse_net(text), device=device, seed=4, optimize=plan).forward(x=x)["ip"] for plan in (True, False)]
    np.testing.assert_allclose(tops[0], tops[1], rtol=1e-5, atol=1e-5)
    assert tops[0].max() > 1


def test_normalize_takes_no_transpose():
    with pytest.raises(LayerError, match="normalize: true takes no transpose"):
        rig("num_output: 3 normalize: true transpose: true", np.ones((2, 3)), "cpu")
