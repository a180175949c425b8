"""boxpresso.caffe's NetSpec, coord_map and draw, as pycaffe's."""

from __future__ import annotations

import io
import shutil

import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image

from boxpresso import BoxpressoError, ModelError, Net, caffe
from boxpresso.caffe import coord_map, draw, graph_image
from boxpresso.caffe import layers as L
from boxpresso.caffe import params as P
from boxpresso.caffe.coord_map import coord_map_from_to, crop
from boxpresso.caffe.net_spec import assign_proto
from boxpresso.caffe.proto import caffe_pb2
from boxpresso.proto import parse_net


def test_a_net_with_pycaffes_freedoms():
    n = caffe.NetSpec()
    n.data, n.label = L.DummyData(shape=[dict(dim=[2, 3]), dict(dim=[2])], ntop=2)
    n.fc = L.InnerProduct(n.data, num_output=4, bias_term=0)
    n.fc = L.InnerProduct(n.data, num_output=2, bias_term=0)  # again: the later one counts
    n["relu/1"] = L.ReLU(n.fc, in_place=True)
    n.extra = L.Layer(type="Python", top=["a", "b"], ntop=0, python_param=dict(module="m", layer="l"))
    del n["extra"]
    n.update("fc", {"param": [dict(lr_mult=0)]})
    n.loss = L.SoftmaxWithLoss(n["relu/1"], n.label)
    assert n.keys() == ["data", "label", "fc", "relu/1", "loss"]
    assert n.vals()[2] is n.fc is n.tops["fc"]
    net = n.to_proto()
    assert isinstance(net, caffe_pb2.NetParameter)
    assert [(x.name, x.type) for x in net.layer] == [
        ("data", "DummyData"), ("fc", "InnerProduct"), ("relu/1", "ReLU"), ("loss", "SoftmaxWithLoss"),
    ]  # fmt: skip
    assert net.layer[1].inner_product_param.num_output == 2
    assert net.layer[1].param[0].lr_mult == 0
    assert not net.layer[1].inner_product_param.bias_term
    assert net.layer[2].bottom == net.layer[2].top == ["fc"]
    assert set(Net(parse_net(str(net)), phase="TRAIN", device="cpu").blobs) >= {"data", "label", "fc", "loss"}
    with pytest.raises(KeyError):
        n.nothing  # noqa: B018


def test_names_of_bottoms_and_tops_as_fields():
    n = caffe.NetSpec()
    n.train = L.Data(name="data", ntop=0, top=["data", "label"], include=dict(phase=P.TRAIN if False else 0))
    layer = n.to_proto().layer[0]
    assert (layer.name, list(layer.top)) == ("data", ["data", "label"])


def test_automatic_names_and_to_proto_of_tops():
    data = L.Input(shape=dict(dim=[1, 2]))
    net = caffe.to_proto(L.ReLU(data), L.Power(data, scale=2))
    assert [(x.name, list(x.bottom)) for x in net.layer] == [
        ("Input1", []),
        ("ReLU1", ["Input1"]),
        ("Power1", ["Input1"]),
    ]
    assert L.ReLU(data).to_proto().layer[1].name == "ReLU1"


def test_names_of_several_tops_without_a_name():
    """As net_spec.py counts them: caffenet.py's labels are the blob Data2, and a layer is called after its first blob."""
    data, label = L.Data(ntop=2, batch_size=1)
    low, high = L.Slice(data, ntop=2)
    net = caffe.to_proto(
        L.SoftmaxWithLoss(low, label, name="loss"), L.ReLU(high, in_place=True), L.Silence(low, ntop=0)
    )
    assert [(x.name, list(x.bottom), list(x.top)) for x in net.layer] == [
        ("Data1", [], ["Data1", "Data2"]),
        ("Slice1", ["Data1"], ["Slice1", "Slice2"]),
        ("loss", ["Slice1", "Data2"], ["SoftmaxWithLoss1"]),
        ("ReLU1", ["Slice2"], ["Slice2"]),
        ("Silence1", ["Slice1"], []),
    ]
    n = caffe.NetSpec()
    n.label = label
    assert [(x.name, list(x.top)) for x in n.to_proto().layer] == [("Data1", ["Data1", "label"])]


