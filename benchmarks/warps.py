"""What nvcc's PTX of the region operators makes warps do, counted on a CPU: no number here is a measured time.

    python benchmarks/warps.py [--lines N] [--tiny] [--out FILE] [WORDS]

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

--tiny: a small shape, for a trial. With --lines N the N lines of each kernel's text that take the most instructions follow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

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


def counted(case: gpu_operators.Case, tiny: bool, variables: dict[str, str]) -> dict[str, dict[str, int]]:
    """Of each kernel that one pass launches, its counts, by COUNTS and by lines of its text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile"
        words = [str(cases(["^"], tiny).index(case)), str(path), "tiny" if tiny else "big"]
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


def head() -> list[str]:
    """What stands above the rows."""
    columns = f"{'':40} {'million':>9} {'busy':>5} {'MB asked':>9} {'sectors':>9} {'shared':>9} {'times':>6} {'ms':>8}"
    return ["python benchmarks/warps.py: nvcc's PTX run on a CPU, nothing here was measured on a GPU", "", columns]


def cases(words: list[str], tiny: bool) -> list[gpu_operators.Case]:
    """The cases of the big shape, or of the small one, whose names have all words."""
    found = gpu_operators.cases(quick=not tiny, tiny=tiny)
    return [
        c for c in found if all(c.name.startswith(word[1:]) if word[0] == "^" else word in c.name for word in words)
    ]


def main() -> int:
    if sys.argv[1:2] == ["--run"]:
        run(cases(["^"], sys.argv[4] == "tiny")[int(sys.argv[2])], Path(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(
        "warps.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="words that a row's name must have; one with ^ must begin it")
    parser.add_argument("--lines", type=int, default=0, help="how many lines of each kernel's text follow it")
    parser.add_argument("--tiny", action="store_true", help="a small shape")
    parser.add_argument("--out", type=Path, help="a file for the table; else it is printed")
    asked = parser.parse_args()
    from stand_in import run as stand_in_run

    printed = head()
    print("\n".join(printed), flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        os.environ["STAND_IN_PROFILE"] = os.devnull  # kernels that count are others
        variables = stand_in_run.environment(Path(folder) / "counts")
        stand_in_run.through_ptx(variables)
        variables["BOXPRESSO_DEBUG"] = "0"  # arrays as they lie without checks
        chosen = cases(asked.words, asked.tiny)
        for case, kernels in zip(chosen, pool.map(lambda case: counted(case, asked.tiny, variables), chosen)):
            printed += (more := rows(case, kernels, asked.lines))
            print("\n".join(more), flush=True)
    if asked.out:
        part = asked.out.with_name(f"{asked.out.name}.part")
        part.write_text("\n".join([f"{date.today()}, {printed[0]}", *printed[1:], ""]))
        part.replace(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
