"""Mutated files until the time is over: each must run, or be refused with an error of Boxpresso, within its time and memory.

python tests/fuzz --hours 1                          # all kinds in turn; findings go to tests/fuzz/found
python tests/fuzz --minutes 2 --kind caffemodel      # one kind
python tests/fuzz --kind prototxt --case 1234        # runs one case here, with its traceback
python tests/fuzz --layers --minutes 10              # random layers under AddressSanitizer and UBSan
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
HANG = 10.0  # seconds of CPU time
STUCK = 300.0  # seconds without an answer, however little CPU time they took: it waits for something


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has had; a busy machine does not make it longer. Elsewhere than on Linux the time of day."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that runs cases; a new one takes the place of one that has died or hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.said = tempfile.TemporaryFile()  # noqa: SIM115  # a pipe that nobody reads would stop the worker

    def ask(self, kind: str, number: int, seed: int) -> dict[str, object]:
        from targets import NETS

        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, errors="replace",
            )  # fmt: skip
            patience = 60.0  # it imports, and compiles at its first cases
        else:
            patience = HANG
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([kind, number, seed]) + "\n")
        self.process.stdin.flush()
        patience = max(patience, 40.0) if kind in NETS else patience  # that may compile a kernel
        answered = self.wait(patience)
        line = self.process.stdout.readline() if answered else ""
        if line:
            verdict: dict[str, object] = json.loads(line)
            return verdict if float(str(verdict["seconds"])) < HANG else {**verdict, "verdict": "hang"}
        kind_of_end = "crash" if answered else "hang"
        self.end()
        self.said.seek(max(0, self.said.seek(0, os.SEEK_END) - 500))
        return {"verdict": kind_of_end, "detail": self.said.read().decode(errors="replace"), "seconds": 0.0}

    def wait(self, patience: float) -> bool:
        """Whether the worker answers, or ends, before it has had `patience` seconds of CPU time."""
        assert self.process is not None
        assert self.process.stdout is not None
        begun, start = cpu_seconds(self.process.pid), time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not selector.select(1.0):
                if cpu_seconds(self.process.pid) - begun > patience or time.monotonic() - start > STUCK:
                    return False
        return True

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def fuzz(
    kinds: list[str], seconds: float, seed: int, first: int = 0, cases: int | None = None, least: int = 0
) -> tuple[Counter[str], list[str]]:
    """Runs cases in turn, at most `cases` of each kind and at least `least`, however long that takes; counts of verdicts by
    kind, and lines about findings, whose inputs are kept."""
    from targets import one

    end, worker, counts, findings = time.monotonic() + seconds, Worker(), Counter[str](), list[str]()
    try:
        number = first
        while (time.monotonic() < end or number < first + least) and (cases is None or number < first + cases):
            for kind in kinds:
                result = worker.ask(kind, number, seed)
                counts[f"{kind} {result['verdict']}"] += 1
                if result["verdict"] not in ("ran", "refused"):
                    keep(kind, number, seed, one(kind, number, seed))
                    findings.append(f"{kind} case {number} of seed {seed}: {result['verdict']} {result['detail']}")
                    print(findings[-1], flush=True)
            number += 1
    except KeyboardInterrupt:
        print("interrupted")  # what ran is reported all the same
    finally:
        worker.end()
    return counts, findings


def keep(kind: str, number: int, seed: int, data: bytes) -> None:
    folder = HERE / "found"
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}-{seed}-{number}").write_bytes(data)


def main() -> int:
    from targets import TARGETS, one, run_one

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--hours", type=float, default=0.0)
    add("--minutes", type=float, default=0.0)
    add("--seed", type=int, default=1)
    add("--first", type=int, default=0, help="the number of the first case")
    add("--kind", action="append", choices=sorted(TARGETS), default=[])
    add("--least", type=int, default=0, help="cases of each kind that run, however long they take")
    add("--case", type=int, help="run this case of --kind here")
    add("--layers", action="store_true", help="random layers under the sanitizers")
    args = parser.parse_args()
    seconds = args.hours * 3600 + args.minutes * 60 or 120.0
    if args.layers:
        import layers

        return layers.fuzz(seconds, args.seed)
    kinds = args.kind or list(TARGETS)
    if args.case is not None:
        data = one(kinds[0], args.case, args.seed)
        print(data if len(data) < 4000 else f"{len(data)} bytes")
        with tempfile.TemporaryDirectory() as folder:
            run_one(kinds[0], data, Path(folder))
        return 0
    start = time.monotonic()
    counts, findings = fuzz(kinds, seconds, args.seed, args.first, least=args.least)
    for name, count in sorted(counts.items()):
        print(f"{count:9} {name}")
    print(f"{sum(counts.values())} cases in {time.monotonic() - start:.0f} s, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
