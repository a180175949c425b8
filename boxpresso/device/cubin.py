"""Kernels compiled by nvcc for one architecture, kept in the cache.

A GPU that is newer than nvcc gets PTX for the newest architecture that nvcc knows, which the driver compiles when it loads it.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..proto.errors import DeviceError, KernelError
from . import cache
from .context import nvcc
from .signature import HEADERS, UNFUSED, KernelFile, defines

FLAGS = ("-std=c++17", "-O3", "--expt-relaxed-constexpr", "--extended-lambda", "-w", "-Wno-deprecated-gpu-targets")
UNKNOWN = "Unsupported gpu architecture"  # what nvcc says of one that it does not compile for


def path_of(kernels: KernelFile, real: str, arch: str) -> Path:
    """Where the compiled form of a file of kernels is kept: the name changes with all that it depends on."""
    stat = Path(nvcc()).resolve().stat()
    version = f"{nvcc()} {stat.st_size} {stat.st_mtime_ns}"
    name = cache.key(cache.sources(kernels.path, HEADERS), *FLAGS, *kernels.options, real, arch, version)
    return cache.folder() / f"{kernels.path.stem}-{real}-{name}.cubin"


def compiled(kernels: KernelFile, real: str, arch: str) -> bytes:
    """The compiled form of a file of kernels for `real` on an architecture such as "sm_90", from the cache where it is there.

    Processes that want the same file at once wait for the first of them, which compiles it.

    Raises
    ------
    KernelError
        For a text that does not compile, with nvcc's own words.
    DeviceError
        Where there is no nvcc, or the cache cannot be written.
    """
    path = path_of(kernels, real, arch)
    if (cached := cache.fetch(path)) is not None:
        return cached
    try:
        with cache.alone(path):
            if (cached := cache.fetch(path)) is not None:
                return cached
            made = by_nvcc(kernels, real, arch)
            part = cache.temporary(path)
            part.write_bytes(made)
            cache.store(path, part)
    except OSError as error:
        raise DeviceError(f"the kernel cache {path.parent} cannot be written: {error.strerror or error}") from error
    return made


def by_nvcc(kernels: KernelFile, real: str, arch: str) -> bytes:
    """Compiles a file of kernels: machine code, or PTX where nvcc is older than the GPU."""
    from pycuda.compiler import compile as compile_text
    from pycuda.driver import CompileError

    source = f'#line 1 "{kernels.path}"\n{kernels.path.read_text(encoding="utf-8")}'  # nvcc's messages name our file
    unfused = ("-fmad=false",) if UNFUSED in kernels.options else ()
    includes = [str(HEADERS), str(kernels.path.parent)]

    def run(arch: str, target: str) -> bytes:
        options = [*FLAGS, *unfused, *kernels.options, *defines(real)]  # a new list: PyCUDA adds to it
        return bytes(compile_text(source, nvcc(), options, False, True, arch, None, False, includes, target))

    try:
        try:
            return run(arch, "cubin")
        except CompileError as error:
            if UNKNOWN not in (error.stderr or ""):
                raise
            return run(nearest(arch, known_architectures(nvcc())), "ptx")
    except CompileError as error:
        said = (error.stderr or error.stdout or str(error)).strip()
        raise KernelError(f"{kernels.path} does not compile for {arch} with {nvcc()}:\n{said}") from error


@functools.cache
def known_architectures(program: str) -> tuple[int, ...]:
    """The compute capabilities, such as 90, that nvcc makes PTX for."""
    said = subprocess.run([program, "--list-gpu-arch"], capture_output=True, text=True).stdout
    return tuple(int(number) for number in re.findall(r"^compute_(\d+)$", said, re.M))


def nearest(arch: str, known: Sequence[int]) -> str:
    """The newest architecture that nvcc knows and the GPU can run. Raises DeviceError for a GPU that is older than all of them.

    >>> nearest("sm_130", [75, 90, 121])
    'compute_121'
    """
    number = int(arch.removeprefix("sm_"))
    older = [each for each in known if each <= number]
    if not older:
        least = f" (the oldest that it knows is {min(known)})" if known else ""
        raise DeviceError(
            f"{nvcc()} does not compile for {arch}{least}: install a CUDA toolkit of the time of this GPU, or name its nvcc "
            "first on PATH"
        )
    return f"compute_{max(older)}"
