"""NetSpec against prototxts written by hand, what it refuses, and `boxpresso layers`."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from boxpresso import L, ModelError, Net, NetSpec, P
from boxpresso.__main__ import main
from boxpresso.layers.core import REGISTRY
from boxpresso.layers.core.catalogue import describe, layer_types, message_fields, parameter_names
from boxpresso.proto import TEST, TRAIN, parse_net


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    """Also where the tests run with BOXPRESSO_DEBUG, which lets errors through."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


def small() -> NetSpec:
    n = NetSpec(name="small")
    n.data, n.label = L.Data(
        ntop=2,
        include=dict(phase=TRAIN),
        data_param=dict(source="train_lmdb", backend="LMDB", batch_size=np.int64(8)),
        transform_param=dict(mean_value=[104, 117, 123], mirror=True),
    )
    n.conv1 = L.Convolution(
        n.data,
        num_output=4,
        kernel_size=3,
        pad=[1, 0],
        param=[dict(lr_mult=1, decay_mult=1), dict(lr_mult=2)],
        weight_filler=dict(type="gaussian", std=0.01, variance_norm="AVERAGE"),
    )
    n.relu1 = L.ReLU(n.conv1, in_place=True, negative_slope=0.1)
    n["pool/1"] = L.Pooling(n.relu1, name="pooling", pool=P.Pooling.AVE, global_pooling=True)
    n.up = L.Deconvolution(n["pool/1"], convolution_param=dict(num_output=2, kernel_size=2))
    n.loss = L.SoftmaxWithLoss(n.up, n.label, loss_weight=2.5, ignore_label=255, axis=1)
    return n


TEXT = """
name: "small"
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { mean_value: [104, 117, 123] mirror: true }
  data_param { source: "train_lmdb" backend: LMDB batch_size: 8 } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 }
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 pad: 0
    weight_filler { type: "gaussian" std: 0.01 variance_norm: AVERAGE } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" relu_param { negative_slope: 0.1 } }
layer { name: "pooling" type: "Pooling" bottom: "conv1" top: "pool/1" pooling_param { pool: AVE global_pooling: true } }
layer { name: "up" type: "Deconvolution" bottom: "pool/1" top: "up" convolution_param { num_output: 2 kernel_size: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "up" bottom: "label" top: "loss" loss_weight: 2.5
  loss_param { ignore_label: 255 } softmax_param { axis: 1 } }
"""


def test_the_same_as_by_hand():
    wanted, made = parse_net(TEXT), small().to_proto()
    for mine, theirs in zip(made.layer, wanted.layer):
        assert mine == theirs
    assert made == wanted
    assert parse_net(str(small()), strict=True) == wanted


def test_a_layer_of_which_the_second_top_alone_has_a_name():
    """Both tops had that name, so that a reader of the first one got the second."""
    data, label = L.Data(ntop=2)
    n = NetSpec()
    n.label = label
    n.x = L.ReLU(data)
    assert [(x.name, list(x.bottom), list(x.top)) for x in n.to_proto().layer] == [
        ("Data1", [], ["Data1", "label"]),
        ("x", ["Data1"], ["x"]),
    ]


def test_it_runs():
    n = NetSpec(force_backward=True)
    n.data = L.Input(shape=dict(dim=[2, 3, 8, 8]))
    n.a, n.b, n.c = L.Slice(n.data, ntop=3, axis=1)
    n.sum = L.Eltwise(n.a, n.b, n.c, operation="SUM", coeff=[1, 2, 3])
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8))
    out = Net(n.to_proto(), device="cpu").forward(data=x)["sum"]
    np.testing.assert_allclose(out[:, 0], x[:, 0] + 2 * x[:, 1] + 3 * x[:, 2], rtol=1e-5, atol=1e-6)


def test_names_that_nobody_gave():
    n = NetSpec()
    n.data = L.Input(shape=dict(dim=[1, 1, 4, 4]))
    n.Pooling2 = L.Pooling(L.ReLU(L.Pooling(n.data, kernel_size=2), in_place=True), kernel_size=2)
    made = n.to_proto()
    assert [(x.name, list(x.bottom), list(x.top)) for x in made.layer] == [
        ("data", [], ["data"]),
        ("Pooling1", ["data"], ["Pooling1"]),
        ("ReLU1", ["Pooling1"], ["Pooling1"]),
        ("Pooling2", ["Pooling1"], ["Pooling2"]),
    ]
    top = L.Power(L.Power(n.data, scale=2), shift=1)
    assert [x.name for x in top.to_proto().layer] == ["Input1", "Power1", "Power2"]
    assert [x.type for x in parse_net(str(top)).layer] == ["Input", "Power", "Power"]


