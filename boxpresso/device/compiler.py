"""The host's C++ compiler: which one, with which options, and the shared libraries that it makes of kernels."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..proto.errors import DeviceError, KernelError
from . import cache, levels
from .signature import HEADERS, UNFUSED, KernelFile, defines

# No fast-math: it breaks NaN, infinity and even the bins of ROIPooling (a division becomes a product before floor).
FLAGS = (
    "-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared", "-fvisibility=hidden",
    "-w",
)  # fmt: skip
# What a text takes of the system, and those headers of kernels that are nothing else, in the order in which they are read.
SYSTEM = re.compile(rb"^#include <(?!cuda)([\w./]+)>", re.M)
OUTSIDE = ("system.h", "vectors.h", "all_vectors.h")
BETWEEN = "interrupt.h", "workers.h"
LAUNCHING = "\n".join(f'#include "{name}"' for name in BETWEEN)
# What stands between a file of kernels and its launchers; `suffix` ends the names that a library offers.
CONNECT = """\
#ifdef _WIN32
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif
EXPORT void connect_kernels{suffix}(int* stop, WorkersThreads* on_threads) {{ stop_at = stop; workers_threads = on_threads; }}
"""


@functools.cache
def compiler() -> tuple[str, ...]:
    """The command of the C++ compiler: $CXX, else c++, g++ or clang++ from PATH, else the `ziglang` wheel."""
    wanted = os.environ.get("CXX")
    if wanted:
        try:
            command = shlex.split(wanted)
        except ValueError as error:
            raise DeviceError(f"CXX is {wanted!r}, which is no command ({error}); correct or unset it") from None
        if not command or shutil.which(command[0]) is None:
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
    wheel: tuple[str, ...] = ()
    if "ziglang" in command:  # there the program is Python
        from importlib.metadata import version  # slow to import

        wheel = (version("ziglang"),)
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        cpu = "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    else:
        cpu = platform.machine() + platform.processor()  # may start a program
    return "\0".join((*command, *wheel, str(program), str(stat.st_size), str(stat.st_mtime_ns), cpu))


def launchers(kernels: KernelFile, suffix: str = "") -> str:
    """The text that is appended to a file of kernels: for each a `run_` function that lets workers share its work.

    A negative number of workers is that many, under a guard that lets SIGINT end the kernel (interrupt.h). They return 0, or
    the bytes of memory that a worker lacked (checked.h). `suffix` ends the names of all functions that a library offers.
    """
    texts = cache.texts(kernels.path, HEADERS)
    outside = [name for name in OUTSIDE if any(f'#include "{name}"'.encode() in text for text in texts)]
    own = {text for text in texts if not any(text == (HEADERS / name).read_bytes() for name in OUTSIDE)}
    system = sorted({name.decode() for text in own for name in SYSTEM.findall(text)})
    text = [f'#include "{name}"' for name in outside]
    text += [*(f"#include <{name}>" for name in system), "namespace {"]
    text += [f'#include "{kernels.path}"', LAUNCHING, "}  // namespace", CONNECT.format(suffix=suffix)]
    for name, kernel in kernels.table.items():
        # A struct comes by its address.
        declared = ", ".join(
            f"{'const ' * (p.const or p.struct is not None)}{p.kind}{'*' * (p.pointer or p.struct is not None)} {p.name}"
            for p in kernel.parameters
        )
        passed = ", ".join("*" * (p.struct is not None) + p.name for p in kernel.parameters)
        text += [
            f"EXPORT long long run_{name}{suffix}(int workers_wanted, {declared}) {{",
            "  const Guard guard(workers_wanted < 0);",
            f"  return by_workers(abs(workers_wanted), [&] {{ {name}({passed}); }});",
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
            f"EXPORT long long step_{name}{suffix}(int step_worker, int step_workers, void* const* step_slots) {{\n"
            f"  worker = step_worker; workers = step_workers;\n  return lacking([&] {{ {name}({read}); }});\n}}"
        )
    return "\n".join(text) + "\n"


def own_flags(command: Sequence[str]) -> tuple[str, ...]:
    """The options that a compiler needs beside those of all: clang, zig's too, forgets in templates that vectors of simd.h lie
    wherever numbers may, and an aligned instruction crashes there."""
    names = [Path(word).name for word in (*command, os.path.realpath(shutil.which(command[0]) or command[0]))]
    clang = sys.platform == "darwin" or any("clang" in name or name.startswith("zig") for name in names)
    return ("-fmax-type-align=8",) if clang else ()


def flags_of(kernels: KernelFile, real: str) -> tuple[str, ...]:
    """The options that a file of kernels is compiled with on first use."""
    march = levels.march(compiler())
    flags = [each for flag in FLAGS for each in (march if flag == "-march=native" else (flag,))]
    return (*flags, *own_flags(compiler()), *options(kernels, real))


def options(kernels: KernelFile, real: str) -> tuple[str, ...]:
    """Those that are a file's own."""
    unfused = ("-ffp-contract=off",) if UNFUSED in kernels.options else ()
    return (*unfused, *kernels.options, *defines(real))


