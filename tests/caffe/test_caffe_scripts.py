"""Scripts that were written for pycaffe run unchanged: `python -m boxpresso.caffe`, install(), Python 2, notebooks."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import textwrap
from functools import cache

import numpy as np
import pytest
from places import ROOT

from boxpresso import BoxpressoError, caffe
from boxpresso.caffe import cython, importing, legacy, libraries, notebook, python2, script
from boxpresso.caffe.one_element import refused

SHAPES = ROOT / "examples" / "shapes"
needs_converter = pytest.mark.skipif(
    python2.converter_name() is None, reason="this Python has no lib2to3, and fissix is not installed"
)


def run(*args, cwd, **environment):
    """The output of `python -m boxpresso.caffe ARGS`, or the end of its errors."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BOXPRESSO_DEVICE": "cpu", "MPLBACKEND": "Agg", **environment}
    done = subprocess.run(
        [sys.executable, "-m", "boxpresso.caffe", *map(str, args)], cwd=cwd, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def clean():
    """install() taken back at the end."""
    yield
    caffe.uninstall()


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__slash__", "/").replace("__dot__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


DETECT = '''\
#!/usr/bin/env python
"""SSD as its examples write it, in Python 2."""
import os, sys
caffe_root = './'
sys.path.insert(0, os.path.join(caffe_root, 'python'))
import caffe
import numpy as np
from google.protobuf import text_format
from caffe.proto import caffe_pb2
from helpers import half, names

caffe.set_device(0)
caffe.set_mode_cpu()
model_def, model_weights, image_file = sys.argv[1:]
net = caffe.Net(model_def, model_weights, caffe.TEST)
transformer = caffe.io.Transformer({'data': net.blobs['data'].data.shape})
transformer.set_transpose('data', (2, 0, 1))
transformer.set_raw_scale('data', 255)
transformer.set_channel_swap('data', (2, 1, 0))
net.blobs['data'].reshape(1, 3, 128, 128)
net.blobs['data'].data[...] = transformer.preprocess('data', caffe.io.load_image(image_file))
detections = net.forward()['detection_out']
top = [i for i in xrange(detections.shape[2]) if detections[0, 0, i, 2] >= 0.5]
labelmap = caffe_pb2.LabelMap()
text_format.Merge('item { name: "a" label: 1 display_name: "circle" }', labelmap)
for i in top:
    label, box = int(detections[0, 0, i, 1]), detections[0, 0, i, 3:] * 512
    print '%s %.3f' % (names()[label], detections[0, 0, i, 2]), map(int, box)
print labelmap.item[0].display_name, half(7), half(7.0), 7 / 2, __name__ == '__main__', np.float is float
'''


@needs_converter
def test_an_ssd_script_in_python_2(tmp_path):
    write(
        tmp_path,
        detect__dot__py=DETECT,
        helpers__dot__py="""
        def half(x):
            return x / 2
        def names():
            return dict(zip(range(4), 'background circle box triangle'.split()))
        """,
    )
    files = SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel", SHAPES / "scene.png"
    lines = run("detect.py", *files, cwd=tmp_path).splitlines()
    assert lines[-1] == "circle 3 3.5 3 True True"
    names = sorted(line.split()[0] for line in lines[:-1])
    assert names == ["box", "circle", "circle", "triangle", "triangle"]
    assert not list(tmp_path.rglob("*.pyc"))  # converted code is not kept where plain Python would find it


def test_a_python_layer_of_the_users_own_module_and_cython_that_was_not_built(tmp_path):
    """As py-faster-rcnn: packages `nms` and `rpn`, a layer that an old net names, and the script in another folder."""
    write(
        tmp_path,
        lib__slash__nms__slash____init____dot__py="",
        lib__slash__rpn__slash____init____dot__py="",
        lib__slash__rpn__slash__proposal_layer__dot__py="""
            import caffe
            class ProposalLayer(caffe.Layer):
                def __init__(self, p_object, *args, **kwargs):
                    super().__init__(p_object, *args, **kwargs)
                    self.given = p_object.name
                def setup(self, bottom, top):
                    self.factor = float(self.param_str)
                def reshape(self, bottom, top):
                    top[0].reshape(*bottom[0].data.shape)
                def forward(self, bottom, top):
                    top[0].data[...] = self.factor * bottom[0].data + len(self.given)
                def backward(self, top, propagate_down, bottom):
                    pass
                def set_factor(self, factor):  # as Fast R-CNN's training calls set_roidb
                    self.factor = factor
            """,
        net__dot__prototxt="""
            input: "x" input_shape { dim: 1 dim: 2 }
            layer { name: "own" type: "Python" bottom: "x" top: "y"
                    python_param { module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "10" } }
            """,
        tools__slash__demo__dot__py="""
            import os, sys
            sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))
            import caffe, numpy as np
            from nms.cpu_nms import cpu_nms
            from nms.gpu_nms import gpu_nms
            from nms.cython_bbox import bbox_overlaps
            net = caffe.Net('net.prototxt', caffe.TEST)
            print(net.forward(x=np.array([[1, 2]]))['y'].tolist())
            net.layers[list(net._layer_names).index('own')].set_factor(2)
            print(net.forward(x=np.array([[1, 2]]))['y'].tolist())
            dets = np.array([[0, 0, 9, 9, .5], [0, 0, 9, 9, .6], [20, 20, 29, 29, .4]], np.float32)
            print(cpu_nms(dets, 0.3), gpu_nms(dets, 1.0, device_id=0))
            """,
    )  # fmt: skip
    assert run("tools/demo.py", cwd=tmp_path).splitlines() == [
        "[[13.0, 23.0]]", "[[5.0, 7.0]]", "[1, 2] [1, 0, 2]",
    ]  # fmt: skip


def test_modules_of_a_fork_are_taken_from_its_tree(tmp_path):
    write(
        tmp_path,
        python__slash__caffe__slash____init____dot__py="raise ImportError('the fork was not built')",
        python__slash__caffe__slash__model_libs__dot__py="""
            import caffe
            from caffe import layers as L
            assert len > 0  # as SSD's, which Python 3 refuses
            def body(net):
                for i in xrange(2):
                    net['conv%d' % i] = L.ReLU(net[net.keys()[-1]])
            """,
        examples__slash__ssd__slash__make__dot__py="""
            from __future__ import print_function
            import caffe
            from caffe.model_libs import *
            net = caffe.NetSpec()
            net.data = L.Input(shape=dict(dim=[1]))
            body(net)
            print([layer.name for layer in net.to_proto().layer], sorted(net.keys())[-1])
            """,
    )
    if python2.converter_name() is None:
        pytest.skip("this Python has no lib2to3, and fissix is not installed")
    assert run("make.py", cwd=tmp_path / "examples" / "ssd") == "['data', 'conv0', 'conv1'] data\n"


@needs_converter
def test_a_notebook(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# no code"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import caffe\n", "name = 'x'\n"]},
        {
            "cell_type": "code",
            "source": "%%time\ntotal = 0\nfor i in range(3):\n    total += i\nprint 'total', total / 2",
        },
        {"cell_type": "code", "source": ["!echo shell $name {total}\n", "files = !echo a; echo b\n", "print files\n"]},
        {
            "cell_type": "code",
            "source": ["% timeit total\n", "caffe.Net?\n", "if total:\n", "    !echo in\\\n", "    side\n"],
        },
    ]
    (tmp_path / "n.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    assert run("n.ipynb", cwd=tmp_path).split("\n") == ["total 1", "shell x 3", "['a', 'b']", "inside", ""]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"], "language": "python"}]}]}
    assert "x = 1" in notebook.script(json.dumps(old).encode(), "old")
    with pytest.raises(BoxpressoError, match="bad is not a Jupyter notebook"):
        notebook.script(b"[1]", "bad")


