"""The one check. It ends with a table: what ran, how many passed and failed, what was skipped and why, how long it took, and the
files that took longest.

python tests                        lint, format, types, and a first look at everything: each layer, each command, the passes over a
                                    net, trainings; 5 to 13 minutes on two processors, the first time
python tests --all                  everything, as .ci/run does: all cases of all tests, the slow ones too (marked so: nets of the
                                    corpus, kernels under the real nvcc and the sanitizers, whole trainings), the GPU tests on a
                                    stand-in for NVIDIA's driver (tests/stand_in/run.py; no GPU is needed), and once more what reads
                                    ../shared, where that is there, as if it were not; 20 to 36 minutes
python tests --all --without-stand-in   on a machine where the stand-in cannot run; the table says that it was left out
python tests -k Permute             passes these words on to pytest and runs nothing else; --all before them runs slow tests
python tests --stand-in -k Permute  does so on the stand-in; with --ptx behind it, as nvcc compiles the kernels (slow)
BOXPRESSO_SWEEP=1 python tests --all    what is marked `sweep`, too: every kernel with every compiler that is here and at every level of the
                                    CPUs, what clang and zig make of them run, nvcc for every GPU, all nets of the corpus, longer
                                    runs of the fuzzers, trainings that end at every line; CONTRIBUTING.md says what --all has of these
python tests/threaded/full.py       all layer tests with kernels in blocks of real threads, a quarter of an hour or more

What the first look leaves to --all is marked `later` or `slow` at the test itself; pytest without options leaves out `slow` and
`sweep` alone. The table counts what was left out, for each of these.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from progress import CLEAR, duration

ROOT = Path(__file__).resolve().parents[1]
CODE = ("boxpresso", "tests", "examples", "benchmarks", "packaging")
STAND_IN, WITHOUT = "GPU tests on the stand-in", "--without-stand-in"
TYPES, BARE = "strict types", "tests without ../shared"
PYTEST = ["-m", "pytest", "-q", "-n", "2", "-o", "console_output_style=classic"]
QUICK = {
    "lint": ["-m", "ruff", "check", *CODE],
    "format": ["-m", "ruff", "format", "--check", *CODE],
}
MORE = {
    BARE: [*PYTEST, "--without-shared"],
    STAND_IN: ["tests/stand_in/run.py"],
}


@dataclass
class Result:
    """What became of one check. `passed` and `failed` count tests, `skipped` those of each reason; `cpu` and `slowest` are CPU
    seconds, of all that it started, and of the files that took most of them."""

    name: str
    status: str  # "passed", "failed" or "skipped"
    seconds: float = 0
    reason: str = ""
    passed: int | None = None
    failed: int | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    cpu: float = 0
    slowest: dict[str, float] = field(default_factory=dict)


def end(process: subprocess.Popen[bytes]) -> float:
    """Waits for a process. Returns the CPU seconds of it and of all that it has started and waited for; 0 where nothing says that."""
    if not hasattr(os, "wait4"):  # Windows
        process.wait()
        return 0.0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def run(name: str, command: Sequence[str], line: bool = True, beside: bool = False) -> Result:
    """Runs a check to its end, where it is a pytest with one `line` of progress. A pytest leaves its counts in a file; a check may
    leave the reason why it failed. What a check prints that runs `beside` another one comes in one piece, at its end."""
    heading = f"== {name}: {' '.join(command)}"
    if not beside:
        print(heading, flush=True)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "output", "w+b") as output:
        report, start = Path(folder) / "report.json", time.monotonic()
        environment = {**os.environ, "BOXPRESSO_TEST_REPORT": str(report)}
        if line:
            environment["BOXPRESSO_TEST_PROGRESS"] = name
        to = {"stdout": output, "stderr": subprocess.STDOUT} if beside else {}
        with subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment, **to) as process:
            cpu = end(process)
        if beside:
            output.seek(0)
            said = output.read().decode(errors="replace")
            print(f"{CLEAR if sys.stdout.isatty() else ''}{heading}\n{said}", end="", flush=True)
        fields = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    seconds = time.monotonic() - start
    return Result(name, "failed" if process.returncode else "passed", seconds, cpu=cpu, **fields)


def lines(results: Iterable[Result]) -> list[str]:
    """The table, then what was skipped in each check, grouped by reason, and its slowest files, then what failed."""
    results = list(results)
    text = [f"{'':27}{'':8}{'passed':>8}{'failed':>8}{'skipped':>9}{'time':>14}{'CPU time':>14}"]
    for r in results:
        counts = [r.passed, r.failed, sum(r.skipped.values()) if r.passed is not None else None]
        cells = ["" if count is None else str(count) for count in counts]
        times = ["" if r.status == "skipped" else duration(seconds) for seconds in (r.seconds, r.cpu)]
        row = f"{r.name:27}{r.status:8}{cells[0]:>8}{cells[1]:>8}{cells[2]:>9}{times[0]:>14}{times[1]:>14}"
        text.append(row.rstrip())
    for r in results:
        if r.skipped:
            text.append(f"skipped in {r.name}:")
            text += [f"{count:7}  {reason}" for reason, count in sorted(r.skipped.items(), key=lambda x: -x[1])]
        if r.slowest:
            text.append(
                f"what took longest in {r.name}, in seconds of one processor, with the kernels that it compiled first:"
            )
            text += [f"{seconds:9.1f}  {file}" for file, seconds in sorted(r.slowest.items(), key=lambda x: -x[1])]
        if r.reason:
            text.append(f"{r.name} {r.status}: {r.reason}")
    failed = [r.name for r in results if r.status == "failed"]
    ran = [r.name for r in results if r.status == "passed"]
    return [*text, f"failed: {', '.join(failed)}" if failed else f"all is well: {', '.join(ran)}"]


def begin_building() -> subprocess.Popen[bytes]:
    """Begins to build what the stand-in needs, beside the checks that one processor does. Where it fails, the stand-in will say why."""
    command = [sys.executable, *MORE[STAND_IN], "--build"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def has_shared() -> bool:
    """Whether tests read recorded data of ../shared here."""
    from shared import SHARED

    return SHARED.exists()


def everything(words: Sequence[str]) -> list[Result]:
    """The checks that `python tests` runs, or with --all."""
    whole = "--all" in words
    building = begin_building() if whole and WITHOUT not in words else None
    results = [run(name, command) for name, command in QUICK.items()]
    with ThreadPoolExecutor(1) as pool:
        typed = pool.submit(run, TYPES, ["-m", "mypy"], line=False, beside=True)  # strict by pyproject.toml
        tests = run("tests", [*PYTEST, "--slow" if whole else "--first-look"])
        results += [typed.result(), tests]
    for name, command in MORE.items():
        if not whole:
            results.append(Result(name, "skipped", reason="python tests --all runs it"))
        elif name == STAND_IN and WITHOUT in words:
            results.append(Result(name, "skipped", reason=f"left out by {WITHOUT}"))
        elif name == BARE and not has_shared():
            results.append(Result(name, "skipped", reason="it is not there, and all tests have run without it"))
        else:
            if building and name == STAND_IN:
                building.wait()
            results.append(run(name, command))
    return results


def main(words: list[str]) -> int:
    if words in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    if set(words) <= {"--all", WITHOUT}:
        results = everything(words)
        print("", *lines(results), sep="\n", flush=True)
        return 1 if any(r.status == "failed" for r in results) else 0
    if words[0] == "--stand-in":
        command = ["tests/stand_in/run.py", *words[1:]]
    else:
        command = ["-m", "pytest", *("--slow" if word == "--all" else word for word in words)]
    return 1 if run("tests", command, line=False).status == "failed" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
