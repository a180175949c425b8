"""The CPU device: kernels compiled by the host's C++ compiler and run by OpenMP workers on numpy's own memory."""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import os
import platform
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from . import cache
from .compiler import compile_shared, compiler, library_path
from .schedule import Schedule
from .signature import REALS, DType, Kernel, KernelFile, Parameter, addressof, char_at

SCALARS = {
    np.dtype(np.int32): ctypes.c_int,
    np.dtype(np.uint32): ctypes.c_uint,
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
}
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


@contextmanager
def patient_workers() -> Iterator[None]:
    """While a library is loaded: lets OpenMP's workers sleep while they wait, unless OMP_WAIT_POLICY is set already.

    OpenMP reads that variable when its library is first loaded. On a machine that others use too, a worker that spins takes
    the core from the one that it waits for: measured, a training step took 66 ms with sleeping and 1268 ms with spinning
    workers. Spinning for 0.1 ms only (GOMP_SPINCOUNT) brought a step from 25 to 18 ms on an idle machine, and to 50 to
    140 ms where one other process was busy.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]


def zeros(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """`size` bytes of zeros, aligned to a cache line; large arrays lie in huge pages where the system has them.

    Walking down columns, as a transposition does, touches a page for each row, so that small pages miss the processor's
    page table cache.
    """
    if size < 2 * HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        raw = np.zeros(size + 64, np.uint8)
        start = -raw.__array_interface__["data"][0] % 64
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
    """Whether this process is a fork of another Python, in which OpenMP may have workers already.

    They are not forked with it, but OpenMP waits for them. So a fork works with one worker, like a worker of torch's
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
    if cpu.cache_info().currsize:
        device = cpu()
        device.workers, device.lock = 1, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


def load_library(path: Path) -> ctypes.CDLL:
    """A compiled file of kernels. Raises DeviceError where the system does not take it."""
    try:
        library = ctypes.CDLL(str(path))
        library.set_stop(STOP.ctypes.data_as(ctypes.c_void_p))
        return library
    except (OSError, AttributeError) as error:
        raise DeviceError(
            f"the compiled kernels {path} cannot be loaded: {error}; if programs may not be run from that file system, set "
            "BOXPRESSO_CACHE to a folder on another one"
        ) from error


def lacking(size: int, kernel: object) -> str:
    """What is said where a launch of a kernel lacked that many bytes of memory for a worker."""
    size_said = f"{size} bytes" if size < 2**62 else "more bytes than a machine has"
    return f"{size_said} were asked for, as memory of a worker of {kernel}"


class Cpu:
    """The CPU: an array of it is a numpy array, so nothing is ever copied."""

    name = kind = "cpu"
    deterministic = True

    def __init__(self) -> None:
        self.libraries: dict[tuple[KernelFile, str], ctypes.CDLL] = {}
        self.functions: dict[tuple[Kernel, DType], tuple[Any, list[tuple[int, Parameter, DType]]]] = {}
        self.steps: dict[tuple[Kernel, DType], tuple[int, list[tuple[int, Parameter, DType]], list[Any]]] = {}
        self.lock = threading.Lock()
        self.memo: dict[Any, Any] = {}
        self.workers = 1 if forked() else threads()
        self.schedule = Schedule()

    def with_stream(self, fast_math: bool = False) -> Cpu:
        """The CPU itself: there a Net works in the thread that calls it."""
        return self

    # KernelFile

    def build(self, kernels: KernelFile, real: DType) -> None:
        """Compiles a file of kernels for `real`, or takes it from the cache."""
        key = kernels, REALS[np.dtype(real)]
        if key not in self.libraries:
            try:
                path = compile_shared(*key)
            except DeviceError as error:  # no compiler: the traceback ends here, not deep in the cache
                raise error.with_traceback(None) from None
            with self.lock, patient_workers():
                if key not in self.libraries:
                    self.libraries[key] = load_library(path)

    def built(self, kernels: KernelFile, real: DType) -> bool:
        """Whether a file of kernels is compiled already, in this process or in the cache."""
        key = kernels, REALS[np.dtype(real)]
        return key in self.libraries or cache.there(library_path(*key))

    def launch(self, kernel: Kernel, real: DType, args: Sequence[Any]) -> None:
        """Runs a kernel: checks its arguments, and lets the schedule choose how many workers run it."""
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
        function = getattr(self.libraries[kernel.file, REALS[real]], f"run_{kernel.name}")
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
            function = getattr(self.libraries[kernel.file, REALS[real]], f"step_{kernel.name}")
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
        try:
            kernels = f"kernels compiled with {' '.join(compiler())}"
        except DeviceError as error:
            kernels = f"but kernels cannot be compiled: {error}"
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
