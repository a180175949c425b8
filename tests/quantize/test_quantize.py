"""`boxpresso quantize`: ranges, which layers run in 8 bits, the file with the scales, and what is refused."""

from __future__ import annotations

import copy
import json
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest
from places import ROOT
from shared import SHARED
from test_int8 import INT8, field_of, inputs, kinds, layer
from tiny_ssd import TINY, picture, tiny_net

import boxpresso
from boxpresso import Detector, ModelError, Net
from boxpresso.cli.main import main, make_parser
from boxpresso.evaluation import evaluate
from boxpresso.graph.quantization import FORMAT, MARK, LayerNote, Quantization
from boxpresso.net.weights import read_weights, save_weights
from boxpresso.proto import parse_net
from boxpresso.proto.errors import BoxpressoWarning, DeviceError, LayerError
from boxpresso.quantize.accuracy import compared
from boxpresso.quantize.quantizer import Quantizer
from boxpresso.quantize.ranges import Histogram, measure_values
from boxpresso.quantize.speed import Times, slower

# A trunk of three convolutions and two heads, with all that a plan fuses.
TEXT = (
    inputs((1, 3, 24, 20))
    + layer("a", "Convolution", "x", field_of(16, 3, {"pad": 1, "stride": 2}))
    + layer("bn", "BatchNorm", "a", top="a")
    + layer("sc", "Scale", "a", "scale_param { bias_term: true }", top="a")
    + layer("ra", "ReLU", "a", top="a")
    + layer("b", "Convolution", "a", field_of(16, 3, {"pad": 1, "group": 16}))
    + layer("rb", "ReLU", "b", top="b")
    + layer("c", "Convolution", "b", field_of(32, 1, {}))
    + layer("rc", "ReLU", "c", top="c")
    + layer("p", "Pooling", "c", "pooling_param { kernel_size: 2 stride: 2 }")
    + layer("d", "Convolution", "p", field_of(32, 3, {"pad": 1}))
    + layer("sum", "Eltwise", "p d")
    + layer("f", "InnerProduct", "sum", "inner_product_param { num_output: 10 }")
    + layer("prob", "Softmax", "f")
)
LAYERS = ["a", "b", "c", "d", "f"]


def random_weights(net: Net, rng: np.random.Generator) -> None:
    for each in net.layers:
        for i, blob in enumerate(each.blobs):
            size = blob.count // blob.shape[0]
            blob.data[...] = (
                rng.standard_normal(blob.shape) * np.sqrt(2 / size) if size > 1 else rng.uniform(0.5, 1.5, blob.shape)
            )
            if each.type == "BatchNorm" and i == 2:
                blob.data[...] = 1


@pytest.fixture
def made(tmp_path):
    """The prototxt, its weights, their net, and four inputs."""
    rng = np.random.default_rng(3)
    model = tmp_path / "deploy.prototxt"
    model.write_text(TEXT)
    net = Net(str(model), device="cpu")
    random_weights(net, rng)
    net.save(tmp_path / "float.caffemodel")
    xs = [rng.standard_normal((1, 3, 24, 20)).astype(np.float32) for _ in range(4)]
    return model, tmp_path / "float.caffemodel", net, xs


def quantised(made, **options) -> Quantization:
    _, _, net, xs = made
    return boxpresso.quantize(net, [{"x": x} for x in xs], **{"speed": False, "drop": 1, **options})


def test_a_net_in_8_bits_is_near(made, tmp_path):
    """And the file runs so without further words, Caffe's readers pass over what it holds more."""
    model, weights, net, xs = made
    scales = quantised(made)
    assert scales.chosen == LAYERS
    assert all(0 < note.error < 0.1 for note in scales.layers.values())
    assert 0 < scales.notes["lost"] < 0.1
    out = tmp_path / "int8.caffemodel"
    boxpresso.quantize.save(net, scales, out)
    narrow = Net(str(model), out, device="cpu")
    assert narrow.quantization.chosen == LAYERS
    assert kinds(narrow)["a"] == kinds(narrow)["c"] == kinds(narrow)["p"] == kinds(narrow)["sum"] == INT8
    for x in xs:
        np.testing.assert_allclose(narrow.forward(x=x)["prob"], net.forward(x=x)["prob"], atol=0.03)
    assert not np.array_equal(narrow.forward(x=xs[0])["prob"], net.forward(x=xs[0])["prob"])
    before, after = read_weights(weights), read_weights(out)
    assert [name for name in after if name != MARK] == list(before)
    for name, each in before.items():
        assert all(np.array_equal(a, b) for a, b in zip(each.blobs, after[name].blobs))
    assert after[MARK].blobs == []
    plain = Net(str(model), out, device="cpu", precision="float32")
    assert plain.quantization is None
    np.testing.assert_array_equal(plain.forward(x=xs[0])["prob"], net.forward(x=xs[0])["prob"])


