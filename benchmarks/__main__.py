"""Boxpresso beside other programs: times, each program in a process of its own, in turn.

    python -m benchmarks nets [--peers] [PROTOTXT [CAFFEMODEL]]... [WORD...]
    python -m benchmarks train|regions|layers [--peers] [WORD...]

nets: one forward pass of batch 1 of the nets in examples/, and of those given. train: forward and backward of two trunks.
regions: region operators. layers: convolutions, their gradients, permutations. WORDs choose the rows that have them all.

With --peers the same is measured with onnxruntime, OpenVINO, OpenCV and torch (and torchvision, mmcv, detectron2), those that
are installed; --python names another Python that has them, which needs nothing of Boxpresso but numpy. All are given the same
arrays, float32 and the same number of threads, and their results are compared with ours. A time is the best of the rounds'
medians. On a shared machine only the ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

from .cases import Case, layer_cases, region_cases, train_cases
from .peers import ONE_THREAD, PROGRAMS
from .report import WIDTH, Table, draw

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WEIGHTS = (".caffemodel", ".h5")


def shipped() -> list[tuple[str, str]]:
    """The nets of examples/ that deploy: each with its caffemodel, or "-"."""
    nets = []
    for path in sorted((ROOT / "examples").rglob("deploy.prototxt")):
        weights = sorted(p for p in path.parent.iterdir() if p.suffix in WEIGHTS)
        nets.append((str(path), str(weights[0]) if weights else "-"))
    return nets


def given(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The nets among the words, each with its weights or "-", and the other words."""
    nets: list[tuple[str, str]] = []
    rest = []
    for word in words:
        if word.endswith(".prototxt"):
            nets.append((word, "-"))
        elif word.endswith(WEIGHTS) and nets and nets[-1][1] == "-":
            nets[-1] = nets[-1][0], word
        else:
            rest.append(word)
    for path in (p for pair in nets for p in pair if p != "-"):
        if not Path(path).is_file():
            raise SystemExit(f"python -m benchmarks nets: no file {path}")
    return nets, rest


def title_of(model: str, weights: str) -> str:
    path = Path(model).resolve()
    name = "/".join(path.parts[-3:-1]) if path.stem == "deploy" else f"{path.parent.name}/{path.stem}"
    return name + ("" if weights != "-" else ", random weights")


def cases_of(verb: str, words: list[str]) -> list[Case]:
    if verb == "nets":
        nets, words = given(words)
        cases: list[Case] = [
            {"kind": "net", "name": title_of(*pair), "model": pair[0], "weights": pair[1]} for pair in nets or shipped()
        ]
    else:
        cases = {"train": train_cases, "regions": region_cases, "layers": layer_cases}[verb]()
    chosen = [case for case in cases if all(word in case["name"] for word in words)]
    if not chosen:
        raise SystemExit(f"python -m benchmarks {verb}: no row has all of {words}; --list shows them")
    return chosen


class Bench:
    """Runs programs on cases, each in a process of its own."""

    def __init__(self, peers: bool, python: str, threads: int, rounds: int, seconds: float) -> None:
        self.peers, self.python, self.threads, self.rounds, self.seconds = peers, python, threads, rounds, seconds
        self.missing: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    def environment(self) -> dict[str, str]:
        names = ("BOXPRESSO_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        return {**os.environ, **dict.fromkeys(names, str(self.threads)), "PYTHONPATH": path}

    def run(self, python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *arguments], capture_output=True, text=True, env=self.environment(), cwd=ROOT)

    def once(self, program: str, folder: Path) -> dict[str, Any]:
        """One turn of a program."""
        python = sys.executable if program == "boxpresso" else self.python
        done = self.run(python, str(HERE / "worker.py"), program, str(folder), str(self.seconds), str(self.threads))
        lines = done.stdout.strip().splitlines()
        if done.returncode or not lines:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return {"failed": last}
        result: dict[str, Any] = json.loads(lines[-1])
        return result

    def prepare(self, case: Case, folder: Path) -> str:
        """Writes what the programs need. Returns why that failed, or ""."""
        (folder / "case.json").write_text(json.dumps(case))
        if case["kind"] != "net":
            return ""
        arguments = str(HERE / "nets.py"), str(Path(case["model"]).resolve()), resolved(case["weights"]), str(folder)
        done = self.run(sys.executable, *arguments)
        without = folder / "m.txt"
        if not done.returncode and without.exists() and self.python != sys.executable:
            again = self.run(self.python, *arguments)  # the Python of the peers may have what the writer needs
            if not again.returncode and (folder / "m.onnx").exists():
                without.unlink()
        return (done.stderr.strip().splitlines() or ["?"])[-1] if done.returncode else ""

    def row(self, case: Case) -> dict[str, dict[str, Any]]:
        """The best of all rounds of each program."""
        programs = ["boxpresso", *(PROGRAMS[case["kind"]] if self.peers else [])]
        best: dict[str, dict[str, Any]] = {}
        with tempfile.TemporaryDirectory() as name:
            failed = self.prepare(case, Path(name))
            if failed:
                return {"boxpresso": {"failed": failed}}
            for _ in range(self.rounds):
                for program in programs:
                    if program in self.missing or not best.get(program, {"ms": 0}).keys() & {"ms"}:
                        continue
                    result = self.once(program, Path(name))
                    if "missing" in result:
                        self.missing[program] = result["missing"]
                    elif "ms" in result:
                        self.versions[program] = result["version"]
                    known = best.get(program, result)
                    best[program] = min(known, result, key=lambda r: r.get("ms", float("inf")))
                if "ms" not in best["boxpresso"]:
                    break
        return best


