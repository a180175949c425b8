"""The one check: `python tests` runs lint, format, types, tests, and the GPU tests on a stand-in for NVIDIA's driver (no GPU is
needed; tests/stand_in/run.py), and says which of them failed.

`python tests -k Permute` passes further words on to pytest and runs nothing else; `python tests --stand-in -k Permute`
does so on the stand-in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKS = (
    ("lint", ["-m", "ruff", "check", "boxpresso", "tests", "examples", "benchmarks"]),
    ("format", ["-m", "ruff", "format", "--check", "boxpresso", "tests", "examples", "benchmarks"]),
    ("types", ["-m", "mypy"]),
    ("tests", ["-m", "pytest", "-q", "-n", "2"]),
    ("GPU tests on the stand-in", ["tests/stand_in/run.py"]),
)


def run(name: str, command: list[str]) -> bool:
    print(f"== {name}: {' '.join(command)}", flush=True)
    return subprocess.run([sys.executable, *command], cwd=ROOT).returncode == 0


def main(words: list[str]) -> int:
    if words:
        stand_in = words[0] == "--stand-in"
        return 0 if run("tests", ["tests/stand_in/run.py", *words[1:]] if stand_in else ["-m", "pytest", *words]) else 1
    failed = [name for name, command in CHECKS if not run(name, command)]
    print(f"== failed: {', '.join(failed)}" if failed else "== all is well", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
