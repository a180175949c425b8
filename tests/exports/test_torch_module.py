"""to_torch: every layer as a module, the state back into a caffemodel, gradients, torch.export's file."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import tiny_ssd
from exported import caffe_case, input_text, net_of, region_case, values
from harness import close
from test_export_layers import MANY, OTHERWISE, WITHOUT, found

from boxpresso import LayerError, ModelError, Net
from boxpresso.proto import parse_net

torch = pytest.importorskip("torch", reason="torch is not installed")
to_torch = importlib.import_module("boxpresso").to_torch  # which imports torch
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.filterwarnings("ignore:ROIAlign layer")]


def compared(net: Net, inputs: dict[str, np.ndarray], tolerance: float = 1e-4) -> None:
    wanted = net.forward(**inputs)
    module = to_torch(net).eval()
    with torch.no_grad():
        got = module(*(torch.tensor(np.ascontiguousarray(inputs[name], np.float32)) for name in module.input_names))
    assert list(got) == list(wanted)
    for name, value in wanted.items():
        close(got[name].numpy(), value, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(value).max(initial=0))))


@pytest.mark.parametrize("path", [*found("caffe", "here"), *found("roi", "here")])
def test_layers(path):
    if (path.parent.name, path.stem) in {("PSRoIAlign", "roi_negative_size_sr0")}:
        pytest.skip(OTHERWISE[path.parent.name, path.stem])
    text, bottoms, params, tops = caffe_case(path) if path.parts[-3] == "caffe" else (*region_case(path), [], 1)
    net = net_of(text, bottoms, params, tops)
    compared(net, {f"bottom_{i}": np.asarray(b, np.float32) for i, b in enumerate(bottoms)})


@pytest.mark.parametrize("name", [name for name in MANY if name != "corners"])
def test_other_layers(name):
    text, bottoms = MANY[name]
    net = net_of(text, bottoms, tops=2 if name == "box groups" else 1)
    compared(net, {f"bottom_{i}": np.asarray(b, np.float32) for i, b in enumerate(bottoms)})


def test_maxima_of_single_numbers():
    """A bottom of one axis has one number for each image."""
    net = net_of("type: 'ArgMax' argmax_param { out_max_val: true }", [np.zeros(3)])
    compared(net, values(net))


def test_places_of_windows_beyond_the_border():
    """As in Caffe a window without a pixel has the place -1."""
    text = "type: 'Pooling' pooling_param { pool: MAX kernel_h: 1 kernel_w: 3 stride: 2 }"
    net = net_of(text, [np.zeros((1, 1, 4, 5))], tops=2)
    x = np.arange(20, dtype=np.float32).reshape(1, 1, 4, 5)
    places = to_torch(net)(torch.from_numpy(x))["top_1"]
    assert places[0, 0].tolist() == [[2, 4], [12, 14], [-1, -1]]


OTHER_BATCHES = {  # layers whose tops depend on the batch in another way than by their first axis, and how many they have
    "type: 'Reshape' reshape_param { shape { dim: 1 } axis: 0 num_axes: 0 }": 1,
    "type: 'Reshape' reshape_param { shape { dim: 1 dim: -1 } }": 1,
    "type: 'Flatten' flatten_param { axis: 0 end_axis: 1 }": 1,
    "type: 'Slice' slice_param { axis: 0 slice_point: 1 }": 2,
    "type: 'Slice' slice_param { axis: 0 }": 2,
}


def test_a_crop_is_as_large_as_what_it_is_compared_with():
    """Here by the batch, which a Permute has made an axis of the image."""
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 dim: 3 dim: 2 } } }
        layer { name: "p" type: "Permute" bottom: "x" top: "p" permute_param { order: 2 order: 3 order: 1 order: 0 } }
        layer { name: "t" type: "Tile" bottom: "p" top: "t" tile_param { axis: 3 tiles: 2 } }
        layer { name: "c" type: "Crop" bottom: "t" bottom: "p" top: "c" crop_param { axis: 3 offset: 1 } }"""
    x = np.random.default_rng(0).standard_normal((3, 2, 3, 2)).astype(np.float32)
    module = to_torch(Net(parse_net(text), device="cpu")).eval()
    permuted = x.transpose(2, 3, 1, 0)
    np.testing.assert_array_equal(module(torch.from_numpy(x))["c"].numpy(), np.tile(permuted, 2)[..., 1:4])