def test_scales_in_other_kinds_of_files(made, tmp_path):
    """HDF5 has no place for them, and says so; others keep them, and all layers with them."""
    model, _, net, xs = made
    boxpresso.quantize.save(net, quantised(made), tmp_path / "int8.caffemodel")
    for verb in (["upgrade"], ["convert", "weights"]):
        with pytest.warns(BoxpressoWarning, match="no scales for 8 bits"):
            convert_or_upgrade(verb, tmp_path / "int8.caffemodel", tmp_path / "float.h5")
        other = Net(str(model), tmp_path / "float.h5", device="cpu")
        assert other.quantization is None
        np.testing.assert_array_equal(other.forward(x=xs[0])["prob"], net.forward(x=xs[0])["prob"])
        convert_or_upgrade(verb, tmp_path / "int8.caffemodel", tmp_path / "again.caffemodel")
        assert Net(str(model), tmp_path / "again.caffemodel", device="cpu").quantization.chosen == LAYERS
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    convert_or_upgrade(["convert", "weights"], tmp_path / "int8.caffemodel", tmp_path / "w.safetensors")
    convert_or_upgrade(["convert", "weights"], tmp_path / "w.safetensors", tmp_path / "back.caffemodel")
    before, after = (read_weights(tmp_path / f"{name}.caffemodel") for name in ("int8", "back"))
    assert [(each.name, each.type) for each in after.layers] == [(each.name, each.type) for each in before.layers]
    assert Net(str(model), tmp_path / "back.caffemodel", device="cpu").quantization.chosen == LAYERS


def convert_or_upgrade(verb: list[str], source, target) -> None:
    """By the modules of the command line, which let warnings through."""
    parser = make_parser(verb[0])
    args = parser.parse_args([*verb, str(source), str(target)])
    assert args.module.run(args) == 0


def test_what_reads_rows_that_a_layer_chooses_stays_in_float():
    """No range of such rows is measured: neither an inner product nor a sum behind a convolution can be in 8 bits."""
    rng = np.random.default_rng(0)
    text = (
        inputs((2, 5, 6, 6), (2, 8, 4, 4))
        + 'layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 2 } } }'
        + layer("a", "Convolution", "x", field_of(8, 3, {}))
        + layer("rows", "Filter", "a s")
        + layer("b", "Convolution", "rows", field_of(8, 3, {"pad": 1}))
        + layer("rest", "Filter", "y s")
        + layer("c", "Convolution", "b", field_of(8, 1, {}))
        + layer("sum", "Eltwise", "c rest")
        + layer("f", "InnerProduct", "rows", "inner_product_param { num_output: 6 }")
        + layer("d", "Convolution", "sum", field_of(8, 1, {}))
    )
    net = Net(parse_net(text), device="cpu", seed=1)
    random_weights(net, rng)
    shown = [
        {"x": rng.standard_normal((2, 5, 6, 6)), "y": rng.standard_normal((2, 8, 4, 4)), "s": [1, i % 2]}
        for i in range(3)
    ]
    wanted = net.forward(**shown[0])
    scales = boxpresso.quantize(net, shown, speed=False, drop=1)
    assert scales.chosen == ["a", "d"]
    net.quantize(scales)
    result = net.forward(**shown[0])
    assert result["d"].shape == wanted["d"].shape == (1, 8, 4, 4)
    for name, values in wanted.items():
        assert not np.array_equal(result[name], values)
        np.testing.assert_allclose(result[name], values, atol=0.05 * np.abs(values).max())


@pytest.mark.filterwarnings("ignore::boxpresso.proto.errors.BoxpressoWarning")
@pytest.mark.parametrize("behind", [False, True])
def test_inputs_are_what_the_net_was_given(behind):
    """And not what a layer in place has left of them, which would go through that layer twice. behind: another in place."""
    more = 'layer { name: "first" type: "Power" bottom: "data" top: "data" power_param { scale: 0.25 } }'
    if behind:
        more = 'layer { name: "pass" type: "Dropout" bottom: "data" top: "data" }' + more
    ranges = {}
    for text in (TINY, TINY.replace('layer { name: "feature"', more + 'layer { name: "feature"', 1)):
        net = Net(parse_net(text), device="cpu", seed=1)
        for name, blobs in tiny_net().params.items():
            for blob, other in zip(net.params[name], blobs):
                blob.data[...] = other.data
        net.params["feature"][0].data[...] *= 1 if text == TINY else 4
        pictures = [picture(cell=(1, 2)), picture(cell=(0, 3), colour=(10, 20, 250))]
        ranges[text] = boxpresso.quantize(Detector(net), pictures, speed=False, drop=1).ranges
    plain, changed = ranges.values()
    assert changed["data"] == plain["data"] == [(0.0, 255.0)]
    assert changed["first"] == [(0.0, 63.75)]
    assert changed["feature"] == plain["feature"]


def test_biases_are_corrected_and_channels_equalised_where_outputs_are_nearer_so(made, tmp_path):
    """And the file keeps by what."""
    model, _, net, _ = made
    choices = set()
    for layer_in_float in ("a", "b", "c", "d", "f"):
        lines: list[str] = []
        scales = quantised(made, float32=[layer_in_float], tell=lines.append)
        (line,) = (line for line in lines if "corrected biases" in line)
        errors = [float(word.strip(",")) for word in line.split() if word[0].isdigit() and word != "8"]
        ways = [(False, False), (True, False), (False, True), (True, True)]
        choices.add((bool(scales.means), bool(scales.maxima)))
        assert (bool(scales.means), bool(scales.maxima)) == ways[int(np.argmin(errors))]
    assert len(choices) > 1
    numbers = {each.name: [[0.5] * blob.shape[1] for blob in tops] for each, tops in zip(net.layers, net.tops)}
    other = replace(scales, means=numbers, maxima=numbers)
    boxpresso.quantize.save(net, other, tmp_path / "int8.caffemodel")
    assert Net(str(model), tmp_path / "int8.caffemodel", device="cpu").quantization == other