def test_a_module_and_errors(tmp_path):
    write(
        tmp_path,
        test_it__dot__py="""
        import unittest, caffe
        class T(unittest.TestCase):
            def test(self):
                self.assertEquals(caffe.TEST, 1)
        """,
    )
    run("-m", "unittest", "-q", "test_it", cwd=tmp_path)
    write(tmp_path, broken__dot__py="def (:\n")
    for name, words in (("missing.py", "cannot read missing.py"), ("broken.py", "SyntaxError")):
        with pytest.raises(AssertionError, match=words):
            run(name, cwd=tmp_path)


def test_install_and_uninstall(clean, monkeypatch):
    assert "caffe" not in sys.modules
    importing.install()
    importing.install()
    for name in ("", ".draw", ".io", ".proto", ".proto.caffe_pb2", ".net_spec"):
        assert importlib.import_module(f"caffe{name}") is sys.modules[f"boxpresso.caffe{name}"]
    assert sum(isinstance(finder, importing.CaffeFinder) for finder in sys.meta_path) == 1
    with pytest.raises(ModuleNotFoundError, match=r"caffe\.nothing"):
        importlib.import_module("caffe.nothing")
    importing.uninstall()
    assert "caffe" not in sys.modules
    monkeypatch.setitem(sys.modules, "caffe", type(sys)("caffe"))
    with pytest.raises(BoxpressoError, match="another caffe is imported already"):
        importing.install()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print 'x'", True),
        ("print", True),
        ("print ('a %s').format(1)", True),
        ("print ('a %s') % 1", True),
        ("try:\n    pass\nexcept ValueError, e:\n    pass", True),
        ("for k, v in d.iteritems(): pass", True),
        ("import cPickle", True),
        ("x = raw_input()", True),
        ("print('x')", False),
        ("print('a', end='')", False),
        ("import six\nsix.iteritems(d)", False),
        ("try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle", False),
        ("try:\n    from cStringIO import StringIO\nexcept ImportError:\n    from StringIO import StringIO", True),
        ("try:\n    from cStringIO import StringIO\nexcept ImportError:\n    from io import StringIO", False),
        ("try:\n    import Queue\nfinally:\n    x = 1", False),
        ("def unicode(x): return x\nunicode = str\nunicode(3)", False),
        ("def f(x: int) -> int:\n    return x", False),
        ("this is no python at all", False),
    ],
)
def test_python_2_is_told_apart(text, expected):
    if expected and python2.converter_name() is None and "except" not in text:
        pytest.skip("this Python has no lib2to3, and fissix is not installed")
    assert python2.is_python2(text) is expected