def resolved(path: str) -> str:
    return path if path == "-" else str(Path(path).resolve())


def machine() -> str:
    """The CPU and how busy it is."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
        flags = next((line.split() for line in lines if line.startswith("flags")), [])
        wide = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("amx_tile", "AMX")) if flag in flags]
        model += f" ({', '.join(wide)})" if wide else ""
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} CPUs{load}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("verb", choices=["nets", "train", "regions", "layers"])
    parser.add_argument(
        "words", nargs="*", help="words that a row's name must have; for nets also PROTOTXT [CAFFEMODEL]"
    )
    parser.add_argument("--peers", action="store_true", help="measure the other programs too")
    parser.add_argument(
        "--python", default=sys.executable, metavar="PATH", help="the Python that has the other programs"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program (3)")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long a turn measures (1.5)")
    parser.add_argument("--threads", type=int, help="of every program; all CPUs that this process may use")
    parser.add_argument(
        "--out", type=Path, default=HERE / "results", metavar="FOLDER", help="for VERB.txt and VERB.png"
    )
    parser.add_argument("--list", action="store_true", help="show the rows and measure nothing")
    return parser.parse_intermixed_args()


def main() -> None:
    asked = arguments()
    cases = cases_of(asked.verb, asked.words)
    if asked.list:
        print("\n".join(case["name"] for case in cases))
        return
    if shutil.which(asked.python) is None:
        raise SystemExit(f"python -m benchmarks: --python {asked.python} is no program")
    threads = asked.threads or (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    bench = Bench(asked.peers, asked.python, threads, asked.rounds, asked.seconds)
    kinds = list(dict.fromkeys(case["kind"] for case in cases))
    programs = list(dict.fromkeys(p for kind in kinds for p in PROGRAMS[kind])) if asked.peers else []
    alone = {p: all(p in ONE_THREAD.get(kind, ()) for kind in kinds if p in PROGRAMS[kind]) for p in programs}
    table = Table(["boxpresso", *programs], alone)
    how = f"{threads} threads, float32; the best of {asked.rounds} rounds' medians"
    words = [word.rsplit(os.sep, 1)[-1] for word in sys.argv[1:]]  # of paths the last part
    asked_for = f"{time.strftime('%Y-%m-%d')}, python -m benchmarks {' '.join(words)}"
    text = [textwrap.fill(asked_for, WIDTH), textwrap.fill(machine(), WIDTH), how, "", table.head()]
    print("\n".join(text), flush=True)
    for case in cases:
        text.append(table.add(case["name"], bench.row(case)))
        print(text[-1], flush=True)
    table.missing = bench.missing
    versions = ", ".join(f"{program} {version}" for program, version in bench.versions.items())
    used = textwrap.fill(f"Python {platform.python_version()}, {versions}", WIDTH)
    text += ["", used, table.foot()]
    print("\n".join(text[-3:]))
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / f"{asked.verb}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    if asked.peers and any("ms" in r for _, row in table.rows for p, r in row.items() if p != "boxpresso"):
        try:
            draw(asked.out / f"{asked.verb}.png", f"{asked.verb}: {machine()}, {threads} threads", table)
        except ImportError as error:
            print(f"no picture: {error}; pip install 'boxpresso[train]'", file=sys.stderr)


if __name__ == "__main__":
    main()
