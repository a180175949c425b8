"""Where the recorded outputs of the real programs lie: a selection in tests/golden, all of them in ../shared.

BOXPRESSO_SHARED names another folder than ../shared; "none" runs the tests as in a clone that has nothing beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent


def folder(setting: str | None) -> Path:
    """The folder that BOXPRESSO_SHARED names; one that does not exist for "none"."""
    if setting == "none":
        return HERE / "golden" / "none"
    return Path(setting) if setting else HERE.parents[1] / "shared"


SHARED = folder(os.environ.get("BOXPRESSO_SHARED"))


def absent(path: str) -> str:
    """Why a test is skipped that reads a path below ../shared."""
    return f"the recorded data ../shared/{'/'.join(path.split('/')[:2])} is not on this machine"


def need(path: str) -> Path:
    """A path below tests or ../shared; skips the test where it is in neither."""
    for base in (HERE, SHARED):
        if (base / path).exists():
            return base / path
    pytest.skip(absent(path))


def golden(folder: str) -> list[Path]:
    """The recorded cases of a folder: those in the repository, then those of ../shared that are not among them."""
    own = sorted((HERE / "golden" / folder).glob("*.npz"))
    names = {path.name for path in own}
    return own + [p for p in sorted((SHARED / "golden" / folder).glob("*.npz")) if p.name not in names]


def cases(values: Iterable[Any], path: str, count: int = 1) -> list[Any]:
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
