"""The examples of all docstrings (`>>>`) run, in the repository's own folder, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "boxpresso"
FILES = [p for p in sorted(PACKAGE.rglob("*.py")) if re.search(r"(?m)^\s*>>> ", p.read_text(encoding="utf-8"))]
NEEDS = {"boxpresso.exports.onnx": "onnx", "boxpresso.exports.torch": "torch"}  # libraries of the examples in a room
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run(module) -> tuple[int, list[str]]:
    """How many examples a module's docstrings have, and what those that failed said."""
    runner, said = doctest.DocTestRunner(optionflags=FLAGS), []
    for test in doctest.DocTestFinder().find(module):
        runner.run(test, out=said.append)
    return runner.summarize(verbose=False).attempted, said


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_examples(path, monkeypatch):
    for room, library in NEEDS.items():
        if module_name(path).startswith(f"{room}."):
            pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.chdir(PACKAGE.parent)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    attempted, said = run(importlib.import_module(module_name(path)))
    assert attempted, f"no docstring of {path} is found by doctest, but its text has examples"
    assert not said, "".join(said)


def test_a_wrong_example_fails(tmp_path, monkeypatch):
    (tmp_path / "wrong.py").write_text('"""\n    >>> 1 + 1\n    3\n\n    >>> 1 + 2\n    3\n"""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    attempted, said = run(importlib.import_module("wrong"))
    assert attempted == 2
    assert "Expected:\n    3\nGot:\n    2\n" in "".join(said)