OTHER_SIZES = [
    "type: 'Pooling' pooling_param { pool: MAX kernel_size: 3 stride: 2 }",
    "type: 'Pooling' pooling_param { pool: AVE kernel_h: 3 kernel_w: 2 stride: 2 pad_h: 1 pad_w: 0 }",
    "type: 'Pooling' pooling_param { pool: AVE kernel_size: 2 stride: 3 pad: 1 avg_include_pad: false }",
    "type: 'Pooling' pooling_param { pool: MAX kernel_size: 1 stride: 3 round_mode: FLOOR }",
    "type: 'Pooling' pooling_param { pool: AVE global_pooling: true }",
    "type: 'ShuffleChannel' shuffle_channel_param { group: 2 }",
    "type: 'Convolution' convolution_param { num_output: 2 kernel_size: 3 axis: 2 }",
]
FOR_ONE_SIZE = [
    "type: 'Interp' interp_param { height: 3 width: 5 }",
    "type: 'Reorg' reorg_param { stride: 2 }",
    "type: 'SPP' spp_param { pyramid_height: 2 }",
]


@pytest.mark.parametrize("text", OTHER_SIZES)
def test_another_size(text):
    """A module may be given larger or smaller pictures than the net's."""
    shape = (1, 2, 3, 11) if "axis" in text else (1, 4, 11, 10)
    module = to_torch(net_of(text, [np.zeros(shape)])).eval()
    for size in ((12, 10), (7, 8), (16, 13)):
        other = (2, 5, 3, size[0]) if "axis" in text else (2, 4, *size)
        x = np.random.default_rng(0).standard_normal(other).astype(np.float32)
        net = net_of(text, [x])
        for key, value in module.state_dict().items():
            net.params["layer"][int(key.endswith("bias"))].data[...] = value.numpy()
        close(module(torch.from_numpy(x))["top_0"].detach().numpy(), net.forward(bottom_0=x)["top_0"])


@pytest.mark.parametrize("text", FOR_ONE_SIZE)
def test_a_module_of_one_size_says_so(text):
    net = net_of(text, [np.zeros((1, 4, 4, 4))])
    module = to_torch(net).eval()
    assert module(torch.zeros(3, 4, 4, 4))["top_0"].shape[0] == 3
    with pytest.raises(ModelError, match=r"the module is for \(batch, 4, 4, 4\) here, got \(1, 4, 6, 8\)"):
        module(torch.zeros(1, 4, 6, 8))


def test_priors_are_of_one_size():
    net = tiny_ssd.tiny_net()
    module, x = to_torch(net).eval(), torch.zeros(1, *net.blobs["data"].shape[1:])
    module(x)
    with pytest.raises(ModelError, match="PriorBox layer"):
        module(torch.zeros(1, 3, 64, 96))


@pytest.mark.parametrize("text", OTHER_BATCHES)
def test_another_batch(text):
    net = net_of(text, [np.zeros((2, 2, 3))], tops=OTHER_BATCHES[text])
    module = to_torch(net).eval()
    x = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    wanted, got = net.forward(bottom_0=x), module(torch.from_numpy(x))
    assert {name: value.shape for name, value in wanted.items()} == {name: tuple(v.shape) for name, v in got.items()}
    for name, value in wanted.items():
        close(got[name].numpy(), value)


