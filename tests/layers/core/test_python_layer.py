"""Python layers: a user's class run as pycaffe runs it, only from allowed modules; and param_str, read but never evaluated."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
import types

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES
from shared import need

from boxpresso import LayerError, ModelError, Net, Solver
from boxpresso.cli import main as cli
from boxpresso.layers.core import REGISTRY, run_layer
from boxpresso.layers.core.param_str import read_param_str
from boxpresso.layers.core.python import PythonLayer
from boxpresso.proto import SolverParameter, parse_net

MODULE = '''
import caffe
import numpy as np

loaded = True

class Scaled(caffe.Layer):
    """top = factor * bottom + b, in the way that pycaffe's examples are written."""

    def setup(self, bottom, top):
        self.factor = eval(self.param_str)["factor"]
        self.blobs.add_blob(*bottom[0].data.shape[1:])
        self.blobs[0].data[...] = 1
        self.seen = str(self.phase), self.phase == caffe.TRAIN

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)

    def forward(self, bottom, top):
        assert isinstance(top[0].data, np.ndarray)
        top[0].data[...] = self.factor * bottom[0].data + self.blobs[0].data

    def backward(self, top, propagate_down, bottom):
        self.blobs[0].diff[...] += top[0].diff.sum(0)
        if propagate_down[0]:
            bottom[0].diff[...] = self.factor * top[0].diff

class Numbers(caffe.Layer):
    """A data layer: no bottoms, two tops, its own shapes each time."""

    def setup(self, bottom, top):
        self.count = 0

    def forward(self, bottom, top):
        self.count += 1
        top[0].reshape(self.count, 2, 1, 1)
        top[0].data[...] = self.count
        top[1].reshape(1)
        top[1].data[0] = top[0].num * top[0].channels + top[0].count

    def reshape(self, bottom, top):
        top[0].reshape(1, 2, 1, 1)
        top[1].reshape(1)

class Plain:
    """Not derived from anything."""

    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape(1)
    def forward(self, bottom, top): top[0].data[0] = sum(bottom[0].data.shape)
    def backward(self, top, propagate_down, bottom): pass

class Targets(caffe.Layer):
    def reshape(self, bottom, top): top[0].reshape(1, 5)
    def forward(self, bottom, top): top[0].data[...] = 0
    def backward(self, top, propagate_down, bottom):
        """This layer does not propagate gradients."""
        pass

class Broken(caffe.Layer):
    def reshape(self, bottom, top): top[0].reshape(1)
    def forward(self, bottom, top): raise ZeroDivisionError("mine")
