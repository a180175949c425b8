"""The CPU device: kernels compiled by the host's C++ compiler, run by the threads of workers.cpp on numpy's own memory."""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import os
import platform
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from . import cache, levels, prebuilt
from .array import recording
from .compiler import compile_shared, compiler, library_path, prebuilt_key
from .kernel import Kernels
from .schedule import Schedule
from .signature import HEADERS, REALS, SINGLE, DType, Kernel, KernelFile, Parameter, addressof, char_at

SCALARS = {
    np.dtype(np.int32): ctypes.c_int,
    np.dtype(np.uint32): ctypes.c_uint,
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}
WORKERS = Kernels(HEADERS / "workers.cpp", "-pthread")
STOP = np.zeros(1, np.int32)  # whether kernels that run are to end, as SIGINT has come
HUGE = 2**21  # bytes of a page of the larger kind


def threads() -> int:
    """How many workers a kernel gets: $BOXPRESSO_THREADS, else the CPUs that this process may use."""
    wanted = os.environ.get("BOXPRESSO_THREADS", "")
    if wanted:
        if not wanted.isdigit() or int(wanted) < 1:
            raise DeviceError(f"BOXPRESSO_THREADS must be a whole number from 1, got {wanted!r}")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def zeros(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """`size` bytes of zeros, aligned to a cache line; large arrays lie in huge pages where the system has them.

    Walking down columns, as a transposition does, touches a page for each row, so that small pages miss the processor's
    page table cache.
    """
    if size < 2 * HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        raw = np.zeros(size + 64, np.uint8)
        start = -addressof(char_at(raw)) % 64  # type: ignore[arg-type]  # arrays are buffers
    else:
        pages = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a forked process gets its own
        raw = np.frombuffer(pages, np.uint8)
        start = -raw.__array_interface__["data"][0] % HUGE
        whole = size // HUGE * HUGE
        with suppress(OSError):  # a system may be built without them
            pages.madvise(mmap.MADV_HUGEPAGE, start, whole)
            pages.madvise(
                mmap.MADV_NOHUGEPAGE, start + whole
            )  # the rest of a huge page would be memory that is not used
    return raw[start : start + size]


class Forked:
    """Whether this process is a fork of another Python that had this module."""

    here = False


def forked() -> bool:
    """Whether this process is a fork of another Python, in which workers may have been started already.

    They are not forked with it, but a launch would wait for them. So a fork works with one worker, like a worker of torch's
    DataLoader; a process that is started anew (multiprocessing's "spawn", "forkserver") has all of them.
    """
    multiprocessing = sys.modules.get("multiprocessing")  # whose processes have imported it
    if Forked.here or multiprocessing is None or multiprocessing.parent_process() is None:
        return Forked.here
    process = multiprocessing.current_process()
    method = getattr(type(process), "_start_method", None) or multiprocessing.get_start_method(allow_none=True)
    return bool(method == "fork")


def after_fork() -> None:
    """In a forked process: one worker from now on, and locks that no other thread holds, as there is none."""
    Forked.here = True
    for made in (cpu, reproducible_cpu):
        if made.cache_info().currsize:
            device = made()
            device.workers, device.lock = 1, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


def entry_library(kernels: KernelFile) -> ctypes.CDLL:
    """The library of a file with functions that other programs look for (entry.h), compiled ahead or now.

    Raises DeviceError where it was not compiled ahead and there is no compiler.
    """
    return prebuilt.find(prebuilt_key(kernels, "float")) or load_library(compile_shared(kernels, "float"))


def load_library(path: Path) -> ctypes.CDLL:
    """A compiled file of kernels. Raises DeviceError where the system does not take it."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise DeviceError(
            f"the compiled kernels {path} cannot be loaded: {error}; if programs may not be run from that file system, set "
            "BOXPRESSO_CACHE to a folder on another one"
        ) from error


class Library:
    """The kernels of a file, compiled: in a library of their own, or in one of many whose names end in `suffix`.

    `on_threads` is the address of what runs the shares of a launch. Raises DeviceError for a library that has other things.
    """

    def __init__(self, library: ctypes.CDLL, on_threads: int, suffix: str = "") -> None:
        self.library, self.suffix = library, suffix
        try:
            self.function("connect_kernels")(STOP.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(on_threads))
        except AttributeError as error:
            raise DeviceError(f"{library._name} has none of our kernels: {error}") from error

    def function(self, name: str) -> Any:
        """A function by the name that it has without the suffix."""
        return getattr(self.library, name + self.suffix)


def lacking(size: int, kernel: object) -> str:
    """What is said where a launch of a kernel lacked that many bytes of memory for a worker."""
    size_said = f"{size} bytes" if size < 2**62 else "more bytes than a machine has"
    return f"{size_said} were asked for, as memory of a worker of {kernel}"


class Cpu:
    """The CPU: an array of it is a numpy array, so nothing is ever copied.

    Attributes
    ----------
    reproducible
        Whether kernels are compiled so that results have the same bits on every CPU (docs/reproducible.md).
    """

    name = kind = "cpu"
    deterministic = True

    def __init__(self, reproducible: bool = False) -> None:
        self.reproducible = reproducible
        self.libraries: dict[tuple[KernelFile, str], Library] = {}
        self.functions: dict[tuple[Kernel, DType], tuple[Any, list[tuple[int, Parameter, DType]]]] = {}
        self.steps: dict[tuple[Kernel, DType], tuple[int, list[tuple[int, Parameter, DType]], list[Any]]] = {}
        self.lock = threading.Lock()
        self.on_threads = 0
        self.memo: dict[Any, Any] = {}
        self.workers = 1 if forked() else threads()
        self.level = levels.asked()  # a wrong $BOXPRESSO_CPU is told at once
        self.schedule = Schedule()

    def with_stream(self, fast_math: bool = False) -> Cpu:
        """The CPU itself: there a Net works in the thread that calls it."""
        return self

    # KernelFile

    def form(self, kernels: KernelFile) -> KernelFile:
        """A file of kernels as it is compiled here."""
        return kernels.reproducible if self.reproducible and kernels is not WORKERS else kernels

    def build(self, kernels: KernelFile, real: DType) -> None:
        """Takes a file of kernels for `real` from those that were compiled ahead or from the cache, or compiles it.

        Raises DeviceError where $BOXPRESSO_CPU has changed since the first: kernels of one level may not take what those of
        another have packed, or may have no instructions for it.
        """
        key = kernels, REALS[np.dtype(real)]
        if key not in self.libraries:
            if (level := levels.asked()) != self.level:
                first, now = (each or "this CPU" for each in (self.level, level))
                raise DeviceError(
                    f"$BOXPRESSO_CPU asks for kernels of {now}, and this process has begun with those of {first}, which "
                    "they do not fit: set it before the first net or operator"
                )
            form = self.form(kernels), key[1]
            made = prebuilt_key(*form)
            library, suffix = prebuilt.find(made), prebuilt.suffix(made)
            try:
                path = Path() if library else compile_shared(*form)
            except DeviceError as error:  # no compiler: the traceback ends here, not deep in the cache
                if prebuilt.ladder():
                    why = "is not among the kernels that were compiled ahead, or its text, a header or an option was changed"
                    error = DeviceError(f"{kernels.path.name} {why}: {error}")
                raise error.with_traceback(None) from None
            on_threads = 0 if kernels is WORKERS else self.address_of_threads()
            with self.lock:
                if key not in self.libraries:
                    self.libraries[key] = Library(library or load_library(path), on_threads, suffix if library else "")

    def address_of_threads(self) -> int:
        """The address of what runs the shares of a launch in threads: on_threads of workers.cpp, one set for the process."""
        if self.reproducible:
            return cpu().address_of_threads()
        if self.on_threads == 0:
            address = np.zeros(1, np.uint64)
            self.launch(WORKERS.kernel("address_of_threads"), SINGLE, (1, address.view(np.int32)))
            self.on_threads = int(address[0])
        return self.on_threads

    def built(self, kernels: KernelFile, real: DType) -> bool:
        """Whether a file of kernels is compiled already: in this process, ahead, or in the cache."""
        name = REALS[np.dtype(real)]
        form = self.form(kernels), name
        known = (kernels, name) in self.libraries or prebuilt.find(prebuilt_key(*form)) is not None
        return known or cache.there(library_path(*form))

    def launch(self, kernel: Kernel, real: DType, args: Sequence[Any]) -> None:
        """Runs a kernel: checks its arguments, and lets the schedule choose how many workers run it."""
        if recording.steps is not None:
            recording.steps.append((kernel, real, args))
            return
        function, wanted = self.functions.get((kernel, real)) or self.function(kernel, real)
        passed, size = self.arguments(kernel, wanted, args)
        n = int(args[0])
        if n <= 0:
            return
        try:
            lacks = self.schedule.run(kernel, min(self.workers, n), n, size, function, passed)
        except (ctypes.ArgumentError, TypeError) as error:
            raise kernel.reject_scalars(args, error) from None
        if lacks:
            raise MemoryError(lacking(lacks, kernel))
        if recording.launches is not None:
            recording.launches.append((kernel, function, n, size, passed, args))

    @staticmethod
    def arguments(
        kernel: Kernel, wanted: list[tuple[int, Parameter, DType]], args: Sequence[Any]
    ) -> tuple[list[Any], int]:
        """The arguments with addresses in place of arrays and structs, and the bytes of all arrays together."""
        passed, size = list(args), 0
        kernel.check_numbers(args)
        for i, parameter, dtype in wanted:
            arg = args[i]
            if parameter.struct is not None:
                if getattr(arg, "struct", None) != parameter.struct:
                    raise kernel.reject_scalars(args)
                passed[i] = arg.memory(dtype)[0]
                continue
            if arg is None:
                continue
            flags = arg.flags if type(arg) is np.ndarray else None
            if flags is None or arg.dtype != dtype or not flags.c_contiguous:
                seen = f"{arg.dtype} of shape {arg.shape}" if isinstance(arg, np.ndarray) else type(arg).__name__
                raise kernel.reject(parameter, f"a contiguous array of {dtype} on the CPU", seen)
            writeable = flags.writeable
            if not writeable and not parameter.const:
                raise kernel.reject(parameter, "writable", "a read-only array")
            try:
                passed[i] = addressof(char_at(arg)) if writeable and arg.size else arg.__array_interface__["data"][0]
            except ValueError:  # a dtype of another library, such as ml_dtypes' bfloat16, is in no buffer
                passed[i] = arg.__array_interface__["data"][0]
            size += arg.nbytes
        return passed, size

    def function(self, kernel: Kernel, real: DType) -> tuple[Any, list[tuple[int, Parameter, DType]]]:
        """The compiled function that runs a kernel, and which of its arguments are arrays or structs, and of what dtype."""
        self.build(kernel.file, real)
        function = self.libraries[kernel.file, REALS[real]].function(f"run_{kernel.name}")
        function.restype = ctypes.c_longlong
        by_address = [p.pointer or p.struct is not None for p in kernel.parameters]
        function.argtypes = [ctypes.c_int] + [
            ctypes.c_void_p if address else SCALARS[p.dtype(real)] for p, address in zip(kernel.parameters, by_address)
        ]
        wanted = [(i, p, p.dtype(real)) for i, p in enumerate(kernel.parameters) if by_address[i]]
        self.functions[kernel, real] = function, wanted
        return function, wanted

    def step(self, kernel: Kernel, real: DType) -> tuple[int, list[tuple[int, Parameter, DType]], list[Any]]:
        """A kernel as a step of a chain: the address of its function, which of its arguments are arrays or structs, and the
        ctypes type of each argument, None for an address."""
        known = self.steps.get((kernel, real))
        if known is None:
            _, wanted = self.function(kernel, real)
            function = self.libraries[kernel.file, REALS[real]].function(f"step_{kernel.name}")
            by_address = {i for i, _, _ in wanted}
            scalars = [None if i in by_address else SCALARS[p.dtype(real)] for i, p in enumerate(kernel.parameters)]
            address = ctypes.cast(function, ctypes.c_void_p).value or 0
            known = self.steps[kernel, real] = address, wanted, scalars
        return known

    def empty(self, shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
        """An array of zeros, aligned to a cache line."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        try:
            array: np.ndarray[Any, Any] = zeros(size).view(dtype).reshape(tuple(shape))
        except (MemoryError, OSError, OverflowError) as error:
            raise MemoryError(f"{size} bytes were asked for, an array of {dtype} of shape {tuple(shape)}") from error
        return array

    def table(self, values: Any, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
        """A small constant array for kernels to read."""
        return np.ascontiguousarray(values, dtype)

    def part(self, array: np.ndarray[Any, Any], start: int, shape: Sequence[int]) -> np.ndarray[Any, Any]:
        """The elements from flat index `start` on, under another shape, without a copy."""
        count = int(np.prod(shape, dtype=np.int64))
        return array.reshape(-1)[start : start + count].reshape(tuple(shape))

    def synchronize(self) -> None:
        """Nothing runs behind the caller's back here."""

    def describe(self) -> str:
        """The line of `boxpresso device_query`."""
        ahead = f"kernels of {prebuilt.ladder()[0]} compiled ahead; others " if prebuilt.ladder() else ""
        try:
            level = levels.asked()
            kernels = f"compiled with {' '.join(compiler())}{f' for {level}' if level else ''}"
        except DeviceError as error:
            kernels = f"cannot be compiled: {error}"
        kernels = f"{ahead or ('but kernels ' if kernels.startswith('cannot') else 'kernels ')}{kernels}"
        model = platform.processor() or platform.machine()
        if os.path.exists("/proc/cpuinfo"):
            for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
        return f"cpu: {model}, {self.workers} thread{'s' * (self.workers > 1)}, {kernels}"


@functools.cache
def cpu() -> Cpu:
    """The CPU, one for the process."""
    return Cpu()


@functools.cache
def reproducible_cpu() -> Cpu:
    """The CPU, with results that have the same bits on every CPU; one for the process."""
    return Cpu(reproducible=True)
