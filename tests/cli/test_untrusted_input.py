"""Files, names and numbers from elsewhere against `finish`, merging, curves, reports, cv2.dnn's and pycaffe's surface, and the command.

Patterns that take the square of a text's length are tried on texts for which they would need minutes.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from tiny_ssd import write_tiny

from boxpresso import Net, ops
from boxpresso.__main__ import main
from boxpresso.caffe import importing
from boxpresso.caffe.io import load_image
from boxpresso.caffe.notebook import script
from boxpresso.data import hdf5
from boxpresso.data.annotations import Files
from boxpresso.data.errors import DataError
from boxpresso.data.folders import read_list, read_wider
from boxpresso.dnn import ClassificationModel, DetectionModel, readNetFromCaffe
from boxpresso.dnn.models import whole_box
from boxpresso.exports import convert_weights
from boxpresso.exports.merging import merge
from boxpresso.graph.anchors import read_anchors
from boxpresso.labels import read_labels
from boxpresso.layers.core.param_str import MOST, read_param_str
from boxpresso.net.weights import read_weights, save_weights
from boxpresso.proto import BoxpressoError, LayerError, ModelError, parse_net
from boxpresso.proto.errors import BoxpressoWarning
from boxpresso.proto.hdf5 import Reader
from boxpresso.recipes import yolo_names
from boxpresso.recipes.finishing import finish
from boxpresso.reports import write_net_report
from boxpresso.reports.blocks import Box, graph_of, key_of, title
from boxpresso.reports.weights import BINS, statistics
from boxpresso.train.curves import Tail, read_curves

pytestmark = pytest.mark.later

LONG = 300_000
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


# finish and merge

HEAD = """layer { name: "x" type: "Input" top: "x" } layer { name: "regions" type: "Input" top: "regions" }
layer { name: "targets" type: "ProposalTarget" bottom: "regions" bottom: "x" top: "rois" top: "labels" top: "targets" top: "in" top: "out"
    python_param { param_str: "'num_classes': 2, 'bbox_normalize_targets_precomputed': True" } }
