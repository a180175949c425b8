"""What nvcc's PTX of the region operators makes warps do, counted on a CPU: no number here is a measured time.

    python benchmarks/warps.py [--lines N] [WORDS]

Runs the operators whose name has all WORDS (all without; a word with ^ must begin it) at the big shape of the mlu-ops notes,
[2, 256, 200, 304] with 998 regions, on the stand-in for NVIDIA's driver, which runs nvcc's own PTX warp by warp
(tests/stand_in/simt.h), and prints a row for each kernel:

million   instructions of warps, about as many as Hopper's machine code has (weights of tests/stand_in/ptx_cpp.py)
busy      the share of a warp's 32 threads that take part
MB asked  what loads and stores of global memory ask for; sectors: of the sectors of 32 bytes that each instruction touches,
          which a multiprocessor's own cache is asked for
shared    millions of passes over shared memory; times: the least (1: no bank is met twice)
ms        what the instructions take at least on an H200, whose 132 multiprocessors issue four a cycle at 1.755 GHz; a kernel
          seldom issues more than 70 % of that. The roofline of counts.py stands beside the sum.

With --lines N the N lines of each kernel's text that take the most instructions follow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "stand_in")]

from benchmarks import gpu_operators  # noqa: E402

ISSUED = 132 * 4 * 1.755e9  # instructions of warps a second, at most, on an H200
H200 = (4.3e12, 67e12)  # bytes and float32 operations a second
COUNTS = ("instructions", "of threads", "requests", "sectors", "bytes asked", "shared", "shared least")


def run(case: gpu_operators.Case, path: Path) -> None:
    """In a process that has the stand-in: one pass of a case, counted."""
    import stand_in

    from boxpresso.device import open_device

    rig = gpu_operators.Rig(case, open_device("cuda:0"))
    rig.forward()
    rig.device.synchronize()
    stand_in.profile(os.devnull)
    (rig.backward if case.backward else rig.forward)()
    rig.device.synchronize()
    stand_in.profile(str(path))


def counted(case: gpu_operators.Case, variables: dict[str, str]) -> dict[str, dict[str, int]]:
    """Of each kernel that one pass launches, its counts, by COUNTS and by lines of its text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile"
        words = [case.operator, str(case.ratio), str(int(case.backward)), str(path)]
        subprocess.run([sys.executable, __file__, "--run", *words], env=variables, check=True)
        made: dict[str, dict[str, int]] = defaultdict(dict)
        for line in path.read_text().splitlines():
            kernel, what, value = line.split("\t")
            made[kernel][what] = int(value)
        return made


def least_ms(case: gpu_operators.Case) -> float:
    return 1000 * max(gpu_operators.moved(case) / H200[0], gpu_operators.operations(case) / H200[1])


def rows(case: gpu_operators.Case, kernels: dict[str, dict[str, int]], lines: int) -> list[str]:
    """The table of one case."""
    made, total = [], 0
    for name, of in sorted(kernels.items(), key=lambda item: -item[1]["instructions"]):
        instructions, threads, _, sectors, asked, waves, least = (of[count] for count in COUNTS)
        total += instructions
        made.append(
            f"  {name:38.38} {instructions / 1e6:9.2f} {threads / max(instructions, 1) / 32:5.0%} "
            f"{asked / 1e6:9.1f} {sectors * 32 / 1e6:9.1f} {waves / 1e6:9.2f} {waves / max(least, 1):6.2f} "
            f"{1000 * instructions / ISSUED:8.4f}"
        )
        text = sorted(((value, line) for line, value in of.items() if line not in COUNTS), reverse=True)
        made += [f"      {value / 1e6:9.2f}  {line}" for value, line in text[:lines]]
    name = f"{case.operator}{' backward' if case.backward else ''}{', adaptive' if case.ratio == 0 else ''}"
    issued = 1000 * total / ISSUED
    head = f"{name:40} {total / 1e6:9.2f} {'':45} {issued:8.4f}   roofline {least_ms(case):.4f}"
    return [head, *made]


def main() -> int:
    if sys.argv[1:2] == ["--run"]:
        operator, ratio, backward, path = sys.argv[2:]
        run(
            next(
                case
                for case in cases([])
                if (case.operator, case.ratio, case.backward) == (operator, int(ratio), backward == "1")
            ),
            Path(path),
        )
        return 0
    parser = argparse.ArgumentParser("warps.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("words", nargs="*", help="words that a row's name must have; a first word with ^ must begin it")
    parser.add_argument("--lines", type=int, default=0, help="lines of text of each kernel")
    asked = parser.parse_args()
    import run as stand_in_run

    with tempfile.TemporaryDirectory() as folder:
        os.environ["STAND_IN_PROFILE"] = os.devnull
        variables = stand_in_run.environment(Path(folder) / "counts")
        stand_in_run.through_ptx(variables)
        variables["BOXPRESSO_DEBUG"] = "0"
        print(
            f"{'':40} {'million':>9} {'busy':>5} {'MB asked':>9} {'sectors':>9} {'shared':>9} {'times':>6} {'ms':>8}\n",
            flush=True,
        )
        for case in cases(asked.words):
            print("\n".join(rows(case, counted(case, variables), asked.lines)), flush=True)
    return 0


def cases(words: list[str]) -> list[gpu_operators.Case]:
    """The cases of the big shape whose names have all words."""
    found = gpu_operators.cases(quick=True)
    return [
        case
        for case in found
        if all(case.name.startswith(word[1:]) if word[0] == "^" else word in case.name for word in words)
    ]


if __name__ == "__main__":
    sys.exit(main())
