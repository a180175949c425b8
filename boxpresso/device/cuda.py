"""The GPU device: kernels compiled by PyCUDA with nvcc, memory from PyCUDA's pools. PyCUDA is imported here alone.

All that uses one GPU in a process shares its primary context, torch and cupy included. Each thread that comes here
makes the context current for itself, and gives it back when it ends.

A `Cuda` is a GPU with one stream and one pool of memory. Each Net has its own (`with_stream()`), so that Nets in several
threads do not wait for each other. Within a stream everything runs in the order of launching, so a block of memory that
the pool hands from one array to the next is free by then. Where a kernel meets an array of another stream (weights that
Nets share), each stream waits for the other's work so far, by events.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib.util
import os
import shutil
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..proto.errors import DeviceError, KernelError
from . import cache
from .array import Array, Buffer
from .signature import FORMATS, HEADERS, REALS, DType, Kernel, KernelFile, Parameter, StructValue, defines, real_of

FLAGS = ("-std=c++17", "-O3", "--expt-relaxed-constexpr", "--extended-lambda", "-w", "-Wno-deprecated-gpu-targets")
THREADS = 256  # in a block
WAVES = 4  # blocks launched at most, in units of what the GPU can hold at a time


@functools.cache
def driver() -> Any:
    """PyCUDA's driver module, initialised. Raises DeviceError saying which part is missing."""
    if importlib.util.find_spec("pycuda") is None:
        raise DeviceError("device 'cuda' needs PyCUDA, which is not installed: pip install 'boxpresso[cuda]'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that may not match; the error below says more
            import pycuda.driver as cuda
    except ImportError as error:
        raise DeviceError(
            f"PyCUDA is installed but cannot load the NVIDIA driver ({error}); install the driver, or reinstall PyCUDA"
        ) from error
    try:
        cuda.init()
    except cuda.Error as error:
        raise DeviceError(f"the NVIDIA driver does not start: {error}; does `nvidia-smi` show a GPU?") from error
    return cuda


@functools.cache
def cuda_devices() -> tuple[str, ...]:
    """The names of the GPUs that answer; none where PyCUDA, the driver or a GPU is missing."""
    try:
        cuda = driver()
        return tuple(cuda.Device(i).name() for i in range(cuda.Device.count()))
    except DeviceError:
        return ()


def nvcc() -> str:
    """The path of nvcc, or a DeviceError that says how to get it."""
    path = shutil.which("nvcc")
    if path is None:
        raise DeviceError("nvcc was not found on PATH: GPU kernels are compiled on first use; install the CUDA toolkit")
    return path


@functools.cache
def pinned_pool(index: int) -> Any:
    """The page-locked memory that all streams of a GPU take from. It lasts as long as the process: every copy is waited
    for, so no stream can disturb another, and an array of it may be dropped in any thread."""
    from pycuda.tools import PageLockedMemoryPool

    return PageLockedMemoryPool()


@functools.cache
def code_of(index: int) -> tuple[dict[Any, Any], dict[Any, Any], threading.Lock]:
    """The loaded modules and functions of a GPU, which its streams share, and the lock that is held while one is loaded."""
    return {}, {}, threading.Lock()


@functools.cache
def primary_context(index: int) -> Any:
    """The context of a GPU that everybody in the process shares."""
    context = driver().Device(index).retain_primary_context()
    atexit.register(close, context)
    return context


def close(context: Any) -> None:
    """Gives a context back at the end of the process. What is dropped later PyCUDA then takes as freed with it."""
    Memory.closed = True
    visit.leave()
    context.push()
    for device in list(Cuda.instances):
        if device.context is context:
            device.pool.stop_holding()
            ctypes.pythonapi.Py_IncRef(
                ctypes.py_object(device.pinned)
            )  # its end would only complain of the lost context
    context.detach()


def end_stream(held: dict[str, Any], context: Any, pop: Any) -> None:
    """Drops a stream and its pool where the context is current, in whichever thread the Cuda was collected: PyCUDA
    cannot free them elsewhere. `held` has the only references to them."""
    if Memory.closed:
        return
    context.push()
    held["pool"].stop_holding()
    held.clear()
    pop()


class Visit(threading.local):
    """Which GPU's context the calling thread has made current."""

    index: int | None = None
    end: Any = None

    def enter(self, index: int) -> None:
        self.leave()
        primary_context(index).push()
        self.index, self.end = index, End(driver().Context.pop)

    def leave(self) -> None:
        self.index = self.end = None


class End:
    """Calls `pop` when it goes, at the latest when its thread ends: PyCUDA aborts the whole process where a thread ends
    with a context still current."""

    def __init__(self, pop: Any) -> None:
        self.pop = pop

    def __del__(self) -> None:
        self.pop()


visit = Visit()


class Memory:
    """A block of a GPU's memory. It goes back where it came from when it is dropped, in whichever thread that is: PyCUDA
    itself can free only where the context is current, and aborts the process elsewhere."""

    closed = False

    def __init__(self, device: Cuda, size: int) -> None:
        self.context, self.pop = device.context, driver().Context.pop
        self.block = driver().mem_alloc(size) if device.debug else device.pool.allocate(size)
        self.address = int(self.block)

    def __int__(self) -> int:
        return self.address

    def __del__(self) -> None:
        if hasattr(self, "block") and not Memory.closed:
            self.context.push()
            self.block.free()
            self.pop()


class Cuda:
    """One GPU with a stream, and a pool of memory for what runs on it.

    With BOXPRESSO_DEBUG=1 every launch is waited for, so that an error names its kernel, and memory is not pooled, so
    that compute-sanitizer sees the bounds of each array.
    """

    kind = "cuda"
    workers = 1
    instances: weakref.WeakSet[Cuda] = weakref.WeakSet()

    def __init__(self, index: int, deterministic: bool = False) -> None:
        cuda = driver()
        if index >= cuda.Device.count():
            raise DeviceError(f"there is no device 'cuda:{index}': this machine has {cuda.Device.count()} GPU(s)")
        from pycuda.tools import DeviceMemoryPool

        self.index, self.name, self.deterministic = index, f"cuda:{index}", deterministic
        self.gpu, has = cuda.Device(index), cuda.device_attribute
        self.arch = "sm_{}{}".format(*self.gpu.compute_capability())
        self.processors = self.gpu.get_attribute(has.MULTIPROCESSOR_COUNT)
        self.resident = self.processors * self.gpu.get_attribute(has.MAX_THREADS_PER_MULTIPROCESSOR)
        self.context = primary_context(index)
        self.enter()
        self.held = {"pool": DeviceMemoryPool(), "stream": cuda.Stream()}
        self.pinned = pinned_pool(index)
        ending = weakref.finalize(self, end_stream, self.held, self.context, cuda.Context.pop)
        ending.atexit = False  # at the end of the process `close` sees to it
        self.modules, self.functions, self.lock = code_of(index)
        self.memo: dict[Any, Any] = {}
        self.debug = os.environ.get("BOXPRESSO_DEBUG") == "1"
        self.short_of_memory = (
            False  # whether memory has run out once: from then on Buffers give back what they do not use
        )
        Cuda.instances.add(self)

    @property
    def pool(self) -> Any:
        """PyCUDA's DeviceMemoryPool."""
        return self.held["pool"]

    @property
    def stream(self) -> Any:
        """PyCUDA's Stream."""
        return self.held["stream"]

    def with_stream(self) -> Cuda:
        """This GPU with another stream, for a Net of its own."""
        return Cuda(self.index, self.deterministic)

    @contextmanager
    def among(self, arrays: Iterable[Any]) -> Iterator[None]:
        """Orders what is launched inside after the work so far of the arrays' streams, and their later work after it."""
        others = {cast(Cuda, a.device) for a in arrays if isinstance(a, Array) and a.device is not self}
        for other in others:
            self.after(other)
        yield
        for other in others:
            other.after(self)

    def after(self, other: Cuda) -> None:
        """What is launched here from now on runs after what the other stream was given so far."""
        cuda = driver()
        event = cuda.Event(cuda.event_flags.DISABLE_TIMING)
        event.record(other.stream)
        self.stream.wait_for_event(event)

    def enter(self) -> None:
        """Makes the context current in the calling thread."""
        if visit.index != self.index:
            visit.enter(self.index)

    # KernelFile

    def compile(self, kernels: KernelFile, real: str) -> bytes:
        """The cubin of a file of kernels for `real` on this GPU, from the cache where it is there."""
        from pycuda.compiler import compile as compile_cubin
        from pycuda.driver import CompileError

        path = self.cubin_path(kernels, real)
        if (cached := cache.fetch(path)) is not None:
            return cached
        source = (
            f'#line 1 "{kernels.path}"\n{kernels.path.read_text(encoding="utf-8")}'  # nvcc's messages name our file
        )
        options = [*FLAGS, *kernels.options, *defines(real)]
        includes = [str(HEADERS), str(kernels.path.parent)]
        try:
            cubin = compile_cubin(source, nvcc(), options, False, True, self.arch, None, False, includes)
        except CompileError as error:
            said = (error.stderr or error.stdout or str(error)).strip()
            raise KernelError(f"{kernels.path} does not compile for {self.arch} with {nvcc()}:\n{said}") from error
        part = cache.temporary(path)
        try:
            part.write_bytes(cubin)
            cache.store(path, part)
        except OSError as error:
            raise DeviceError(f"the kernel cache {path.parent} cannot be written: {error.strerror or error}") from error
        return bytes(cubin)

    def cubin_path(self, kernels: KernelFile, real: str) -> Path:
        stat = Path(nvcc()).resolve().stat()
        version = f"{nvcc()} {stat.st_size} {stat.st_mtime_ns}"
        name = cache.key(cache.sources(kernels.path, HEADERS), *FLAGS, *kernels.options, real, self.arch, version)
        return cache.folder() / f"{kernels.path.stem}-{real}-{name}.cubin"

    def build(self, kernels: KernelFile, real: DType) -> None:
        """Compiles a file of kernels for `real`, or takes it from the cache."""
        key = kernels, REALS[np.dtype(real)]
        if key in self.modules:
            return
        if kernels.host_only:
            raise KernelError(f"{kernels.path.name} is for the CPU alone and cannot run on {self.name}")
        cubin = self.compile(*key)
        self.enter()
        with self.lock:
            if key not in self.modules:
                try:
                    self.modules[key] = driver().module_from_buffer(cubin)
                except driver().Error as error:
                    file = self.cubin_path(*key)
                    raise DeviceError(
                        f"{self.name} does not take {file}: {error}; delete that file, and retry"
                    ) from error

    def built(self, kernels: KernelFile, real: DType) -> bool:
        """Whether a file of kernels is compiled already, in this process or in the cache."""
        key = kernels, REALS[np.dtype(real)]
        return key in self.modules or cache.there(self.cubin_path(*key))

    def launch(self, kernel: Kernel, real: DType, args: Sequence[Any]) -> None:
        """Runs a kernel behind the caller's back, on blocks that fill the GPU a few times over."""
        n = args[0]
        if not isinstance(n, (int, np.integer)):
            raise kernel.reject_scalars(args)
        if n <= 0:
            return
        self.enter()
        passed = self.arguments(kernel, real, args)
        # In the deterministic mode a block that adds is one thread: by the kernel contract the result is the same sum,
        # in one order.
        threads = 1 if self.deterministic and kernel.file.adds else THREADS
        blocks = min(n if kernel.blocks else -(-n // threads), WAVES * max(1, self.resident // threads))
        function = self.function(kernel, real)
        try:
            with self.among(args):
                function.prepared_async_call((int(blocks), 1), (threads, 1, 1), self.stream, *passed)
            if self.debug:
                self.stream.synchronize()
        except driver().Error as error:
            where = f"on {blocks} blocks of {threads} threads"
            raise DeviceError(f"{self.name}: {kernel} failed {where}: {error}") from error
        except Exception as error:  # PyCUDA's packing of arguments has an error class of its own
            raise kernel.reject_scalars(args) from error

    def arguments(self, kernel: Kernel, real: DType, args: Sequence[Any]) -> list[Any]:
        """The arguments as PyCUDA packs them: addresses in place of arrays, and the numbers of structs one by one."""
        passed: list[Any] = []
        for parameter, arg in zip(kernel.parameters, args, strict=True):
            if parameter.struct is not None:
                if not isinstance(arg, StructValue) or arg.struct != parameter.struct:
                    raise kernel.reject_scalars(args)
                passed += arg.numbers()
            elif not parameter.pointer:
                passed.append(arg)
            elif arg is None:
                passed.append(0)
            elif not isinstance(arg, Array) or arg.dtype != parameter.dtype(real) or arg.device.name != self.name:
                where = f" on {arg.device.name}" if isinstance(arg, Array) else ""
                seen = f"{type(arg).__name__} of {getattr(arg, 'dtype', '?')}{where}"
                raise kernel.reject(parameter, f"an array of {parameter.dtype(real)} on {self.name}", seen)
            else:
                passed.append(arg.address(write=not parameter.const))
        return passed

    @staticmethod
    def format(parameter: Parameter, real: DType) -> str:
        """One argument for Python's `struct` module, which packs them as C does."""
        if parameter.struct is not None:
            return parameter.struct.format(real_of(real))
        return "P" if parameter.pointer else FORMATS[parameter.dtype(real)]

    def function(self, kernel: Kernel, real: DType) -> Any:
        if (kernel, real) not in self.functions:
            self.build(kernel.file, real)
            function = self.modules[kernel.file, REALS[real]].get_function(kernel.name)
            function.prepare("".join(self.format(p, real) for p in kernel.parameters))
            self.functions[kernel, real] = function
        return self.functions[kernel, real]

    # Memory

    def allocate(self, size: int) -> Memory:
        """Memory of `size` bytes; what it holds is not defined."""
        self.enter()
        try:
            return Memory(self, size)
        except driver().MemoryError:
            for other in Cuda.instances:  # this pool has given back what it could
                if other.index == self.index:
                    other.pool.free_held()
        try:
            return Memory(self, size)
        except driver().MemoryError as error:
            self.short_of_memory = True
            free, total = (part / 2**20 for part in driver().mem_get_info())
            held = sum(other.pool.active_bytes for other in Cuda.instances if other.index == self.index) / 2**20
            raise DeviceError(
                f"{self.name} is out of memory: {size / 2**20:.1f} MiB were asked for, {held:.1f} MiB are held by arrays of "
                f"this process, {free:.1f} of {total:.1f} MiB are free; use a smaller batch or image, or delete Nets"
            ) from error

    def host_memory(self, count: int, dtype: DType) -> np.ndarray[Any, Any]:
        """Page-locked zeros, which the GPU copies from and to at full speed."""
        self.enter()
        try:
            array: np.ndarray[Any, Any] = self.pinned.allocate((max(count, 1),), dtype)[:count]
        except driver().MemoryError as error:
            size = count * dtype.itemsize / 2**20
            raise DeviceError(f"{self.name}: the host has no {size:.1f} MiB of page-locked memory left") from error
        array.fill(0)
        return array

    def free_held(self) -> None:
        """Gives memory that no array uses back to the driver, for other programs and libraries to use."""
        self.enter()
        self.pool.free_held()
        self.pinned.free_held()

    def to_device(self, host: np.ndarray[Any, Any], memory: Any) -> None:
        self.enter()
        driver().memcpy_htod_async(int(memory), host, self.stream)
        self.stream.synchronize()  # the caller may write to `host` again at once

    def to_host(self, memory: Any, host: np.ndarray[Any, Any]) -> None:
        self.enter()
        driver().memcpy_dtoh_async(host, int(memory), self.stream)
        self.stream.synchronize()

    def copy(self, source: int, target: int, size: int) -> None:
        """Device to device."""
        self.enter()
        if size:
            driver().memcpy_dtod_async(target, source, size, self.stream)

    def clear(self, memory: Any, size: int) -> None:
        self.enter()
        if size:
            driver().memset_d8_async(int(memory), 0, size, self.stream)

    def fill(self, array: Array, value: float) -> None:
        self.enter()
        if array.size == 0:
            return
        bits = np.array(value, array.dtype).tobytes()
        if bits == bytes(len(bits)):
            driver().memset_d8_async(array.address(True), 0, array.nbytes, self.stream)
        elif len(bits) == 4:
            driver().memset_d32_async(array.address(True), int.from_bytes(bits, "little"), array.size, self.stream)
        elif len(bits) == 8:  # two columns, of the lower and of the upper halves
            for half in (0, 4):
                word = int.from_bytes(bits[half : half + 4], "little")
                driver().memset_d2d32_async(array.address(True) + half, 8, word, 1, array.size, self.stream)
        else:
            array.numpy().fill(value)

    def empty(self, shape: Sequence[int], dtype: Any) -> Array:
        """An array of zeros."""
        buffer = Buffer(self, np.dtype(dtype))
        buffer.grow(int(np.prod(shape, dtype=np.int64)))
        return Array(buffer, shape)

    def table(self, values: Any, dtype: Any = np.int32) -> Array:
        """A small constant array for kernels to read."""
        values = np.ascontiguousarray(values, dtype)
        array = self.empty(values.shape, dtype)
        array.numpy()[...] = values
        return array

    def part(self, array: Array, start: int, shape: Sequence[int]) -> Array:
        """The elements from flat index `start` on, under another shape, without a copy."""
        return Array(array.buffer, shape, array.start + start)

    def synchronize(self) -> None:
        """Waits until all that was launched has run; an error of a kernel is raised here."""
        self.enter()
        try:
            self.stream.synchronize()
        except driver().Error as error:
            raise DeviceError(f"{self.name}: a kernel failed: {error}") from error

    def describe(self) -> str:
        """The line of `boxpresso device_query`."""
        major, minor = self.gpu.compute_capability()
        memory = self.gpu.total_memory() / 2**30
        compiler = shutil.which("nvcc")
        kernels = f"kernels compiled with {compiler}" if compiler else "but kernels cannot be compiled: no nvcc on PATH"
        return (
            f"{self.name}: {self.gpu.name()}, compute capability {major}.{minor}, {self.processors} multiprocessors, "
            f"{memory:.1f} GiB, {kernels}"
        )
