"""The one check. It ends with a table: what ran, how many passed and failed, what was skipped and why, how long it took.

python tests                        lint, format, types and tests, but for the slow ones and the stand-in
python tests --all                  everything, as .ci/run does: the slow tests too (marked so: nets of the corpus, kernels
                                    under the real nvcc and the sanitizers, whole trainings), and the GPU tests on a stand-in
                                    for NVIDIA's driver (tests/stand_in/run.py; no GPU is needed)
python tests --all --without-stand-in   on a machine where the stand-in cannot run; the table says that it was left out
python tests -k Permute             passes these words on to pytest and runs nothing else; --all before them runs slow tests
python tests --stand-in -k Permute  does so on the stand-in; with --ptx behind it, as nvcc compiles the kernels (slow)
BOXPRESSO_SWEEP=1 python tests --all    also compiles every kernel with every compiler that is here, runs what zig's makes, and all nets of
                                    the corpus rather than one of each family and a third of the others
python tests/threaded/full.py       all layer tests with kernels in blocks of real threads, a quarter of an hour or more
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("boxpresso", "tests", "examples", "benchmarks", "packaging")
STAND_IN, WITHOUT = "GPU tests on the stand-in", "--without-stand-in"
CHECKS = {
    "lint": ["-m", "ruff", "check", *CODE],
    "format": ["-m", "ruff", "format", "--check", *CODE],
    "strict types": ["-m", "mypy"],  # strict by pyproject.toml
    "tests": ["-m", "pytest", "-q", "-n", "2"],
}
MORE = {
    STAND_IN: ["tests/stand_in/run.py"],
}


@dataclass
class Result:
    """What became of one check. `passed` and `failed` count tests, `skipped` those of each reason."""

    name: str
    status: str  # "passed", "failed" or "skipped"
    seconds: float = 0
    reason: str = ""
    passed: int | None = None
    failed: int | None = None
    skipped: dict[str, int] = field(default_factory=dict)


def run(name: str, command: Sequence[str]) -> Result:
    """Runs a check to its end. A pytest leaves its counts in a file; a check may leave the reason why it failed."""
    print(f"== {name}: {' '.join(command)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report, start = Path(folder) / "report.json", time.monotonic()
        environment = {**os.environ, "BOXPRESSO_TEST_REPORT": str(report)}
        status = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment).returncode
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return Result(name, "failed" if status else "passed", time.monotonic() - start, **told)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def lines(results: Iterable[Result]) -> list[str]:
    """The table, then what was skipped in each check, grouped by reason, then what failed."""
    results = list(results)
    text = [f"{'':27}{'':8}{'passed':>8}{'failed':>8}{'skipped':>9}{'time':>14}"]
    for r in results:
        counts = [r.passed, r.failed, sum(r.skipped.values()) if r.passed is not None else None]
        cells = ["" if count is None else str(count) for count in counts]
        time = "" if r.status == "skipped" else duration(r.seconds)
        text.append(f"{r.name:27}{r.status:8}{cells[0]:>8}{cells[1]:>8}{cells[2]:>9}{time:>14}".rstrip())
    for r in results:
        if r.skipped:
            text.append(f"skipped in {r.name}:")
            text += [f"{count:7}  {reason}" for reason, count in sorted(r.skipped.items(), key=lambda x: -x[1])]
        if r.reason:
            text.append(f"{r.name} {r.status}: {r.reason}")
    failed = [r.name for r in results if r.status == "failed"]
    ran = [r.name for r in results if r.status == "passed"]
    return [*text, f"failed: {', '.join(failed)}" if failed else f"all is well: {', '.join(ran)}"]


def begin_building() -> subprocess.Popen[bytes]:
    """Begins to build what the stand-in needs, beside the checks that one processor does. Where it fails, the stand-in will say why."""
    command = [sys.executable, *MORE[STAND_IN], "--build"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def everything(words: Sequence[str]) -> list[Result]:
    """The checks that `python tests` runs, or with --all."""
    whole = "--all" in words
    building = begin_building() if whole and WITHOUT not in words else None
    results = [run(name, [*c, *(["--slow"] if whole and name == "tests" else [])]) for name, c in CHECKS.items()]
    for name, command in MORE.items():
        if not whole:
            results.append(Result(name, "skipped", reason="python tests --all runs it"))
        elif name == STAND_IN and WITHOUT in words:
            results.append(Result(name, "skipped", reason=f"left out by {WITHOUT}"))
        else:
            if building:
                building.wait()
            results.append(run(name, command))
    return results


def main(words: list[str]) -> int:
    if set(words) <= {"--all", WITHOUT}:
        results = everything(words)
        print("", *lines(results), sep="\n", flush=True)
        return 1 if any(r.status == "failed" for r in results) else 0
    if words[0] == "--stand-in":
        command = ["tests/stand_in/run.py", *words[1:]]
    else:
        command = ["-m", "pytest", *("--slow" if word == "--all" else word for word in words)]
    return 1 if run("tests", command).status == "failed" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
