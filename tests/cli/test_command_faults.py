"""What the command line says where a net has no data, labels are no labels, or there is no compiler; and progress on 80 columns."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import pytest
from places import ROOT
from tiny_ssd import write_tiny

from boxpresso import Net, Solver
from boxpresso.__main__ import main
from boxpresso.device import compiling
from boxpresso.labels import read_labels
from boxpresso.layers.core.catalogue import example, layer_types, summary
from boxpresso.proto import ModelError, parse_net, parse_solver
from boxpresso.train.progress import fit, progress

WEIGHTED = ("Convolution", "Deconvolution", "DepthwiseConvolution", "InnerProduct")


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)


def call(capsys, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_net_without_data_is_not_tested(tmp_path, capsys):
    status, out, err = call(capsys, "test", *write_tiny(tmp_path))
    assert (status, out) == (1, "")
    assert "has no data of its own: nothing fills its input data (1, 3, " in err
    assert "--voc" in err
    assert "data layers" in err


@pytest.mark.parametrize("verb", ["quantize", "export"])
def test_a_file_that_cannot_be_written_is_said_before_the_work(verb, tmp_path, capsys, monkeypatch):
    model, weights = write_tiny(tmp_path)
    monkeypatch.setattr("boxpresso.net.net.Net.__init__", None)  # no net is made
    words = {
        "quantize": [model, weights, "--images", tmp_path, "--out", "nowhere/8.caffemodel"],
        "export": [model, weights, "nowhere/a.onnx"],
    }[verb]
    status, out, err = call(capsys, verb, *words)
    assert status == 1
    assert out == ""
    assert re.fullmatch(r"boxpresso: error: cannot write nowhere/\S+: No such file or directory\n", err)


def test_a_document_is_not_a_list_of_names(tmp_path, capsys):
    for text in ("# Boxpresso\n\nA text\n", "cat\nSee [there](x.md)\n", "Words " * 13 + "end.\ncat\n"):
        (tmp_path / "README.md").write_text(text)
        status, out, err = call(capsys, "detect", *write_tiny(tmp_path), "a.png", "--labels", "README.md")
        assert (status, out) == (1, "")
        assert "README.md is a text, not a list of names: line " in err
    (tmp_path / "many.txt").write_text("a\nb\nc\nd\n")
    with pytest.raises(ModelError, match=r"4 names, the net 3 classes .* Write 3 lines, or 2 without the background"):
        read_labels(tmp_path / "many.txt", 3)


def test_a_class_without_a_name_is_shown_by_its_number(tmp_path, capsys):
    (tmp_path / "names.txt").write_text("background\n")
    shapes = ROOT / "examples" / "shapes"
    words = (str(shapes / name) for name in ("deploy.prototxt", "shapes.caffemodel", "scene.png"))
    status, out, err = call(
        capsys,
        "detect",
        *words,
        "--labels",
        str(tmp_path / "names.txt"),
        "--device",
        "cpu",
        "--out",
        str(tmp_path / "found.png"),
    )
    assert status == 0, err
    assert "has 1 name, the net 4 classes (with the background): are they of this net?" in err
    assert "Classes without a name are shown by their number" in err
    assert {line.split()[0] for line in out.splitlines() if line.startswith("  ") and "." in line.split()[1]} == {
        "1",
        "2",
        "3",
    }
    assert (tmp_path / "found.png").exists()


def test_summaries_are_whole_sentences():
    for cls in layer_types():
        assert summary(cls).endswith("."), (cls.type, summary(cls))
        assert not summary(cls).endswith(".."), cls.type


@pytest.mark.parametrize("type", WEIGHTED)
def test_the_example_of_a_layer_runs(type, capsys):
    cls = next(cls for cls in layer_types() if type in cls.types)
    text = example(cls)
    assert "num_output" in text
    data = 'layer { name: "x" type: "Input" top: "in" input_param { shape { dim: 1 dim: 2 dim: 8 dim: 8 } } }\n'
    assert Net(parse_net(data + text), device="cpu").params[type.lower()][0].count > 0
    status, out, _ = call(capsys, "layers", type)
    assert status == 0
    assert "num_output" in out[out.index("example:") :]


def test_a_solverstate_is_named(tmp_path, capsys):
    from boxpresso.train.rates import Rates
    from boxpresso.train.state import write_state

    rates = Rates(parse_solver('base_lr: 1 lr_policy: "fixed"'))
    write_state(str(tmp_path / "x.solverstate"), 10000, "net_iter_10000.caffemodel", rates, [])
    status, _, err = call(capsys, "upgrade", "x.solverstate", "new.prototxt")
    assert status == 1
    assert "x.solverstate is a .solverstate, not a prototxt; the weights are in the .caffemodel beside it" in err
    assert "perhaps" not in err
    assert not (tmp_path / "new.prototxt").exists()


# Without a compiler


def test_device_query_without_a_compiler():
    result = subprocess.run(
        [sys.executable, "-m", "boxpresso", "device_query"], cwd=ROOT, env={**os.environ, "CXX": "/nonexistent"},
        capture_output=True, text=True,
    )  # fmt: skip
    line = result.stdout.splitlines()[0]
    assert "but kernels cannot be compiled: the C++ compiler that CXX names, '/nonexistent', was not found" in line
    assert "compiled with" not in line


def test_python_without_a_compiler(tmp_path):
    """The traceback leads from the user's line to the message, and not through the kernel cache."""
    model, _ = write_tiny(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", f"from boxpresso import Net\nNet({str(model)!r}, device='cpu')"], cwd=ROOT,
        env={**os.environ, "CXX": "/nonexistent"}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.stderr.splitlines()[-1].startswith(
        "boxpresso.proto.errors.DeviceError: the C++ compiler that CXX names"
    )
    assert result.stderr.count('File "') <= 3, result.stderr
    assert "cache.py" not in result.stderr
    code = (
        "import numpy as np\nfrom boxpresso import ops\nops.roi_align(np.ones((1, 1, 8, 8)), np.zeros((1, 5)), (2, 2))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "CXX": "/nonexistent", "BOXPRESSO_DEVICE": "cpu"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.stderr.splitlines()[-1].startswith(
        "boxpresso.proto.errors.DeviceError: the C++ compiler that CXX names"
    )
    assert "compiler.py" not in result.stderr


# Progress


def compile_slowly(monkeypatch, capsys, seconds: float) -> list[str]:
    """What is printed of six files that take so many seconds of a simulated clock each."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = compiling.Progress("cpu", 6)
    for done in range(1, 7):
        clock[0] += seconds
        progress.tell(done)
    progress.end()
    return capsys.readouterr().err.splitlines()


def test_compiling_is_reported_without_a_terminal(monkeypatch, capsys):
    monkeypatch.delenv("BOXPRESSO_PROGRESS", raising=False)
    line = "compiling kernels for cpu, first run only: {}/6"
    slow = [line.format(1), line.format(4), "compiled 6 kernel files for cpu in 36 s"]
    assert compile_slowly(monkeypatch, capsys, 6) == slow
    assert compile_slowly(monkeypatch, capsys, 0.1) == []
    monkeypatch.setenv("BOXPRESSO_PROGRESS", "0")
    assert compile_slowly(monkeypatch, capsys, 6) == []


def test_kernels_are_compiled_with_progress_in_a_pipe(tmp_path, monkeypatch):
    """A cold cache: the line comes while the compiler runs, not after it."""
    monkeypatch.setenv("BOXPRESSO_PROGRESS", "")
    code = (
        "from boxpresso.device import compiling, build_all, open_device; import numpy as np\n"
        "from boxpresso.layers.neuron.relu import ReLU\ncompiling.FIRST = 0\n"
        "build_all(open_device('cpu'), [ReLU.kernels], np.dtype('float32'))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "BOXPRESSO_CACHE": str(tmp_path / "cache")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert re.search(r"compiling kernels for cpu, first run only: [01]/1\n", result.stderr), result.stderr
    assert result.stderr.splitlines()[-1].startswith("compiled 1 kernel file for cpu in ")


def test_training_on_80_columns(monkeypatch, capsys):
    """The count is whole, and lines of the log are not wrapped."""
    pytest.importorskip("rich", reason="the bar is drawn by rich")
    for name, value in {"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    param = parse_solver('base_lr: 1e-4 lr_policy: "fixed" max_iter: 120000 random_seed: 1 display: 5')
    param.net_param.CopyFrom(
        parse_net("""
        layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 4 dim: 3 } } }
        layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
        layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }""")
    )
    solver = Solver(param, device="cpu")
    with progress(solver):
        solver.step(11)
        time.sleep(0.15)  # the bar is drawn ten times a second
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    lines = [line.split("\r")[-1] for line in text.replace("\r\n", "\n").splitlines()]
    losses = [line for line in lines if "solver.py:1]     Train net output #0: loss" in line]
    assert len(losses) == 3
    assert all(line.endswith("loss)") and len(line) > 80 for line in losses)
    shown = [part for part in re.split("[\r\n]", text) if "/120000" in part]
    assert any(" 11/120000" in part for part in shown)
    assert all(len(part) < 80 for part in shown)
    assert fit(["99999/120000", "0:01:15 left"], 10) == ("  99999/120000", 0)  # a count is never cut
