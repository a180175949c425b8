"""Kernels that were compiled when the package was built (build.py): a library a level of CPUs, in the folder `prebuilt`.

The names in a library end in a key of the text, the headers and the options that a kernel was compiled from. So a kernel is
taken from there only where its text is still the same; one that was changed, or is of your own, is compiled on first use.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from . import levels
from .signature import HEADERS

FOLDER = HEADERS / "prebuilt"
SUFFIX = ".so"  # on every system: nothing but this file looks for them


@functools.cache
def library(path: Path) -> ctypes.CDLL | None:
    """The library of a level; None where it was not built. Raises OSError where the system does not load it."""
    return ctypes.CDLL(str(path)) if path.exists() else None


@functools.cache
def ladder() -> tuple[levels.Level, ...]:
    """The levels whose kernels this process may run and has, the best first. Chosen once, for the first kernel."""
    return tuple(level for level in levels.ladder() if path_of(level).exists())


def path_of(level: levels.Level) -> Path:
    """The library of a level."""
    return FOLDER / f"{level}{SUFFIX}"


def find(key: str) -> ctypes.CDLL | None:
    """The library that has the kernels of that key, at the best level that this machine offers; None where none has."""
    for level in ladder():
        opened = library(path_of(level))
        if opened is not None and hasattr(opened, f"connect_kernels{suffix(key)}"):
            return opened
    return None


def suffix(key: str) -> str:
    """How the names end that a library offers of a file of kernels."""
    return f"_{key}"