layer { name: "box" type: "InnerProduct" bottom: "x" top: "b0" inner_product_param { num_output: 8 } }
"""
LOSS = 'layer { name: "loss" type: "SmoothL1Loss" bottom: "%s" bottom: "targets" top: "loss" }'


def finished(folder: Path, text: str, size: int = 8, **options):
    save_weights(folder / "a.h5", [("box", "InnerProduct", ["x"], ["b0"], [np.ones((size, 3)), np.ones(8)])])
    return finish(parse_net(HEAD + text), folder / "a.h5", folder / "b.h5", **options)


def test_deep_nets_are_finished(tmp_path):
    deep = "".join(f'layer {{ name: "r{i}" type: "Reshape" bottom: "b{i}" top: "b{i + 1}" }}\n' for i in range(3000))
    assert len(finished(tmp_path, deep + LOSS % "b3000")) == 1


def test_concats_do_not_multiply(tmp_path):
    twice = "".join(
        f'layer {{ name: "c{i}" type: "Concat" bottom: "b{i}" bottom: "b{i}" top: "b{i + 1}" concat_param {{ axis: 0 }} }}\n'
        for i in range(40)
    )
    assert len(finished(tmp_path, twice + LOSS % "b40")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('layer { name: "p" type: "PSROIPooling" bottom: "b0" bottom: "rois" top: "p" }' + LOSS % "p", "group_size of 0"),
        ('layer { name: "p" type: "PSROIPooling" top: "p" psroi_pooling_param { group_size: 3 } }' + LOSS % "p", "nothing to finish"),
        ('layer { name: "d" type: "DecodeBBox" top: "d" bbox_reg_param { bbox_std: 1 } }' + LOSS % "b0", "has no bottom 0"),
        ('layer { name: "d" type: "FrcnnOutput" bottom: "x" top: "d" bbox_reg_param { bbox_std: 1 } }' + LOSS % "b0", "has no bottom 1"),
    ],
)  # fmt: skip
def test_wrong_train_nets_are_named(text, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        finished(tmp_path, text)
    assert not (tmp_path / "b.h5").exists()


def test_ragged_deviations_are_named(tmp_path):
    text = (HEAD + LOSS % "b0").replace("True", "True, 'bbox_normalize_stds': [[1], [1, 2]]")
    save_weights(tmp_path / "a.h5", [("box", "InnerProduct", ["x"], ["b0"], [np.ones((8, 3)), np.ones(8)])])
    with pytest.raises(BoxpressoError, match="targets"):
        finish(parse_net(text), tmp_path / "a.h5", tmp_path / "b.h5")
    with pytest.raises(ModelError, match="stds must be numbers"):
        finished(tmp_path, LOSS % "b0", stds="abc")


def test_weights_without_numbers_claim_nothing(tmp_path):
    """An empty blob fits any number of outputs."""
    save_weights(tmp_path / "a.h5", [("box", "InnerProduct", ["x"], ["b0"], [np.ones((0, 3))])])
    text = (HEAD + LOSS % "b0").replace("num_output: 8", "num_output: 4294967295")
    with pytest.raises(ModelError, match="does not fit 4294967295 outputs"):
        finish(parse_net(text), tmp_path / "a.h5", tmp_path / "b.h5")


@needs_pipes
def test_deviations_of_a_pipe_or_a_wrong_header(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "net.prototxt", HEAD + LOSS % "b0")
    finished(tmp_path, LOSS % "b0")
    pipe(tmp_path / "pipe.npy")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
    (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8))
    (tmp_path / "open.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 9) + b"{'a': ((((")
    for name, message in (
        ("pipe", "a pipe"),
        ("huge", "asks for 800000000000 bytes"),
        ("open", "header cannot be read"),
    ):
        words = ["finish", "net.prototxt", "a.h5", "c.h5", "--stds", f"{name}.npy"]
        assert main(words) == 1
        assert message in capsys.readouterr().err
        with pytest.raises(ModelError, match=message):
            read_anchors(tmp_path / f"{name}.npy")


def test_merging_is_linear_and_writes_both_files_or_none(tmp_path, monkeypatch):
    text = 'layer { name: "x" type: "Input" top: "c0" input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } } }\n' + "".join(
        f'layer {{ name: "c{i}" type: "Convolution" bottom: "c{i}" top: "c{i + 1}" convolution_param {{ num_output: 1 kernel_size: 1 }} }}\n'
        f'layer {{ name: "b{i}" type: "BatchNorm" bottom: "c{i + 1}" top: "c{i + 1}" }}\n'
        for i in range(200)
    )  # fmt: skip
    seen = []
    monkeypatch.setattr(np, "shares_memory", lambda *arrays: seen.append(1))
    net, path = parse_net(text), tmp_path / "a.caffemodel"
    Net(net, device="cpu", seed=1).save(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelError, match="cannot write"):
        merge(net, path, tmp_path / "b.prototxt", tmp_path / "folder")
    with pytest.raises(ModelError, match="cannot write"):
        merge(net, path, tmp_path / "missing" / "b.prototxt", tmp_path / "b.caffemodel")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.caffemodel", "folder"]
    assert len(merge(net, path, tmp_path / "b.prototxt", tmp_path / "b.caffemodel")) == 200
    assert not seen  # not each layer against each other one


# Patterns


def test_patterns_take_no_square_of_a_text(tmp_path):
    """Each of these took minutes."""
    assert read_labels(put(tmp_path / "a", "\n" * LONG + "cat\n")) == {LONG: "cat"}
    with pytest.raises(ModelError, match="is a text, not a list of names: line 1"):
        read_labels(put(tmp_path / "b", "item" + " " * LONG + "x\n"))
    assert read_labels(put(tmp_path / "c", "item:\n {\nname: 'x' label: 3 }\n")) == {3: "x"}
    with pytest.raises(ModelError, match="JSON"):
        read_anchors(put(tmp_path / "d", '"' + '\\"' * LONG))
    assert read_anchors(put(tmp_path / "e", '{"anchors": "1 2 3 4" // "\n}')).tolist() == [[1, 2, 3, 4]]
    assert read_param_str("a" + " " * LONG + "#: 1") == "a"
    with pytest.raises(LayerError, match="param_str cannot be read at"):
        read_param_str("a: 1\nb" + " " * LONG + "x#: 1")
    assert read_param_str("a: b\n" * 150_000) == {"a": "b"}
    with pytest.raises(LayerError, match="letters"):
        read_param_str(" " * (MOST + 1))
    assert key_of("_" * LONG) == key_of("_" * 200)
    assert title([Box("a" * LONG + "_1b1", []), Box("a" * LONG + "_1b2", [])], False)
    assert not read_curves(["Iteration 1 (1 iter/s" * 50_000, "Iteration 1 " * 50_000])
    assert read_curves(["Iteration 7 (2 iter/s), loss = 1, loss = 2.5"]).loss == [(7, 2.5)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names:[\n" * 50_000, []),
        ("names:\n - a" + " " * LONG + "b\n", ["a" + " " * LONG + "b"]),
        ("names" + "\n" * LONG, []),
        ("nc: 2\nnames: [cat, 'dog']\n", ["cat", "dog"]),
        ("names:\n  [a,\n   b]\n", ["a", "b"]),
        ("names: # of classes\n\n  - a # one\n  # two\n  - b c\ntrain: x\n - d\n", ["a", "b c"]),
        ("names:\n  0: cat\n  2 : dog\n", ["cat", "", "dog"]),
        ("names:\n  0: cat\n  9999999 : dog\n", ["cat"]),
        ("names: cat\n - dog\n", []),
        ("a: &a [x, x]\nb: &b [*a, *a]\nnames: [*b, *b]\n", []),
    ],
)
def test_the_names_of_a_yaml(text, names, tmp_path):
    put(tmp_path / "data.yaml", text)
    assert yolo_names.yaml_names(Files(tmp_path)) == names


@pytest.mark.parametrize(
    "text", ["names: " + "[" * LONG, "- " * LONG, "? " * LONG, "names: 'a", "names: *a", "names: [a: {"]
)
def test_yaml_that_cannot_be_read(text, tmp_path):
    put(tmp_path / "data.yaml", text)
    with pytest.raises(DataError, match=r"data\.yaml(, line \d,)? cannot be read as YAML: "):
        yolo_names.yaml_names(Files(tmp_path))
    (tmp_path / "data.yaml").rename(tmp_path / "of another program.yml")
    assert yolo_names.yaml_names(Files(tmp_path)) == []


def test_numbers_of_many_digits_are_refused(tmp_path):
    with pytest.raises(DataError, match="number of faces"):
        read_wider(put(tmp_path / "wider_face_train_bbx_gt.txt", "a.png\n" + "9" * 5000 + "\n"))
    with pytest.raises(DataError, match="path label"):
        read_list(str(put(tmp_path / "list", "a.png " + "9" * 5000 + "\n")))


def test_a_key_that_is_no_key():
    for text in ("{[]: 1}", "a: {[1]: 1}"):
        with pytest.raises(LayerError, match="param_str cannot be read"):
            read_param_str(text)


# Numbers and nets


@pytest.mark.parametrize(
    "values", [[1e20] * 9, [0, 1e-45], [-3.4e38, 3.4e38], [3.4e38] * 4, [np.nan, np.inf], [0.5] * 3, []]
)
def test_histograms_of_any_weights(values):
    seen = statistics(np.array(values, np.float32))
    assert sum(seen.bins) == np.isfinite(values).sum()
    assert len(seen.bins) == BINS


def test_bins_are_numpys():
    values = np.random.default_rng(1).normal(size=5000).astype(np.float32)
    assert list(statistics(values).bins) == np.histogram(values.astype(float), BINS)[0].tolist()


def test_a_graph_that_nobody_can_look_at_is_not_drawn(tmp_path):
    rng = np.random.default_rng(1)
    text = 'layer { name: "x" type: "Input" top: "b0" input_param { shape { dim: 1 } } }\n'
    for i in range(700):
        bottoms = " ".join(f'bottom: "b{j}"' for j in rng.integers(0, i + 1, 4))
        text += f'layer {{ name: "l{i}" type: "Eltwise" {bottoms} top: "b{i + 1}" }}\n'
    net = Net(parse_net(text), device="cpu", lazy=True)
    assert not graph_of(net).root.items
    write_net_report(tmp_path / "a.html", net, model="m")
    assert "the graph is not drawn" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_rows_far_away_are_found_at_once(tmp_path, monkeypatch):
    """A state of training may say any iteration; a batch may be larger than its file."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed (pip install 'boxpresso[train]')")
    for i, count in enumerate((3, 4)):
        with h5py.File(tmp_path / f"{i}.h5", "w") as file:
            file["data"] = np.arange(count, dtype=np.float32) + 10 * i
    put(tmp_path / "list", f"{tmp_path / '0.h5'}\n{tmp_path / '1.h5'}\n")
    for shuffle in (False, True):
        opened: list[str] = []
        monkeypatch.setattr(hdf5, "Reader", lambda path, seen=opened: seen.append(path) or Reader(path))
        rows = hdf5.Rows(str(tmp_path / "list"), ["data"], shuffle, 1, np.float32)
        (all_rows,) = rows.take(700)
        rows.seek(345)
        assert rows.take(9)[0].tolist() == all_rows[345:354].tolist()
        rows.seek(7 * 10**15 + 2)
        assert sorted(rows.take(7)[0].tolist()) == [0, 1, 2, 10, 11, 12, 13] or shuffle
        assert len(opened) == 2