def test_losses_are_refused_by_name():
    assert "SoftmaxWithLoss" in WITHOUT
    net = net_of('type: "SoftmaxWithLoss"', [np.zeros((2, 3)), np.zeros(2)])
    with pytest.raises(LayerError, match="SoftmaxWithLoss layer 'layer': cannot be a torch module"):
        to_torch(net)


def test_regions_without_the_numbers_of_their_images_are_refused():
    """A module would have taken five of them for four regions."""
    net = net_of(
        'type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 2 }', [np.zeros((5, 3, 8, 8)), np.zeros((5, 4))]
    )
    with pytest.raises(LayerError, match=r"regions \(B, 4\), one of each image without its number"):
        to_torch(net)


def named(*names: str) -> Net:
    """Layers of such names one after another, with a shared weight between the first two."""
    text, before = input_text("x", (2, 4)), "x"
    for i, name in enumerate(names):
        text += (
            f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{before}" top: "y{i}" '
            f"{'param { name: ' + chr(34) + 'w' + chr(34) + ' }' if i < 2 else ''} "
            'inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }'
        )
        before = f"y{i}"
    return Net(parse_net(text), device="cpu", seed=2)


def test_names_are_those_of_the_layers():
    net = named("a", "b/c", "d.e", "d")
    module = to_torch(net)
    assert set(module.state_dict()) == {f"{n}.{k}" for n in ("a", "b/c", "d.e", "d") for k in ("weight", "bias")}
    assert module.get_submodule("a").weight is module.get_submodule("b/c").weight
    assert len(list(module.parameters())) == 7
    compared(net, values(net))
    with pytest.raises(ModelError, match="'forward' has a name that torch's modules have for themselves"):
        to_torch(named("forward"))


def test_state_goes_back(tmp_path):
    from boxpresso.exports import load_state

    net = tiny_ssd.tiny_net()
    module = to_torch(net)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    module.save_caffemodel(tmp_path / "w.caffemodel")
    one = Net(parse_net(tiny_ssd.TINY), tmp_path / "w.caffemodel", device="cpu")
    other = tiny_ssd.tiny_net()
    load_state(other, module.state_dict())
    picture = np.random.default_rng(0).uniform(0, 255, (1, 3, 32, 32)).astype(np.float32)
    for changed in (one, other):
        close(
            changed.forward(data=picture)["found"], module(torch.tensor(picture))["found"].detach().numpy(), atol=1e-5
        )
    state = dict(module.state_dict())
    for wrong, words in (
        ({**state, "z.weight": torch.zeros(1)}, "no parameter 'z.weight'"),
        ({k: v for k, v in state.items() if k != "loc.bias"}, "lacks 'loc.bias'"),
        ({**state, "loc.bias": torch.zeros(9)}, "loc.bias has the shape"),
    ):
        with pytest.raises(ModelError, match=words):
            load_state(other, wrong)


def test_a_name_taken_twice_keeps_its_weights(tmp_path):
    """Caffe takes a name twice: both layers' weights go into a .caffemodel and back, in their order."""
    from boxpresso.exports import load_state

    net = named("u", "v", "w", "w", "u")
    module = to_torch(net)
    assert {"w.weight", "w@2.weight", "u@2.bias"} < set(module.state_dict())
    module.save_caffemodel(tmp_path / "w.caffemodel")
    back, other = named("u", "v", "w", "w", "u"), named("u", "v", "w", "w", "u")
    for changed in (back, other):
        for layer in changed.layers:
            for blob in layer.blobs:
                blob.data[...] = 9
    back.copy_from(tmp_path / "w.caffemodel")
    load_state(other, module.state_dict())
    x = values(net)
    for changed in (back, other):
        np.testing.assert_array_equal(changed.forward(**x)["y4"], net.forward(**x)["y4"])


