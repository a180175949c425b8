"""A bounded part of tests/fuzz with a fixed seed, and inputs that once got through."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from places import TESTS

FUZZ = TESTS / "fuzz"
SCRIPTS, EDGES = FUZZ / "scripts.py", FUZZ / "edges.py"
SWEEP = pytest.mark.sweep  # all of `slow` are two minutes
pytest.importorskip("resource", reason="limits of a process are those of a Unix system")
pytest.importorskip("h5py", reason="h5py is not installed (pip install 'boxpresso[train]')")


def run(*arguments: str, timeout: float = 300, script: Path = FUZZ) -> str:
    result = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


BINARY = [
    "prototxt", "caffemodel", "weights.h5", "solverstate", "solverstate.h5", "picture", "record", "labels", "npy", "binaryproto",
]  # fmt: skip
LISTS = [
    "anchors.json", "list", "windows", "voc", "voc split", "coco", "yolo", "yolo.yaml", "data.h5", "log", "names", "names.json",
]  # fmt: skip

ROOMS = ["reader", "finish", "merge", "report", "onnx", "plot", "dnn", "draw", "notebook", "param_str", "safetensors"]


def test_some_mutated_files():
    """As many as six seconds allow, of every kind, and some on any machine."""
    said = run(
        "--minutes", "0.1", "--least", "60", "--seed", "77", *(word for kind in BINARY for word in ("--kind", kind))
    )
    assert said.rstrip().endswith(" 0 findings")
    for kind in BINARY:
        assert f" {kind} refused" in said
        assert kind == "binaryproto" or f" {kind} ran" in said


def test_some_mutated_lists():
    """The same of what data sets are made of."""
    said = run(
        "--minutes", "0.06", "--least", "20", "--seed", "77", *(word for kind in LISTS for word in ("--kind", kind))
    )
    assert said.rstrip().endswith(" 0 findings")
    for kind in LISTS:
        assert f" {kind} ran" in said


def test_some_mutated_nets_of_the_rooms_above():
    said = run(
        "--minutes", "0.06", "--least", "10", "--seed", "77", *(word for kind in ROOMS for word in ("--kind", kind))
    )
    assert said.rstrip().endswith(" 0 findings")
    for kind in ROOMS:
        assert f" {kind} r" in said  # refused, or ran


def test_some_changed_layers():
    said = run("--minutes", "0.06", "--seed", "77", "--kind", "layer")
    assert said.rstrip().endswith(" 0 findings")
    assert " layer refused" in said


def test_some_layers_with_numbers_at_their_limits():
    """A result, or an error that names the layer: within the memory of its net, and in seconds."""
    said = run("--minutes", "0.1", "--seed", "77", "--kind", "size")
    assert said.rstrip().endswith(" 0 findings")
    assert " size refused" in said
    assert " size ran" in said


@pytest.mark.slow
@pytest.mark.parametrize("minutes", ["0.1", pytest.param("2", marks=SWEEP)])
def test_more_layers_with_numbers_at_their_limits(minutes):
    assert run("--minutes", minutes, "--seed", "78", "--kind", "size").rstrip().endswith(" 0 findings")


@pytest.mark.slow
def test_more_mutated_files():
    assert run("--minutes", "0.15", "--seed", "78").rstrip().endswith(" 0 findings")


def test_some_scripts_on_random_nets():
    """A plan and the layers one by one are the same to a script, and plain forwards are what the layers are defined to do.

    The families are those of few files of kernels.
    """
    families = (word for name in ("windows", "neurons", "joins", "views") for word in ("--family", name))
    said = run(
        "--seed", "7", "--cases", "60", "--most", "10", "--minutes", "4", "--shrink", "2", *families, script=SCRIPTS
    )
    assert said.rstrip().endswith(" 0 findings"), said


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["25", pytest.param("250", marks=SWEEP)])
def test_more_scripts_on_random_nets(cases):
    said = run("--seed", "8", "--cases", cases, "--minutes", "8", timeout=900, script=SCRIPTS)
    assert said.rstrip().endswith(" 0 findings"), said


def test_gradients_of_random_nets():
    """Those of inputs and parameters are the slopes of what the layers are defined to do."""
    families = (word for name in ("windows", "neurons", "joins", "views") for word in ("--family", name))
    words = "--seed", "13", "--cases", "40", "--most", "10", "--minutes", "4", "--shrink", "2", "--oracle", "gradient"
    said = run(*words, *families, script=SCRIPTS)
    assert said.rstrip().endswith(" 0 findings"), said


def test_layers_at_their_edges():
    """Small nets of a hundred types of layers, with windows, axes and shapes at their edges: values, gradients and exports."""
    said = run("--seed", "11", "--cases", "200", "--minutes", "4", "--shrink", "2", script=EDGES)
    assert said.rstrip().endswith(" 0 findings"), said
    assert " definition same" in said
    assert " gradient same" in said


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["70", pytest.param("3000", marks=SWEEP)])
def test_more_layers_at_their_edges(cases):
    said = run("--seed", "12", "--cases", cases, "--minutes", "10", "--shrink", "5", timeout=900, script=EDGES)
    assert said.rstrip().endswith(" 0 findings"), said


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["20", pytest.param("300", marks=SWEEP)])
def test_more_gradients_of_random_nets(cases):
    words = "--seed", "14", "--cases", cases, "--minutes", "6", "--shrink", "5", "--oracle", "gradient"
    said = run(*words, timeout=600, script=SCRIPTS)
    assert said.rstrip().endswith(" 0 findings"), said


@pytest.mark.slow
def test_scripts_on_the_plan_of_a_gpu():
    """Beside the layers on the CPU; without a GPU on the stand-in for its driver."""
    families = (word for name in ("windows", "neurons", "joins", "views") for word in ("--family", name))
    words = [
        sys.executable,
        str(SCRIPTS),
        "--gpu",
        "--seed",
        "31",
        "--cases",
        "12",
        "--minutes",
        "8",
        "--shrink",
        "2",
        *families,
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 2:
        pytest.skip("there is no GPU, and the stand-in for its driver cannot run here")
    assert done.stdout.rstrip().endswith(" 0 findings"), done.stdout + done.stderr


def test_random_nets_by_onnxruntime():
    """On a model that is written layer by layer, and on our own export, also that for a batch of any length with another one."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    families = (word for name in ("windows", "neurons", "joins", "views") for word in ("--family", name))
    peers = ("--oracle", "onnxruntime", "--oracle", "export", "--oracle", "batch")
    said = run(
        "--seed",
        "9",
        "--cases",
        "40",
        "--most",
        "10",
        "--minutes",
        "4",
        "--shrink",
        "2",
        *peers,
        *families,
        script=SCRIPTS,
    )
    assert said.rstrip().endswith(" 0 findings"), said


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["16", pytest.param("150", marks=SWEEP)])
@pytest.mark.parametrize("peer", ["onnxruntime", "export", "batch", "opencv"])
def test_more_random_nets_by_others(peer, cases):
    module = {"opencv": "cv2"}.get(peer, "onnxruntime")
    other = pytest.importorskip(module, reason=f"{module} is not installed")
    if peer == "opencv" and not hasattr(other.dnn, "readNetFromCaffe"):
        pytest.skip(f"OpenCV {other.__version__} reads no nets of Caffe; version 4 does")
    said = run("--seed", "10", "--cases", cases, "--minutes", "4", "--shrink", "5", "--oracle", peer, script=SCRIPTS)
    assert said.rstrip().endswith(" 0 findings"), said


