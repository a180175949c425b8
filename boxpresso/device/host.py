"""The CPU device: kernels compiled by the host's C++ compiler and run by OpenMP workers on numpy's own memory."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import math
import mmap
import os
import platform
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import DeviceError, KernelError
from . import cache
from .kernel import REALS, Kernel, Kernels, Parameter, defines

HEADERS = Path(__file__).resolve().parent
# No fast-math: it breaks NaN, infinity and even the bins of ROIPooling (a division becomes a product before floor).
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared", "-w")
SCALARS = {np.dtype(np.int32): ctypes.c_int, np.dtype(np.uint32): ctypes.c_uint,
           np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}  # fmt: skip
WAKE = 50_000  # nanoseconds until a worker that sleeps is at work, about
BYTES = 3  # that one worker gets through in a nanosecond, about: the guess for a launch of a size not seen yet
FADE = 0.95  # of what all workers took last is remembered at each launch of one: the machine may have been busy then
addressof, char_at = (
    ctypes.addressof,
    ctypes.c_char.from_buffer,
)  # of writable memory: a fifth of the time of the other way
HUGE = 2**21  # bytes of a page of the larger kind


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
    cpu = platform.machine() + platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        cpu += "".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
    return "\0".join((*command, str(program), str(stat.st_size), str(stat.st_mtime_ns), cpu))


def threads() -> int:
    """How many workers a kernel gets: $BOXPRESSO_THREADS, else the CPUs that this process may use."""
    wanted = os.environ.get("BOXPRESSO_THREADS", "")
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise DeviceError(f"BOXPRESSO_THREADS must be a whole number from 1, got {wanted!r}")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def patient_workers() -> Iterator[None]:
    """OpenMP reads OMP_WAIT_POLICY when its library is first loaded; unless it is set already, workers then sleep while they
    wait. On a machine that others use too, workers that spin keep the core from the one they wait for: measured, a
    training step took 66 ms so and 1268 ms with spinning. Nor do they spin for a short while (GOMP_SPINCOUNT): 0.1 ms of it
    made a step of 25 ms one of 18 on an idle machine, and one of 50 to 140 where one other process was busy."""
    if "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]


def launchers(kernels: Kernels) -> str:
    """The text that is appended to a file of kernels: for each a `run_` function that gives every worker its share."""
    text = [f'#include "{kernels.path}"', "#ifdef _OPENMP", "#include <omp.h>", "#endif"]
    for name, kernel in kernels.table.items():
        declared = ", ".join(
            f"{'const ' * p.const}{p.kind}{'*' * p.pointer} {p.name}" for p in kernel.parameters
        )  # fmt: skip
        passed = ", ".join(p.name for p in kernel.parameters)
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
    return "\n".join(text) + "\n"


def flags_of(kernels: Kernels, real: str) -> tuple[str, ...]:
    return (*FLAGS, *kernels.options, *defines(real), f"-I{HEADERS}")


def library_path(kernels: Kernels, real: str) -> Path:
    """Where the compiled form of a file of kernels is kept: the name changes with all that it depends on."""
    name = cache.key(cache.sources(kernels.path, HEADERS), launchers(kernels), *flags_of(kernels, real), identity())
    return cache.folder() / f"{kernels.path.stem}-{real}-{name}.so"


def compile_shared(kernels: Kernels, real: str) -> Path:
    """The shared library of a file of kernels for `real`, from the cache where it is there."""
    path = library_path(kernels, real)
    if path.exists():
        return path
    text, made = launchers(kernels), cache.temporary(path)
    command = [*compiler(), *flags_of(kernels, real), "-x", "c++", "-", "-o", str(made)]
    result = subprocess.run([*command, "-fopenmp"], input=text, text=True, capture_output=True)
    if result.returncode and ("omp" in result.stderr or "openmp" in result.stderr):  # a compiler without OpenMP
        result = subprocess.run(command, input=text, text=True, capture_output=True)
    if result.returncode:
        made.unlink(missing_ok=True)
        raise KernelError(
            f"{kernels.path} does not compile for the CPU with {' '.join(compiler())}:\n{result.stderr.strip()}"
        )
    os.replace(made, path)
    return path


def zeros(size: int) -> np.ndarray:
    """Bytes that are zero, aligned to a cache line. Many lie in huge pages where the system has them: to walk down columns, as
    a transposition does, takes an entry of the processor's table of pages for each row."""
    if size < 2 * HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        raw = np.zeros(size + 64, np.uint8)
        start = -raw.__array_interface__["data"][0] % 64
    else:
        pages = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a forked process gets its own
        with suppress(OSError):  # a system may be built without them
            pages.madvise(mmap.MADV_HUGEPAGE)
        raw = np.frombuffer(pages, np.uint8)
        start = -raw.__array_interface__["data"][0] % HUGE
    return raw[start : start + size]


