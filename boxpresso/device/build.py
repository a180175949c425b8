"""Builds kernels ahead, for machines without nvcc or whose first run may not wait.

    python -m boxpresso.device.build --arch sm_90

It needs nvcc, and no GPU, driver or PyCUDA. The files go into the kernel cache; where that of the machine that runs them is
another folder, copy it there, or name it in BOXPRESSO_CACHE. They are found by what they were made of, wherever that lay.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ..proto.errors import BoxpressoError
from . import cache, cubin
from .compiling import Progress
from .kernel import Kernels
from .signature import REALS

ARCH = re.compile(r"sm_\d+[af]?")
ROOMS = ("device", "layers", "net", "ops", "train")  # which have kernels
NAMES = {name: dtype.itemsize for dtype, name in REALS.items()}


def declared(package: str = __package__.rpartition(".")[0]) -> list[Kernels]:
    """The files of kernels of a GPU that the package has, each once with its options."""
    for room in ROOMS:
        folder = importlib.import_module(f"{package}.{room}")
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:  # such as torch, of ops/torch.py
                if str(error.name).startswith(package):
                    raise
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = {
        (str(one.path), *one.options): one
        for one in list(Kernels.declared)
        if not one.host_only and str(one.path).startswith(root + os.sep)
    }
    return [files[key] for key in sorted(files)]


def jobs(files: Sequence[Kernels], reals: Sequence[str]) -> list[tuple[Kernels, str]]:
    """Each file with each type that it is for: those of 16 bits have arrays that are stored so."""
    halves = {file: any(kernel.halves for kernel in file.table.values()) for file in files}
    return [(file, real) for real in reals for file in files if halves[file] or NAMES[real] > 2]


def build(arch: str, reals: Sequence[str], workers: int) -> tuple[int, int, list[str]]:
    """Compiles for an architecture what the cache has not. Returns how many files there are, how many of them were compiled
    now, and what was said of those that do not compile."""
    wanted = jobs(declared(), reals)
    missing = [job for job in wanted if cache.fetch(cubin.path_of(*job, arch)) is None]
    progress, errors = Progress(arch, len(missing)), []
    with ThreadPoolExecutor(max(1, workers)) as pool:
        for done, error in enumerate(pool.map(lambda job: compiled(job[0], job[1], arch), missing), 1):
            progress.tell(done)
            if error:
                errors.append(error)
    progress.end()
    return len(wanted), len(missing) - len(errors), errors


def compiled(file: Kernels, real: str, arch: str) -> str:
    """Compiles a file into the cache. Returns what is wrong, "" for nothing."""
    try:
        cubin.compiled(file, real, arch)
    except BoxpressoError as error:
        return str(error)
    return ""


def main(words: Sequence[str] | None = None) -> int:
    """The command. Returns its exit status: 1 where a file does not compile."""
    parser = argparse.ArgumentParser("python -m boxpresso.device.build", description=__doc__)
    text = "the GPU's architecture, such as sm_90; may be repeated"
    parser.add_argument("--arch", action="append", required=True, metavar="SM", help=text)
    text = (
        f"the types of numbers, of {', '.join(NAMES)} (default: float, which nets have unless they are asked otherwise)"
    )
    parser.add_argument("--real", default="float", help=text)
    text = "how many are compiled at once (default: as many as there are processors)"
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help=text)
    asked = parser.parse_args(words)
    reals = asked.real.split(",")
    if unknown := [name for name in reals if name not in NAMES]:
        parser.error(f"unknown type {unknown[0]!r}: choose from {', '.join(NAMES)}")
    if unknown := [arch for arch in asked.arch if not ARCH.fullmatch(arch)]:
        parser.error(f"{unknown[0]!r} is not an architecture such as sm_90")
    status = 0
    try:
        for arch in asked.arch:
            start = time.monotonic()
            count, new, errors = build(arch, reals, asked.jobs)
            for error in errors:
                print(error[:2000], file=sys.stderr)
            seconds = time.monotonic() - start
            print(
                f"{count - len(errors)} of {count} files for {arch} in {cache.folder()}, "
                f"{new} of them compiled now, {seconds:.0f} s"
            )
            status = max(status, int(bool(errors)))
    except BoxpressoError as error:
        print(f"boxpresso: error: {error}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
