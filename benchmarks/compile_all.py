"""Compiles every kernel for a GPU into the cache and loads it, with all processors: first where time on the GPU is short.

    python benchmarks/compile_all.py [--device cuda] [--real float,double,half,bfloat16]

A file that does not compile, or that the driver does not take, does not stop the others; the exit status is then 1. What is
in the cache already is only loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from boxpresso.device import open_device  # noqa: E402
from boxpresso.device.build import declared, jobs  # noqa: E402
from boxpresso.device.signature import REALS, DType, KernelFile  # noqa: E402
from boxpresso.proto.errors import BoxpressoError  # noqa: E402

NAMED = {name: dtype for dtype, name in REALS.items()}


def wanted(names: list[str]) -> list[tuple[KernelFile, DType]]:
    """The files of a GPU's kernels with each type that they are for: those of 16 bits have arrays that are stored so."""
    return [(file, NAMED[real]) for file, real in jobs([file for file in declared() if not file.host_only], names)]


def main() -> int:
    parser = argparse.ArgumentParser(
        "compile_all.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", default="cuda", help="cuda (the default), cuda:N or cpu")
    parser.add_argument("--real", default=",".join(NAMED), help=f"types, of {', '.join(NAMED)}; all")
    asked = parser.parse_args()
    names = asked.real.split(",")
    if unknown := [name for name in names if name not in NAMED]:
        parser.error(f"unknown type {unknown[0]!r}: choose from {', '.join(NAMED)}")
    device, start = open_device(asked.device), time.monotonic()
    jobs = wanted(names)

    def build(job: tuple[KernelFile, DType]) -> str:
        try:
            device.build(*job)
        except BoxpressoError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        said = [each for each in pool.map(build, jobs) if each]
    for each in said:
        print(each[:2000])
    print(f"{len(jobs) - len(said)} of {len(jobs)} compiled for {device.name} in {time.monotonic() - start:.0f} s")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
