"""The host's C++ compiler: which one, with which options, and the shared libraries that it makes of kernels."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ..proto.errors import DeviceError, KernelError
from . import cache
from .signature import HEADERS, KernelFile, defines

# No fast-math: it breaks NaN, infinity and even the bins of ROIPooling (a division becomes a product before floor).
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared", "-w")


@functools.cache
def compiler() -> tuple[str, ...]:
    """The command of the C++ compiler: $CXX, else c++, g++ or clang++ from PATH, else the `ziglang` wheel."""
    wanted = os.environ.get("CXX")
    if wanted:
        command = shlex.split(wanted)
        if shutil.which(command[0]) is None:
            raise DeviceError(f"the C++ compiler that CXX names, {wanted!r}, was not found; correct or unset CXX")
        return tuple(command)
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return (name,)
    if importlib.util.find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "c++")
    raise DeviceError(
        "no C++ compiler found: CPU kernels are compiled on first use. Install one (Debian, Ubuntu: apt install g++; "
        "macOS: xcode-select --install), or `pip install ziglang`, or name yours in the environment variable CXX"
    )


@functools.cache
def identity() -> str:
    """What compiled code depends on beside its text: the compiler's file, and the CPU that -march=native meant."""
    command = compiler()
    program = Path(shutil.which(command[0]) or command[0]).resolve()
    stat = program.stat()
    wheel = (importlib.metadata.version("ziglang"),) if "ziglang" in command else ()  # there the program is Python
    cpu = platform.machine() + platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        cpu += "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    return "\0".join((*command, *wheel, str(program), str(stat.st_size), str(stat.st_mtime_ns), cpu))


def launchers(kernels: KernelFile) -> str:
    """The text that is appended to a file of kernels: for each a `run_` function that gives every worker its share."""
    text = [f'#include "{kernels.path}"', "#ifdef _OPENMP", "#include <omp.h>", "#endif"]
    for name, kernel in kernels.table.items():
        # A struct comes by its address.
        declared = ", ".join(
            f"{'const ' * (p.const or p.struct is not None)}{p.kind}{'*' * (p.pointer or p.struct is not None)} {p.name}"
            for p in kernel.parameters
        )
        passed = ", ".join("*" * (p.struct is not None) + p.name for p in kernel.parameters)
        text += [
            f'extern "C" void run_{name}(int workers_wanted, {declared}) {{',
            "#ifdef _OPENMP",
            f"  if (workers_wanted < 2) {{ worker = 0; workers = 1; {name}({passed}); return; }}",
            "#pragma omp parallel num_threads(workers_wanted)",
            f"  {{ worker = omp_get_thread_num(); workers = omp_get_num_threads(); {name}({passed}); }}",
            "#else",
            f"  worker = 0; workers = 1; {name}({passed});",
            "#endif",
            "}",
        ]
        # As a step of a chain (chain.cpp): the worker is given, and a slot of 8 bytes for each argument.
        read = ", ".join(
            f"*static_cast<const {p.kind}*>(step_slots[{i}])"
            if p.struct is not None
            else f"({'const ' * p.const}{p.kind}*)step_slots[{i}]"
            if p.pointer
            else f"*reinterpret_cast<const {p.kind}*>(step_slots + {i})"
            for i, p in enumerate(kernel.parameters)
        )
        text.append(
            f'extern "C" void step_{name}(int step_worker, int step_workers, void* const* step_slots) {{\n'
            f"  worker = step_worker; workers = step_workers; {name}({read});\n}}"
        )
    return "\n".join(text) + "\n"


def flags_of(kernels: KernelFile, real: str) -> tuple[str, ...]:
    return (*FLAGS, *kernels.options, *defines(real), f"-I{HEADERS}")


def library_path(kernels: KernelFile, real: str) -> Path:
    """Where the compiled form of a file of kernels is kept: the name changes with all that it depends on."""
    name = cache.key(cache.sources(kernels.path, HEADERS), launchers(kernels), *flags_of(kernels, real), identity())
    return cache.folder() / f"{kernels.path.stem}-{real}-{name}.so"


def compile_shared(kernels: KernelFile, real: str) -> Path:
    """The shared library of a file of kernels for `real`, from the cache where it is there."""
    path = library_path(kernels, real)
    if path.exists():
        return path
    text, output = launchers(kernels), cache.temporary(path)
    command = [*compiler(), *flags_of(kernels, real), "-x", "c++", "-", "-o", str(output)]
    result = subprocess.run([*command, "-fopenmp"], input=text, text=True, capture_output=True)
    if result.returncode and ("omp" in result.stderr or "openmp" in result.stderr):  # a compiler without OpenMP
        result = subprocess.run(command, input=text, text=True, capture_output=True)
    if result.returncode:
        output.unlink(missing_ok=True)
        raise KernelError(
            f"{kernels.path} does not compile for the CPU with {' '.join(compiler())}:\n{result.stderr.strip()}"
        )
    os.replace(output, path)
    return path