OLD = """# -*- coding: latin-1 -*-
'''docstring'''
from __future__ import print_function
import numpy as np, StringIO
if True:
\tx = 1
        y = 2
a = np.arange(4)
a /= 2
class C:
    n = 7
c = C()
c.n /= 2
result = dict(quotient=7 / 2, true=7 / 2., array=a.tolist(), attribute=c.n, negative=-7 / 2, keys={1: 2}.keys(),
              mapped=map(str, [1, 2]), rounded=(round(2.5), round(-1.5)), order=None < 0, data=a.tostring(),
              sliced=[0, 1, 2, 3][1.0 * 1:np.float32(3)], text=StringIO.StringIO(u'x').read(), chain=1 < 2 < 3, caught=[])
try:
    raise ValueError, 'old'
except ValueError, error:
    result['caught'].append(str(error))
"""


@needs_converter
def test_python_2_means_what_it_meant(tmp_path):
    space: dict[str, object] = {}
    exec(python2.compile_source(OLD.encode("latin-1"), "old.py", main=False), space)
    result = space["result"]
    assert result.pop("data") == np.array([0, 0, 1, 1]).tobytes()
    assert result == {
        "quotient": 3, "true": 3.5, "array": [0, 0, 1, 1], "attribute": 3, "negative": -4, "keys": [1],
        "sliced": [1, 2], "mapped": ["1", "2"], "rounded": (3.0, -2.0), "order": True, "text": "x", "chain": True, "caught": ["old"],
    }  # fmt: skip
    true = "from __future__ import division\nx = 7 / 2\nprint x"
    exec(python2.compile_source(true.encode(), "true.py"), space)
    assert space["x"] == 3.5


CURSOR = """
import lmdb
with lmdb.open(path) as env, env.begin() as reader:
    cursor, keys = reader.cursor(), []
    while cursor.next():
        keys.append(cursor.key())
class Count:
    def __init__(self):
        self.at = 0
    def next(self):
        self.at += 1
        return self.at
print iter([7]).next(), next(iter([]), 8), Count().next(), len(keys)
"""


@needs_converter
def test_next_of_what_is_no_iterator_is_its_method(tmp_path, capsys):
    """The converter makes next(x) of every x.next(); a cursor of LMDB has that method, and is no iterator."""
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path)) as env, env.begin(write=True) as writer:
        for key in (b"a", b"b", b"c"):
            writer.put(key, b"1")
    exec(python2.compile_source(CURSOR.encode(), "old.py", main=False), {"path": str(tmp_path)})
    assert capsys.readouterr().out == "7 8 1 3\n"


def test_python_2_without_a_converter_says_what_to_install(monkeypatch):
    monkeypatch.setattr(python2, "converter_name", lambda: None)
    with pytest.raises(BoxpressoError, match=r"old.py is Python 2, .* pip install fissix"):
        python2.compile_source(b"print 'x'", "old.py")
    with pytest.raises(SyntaxError):
        python2.compile_source(b"def (:", "bad.py")
    assert python2.compile_source(b"x = 7 / 2", "new.py")


@needs_converter
def test_a_python_3_module_beside_a_python_2_script(monkeypatch):
    monkeypatch.setattr(python2._State, "forced", None)
    python2.compile_source(b"print 'main'", "main.py", main=True)
    assert python2._State.forced is True
    space: dict[str, object] = {}
    exec(python2.compile_source(b"def f(*, x: int = 7) -> float:\n    return f'{x / 2}'", "new.py"), space)
    assert space["f"]() == "3.5"
    monkeypatch.setattr(python2._State, "forced", False)
    with pytest.raises(SyntaxError):
        python2.compile_source(b"print 'main'", "main.py", main=True)


