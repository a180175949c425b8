"""Builds kernels ahead, for machines without a compiler or whose first run may not wait.

    python -m boxpresso.device.build --arch sm_90
    python -m boxpresso.device.build --cpu all

For a GPU it needs nvcc, and no GPU, driver or PyCUDA. The files go into the kernel cache; where that of the machine that runs
them is another folder, copy it there, or name it in BOXPRESSO_CACHE. They are found by what they were made of, wherever it lay.

For CPUs it needs a C++ compiler, perhaps one that makes code for another machine, as with
CXX="python -m ziglang c++ -target aarch64-linux-gnu". A library a level (levels.py) goes into the package, or into the folder
that --into names: wheels are built so.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import re
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from ..proto.errors import BoxpressoError, DeviceError
from . import cache, compiler, cubin, levels, prebuilt
from .compiling import Progress
from .kernel import Kernels
from .signature import REALS

ARCH = re.compile(r"sm_\d+[af]?")
ROOMS = ("device", "layers", "net", "ops", "train")  # which have kernels
NAMES = {name: dtype.itemsize for dtype, name in REALS.items()}


def declared(package: str = __package__.rpartition(".")[0]) -> list[Kernels]:
    """The files of kernels that the package has, each once with its options."""
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
        (str(one.path), *one.options): one for one in list(Kernels.declared) if str(one.path).startswith(root + os.sep)
    }
    return [files[key] for key in sorted(files)]


def jobs(files: Sequence[Kernels], reals: Sequence[str]) -> list[tuple[Kernels, str]]:
    """Each file with each type that it is for: those of 16 bits have arrays that are stored so."""
    halves = {file: any(kernel.halves for kernel in file.table.values()) for file in files}
    return [(file, real) for real in reals for file in files if halves[file] or NAMES[real] > 2]


def build(arch: str, reals: Sequence[str], workers: int) -> tuple[int, int, list[str]]:
    """Compiles for an architecture what the cache has not. Returns how many files there are, how many of them were compiled
    now, and what was said of those that do not compile."""
    wanted = jobs([file for file in declared() if not file.host_only], reals)
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


def target() -> str:
    """What the compiler makes code for: the machine, its maker and its system, as x86_64-linux-gnu."""
    import subprocess  # slow to import

    command = [*compiler.compiler(), "-dumpmachine"]
    try:
        with TemporaryDirectory() as folder:  # zig says it, fails, and leaves a file where it runs
            place = folder if "ziglang" in command else None
            lines = subprocess.run(command, capture_output=True, text=True, cwd=place).stdout.split()
    except OSError as error:
        raise DeviceError(f"the C++ compiler {compiler.shown()} cannot be run: {error.strerror or error}") from error
    if not lines:
        raise DeviceError(f"the C++ compiler {compiler.shown()} does not say for which machine it is (-dumpmachine)")
    return lines[0]


def levels_of(names: str) -> list[levels.Level]:
    """The levels of the compiler's machine that have these names; "all" for all. Raises DeviceError for an unknown one."""
    system = target()
    machine = system.partition("-")[0].replace("arm64", "aarch64")
    known = {level.name: level for level in levels.LEVELS.get(machine, ()) if level.on(system)}
    wanted = list(known) if names == "all" else names.split(",")
    if unknown := [name for name in wanted if name not in known]:
        raise DeviceError(f"{machine} has no level {unknown[0]!r}: choose from {', '.join(known) or 'none'}")
    return [level for level in known.values() if level.name in wanted]


