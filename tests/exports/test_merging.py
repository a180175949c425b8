"""BatchNorm, Scale and Bias merged into the layers before them: the files written give what the net gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.exports.merging import merge
from boxpresso.proto import parse_net, read_net
from boxpresso.proto.errors import BoxpressoWarning, ModelError
from boxpresso.quantize import quantize, save

INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 7 dim: 7 } } }'
FILL = 'weight_filler { type: "gaussian" std: 0.5 }'
NET = (
    INPUT
    + f"""
layer {{ name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param {{ num_output: 6 kernel_size: 3 bias_term: false {FILL} }} }}
layer {{ name: "a/bn" type: "BatchNorm" bottom: "a" top: "a/bn" }}
layer {{ name: "a/scale" type: "Scale" bottom: "a/bn" top: "a/scale" scale_param {{ bias_term: true }} }}
layer {{ name: "a/relu" type: "ReLU" bottom: "a/scale" top: "a/scale" }}
layer {{ name: "b" type: "DepthwiseConvolution" bottom: "a/scale" top: "b" convolution_param {{ num_output: 6 group: 6 kernel_size: 3 {FILL} }} }}
layer {{ name: "b/bias" type: "Bias" bottom: "b" top: "b" }}
layer {{ name: "alone" type: "BatchNorm" bottom: "b" top: "alone" }}
layer {{ name: "d" type: "Deconvolution" bottom: "alone" top: "d" convolution_param {{ num_output: 4 group: 2 kernel_size: 2 stride: 2 {FILL} }} }}
layer {{ name: "d/bn" type: "BatchNorm" bottom: "d" top: "d" }}
layer {{ name: "e" type: "InnerProduct" bottom: "d" top: "e" inner_product_param {{ num_output: 5 transpose: true {FILL} }} }}
layer {{ name: "e/scale" type: "Scale" bottom: "e" top: "e" }}
layer {{ name: "read_twice" type: "Convolution" bottom: "x" top: "raw" convolution_param {{ num_output: 3 kernel_size: 1 {FILL} }} }}
layer {{ name: "stays" type: "BatchNorm" bottom: "raw" top: "normed" }}
layer {{ name: "sum" type: "Eltwise" bottom: "raw" bottom: "normed" top: "sum" }}
"""
)


def filled(net: str, path: Path) -> Path:
    """Random weights, with variances above 0."""
    made, rng = Net(parse_net(net), device="cpu", seed=1), np.random.default_rng(5)
    for layer in made.layers:
        for i, blob in enumerate(layer.blobs):
            values = rng.normal(size=blob.shape)
            if layer.type == "BatchNorm":
                values = [values, rng.uniform(0.5, 3, blob.shape), np.full(blob.shape, 2)][i]
            blob.data[...] = values
    made.save(path)
    return path


def test_merged_files_give_the_same(tmp_path, capsys):
    before = filled(NET, tmp_path / "a.caffemodel")
    (tmp_path / "a.prototxt").write_text(NET)
    names = [str(tmp_path / name) for name in ("a.prototxt", "a.caffemodel", "b.caffemodel")]
    assert main(["finish", *names, "--merge-batchnorm", str(tmp_path / "b.prototxt")]) == 0
    assert "6 layers are merged" in capsys.readouterr().out
    layers = [layer.name for layer in read_net(tmp_path / "b.prototxt").layer]
    assert layers == ["x", "a", "a/relu", "b", "d", "e", "read_twice", "stays", "sum"]
    x = np.random.default_rng(6).normal(size=(2, 4, 7, 7))
    for optimize in (True, False):
        old, new = (
            Net(model, weights, device="cpu", optimize=optimize)
            for model, weights in ((parse_net(NET), before), (tmp_path / "b.prototxt", tmp_path / "b.caffemodel"))
        )
        assert not new.copied[0].missing
        assert not new.copied[0].unused
        expected, made = old.forward(x=x), new.forward(x=x)
        assert sorted(expected) == sorted(made) == ["e", "sum"]
        for name, values in expected.items():
            np.testing.assert_allclose(made[name], values, rtol=2e-4, atol=2e-4 * np.abs(values).max())


def test_the_shipped_ssd(tmp_path):
    shapes = ROOT / "examples" / "shapes"
    gone = merge(
        shapes / "deploy.prototxt", shapes / "shapes.caffemodel", tmp_path / "b.prototxt", tmp_path / "b.caffemodel"
    )
    assert len(gone) == 14
    x = np.random.default_rng(1).integers(0, 255, (1, 3, 128, 128))
    old = Net(shapes / "deploy.prototxt", shapes / "shapes.caffemodel", device="cpu").forward(("conv7", "loc"), data=x)
    new = Net(tmp_path / "b.prototxt", tmp_path / "b.caffemodel", device="cpu").forward(("conv7", "loc"), data=x)
    for name in ("conv7", "loc"):
        np.testing.assert_allclose(new[name], old[name], atol=1e-4 * np.abs(old[name]).max())


def test_what_cannot_be_merged_is_said(tmp_path, capsys):
    net = INPUT + 'layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }'
    before = filled(net, tmp_path / "a.caffemodel")
    with pytest.raises(ModelError, match="nothing to merge"):
        merge(parse_net(net), before, tmp_path / "b.prototxt", tmp_path / "b.caffemodel")
    assert [p.name for p in tmp_path.iterdir()] == ["a.caffemodel"]
    assert main(["finish", "a", "b", "c", "--merge-batchnorm", "d", "--stds", "1,1,1,1"]) == 1
    assert "looks at no offsets" in capsys.readouterr().err


def test_scales_for_8_bits_that_are_left_behind(tmp_path):
    net = parse_net(NET)
    filled(NET, tmp_path / "a.caffemodel")
    whole = Net(net, tmp_path / "a.caffemodel", device="cpu")
    scales = quantize(
        whole,
        [{"x": np.random.default_rng(i).normal(size=whole.blobs["x"].shape).astype(np.float32)} for i in range(4)],
        speed=False,
    )
    save(whole, scales, tmp_path / "b.caffemodel")
    with pytest.warns(BoxpressoWarning, match=r"c\.caffemodel has no scales for 8 bits"):
        merge(net, tmp_path / "b.caffemodel", tmp_path / "c.prototxt", tmp_path / "c.caffemodel")
    assert Net(tmp_path / "c.prototxt", tmp_path / "c.caffemodel", device="cpu").quantization is None


def test_two_files_of_one_name_are_refused(tmp_path, monkeypatch):
    """One would replace the other without a word."""
    monkeypatch.chdir(tmp_path)
    for one, other in (("m.caffemodel", "m.caffemodel"), ("m", "../" + tmp_path.name + "/m")):
        with pytest.raises(ModelError, match="one would replace the other"):
            merge("deploy.prototxt", "deploy.caffemodel", one, other)
    assert not list(tmp_path.iterdir())


def test_shared_weights_stay(tmp_path):
    """What another layer reads too is not changed."""
    named = 'param { name: "shared" }'
    net = NET.replace('bottom: "b" top: "b" }', f'bottom: "b" top: "b" {named} }}')
    net = net.replace('bottom: "a/bn" top: "a/scale"', f'bottom: "a/bn" top: "a/scale" {named}')
    before = filled(net, tmp_path / "a.caffemodel")
    assert merge(parse_net(net), before, tmp_path / "b.prototxt", tmp_path / "b.caffemodel") == ["d/bn", "e/scale"]
    x = np.random.default_rng(6).normal(size=(2, 4, 7, 7))
    old, new = (
        Net(parse_net(net), before, device="cpu"),
        Net(tmp_path / "b.prototxt", tmp_path / "b.caffemodel", device="cpu"),
    )
    np.testing.assert_allclose(new.forward(x=x)["e"], old.forward(x=x)["e"], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("other", ["bn", "a"])
def test_a_name_that_is_taken_twice(tmp_path, other):
    """A ReLU of the name of a layer that is merged would be gone with it, or take its top's name."""
    text = (
        INPUT
        + f"""
        layer {{ name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param {{ num_output: 2 kernel_size: 1 {FILL} }} }}
        layer {{ name: "bn" type: "BatchNorm" bottom: "a" top: "b" }}
        layer {{ name: "{other}" type: "ReLU" bottom: "b" top: "y" }}"""
    )
    Net(parse_net(text), device="cpu").save(tmp_path / "a.caffemodel")
    with pytest.raises(ModelError, match=f"several layers that are called '{other}', one of which would be merged"):
        merge(parse_net(text), tmp_path / "a.caffemodel", tmp_path / "b.prototxt", tmp_path / "b.caffemodel")
    assert not (tmp_path / "b.prototxt").exists()
