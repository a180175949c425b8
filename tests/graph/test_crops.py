"""Crop without crop_param: the offset that aligns coordinates, where BVLC's 0 would shift the picture."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest
from shared import SHARED

from boxpresso import Net
from boxpresso.graph.crops import align_crops
from boxpresso.proto import BoxpressoWarning, LayerError, parse_net, read_net

HED = SHARED / "corpus" / "s9xie+hed" / "examples" / "hed" / "deploy.prototxt"
INPUT = 'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 1 dim: 1 dim: {} dim: {} }} }} }}'
CONV = 'layer {{ name: "{0}" type: "Convolution" bottom: "{1}" top: "{0}" convolution_param {{ num_output: 1 {2} }} }}'
UP = 'layer {{ name: "{0}" type: "Deconvolution" bottom: "{1}" top: "{0}" convolution_param {{ num_output: 1 {2} }} }}'
POOL = 'layer {{ name: "{0}" type: "Pooling" bottom: "{1}" top: "{0}" pooling_param {{ kernel_size: 2 stride: 2 }} }}'
CLIP = 'layer { name: "s" type: "Clip" bottom: "c" top: "s" clip_param { min: -9 max: 9 } }'
CROP = 'layer {{ name: "cut" type: "Crop" bottom: "{}" bottom: "x" top: "y" {} }}'


def net_of(*layers: str, size: tuple[int, int] = (20, 24)) -> str:
    return "\n".join((INPUT.format(*size), *layers))


def quiet(text: str) -> Net:
    """A net that is built without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Net(parse_net(text), device="cpu")


