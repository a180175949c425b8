"""How often the host waits for a GPU, in a forward and in a step of training: for the outputs, and for what it decides by."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from harness import close
from test_cuda_checks import HERE, as_users_have_it  # noqa: F401

from boxpresso import LayerError, Net, Solver
from boxpresso.device import open_device
from boxpresso.device.totals import totals
from boxpresso.proto import SolverParameter, parse_net

RNG = np.random.default_rng(5)


@HERE
@pytest.mark.cuda
@pytest.mark.parametrize("size", [6, 300_000])
def test_outputs_are_read_after_one_wait(size):
    """Also of another shape, one that shares another's memory, one that the host has, and those that are asked for."""
    text = f"""layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: {size} }} }} }}
        layer {{ name: "a" type: "Power" bottom: "x" top: "a" power_param {{ scale: 2 }} }}
        layer {{ name: "b" type: "Power" bottom: "x" top: "b" power_param {{ shift: 1 }} }}
        layer {{ name: "c" type: "Power" bottom: "b" top: "c" power_param {{ power: 2 }} }}
        layer {{ name: "d" type: "Reshape" bottom: "a" top: "d" reshape_param {{ shape {{ dim: -1 }} }} }}
        layer {{ name: "e" type: "Power" bottom: "b" top: "e" power_param {{ scale: -1 }} }}"""
    net, host = (Net(parse_net(text), device=where) for where in ("cuda", "cpu"))
    for turn in range(6):
        x = RNG.standard_normal((1 + turn // 5, size))
        before = stand_in.counts()
        actual, wanted = net.forward(x=x, blobs=["x", "b"]), host.forward(x=x, blobs=["x", "b"])
        grown = stand_in.since(before)
        assert list(actual) == ["c", "d", "e", "x", "b"]
        for name, value in wanted.items():
            np.testing.assert_array_equal(actual[name], value)
            np.testing.assert_array_equal(np.array(net.blobs[name].data), value)
        if size == 6 and turn in (3, 4):
            assert (grown["waits"], grown["to_host"], grown["to_device"]) == (1, 4, 1)
    net.blobs["c"].data[...] = 7
    assert (np.array(net.blobs["c"].data) == 7).all()
    np.testing.assert_array_equal(net.forward(x=x)["c"], host.forward(x=x)["c"])


# Training

STEP = """layer { name: "data" type: "DummyData" top: "x" top: "rois" top: "label" top: "more" dummy_data_param {
    shape { dim: 1 dim: 3 dim: 12 dim: 14 } shape { dim: 4 dim: 5 } shape { dim: 4 } shape { dim: 4 }
    data_filler { type: "uniform" min: -1 } data_filler { value: 0 } data_filler { value: 1 } data_filler { value: 0 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 3 pad: 1
    weight_filler { type: "xavier" } } }
layer { name: "pool" type: "ROIAlign" bottom: "c" bottom: "rois" top: "pool" propagate_down: true propagate_down: false
    roi_align_param { pooled_h: 2 pooled_w: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
    inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "one" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "one" loss_weight: 2 }
layer { name: "two" type: "HingeLoss" bottom: "fc" bottom: "more" top: "two" }
layer { name: "right" type: "Accuracy" bottom: "fc" bottom: "label" top: "right" }"""


def solver_of(device: str) -> Solver:
    param = SolverParameter(base_lr=0.01, lr_policy="fixed", max_iter=50, random_seed=1)
    param.net_param.CopyFrom(parse_net(STEP))
    return Solver(param, device=device, log=lambda line: None)


@HERE
@pytest.mark.cuda
def test_a_step_of_training_waits_for_its_loss_and_its_gradients():
    """Two losses, an accuracy, and adaptive grids forward and backward: one wait for both losses, one for the gradients' norm."""
    solver, host = solver_of("cuda"), solver_of("cpu")
    for each in (solver, host):
        each.step(2)
    before = stand_in.counts()
    solver.step(3)
    grown = stand_in.since(before)
    assert (grown["waits"], grown["to_host"]) == (6, 6)
    host.step(3)
    assert solver.losses == pytest.approx(host.losses, rel=1e-5)
    for (one, _, _), (other, _, _) in zip(solver.net.learnable, host.net.learnable, strict=True):
        close(np.array(one.data), other.data)


@HERE
@pytest.mark.cuda
@pytest.mark.parametrize("name", ["rois", "label"])
def test_training_stops_at_what_is_refused(name):
    """With the weights of the step before it: the error comes before the update."""
    solver = solver_of("cuda")
    solver.step(2)
    before = [np.array(blob.data) for blob, _, _ in solver.net.learnable]
    blob = solver.net.blobs[name]
    bad = np.zeros(blob.shape)
    bad.flat[3:5] = 1e8

    def spoil() -> None:
        blob.data[...] = bad

    solver.net.layers[0].forward = lambda bottom, top: spoil()
    with pytest.raises(LayerError, match=r"2\^20 samples a bin|label 1e\+08 at 3 is none of"):
        solver.step(1)
    for (blob, _, _), values in zip(solver.net.learnable, before, strict=True):
        np.testing.assert_array_equal(np.array(blob.data), values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_several_arrays(dtype, device):
    """Of some that the host has, and of many more than a block's threads."""
    where, arrays = open_device(device), []
    for count in (1, 3000, 1, 0, 7):
        values = RNG.standard_normal(count).astype(dtype)
        array = where.empty((count,), dtype)
        array[...] = values
        arrays.append((array, float(np.sum(values, dtype=np.float64))))
    for array, _ in arrays[:3] if device != "cpu" else ():
        array.address(True)  # from now on only the GPU has them
    for chosen in (arrays, arrays[:1], arrays[1:4], []):
        assert totals(where, [array for array, _ in chosen]) == pytest.approx([value for _, value in chosen])