def test_an_empty_dict_is_no_message():
    layer = L.Data(transform_param={}, data_param=dict(batch_size=1)).to_proto().layer[0]
    assert not layer.HasField("transform_param")
    layer = L.AnnotatedData(transform_param=dict(mirror=True, distort_param={})).to_proto().layer[0]
    assert not layer.transform_param.HasField("distort_param")


def test_a_later_top_alone_has_a_name():
    """As pycaffe's: the layer is called after its first top, and blobs without a name after types, counted over the net."""
    n = caffe.NetSpec()
    n.data, rest = L.DummyData(shape=dict(dim=[4, 3]), ntop=2)
    n.last = L.Slice(n.data, axis=0, slice_point=3, ntop=2)[-1]
    n.sum = L.Eltwise(L.ReLU(L.Power(rest), in_place=True), L.Slice(n.last, ntop=1))
    assert [(x.name, list(x.bottom), list(x.top)) for x in n.to_proto().layer] == [
        ("data", [], ["data", "DummyData1"]),
        ("Slice1", ["data"], ["Slice1", "last"]),
        ("Power1", ["DummyData1"], ["Power1"]),
        ("ReLU1", ["Power1"], ["Power1"]),
        ("Slice2", ["last"], ["Slice2"]),
        ("sum", ["Power1", "Slice2"], ["sum"]),
    ]


@pytest.mark.parametrize("bottom", [("a", "b"), "data", 3, None])
def test_an_input_that_is_no_top_is_a_type_error(bottom):
    with pytest.raises(TypeError, match=rf"^Silence input 0 is not a Top \(type is {type(bottom)}\)$"):
        L.Silence(bottom, ntop=0)


def test_wrong_fields_are_named():
    with pytest.raises(ModelError, match="no field 'num_outputs'; did you mean 'num_output'"):
        L.InnerProduct(num_outputs=2)
    n = caffe.NetSpec()
    n.fc = L.InnerProduct(num_output=2)
    with pytest.raises(ModelError, match="num_output takes"):
        n.update("fc", {"num_output": "many"})
    assert n.to_proto().layer[0].inner_product_param.num_output == 2


def test_params_and_assign_proto():
    assert (P.Pooling.AVE, P.Solver.GPU, P.Loss.VALID, P.Data.LMDB, P.Resize.WARP) == (1, 1, 1, 1, 1)
    layer = caffe_pb2.LayerParameter()
    assign_proto(layer, "convolution_param", dict(kernel_size=3, weight_filler=dict(type="xavier")))
    assign_proto(layer, "param", [dict(lr_mult=1), dict(lr_mult=2)])
    assert list(layer.convolution_param.kernel_size) == [3]
    assert [p.lr_mult for p in layer.param] == [1, 2]
    assert caffe.net_spec.param_name_dict()["Convolution"] == "convolution"


def test_true_is_one_where_a_number_is_asked_for():
    """As protobuf's setattr took it when pycaffe was written (isinstance(True, numbers.Integral))."""
    data = L.Data(
        source="x",
        include=dict(phase=True),
        transform_param=dict(mean_value=[True, 2], scale=True),
        data_param=dict(batch_size=True),
    )
    (layer,) = data.to_proto().layer
    assert layer.include[0].phase == caffe_pb2.TEST
    assert (list(layer.transform_param.mean_value), layer.transform_param.scale) == ([1, 2], 1)
    assert layer.data_param.batch_size == 1
    assert type(L.Convolution(data, num_output=1, bias_term=0).to_proto().layer[1].convolution_param.bias_term) is bool
    with pytest.raises(ModelError, match="a string"):
        L.Data(source=True).to_proto()


def test_fn_of_a_top():
    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[1, 1, 9, 9]))
    n.conv = L.Convolution(n.data, kernel_size=3, num_output=2)
    fn = n.conv.fn
    assert (fn.type_name, fn.inputs, fn.tops, n.conv.n) == ("Convolution", (n.data,), (n.conv,), 0)
    fn.params["num_output"] = 5  # as scripts do before to_proto
    assert n.to_proto().layer[1].convolution_param.num_output == 5


def data(size=11):
    return L.DummyData(shape=dict(dim=[1, 1, size, size]))


