"""Where things lie, for every test: the tree, the folders of the tests, and the files in them."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
ROOMS = sorted({path.parent for path in TESTS.rglob("test_*.py")})  # tests/<room>, as boxpresso/<room>


def module(name: str) -> Path | None:
    """The file that `import name` reads in a test, where it is one of the tests' own."""
    return next((path for folder in (TESTS, *ROOMS) if (path := folder / f"{name}.py").exists()), None)
