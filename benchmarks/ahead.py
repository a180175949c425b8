"""Kernels compiled ahead for the best level of this CPU beside those compiled here for it alone, in one process, by turns.

    python -m boxpresso.device.build --cpu all --into FOLDER
    python -m benchmarks.ahead FOLDER [PROTOTXT [CAFFEMODEL]]... [WORD...]

Rows are the nets in examples/, or those that are given, and the region operators; WORDs choose the rows that have them all. A
time is the least of all calls, a ratio below 1 says that the kernels compiled ahead are faster. On a machine that does other
things BOXPRESSO_THREADS=1 makes it the processor's time of one thread. Written to results/ahead.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from boxpresso import ops
from boxpresso.device import compiler, host, prebuilt
from boxpresso.device import open as opened

from . import ours
from .__main__ import HERE, ROOT, given, machine, resolved, shipped, title_of
from .cases import Case, arrays_of, region_cases
from .report import geometric_mean, milliseconds

FIND = prebuilt.find
ALONE = os.environ.get("BOXPRESSO_THREADS") == "1"
CLOCK = time.thread_time if ALONE else time.perf_counter
LIMIT = 1.03  # what the issue that asked for them allows
ROUNDS, TIMED = 4, 3  # turns at least, and calls of each turn that are timed


def device(ahead: bool) -> host.Cpu:
    """A CPU whose kernels are those compiled ahead, or none of them; it becomes "cpu"."""
    made = host.Cpu()

    def build(kernels: Any, real: Any) -> None:
        prebuilt.find = FIND if ahead else lambda key: None
        host.Cpu.build(made, kernels, real)

    def built(kernels: Any, real: Any) -> bool:
        prebuilt.find = FIND if ahead else lambda key: None
        return host.Cpu.built(made, kernels, real)

    made.build, made.built = build, built  # type: ignore[method-assign]
    opened.cpu = lambda: made  # type: ignore[assignment]
    return made


def call_of(case: Case, folder: Path, ahead: bool) -> tuple[Any, Any, host.Cpu]:
    """What makes the one kind of kernels the one that is used, a function that computes the case, and the device."""
    made = device(ahead)
    arrays = dict(ours.np.load(folder / "x.npz")) if case["kind"] == "net" else arrays_of(case)
    call, _ = ours.make("boxpresso", case, arrays, folder, made.workers)

    def select() -> None:
        opened.cpu = lambda: made  # type: ignore[assignment]
        ops.forget()  # which keeps layers, whichever device they are of
        call()

    return select, call, made


def compare(case: Case, seconds: float) -> tuple[float, float]:
    """The least milliseconds of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "case.json").write_text(json.dumps(case))
        if case["kind"] == "net":
            words = [
                sys.executable,
                str(HERE / "nets.py"),
                str(Path(case["model"]).resolve()),
                resolved(case["weights"]),
                name,
            ]
            subprocess.run(
                words, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
            )
        turns = [measured(case, folder, order, seconds / 2) for order in ((True, False), (False, True))]
    return min(turn[True] for turn in turns) * 1e3, min(turn[False] for turn in turns) * 1e3


def measured(case: Case, folder: Path, order: tuple[bool, bool], seconds: float) -> dict[bool, float]:
    """The least seconds of each, made in that order: a net was a quarter slower in one process, and not in others."""
    calls = {ahead: call_of(case, folder, ahead) for ahead in order}
    for ahead, (select, _, made) in calls.items():
        select()
        from_library = {bool(each.suffix) for each in made.libraries.values()}
        assert from_library == {ahead}, f"{case['name']}: kernels of the other kind: {from_library}"
    least = dict.fromkeys(order, float("inf"))
    end = time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end or rounds < ROUNDS:
        rounds += 1
        for ahead in order if rounds % 2 else order[::-1]:
            select, call, _ = calls[ahead]
            select()
            for _ in range(TIMED):
                start = CLOCK()
                call()
                least[ahead] = min(least[ahead], CLOCK() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.ahead", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kernels", type=Path, metavar="FOLDER", help="what `build --cpu all --into FOLDER` has made")
    parser.add_argument("words", nargs="*", help="PROTOTXT [CAFFEMODEL], and words that a row's name must have")
    parser.add_argument("--seconds", type=float, default=5, help="how long a row is measured (5)")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "ahead.txt", help="the file to write")
    asked = parser.parse_intermixed_args()
    prebuilt.FOLDER = asked.kernels.resolve()
    if not prebuilt.ladder():
        raise SystemExit(f"python -m benchmarks.ahead: {asked.kernels} has no kernels of a level that this CPU offers")
    nets, words = given(asked.words)
    cases: list[Case] = [
        {"kind": "net", "name": title_of(*pair), "model": pair[0], "weights": pair[1]} for pair in nets or shipped()
    ]
    cases = [case for case in [*cases, *region_cases()] if all(word in case["name"] for word in words)]
    command = " ".join(compiler.compiler())
    version = subprocess.run([*compiler.compiler(), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    lines = [
        f"{time.strftime('%Y-%m-%d')}, python -m benchmarks.ahead; {machine()}",
        f"kernels of {prebuilt.ladder()[0]} compiled ahead beside -march=native by {command} ({version});",
        "least of all calls in one process" + ", processor's time of one thread" * ALONE,
        "",
        f"{'':44} {'ahead, ms':>10} {'native, ms':>10} {'ratio':>7}",
    ]
    print("\n".join(lines), flush=True)
    ratios = []
    for case in cases:
        ahead, native = compare(case, asked.seconds)
        ratios.append(ahead / native)
        lines.append(f"{case['name'][:44]:44} {milliseconds(ahead):>10} {milliseconds(native):>10} {ratios[-1]:7.3f}")
        print(lines[-1], flush=True)
    within = sum(ratio <= LIMIT for ratio in ratios)
    mean = geometric_mean(ratios)
    lines += [
        "",
        f"{within} of {len(ratios)} rows within {LIMIT:g}; geometric mean {mean:.3f}, the slowest {max(ratios):.3f}",
    ]
    print("\n".join(lines[-2:]))
    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