def build_cpu(names: str, files: Sequence[tuple[Kernels, str]], folder: Path, workers: int) -> None:
    """Compiles libraries of levels into a folder, of files each with a type, and prints how long each took and how large it is.

    A library has what the library of the level before, if that lies there, has not. Raises KernelError, DeviceError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.stem for path in folder.glob(f"*{prebuilt.SUFFIX}")}
    for level in levels_of(names):
        start, everything = time.monotonic(), previous(level) not in there or not level.asks
        own = [job for job in files if everything or level.changes(b"".join(job[0].texts))]
        there.add(level.name)
        if not own:  # no text asks for it
            print(f"{level}: as the level before")
            continue
        with TemporaryDirectory() as place:
            objects = [Path(place) / f"{number}.o" for number in range(len(own))]
            pool = ThreadPoolExecutor(max(1, workers))
            try:
                list(pool.map(compile_object, own, [level] * len(own), objects))
            finally:
                pool.shutdown(cancel_futures=True)
            made = Path(place) / f"{level}{prebuilt.SUFFIX}"
            link(objects, made)  # for Windows a linker leaves files beside it
            shutil.move(made, folder / made.name)
        size = (folder / f"{level}{prebuilt.SUFFIX}").stat().st_size
        seconds = time.monotonic() - start
        print(f"{level}: {len(own)} files of kernels in {seconds:.0f} s, {size / 1e6:.1f} MB", flush=True)


def previous(level: levels.Level) -> str:
    """The name of the level before one."""
    for each in levels.LEVELS.values():
        if level in each[1:]:
            return each[each.index(level) - 1].name
    return "none"


def compile_object(job: tuple[Kernels, str], level: levels.Level, output: Path) -> None:
    """Compiles a file of kernels for a level, for a library of many."""
    command = compiler.compiler()
    flags = (*compiler.portable_flags(*job), *compiler.own_flags(command), *level.flags(command), "-c")
    text = compiler.launchers(job[0], prebuilt.suffix(compiler.prebuilt_key(*job)))
    compiler.compile_text(job[0], text, flags, output)


def link(objects: Sequence[Path], output: Path) -> None:
    """Makes one library. On Linux the C++ library goes into it, so that it asks for the C library alone."""
    listed = output.with_suffix(".txt")  # a command line of Windows would not hold them
    listed.write_text("\n".join(path.as_posix() for path in objects))
    alone: tuple[str, ...] = ()
    if "ziglang" in compiler.compiler():  # which links its own C++ library so, and knows not all of the words below
        alone = ("-s",)
    elif "linux" in target():
        alone = ("-pthread", "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-s")
    try:
        compiler.run(output, ["-shared", *alone, f"@{listed}", "-o", str(output)])
    finally:
        listed.unlink()


def main(words: Sequence[str] | None = None) -> int:
    """The command. Returns its exit status: 1 where a file does not compile."""
    parser = argparse.ArgumentParser("python -m boxpresso.device.build", description=__doc__)
    text = "the GPU's architecture, such as sm_90; may be repeated"
    parser.add_argument("--arch", action="append", default=[], metavar="SM", help=text)
    text = "levels of CPUs, such as v3,v4 or neon; all: those of the machine that the compiler is for"
    parser.add_argument("--cpu", metavar="LEVELS", help=text)
    text = f"with --cpu: the folder for the libraries (default: {prebuilt.FOLDER})"
    parser.add_argument("--into", type=Path, default=prebuilt.FOLDER, metavar="FOLDER", help=text)
    text = f"the types of numbers, of {', '.join(NAMES)} (default: float for a GPU, all for CPUs)"
    parser.add_argument("--real", help=text)
    text = "how many are compiled at once (default: as many as there are processors)"
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help=text)
    asked = parser.parse_args(words)
    if not asked.arch and not asked.cpu:
        parser.error("name a GPU's architecture with --arch, or levels of CPUs with --cpu")
    reals = asked.real.split(",") if asked.real else list(NAMES) if asked.cpu else ["float"]
    if unknown := [name for name in reals if name not in NAMES]:
        parser.error(f"unknown type {unknown[0]!r}: choose from {', '.join(NAMES)}")
    if unknown := [arch for arch in asked.arch if not ARCH.fullmatch(arch)]:
        parser.error(f"{unknown[0]!r} is not an architecture such as sm_90")
    status = 0
    try:
        if asked.cpu:
            build_cpu(asked.cpu, jobs(declared(), reals), asked.into, asked.jobs)
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