def test_maps_of_coordinates():
    x = data()
    conv = L.Convolution(x, kernel_size=5, stride=2, pad=1, num_output=1)
    axis, scale, shift = coord_map.coord_map(conv.fn)
    assert (axis, scale.item(), shift.item()) == (1, 0.5, -0.5)
    up = L.Deconvolution(conv, convolution_param=dict(kernel_size=4, stride=2, pad=1, num_output=1))
    axis, scale, shift = coord_map.coord_map(up.fn)
    assert (axis, scale.item(), shift.item()) == (1, 2, 0.5)
    dilated = L.Convolution(x, kernel_size=3, dilation=2, num_output=1)
    assert coord_map.coord_map(dilated.fn)[2].item() == -2
    assert coord_map.coord_map(L.ReLU(x).fn) == (None, 1, 0)
    assert coord_map.inverse((1, 0.5, -2.0)) == (1, 2.0, 4.0)
    with pytest.raises(coord_map.UndefinedMapException, match="InnerProduct"):
        coord_map.coord_map(L.InnerProduct(x).fn)
    with pytest.raises(AssertionError, match=r"legacy.*kernel_h"):
        coord_map.coord_map(L.Convolution(x, kernel_h=3, kernel_w=3, kernel_size=3).fn)


def test_crop_aligns_what_convolutions_shrank():
    x = data()
    low = L.Convolution(x, kernel_size=3, num_output=1)  # 9 x 9, one pixel off
    cropped = crop(x, low)
    assert cropped.fn.type_name == "Crop"
    assert cropped.fn.params["crop_param"] == {"axis": 2, "offset": [1]}
    net = Net(parse_net(str(cropped.to_proto())), device="cpu", seed=0)
    name = net.outputs[0]
    values = np.arange(121, dtype=np.float32).reshape(1, 1, 11, 11)
    net.blobs["DummyData1"].data[...] = values
    net.forward(start="Convolution1")
    np.testing.assert_array_equal(net.blobs[name].data, values[:, :, 1:-1, 1:-1])
    axis, scale, shift = coord_map_from_to(low, cropped)
    assert (axis, np.asarray(scale).item(), np.asarray(shift).item()) == (1, 1, 0)


def test_crops_that_cannot_be():
    x = data()
    with pytest.raises(AssertionError, match="scale mismatch"):
        crop(x, L.Pooling(x, kernel_size=2, stride=2))
    with pytest.raises(AssertionError, match="negative offset"):
        crop(L.Convolution(x, kernel_size=3, num_output=1), x)
    with pytest.raises(AssertionError, match="noninteger offset"):
        crop(x, L.Convolution(x, kernel_size=2, num_output=1))
    with pytest.raises(RuntimeError, match="Could not compute map"):
        crop(data(), data())
    with pytest.raises(coord_map.AxisMismatchException, match="axis 1, the other at axis 2"):
        coord_map_from_to(x, L.Convolution(L.Convolution(x, kernel_size=3, axis=2), kernel_size=3, axis=1))


DRAWN = """name: "drawn" layer { name: "data" type: "Data" top: "data" top: "label" data_param { batch_size: 7 } include { phase: TRAIN } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { lr_mult: 3 }
  convolution_param { num_output: 20 kernel_size: 5 stride: 2 pad: 1 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: AVE kernel_size: 3 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 4 } }"""


def drawn_net(text=DRAWN):
    return text_format.Parse(text, caffe_pb2.NetParameter())


def test_the_graph_of_a_net():
    text = draw.draw_net(drawn_net(), "LR", "raw", display_lrm=True).decode()
    assert 'digraph "drawn"' in text
    assert r'label="conv\n(Convolution)\nkernel size: 5\nstride: 2\npad: 1\nlr mult: 3.0, 1.0"' in text
    assert r"(Pooling AVE)" in text
    assert '"data_Data" -> "data_blob" [label="Batch 7"]' in text
    assert '"conv_Convolution" -> "conv_blob" [label="20"]' in text
    assert '"relu_ReLU" [label="relu\\n(ReLU)", shape="record", fillcolor="#90EE90"' in text
    assert "data_Data" not in draw.draw_net(drawn_net(), "TB", "dot", phase=caffe.TEST).decode()
    old = drawn_net('layers { name: "c" type: CONVOLUTION bottom: "x" top: "y" convolution_param { num_output: 2 } }')
    assert "c_Convolution" in draw.draw_net(old, "LR", "raw").decode()


