"""Tests of layers with kernels of a level of the CPUs: `python tests/levels/full.py NEON [words for pytest]`.

Without words all layer tests run that are not slow. The level is compiled for and run by this CPU or by an emulator: see __init__.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from places import TESTS

from levels import LEVELS, Emulated, at


def main(name: str, words: list[str]) -> int:
    os.environ["BOXPRESSO_DEVICE"] = "cpu"
    files = [str(p) for p in sorted(TESTS.rglob("test_*.py")) if "from harness import" in p.read_text(encoding="utf-8")]
    with at(LEVELS[name]) as made:
        code = pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not cuda", *(words or files)])
    if isinstance(made, Emulated):
        used = made.launched
    else:
        used = {kernel.file.path.name for kernel, _ in (*made.functions, *made.steps)}
    print("kernels of:", *sorted(used))
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