def portable_flags(kernels: KernelFile, real: str) -> tuple[str, ...]:
    """The options of a kernel that is compiled ahead; what its level adds is not among them."""
    return (*(flag for flag in FLAGS if flag not in ("-march=native", "-shared")), *options(kernels, real))


def prebuilt_key(kernels: KernelFile, real: str) -> str:
    """What a kernel that was compiled ahead was made of, whichever compiler and level."""
    return library_key(kernels, portable_flags(kernels, real), "")


def library_path(kernels: KernelFile, real: str) -> Path:
    """Where the compiled form of a file of kernels is kept: the name changes with all that it depends on."""
    return cache.folder() / f"{kernels.path.stem}-{real}-{library_key(kernels, flags_of(kernels, real), identity())}.so"


@functools.cache
def library_key(kernels: KernelFile, flags: tuple[str, ...], identity: str) -> str:
    """The part of a library's name that changes with its text, the headers, the options, the compiler and the CPU.

    Not with the folder that they lie in: two clones of one text share what is compiled.
    """
    launching = launchers(kernels).replace(str(kernels.path), kernels.path.name)
    included = [cache.sources(HEADERS / name, HEADERS) for name in BETWEEN]
    return cache.key(cache.sources(kernels.path, HEADERS), *included, launching, *flags, identity)


def compile_shared(kernels: KernelFile, real: str) -> Path:
    """The shared library of a file of kernels for `real`, from the cache where it is there and whole.

    Raises KernelError for a text that does not compile, DeviceError where compiler or disk fail.
    """
    path = library_path(kernels, real)
    if cache.fetch(path) is not None:
        return path
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # it may have been deleted since
        cache.tidy(path.parent)
        with cache.alone(path):
            if cache.fetch(path) is None:  # no other process has made it meanwhile
                make_shared(kernels, real, path)
    except OSError as error:
        raise DeviceError(
            f"the kernel cache {path.parent} cannot be written: {error.strerror or error}; make room there, or set "
            "BOXPRESSO_CACHE to another folder that only you can write to"
        ) from error
    return path


def make_shared(kernels: KernelFile, real: str, path: Path) -> None:
    """Compiles a file of kernels, and puts the library into the cache. Raises OSError where it cannot be written."""
    for attempt in (1, 2):
        part = cache.temporary(path)
        try:
            run_compiler(kernels, real, part)
            cache.store(path, part)
            return
        except FileNotFoundError:  # another process took it for a leftover, as the clock was changed
            if attempt == 2:
                raise
        finally:
            with suppress(OSError):
                part.unlink()


def run_compiler(kernels: KernelFile, real: str, output: Path) -> None:
    """Compiles a file of kernels into the library `output`. Raises what compile_text does."""
    compile_text(kernels, launchers(kernels), flags_of(kernels, real), output)


def compile_text(kernels: KernelFile, text: str, flags: Sequence[str], output: Path) -> None:
    """Compiles a text of a file of kernels. Raises KernelError, or DeviceError where the compiler fails to run."""
    run(kernels.path, [*flags, f"-I{HEADERS}", "-x", "c++", "-", "-o", str(output)], text)
    if not output.exists() or not output.stat().st_size:
        raise DeviceError(f"the C++ compiler {shown()} reports success at {kernels.path.name}, but has written nothing")


def shown() -> str:
    """The compiler's command in a message."""
    return " ".join(compiler())


def run(source: Path, arguments: Sequence[str], text: str = "") -> None:
    """Runs the compiler. Raises KernelError for a text that does not compile, DeviceError where the compiler fails."""
    import subprocess  # slow to import

    try:
        result = subprocess.run(
            [*compiler(), *arguments], input=text, capture_output=True, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise DeviceError(
            f"the C++ compiler {shown()} cannot be run: {error.strerror or error}; name another in CXX"
        ) from error
    if result.returncode < 0:
        raise DeviceError(
            f"the C++ compiler {shown()} was ended by signal {-result.returncode} at {source.name}, perhaps for want of memory"
        )
    if result.returncode:
        raise KernelError(f"{source} does not compile for the CPU with {shown()}:\n{result.stderr.strip()}")