def test_results_do_not_depend_on_workers_or_the_batch(made):
    _, _, net, xs = made
    scales = quantised(made)
    net.quantize(scales)
    alone = [net.forward(x=x)["prob"].copy() for x in xs]
    net.device.workers, before = 1, net.device.workers
    try:
        np.testing.assert_array_equal(net.forward(x=xs[0])["prob"], alone[0])
    finally:
        net.device.workers = before
    net.blobs["x"].reshape(4, 3, 24, 20)
    net.reshape()
    np.testing.assert_array_equal(net.forward(x=np.concatenate(xs))["prob"], np.concatenate(alone))


def test_numbers_that_are_not_finite_are_those_of_the_layers(made):
    """8 bits have no place for NaN: then the layers run by themselves."""
    _, _, net, xs = made
    x = xs[0].copy()
    x[0, 0, 3, 4] = np.nan
    wanted = net.forward(["c"], x=x)["c"]
    net.quantize(quantised(made))
    got = net.forward(["c"], x=x)["c"]
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    assert np.isnan(got).any()
    assert not np.isnan(net.forward(x=xs[0])["prob"]).any()


def test_weights_that_a_script_changes_count(made):
    _, _, net, xs = made
    net.quantize(quantised(made))
    before = net.forward(x=xs[0])["prob"].copy()
    net.params["c"][0].data[...] *= 0.5
    assert not np.array_equal(net.forward(x=xs[0])["prob"], before)
    net.params["c"][0].data[...] *= 2
    np.testing.assert_array_equal(net.forward(x=xs[0])["prob"], before)


def test_a_copy_runs_as_the_net(made):
    """Also where a script has changed its weights since."""
    _, _, net, xs = made
    net.quantize(quantised(made))
    net.params["c"][0].data[...] *= 0.5
    other = copy.deepcopy(net)
    assert other.quantization.chosen == LAYERS
    np.testing.assert_array_equal(other.forward(x=xs[0])["prob"], net.forward(x=xs[0])["prob"])


def test_a_channel_of_zeros_and_one_of_nothing_but_bias(made):
    _, _, net, xs = made
    net.params["d"][0].data[3] = 0
    net.params["d"][1].data[3] = 1.5
    net.params["d"][0].data[4] = 0
    net.params["d"][1].data[4] = 0
    with pytest.warns(
        BoxpressoWarning, match=r"layer 'd': the weights of 2 of its 32 outputs \(3, 4\) are all 0"
    ) as said:
        scales = quantised(made, float32=["f"])
    assert len(said) == 1
    net.quantize(scales)
    d = net.forward(["d"], x=xs[0])["d"]
    np.testing.assert_allclose(d[0, 3], 1.5, rtol=1e-2)
    np.testing.assert_array_equal(d[0, 4], 0)


def test_a_layer_that_gives_nothing_is_named(made):
    _, _, net, _ = made
    for blob in net.params["c"]:
        blob.data[...] = 0
    with pytest.warns(BoxpressoWarning) as said:
        quantised(made)
    words = [str(each.message) for each in said]
    assert len(words) == 2
    assert "Convolution layer 'c': the weights of 32 of its 32 outputs (0, 1, 2, 3, ...) are all 0" in words[0]
    assert "Convolution layer 'c': its top is 0 everywhere in all pictures" in words[1]


def test_layers_that_cost_accuracy_are_given_back(made, monkeypatch):
    """Worst first, no more than it takes; the lost is what is measured. Biases and channels, whose errors cancel here, stay."""
    monkeypatch.setattr(Quantizer, "nearest", lambda self, scales, measured: scales)
    all_of_it = quantised(made)
    half = quantised(made, drop=all_of_it.notes["lost"] * 0.7)
    back = [name for name in LAYERS if name not in half.chosen]
    assert 0 < len(back) < len(LAYERS)
    assert half.notes["lost"] <= half.notes["drop"]
    errors = {name: note.error for name, note in half.layers.items()}
    assert min(errors[name] for name in back) >= max(errors[name] for name in half.chosen)
    assert {half.layers[name].why for name in back} == {"costs accuracy"}
    none = quantised(made, drop=0)
    assert none.chosen == []
    assert none.notes["lost"] == 0