'''
LAUNCHES = [('type: "SpatialDropout"', [np.ones((2, 5, 9, 10))], None, {"phase": "TRAIN"})]
INPUT = 'force_backward: true layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 dim: 3 } } } '


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's, that imports caffe."""
    (tmp_path / "my_layers.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_layers"
    sys.modules.pop("my_layers", None)


def layer(name="Scaled", module="my_layers", param="{'factor': 3}", more='bottom: "d" top: "t"'):
    return f"""layer {{ name: "L" type: "Python" {more}
        python_param {{ module: "{module}" layer: "{name}" param_str: "{param}" }} }}"""


def test_forward_and_backward_as_pycaffe(mine, device):
    net = Net(parse_net(INPUT + layer()), device=device, python_layers=[mine])
    x = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(net.forward(d=x)["t"], 3 * x + 1)
    up = np.array([[1, 2, 3], [4, 5, 6]])
    net.clear_param_diffs()
    assert np.array_equal(net.backward(t=up)["d"], 3 * up)
    assert np.asarray(net.params["L"][0].diff).tolist() == [5, 7, 9]
    net.params["L"][0].data[...] = 0
    assert np.array_equal(net.forward(d=x[:1])["t"], 3 * x[:1])
    assert net.layer_dict["L"].user.seen == ("TEST", False)
    assert Net(parse_net(INPUT + layer()), device=device, phase="TRAIN", python_layers=[mine]).layer_dict["L"].user.seen == (
        "TRAIN", True,
    )  # fmt: skip
    assert "caffe" not in sys.modules


def test_weights_are_saved_and_loaded(mine, tmp_path):
    net = Net(parse_net(INPUT + layer()), device="cpu", python_layers=[mine])
    net.params["L"][0].data[...] = [1, 2, 3]
    net.save(tmp_path / "w.caffemodel")
    other = Net(parse_net(INPUT + layer()), tmp_path / "w.caffemodel", device="cpu", python_layers=[mine])
    assert other.layer_dict["L"].user.blobs[0].data.tolist() == [1, 2, 3]


def test_a_data_layer_may_change_its_shapes(mine, device):
    text = layer("Numbers", more='top: "a" top: "b"') + 'layer { name: "p" type: "Power" bottom: "a" top: "c" }'
    net = Net(parse_net(text), device=device, python_layers=[mine])
    assert net.forward()["c"].shape == (1, 2, 1, 1)
    out = net.forward()
    assert out["c"].shape == (2, 2, 1, 1)
    assert out["b"].tolist() == [8]


def test_a_module_object_and_a_class_of_its_own(device):
    module = types.ModuleType("here")
    module.Plain = type("Plain", (), {
        "setup": lambda self, bottom, top: None,
        "reshape": lambda self, bottom, top: top[0].reshape(1),
        "forward": lambda self, bottom, top: top[0].data.fill(bottom[0].count + len(self.param_str)),
    })  # fmt: skip
    net = Net(parse_net(INPUT + layer("Plain", "here", "abc")), device=device, python_layers=[module])
    assert net.forward()["t"].tolist() == [9]


def test_a_prototxt_alone_imports_and_runs_nothing(mine):
    with pytest.raises(LayerError, match=r"'L'.*not allowed.*python_layers=\['my_layers'\]"):
        Net(parse_net(INPUT + layer()), device="cpu")
    with pytest.raises(LayerError, match="not allowed"):
        Net(parse_net(INPUT + layer()), device="cpu", python_layers=["other"])
    assert "my_layers" not in sys.modules


def test_what_is_missing_is_named(mine):
    with pytest.raises(LayerError, match=r"'nowhere' cannot be imported.*PYTHONPATH"):
        Net(parse_net(INPUT + layer(module="nowhere")), device="cpu", python_layers=["nowhere"])
    with pytest.raises(LayerError, match=r"no class 'Scalde'.*Scaled"):
        Net(parse_net(INPUT + layer("Scalde")), device="cpu", python_layers=[mine])
    with pytest.raises(LayerError, match="no class 'np'"):
        Net(parse_net(INPUT + layer("np")), device="cpu", python_layers=[mine])
    assert "caffe" not in sys.modules


def test_an_error_of_the_user_comes_through(mine):
    net = Net(parse_net(INPUT + layer("Broken")), device="cpu", python_layers=[mine])
    with pytest.raises(ZeroDivisionError, match="mine"):
        net.forward()


def test_names_of_old_nets_are_ours_unless_the_user_allows_theirs(tmp_path, monkeypatch):
    text = """layer { name: "d" type: "Input" top: "s" top: "b" top: "i" input_param {
        shape { dim: 1 dim: 18 dim: 2 dim: 2 } shape { dim: 1 dim: 36 dim: 2 dim: 2 } shape { dim: 1 dim: 3 } } } """ + layer(
        "ProposalLayer", "rpn.proposal_layer", "'feat_stride': 16", 'bottom: "s" bottom: "b" bottom: "i" top: "rois"'
    )
    net = Net(parse_net(text), device="cpu")
    assert net.blobs["rois"].shape == (1, 5)
    assert (net.layer_dict["L"].type, net.layer_dict["L"].stands_for) == ("Proposal", "Python")
    net.save(tmp_path / "saved.caffemodel")
    assert b"Python" in (tmp_path / "saved.caffemodel").read_bytes()  # as Caffe would write it
    (tmp_path / "rpn").mkdir()
    (tmp_path / "rpn" / "__init__.py").touch()
    (tmp_path / "rpn" / "proposal_layer.py").write_text(
        "import caffe\nclass ProposalLayer(caffe.Layer):\n    def reshape(self, bottom, top): top[0].reshape(7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    theirs = Net(parse_net(text), device="cpu", python_layers=["rpn.proposal_layer"])
    assert theirs.blobs["rois"].shape == (7,)
    for name in ("rpn", "rpn.proposal_layer"):
        sys.modules.pop(name)


def test_a_name_that_others_have_too_is_told_by_its_bottoms():
    """pyloss.EuclideanLossLayer of Caffe's example is our EuclideanLoss; one of three bottoms is another project's."""
    text = """layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: [2, 3] }} }} }}
        layer {{ name: "L" type: "Python" {} top: "L" python_param {{ module: "pyloss" layer: "EuclideanLossLayer" }} }}"""
    assert Net(parse_net(text.format('bottom: "x" ' * 2)), device="cpu").layer_dict["L"].type == "EuclideanLoss"
    with pytest.raises(LayerError, match="the Python module 'pyloss', which was not allowed"):
        Net(parse_net(text.format('bottom: "x" ' * 3)), device="cpu")


@pytest.mark.parametrize("imported", [False, True])
def test_a_folder_named_caffe_is_no_pycaffe(tmp_path, monkeypatch, imported):
    """As in the folder beside a clone of Caffe: Python imports any folder as a package without contents."""
    (tmp_path / "caffe" / "python").mkdir(parents=True)
    (tmp_path / "of_a_user.py").write_text(
        "import caffe\nclass Twice(caffe.Layer):\n"
        "    def setup(self, bottom, top): pass\n"
        "    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)\n"
        "    def forward(self, bottom, top): top[0].data[...] = 2 * bottom[0].data\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    if imported:
        spec = importlib.util.find_spec("caffe")
        monkeypatch.setitem(sys.modules, "caffe", importlib.util.module_from_spec(spec))
    try:
        text = 'layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 3 } } } ' + layer(
            "Twice", "of_a_user", "", 'bottom: "x" top: "y"'
        )
        net = Net(parse_net(text), device="cpu", python_layers=["of_a_user"])
        assert list(net.forward(x=[1, 2, 3])["y"]) == [2, 4, 6]
        assert ("caffe" in sys.modules) == imported
    finally:
        sys.modules.pop("of_a_user", None)


def test_the_wrong_number_of_tops_of_a_layer_of_ours():
    with pytest.raises(LayerError, match="takes 3 bottoms"):
        Net(parse_net(INPUT + layer("ProposalLayer", "rpn.proposal_layer", "")), device="cpu")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {}),
        ("'feat_stride': 16", {"feat_stride": 16}),
        ("{'feat_stride': 16, 'scales': [4, 8.5], }", {"feat_stride": 16, "scales": [4, 8.5]}),
        ("'feat_stride': 16 \n'scales': !!python/tuple [4, 8, 16, 32]", {"feat_stride": 16, "scales": [4, 8, 16, 32]}),
        ("{feat_stride: 16, ratios: [1,], name: a b, on: true}", {"feat_stride": 16, "ratios": [1], "name": "a b", "on": True}),
        ("a: 1\nb: x  # why\n\n# more\nc: 'it is: # this'\nd:\n", {"a": 1, "b": "x", "c": "it is: # this", "d": None}),
        ("a:\n  - 1\n  - [2, 3]\nb: no", {"a": [1, [2, 3]], "b": False}),
        ("a:\n- 1\n- 2\n", {"a": [1, 2]}),
        ("a:\n  b: 1\n  c: 2\nd: -1e-3", {"a": {"b": 1, "c": 2}, "d": -1e-3}),
        ("a: [1,\n  2]\nb: {c: 1}", {"a": [1, 2], "b": {"c": 1}}),
        ("'a': 1, 'b': 2", {"a": 1, "b": 2}),
        ("- 1248\n- 352\n- text", [1248, 352, "text"]),
        ("1248, 352, 16, 0.6", (1248, 352, 16, 0.6)),
        ('{"phase": "TRAIN", "p": "0.1"}', {"phase": "TRAIN", "p": "0.1"}),
        ("data_dir: ../data/sbd\nseed: 1337\nsplit: train", {"data_dir": "../data/sbd", "seed": 1337, "split": "train"}),
        ("16", 16),
        ("# nothing", {}),
        ("a: .inf\nb: [-.inf, 1]", {"a": np.inf, "b": [-np.inf, 1]}),
        ("url: http://a.b/c?d=1,2\nroot: C:\\data  # there", {"url": "http://a.b/c?d=1,2", "root": "C:\\data"}),
        ("__import__('os')", None),
    ],
)  # fmt: skip
def test_param_str(text, wanted):
    if wanted is None:
        with pytest.raises(LayerError, match="cannot be read"):
            read_param_str(text)
    else:
        assert read_param_str(text) == wanted


@pytest.mark.parametrize(
    "text", ["{'a': 1", "[1, 2", "{'a' 1}", "a: !!python/object:os.system [x]", "{a: ]}", "a: 1\n- 2"]
)
def test_param_str_that_cannot_be_read(text):
    with pytest.raises(LayerError, match="param_str"):
        read_param_str(text)


@pytest.mark.parametrize(
    ("type", "setting", "wanted"),
    [
        ("AnchorTarget", "rpn_positive_overlap: high", "a number, got 'high'"),
        ("AnchorTarget", "allowed_border: [1, 2]", "a number, got [1, 2]"),
        ("AnchorTarget", "scales: [1, small]", "a list of numbers, got [1, 'small']"),
        ("AnchorTarget", "ratios: 2", "a list of numbers above 0, got 2"),
        ("RotateAnchorTarget", "angles: [.nan]", "a list of numbers, got [nan]"),
        ("FPNAnchorTarget", "anchor_scales: {a: 1}", "a list of numbers above 0, got {'a': 1}"),
        ("FPNProposal", "feat_strides: wide", "a list of numbers above 0, got 'wide'"),
        ("SSHProposal", "n_dets_per_module: null", "a number, got None"),
        ("SSHAnchorTarget", "positive_overlap: high", "a number, got 'high'"),
        ("RONAnchorTarget", "bbox_inside_weights: [1]", "4 numbers, got [1]"),
        ("HardRegions", "batch_size: 2.5", "a whole number above 0, got 2.5"),
        ("BoxOutput", "field_w: 20", "one number above 0 for each of 1 bottoms, got 20"),
        ("CornerPool", "mode: [left]", "a word, got ['left']"),
    ],
)
def test_a_setting_of_another_kind_is_named(type, setting, wanted):
    case = next(case for case in CASES if case.type == type)
    text = re.sub(r'python_param \{ param_str: "\{(.*)\}" \}', r"\1", case.text) if "python_param" in case.text else ""
    rest = "" if "python_param" in case.text else case.text
    said = f"{{{text}{', ' if text else ''}{setting}}}"  # of a name that is said twice the last counts
    with pytest.raises(LayerError, match=f"{setting.split(':')[0]} must (be|have) {re.escape(wanted)}"):
        Rig(
            f'type: "{type}" {rest} python_param {{ param_str: "{said}" }}',
            case.arrays(),
            tops=case.tops,
            phase=case.phase,
        )


def test_a_number_in_quotes_is_a_number():
    text = 'type: "CropAngles" python_param { param_str: "viewp_bins: \'2\'" }'
    assert run_layer(text, [[1, 2, 3, 4]], [[0, 0, 1, 1]]).ravel().tolist() == [3, 4]


def test_param_str_is_read_for_every_prototxt_of_the_corpus():
    from boxpresso.proto import read_net

    root, seen = need("corpus/manifest.json").parent, 0
    for path in sorted(root.rglob("*rcnn*/**/*.prototxt")):
        if "solver" not in path.name:
            for each in read_net(path).layer:
                if each.type == "Python":
                    assert read_param_str(each.python_param.param_str), path
                    seen += 1
    assert seen > 50


DROPOUT = 'layer { name: "L" type: "Python" bottom: "d" top: "t" python_param { module: "spatial_dropout" layer: "SpatialDropoutLayer" %s } }'
MAPS = 'force_backward: true layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 40 dim: 50 dim: 3 dim: 2 } } } '


def test_spatial_dropout(device):
    train = DROPOUT % "param_str: \"{\\'phase\\': \\'TRAIN\\', \\'p\\': \\'0.25\\'}\""
    net = Net(parse_net(MAPS + train), device=device, seed=3)
    x = np.random.default_rng(0).uniform(1, 2, (40, 50, 3, 2))
    y = net.forward(d=x)["t"]
    lives = (y != 0).reshape(2000, 6)
    assert (lives.all(1) | ~lives.any(1)).all()  # whole channels
    assert 0.7 < lives.mean() < 0.8
    np.testing.assert_allclose(y, np.where(y != 0, x / 0.75, 0), rtol=1e-6)
    up = np.random.default_rng(1).standard_normal(x.shape)
    np.testing.assert_allclose(net.backward(t=up)["d"], np.where(y != 0, up / 0.75, 0), rtol=1e-6)
    assert not np.array_equal(net.forward(d=x)["t"], y)
    same = Net(parse_net(MAPS + train), device=device, seed=3)
    assert np.array_equal(same.forward(d=x)["t"], y)
    test = Net(parse_net(MAPS + train.replace("TRAIN", "TEST")), device=device)
    assert np.array_equal(test.forward(d=x)["t"], x.astype(np.float32))
    with pytest.raises(LayerError, match="p, the part that is dropped"):
        Net(parse_net(MAPS + train.replace("0.25", "1")), device=device)


def test_a_solver_trains_a_python_layer(mine):
    data = 'layer { name: "x" type: "DummyData" top: "d" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { value: 1 } } } '
    loss = 'layer { name: "loss" type: "EuclideanLoss" bottom: "t" bottom: "d" top: "loss" }'
    param = SolverParameter(base_lr=0.1, lr_policy="fixed", max_iter=40, solver_mode=SolverParameter.CPU)
    param.net_param.CopyFrom(parse_net(data + layer() + loss))
    solver = Solver(param, log=lambda line: None, python_layers=[mine])
    solver.step(60)  # 3 x + b = x at b = -2
    np.testing.assert_allclose(solver.net.params["L"][0].data, -2, atol=0.01)


def test_a_backward_that_is_pass_gives_no_gradient(mine):
    """As the target layers of old nets have it; what reads their tops is not asked for their gradient."""
    text = (
        INPUT.replace("force_backward: true", "")
        + """
        layer { name: "fc" type: "InnerProduct" bottom: "d" top: "f" inner_product_param { num_output: 5 } }
        layer { name: "conv" type: "Reshape" bottom: "f" top: "m" reshape_param { shape { dim: 2 dim: 1 dim: 1 dim: 5 } } }
        layer { name: "L" type: "Python" bottom: "f" top: "rois" python_param { module: "my_layers" layer: "Targets" } }
        layer { name: "pool" type: "ROIPooling" bottom: "m" bottom: "rois" top: "p" roi_pooling_param { pooled_w: 1 pooled_h: 1 } }
        layer { name: "loss" type: "Reduction" bottom: "p" top: "loss" loss_weight: 1 }"""
    )
    net = Net(parse_net(text), device="cpu", python_layers=[mine])
    assert net.layer_dict["L"].no_gradient
    net.forward()
    net.backward()
    assert not Net(parse_net(INPUT + layer()), device="cpu", python_layers=[mine]).layer_dict["L"].no_gradient


OWN = """\
from boxpresso import Layer


class Doubled(Layer, type="DoubledByTheUser", bottoms=1, tops=1):
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = 2 * bottom[0].data
"""
OWN_NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    layer { name: "y" type: "DoubledByTheUser" bottom: "x" top: "y" }"""


def test_a_module_that_is_named_brings_types_of_its_own(tmp_path, monkeypatch):
    """A class of Layer in the user's file, known by its type: in Python by the module's name, and on the command line."""
    (tmp_path / "own_doubled.py").write_text(OWN)
    (tmp_path / "net.prototxt").write_text(OWN_NET)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match=r"layer 'y' has the unknown type 'DoubledByTheUser'.*python_layers="):
        Net(parse_net(OWN_NET), device="cpu")
    with pytest.raises(ModelError, match=r"type 'DoubledByTheUser', and the module 'own_doubld', .*cannot be imported"):
        Net(parse_net(OWN_NET), device="cpu", python_layers=["own_doubld"])
    try:
        net = Net(parse_net(OWN_NET), device="cpu", python_layers=["own_doubled"])
        assert net.forward(x=[1, 2])["y"].tolist() == [2, 4]
        assert cli.main(["info", str(tmp_path / "net.prototxt"), "--python-layers", "own_doubled"]) == 0
    finally:
        REGISTRY.pop("doubledbytheuser", None)


def test_a_module_is_not_imported_for_known_types(tmp_path, monkeypatch):
    (tmp_path / "own_unused.py").write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = OWN_NET.replace("DoubledByTheUser", "ReLU")
    assert Net(parse_net(text), device="cpu", python_layers=["own_unused"]).forward(x=[-1, 2])["y"].tolist() == [0, 2]


@pytest.mark.parametrize("before", ["InnerProduct", "Sigmoid"])
def test_in_place(before, device):
    """As out of place, forward and backward, also behind a layer whose gradient is of its top; what it leaves alone stays."""
    module = types.ModuleType("in_place")

    class Half(PythonLayer):
        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].data.shape)

        def forward(self, bottom, top):
            assert np.shares_memory(top[0].data, bottom[0].data) or "y" in self.param_str
            top[0].data[...] = bottom[0].data
            top[0].data[:, ::2] = np.tanh(bottom[0].data[:, ::2])

        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = top[0].diff
            bottom[0].diff[:, ::2] *= 1 - top[0].data[:, ::2] ** 2

    module.Half = Half
    text = """force_backward: true layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 4 } } }
        layer { name: "a" type: "InnerProduct" bottom: "x" top: "i" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
        %s
        layer { name: "h" type: "Python" bottom: "a" top: "%s" python_param { module: "in_place" layer: "Half" param_str: "%s" } }
        layer { name: "l" type: "InnerProduct" bottom: "%s" top: "l" inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
        layer { name: "r" type: "Reduction" bottom: "l" top: "r" loss_weight: 1 }"""
    sigmoid = 'layer { name: "s" type: "Sigmoid" bottom: "i" top: "a" }'
    numbers = []
    for name in ("a", "y"):
        net_text = text % (sigmoid if before == "Sigmoid" else "", name, name, name)
        net_text = net_text if before == "Sigmoid" else net_text.replace('top: "i"', 'top: "a"')
        net = Net(parse_net(net_text), device=device, seed=1, phase="TRAIN", python_layers=[module])
        net.blobs["x"].data[...] = np.linspace(-2, 2, 12).reshape(3, 4)
        top = net.forward()["r"].copy()
        net.backward()
        planned = Net(
            parse_net(net_text.replace("force_backward: true", "")), device=device, seed=1, python_layers=[module]
        )
        np.testing.assert_allclose(planned.forward(x=net.blobs["x"].data)["r"], top, rtol=1e-6)
        numbers.append([np.array(v) for v in (top, net.blobs["x"].diff, net.params["a"][0].diff)])
    for one, other in zip(*numbers, strict=True):
        np.testing.assert_array_equal(one, other)
        assert other.any()
