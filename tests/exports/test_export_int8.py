"""Nets in 8 bits as ONNX: what onnxruntime runs in 8 bits, and that it finds what the net finds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.device import open_device
from boxpresso.exports import export_onnx, onnx_model
from boxpresso.graph.quantization import LayerNote, Quantization
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.proto import parse_net
from boxpresso.quantize import quantize

onnx = pytest.importorskip("onnx")

# A residual sum, PReLU, a depthwise window, MAX pooling, Concat and an inner product in 8 bits.
TEXT = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 8 dim: 12 dim: 14 } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "msra" } bias_filler { value: 0.1 } } }
layer { name: "n" type: "BatchNorm" bottom: "a" top: "a" }
layer { name: "r" type: "ReLU" bottom: "a" top: "a" }
layer { name: "d" type: "Convolution" bottom: "a" top: "d"
        convolution_param { num_output: 16 group: 16 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "s" type: "Eltwise" bottom: "d" bottom: "a" top: "s" }
layer { name: "p" type: "PReLU" bottom: "s" top: "s" }
layer { name: "e" type: "Convolution" bottom: "s" top: "e"
        convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "msra" } } }
layer { name: "j" type: "Concat" bottom: "e" bottom: "s" top: "j" }
layer { name: "m" type: "Pooling" bottom: "j" top: "m" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "f" type: "InnerProduct" bottom: "m" top: "f"
        inner_product_param { num_output: 5 weight_filler { type: "msra" } } }
"""


def made() -> tuple[Net, Net, dict[str, np.ndarray]]:
    """The net in float, the same in 8 bits, and an input."""
    net = Net(parse_net(TEXT), device="cpu", seed=1)
    net.params["n"][1].data[...] = 1.5
    net.params["n"][2].data[...] = 1
    rng = np.random.default_rng(0)
    inputs = [{"x": rng.standard_normal((2, 8, 12, 14)).astype(np.float32)} for _ in range(4)]
    narrow = Net(parse_net(TEXT), device="cpu", seed=1)
    narrow.share_with(net)
    narrow.quantize(quantize(net, inputs, speed=False, drop=1.0))
    return net, narrow, inputs[0]


def test_weights_are_the_bytes_of_the_net_and_values_have_its_scales():
    net, narrow, _ = made()
    model = onnx_model(narrow)
    onnx.checker.check_model(model)
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    of = {name: node for node in model.graph.node for name in node.output}
    (conv,) = (
        node for node in model.graph.node if node.op_type == "Conv" and arrays[of[node.input[1]].input[0]].shape[1] == 8
    )
    weights, steps = (arrays[name] for name in of[conv.input[1]].input[:2])
    rows = net.params["a"][0].data / np.sqrt(1.5 + 1e-5)  # BatchNorm is folded before
    expected = np.abs(rows).max((1, 2, 3)) / 127
    np.testing.assert_allclose(steps, expected, rtol=1e-5)
    assert weights.dtype == np.int8
    assert np.abs(weights - rows / expected.reshape(-1, 1, 1, 1)).max() < 0.501
    scale, zero = (arrays[name] for name in of[conv.input[0]].input[1:])
    low, high = narrow.quantization.ranges["x"][0]
    np.testing.assert_allclose(scale, (high - low) / 255, rtol=1e-6)
    assert zero == round(-low / float(scale))
    assert zero.dtype == np.uint8


def test_onnxruntime_runs_it_in_8_bits_and_agrees(tmp_path):
    ort = pytest.importorskip("onnxruntime")
    net, narrow, inputs = made()
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3
    model = onnx_model(narrow).SerializeToString()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    kinds = [node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node]
    assert kinds.count("QLinearConv") == 3
    assert "Conv" not in kinds
    assert "QLinearConcat" in kinds
    exact, ours = net.forward(**inputs)["f"], narrow.forward(**inputs)["f"]
    (theirs,) = session.run(["f"], inputs)
    size = np.abs(exact).max()
    assert 0 < np.abs(ours - exact).max() < 0.05 * size
    assert np.abs(theirs - ours).max() < 0.05 * size