def test_options_of_operators_that_no_field_holds():
    x, rois = np.ones((1, 4, 8, 8), np.float32), np.zeros((1, 5), np.float32)
    for options in ({"output_size": (2**63, 1)}, {"output_size": -1}, {"output_size": 2, "sampling_ratio": 2**31}):
        with pytest.raises(LayerError, match=r"^roi_align: (output_size must be above 0, got -1|.*out of range)"):
            ops.roi_align(x, rois, **options)


def test_opencvs_surface_with_wild_nets(tmp_path):
    model, weights = write_tiny(tmp_path)
    text = Path(model).read_text().replace("keep_top_k: 100", "keep_top_k: 2147483647")
    net = readNetFromCaffe(text.encode(), Path(weights).read_bytes())
    net.setInput(np.zeros(next(iter(net.inputs().values())), np.float32))
    assert net.forward().shape == (1, 1, 2**14, 7)
    alone = readNetFromCaffe(
        b'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }'
    )
    picture = np.zeros((4, 4, 3), np.uint8)
    for call in (
        alone.forward,
        lambda: DetectionModel(alone).detect(picture),
        lambda: ClassificationModel(alone).classify(picture),
    ):
        with pytest.raises(BoxpressoError, match=r"no layers but its inputs|no scores"):
            call()
    for value in (np.nan, np.inf, -np.inf, 3e38):
        left, top, wide, high = whole_box(np.array([value, 0, value, 1], np.float32), 100, 90)
        assert 0 <= left < 100 and 0 <= top < 90 and 1 <= wide <= 100 and 1 <= high <= 90  # noqa: PT018