def test_what_draw_refuses(tmp_path):
    with pytest.raises(ValueError, match="ReLU layers do not have a learning rate"):
        draw.get_layer_lr_mult(drawn_net().layer[2])
    both = drawn_net('layer { name: "x" type: "ReLU" include { phase: TEST } exclude { phase: TRAIN } }')
    with pytest.raises(ValueError, match="both include and exclude"):
        draw.draw_net(both, "LR", "raw", phase=caffe.TEST)
    with pytest.raises(ModelError, match="ending of the name"):
        draw.draw_net_to_file(drawn_net(), tmp_path / "picture")


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
def test_a_picture_without_graphviz(rankdir, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    draw.draw_net_to_file(drawn_net(), tmp_path / "net.png", rankdir)
    picture = np.asarray(Image.open(tmp_path / "net.png"))
    colours = {tuple(c) for c in picture.reshape(-1, 3)}
    assert {(0xFF, 0x50, 0x50), (0xFF, 0x99, 0x00), (0xCC, 0x33, 0xFF), (0x90, 0xEE, 0x90)} <= colours
    long, short = picture.shape[1::-1] if rankdir == "LR" else picture.shape[:2]
    assert long > short
    with pytest.raises(BoxpressoError, match="'svgz' needs Graphviz"):
        draw.draw_net(drawn_net(), rankdir, "svgz")
    assert draw.draw_net(drawn_net(), rankdir, "pdf").startswith(b"%PDF")
    none = draw.draw_net(
        drawn_net('layer { name: "x" type: "ReLU" include { phase: TRAIN } }'), rankdir, phase=caffe.TEST
    )
    assert min(Image.open(io.BytesIO(none)).size) > 0  # of a net without layers


def test_places_do_not_overlap():
    graph = draw.get_graph(drawn_net(), "LR")
    ranks = graph_image.ranks(graph.nodes, graph.edges)
    assert [ranks[name] for name in ("data_Data", "data_blob", "conv_Convolution", "conv_blob", "pool_Pooling")] == [
        0, 1, 2, 3, 4,
    ]  # fmt: skip
    boxes, (width, height) = graph_image.place(ranks, dict.fromkeys(graph.nodes, (50, 20)), across=True)
    rows = list(boxes.values())
    assert all(x >= 0 and y >= 0 and right <= width and bottom <= height for x, y, right, bottom in rows)
    for i, a in enumerate(rows):
        for b in rows[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]


def test_graphviz_is_used_where_it_is(tmp_path, monkeypatch):
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\n[ "$1" = -Tbad ] && { echo "no such format" >&2; exit 1; }\necho "$1"; cat\n')
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(program))
    assert draw.draw_net(drawn_net(), "LR", "svg").startswith(b"-Tsvg\ndigraph")
    with pytest.raises(BoxpressoError, match="no such format"):
        draw.draw_net(drawn_net(), "LR", "bad")


def test_pydot_graph():
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    graph = draw.get_pydot_graph(drawn_net(), "LR")
    assert isinstance(graph, pydot.Dot)
    assert len(graph.get_edges()) == 10
    assert io.StringIO(graph.to_string()).read().count("->") == 10


def test_in_place_without_bottoms_has_the_tops_that_it_names():
    """A layer of data for TEST under the names of that for TRAIN, as scripts write it; BVLC's net_spec makes these tops of it."""
    n = caffe.NetSpec()
    n.data, n.label = L.ImageData(source="train.txt", include=dict(phase=caffe.TRAIN), ntop=2)
    n.test_data, n.test_label = L.ImageData(
        source="test.txt", include=dict(phase=caffe.TEST), name="data", top=["data", "label"], in_place=True, ntop=2
    )
    n.relu = L.ReLU(n.data, in_place=True)
    train, test, relu = n.to_proto().layer
    for layer in (train, test):
        assert (layer.name, list(layer.bottom), list(layer.top)) == ("data", [], ["data", "label"])
    assert test.image_data_param.source == "test.txt"
    assert list(relu.top) == ["data"]