def test_layers_that_are_slower_are_given_back(made):
    """By times that are given, what is turned between layouts included."""
    _, _, net, _ = made
    scales = quantised(made)
    number = {each.name: i for i, each in enumerate(net.layers)}
    steps = {(number[name], takes): 1.0 for name in LAYERS for takes in ("last", "int8")}
    fast = {(number[name], "int8"): 0.5 for name in LAYERS}
    assert slower(net, scales, Times({**steps, **fast}, 0, 0)) == []
    assert slower(net, scales, Times({**steps, **fast, (number["c"], "int8"): 2.0}, 0, 0)) == ["c"]
    # 32 x 6 x 5 numbers that would be turned behind the pooling, and no others: more than what is saved.
    assert slower(net, scales, Times({**steps, **fast, (number["c"], "int8"): 2.0}, 2e-3, 2e-3)) == []
    assert (
        sorted(slower(net, scales, Times({k: v * (2 if k[1] == "int8" else 1) for k, v in steps.items()}, 0, 0)))
        == LAYERS
    )


def test_speed_is_measured_and_told(made):
    scales = quantised(made, speed=True)
    for name, note in scales.layers.items():
        assert note.times[0] > 0
        assert note.times[1] > 0
        assert (note.kind == "int8") == (not note.why), name
    before, after = scales.notes.get("ms", (1, 0))
    assert after < before or scales.chosen == []


@pytest.mark.parametrize("method", ["minmax", "percentile", "entropy"])
def test_ranges(made, method):
    """Of the values that the layers write, each of them: those in place too."""
    _, _, net, xs = made
    layered = Net(parse_net(TEXT), device="cpu", optimize=False)
    layered.share_with(net)
    ranges = measure_values(layered, [{"x": x} for x in xs], method).ranges
    assert ranges["a"][0][0] < 0
    assert ranges["ra"][0][0] == 0
    low, high = ranges["x"][0]
    least, most = min(x.min() for x in xs), max(x.max() for x in xs)
    if method == "minmax":
        assert (low, high) == (least, most)
    else:
        assert least <= low < -2
        assert 2 < high <= most


def test_a_percentile_and_entropy_leave_out_what_is_rare():
    rng = np.random.default_rng(0)
    histogram = Histogram()
    histogram.add(rng.standard_normal(100_000).astype(np.float32))
    histogram.add(np.array([400.0], np.float32))
    assert histogram.range("minmax")[1] == 400
    assert 3 < histogram.range("percentile")[1] < 6
    assert 2 < histogram.range("entropy")[1] < 60


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("low", "high", "count"), [(1, 1, 9), (0.5, 1, 9), (0.9, 1, 1000), (16, 255, 5000), (0.0702, 0.0703, 2)], ids=str
)
def test_entropy_does_not_cut_numbers_that_are_all_far_from_0(low, high, count, sign):
    """A constant, bright pictures: the distribution of nothing, or of one number, diverges from none."""
    values = np.linspace(low, high, count, dtype=np.float32)
    if high < 0.1:  # two, and most of them are larger
        values = np.concatenate([values, np.ones(50, np.float32)])
    histogram = Histogram()
    histogram.add(sign * values)
    least, most = histogram.range("entropy")
    assert (most if sign > 0 else -least) > 0.9 * values.max()


@pytest.mark.parametrize("method", ["percentile", "entropy"])
@pytest.mark.parametrize("power", [-149, -140, -120, 100])
def test_ranges_of_the_least_and_the_largest_numbers(method, power):
    histogram = Histogram()
    assert histogram.add(np.ldexp(np.arange(-1000, 1001, dtype=np.float32), power))
    assert histogram.below.sum() == histogram.above.sum() == 1000
    for end in map(abs, histogram.range(method)):
        assert 100 * 2.0**power < end <= 1000 * 2.0**power


def wrong(made, message, **options):
    with pytest.raises(ModelError, match=message):
        quantised(made, **options)


def test_what_cannot_be_quantised(made, tmp_path):
    model, _, net, xs = made
    with pytest.raises(ModelError, match="no pictures are given"):
        boxpresso.quantize(net, [])
    wrong(made, "ranges must be one of minmax, percentile, entropy, got 'max'", ranges="max")
    wrong(made, "drop must lie from 0 to 1", drop=2)
    wrong(
        made,
        "layer 'p' is to stay in float32, but is none of those that can run in 8 bits: a, b, c, d, f",
        float32=["p"],
    )
    for feed, message in (
        ({"y": xs[0]}, "is of 'y'; the net's are: x"),
        ({"x": xs[0][:, :2]}, r"\(1, 2, 24, 20\) for 'x'"),
        ({"x": xs[0][:0]}, r"\(0, 3, 24, 20\) for 'x': it has no numbers"),
        ({}, "input 1 of those given lacks 'x'"),
        ({"x": "face"}, "input 1 of those given is no array of numbers for 'x'"),
    ):
        with pytest.raises(ModelError, match=message):
            boxpresso.quantize(net, [feed])
    with pytest.raises(ModelError, match="Input layer 'x': its top 'x' has NaN or infinity for picture 2"):
        boxpresso.quantize(net, [{"x": xs[0]}, {"x": np.full_like(xs[0], np.nan)}])
    net.params["c"][1].data[0] = np.inf
    with pytest.raises(ModelError, match="Convolution layer 'c': its top 'c' has NaN or infinity for picture 1"):
        boxpresso.quantize(net, [{"x": xs[0]}])
    for options in ({"phase": "TRAIN"}, {"dtype": np.float64}, {"optimize": False}):
        with pytest.raises(ModelError, match="must be of phase TEST, in float32 and with its plan"):
            boxpresso.quantize(Net(str(model), device="cpu", **options), [{"x": xs[0]}])
    alone = Net(parse_net(inputs((1, 2, 3, 3)) + layer("r", "ReLU", "x")), device="cpu")
    with pytest.raises(ModelError, match="has no layer that can run in 8 bits"):
        boxpresso.quantize(alone, [{"x": np.ones((1, 2, 3, 3))}])
    twice = Net(
        parse_net(inputs((1, 2, 3, 3)) + layer("r", "ReLU", "x") + layer("r", "ReLU", "r", top="q")), device="cpu"
    )
    with pytest.raises(ModelError, match="two layers are called 'r'"):
        boxpresso.quantize(twice, [{"x": np.ones((1, 2, 3, 3))}])


