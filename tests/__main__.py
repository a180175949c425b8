"""The one check: `python tests` runs lint, types and tests, and says which of them failed.

`python tests -k Permute` passes further words on to pytest and runs nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKS = (
    ("lint", ["ruff", "check", "boxpresso", "tests", "examples", "benchmarks"]),
    ("types", ["mypy"]),
)
PYTEST = ["pytest", "-q", "-n", "2"]


def run(name: str, command: list[str]) -> bool:
    print(f"== {name}: {' '.join(command)}", flush=True)
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode == 0


def main(words: list[str]) -> int:
    if words:
        return 0 if run("tests", ["pytest", *words]) else 1
    failed = [name for name, command in (*CHECKS, ("tests", PYTEST)) if not run(name, command)]
    print(f"== failed: {', '.join(failed)}" if failed else "== all is well", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
