"""The annexes can be deleted: what is left imports, detects, trains, and passes its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "boxpresso"
ANNEXES = ("recipes", "serve", "reports", "caffe", "dnn")
SHAPES = ROOT / "examples" / "shapes"
MODEL = [str(SHAPES / "deploy.prototxt"), str(SHAPES / "shapes.caffemodel")]
MODULE = """
import runpy, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(getattr(finder, "__module__", ""))]
sys.argv[:] = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""  # as python -m, and no installation of the whole package lends what is missing here
IMPORT_ALL = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(getattr(finder, "__module__", ""))]
import importlib, pkgutil, boxpresso
names = [m.name for m in pkgutil.walk_packages(boxpresso.__path__, "boxpresso.") if not m.name.endswith("__main__")]
optional = ("torch", "jax", "cupy", "pycuda", "onnx", "h5py", "lmdb", "mpi4py")
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name.partition(".")[0] in optional, (name, error)
print(len(names), boxpresso.__file__)
"""


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without its annexes, beside links to what lies beside it in the tree."""
    folder = tmp_path_factory.mktemp("rest")
    shutil.copytree(PACKAGE, folder / "boxpresso", ignore=shutil.ignore_patterns("__pycache__", *ANNEXES))
    for name in ("tests", "examples", "docs", "benchmarks", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    assert not [name for name in ANNEXES if (folder / "boxpresso" / name).exists()]
    return folder


def run(folder: Path, *words: str, fails: bool = False) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "BOXPRESSO_PROGRESS": "0", "BOXPRESSO_DEBUG": "0"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_rest_imports(rest):
    count, _, place = run(rest, "-c", IMPORT_ALL).rstrip().rpartition("\n")[2].partition(" ")
    assert int(count) > 300
    assert Path(place).parent == rest / "boxpresso"


def test_the_rest_detects_and_tells(rest):
    scene = str(SHAPES / "scene.png")
    labels = str(SHAPES / "labels.txt")
    assert "circle" in run(rest, "-c", MODULE, "boxpresso", "detect", *MODEL, scene, "--labels", labels, "--no-drawing")
    assert "conv1" in run(rest, "-c", MODULE, "boxpresso", "info", MODEL[0])
    assert "Average Forward pass" in run(
        rest, "-c", MODULE, "boxpresso", "time", MODEL[0], "--iterations", "1", "--forward-only"
    )
    assert "Convolution" in run(rest, "-c", MODULE, "boxpresso", "layers", "Convolution")


def test_what_an_annex_did_says_what_is_missing(rest):
    said = run(rest, "-c", MODULE, "boxpresso", "serve", *MODEL, fails=True)
    assert "this installation lacks boxpresso.serve" in said
    assert len(said.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [
        pytest.param(("net/test_net", "train/test_solver", "net/test_weights", "cli/test_detect"), id="quick"),
        pytest.param(("run/test_plan", "project/test_structure"), id="more", marks=pytest.mark.sweep),
    ],
)
def test_the_rest_passes_its_tests(rest, files):
    """Of the net, training and detection; in a sweep of the plan and the floors of the house."""
    said = run(
        rest,
        "-c",
        MODULE,
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--first-look",
        *(f"tests/{name}.py" for name in files),
    )
    assert " passed" in said