# What is read, and from where


@needs_pipes
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_nothing_blocks(kind, tmp_path):
    path = pipe(tmp_path / "it.png") if kind == "pipe" else tmp_path / "it.png"
    if kind == "device":
        path.symlink_to("/dev/zero")
    safe = tmp_path / "it.safetensors"
    safe.symlink_to(path)
    pytest.importorskip("safetensors", reason="its files need it")
    for read in (
        lambda: Tail(str(path)).read(),
        lambda: load_image(path),
        lambda: convert_weights(safe, tmp_path / "a.h5"),
    ):
        with pytest.raises(BoxpressoError, match=f"a {kind}, not a regular file"):
            read()
    text = f'''layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 1 dim: 1 dim: 1 dim: 7 }} }} }}
        layer {{ name: "y" type: "Input" top: "y" input_param {{ shape {{ dim: 1 dim: 1 dim: 1 dim: 8 }} }} }}
        layer {{ name: "e" type: "DetectionEvaluate" bottom: "x" bottom: "y" top: "z"
                 detection_evaluate_param {{ num_classes: 2 name_size_file: "{path}" }} }}'''
    with pytest.raises(LayerError, match=f"a {kind}, not a regular file"):
        Net(parse_net(text), device="cpu")


def test_a_log_without_ends_of_lines_takes_no_memory(tmp_path):
    (tmp_path / "log").write_bytes(b"x" * 3_000_000 + b"\nIteration 3, loss = 2\nIteration 4, loss = 1")
    tail = Tail(str(tmp_path / "log"))
    assert tail.read()
    assert tail.curves.loss == [(3, 2.0)]
    tail.finish()
    assert tail.curves.loss == [(3, 2.0), (4, 1.0)]
    assert not tail.read()