def test_the_definitions_are_of_the_layers():
    """The interpreter in numpy, on a few nets by hand, so that it is not wrong in the way the layers are."""
    code = """
        import sys; sys.path[:0] = sys.argv[1:]
        import numpy as np, reference
        from boxpresso.proto import parse_net
        x = np.arange(9.0).reshape(1, 1, 3, 3)
        net = parse_net('''
            layer { name: "x" type: "Input" top: "x" }
            layer { name: "p" type: "Pooling" bottom: "x" top: "p" pooling_param { kernel_size: 2 stride: 2 } }
            layer { name: "a" type: "Pooling" bottom: "x" top: "a" pooling_param { pool: AVE kernel_size: 2 stride: 2 pad: 1 } }
            layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 1 kernel_size: 2 } }
            layer { name: "d" type: "Dropout" bottom: "x" top: "d" }
            layer { name: "r" type: "Power" bottom: "d" top: "d" power_param { scale: -1 } }
            layer { name: "s" type: "Softmax" bottom: "x" top: "s" softmax_param { axis: 2 } }''')
        seen = reference.run(net, {"c": [np.array([[[[1, 0], [0, 10]]]]), np.array([0.5])]}, {"x": x})
        assert seen["p"].ravel().tolist() == [4, 5, 7, 8]
        assert seen["a"].ravel().tolist() == [0, 0.75, 2.25, 6]
        assert seen["c"].ravel().tolist() == [40.5, 51.5, 73.5, 84.5]
        assert (seen["d"] == -x).all() and (seen["x"] == x).all()  # in place on one name alone
        assert np.allclose(seen["s"].sum(axis=2), 1)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(FUZZ), str(FUZZ.parents[1])], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("kind", "case", "seed"), [("solverstate.h5", 1143, 1), ("prototxt", 1584, 1)])
def test_a_case_is_its_number(kind, case, seed):
    """Bitwise the same input each time."""
    sys.path.insert(0, str(FUZZ))
    try:
        from targets import one
    finally:
        sys.path.remove(str(FUZZ))
    assert one(kind, case, seed) == one(kind, case, seed)
    assert one(kind, case, seed) != one(kind, case + 1, seed)


WATCHED = [  # layers that the sanitizers once found
    'type: "Pooling" bottom: "x" top: "y" pooling_param { pool: AVE kernel_size: 3 stride: 536870912 }',
    'type: "Pooling" bottom: "x" top: "y" pooling_param { pool: MAX kernel_size: 3 stride: 536870912 }',
]


@pytest.mark.slow
def test_layers_that_the_sanitizers_found():
    code = """
        import sys; sys.path[:0] = sys.argv[1:3]
        import layers, numpy as np
        layers.sanitize()
        for body in sys.argv[3:]:
            layers.attempt(f'force_backward: true {layers.INPUT} layer {{ name: "y" {body} }}', np.random.default_rng(1))
            print("whole")
    """
    sys.path[:0] = folders = [str(FUZZ), str(FUZZ.parent)]
    try:
        from layers import watched
    finally:
        del sys.path[: len(folders)]
    command = [sys.executable, "-c", textwrap.dedent(code), *folders, *WATCHED]
    result = subprocess.run(command, capture_output=True, text=True, env=watched())
    assert result.stdout.split() == ["whole"] * len(WATCHED), result.stderr[-3000:]


def test_the_oracle_finds_what_is_not_ours(tmp_path):
    """A worker that is asked for a kind whose reader raises KeyError, or takes too much memory."""
    code = """
        import sys; sys.path[:0] = sys.argv[1:]
        import targets, worker, numpy as np
        from boxpresso.proto import ModelError
        def foreign(data, folder): raise KeyError("x")
        def ours(data, folder): raise ModelError("x")
        def large(data, folder): np.ones(20_000_000)
        for run in (foreign, ours, large, lambda data, folder: None):
            targets.TARGETS["it"] = targets.Target(lambda draw: b"", run)
            print(worker.judge("it", b"")["verdict"])
    """
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(code))
    result = subprocess.run([sys.executable, str(program), str(FUZZ), str(FUZZ.parent)], capture_output=True, text=True)
    assert result.stdout.split() == ["foreign", "refused", "memory", "ran"], result.stderr