def test_what_a_module_cannot_be():
    with pytest.raises(LayerError, match=r"the maxima of rows and columns \(pool: RCM\)"):
        to_torch(net_of("type: 'Pooling' pooling_param { pool: RCM kernel_size: 2 }", [np.zeros((1, 1, 4, 4))]))
    with pytest.raises(ModelError, match=r"name 'a\.\.b': a part before or behind a dot is empty"):
        to_torch(named("a..b"))
    text = (
        input_text("x", (1, 3, 1, 1))
        + """
        layer { name: "c" type: "Convolution" bottom: "x" top: "y" param { name: "w" }
                convolution_param { num_output: 3 kernel_size: 1 bias_term: false } }
        layer { name: "p" type: "InnerProduct" bottom: "y" top: "z" param { name: "w" share_mode: PERMISSIVE }
                inner_product_param { num_output: 3 bias_term: false } }"""
    )
    with pytest.raises(LayerError, match=r"'p': .*its weight of shape \(3, 3\) is that of another layer, of shape"):
        to_torch(Net(parse_net(text), device="cpu"))


def test_gradients_are_those_of_the_net():
    rois = np.array([[0, 1, 2, 20, 18], [1, 3, 0, 25, 22]], np.float32)
    text = (
        input_text("x", (2, 3, 16, 16))
        + input_text("rois", (2, 5))
        + """force_backward: true
        layer { name: "c" type: "Convolution" bottom: "x" top: "c"
          convolution_param { num_output: 18 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
        layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" }
        layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
        layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
        layer { name: "p" type: "PSROIPooling" bottom: "c" bottom: "rois" top: "p" propagate_down: true propagate_down: false
          psroi_pooling_param { output_dim: 2 group_size: 3 spatial_scale: 0.5 } }
        layer { name: "f" type: "InnerProduct" bottom: "p" top: "f"
          inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }"""
    )
    net = Net(parse_net(text), device="cpu", seed=1)
    for blob in net.params["b"][1:]:
        blob.data[...] = 1
    x = np.random.default_rng(3).standard_normal((2, 3, 16, 16)).astype(np.float32)
    grad = np.random.default_rng(4).standard_normal((2, 5)).astype(np.float32)
    net.forward(x=x, rois=rois)
    net.clear_param_diffs()
    wanted = net.backward(f=grad)["x"]
    module, tensor = to_torch(net), torch.tensor(x, requires_grad=True)
    (module(tensor, torch.tensor(rois))["f"] * torch.tensor(grad)).sum().backward()
    close(tensor.grad.numpy(), wanted, rtol=1e-4, atol=1e-5)
    for name in ("c", "s", "f"):
        for key, blob in zip(("weight", "bias"), net.params[name]):
            close(getattr(module.get_submodule(name), key).grad.numpy(), blob.diff, rtol=1e-4, atol=1e-4)


def test_dropout_drops_while_training():
    net = net_of('type: "Dropout" dropout_param { dropout_ratio: 0.5 }', [np.ones((4, 50))])
    module, ones = to_torch(net), torch.ones(4, 50)
    assert torch.equal(module.eval()(ones)["top_0"], ones)
    assert set(module.train()(ones)["top_0"].unique().tolist()) == {0.0, 2.0}


def test_a_file_of_torch_export(tmp_path, capsys):
    from boxpresso.cli.main import main

    files = tiny_ssd.write_tiny(tmp_path)
    assert main(["export", *files, str(tmp_path / "net.pt2")]) == 0
    assert "largest difference" in capsys.readouterr().out
    module = torch.export.load(tmp_path / "net.pt2").module()
    picture = np.random.default_rng(0).uniform(0, 255, (1, 3, 32, 32)).astype(np.float32)
    wanted = Net(*files, device="cpu").forward(data=picture)["found"]
    close(module(torch.tensor(picture))["found"].detach().numpy(), wanted, atol=1e-5)


def test_two_layers_of_one_name():
    text = input_text("x", (2, 3)) + 'layer { name: "t" type: "TanH" bottom: "x" top: "y" }'
    net = Net(parse_net(text + 'layer { name: "t" type: "AbsVal" bottom: "y" top: "z" }'), device="cpu")
    compared(net, values(net))