def test_in_place_over_several_bottoms():
    """The tops are as many of the first bottoms as there are tops; pycaffe's net_spec gives such a layer all of them."""
    n = NetSpec()
    n.a = L.Input(shape=dict(dim=[2, 3]))
    n.b = L.Power(n.a, scale=2)
    n.scaled = L.Scale(n.b, n.a, axis=0, in_place=True)
    n.c, n.d = L.Python(n.scaled, n.a, module="m", layer="Both", ntop=2, in_place=True)
    n.e = L.Power(n.d)
    made = n.to_proto()
    assert [(x.name, list(x.bottom), list(x.top)) for x in made.layer[2:]] == [
        ("scaled", ["b", "a"], ["b"]),
        ("c", ["b", "a"], ["b", "a"]),
        ("e", ["a"], ["e"]),
    ]
    with pytest.raises(ModelError, match="it has 1 and ntop=2"):
        L.Python(n.e, ntop=2, in_place=True)


def test_deep_nets_need_no_deep_stack():
    top = L.Input(shape=dict(dim=[1]))
    for _ in range(3000):
        top = L.Power(top)
    assert len(top.to_proto().layer) == 3001


def test_layers_without_tops_and_blobs_by_name():
    n = NetSpec()
    n.data = L.Input(shape=[dict(dim=[1]), dict(dim=[2])], ntop=1)
    n.drop = L.Silence(n.data, "elsewhere", ntop=0)
    silence = n.to_proto().layer[1]
    assert (silence.name, list(silence.bottom), list(silence.top)) == ("drop", ["data", "elsewhere"], [])
    assert [list(s.dim) for s in n.to_proto().layer[0].input_param.shape] == [[1], [2]]


def test_two_layers_of_one_name_under_rules():
    n = NetSpec()
    n.data = L.Input(name="train", shape=dict(dim=[8, 3]), include=dict(phase=TRAIN))
    n.data = L.Input(name="test", shape=dict(dim=[2, 3]), include=dict(phase=TEST))
    n.out = L.Power(n.data)
    for phase, count in (("TRAIN", 8), ("TEST", 2)):
        assert Net(n.to_proto(), phase=phase, device="cpu").blobs["out"].shape == (count, 3)


def test_delete_and_look():
    n = small()
    assert "up" in n
    assert list(n)[:3] == ["data", "label", "conv1"]
    del n.loss
    assert "loss" not in n
    assert n.to_proto().layer[-1].name == "up"
    n.loss = L.Silence(n.up, ntop=0)
    assert n.to_proto().layer[-1].type == "Silence"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda n: L.Convolution(n.data, num_outputs=3), r"Convolution layer: convolution_param or .* has no field 'num_outputs'; did you mean 'num_output'"),
        (lambda n: L.Convolution(n.data, name="c", weight_filler=dict(kind="xavier")), r"Convolution layer 'c': convolution_param.weight_filler.kind: FillerParameter has no field 'kind'"),
        (lambda n: L.Pooling(n.data, pool="MAXIMUM"), r"pooling_param.pool: no value 'MAXIMUM'; did you mean 'MAX'"),
        (lambda n: L.Pooling(n.data, pool=77), r"pooling_param.pool takes a value of its enum, got 77"),
        (lambda n: L.Pooling(n.data, kernel_size=-1), r"kernel_size takes a whole number from 0, got -1"),
        (lambda n: L.Pooling(n.data, kernel_size=2.5), r"kernel_size takes a whole number from 0, got 2.5"),
        (lambda n: L.Pooling(n.data, global_pooling=1), r"global_pooling takes True or False, got 1"),
        (lambda n: L.Power(n.data, scale="x"), r"power_param.scale takes a number, got 'x'"),
        (lambda n: L.Power(n.data, scale=True), r"power_param.scale takes a number, got True"),
        (lambda n: L.Convolution(n.data, weight_filler="xavier"), r"weight_filler is a message, a dict of its fields; got 'xavier'"),
        (lambda n: L.ReLU([n.data]), r"is not a bottom; give them one by one"),
        (lambda n: L.ReLU(3), r"3 is not a bottom"),
        (lambda n: L.ReLU(in_place=True), r"in_place means that its tops are its first bottoms"),
        (lambda n: L.ReLU(n.data, top="x"), r"has no field 'top'"),
        (lambda n: L.MyOwn(n.data, alpha=1), r"MyOwn layer: LayerParameter has no field 'alpha'"),
        (lambda n: n.dato, r"no blob 'dato'; did you mean 'data'"),
        (lambda n: n.__setattr__("x", 3), r"'x' is given int"),
        (lambda n: n.__setattr__("data", L.ReLU(n.data)), r"'data' is the name of Input layer already"),
        (lambda n: NetSpec(nam="x"), r"NetParameter has no field 'nam'; did you mean 'name'"),
    ],
)  # fmt: skip
def test_what_it_refuses(make, message):
    n = NetSpec()
    n.data = L.Input(shape=dict(dim=[1, 1, 4, 4]))
    with pytest.raises(ModelError, match=message):
        make(n)


