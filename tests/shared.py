"""Where the recorded outputs of the real programs lie: a selection in tests/golden, all of them in ../shared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared"


def need(path: str) -> Path:
    """A path below ../shared; skips the test where it is not there."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"the recorded data ../shared/{path} is not on this machine")
    return found


def golden(folder: str) -> list[Path]:
    """The recorded cases of a folder: those kept in the repository, then those of ../shared that are not among them."""
    kept = sorted((HERE / "golden" / folder).glob("*.npz"))
    names = {path.name for path in kept}
    return kept + [p for p in sorted((SHARED / "golden" / folder).glob("*.npz")) if p.name not in names]


def recorded(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a recorded case."""
    with np.load(path) as case:
        return {key: case[key] for key in case.files}
