"""Names from elsewhere: in a terminal, a plot, a page, a shell, a text of Graphviz, or a file's name they are shown, never obeyed."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from places import ROOT
from tiny_ssd import write_tiny

from boxpresso import BoxpressoError, Net, Solver, caffe
from boxpresso.__main__ import main
from boxpresso.caffe import draw
from boxpresso.caffe.net_spec import caffe_message
from boxpresso.cli.detect import names_of, places_of
from boxpresso.cli.output import Visible
from boxpresso.data.errors import DataError
from boxpresso.data.sources import PictureSource
from boxpresso.proto import parse_net, parse_solver
from boxpresso.proto.errors import visible
from boxpresso.recipes import folders
from boxpresso.recipes.texts import train_script
from boxpresso.tables import places, table
from boxpresso.train.curves import label, plot
from boxpresso.train.progress import progress

STEERS = "\x1b]0;owned\x07\x1b[2J\x9b\u202e"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_steers_a_terminal_is_written_out():
    assert visible(STEERS) == r"\u001b]0;owned\u0007\u001b[2J\u009b\u202e"
    assert visible("tab\tline\né 中 👩‍🚒") == "tab\tline\né 中 👩‍🚒"
    stream = io.StringIO()
    print(json.dumps({"a": STEERS}, ensure_ascii=False), file=Visible(stream))
    assert json.loads(stream.getvalue()) == {"a": STEERS}


def test_no_verb_steers_the_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "".join(f"\\{ord(sign):03o}" if ord(sign) < 128 and not sign.isprintable() else sign for sign in STEERS)
    put(tmp_path / "net.prototxt", f'''name: "n{name}"
        layer {{ name: "x{name}" type: "Input" top: "t{name}" input_param {{ shape {{ dim: 1 dim: 3 dim: 8 dim: 8 }} }} }}
        layer {{ name: "c{name}" type: "Convolution" bottom: "t{name}" top: "y{name}" convolution_param {{ num_output: 2 kernel_size: 1 }} }}''')  # fmt: skip
    put(tmp_path / "wrong.prototxt", f'layer {{ name: "x{name}" type: "ReLU" bottom: "no{name}" top: "x" }}')
    model, weights = write_tiny(tmp_path)
    put(tmp_path / "names.txt", f"background\ncat{STEERS}\n")
    Image.new("RGB", (32, 32)).save(tmp_path / f"a{STEERS}.png")
    shown = ""
    for words, status in (
        (["info", "net.prototxt"], 0), (["info", "net.prototxt", "--json"], 0), (["info", "wrong.prototxt"], 1), (["models", STEERS], 1),
        (["detect", model, weights, f"a{STEERS}.png", "--labels", "names.txt", "--threshold", "0"], 0),
    ):  # fmt: skip
        assert main([str(word) for word in words]) == status, words
        shown += "".join(capsys.readouterr())
    assert r"c\u001b]0;owned" in shown
    assert not [sign for sign in shown if sign in STEERS and not sign.isalnum() and sign not in "];["]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_names_that_are_no_utf8(tmp_path, capsys, monkeypatch):
    """An archive may hold such names, and a category's may have half a sign."""
    pytest.importorskip("lmdb", reason="lmdb is not installed (pip install 'boxpresso[train]')")
    pytest.importorskip("onnx", reason="onnx is not installed (pip install 'boxpresso[onnx]')")
    monkeypatch.chdir(tmp_path)
    odd = os.fsdecode(b"d\xff")
    model, weights = write_tiny(tmp_path)
    data = tmp_path / odd
    for i in range(3):
        (data / "images").mkdir(parents=True, exist_ok=True)
        picture = np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8)
        Image.fromarray(picture).save(data / "images" / f"{odd}{i}.png")
        put(data / "labels" / f"{odd}{i}.txt", "0 0.5 0.5 0.3 0.3\n")
    put(data / "classes.txt", "cat\n")
    put(tmp_path / "names.txt", "background\ncat\x1b[2J\n")
    Path(model).rename(data / "net.prototxt")
    for words, status in (
        (["detect", f"{odd}/net.prototxt", weights, f"{odd}/images", "--threshold", "0", "--labels", "names.txt", "--voc", odd], 0),
        (["export", f"{odd}/net.prototxt", weights, f"{odd}/a.onnx", "--no-check"], 0),
        (["convert", "yolo", odd, f"{odd}/lmdb"], 0),
        (["new", "ssd", "--data", odd, "--backbone", "small"], 1),
    ):  # fmt: skip
        assert main([str(word) for word in words]) == status, words
        said = capsys.readouterr().err
        assert "fault" not in said
    assert "is not UTF-8, and no prototxt can hold it; name another with --out" in said
    (annotation,) = data.glob("*0.xml")
    assert ElementTree.parse(annotation).findtext("filename") == "d?0.png"
    assert ElementTree.parse(annotation).findtext("object/name") == "cat?[2J"