def test_what_becomes_nan_in_8_bits_alone_is_not_borne():
    """A square root of what lies just above 0."""
    text = inputs((1, 8, 4, 4)) + layer("c", "Convolution", "x", field_of(8, 1, {}))
    text += layer("s", "Power", "c", "power_param { power: 0.5 shift: 1e-5 }")
    net = Net(parse_net(text), device="cpu")
    net.params["c"][0].data[...] = np.eye(8)[:, :, None, None]
    x = np.random.default_rng(0).uniform(-1, 1, (1, 8, 4, 4))
    x[0, :, 0] = 0.1
    net.params["c"][1].data[...] = bias = 1.0
    x[0, 0, 0, 0] = -bias  # the least number, where 8 bits give some 1e-3 less
    scales = boxpresso.quantize(net, [{"x": x}], speed=False)
    assert np.isfinite(net.forward(x=x)["s"]).all()
    net.quantize(scales)
    assert np.isfinite(net.forward(x=x)["s"]).all()


def test_the_range_of_a_parameter_that_is_a_top():
    text = inputs((1, 4, 3, 3)) + layer("c", "Convolution", "x", field_of(4, 1, {}))
    text += (
        """layer { name: "p" type: "Parameter" top: "p" parameter_param { shape { dim: 1 dim: 4 dim: 3 dim: 3 } } }"""
    )
    net = Net(parse_net(text + layer("e", "Eltwise", "c p")), device="cpu")
    net.params["c"][0].data[...] = 1
    net.params["p"][0].data[...] = -7
    feed = {"x": np.ones((1, 4, 3, 3))}
    assert boxpresso.quantize(net, [feed], speed=False, drop=1).ranges["p"] == [(-7.0, 0.0)]


def test_weights_and_slopes_that_are_not_finite_are_named():
    text = inputs((1, 4, 3, 3)) + layer("c", "Convolution", "x", field_of(4, 1, {})) + layer("p", "PReLU", "c", top="c")
    net = Net(parse_net(text), device="cpu")
    net.quantize(Quantization({"x": [(-1.0, 1.0)], "c": [(-1.0, 1.0)], "p": [(-1.0, 1.0)]}, {"c": LayerNote("int8")}))
    net.forward(x=np.ones((1, 4, 3, 3)))
    net.params["p"][0].data[1] = np.nan
    with pytest.raises(
        LayerError, match=r"^Convolution layer 'c': the slopes of the activation behind it are not all finite"
    ):
        net.forward()
    net.params["p"][0].data[1] = 0
    net.params["c"][0].data[0] = np.inf
    with pytest.raises(LayerError, match=r"^Convolution layer 'c': its weights are not all finite"):
        net.forward()


@pytest.mark.parametrize("edited", ["r", "w"])
def test_scales_are_of_the_activations_too(edited, tmp_path):
    """Numbers below 0 that an edited slope lets through lie outside what was measured."""
    text = inputs((1, 8, 4, 4)) + layer("p", "Power", "x") + layer("w", "ReLU", "p")
    text += layer("a", "Convolution", "w", field_of(8, 1, {})) + layer("r", "ReLU", "a", top="a")
    text += layer("b", "Convolution", "a", field_of(8, 1, {}))
    net, rng = Net(parse_net(text), device="cpu"), np.random.default_rng(0)
    random_weights(net, rng)
    scales = boxpresso.quantize(net, [{"x": rng.standard_normal((1, 8, 4, 4))}], speed=False, drop=1)
    message = parse_net(text)
    next(each for each in message.layer if each.name == edited).relu_param.negative_slope = 0.5
    with pytest.raises(ModelError, match=f"ReLU layer '{edited}' has other fields than when the scales for 8 bits"):
        Net(message, device="cpu").quantize(scales)


@pytest.mark.parametrize("count", [1, 3, 65])
def test_means_and_maxima_of_another_number_of_channels_count_for_nothing(count):
    """As a damaged file has them: factors of fewer channels were read beyond their end."""
    text = inputs((2, 8)) + layer("a", "InnerProduct", "x", "inner_product_param { num_output: 64 }")
    text += layer("r", "ReLU", "a", top="a") + layer("b", "InnerProduct", "a", "inner_product_param { num_output: 4 }")
    net, rng = Net(parse_net(text), device="cpu"), np.random.default_rng(0)
    random_weights(net, rng)
    x, results = rng.standard_normal((2, 8)), []
    ranges = {"x": [(-3.0, 3.0)], "a": [(-9.0, 9.0)], "r": [(0.0, 9.0)], "b": [(-9.0, 9.0)]}
    plain = Quantization(ranges, {"a": LayerNote("int8"), "b": LayerNote("int8")})
    odd = {"r": [[2.0] * count], "x": [[2.0] * count]}
    for scales in (plain, replace(plain, maxima=odd), replace(plain, means=odd)):
        net.quantize(scales)
        results.append(net.forward(blobs=["a"], x=x))
    for other in results[1:]:
        for name, array in results[0].items():
            np.testing.assert_array_equal(other[name], array)