def test_two_makers_of_one_blob_are_refused():
    n = NetSpec()
    n.data = L.Input(shape=dict(dim=[1]))
    n.y = L.Power(L.Power(n.data, name="y"))
    with pytest.raises(ModelError, match="both have the top 'y'"):
        n.to_proto()


def test_a_type_of_the_users_own_takes_param_str_and_messages():
    layer = L.MyOwn("data", python_param=dict(param_str="{'a': 1}"), name="mine").to_proto().layer[0]
    assert (layer.type, layer.python_param.param_str) == ("MyOwn", "{'a': 1}")


def test_a_layer_of_the_users_own_file(tmp_path, monkeypatch):
    """Written after its type was first asked for, it brings the messages that its class statement declares."""
    with pytest.raises(ModelError, match="has no field 'scale'"):
        L.SpecTestOwn("data", scale=3)
    (tmp_path / "spec_test_own.py").write_text(
        "from boxpresso import Layer\n"
        "class Own(Layer, type='SpecTestOwn', param='power_param', bottoms=1, tops=1):\n"
        "    def setup(self, bottom, top):\n"
        "        self.scale = self.param.power_param.scale\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import_module("spec_test_own")
    try:
        assert L.SpecTestOwn("data", scale=3).to_proto().layer[0].power_param.scale == 3
    finally:
        del REGISTRY["spectestown"]


# -- the catalogue -----------------------------------------------------------------------------------------------------


def test_messages_of_a_type():
    assert parameter_names("Deconvolution") == ("convolution_param",)
    assert parameter_names("pooling")[0] == "pooling_param"
    assert parameter_names("AnnotatedData")[0] == "annotated_data_param"
    assert {"softmax_param", "loss_param"} <= set(parameter_names("SoftmaxWithLoss"))
    assert parameter_names("NoSuchType") == ()


def test_defaults_and_comments_of_the_schema():
    about, fields = message_fields("PowerParameter")
    assert about == "(shift + scale * x) ^ power"
    assert [(f.name, f.default) for f in fields if not f.fork] == [("power", "1"), ("scale", "1"), ("shift", "0")]
    packed = {f.name: f.default for f in message_fields("BlobProto")[1]}
    assert (packed["data"], packed["num"]) == ("", "0")


def test_every_type_is_explained():
    for cls in layer_types():
        if not cls.__module__.startswith("boxpresso."):
            continue  # a layer of another test's own
        text = describe(cls.type)
        assert cls.__doc__, f"{cls.__name__} has no docstring"
        example = parse_net(text.split("\nexample:\n")[1], strict=True).layer[0]
        assert example.type == cls.type


def test_the_verb(capsys):
    assert main(["layers"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for cls in layer_types() for name in cls.types)
    assert main(["layers", "permute"]) == 0
    out = capsys.readouterr().out
    assert "uint32 .." in out
    assert "permute_param { order: 0 order: 2 order: 3 order: 1 }" in out
    assert main(["layers", "Convolutoin"]) == 1
    assert "did you mean 'Convolution'" in capsys.readouterr().err


def test_a_layer_of_which_a_later_top_alone_is_named():
    n = NetSpec()
    n.x = L.Input(input_param=dict(shape=dict(dim=[4, 3])))
    n.last = L.Slice(n.x, slice_param=dict(axis=0, slice_point=3), ntop=2)[1]
    layer = n.to_proto().layer[1]
    assert (layer.name, list(layer.top)) == ("Slice1", ["Slice1", "last"])