def test_corrected_biases_are_written_and_a_layer_without_one_gets_one():
    ort = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(1)
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 12 dim: 5 dim: 5 } } }
        layer { name: "a" type: "Convolution" bottom: "x" top: "a"
                convolution_param { num_output: 20 group: 2 kernel_size: 3 bias_term: false weight_filler { type: "msra" } } }"""
    net = Net(parse_net(text), device="cpu", seed=1)
    means = rng.integers(0, 256, 12) * 4 / 255
    x = np.broadcast_to(means[:, None, None], (1, 12, 5, 5)).astype(np.float32)
    exact, apart = net.forward(x=x)["a"].copy(), {}
    ranges = {"x": [(0.0, 4.0)], "a": [(-9.0, 9.0)]}
    for known in ({}, {"x": [means.tolist()]}):
        net.quantize(Quantization(ranges, {"a": LayerNote("int8")}, means=known))
        session = ort.InferenceSession(onnx_model(net).SerializeToString(), providers=["CPUExecutionProvider"])
        (theirs,) = session.run(["a"], {"x": x})
        np.testing.assert_allclose(theirs, net.forward(x=x)["a"], atol=1e-5)
        apart[bool(known)] = np.abs(theirs - exact).max()
    assert 4 * apart[True] < apart[False]


def test_channels_with_steps_of_their_own_are_written_into_weights():
    ort = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(1)
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 8 dim: 9 dim: 9 } } }
        layer { name: "a" type: "Convolution" bottom: "x" top: "a"
                convolution_param { num_output: 16 kernel_size: 3 bias_filler { value: 0.1 } weight_filler { type: "msra" } } }
        layer { name: "s" type: "Scale" bottom: "a" top: "a" scale_param { bias_term: true } }
        layer { name: "r" type: "ReLU" bottom: "a" top: "a" }
        layer { name: "b" type: "Convolution" bottom: "a" top: "b"
                convolution_param { num_output: 8 group: 2 kernel_size: 1 weight_filler { type: "msra" } } }"""
    net = Net(parse_net(text), device="cpu", seed=1)
    net.params["s"][0].data[...] = sizes = 2.0 ** -(np.arange(16) % 6)
    net.params["b"][0].data[...] /= (
        sizes.reshape(2, 1, 8).repeat(4, 1).reshape(8, 8, 1, 1)
    )  # small channels count as much
    inputs = [{"x": rng.standard_normal((1, 8, 9, 9)).astype(np.float32)} for _ in range(4)]
    exact, apart = net.forward(**inputs[0])["b"].copy(), {}
    scales = quantize(net, inputs, speed=False, drop=1.0)
    assert scales.maxima
    for each in (replace(scales, maxima={}), scales):
        net.quantize(each)
        session = ort.InferenceSession(onnx_model(net).SerializeToString(), providers=["CPUExecutionProvider"])
        (theirs,) = session.run(["b"], inputs[0])
        np.testing.assert_allclose(theirs, net.forward(**inputs[0])["b"], atol=0.02 * np.abs(exact).max())
        apart[bool(each.maxima)] = np.linalg.norm(theirs - exact) / np.linalg.norm(exact)
    assert apart[True] < 0.6 * apart[False], apart


def test_a_file_is_written_for_a_net_in_8_bits_and_compared(tmp_path):
    pytest.importorskip("onnxruntime")
    _, narrow, _ = made()
    written = export_onnx(narrow, tmp_path / "int8.onnx")
    assert written.differences is not None
    assert 1e-6 < written.differences[0].largest < 0.05