def test_a_folder_that_pip_has_written_to_is_not_the_users(tmp_path, monkeypatch):
    """As `pip install --target` makes one: with a name of Python 2 in it, scipy would not be what it is."""
    for name in ("target", "own"):
        write(tmp_path / name, **{f"of_{name}.py": "print 'Python 2'\n"})
        monkeypatch.syspath_prepend(tmp_path / name)
    (tmp_path / "target" / "scipy-1.0.dist-info").mkdir()
    (tmp_path / "own" / "own.egg-info").mkdir()
    python2.installed.cache_clear()
    monkeypatch.setattr(python2, "installed", cache(python2.installed.__wrapped__))
    finder = python2.UserFinder()
    assert finder.find_spec("of_target") is None
    assert isinstance(finder.find_spec("of_own").loader, python2.UserLoader)


ONE = """import math
from math import floor
import numpy as np
one, three = np.array([[2.5]]), np.array([3])
a, d = np.zeros((2, 2)), {}
a[0, 1] = one
a[1] = [1, 2]
d['x'] = one
a[:, 0] = three
b = a
b[1, 1] = three[0]
result = (int(one), float(three), int('12', 8), math.sqrt(np.array([4.0])), floor(one), '%d %.1f %s' % (three, one, three), '%d' % three, a.tolist())
"""


@pytest.mark.parametrize("old", [False, pytest.param(True, marks=needs_converter)])
def test_arrays_of_one_element_are_numbers_as_until_numpy_2_4(old, monkeypatch, capsys):
    monkeypatch.setattr(python2._State, "forced", None)
    monkeypatch.setattr(libraries, "_said", set())
    space: dict[str, object] = {}
    exec(python2.compile_source((ONE + "print 'Python 2'\n" * old).encode(), "one.py", main=True), space)
    text, cells = "3 2.5 [3]", [[3.0, 2.5], [3.0, 3.0]]
    assert space["result"] == (2, 3.0, 10, 2.0, 2, text, "3", cells)
    assert space["d"]["x"] is space["one"]
    said = capsys.readouterr().err
    assert said.count("int takes an array of one element for its number as it was in old versions") == refused()
    bad = "import numpy as np\na = np.zeros(2)\n"
    for line in ("int(np.zeros(2))", "float([1])", "a[0] = np.ones(2)", "'%d' % np.ones(2)", "'%d' % 'x'", "a[5] = 1"):
        with pytest.raises((TypeError, ValueError, IndexError)):
            exec(python2.compile_source(f"{bad}{line}".encode(), "bad.py"), {})


def test_numpy_decides_where_old_versions_are_turned_off(monkeypatch):
    monkeypatch.setattr(python2._State, "forced", None)
    monkeypatch.setenv("BOXPRESSO_OLD_NAMES", "0")
    code = python2.compile_source(b"'a docstring'\nimport numpy as np\nx = int(np.ones(1))", "one.py")
    assert "_call_of_numbers" not in code.co_names


def test_compare_and_round():
    for name, a, b, expected in (
        ("lt", None, -1, True), ("lt", 3, "a", True), ("ge", "a", 3, True), ("gt", len, 0, True), ("le", 2, 2, True),
        ("lt", {}, [], True),
    ):  # fmt: skip
        assert python2.compare(name, a, b) is expected
    assert [python2.round2(v) for v in (0.5, 1.5, -2.5, 2.4)] == [1, 2, -3, 2]
    assert (python2.compare("lt", np.arange(2), 1) == [True, False]).all()


def test_what_evaluation_scripts_of_python_2_do(tmp_path):
    """py-faster-rcnn's test_net.py: boxes compared with [], and pickles in files that are opened as texts."""
    script_2 = """
        import cPickle, sys
        import numpy as np
        boxes = np.zeros((2, 5))
        print boxes == [], boxes != [], [] == [], [1] != [2], (np.arange(2) == [0, 5]).tolist()
        with open(sys.argv[1], 'w') as f:
            cPickle.dump({'name': boxes.shape}, f)
        with open(sys.argv[1], 'r') as f:
            print cPickle.load(f)
    """
    write(tmp_path, run__dot__py=script_2)
    said = run("run.py", tmp_path / "kept.pkl", cwd=tmp_path)
    assert said == "False True True True [True, False]\n{'name': (2, 5)}\n"