def test_two_inputs_of_another_batch():
    """Both have their new shapes before the net is reshaped."""
    text = inputs((1, 2, 3, 3)) + inputs((1, 4, 3, 3)).replace('"x"', '"z"')
    text += layer(
        "c", "Convolution", "x", field_of(4, 1, {}).replace("_size: 1", "_size: 1 weight_filler { value: 1 }")
    )
    text += layer("e", "Eltwise", "c").replace("top:", 'bottom: "z" top:')
    feed = {"x": np.ones((2, 2, 3, 3)), "z": np.ones((2, 4, 3, 3))}
    net = Net(parse_net(text), device="cpu")
    assert boxpresso.quantize(net, [feed], speed=False, drop=1).chosen == ["c"]


def test_a_net_with_a_python_layer(tmp_path, monkeypatch):
    (tmp_path / "own_layer.py").write_text(
        "class Twice:\n    def __init__(self, *a): pass\n    def setup(self, b, t): pass\n"
        "    def reshape(self, b, t): t[0].reshape(*b[0].shape)\n    def forward(self, b, t): t[0].data[...] = 2 * b[0].data\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    text = inputs((1, 2, 3, 3)) + layer("own", "Python", "x", 'python_param { module: "own_layer" layer: "Twice" }')
    net = Net(
        parse_net(text + layer("c", "Convolution", "own", field_of(4, 1, {}))),
        device="cpu",
        python_layers=["own_layer"],
    )
    with pytest.raises(ModelError, match="Python layer 'own' may do more in a forward than to compute its tops"):
        boxpresso.quantize(net, [{"x": np.ones((1, 2, 3, 3))}])


def test_scales_of_another_net(made, tmp_path):
    """Errors that name the layer, and what to do."""
    model, _, net, _ = made
    scales = quantised(made)
    out = tmp_path / "int8.caffemodel"
    boxpresso.quantize.save(net, scales, out)
    other = tmp_path / "other.prototxt"
    other.write_text(TEXT.replace('name: "d"', 'name: "e"'))
    with pytest.raises(
        ModelError, match="are of another net: its layer 'd' is not in this one; make them anew with `boxpresso"
    ):
        Net(str(other), out, device="cpu")
    other.write_text(
        TEXT.replace("num_output: 32 kernel_size: 3 pad: 1", "num_output: 32 kernel_size: 3 pad: 1 dilation: 1")
    )
    with pytest.raises(ModelError, match="Convolution layer 'd' has other fields than when the scales for 8 bits in"):
        Net(str(other), out, device="cpu")
    net.params["sc"][0].data[0] += 1
    boxpresso.quantize.save(net, scales, out)
    with pytest.raises(ModelError, match="Scale layer 'sc' has other weights than when the scales for 8 bits in"):
        Net(str(model), out, device="cpu")
    assert Net(str(model), out, device="cpu", precision="float32").quantization is None
    Net(str(model), out, device="cpu", phase="TRAIN")  # trains on from these weights
    missing = Quantization({n: r for n, r in scales.ranges.items() if n != "rb"}, {"c": LayerNote("int8")})
    net.quantize(missing)
    with pytest.raises(
        ModelError, match="Convolution layer 'c' is to run in 8 bits, but the scales have no range for its blob 'b'"
    ):
        net.forward()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"format": 2}', '{"format": 1, "layers": {"a": {"kind": "int4"}}, "ranges": {}, "weights": {}}',
     '{"format": 1, "layers": {}, "ranges": {"a": [[1, 0]]}, "weights": {}, "fields": {}, "notes": {}}',
     '{"format": 1, "layers": {}, "ranges": {"a": [[0, NaN]]}, "weights": {}, "fields": {}, "notes": {}}',
     '{"format": 1, "layers": {}, "ranges": {"a": [[-1e300, 1e300]]}, "weights": {}, "fields": {}, "notes": {}}', "[" * 100_000],
    ids=range(10),
)  # fmt: skip
def test_broken_scales(made, tmp_path, text):
    model, _, net, _ = made
    rows = [(each.name, each.type, [], [], [np.asarray(b.data) for b in each.blobs]) for each in net.layers]
    save_weights(tmp_path / "w.caffemodel", [*rows, (MARK, text, [], [], [])])
    with pytest.raises(ModelError, match=r"w.caffemodel: its scales for 8 bits (cannot be read|are of format 2)"):
        Net(str(model), tmp_path / "w.caffemodel", device="cpu")
    assert FORMAT == 1