def test_the_names_of_a_log_are_no_formulas(tmp_path):
    pytest.importorskip("matplotlib", reason="curves are drawn by matplotlib")
    lines = "Iteration 0, loss = 1e308\nIteration 5, loss = -1e308\nIteration 5, Testing net (#0)\n"
    lines += "".join(f"  Test net output #{i}: {n} = 1\n" for i, n in enumerate([r"$\no$", "_x", "loss$^", "\x1b[2J"]))
    lines += "".join(f"  Test net output #{i}: n{i} = 1\n" for i in range(3000))
    assert plot(str(put(tmp_path / "log", lines)), str(tmp_path / "a.png")).stat().st_size > 1000
    assert label("\x1b$") == r"?\$"


def test_names_in_the_bar_of_training_are_no_markup(monkeypatch, capsys):
    pytest.importorskip("rich", reason="the bar is drawn by rich")
    for name, value in {"COLUMNS": "120", "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    param = parse_solver('base_lr: 1e-4 lr_policy: "fixed" max_iter: 9')
    param.net_param.CopyFrom(
        parse_net("""layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 4 dim: 3 } } }
        layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
        layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }""")
    )
    solver = Solver(param, device="cpu")
    watch: Any = types.SimpleNamespace(score_points=lambda: ("[/x]", [(0, 0.5)]))
    with progress(solver, watch):
        solver.step(2)
        time.sleep(0.15)  # the bar is drawn ten times a second
    assert "[/x] 0.5" in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)


def test_a_name_ends_no_quote_of_graphviz():
    names = ['a"]; node [image="/etc/passwd"', "back\\", '"q"', "{x|<p>}", 'x"y', '"a" -> "b"']
    text = "".join(
        f'layer {{ name: {json.dumps(n)} type: "Convolution" bottom: {json.dumps(n)} top: {json.dumps(n + "x")} }}\n' for n in names
    )  # fmt: skip
    net = parse_net(f"name: {json.dumps(names[-1])}\n{text}")
    for line in draw.draw_net(caffe_message(net), "LR", "raw").decode().splitlines():
        outside = ""
        rest = line.replace("\\\\", "").replace('\\"', "")
        for i, part in enumerate(rest.split('"')):
            outside += part if i % 2 == 0 else ""
        assert rest.count('"') % 2 == 0, line
        assert "image" not in outside, line


def test_a_class_of_two_lines_is_refused(tmp_path):
    box = "<object><name>cat\n\n    rm -rf</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>6</xmax><ymax>9</ymax></bndbox></object>"
    for name in ("a", "b"):
        (tmp_path / "JPEGImages").mkdir(exist_ok=True)
        Image.new("RGB", (9, 12)).save(tmp_path / "JPEGImages" / f"{name}.png")
        put(tmp_path / "Annotations" / f"{name}.xml", f"<annotation>{box}</annotation>")
    pictures = folders.read(tmp_path, "voc")
    with pytest.raises(DataError, match="signs in its name"):
        folders.settle(pictures, folders.choose(pictures, 0.5, 1), [])


def test_a_folder_is_no_command(tmp_path):
    home = tmp_path / 'a$(touch hacked)`touch hacked`"b'
    home.mkdir()
    (tmp_path / "out").mkdir()
    put(
        tmp_path / "out" / "train.sh",
        train_script("out", f"../{home.name}").replace("exec boxpresso", "pwd; exit; exec"),
    )
    said = subprocess.run(["sh", tmp_path / "out" / "train.sh"], capture_output=True, text=True, cwd=tmp_path)
    assert said.stdout.strip() == str(home.resolve()), said.stderr
    assert not list(tmp_path.rglob("hacked"))


def test_thousands_of_pictures_of_one_name():
    sources = [PictureSource("picture", f"{i}/a.jpg") for i in range(2000)]
    names, places = names_of(sources), places_of(sources, str(ROOT))
    assert len(set(names.values())) == len(set(places.values())) == 2000
    assert list(names.values())[:4] == ["a", "a.jpg", "a-2", "a-3"]
    assert [place.name for place in places.values()][1:3] == ["a.jpg.detections.png", "a-2.detections.png"]


