"""Kernels compiled for one architecture by nvcc, or by NVRTC where there is no nvcc, kept in the cache.

A GPU that is newer than the compiler gets PTX for the newest architecture that it knows, which the driver compiles at loading.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..proto.errors import DeviceError, KernelError
from . import cache, nvrtc
from .context import NoCompiler, nvcc
from .signature import HEADERS, UNFUSED, KernelFile, defines

FLAGS = ("-std=c++17", "-O3", "--expt-relaxed-constexpr", "--extended-lambda", "-w", "-Wno-deprecated-gpu-targets")
UNKNOWN = "Unsupported gpu architecture"  # what nvcc says of one that it does not compile for


def path_of(kernels: KernelFile, real: str, arch: str) -> Path:
    """Where the compiled form of a file of kernels is kept: the name changes with all that it depends on.

    That is text: of the kernels, of the options, and what the compiler says of its version, so that another machine's file is
    as good. Without nvcc and NVRTC it is the newest that was built ahead. Raises DeviceError where there is none.
    """
    text = cache.key(cache.sources(kernels.path, HEADERS), *FLAGS, *kernels.options, real, arch)
    name = f"{kernels.path.stem}-{real}-{arch}-{text}"
    try:
        version = version_of(nvcc())
    except NoCompiler:
        if (library := nvrtc.library()) is not None:
            return cache.folder() / f"{name}-{cache.key(nvrtc.version(library))[:8]}.cubin"
        built = [path for path in cache.folder().glob(f"{name}-*.cubin") if cache.there(path)]
        if not built:
            raise
        return max(built, key=lambda path: path.stat().st_mtime_ns)
    return cache.folder() / f"{name}-{cache.key(version)[:8]}.cubin"


def version_of(program: str) -> str:
    """What an nvcc says of its version: the same for all copies of one."""
    stat = Path(program).resolve().stat()
    return told_version(program, stat.st_size, stat.st_mtime_ns)


@functools.cache
def told_version(program: str, size: int, changed: int) -> str:
    """The same, asked once for a file."""
    result = run([program, "--version"])
    if result.returncode or not result.stdout.strip():
        raise DeviceError(f"{program} --version says nothing: {(result.stderr or result.stdout).strip()[:300]}")
    return result.stdout.strip()


def run(command: Sequence[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    """What nvcc has said, and its status. Raises DeviceError where it cannot be run."""
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise DeviceError(f"{command[0]} cannot be run: {error.strerror or error}") from error


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
            made = by_compiler(kernels, real, arch)
            part = cache.temporary(path)
            part.write_bytes(made)
            cache.store(path, part)
    except OSError as error:
        raise DeviceError(f"the kernel cache {path.parent} cannot be written: {error.strerror or error}") from error
    return made


def by_compiler(kernels: KernelFile, real: str, arch: str) -> bytes:
    """Compiles a file of kernels by nvcc, else by NVRTC. Raises as `compiled`."""
    try:
        program = nvcc()
    except NoCompiler:
        library = nvrtc.library()
        if library is None:
            raise
        known = nvrtc.architectures(library)
        here = int(re.sub(r"\D", "", arch)) in known
        name = arch if here else nearest(arch, known, nvrtc.version(library))
        return nvrtc.compiled(library, kernels, real, name, machine_code=here)
    return by_nvcc(program, kernels, real, arch)


def by_nvcc(program: str, kernels: KernelFile, real: str, arch: str) -> bytes:
    """Compiles a file of kernels: machine code, or PTX where nvcc is older than the GPU. No GPU is needed."""
    source = f'#line 1 "{kernels.path}"\n{kernels.path.read_text(encoding="utf-8")}'  # nvcc's messages name our file
    unfused = ("-fmad=false",) if UNFUSED in kernels.options else ()
    options = [*FLAGS, *unfused, *kernels.options, *defines(real), f"-I{HEADERS}", f"-I{kernels.path.parent}"]

    def compile_for(arch: str, kind: str) -> tuple[bytes | None, str]:
        """The result, or what nvcc says in its place."""
        with tempfile.TemporaryDirectory(prefix="boxpresso-nvcc-") as folder:
            Path(folder, "kernel.cu").write_text(source, encoding="utf-8")
            result = run([program, f"--{kind}", *options, "-arch", arch, "kernel.cu"], folder)
            made = Path(folder, f"kernel.{kind}")
            if result.returncode == 0 and made.exists():
                return made.read_bytes(), ""
            if result.returncode < 0:
                raise DeviceError(
                    f"{program} was ended by signal {-result.returncode} at {kernels.path.name}, perhaps for want of memory"
                )
            return None, (result.stderr or result.stdout or f"its status is {result.returncode}").strip()

    made, said = compile_for(arch, "cubin")
    if made is None and UNKNOWN in said:
        made, said = compile_for(nearest(arch, known_architectures(program), program), "ptx")
    if made is None:
        raise KernelError(f"{kernels.path} does not compile for {arch} with {program}:\n{said}")
    return made


@functools.cache
def known_architectures(program: str) -> tuple[int, ...]:
    """The compute capabilities, such as 90, that nvcc makes PTX for."""
    said = run([program, "--list-gpu-arch"]).stdout
    return tuple(int(number) for number in re.findall(r"^compute_(\d+)$", said, re.M))


def nearest(arch: str, known: Sequence[int], compiler: str) -> str:
    """The newest architecture that a compiler knows and the GPU can run. Raises DeviceError for a GPU older than all of them.

    >>> nearest("sm_130", [75, 90, 121], "nvcc")
    'compute_121'
    """
    number = int(arch.removeprefix("sm_"))
    older = [each for each in known if each <= number]
    if not older:
        least = f" (the oldest that it knows is {min(known)})" if known else ""
        raise DeviceError(
            f"{compiler} does not compile for {arch}{least}: install a CUDA toolkit of the time of this GPU, and name its "
            "folder in CUDA_HOME"
        )
    return f"compute_{max(older)}"
