"""precision="fastest": what a clock of the test says decides, and the net then gives what that precision gives."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.graph.quantization import LayerNote, Quantization
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.net import fastest
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError
from boxpresso.run.runner import Runner

TEXT = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 64 dim: 8 dim: 8 } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
        convolution_param { num_output: 64 kernel_size: 1 weight_filler { type: "msra" } } }
"""
SCALES = Quantization({"x": [(-4.0, 4.0)], "a": [(-9.0, 9.0)]}, {"a": LayerNote("int8")})
X = np.random.default_rng(0).standard_normal((1, 64, 8, 8)).astype(np.float32)


def kind(runner: Runner) -> str:
    """In what a plan runs now."""
    return "bf16" if runner.bf16 else "int8" if runner.narrow else "float32"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Seconds that a forward takes in each precision, by a clock that nothing else moves."""
    costs, now = {"float32": 0.02, "bf16": 0.03, "int8": 0.01}, [0.0]
    run = Runner.run

    def timed(self: Runner, more: object) -> bool:
        now[0] += costs[kind(self)]
        return run(self, more)  # type: ignore[arg-type]

    monkeypatch.setattr(Runner, "run", timed)
    monkeypatch.setattr(fastest, "perf_counter", lambda: now[0])
    return costs


def plain(precision: str, scales: Quantization | None = None) -> np.ndarray:
    net = Net(parse_net(TEXT), device="cpu", seed=1, precision=None if precision == "int8" else precision)
    net.quantize(scales)
    return np.array(net.forward(x=X)["a"])


@pytest.mark.parametrize("wanted", ["float32", "bf16", "int8"])
def test_the_fastest_is_taken(clock, wanted):
    clock[wanted] = 0.001
    net = Net(parse_net(TEXT), device="cpu", seed=1, precision="fastest")
    if wanted == "bf16" and not bf16_available(net.device):
        pytest.skip("this CPU has no products of bfloat16")
    net.quantize(SCALES)
    result = np.array(net.forward(x=X)["a"])
    assert next(iter(net.precision_times)) == wanted
    assert net.precision_times[wanted] == pytest.approx(1)
    assert list(net.precision_times.values()) == sorted(net.precision_times.values())
    assert (net.quantization is SCALES) == (wanted == "int8")
    np.testing.assert_array_equal(result, plain(wanted, SCALES if wanted == "int8" else None))
    assert np.abs(result - plain("float32")).max() > 1e-4 or wanted == "float32"
    assert kind(net._runner) == wanted


def test_other_scales_are_measured_again_and_without_them_8_bits_are_not(clock):
    net = Net(parse_net(TEXT), device="cpu", seed=1, precision="fastest")
    net.forward(x=X)
    assert "int8" not in net.precision_times
    net.quantize(SCALES)
    assert not net.precision_times
    net.forward(x=X)
    assert next(iter(net.precision_times)) == "int8"
    net.quantize(None)
    net.forward(x=X)
    assert "int8" not in net.precision_times
    assert net.quantization is None


def test_a_copy_knows_the_scales_that_lost(clock):
    clock["int8"] = 0.05
    net = Net(parse_net(TEXT), device="cpu", seed=1, precision="fastest")
    net.quantize(SCALES)
    net.forward(x=X)
    assert net.quantization is None
    clock["int8"] = 0.001
    again = copy.deepcopy(net)
    again.forward(x=X)
    assert next(iter(again.precision_times)) == "int8"


def test_layers_that_run_once_a_forward_are_not_run_more_often(clock, tmp_path):
    field = f'hdf5_output_param {{ file_name: "{(tmp_path / "out.h5").as_posix()}" }}'
    text = TEXT + f'layer {{ name: "o" type: "HDF5Output" bottom: "a" bottom: "a" {field} }}'
    net = Net(parse_net(text), device="cpu", seed=1, precision="fastest", write_below=tmp_path)
    net.quantize(SCALES)
    net.forward(["a"], x=X)
    assert net.precision_times == {"float32": 0.0}
    assert kind(net._runner) == "float32"


def test_an_empty_batch_decides_nothing(clock):
    net = Net(parse_net(TEXT), device="cpu", seed=1, precision="fastest")
    net.quantize(SCALES)
    net.blobs["x"].reshape(0, 64, 8, 8)
    assert net.forward()["a"].shape == (0, 64, 8, 8)
    assert net.precision_times == {}
    net.blobs["x"].reshape(*X.shape)
    net.forward(x=X)
    assert next(iter(net.precision_times)) == "int8"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"reproducible": True}, "not reproducible"),
        ({"optimize": False}, r"needs the CPU, float32.*in float32, and layers run one by one \(.*optimize=False\)$"),
        ({"phase": "TRAIN"}, r"needs the CPU, float32.*in float32, and layers run one by one \(phase TRAIN"),
    ],
)
def test_where_it_cannot_be(options, why):
    with pytest.raises(DeviceError, match=why):
        Net(parse_net(TEXT), device="cpu", precision="fastest", **options)
