"""Where the recorded outputs of the real programs lie: a selection in tests/golden, all of them in ../shared.

BOXPRESSO_SHARED names another folder than ../shared; "none" runs the tests as in a clone that has nothing beside it.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import TESTS, module


def folder(setting: str | None) -> Path:
    """The folder that BOXPRESSO_SHARED names; one that does not exist for "none"."""
    if setting == "none":
        return TESTS / "golden" / "none"
    return Path(setting) if setting else TESTS.parents[1] / "shared"


SHARED = folder(os.environ.get("BOXPRESSO_SHARED"))


# Who names one of these reads ../shared where it is there, and does something else where it is not. `golden` only has more cases.
ASKED = {"SHARED", "need", "cases"}


@functools.cache
def askers(file: Path) -> set[str]:
    """What of a file of tests reads ../shared: its names, those of other files of tests among them, that use one of ASKED, in their
    statement or through another one of these names, as a fixture or a decorator may be."""
    asking, statements = set[str](), []
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and (path := module(statement.module or "")):
            theirs = ASKED if statement.module == "shared" else askers(path)
            asking |= {name.asname or name.name for name in statement.names if name.name in theirs}
        elif isinstance(statement, ast.Import):
            files = {name.asname or name.name: module(name.name) for name in statement.names}
            theirs = {name: askers(path) for name, path in files.items() if path}
            asking |= {f"{name}.{each}" for name, names in theirs.items() for each in names}
        else:
            inside = list(ast.walk(statement))
            names = [node for node in inside if isinstance(node, ast.Name)]
            uses = {node.id for node in names} | {node.arg for node in inside if isinstance(node, ast.arg)}
            uses |= {ast.unparse(node) for node in inside if isinstance(node, ast.Attribute)}
            loops = [node.target for node in inside if isinstance(node, ast.comprehension)]
            local = {node.id for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Name)}
            stored = {node.id for node in names if isinstance(node.ctx, ast.Store)} - local
            statements.append(({statement.name} if hasattr(statement, "name") else stored, uses))
    before = -1
    while len(asking) > before:
        before = len(asking)
        asking |= {name for defines, uses in statements if uses & asking for name in defines}
    return asking


def absent(path: str | Path) -> str:
    """Why a test is skipped that reads a path of ../shared: one below it, as in "models/a.prototxt", or with SHARED before it."""
    below = Path(os.path.relpath(path, SHARED)) if Path(path).is_absolute() else Path(path)
    return f"the recorded data {Path('../shared', *below.parts[:2]).as_posix()} is not on this machine"


def need(path: str | Path) -> Path:
    """A path below tests or ../shared, or one with SHARED before it; skips the test where it is in neither."""
    for base in (TESTS, SHARED):
        if (base / path).exists():
            return base / path
    pytest.skip(absent(path))


def golden(folder: str) -> list[Path]:
    """The recorded cases of a folder: those in the repository, then those of ../shared that are not among them."""
    own = sorted((TESTS / "golden" / folder).glob("*.npz"))
    names = {path.name for path in own}
    return own + [p for p in sorted((SHARED / "golden" / folder).glob("*.npz")) if p.name not in names]


def cases(values: Iterable[Any], path: str | Path, count: int = 1) -> list[Any]:
    """The values for a test with parameters; where ../shared/`path` is not there, one that says so and is skipped.

    `count` is the number of parameters in a value.
    """
    if (SHARED / path).exists():
        return list(values)
    mark = pytest.mark.skip(reason=absent(path))
    return [pytest.param(*[None] * count, marks=mark, id="not there")]


def recorded(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a recorded case."""
    with np.load(path) as case:
        return {key: case[key] for key in case.files}