def test_names_that_libraries_dropped(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = dict(vars(np))
    for module, name, *_ in legacy.SIZES:
        monkeypatch.setattr(module, name, getattr(module, name))
    try:
        legacy.install()
        legacy.install()
        assert np.zeros((2.0, np.float64(3))).shape == np.ones(shape=[2.0, 3]).shape == (2, 3)
        assert len(np.linspace(0, 1, 5.0)) == 5
        assert np.random.choice(4, size=2.0, replace=False).shape == (2,)
        with pytest.raises(TypeError):
            np.zeros(2.5)
        assert np.float is float
        assert np.alltrue([True])
        assert np.fromstring(b"\x01\x02", dtype=np.uint8).tolist() == [1, 2]
        assert np.fromstring("1 2", sep=" ").tolist() == [1, 2]
    finally:
        for name in set(vars(np)) - set(before):
            delattr(np, name)
        np.fromstring = before["fromstring"]

    class Yaml:
        SafeLoader = "safe"

        @staticmethod
        def load(stream, Loader):
            return stream, Loader

    libraries.patch_yaml(Yaml)
    assert Yaml.load("x") == ("x", "safe")
    assert Yaml.load("x", "own") == ("x", "own")
    module = type(sys)("cv2")
    module.CV_FILLED = 7
    libraries.patch_cv2(module)
    assert (module.CV_AA, module.CV_FILLED) == (16, 7)


def test_modules_are_patched_when_they_are_imported(tmp_path, monkeypatch):
    (tmp_path / "old_library.py").write_text("x = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [legacy.Patches(), *sys.meta_path])
    monkeypatch.setitem(legacy.PATCHES, "old_library", lambda module: setattr(module, "y", module.x + 1))
    import old_library

    assert old_library.y == 2
    monkeypatch.delitem(sys.modules, "old_library")


def test_scipy_misc(tmp_path):
    from boxpresso.caffe import scipy_misc as misc

    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10
    misc.imsave(tmp_path / "i.png", image)
    np.testing.assert_array_equal(misc.imread(tmp_path / "i.png"), image)
    assert misc.imread(tmp_path / "i.png", flatten=True).dtype == np.float32
    assert misc.imread(tmp_path / "i.png", mode="L").shape == (2, 4)
    assert misc.imresize(image, (4, 6)).shape == (4, 6, 3)
    assert misc.imresize(image, 0.5).shape == misc.imresize(image, 50).shape == (1, 2, 3)
    np.testing.assert_array_equal(misc.imresize(image, (2, 2), "nearest"), image[:, 1::2])
    assert misc.bytescale(np.array([1.0, 2, 3])).tolist() == [0, 128, 255]
    module = type(sys)("scipy.misc")
    module.imread = "kept"
    libraries.patch_scipy_misc(module)
    assert (module.imread, module.imresize) == ("kept", misc.imresize)


def test_a_module_that_scipy_dropped(tmp_path, monkeypatch):
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [legacy.Patches(), *sys.meta_path])
    for name in ("scipy", "scipy.misc"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    misc = importlib.import_module("scipy.misc")
    assert misc.imresize(np.zeros((4, 4), np.uint8), 0.5).shape == (2, 2)
    for name in ("scipy", "scipy.misc"):
        del sys.modules[name]  # not by monkeypatch, which would put it back


def test_a_compiled_modules_names():
    """MobileNet-SSD's merge_bn.py asks whether a net's parameters are a BlobVec."""
    from boxpresso.caffe import _caffe

    assert _caffe.BlobVec is list
    assert _caffe.Net is caffe.Net
    assert _caffe.Layer is caffe.Layer


def test_cython_functions():
    rng = np.random.default_rng(0)
    boxes = rng.integers(0, 40, (30, 2)).astype(float)
    boxes = np.hstack([boxes, boxes + rng.integers(1, 30, (30, 2))])
    scores = rng.permutation(30) / 30
    dets = np.hstack([boxes, scores[:, None]]).astype(np.float32)
    areas = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)

    def iou(a, b):
        w = min(boxes[a, 2], boxes[b, 2]) - max(boxes[a, 0], boxes[b, 0]) + 1
        h = min(boxes[a, 3], boxes[b, 3]) - max(boxes[a, 1], boxes[b, 1]) + 1
        return max(w, 0) * max(h, 0) / (areas[a] + areas[b] - max(w, 0) * max(h, 0))

    expected: list[int] = []
    for i in np.argsort(-scores):
        if all(iou(i, j) < 0.3 for j in expected):
            expected.append(int(i))
    assert cython.cpu_nms(dets, 0.3) == expected
    overlaps = cython.bbox_overlaps(boxes, boxes[:7])
    assert overlaps.shape == (30, 7)
    np.testing.assert_allclose(overlaps, [[iou(i, j) for j in range(7)] for i in range(30)])
    assert cython.cpu_nms(dets[:0], 0.3) == cython.gpu_nms(dets[:0], 0.3) == []


def test_arguments_of_the_command():
    options = script.parse(["--python", "2", "x.py", "--gpu", "-m", "y"])
    assert (options.python, options.module, options.script) == ("2", None, "x.py")
    assert options.rest == ["--gpu", "-m", "y"]
    options = script.parse(["-m", "unittest", "-q", "x"])
    assert (options.module, options.script, options.rest) == ("unittest", None, ["-q", "x"])
    for wrong in ([], ["--python", "4", "x.py"], ["--nothing", "x.py"]):
        with pytest.raises(SystemExit):
            script.parse(wrong)


# Text that is bytes

BYTES = {  # lines in Python 2, and what it prints
    "check_output": (
        "import subprocess\nprint subprocess.check_output(['echo', 'a b']).split('\\n')[0].split(' ')",
        "['a', 'b']",
    ),
    "struct": (
        "import struct\ns = struct.pack('>I', 2051) + 'abc'\nprint len(s), struct.unpack('>I', s[:4])",
        "7 (2051,)",
    ),
    "files": (
        "open('l.txt', 'wb').write('a 1\\nb 2\\n')\nlines = open('l.txt', 'rb').read().split('\\n')\n"
        "print lines[0].split(' ')[1], lines[1] == 'b 2', {'b 2': 5}[lines[1]], '%s!' % lines[0], isinstance(lines[0], str)",
        "1 True 5 a 1! True",
    ),
    "codecs": (
        "import base64\nprint base64.b64encode('abc'), 'abc'.encode('hex'), '616263'.decode('hex')",
        "YWJj 616263 abc",
    ),
    "hashes": (
        "import hashlib, json\njson.dump({'a': 1}, open('j', 'wb'))\nprint hashlib.md5('abc').hexdigest()[:6]",
        "900150",
    ),
    "tempfile": (
        "import tempfile\nf = tempfile.NamedTemporaryFile(delete=False)\nf.write('name: \"x\"')\nf.close()\nprint open(f.name).read()",
        'name: "x"',
    ),
    "csv": (
        "import csv\nf = open('c', 'wb')\ncsv.writer(f).writerow(['a', 1])\nf.close()\n"
        "print list(csv.reader(open('c', 'rb'))), open('c').read().strip()",
        "[['a', '1']] a,1",
    ),
    "gzip": (
        "import gzip\nf = gzip.open('m', 'wb')\nf.write('\\xff\\x00a')\nf.close()\nprint repr(gzip.open('m').read())",
        r"'\xff\x00a'",
    ),
    "pictures": (
        "import StringIO, Image\nf = StringIO.StringIO()\nImage.new('L', (3, 2)).save(f, 'PNG')\n"
        "print Image.open(StringIO.StringIO(f.getvalue())).size",
        "(3, 2)",
    ),
    "names of modules": (
        "from StringIO import StringIO\nfrom subprocess import check_output\nf = StringIO('ab')\n"
        "print f.read() + 'c', check_output(['echo', 'x']).strip().split(' ')",
        "abc ['x']",
    ),
    "messages": (
        "import caffe\nd = caffe.proto.caffe_pb2.Datum()\nd.data = 'ab\\r\\n\\xc3\\xa9\\xff'\nd.label = 3\n"
        "open('d', 'w').write(d.SerializeToString())\ne = caffe.proto.caffe_pb2.Datum()\n"
        "e.ParseFromString(open('d').read())\nprint e.label, len(e.data)",
        "3 7",
    ),
    "names": (
        "import string\nprint string.letters[:2], string.join(['a', 'b'], '-'), sorted([1, 3, 2], cmp=lambda a, b: cmp(b, a))",
        "ab a-b [3, 2, 1]",
    ),
    "numpy": (
        "import numpy as np\nopen('l', 'w').write('a 1\\nb 2\\n')\nnp.set_printoptions(threshold=np.nan)\n"
        "np.set_printoptions(threshold='nan')\nassert '...' not in str(np.zeros(1234))\n"
        "np.savez('z', boxes=[[1], [2, 3]])\n"
        "print list(np.loadtxt('l', str, delimiter='\\n')), np.load('z.npz', allow_pickle=True)['boxes'].shape",
        "[np.str_('a 1'), np.str_('b 2')] (2,)",
    ),
    "pickles of files that are opened in the call": (
        "import cPickle, pickle as pkl\nfrom cPickle import dump, load\ncPickle.dump([1, u'a'], open('p', 'w'))\n"
        "pkl.dump(range(9999), open('q', 'w'), 2)\ndump([3], open('r', 'w'))\nf = open('s', 'w')\np = cPickle.Pickler(f)\n"
        "p.dump([4])\npkl.dump([5], f)\nf.close()\ng = open('s')\n"
        "print cPickle.load(open('p'))[0], len(pkl.load(open('q'))), load(open('r')), cPickle.Unpickler(g).load(), pkl.load(g)",
        "1 9999 [3] [4] [5]",
    ),
    "arrays in files that are opened as texts": (
        "f = open('n', 'w')\nnp.save(f, np.arange(3))\nf.close()\nnp.savez(open('o', 'w'), a=np.arange(4))\n"
        "print np.load(open('n')), np.load('n'), np.load(open('o'))['a'], np.load('o')['a']",
        "[0 1 2] [0 1 2] [0 1 2 3] [0 1 2 3]",
    ),
    "bytes in a file that is opened as a text": (
        "f = open('t', 'w')\nf.write('ab')\nf.write(struct.pack('<I', 0xfffefd80))\n"
        "f.write(np.arange(250, 253).astype(np.uint8).tostring())\nf.write('z')\nf.close()\n"
        "print [ord(c) for c in open('t', 'rb').read()]",
        "[97, 98, 128, 253, 254, 255, 250, 251, 252, 122]",
    ),
}


@needs_converter
def test_text_of_python_2_is_bytes(tmp_path):
    """All in one script: each of them prints what Python 2 prints, and what is emulated is said once."""
    lines = [line for code, _ in BYTES.values() for line in code.split("\n")]
    (tmp_path / "all.py").write_text("\n".join(lines) + "\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BOXPRESSO_DEVICE": "cpu"}
    command = [sys.executable, "-m", "boxpresso.caffe", "all.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    wanted = [
        output if np.__version__ >= "2" else output.replace("np.str_('a 1'), np.str_('b 2')", "'a 1', 'b 2'")
        for _, output in BYTES.values()
    ]
    assert done.stdout.splitlines() == wanted, done.stderr[-2000:]
    said = [line for line in done.stderr.splitlines() if line.startswith("boxpresso.caffe:")]
    assert len(said) == len(set(said))
    assert "BOXPRESSO_PYTHON2_BYTES=0 turns it off" in said[0]
    assert any("import Image takes PIL.Image" in line for line in said)
    off = {**env, "BOXPRESSO_PYTHON2_BYTES": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=off, capture_output=True, text=True)
    assert done.returncode
    assert "bytes-like object is required" in done.stderr  # Python 3's own error, at its own line


def test_a_file_that_a_loop_reads_is_handed_on(tmp_path):
    """A file between two lines does not tell its place; a call with it is made all the same."""
    from boxpresso.caffe import text2

    path = tmp_path / "lines"
    path.write_text("a\nb\n")
    with text2.open_file(path) as file:
        for _ in file:
            assert text2.call(getattr, file, "name") == str(path)
    with open(path) as closed:
        pass
    assert text2.call(getattr, closed, "closed")


def test_a_script_of_2014_has_its_phase_beside_its_nets(tmp_path):
    write(
        tmp_path,
        net__dot__prototxt="""layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
            layer { name: "d" type: "Dropout" bottom: "x" top: "y" }""",
        old__dot__py="""
            import caffe
            caffe.Net('net.prototxt', caffe.TEST).save('weights')
            net = caffe.Net('net.prototxt', 'weights')
            net.set_phase_test()
            net.set_mode_cpu()
            print(net.phase)
            caffe.set_phase_train()
            net = caffe.Net('net.prototxt', 'weights')
            print(net.phase)
            net.set_phase_test()
        """,
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BOXPRESSO_DEVICE": "cpu"}
    command = [sys.executable, "-m", "boxpresso.caffe", "old.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["TEST", "TRAIN"], done.stderr[-2000:]
    assert "without a phase is for TEST as it was in old versions" in done.stderr
    assert "this net was made for TRAIN, which cannot change" in done.stderr
    off = subprocess.run(command, cwd=tmp_path, env={**env, "BOXPRESSO_OLD_NAMES": "0"}, capture_output=True, text=True)
    assert "Net needs a prototxt and a phase" in off.stderr


def test_arrays_of_files_own_their_data(tmp_path):
    """ndarray.resize takes what numpy.load gives, as with the numpy of old scripts; a file that is mapped stays so."""
    np.save(tmp_path / "mean.npy", np.arange(12.0).reshape(3, 4))
    load = legacy.with_own_data(np.load)
    mean = load(tmp_path / "mean.npy")
    mean.resize((2, 3))
    np.testing.assert_array_equal(mean, [[0, 1, 2], [3, 4, 5]])
    assert isinstance(load(tmp_path / "mean.npy", mmap_mode="r"), np.memmap)


def test_multichannel_of_scikit_image(capsys):
    """Functions that take channel_axis take the word that was before it; one that has the old word stays as it is."""
    from types import SimpleNamespace

    def rescale(image, scale, channel_axis=None):
        return image, scale, channel_axis

    def resize(image, size):  # which has never needed it
        return image, size

    def pyramid_reduce(image, multichannel=False):
        return multichannel

    transform = SimpleNamespace(rescale=rescale, resize=resize, pyramid_reduce=pyramid_reduce)
    libraries.patch_transform(transform)
    assert transform.rescale(1, 2, multichannel=True) == (1, 2, -1)
    assert transform.rescale(1, 2, multichannel=False) == transform.rescale(1, 2) == (1, 2, None)
    assert transform.rescale(1, 2, multichannel=True, channel_axis=0) == (1, 2, 0)
    assert transform.resize(1, 3, multichannel=True) == (1, 3)
    assert transform.pyramid_reduce is pyramid_reduce
    assert "multichannel" in capsys.readouterr().err


def test_calls_raise_their_own_errors():
    """A call that fails for another reason is made once, and its error is its own."""
    from boxpresso.caffe import text2

    made = []

    def fails(*args):
        made.append(args)
        raise TypeError("no such thing")

    with pytest.raises(TypeError, match="no such thing"):
        text2.call(fails, 1, [2])
    assert made == [(1, [2])]
    with pytest.raises(ValueError, match="invalid literal"):
        text2.call(int, "x")


@pytest.mark.parametrize(("line", "hinted"), [
    ("'ab'[: 4 / 2]", True), ("range(4 / 2)", True), ("np.zeros(3)[4 / 2]", True), ("__import__('hashlib').md5().update('a')", False),
    ("b'a'.split('a')", True), ("__import__('io').TextIOWrapper(__import__('io').BytesIO()).write(b'a')", True), ("b'\\x80'.decode()", True), ("int(None)", False), ("[][1]", False),
])  # fmt: skip
def test_errors_of_python_2_have_a_hint(line, hinted, capsys):
    """What Python 3 and numpy say of numbers that were whole in Python 2, and of text that was bytes."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        eval(line)
    script.hint(caught.type, caught.value, caught.tb)
    assert ("if it was written for Python 2, use --python 2" in capsys.readouterr().err) is hinted


def test_a_script_that_may_be_python_2(tmp_path):
    """Without a word that only Python 2 has it counts as Python 3, and divides as it does."""
    write(tmp_path, run__dot__py="import caffe\nprint('abc'[: 4 / 2])\n")
    command = [sys.executable, "-m", "boxpresso.caffe", "run.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "use --python 2" in done.stderr
    assert run("--python", "2", "run.py", cwd=tmp_path) == "ab\n"


def test_a_folder_that_is_a_package_too(tmp_path):
    """Its modules are imported by themselves, as a net's Python layer is: then what they import is not relative. In a package it is."""
    write(
        tmp_path,
        __init____dot__py="",
        config__dot__py="SIZE = 12",
        layer__dot__py="import config\nprint 'layer', config.SIZE",
    )
    write(
        tmp_path / "inner",
        __init____dot__py="",
        config__dot__py="SIZE = 24",
        layer__dot__py="import config\nprint config.SIZE",
    )
    write(tmp_path, run__dot__py="import layer\nimport inner.layer\nprint 'end'")
    assert run("run.py", cwd=tmp_path) == "layer 12\n24\nend\n"


@pytest.mark.parametrize("literal", ["{!r}", "_b({!r})"])
def test_modules_of_an_old_protoc(tmp_path, literal):
    """They describe their messages by calls that protobuf refuses since 4, and hold what protoc makes of them today."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name=f"old{len(literal)}.proto", package=f"old{len(literal)}")
    message = file.message_type.add(name="Box")
    message.field.add(name="x", number=1, type=2, label=1)
    message.enum_type.add(name="Kind").value.add(name="FACE", number=3)
    data = literal.format(file.SerializeToString().decode("latin-1"))
    (tmp_path / "box_pb2.py").write_text(
        "_b = lambda text: text.encode('latin1')\nfrom google.protobuf import descriptor as _descriptor\n"
        f"DESCRIPTOR = _descriptor.FileDescriptor(name='{file.name}', package='{file.package}', serialized_pb={data})\n"
        "_BOX = _descriptor.Descriptor(name='Box', full_name='Box', filename=None, file=DESCRIPTOR, fields=[])\n"
    )
    write(tmp_path, run__dot__py="""\
        import box_pb2
        box = box_pb2.Box(x=1.5)
        print box_pb2.Box.FromString(box.SerializeToString()).x, box_pb2.Box.FACE
    """)  # fmt: skip
    assert run("run.py", cwd=tmp_path) == "1.5 3\n"


def test_tostring_of_arrays_in_python_3(tmp_path):
    """numpy has dropped it since many a script wrote a datum with it; functions of that name and methods of a script's own stay."""
    write(tmp_path, run__dot__py="""\
        import caffe, numpy
        from xml.etree import ElementTree
        print(f"{numpy.arange(2, dtype='u1').tostring()} {ElementTree.tostring(ElementTree.Element('a'))}")
        import own
    """, own__dot__py="""\
        class Own:
            def tostring(self):
                return "own"
        print(Own().tostring())
    """)  # fmt: skip
    assert run("run.py", cwd=tmp_path).split() == [r"b'\x00\x01'", "b'<a", "/>'", "own"]