def test_precision(made, tmp_path):
    model, weights, net, xs = made
    with pytest.raises(ModelError, match="no scales for 8 bits; make a file that has them with `boxpresso quantize`"):
        Net(str(model), weights, device="cpu", precision="int8")
    with pytest.raises(ModelError, match="precision must be 'float32', 'bf16', 'int8', 'fastest' or None, got 'int4'"):
        Net(str(model), weights, device="cpu", precision="int4")
    with pytest.raises(DeviceError, match=r"precision='int8' needs the CPU, float32, .*, in float64$"):
        Net(str(model), device="cpu", precision="int8", dtype=np.float64)
    out = tmp_path / "int8.caffemodel"
    boxpresso.quantize.save(net, quantised(made), out)
    narrow = Net(str(model), out, device="cpu", precision="int8")
    assert narrow.quantization is not None
    assert Net(str(model), [weights, out], device="cpu", precision="int8").quantization is not None
    again = Net(str(model), out, device="cpu")
    again.copy_from(weights)  # of a file without scales: they are not for what is there now
    assert again.quantization is None
    np.testing.assert_array_equal(again.forward(x=xs[0])["prob"], net.forward(x=xs[0])["prob"])
    with pytest.raises(ModelError, match="HDF5 has no place for them"):
        boxpresso.quantize.save(net, narrow.quantization, tmp_path / "a.h5")


def test_what_is_compared_in_the_place_of_chosen_rows():
    text = (
        inputs((1, 8, 4, 4))
        + layer("loc", "Convolution", "x", field_of(4, 1, {}))
        + layer("conf", "Convolution", "x", field_of(2, 1, {}))
        + layer("l", "Flatten", "loc")
        + layer("c", "Flatten", "conf")
        + layer("prior", "PriorBox", "loc x", "prior_box_param { min_size: 3 }")
        + layer(
            "out", "DetectionOutput", "l c prior", "detection_output_param { num_classes: 2 nms_param { top_k: 1 } }"
        )
        + layer("more", "Convolution", "x", field_of(3, 1, {}))
    )
    assert compared(Net(parse_net(text), device="cpu")) == ["l", "c", "more"]