def test_pycaffe_starts_no_program_for_a_picture(tmp_path):
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n")
    with pytest.raises(BoxpressoError, match=r"cannot read the image .*a\.png"):
        load_image(tmp_path / "a.png")


@pytest.mark.parametrize("source", [[1, 2], 7, [None], {"a": 1}])
def test_a_cell_of_a_notebook_that_is_no_text(source):
    data = json.dumps({"cells": [{"cell_type": "code", "source": source}]}).encode()
    if source == {"a": 1}:
        assert "a" in script(data, "it")
        return
    with pytest.raises(BoxpressoError, match="is not a Jupyter notebook"):
        script(data, "it")


@pytest.mark.parametrize(
    "table", ["[" * 100_000, '[{"name": 5, "type": [], "blobs": ["a.weight"]}]', '[{"name": "a"}]', "7"]
)
def test_the_list_of_layers_of_a_safetensors(table, tmp_path):
    pytest.importorskip("safetensors", reason="its files need it")
    header = {"__metadata__": {"layers": table}, "a.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    packed = json.dumps(header).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(packed)) + packed + bytes(4))
    with pytest.raises(ModelError, match="its list of layers cannot be read"):
        convert_weights(tmp_path / "a.safetensors", tmp_path / "a.caffemodel")


@pytest.mark.skipif(os.name != "posix", reason="owners are those of a Unix system")
def test_modules_of_caffe_are_not_taken_from_anybody(tmp_path, monkeypatch):
    """In a folder that all may write to, such as /tmp, a module of `caffe` may be somebody else's."""
    file = put(tmp_path / "python" / "caffe" / "special.py", "VALUE = 3\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    finder = importing.CaffeFinder()
    assert finder.find_spec("caffe.special").origin == str(file)
    file.parent.parent.chmod(0o777)
    with pytest.warns(
        BoxpressoWarning, match="is not imported, because .*python belongs to another user, or others may"
    ):
        assert finder.find_spec("caffe.special") is None
    monkeypatch.setattr(sys, "path", [*sys.path, str(file.parent.parent)])  # who names it trusts it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert finder.find_spec("caffe.special").origin == str(file)


# Where things are written


def test_an_output_of_the_net_names_no_folder(tmp_path, capsys, monkeypatch):
    """The picture of the curves is named after it."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed (pip install 'boxpresso[train]')")
    pytest.importorskip("matplotlib", reason="curves are drawn by matplotlib")
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["found"] = np.array([[[[0, 1, 0.9, 0.1, 0.1, 0.5, 0.5]]]], np.float32).reshape(1, 1, 1, 7)
        file["truth"] = np.array([[[[0, 1, 0, 0.1, 0.1, 0.5, 0.5, 0]]]], np.float32).reshape(1, 1, 1, 8)
    put(tmp_path / "list", "a.h5\n")
    put(tmp_path / "net.prototxt", '''layer { name: "in" type: "HDF5Data" top: "found" top: "truth" hdf5_data_param { source: "list" batch_size: 1 } }
        layer { name: "e" type: "DetectionEvaluate" bottom: "found" bottom: "truth" top: "/../../hit" detection_evaluate_param { num_classes: 2 } }''')  # fmt: skip
    save_weights(tmp_path / "w.caffemodel", [("none", "InnerProduct", ["x"], ["y"], [np.ones((1, 1))])])
    read_weights(tmp_path / "w.caffemodel")
    (tmp_path / "w.caffemodel.").mkdir()
    assert main(["test", "net.prototxt", "w.caffemodel", "--iterations", "1"]) == 0, capsys.readouterr().err
    assert (tmp_path / "w.caffemodel._.._.._hit.curves.png").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_and_a_closed_output_are_no_faults(tmp_path):
    put(tmp_path / "net.prototxt", 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }')
    command = f'"{sys.executable}" -m boxpresso info "{tmp_path / "net.prototxt"}"'
    full = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True, cwd=ROOT)
    assert full.returncode == 1
    assert full.stderr.startswith("boxpresso: error: cannot write the output: No space left on device")
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, cwd=ROOT)
    assert (closed.returncode, closed.stderr) == (0, "")