def centre(net: Net) -> np.ndarray:
    """The same by the picture: a convolution whose only weight is in the middle of its window moves nothing."""
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = 0
            if blob.data.ndim == 4:
                blob.data[0, 0, blob.shape[2] // 2, blob.shape[3] // 2] = 1
    x = np.random.default_rng(2).normal(size=net.blobs["x"].shape).astype(np.float32)
    return net.forward(x=x)["y"] - x


@pytest.mark.parametrize(
    ("layers", "last", "offset"),
    [
        ([CONV.format("c", "x", "kernel_size: 3 pad: 10")], "c", [9]),
        ([CONV.format("c", "x", "kernel_size: 3 pad: 10 dilation: 2")], "c", [8]),
        ([CONV.format("c", "x", "kernel_size: 3 pad: 10").replace("Convolution", "ConvolutionDepthwise")], "c", [9]),
        ([CONV.format("c", "x", "kernel_size: 3 pad: 10"), CLIP], "s", [9]),
        ([CONV.format("c", "x", "kernel_size: 1 kernel_size: 5 pad: 3 pad: 4")], "c", [3, 2]),
        ([CONV.format("c", "x", "kernel_h: 1 kernel_w: 5 pad_h: 3 pad_w: 4")], "c", [3, 2]),
        ([CONV.format("c", "x", "kernel_size: 3 pad: 10"), CONV.format("d", "c", "kernel_size: 5 pad: 4")], "d", [11]),
    ],
)  # fmt: skip
def test_the_picture_is_where_it_was(layers, last, offset):
    text = net_of(*layers, CROP.format(last, ""))
    with pytest.warns(
        BoxpressoWarning, match=r"'cut' \(offset: \d+( offset: \d+)?\).*crop_param \{ offset: N \}"
    ) as said:
        net = Net(parse_net(text), device="cpu")
    assert len(said) == 1
    assert list(net.layer_dict["cut"].param.crop_param.offset) == offset
    assert np.abs(centre(net)).max() == 0
    offsets = " ".join(f"offset: {n}" for n in offset)
    assert np.abs(centre(quiet(net_of(*layers, CROP.format(last, f"crop_param {{ {offsets} }}"))))).max() == 0


def test_pooled_and_enlarged_again():
    """A pixel of the pooled map is in the middle of its 2 x 2, which the bilinear kernel of 4 spreads around it."""
    layers = (
        CONV.format("c", "x", "kernel_size: 1 pad: 6"),
        POOL.format("p", "c"),
        UP.format("u", "p", "kernel_size: 4 stride: 2"),
    )
    with pytest.warns(BoxpressoWarning, match=r"'cut' \(offset: 7\)"):
        net = Net(parse_net(net_of(*layers, CROP.format("u", ""), size=(16, 16))), device="cpu")
    net.params["c"][0].data[...] = 1
    line = np.array([1, 3, 3, 1]) / 4
    net.params["u"][0].data[...] = line[:, None] * line
    for name in "cu":
        net.params[name][1].data[...] = 0
    x = np.arange(16.0)[:, None] + np.zeros((1, 1, 16, 16))
    assert np.abs(net.forward(x=x)["y"] - x - 0.5)[..., 1:-1, 1:-1].max() < 1e-5  # the maximum of each two rows


@pytest.mark.parametrize(
    "layers",
    [
        (CONV.format("c", "x", "kernel_size: 3 pad: 10"), CROP.format("c", "crop_param { }")),  # it says so
        (CONV.format("c", "x", "kernel_size: 3 pad: 10"), CROP.format("c", "crop_param { offset: 0 }")),
        (CONV.format("c", "x", "kernel_size: 3 pad: 10"), CROP.format("c", "crop_param { axis: 2 }")),
        (CONV.format("c", "x", "kernel_size: 3 pad: 1"), CROP.format("c", "")),  # 0 is right
        (POOL.format("p", "x"), UP.format("u", "p", "kernel_size: 3 stride: 2 pad: 0"), CROP.format("u", "")),  # a half
        (POOL.format("p", "x"), UP.format("u", "p", "kernel_size: 4 stride: 4"), CROP.format("u", "")),  # another scale
        (INPUT.format(30, 30).replace('"x"', '"z"'), CROP.format("z", "")),  # another picture
        ('layer { name: "t" type: "Tile" bottom: "x" top: "t" tile_param { axis: 2 tiles: 2 } }', CROP.format("t", "")),
        ('layer { name: "r" type: "ReLU" bottom: "x" top: "r" }', CROP.format("r", "")),
    ],
)
def test_other_crops_stay_as_they_are(layers):
    net = quiet(net_of(*layers))
    assert not any(net.layer_dict["cut"].param.crop_param.offset)
    text = parse_net(net_of(*layers))
    assert align_crops(text) is text


def test_the_input_net_is_not_changed():
    net = parse_net(net_of(CONV.format("c", "x", "kernel_size: 3 pad: 10"), CROP.format("c", "")))
    before = net.SerializeToString()
    with pytest.warns(BoxpressoWarning):
        assert align_crops(net).SerializeToString() != before
    assert net.SerializeToString() == before


@pytest.mark.skipif(not HED.exists(), reason=f"{HED} is not there")
def test_hed_is_cut_out_of_the_centre():
    """Where each pooling halves its map exactly, what the maps say is the centre: (568 - 500) / 2 and so on."""
    proto = read_net(HED)
    proto.layer[0].input_param.shape[0].dim[2:] = [92, 76]
    with pytest.warns(BoxpressoWarning, match=r"\(offset: 34\).*35.*36.*38.*42"):
        net = Net(proto, device="cpu", lazy=True)
    crops = [layer for layer in net.layers if layer.type == "Crop"]
    cut = [[(a - b) // 2 for a, b in zip(net.blobs[layer.param.bottom[0]].shape[2:], (92, 76))] for layer in crops]
    assert [list(layer.param.crop_param.offset) * 2 for layer in crops] == cut
    assert [each[0] for each in cut] == [34, 35, 36, 38, 42]


def test_wild_nets_take_no_time_and_are_the_layers_to_refuse():
    strides = "".join(
        CONV.format(f"c{i}", f"c{i - 1}" if i else "x", "kernel_size: 3 stride: 536870911") for i in range(2000)
    )
    crops = "".join(
        f'layer {{ name: "k{i}" type: "Crop" bottom: "c{i}" bottom: "x" top: "k{i}" }}' for i in range(2000)
    )
    net = parse_net(net_of(strides, crops))
    start = time.process_time()
    assert align_crops(net) is net
    assert time.process_time() - start < 5
    for wild in ("kernel_size: 0", "kernel_size: 3 stride: 0", "kernel_size: 3 kernel_size: 3 kernel_size: 3"):
        with pytest.raises(LayerError, match="'c'"):
            quiet(net_of(CONV.format("c", "x", wild), CROP.format("c", "")))


def test_auto_crop_is_the_older_crop_by_its_name():
    layers = [CONV.format("c", "x", "kernel_size: 3 pad: 10"), CROP.format("c", "").replace('"Crop"', '"AutoCrop"')]
    assert not centre(quiet(net_of(*layers))).any()  # moved by 9, and nothing is said
    alike = quiet(net_of(CLIP.replace('"c"', '"x"'), layers[1].replace('bottom: "c"', 'bottom: "s"')))
    assert alike.blobs["y"].shape == (1, 1, 20, 24)
    with pytest.raises(LayerError, match="AutoCrop layer 'cut': no whole offset"):
        Net(parse_net(net_of(POOL.format("c", "x"), layers[1])), device="cpu")
