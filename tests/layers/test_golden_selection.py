"""tests/golden: small recorded cases of every operator, so that a clone without ../shared checks each of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT, TESTS
from shared import SHARED, absent, askers, folder, need

GOLDEN, ALL = TESTS / "golden", SHARED / "golden"
KINDS = ("caffe", "caffe_cuda_only", "roi")  # a folder for each layer type or operator
OPERATORS = [
    f"{kind}/{path.name}" for kind in KINDS for path in sorted((GOLDEN / kind).iterdir()) if path.is_dir()
]  # those of ../shared are compared below
RESULTS = re.compile(r"(top|bottom_diff|param_diff|param_after|top_diff)_(\w+)$|(output|argmax\w*|grad_\w+)$")


def results(path: str, base=GOLDEN) -> set[str]:
    """The recorded results of an operator that are not 0 everywhere, over all cases."""
    names = set()
    for file in (base / path).glob("*.npz"):
        with np.load(file) as case:
            names |= {k for k in case.files if RESULTS.match(k) and case[k].dtype.kind in "fiu" and case[k].any()}
    return names


@pytest.mark.parametrize("path", OPERATORS)
def test_each_operator_has_a_case_that_is_not_zero(path):
    assert results(path)


def test_each_recorded_operator_is_in_the_selection():
    if not ALL.exists():
        pytest.skip("the recorded data ../shared/golden is not on this machine")
    recorded = [f"{kind}/{path.name}" for kind in KINDS for path in sorted((ALL / kind).iterdir()) if path.is_dir()]
    assert recorded == OPERATORS
    for path in recorded:
        missing = results(path, ALL) - results(path)
        assert not missing, f"{path}: no case of the selection has {', '.join(sorted(missing))}"


def test_the_selection_is_what_was_recorded():
    if not ALL.exists():
        pytest.skip("the recorded data ../shared/golden is not on this machine")
    for path in sorted(p for p in GOLDEN.rglob("*") if p.is_file()):
        assert path.read_bytes() == (ALL / path.relative_to(GOLDEN)).read_bytes(), path


def test_each_solver_method_is_in_the_selection():
    names = {path.stem.split("_")[0] for path in (GOLDEN / "solver").glob("*.npz")}
    assert names == {"sgd", "nesterov", "adagrad", "rmsprop", "adadelta", "adam"}


def test_the_selection_is_small():
    sizes = [path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()]
    assert max(sizes) < 2**20
    assert sum(sizes) < 3 * 2**20


def test_each_folder_is_read_by_a_test():
    texts = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    named = set(re.findall(r'golden\("([\w/]+)"\)', texts))
    assert 'golden(f"caffe/{folder}")' in texts  # test_golden_caffe.py: all of caffe but what it names
    for path in OPERATORS:
        assert path in named or path.startswith("caffe/"), f"no test reads golden/{path}"


@pytest.mark.later
def test_without_the_other_recorded_data_every_test_has_a_case():
    """pyproject.toml makes a test without a case an error of the collection; here it collects as a bare clone does."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "BOXPRESSO_SHARED": "none", "PYTEST_ADDOPTS": ""}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert "NOTSET" not in result.stdout  # pytest's name of a test without a case
    assert "test_golden_caffe.py::test_caffe[" in result.stdout


def test_the_setting_of_the_folder(tmp_path):
    assert folder(str(tmp_path)) == tmp_path
    assert not folder("none").exists()
    assert folder(None) == folder("") == TESTS.parents[1] / "shared"


def test_why_a_test_is_skipped():
    """Any form of a path below ../shared has the same reason, without the name of a folder of this machine."""
    reason = "the recorded data ../shared/models/x is not on this machine"
    for path in ("models/x/y.npz", Path("models/x"), SHARED / "models" / "x" / "y.npz", str(SHARED / "models" / "x")):
        assert absent(path) == reason
    assert absent(SHARED) == "the recorded data ../shared is not on this machine"
    with pytest.raises(pytest.skip.Exception, match=r"\.\./shared/nothing/here.npz is not"):
        need(SHARED / "nothing" / "here.npz")


def test_what_reads_the_recorded_data():
    """A helper, a decorator and another file may read it for a test; what only opens a file does not count."""
    assert "test_the_published_nets_build" in askers(TESTS / "layers/detection/test_detectnet.py")
    assert {"test_trained_models", "trained"} <= askers(TESTS / "exports/test_export_nets.py")
    assert "test_forward" not in askers(TESTS / "examples/test_nets.py")
    assert "test_every_net" in askers(TESTS / "net/test_corpus.py")
    assert not askers(TESTS / "harness.py")