def test_the_command(made, tmp_path, capsys):
    """From a folder of pictures to a file, what it prints, and what info says of the file."""
    from PIL import Image

    model, weights, _, _ = made
    folder = tmp_path / "pictures"
    folder.mkdir()
    words = ["quantize", str(model), str(weights), "--images", str(folder), "--out", str(tmp_path / "o.caffemodel")]
    assert main(words) == 1
    assert "has no pictures" in capsys.readouterr().err
    rng = np.random.default_rng(0)
    for i in range(3):
        Image.fromarray(rng.integers(0, 256, (30, 30, 3), np.uint8)).save(folder / f"{i}.png")
    more = ["--no-speed", "--drop", "0.5", "--float32", "a", "--scale", "1/255", "--ranges", "percentile"]
    assert main([*words, *more]) == 0
    out = capsys.readouterr().out
    assert "asked for" in out
    assert "4 of 5 layers in 8 bits" in out
    assert "allowed: 0.5" in out
    assert main(["info", str(model), str(tmp_path / "o.caffemodel")]) == 0
    out = capsys.readouterr().out
    assert "in 8 bits: 4 of 5 layers that can: b, c, d, f" in out
    assert "in float32, asked for: a" in out
    assert main(["info", "--plan", str(model), str(tmp_path / "o.caffemodel")]) == 0
    out = capsys.readouterr().out
    assert "to 8 bits" in out
    assert "depthwiseint8" in out
    assert main([*words, *more, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["layers"]["a"]["kind"] == "float32"
    assert main([*words[:-1], str(tmp_path / "o.h5")]) == 1
    assert "HDF5 has no place for them" in capsys.readouterr().err


SHAPES = ROOT / "examples" / "shapes"


@pytest.fixture
def scene():
    """The detector of examples/shapes, its picture, and what it finds there as labels: (label, corners)."""
    detector = Detector(str(SHAPES / "deploy.prototxt"), str(SHAPES / "shapes.caffemodel"), device="cpu")
    picture = str(SHAPES / "scene.png")
    detections = detector(picture)
    return (
        detector,
        picture,
        [(int(label), *map(float, box)) for label, box in zip(detections.labels, detections.boxes)],
    )


def test_labels_say_what_is_lost(scene):
    detector, picture, truth = scene
    scales = boxpresso.quantize(detector, [picture], truth=[truth], speed=False)
    assert scales.notes["mean_precision"] == 1
    assert scales.notes["lost"] == 0
    assert scales.notes["lost_of"] == "mAP against the labels"
    assert 0 < scales.notes["differences"][0] < 0.3
    # Labels of which the net finds a part: what is lost is counted from there.
    label, left, top, right, bottom = truth[0]
    more = [*truth, (label, left + 60, top + 60, right + 60, bottom + 60)]
    again = boxpresso.quantize(detector, [picture], truth=[more], speed=False)
    detections = detector(picture, threshold=detector.settings.threshold / 10)
    assert again.notes["mean_precision"] == pytest.approx(evaluate([detections], [more]).mean)
    assert again.notes["mean_precision"] < 1
    # Ranges that are much too wide leave next to nothing: with labels, too, that is lost, and told of each picture.
    net = detector.decoder.nets[0]
    wide = replace(
        scales, ranges={name: [(1000 * low, 1000 * high) for low, high in r] for name, r in scales.ranges.items()}
    )
    worse = Quantizer(net, detector, [picture], "minmax", None, lambda line: None, [truth]).lost(wide)
    net.quantize(wide)
    detections = detector(picture, threshold=detector.settings.threshold / 10)
    assert worse.value == pytest.approx(1 - evaluate([detections], [truth]).mean)
    assert worse.value > 0.1
    assert worse.pictures[0] > 0.3


def test_labels_that_say_nothing(scene, made):
    detector, picture, truth = scene
    with pytest.raises(ModelError, match="labels are of 2 pictures, and 1 are given"):
        boxpresso.quantize(detector, [picture], truth=[truth, truth])
    with pytest.raises(ModelError, match="the labels have no object in any of the pictures"):
        boxpresso.quantize(detector, [picture], truth=[[]])
    with pytest.raises(ModelError, match="labels are of boxes in pictures"):
        boxpresso.quantize(made[2], [{"x": made[3][0]}], truth=[truth])


def test_the_command_with_labels_and_a_report(scene, tmp_path, capsys):
    """The page has a row for each layer, and the picture with its boxes."""
    _, picture, truth = scene
    names = (SHAPES / "labels.txt").read_text().split()
    folder = tmp_path / "voc"
    for part in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (folder / part).mkdir(parents=True)
    shutil.copy(picture, folder / "JPEGImages" / "0.png")
    corners = [dict(zip(("xmin", "ymin", "xmax", "ymax"), map(round, row[1:]))) for row in truth]
    objects = "".join(
        f"<object><name>{names[row[0]]}</name><bndbox>{''.join(f'<{k}>{v}</{k}>' for k, v in box.items())}</bndbox></object>"
        for row, box in zip(truth, corners)
    )
    size = "<size><width>512</width><height>512</height><depth>3</depth></size>"
    (folder / "Annotations" / "0.xml").write_text(f"<annotation><filename>0.png</filename>{size}{objects}</annotation>")
    (folder / "ImageSets" / "Main" / "val.txt").write_text("0\n")
    page, out = tmp_path / "int8.html", tmp_path / "o.caffemodel"
    words = ["quantize", str(SHAPES / "deploy.prototxt"), str(SHAPES / "shapes.caffemodel"), "--out", str(out)]
    assert main(words) == 1
    assert "give either --images, a folder of pictures, or --data" in capsys.readouterr().err
    labels = ["--labels", str(SHAPES / "labels.txt")]
    assert (
        main(
            [
                *words,
                "--data",
                str(folder),
                *labels,
                "--set",
                "val",
                "--html",
                str(page),
                "--float32",
                "conv1",
                "--no-speed",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "of mAP against the labels, 1 pictures" in said
    assert "largest differences: 0.png 0." in said
    text = page.read_text()
    net = Net(str(SHAPES / "deploy.prototxt"), str(out), device="cpu")
    assert all(f"<td>{name}</td>" in text for name in net.quantization.layers)
    assert "asked for" in text
    assert text.count("data:image/jpeg") == 1


PHOTOS = SHARED / "images"


@pytest.mark.slow
@pytest.mark.skipif(not PHOTOS.is_dir(), reason="../shared/images is not here")
def test_faces_are_found_again(tmp_path):
    """Every face of the float net at an overlap of 0.7."""
    home = SHARED / "models" / "ultralight_face"
    model, weights = home / "RFB-320.prototxt", home / "RFB-320.caffemodel"
    photos = sorted(str(p) for p in PHOTOS.glob("*.jpg"))
    plain = Detector(str(model), str(weights), device="cpu")
    scales = boxpresso.quantize(plain, photos, speed=False)
    assert scales.notes["lost"] <= 0.005
    assert len(scales.chosen) > len(scales.layers) / 2
    boxpresso.quantize.save(plain.decoder.nets[0], scales, tmp_path / "w.caffemodel")
    narrow = Detector(str(model), str(tmp_path / "w.caffemodel"), device="cpu")
    count = 0
    for photo in photos:
        faces, again = plain(photo), narrow(photo)
        for one in faces.boxes[faces.scores >= 0.7]:
            low, high = np.maximum(one[:2], again.boxes[:, :2]), np.minimum(one[2:], again.boxes[:, 2:])
            shared = np.prod(np.maximum(high - low, 0), 1)
            union = np.prod(one[2:] - one[:2]) + np.prod(again.boxes[:, 2:] - again.boxes[:, :2], 1) - shared
            assert (shared / union).max(initial=0) >= 0.7, photo
            count += 1
    assert count > 10


def test_a_cascade_is_refused(made):
    class Cascade(Detector):
        def __init__(self, nets):
            self.decoder = type("D", (), {"nets": nets})()

    with pytest.raises(ModelError, match="a cascade of 2 nets"):
        boxpresso.quantize(Cascade([made[2], made[2]]), [np.zeros((5, 5, 3), np.uint8)])


def test_the_room_is_called_as_its_function():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert callable(boxpresso.quantize)
        assert boxpresso.quantize.quantize.__name__ == "quantize"
