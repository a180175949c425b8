"""Old nets and solvers against the upgrades that Caffe's own tools wrote, and rules of those tools one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from shared import need

from boxpresso import Net
from boxpresso.proto import (
    BoxpressoWarning,
    ModelError,
    NetParameter,
    SolverParameter,
    parse_net,
    parse_solver,
    parse_text,
    read_net,
    to_text,
    upgrade_net,
)
from boxpresso.proto.boxpresso_pb2 import V1LayerParameter
from boxpresso.proto.upgrade import layer_type_of_v0, layer_type_of_v1


def today(text: str) -> NetParameter:
    return parse_text(text, NetParameter(), strict=True)


@pytest.mark.parametrize("age", ["v0", "v1"])
def test_recorded_net(age: str) -> None:
    expected = need(f"golden/io/upgrade_{age}_out.prototxt")
    upgraded = read_net(need(f"golden/io/upgrade_{age}_in.prototxt"), strict=True)
    assert upgraded == today(expected.read_text())
    assert to_text(upgraded) == expected.read_text()


def test_recorded_solver() -> None:
    solver = parse_solver(need("golden/io/upgrade_solver_in.prototxt").read_bytes(), strict=True)
    expected = need("golden/io/upgrade_solver_out.prototxt").read_text()
    assert solver == parse_text(expected, SolverParameter())


def test_a_net_of_today_is_left_alone_and_copied() -> None:
    net = today('name: "n" layer { name: "r" type: "ReLU" bottom: "x" top: "x" loss_weight: 0.5 phase: TEST }')
    upgraded = upgrade_net(net)
    assert upgraded == net
    upgraded.layer[0].name = "other"
    assert net.layer[0].name == "r"


# -- V0 ----------------------------------------------------------------------------------------------------------------


def test_v0_padding_goes_into_what_it_feeds_and_keeps_names() -> None:
    net = parse_net("""
        input: "x" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
        layers { layer { name: "p" type: "padding" pad: 3 } bottom: "x" top: "padded" }
        layers { layer { name: "a" type: "conv" num_output: 2 pad: 0 biasterm: false } bottom: "padded" top: "a" }
        layers { layer { name: "b" type: "pool" pool: AVE kernelsize: 3 } bottom: "padded" top: "b" }
        layers { layer { name: "c" type: "relu" } bottom: "a" top: "a" }""")
    assert [layer.name for layer in net.layer] == ["input", "a", "b", "c"]
    a, b = net.layer[1:3]
    assert (list(a.bottom), list(a.convolution_param.pad), a.convolution_param.bias_term) == (["x"], [3], False)
    assert (list(b.bottom), b.pooling_param.pad, b.pooling_param.pool) == (["x"], 3, b.pooling_param.AVE)


@pytest.mark.parametrize(
    ("layers", "says"),
    [
        ('layers { layer { name: "r" type: "relu" } bottom: "padded" top: "r" }', "only conv and pool"),
        ('layers { layer { name: "q" type: "relu" } bottom: "pade" top: "q" }', "did you mean 'padded'"),
        ('layers { layer { name: "q" type: "covn" } bottom: "x" top: "q" }', "did you mean 'conv'"),
    ],
)
def test_v0_errors(layers: str, says: str) -> None:
    padding = 'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "padded" }'
    with pytest.raises(ModelError, match=says):
        parse_net('input: "x" input_dim: [1, 1, 1, 1]' + padding + layers)


def test_v0_data_layers() -> None:
    net = parse_net("""
        layers { layer { name: "d" type: "images" source: "list.txt" batchsize: 4 new_height: 256 new_width: 255
                         shuffle_images: true rand_skip: 3 scale: 0.25 meanfile: "m" cropsize: 227 mirror: true }
                 top: "d" top: "l" }
        layers { layer { name: "w" type: "window_data" source: "s" batchsize: 2 det_fg_threshold: 0.6
                         det_bg_threshold: 0.1 det_fg_fraction: 0.3 det_context_pad: 16 det_crop_mode: "square" }
                 top: "w" }
        layers { layer { name: "h" type: "hdf5_data" source: "h.txt" batchsize: 8 } top: "h" }
        layers { layer { name: "o" type: "hdf5_output" hdf5_output_param { file_name: "out" } } bottom: "h" }
        layers { layer { name: "i" type: "infogain_loss" source: "gain" } bottom: "d" bottom: "l" }
        layers { layer { name: "c" type: "concat" concat_dim: 2 } bottom: "d" bottom: "w" top: "c" }""")
    expected = today("""
        layer { name: "d" type: "ImageData" top: "d" top: "l"
                transform_param { scale: 0.25 mirror: true crop_size: 227 mean_file: "m" }
                image_data_param { source: "list.txt" batch_size: 4 rand_skip: 3 shuffle: true
                                   new_height: 256 new_width: 255 } }
        layer { name: "w" type: "WindowData" top: "w"
                window_data_param { source: "s" batch_size: 2 fg_threshold: 0.6 bg_threshold: 0.1 fg_fraction: 0.3
                                    context_pad: 16 crop_mode: "square" } }
        layer { name: "h" type: "HDF5Data" top: "h" hdf5_data_param { source: "h.txt" batch_size: 8 } }
        layer { name: "o" type: "HDF5Output" bottom: "h" hdf5_output_param { file_name: "out" } }
        layer { name: "i" type: "InfogainLoss" bottom: "d" bottom: "l" infogain_loss_param { source: "gain" } }
        layer { name: "c" type: "Concat" bottom: "d" bottom: "w" top: "c" concat_param { concat_dim: 2 } }""")
    assert net == expected


def test_v0_keeps_what_stands_beside_it() -> None:
    net = parse_net("""
        debug_info: true state { level: 2 } input: "x" input_shape { dim: 5 }
        layers { layer { name: "a" type: "tanh" } bottom: "x" top: "a" include { phase: TEST } }
        layers { name: "b" type: SIGMOID bottom: "a" top: "b" }""")
    assert net == today("""
        debug_info: true state { level: 2 }
        layer { name: "input" type: "Input" top: "x" input_param { shape { dim: 5 } } }
        layer { name: "a" type: "TanH" bottom: "x" top: "a" include { phase: TEST } }
        layer { name: "b" type: "Sigmoid" bottom: "a" top: "b" }""")


def test_v0_parameter_that_the_type_does_not_take_is_dropped_with_a_warning() -> None:
    with pytest.warns(BoxpressoWarning, match=r"layer 'r' of type 'relu' does not take kernelsize, stride"):
        net = parse_net('layers { layer { name: "r" type: "relu" kernelsize: 3 stride: 2 } top: "r" }')
    assert net == today('layer { name: "r" type: "ReLU" top: "r" }')


# -- V1 ----------------------------------------------------------------------------------------------------------------


def test_v1_parallel_lists_of_different_length() -> None:
    net = parse_net("""
        layers { name: "c" type: CONVOLUTION param: "w" blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0
                 weight_decay: 0.5 blob_share_mode: STRICT blob_share_mode: PERMISSIVE exclude { stage: "s" } }""")
    expected = today("""
        layer { name: "c" type: "Convolution" exclude { stage: "s" }
                param { name: "w" share_mode: STRICT lr_mult: 1 decay_mult: 1 }
                param { share_mode: PERMISSIVE lr_mult: 2 decay_mult: 0 }
                param { decay_mult: 0.5 } }""")
    assert net == expected


def test_v1_every_type_has_a_name() -> None:
    names = {
        "ABSVAL": "AbsVal", "ARGMAX": "ArgMax", "BNLL": "BNLL", "CONTRASTIVE_LOSS": "ContrastiveLoss",
        "DECONVOLUTION": "Deconvolution", "EUCLIDEAN_LOSS": "EuclideanLoss", "EXP": "Exp", "HDF5_DATA": "HDF5Data",
        "HDF5_OUTPUT": "HDF5Output", "IM2COL": "Im2col", "IMAGE_DATA": "ImageData", "INNER_PRODUCT": "InnerProduct",
        "LRN": "LRN", "MEMORY_DATA": "MemoryData", "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
        "MVN": "MVN", "NONE": "", "RELU": "ReLU", "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
        "SOFTMAX_LOSS": "SoftmaxWithLoss", "TANH": "TanH", "WINDOW_DATA": "WindowData", "THRESHOLD": "Threshold",
        "DUMMY_DATA": "DummyData", "PRIOR_BOX": "PriorBox", "DETECTION_OUTPUT": "DetectionOutput",
    }  # fmt: skip
    for old, new in names.items():
        assert layer_type_of_v1(V1LayerParameter.LayerType.Value(old)) == new
    assert all(layer_type_of_v1(number) or name == "NONE" for name, number in V1LayerParameter.LayerType.items())
    assert layer_type_of_v0("innerproduct") == "InnerProduct"
    with pytest.raises(ModelError, match="12345"):
        layer_type_of_v1(12345)


def test_v1_fields_that_only_forks_have_are_all_taken_over() -> None:
    v1 = {field.name for field in V1LayerParameter.DESCRIPTOR.fields}
    moved = v1 - {"type", "other_type", "others", "param", "blob_share_mode", "blobs_lr", "weight_decay", "layer"}
    assert moved <= {field.name for field in NetParameter().layer.add().DESCRIPTOR.fields}


def test_v1_messages_that_only_todays_form_has_are_taken_over() -> None:
    own = "smooth_l1_loss_param { sigma: 3 } lstm_param { num_output: 7 } transform_param { mirror: true }"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = parse_net(f'layers {{ name: "a" type: RELU {own} blobs_lr: 2 }}')
    assert net == today(f'layer {{ name: "a" type: "ReLU" {own} param {{ lr_mult: 2 }} }}')
    with pytest.raises(ModelError, match="smooth_l1_loss_param"):
        parse_net(f"layers {{ type: RELU {own} }}", strict=True)
    for odd in ('others { name: "b" }', 'other_type: "B"', "propagate_down: true"):
        with pytest.warns(BoxpressoWarning, match=f"unknown, skipped: '{odd.split()[0].rstrip(':')}'"):
            assert parse_net(f'layers {{ name: "a" type: RELU {odd} }}') == today('layer { name: "a" type: "ReLU" }')


def test_v1_types_of_forks_are_kept_for_the_net_to_refuse() -> None:
    text = 'input: "x" input_dim: [1, 3, 4, 4] layers { name: "odd" type: MY_ODD_LAYER bottom: "x" top: "y" }'
    net = parse_net(text)
    assert net.layer[1].type == "MyOddLayer"
    with pytest.raises(ModelError, match="layer 'odd' has the unknown type 'MyOddLayer'"):
        Net(net, device="cpu")
    with pytest.raises(ModelError, match="'type' has no value 'MY_ODD_LAYER'"):
        parse_net(text, strict=True)
    # a type that only today's form has, in the old one: the words are the same
    assert parse_net("layers { type: CTC_LOSS }") == today('layer { type: "CtcLoss" }')
    with warnings.catch_warnings():  # of a type that is given twice the last one counts, whichever is unknown
        warnings.simplefilter("ignore")
        assert parse_net("layers { type: MY_ODD_LAYER type: RELU }").layer[0].type == "ReLU"
        assert parse_net("layers { type: RELU type: MY_ODD_LAYER }").layer[0].type == "MyOddLayer"


def test_v1_transforms_move_only_where_a_data_layer_needs_it() -> None:
    untouched = 'layers { name: "d" type: DATA data_param { source: "s" } transform_param { scale: 2 } }'
    assert parse_net(untouched) == today(
        'layer { name: "d" type: "Data" transform_param { scale: 2 } data_param { source: "s" } }'
    )
    # one needs it: Caffe then writes both messages into every layer that reads data
    moved = untouched + 'layers { name: "w" type: WINDOW_DATA window_data_param { mirror: true crop_size: 5 } }'
    moved += 'layers { name: "i" type: IMAGE_DATA }'
    assert parse_net(moved) == today("""
        layer { name: "d" type: "Data" transform_param { scale: 2 } data_param { source: "s" } }
        layer { name: "w" type: "WindowData" transform_param { mirror: true crop_size: 5 } window_data_param { } }
        layer { name: "i" type: "ImageData" transform_param { } image_data_param { } }""")


def test_both_ages_in_one_net_is_refused() -> None:
    with pytest.raises(ModelError, match="both 'layer'"):
        parse_net('layer { name: "a" } layers { name: "b" }')


# -- input fields, BatchNorm, solver -----------------------------------------------------------------------------------


def test_input_shape_wins_over_input_dim_and_comes_first() -> None:
    net = parse_net("""
        layer { name: "r" type: "ReLU" bottom: "a" top: "a" }
        input: "a" input: "b" input_shape { dim: 1 dim: 2 dim: 3 } input_shape { dim: 7 } input_dim: 9""")
    assert net == today("""
        layer { name: "input" type: "Input" top: "a" top: "b"
                input_param { shape { dim: 1 dim: 2 dim: 3 } shape { dim: 7 } } }
        layer { name: "r" type: "ReLU" bottom: "a" top: "a" }""")


def test_input_dim_of_two_inputs() -> None:
    net = parse_net('input: "a" input: "b" input_dim: [1, 2, 3, 4, 5, 6, 7, 8]')
    assert [list(shape.dim) for shape in net.layer[0].input_param.shape] == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_an_input_layer_without_a_top_beside_inputs_is_passed_over() -> None:
    """As OpenCV does, for whose age nets such files are written; Caffe refuses the layer."""
    text = """input: "data" input_shape { dim: 1 dim: 3 dim: 4 dim: 4 }
        layer { name: "data" type: "Input" input_param { shape { dim: 9 } } } layer { name: "r" type: "ReLU" bottom: "data" top: "r" }"""
    with pytest.warns(BoxpressoWarning, match="Input layer 'data' gives no top, beside input data: passed over"):
        net = parse_net(text)
    assert [(layer.type, list(layer.top)) for layer in net.layer] == [("Input", ["data"]), ("ReLU", ["r"])]
    assert list(net.layer[0].input_param.shape[0].dim) == [1, 3, 4, 4]


def test_input_without_a_size_is_taken_out() -> None:
    assert parse_net('name: "n" input: "data"') == today('name: "n"')


@pytest.mark.parametrize("sizes", ["input_dim: [1, 2, 3]", "input_shape { dim: 1 } input_shape { dim: 1 }"])
def test_sizes_that_do_not_fit_the_inputs(sizes: str) -> None:
    with pytest.raises(ModelError, match="1 input but"):
        parse_net('input: "a"' + sizes)


def test_old_batch_norm_learns_nothing() -> None:
    net = parse_net("""
        layer { type: "BatchNorm" param { name: "m" lr_mult: 1 } param { decay_mult: 1 } param { } }
        layer { type: "BatchNorm" param { lr_mult: 1 } }""")
    assert net == today("""
        layer { type: "BatchNorm" param { name: "m" lr_mult: 0 decay_mult: 0 } param { lr_mult: 0 decay_mult: 0 }
                param { lr_mult: 0 decay_mult: 0 } }
        layer { type: "BatchNorm" param { lr_mult: 1 } }""")


@pytest.mark.parametrize(
    ("old", "new"),
    [("SGD", "SGD"), ("NESTEROV", "Nesterov"), ("ADAGRAD", "AdaGrad"), ("RMSPROP", "RMSProp"),
     ("ADADELTA", "AdaDelta"), ("ADAM", "Adam"), ("1", "Nesterov")],
)  # fmt: skip
def test_solver_types(old: str, new: str) -> None:
    solver = parse_solver(f"base_lr: 1 solver_type: {old}")
    assert solver.type == new
    assert not solver.HasField("solver_type")


def test_solver_with_both_types_is_refused_and_its_nets_are_upgraded() -> None:
    with pytest.raises(ModelError, match="both 'solver_type'"):
        parse_solver('solver_type: SGD type: "SGD"')
    solver = parse_solver("""net_param { layers { type: RELU } } test_net_param { input: "a" input_dim: [1,2,3,4] }""")
    assert solver.net_param.layer[0].type == "ReLU"
    assert solver.test_net_param[0].layer[0].type == "Input"


@pytest.mark.parametrize("kind", ["Pooling", "Convolution"])
@pytest.mark.parametrize("size", [-1, 1 << 32])
def test_a_shape_of_sizes_that_are_none(kind: str, size: int) -> None:
    with pytest.raises(ModelError, match=rf"layer 'l': stride_shape must be whole numbers .* got \[{size}\]"):
        parse_net(f'layer {{ name: "l" type: "{kind}" {kind.lower()}_param {{ stride_shape {{ dim: {size} }} }} }}')


HOLES = [
    ("hole: 2", [2], []), ("hole_h: 3 hole_w: 2", [], [3, 2]), ("filter_stride: 2", [2], []),
    ("filter_stride_h: 1 filter_stride_w: 2", [], [1, 2]), ("dilation_h: 3 dilation_w: 2", [], [3, 2]),
]  # fmt: skip
HOLED = 'name: "c" type: %s bottom: "x" top: "y" convolution_param { num_output: 1 bias_term: false %s'


@pytest.mark.parametrize(("text", "both", "each"), HOLES)
@pytest.mark.parametrize("form", ["layer", "layers"])
def test_holes_of_deeplab_and_filter_strides_of_parsenet_are_dilation(form, text, both, each) -> None:
    kind = '"Convolution"' if form == "layer" else "CONVOLUTION"
    p = parse_net(f"{form} {{ {HOLED % (kind, text)} }} }}", strict=True).layer[0].convolution_param
    assert (list(p.dilation), [getattr(p, f"dilation_{side}") for side in "hw" if each]) == (both, each)
    assert not [name.name for name, _ in p.ListFields() if "hole" in name.name or "filter" in name.name]


@pytest.mark.parametrize(("text", "both", "each"), HOLES)
def test_a_net_with_holes_computes_with_them(text, both, each) -> None:
    down, across = each or both * 2
    image, weights = np.random.default_rng(3).standard_normal((2, 9, 9)), np.arange(1.0, 7).reshape(2, 3)
    net = Net(parse_net(
        f'layer {{ name: "i" type: "Input" top: "x" input_param {{ shape {{ dim: [2, 1, 9, 9] }} }} }}'
        f"layer {{ {HOLED % (chr(34) + 'Convolution' + chr(34), text)} kernel_h: 2 kernel_w: 3 }} }}"
    ), phase="TEST", device="cpu")  # fmt: skip
    net.params["c"][0].data[0, 0] = weights
    out = net.forward(x=image[:, None])["y"]
    wanted = np.zeros((2, 9 - down, 9 - 2 * across))
    for i, j in np.ndindex(2, 3):
        wanted += weights[i, j] * image[:, i * down : i * down + 9 - down, j * across : j * across + 9 - 2 * across]
    np.testing.assert_allclose(out[:, 0], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hole: 2 dilation: 2", "has both dilation and hole"),
        ("hole: 2 filter_stride_h: 2", "has both hole and filter_stride"),
        ("hole_h: 2", "hole, or hole_h and hole_w, is wanted; got hole_h"),
        ("hole: 2 hole_h: 2 hole_w: 2", "is wanted; got hole, hole_h, hole_w"),
    ],
)
def test_holes_that_say_two_things(text, says) -> None:
    with pytest.raises(ModelError, match=f"layer 'c': .*{says}"):
        parse_net(f"layer {{ {HOLED % (chr(34) + 'Convolution' + chr(34), text)} }} }}")