class Cpu:
    """The CPU: an array of it is a numpy array, so nothing is ever copied."""

    name = kind = "cpu"
    deterministic = True

    def __init__(self) -> None:
        self.libraries: dict[tuple[Kernels, str], ctypes.CDLL] = {}
        self.functions: dict[tuple[Kernel, np.dtype], tuple[Any, list[tuple[int, Parameter, np.dtype]]]] = {}
        self.lasted: dict[Any, tuple[float, float]] = {}  # nanoseconds of a kernel by one worker, by all; for sizes
        self.lock = threading.Lock()
        self.memo: dict[Any, Any] = {}  # what others keep for this device, such as tables for kernels
        self.workers = threads()
        self.restless = False  # whether all work at anything, however small

    def lane(self) -> Cpu:
        """The CPU has one lane: a Net works in the thread that calls it."""
        return self

    def build(self, kernels: Kernels, real: np.dtype) -> None:
        """Compiles a file of kernels for `real`, or takes it from the cache."""
        key = kernels, REALS[np.dtype(real)]
        if key not in self.libraries:
            path = compile_shared(*key)
            with self.lock, patient_workers():
                if key not in self.libraries:
                    self.libraries[key] = ctypes.CDLL(str(path))

    def built(self, kernels: Kernels, real: np.dtype) -> bool:
        """Whether a file of kernels is compiled already, in this process or in the cache."""
        return (kernels, REALS[np.dtype(real)]) in self.libraries or library_path(
            kernels, REALS[np.dtype(real)]
        ).exists()

    def launch(self, kernel: Kernel, real: np.dtype, args: Sequence[Any]) -> None:
        """Runs a kernel, by one worker or by all, whichever was sooner for launches of about its size: to wake those that
        sleep takes longer than small work does. Results do not depend on the number of workers."""
        function, wanted = self.functions.get((kernel, real)) or self.function(kernel, real)
        made, size = list(args), 0
        for i, parameter, want in wanted:
            arg = args[i]
            if arg is None:
                continue
            flags = arg.flags if type(arg) is np.ndarray else None
            if flags is None or arg.dtype != want or not flags.c_contiguous:
                seen = f"{arg.dtype} of shape {arg.shape}" if isinstance(arg, np.ndarray) else type(arg).__name__
                raise kernel.reject(parameter, f"a contiguous array of {want} on the CPU", seen)
            writeable = flags.writeable
            if not writeable and not parameter.const:
                raise kernel.reject(parameter, "writable", "a read-only array")
            made[i] = addressof(char_at(arg)) if writeable and arg.size else arg.__array_interface__["data"][0]
            size += arg.nbytes
        n = int(args[0])
        if n <= 0:
            return
        workers, key = min(self.workers, n), (kernel, n.bit_length(), size.bit_length())
        known = self.lasted.get(key)
        alone, together = known or (size / BYTES, WAKE + size / BYTES / workers)
        one = workers == 1 or (alone <= together and not self.restless)
        start, busy = time.perf_counter_ns(), 0 if one else time.thread_time_ns()
        try:
            function(1 if one else workers, *made)
        except (ctypes.ArgumentError, TypeError) as error:
            raise self.explain(kernel, args, error) from None
        took = time.perf_counter_ns() - start
        if one:
            self.lasted[key] = took, FADE * together
        else:
            alone = (time.thread_time_ns() - busy) * workers
            self.lasted[key] = (
                alone,
                took if known else WAKE + alone / workers,
            )  # the first launch may find its memory cold

    def function(self, kernel: Kernel, real: np.dtype) -> tuple[Any, list[tuple[int, Parameter, np.dtype]]]:
        """The compiled function that runs a kernel, and which of its arguments are arrays, and of what dtype."""
        self.build(kernel.file, real)
        function = getattr(self.libraries[kernel.file, REALS[real]], f"run_{kernel.name}")
        function.restype = None
        function.argtypes = [ctypes.c_int] + [
            ctypes.c_void_p if p.pointer else SCALARS[p.dtype(real)] for p in kernel.parameters
        ]
        wanted = [(i, p, p.dtype(real)) for i, p in enumerate(kernel.parameters) if p.pointer]
        self.functions[kernel, real] = function, wanted
        return function, wanted

    @staticmethod
    def explain(kernel: Kernel, args: Sequence[Any], error: Exception) -> KernelError:
        for parameter, arg in zip(kernel.parameters, args):
            if not parameter.pointer and not isinstance(arg, (int, float, np.integer, np.floating)):
                return kernel.reject(parameter, f"one {parameter.kind}", f"{type(arg).__name__} {arg!r}")
            if (
                parameter.kind in ("int", "unsigned")
                and not parameter.pointer
                and isinstance(arg, (float, np.floating))
            ):
                return kernel.reject(parameter, f"one {parameter.kind}", f"the float {arg!r}")
        return KernelError(f"{kernel}: {error}")

    def empty(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """An array of zeros, aligned to a cache line."""
        dtype = np.dtype(dtype)
        return zeros(math.prod(shape) * dtype.itemsize).view(dtype).reshape(tuple(shape))

    def table(self, values: Any, dtype: Any = np.int32) -> np.ndarray:
        """A small constant array for kernels to read."""
        return np.ascontiguousarray(values, dtype)

    def part(self, array: np.ndarray, start: int, shape: Sequence[int]) -> np.ndarray:
        """The elements from flat index `start` on, under another shape, without a copy."""
        count = int(np.prod(shape, dtype=np.int64))
        return array.reshape(-1)[start : start + count].reshape(tuple(shape))

    def synchronize(self) -> None:
        """Nothing runs behind the caller's back here."""

    def describe(self) -> str:
        """The line of `boxpresso device_query`."""
        try:
            with_ = " ".join(compiler())
        except DeviceError as error:
            with_ = str(error)
        model = platform.processor() or platform.machine()
        if os.path.exists("/proc/cpuinfo"):
            for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
        return f"cpu: {model}, {self.workers} threads, kernels compiled with {with_}"
