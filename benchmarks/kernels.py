"""Registers, shared memory and spills of every kernel, as the real nvcc reports them: no GPU is needed.

    python benchmarks/kernels.py [NAME ...]

A NAME is a file without its .cu. Each file is compiled for each architecture by itself, as on a machine that has such a GPU.
Registers are of a thread, one number for each architecture; shared memory is of a block, in bytes; spilled bytes (loads and
stores, the most of all architectures) are registers that did not fit. A block has 256 threads: 128 registers each let two
blocks share a multiprocessor.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import ptxas

REALS = ("float", "double")


def lines(path: Path) -> list[str]:
    """The rows of one file: for each kernel its numbers in float, then in double."""
    uses: dict[str, dict[str, list[ptxas.Use]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        for real in REALS:
            for use in ptxas.compile(path, real, [(a, [a]) for a in ptxas.ARCHITECTURES], Path(folder) / "out"):
                uses[use.kernel][real].append(use)
    made = []
    for kernel, of in sorted(uses.items()):
        row = f"{path.stem:18} {kernel:28}"
        for real in REALS:
            ordered = sorted(of[real], key=lambda use: use.architecture)
            registers = "".join(f"{use.registers:5}" for use in ordered)
            row += f" {registers} {max(use.shared for use in ordered):6} {max(use.spills for use in ordered):6}"
        made.append(row)
    return made


def main(names: list[str]) -> None:
    files = [path for path in ptxas.files() if not names or path.stem in names]
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    print(next(line for line in version.splitlines() if "release" in line))
    heads = "".join(f"{a:5}" for a in ptxas.ARCHITECTURES)
    print(f"{'':47} {'float: registers on sm_':36}double: registers on sm_")
    print(f"{'file':18} {'kernel':28}" + f" {heads} {'shared':>6} {'spill':>6}" * 2)
    with ThreadPoolExecutor(2) as pool:
        for rows in pool.map(lines, files):
            print("\n".join(rows), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