ONE = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 8 } } }
layer { name: "f" type: "InnerProduct" bottom: "x" top: "f" inner_product_param { num_output: 4 weight_filler { type: "msra" } } }"""


def test_a_module_of_torch_is_in_float32_and_compared_so():
    pytest.importorskip("torch")
    from boxpresso.exports.torch.files import compared
    from boxpresso.exports.torch.module import to_torch

    net = Net(parse_net(ONE), device="cpu", seed=1)
    net.quantize(Quantization({"x": [(-3.0, 3.0)], "f": [(-9.0, 9.0)]}, {"f": LayerNote("int8")}))
    x = {"x": np.random.default_rng(0).uniform(-3, 3, (1, 8)).astype(np.float32)}
    before = net.forward(**x)["f"]
    assert compared(net, SimpleNamespace(module=lambda: to_torch(net).eval()), x) < 1e-5
    np.testing.assert_array_equal(net.forward(**x)["f"], before)


def test_a_file_says_what_is_in_8_bits_before_the_fastest_is_measured(tmp_path):
    pytest.importorskip("onnxruntime")
    net = Net(parse_net(ONE), device="cpu", seed=1, precision="fastest")
    net.quantize(Quantization({"x": [(-3.0, 3.0)], "f": [(-9.0, 9.0)]}, {"f": LayerNote("int8")}))
    assert export_onnx(net, tmp_path / "net.onnx").differences[0].largest < 0.01
    assert net.precision_times == {}


@pytest.mark.skipif(not bf16_available(open_device("cpu")), reason="this CPU does not multiply bfloat16")
def test_the_file_of_a_net_in_bfloat16_is_in_float32_and_compared_so(tmp_path):
    pytest.importorskip("onnxruntime")
    net = Net(parse_net(ONE), device="cpu", seed=1, precision="bf16")
    assert export_onnx(net, tmp_path / "net.onnx").differences[0].largest < 1e-5


def test_a_layer_in_float_stays_so():
    _, narrow, _ = made()
    scales = narrow.quantization
    narrow.quantize(Quantization(scales.ranges, {**scales.layers, "e": LayerNote("float32")}))
    model = onnx_model(narrow)
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    plain = [
        arrays[node.input[1]].shape for node in model.graph.node if node.op_type == "Conv" and node.input[1] in arrays
    ]
    assert plain == [(8, 16, 1, 1)]
    narrow.quantize(None)
    assert "QuantizeLinear" not in {node.op_type for node in onnx_model(narrow).graph.node}


# What a choice of regions cuts in two parts: both read a, the first one in 8 bits, the second one as floats or in 8 bits.
PARTS = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 32 dim: 32 } } }
layer { name: "im_info" type: "Input" top: "im_info" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 stride: 4 weight_filler { type: "msra" } } }
layer { name: "ra" type: "ReLU" bottom: "a" top: "a" }
layer { name: "scores" type: "Convolution" bottom: "a" top: "scores"
        convolution_param { num_output: 18 kernel_size: 1 weight_filler { type: "msra" } } }
layer { name: "shifts" type: "Convolution" bottom: "a" top: "shifts"
        convolution_param { num_output: 36 kernel_size: 1 weight_filler { type: "msra" } } }
layer { name: "rois" type: "Proposal" bottom: "scores" bottom: "shifts" bottom: "im_info" top: "rois"
        proposal_param { feat_stride: 4 base_size: 8 min_size: 2 ratio: 0.5 ratio: 1 ratio: 2 scale: 1 scale: 2 scale: 4
                         pre_nms_topn: 100 post_nms_topn: 10 nms_thresh: 0.7 } }
layer { name: "pool" type: "ROIPooling" bottom: "a" bottom: "rois" top: "pool"
        roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.25 } }
layer { name: "b" type: "Convolution" bottom: "a" top: "b"
        convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "msra" } } }
"""


@pytest.mark.parametrize("outputs", [["pool", "b"], ["a"]])
def test_channels_with_steps_of_their_own_are_whole_for_floats_outputs_and_later_parts(outputs):
    ort = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(1)
    net = Net(parse_net(PARTS), device="cpu", seed=1)
    net.params["a"][0].data[...] *= np.geomspace(0.02, 1, 16).reshape(-1, 1, 1, 1)
    x = {"x": rng.standard_normal((1, 3, 32, 32)).astype(np.float32), "im_info": np.array([[32, 32, 1]], np.float32)}
    exact = net.forward(blobs=["a", "b", "scores", "shifts"], **x)
    ranges = {name: [(float(value.min()), float(value.max()))] for name, value in {**exact, **x}.items()}
    ranges["ra"] = [(0.0, ranges["a"][0][1])]
    notes = {name: LayerNote("int8") for name in ("a", "b", "scores", "shifts")}
    net.quantize(Quantization(ranges, notes, maxima={"ra": [exact["a"].max((0, 2, 3)).tolist()]}))
    net.forward(**x)
    assert any(scale.factors for part in net._runner.parts for scale in part.plan.scales.values())
    model = onnx_model(net, outputs=outputs).SerializeToString()
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    feed = {each.name: x[each.name] for each in session.get_inputs()}
    for name, theirs in zip(outputs, session.run(outputs, feed)):
        ours = net.forward(blobs=[name], **x)[name]
        assert np.abs(theirs - ours).max() < 0.02 * np.abs(ours).max(), name