def test_a_frame_is_not_called_as_a_picture():
    """Frames that were taken out of a video lie beside it; those of `clip` are called clip-000000, and so on."""
    sources = [PictureSource("video", "clip.mp4"), PictureSource("picture", "clip-000001.jpg")]
    assert list(names_of(sources).values()) == ["clip.mp4", "clip-000001"]
    assert list(names_of([sources[0], PictureSource("picture", "clip-1.jpg")]).values()) == ["clip", "clip-1"]


# The file that an error is of

INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }\n'
FAULTS = {
    "setup": (INPUT + 'layer { name: "it" type: "InnerProduct" bottom: "x" top: "y" }', r"InnerProduct layer 'it'"),
    "reshape": (INPUT + 'layer { name: "it" type: "Flatten" bottom: "x" top: "y" flatten_param { axis: 7 } }', r"layer 'it'"),
    "a bottom": (INPUT + 'layer { name: "it" type: "ReLU" bottom: "z" top: "y" }', r"layer 'it' \(ReLU\) reads bottom 'z'"),
    "a type": (INPUT + 'layer { name: "it" type: "Nothing" bottom: "x" top: "y" }', r"layer 'it' has the unknown type"),
    "memory": (
        'layer { name: "it" type: "Input" top: "x" input_param { shape { dim: 1000000000 } } }', r"Input layer 'it': its top 'x'",
    ),
}  # fmt: skip
FORWARD = INPUT + 'layer { name: "it" type: "Embed" bottom: "x" top: "y" embed_param { num_output: 1 input_dim: 2 } }'


def makers(path: Path) -> dict[str, Any]:
    """What makes the net of a file."""
    solver = parse_solver(f'net: "{path}" base_lr: 0.1 lr_policy: "fixed" max_iter: 1')
    return {
        "Net": lambda: Net(path, device="cpu", memory_limit=2**20), "caffe.Net": lambda: caffe.Net(str(path), caffe.TRAIN),
        "Solver": lambda: Solver(solver, device="cpu", memory_limit=2**20),
    }  # fmt: skip


@pytest.mark.parametrize("maker", ["Net", "caffe.Net", "Solver"])
@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_names_the_file_and_the_layer(fault, maker, tmp_path):
    text, said = FAULTS[fault]
    if (fault, maker) == ("memory", "caffe.Net"):
        pytest.skip("it takes no limit")
    (tmp_path / "net.prototxt").write_text(text)
    with pytest.raises(BoxpressoError, match=rf"^{re.escape(str(tmp_path))}/net\.prototxt: .*{said}") as caught:
        makers(tmp_path / "net.prototxt")[maker]()
    assert str(caught.value).count("net.prototxt") == 1


@pytest.mark.parametrize("optimize", [True, False])
def test_an_error_of_a_forward_names_them_too(optimize, tmp_path):
    (tmp_path / "net.prototxt").write_text(FORWARD)
    net = Net(tmp_path / "net.prototxt", device="cpu", optimize=optimize)
    for attempt in (lambda: net.forward(x=np.full((2, 3), 9)), lambda: net.forward(x=np.full((2, 3), 9))):
        with pytest.raises(BoxpressoError, match=rf"^{re.escape(str(tmp_path))}/net\.prototxt: Embed layer 'it': "):
            attempt()


def test_an_error_of_a_message_names_no_file():
    with pytest.raises(BoxpressoError, match=r"^InnerProduct layer 'it'"):
        Net(parse_net(FAULTS["setup"][0]), device="cpu")
    with pytest.raises(BoxpressoError, match=r"^from here: InnerProduct layer 'it'"):
        Net(parse_net(FAULTS["setup"][0]), device="cpu", source="from here")


def test_columns_of_names_with_wide_signs_are_below_each_other():
    """A Chinese, Japanese or Korean sign takes two places of a terminal, an accent by itself none."""
    rows = [["自行车", "7"], ["cafe\u0301", "12"], ["bus", "3"]]
    assert table(("label", "count"), rows, "<>") == [
        "label   count",
        "自行车      7",
        "cafe\u0301       12",
        "bus         3",
    ]
    assert [places(line) for line in table(("", ""), rows, "<>")[1:]] == [10, 10, 10]
