"""The GPU device: kernels compiled by PyCUDA with nvcc, memory from PyCUDA's pools.

A `Cuda` is a GPU with one stream and one pool of memory. Each Net has its own (`with_stream()`), so that Nets in several
threads do not wait for each other. Within a stream everything runs in the order of launching, so a block of memory that
the pool hands from one array to the next is free by then. Where a kernel meets an array of another stream (weights that
Nets share), each stream waits for the other's work so far, by events.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..proto.errors import DeviceError, DeviceLost, KernelError
from . import cache, context, cubin, nvrtc
from .array import Array, Buffer, recording
from .context import context_handle, cuda_devices, driver, nvcc, primary_context, pushed
from .copies import Copies, drop_done
from .packed import Packed
from .records import Checks
from .signature import REALS, DType, Kernel, KernelFile, StructValue

__all__ = ["Allocation", "Cuda", "cuda_devices", "driver", "nvcc"]

THREADS = 256  # in a block
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: work of others in the null stream breaks no capture of ours
LEGACY = 1  # CU_STREAM_LEGACY, the null stream by another name
WAVES = 4  # blocks launched at most, in units of what the GPU can hold at a time
LENT, SPARES, SIZES = 2**20, 4, 64  # bytes of a loan at most; how many of one size wait, and of how many sizes
PLAIN = (int, float)  # what nearly all numbers are


@functools.cache
def pinned_pool(index: int) -> Any:
    """The page-locked memory that all streams of a GPU take from for their copies. It ends with the process.

    Nobody gives a part back before its copy is done, so that no stream can disturb another. What PyCUDA does at its end would
    complain of contexts that have ended before.
    """
    from pycuda.tools import PageLockedMemoryPool

    pool = PageLockedMemoryPool()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
    return pool


@functools.cache
def code_of(index: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The loaded modules and functions of a GPU, which its streams share."""
    return {}, {}


def close(gone: Any) -> None:
    """Ends what streams hold in a context that ends with the process. What is dropped later is taken as freed with it."""
    Allocation.closed = True
    for device in list(Cuda.instances):
        if device.context is gone:
            for end in reversed(device.ends):
                end()
            device.ends.clear()
            device.held["uploads"].clear()
            device.pool.stop_holding()


context.closing.append(close)


def keep_in_fork() -> None:
    """What a fork has inherited is never freed there: PyCUDA would complain of each, or abort."""
    Allocation.closed = True
    for device in list(Cuda.instances):
        for resource in (device.held, device.modules, device.context):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(resource))
        device.ends.clear()


context.forking.append(keep_in_fork)


def end_stream(held: dict[str, Any], within: Any) -> None:
    """Drops a stream, its pool and the libraries' handles where the context is current, in whichever thread the Cuda was
    collected: PyCUDA cannot free them elsewhere. `held` has the only references to them."""
    if Allocation.closed:
        return
    if recording.uses is not None:  # this thread captures: to destroy a handle waits for the whole GPU
        recording.after.append(functools.partial(end_stream, held, within))
        return
    context.exclusive.leave(functools.partial(end_now, held, within))


def end_now(held: dict[str, Any], within: Any) -> None:
    """The work of end_stream, which nobody's capture is beside."""
    if Allocation.closed:
        return
    with suppress(DeviceError, driver().Error), pushed(within):  # where the context is lost, so is the stream
        drop_done(held["uploads"], 0)
        for end in reversed(held["ends"]):
            end()
        held["pool"].stop_holding()
        held.clear()


class Allocation:
    """A block of a GPU's memory. It goes back where it came from when it is dropped, in whichever thread that is: PyCUDA
    itself can free only where the context is current, and aborts the process elsewhere."""

    closed = False

    def __init__(self, device: Cuda, size: int) -> None:
        self.context = device.context
        self.block = driver().mem_alloc(size) if device.debug else device.pool.allocate(size)
        self.address = int(self.block)

    def __int__(self) -> int:
        return self.address

    def __del__(self) -> None:
        if not hasattr(self, "block"):
            return
        if Allocation.closed:  # PyCUDA would abort the process where it frees without a context
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.block))
            return
        with pushed(self.context):
            self.block.free()


class Loan:
    """Memory of `Cuda.lend`, which waits for the next of its size once this is dropped: no driver and no pool is asked."""

    __slots__ = ("address", "memory", "waiting")

    def __init__(self, memory: Allocation, waiting: list[Allocation]) -> None:
        self.memory, self.address, self.waiting = memory, memory.address, waiting

    def __int__(self) -> int:
        return self.address

    def __del__(self, most: int = SPARES) -> None:  # a default is there when the interpreter ends, too
        if len(self.waiting) < most:
            self.waiting.append(self.memory)


class Cuda(Copies):
    """One GPU with a stream, and a pool of memory for what runs on it. `with device:` makes its context the thread's.

    With BOXPRESSO_DEBUG=1 every launch is waited for, so that an error names its kernel, and memory is not pooled, so
    that compute-sanitizer sees the bounds of each array.

    Attributes
    ----------
    fast_math
        Whether cuBLAS and cuDNN may round the factors of a float32 product to TF32.
    short_of_memory
        Whether memory has run out once: from then on Buffers give back what they do not use.
    host_work
        Counts copies, waits, and looks at arrays from the host, by which a program knows the layers that need it.
    """

    kind = "cuda"
    workers = 1
    reproducible = False
    instances: weakref.WeakSet[Cuda] = weakref.WeakSet()

    def __init__(self, index: int, deterministic: bool = False, fast_math: bool = False) -> None:
        cuda = driver()
        if index >= cuda.Device.count():
            raise DeviceError(f"there is no device 'cuda:{index}': this machine has {cuda.Device.count()} GPU(s)")
        from pycuda.tools import DeviceMemoryPool

        self.index, self.name, self.deterministic, self.fast_math = index, f"cuda:{index}", deterministic, fast_math
        self.gpu, has = cuda.Device(index), cuda.device_attribute
        self.arch = "sm_{}{}".format(*self.gpu.compute_capability())
        self.processors = self.gpu.get_attribute(has.MULTIPROCESSOR_COUNT)
        self.resident = self.processors * self.gpu.get_attribute(has.MAX_THREADS_PER_MULTIPROCESSOR)
        self.context, self.handle = primary_context(index), context_handle(index)
        self.ends: list[Callable[[], None]] = []  # what ends before the stream does
        with self:
            self.held = {
                "pool": DeviceMemoryPool(), "stream": cuda.Stream(NON_BLOCKING), "ends": self.ends, "uploads": deque(),
            }  # fmt: skip
        self.pinned = pinned_pool(index)
        ending = weakref.finalize(self, end_stream, self.held, self.context)
        ending.atexit = False  # at the end of the process `close` sees to it
        self.modules, self.functions = code_of(index)
        self.memo: dict[Any, Any] = {}
        self.debug = os.environ.get("BOXPRESSO_DEBUG") == "1"
        self.short_of_memory, self.host_work, self.checks = False, 0, Checks(index)
        self.spares: dict[int, list[Allocation]] = {}  # by size: what waits to be lent again
        self.captured_by = 0  # the thread that has captured this stream
        Cuda.instances.add(self)

    @property
    def pool(self) -> Any:
        """PyCUDA's DeviceMemoryPool."""
        return self.held["pool"]

    @property
    def stream(self) -> Any:
        """PyCUDA's Stream."""
        return self.held["stream"]

    def with_stream(self, fast_math: bool = False) -> Cuda:
        """This GPU with another stream, for a Net of its own."""
        return Cuda(self.index, self.deterministic, fast_math)

    @contextmanager
    def among(self, arrays: Iterable[Any]) -> Iterator[None]:
        """Orders what is launched inside after the work so far of the arrays' streams, and their later work after it."""
        others = {cast(Cuda, a.device) for a in arrays if isinstance(a, Array) and a.device is not self}
        self.wait_for(others)
        yield
        self.let_wait(others)

    def wait_for(self, others: Iterable[Cuda]) -> None:
        """What is launched here from now on runs after what the other streams were given so far. In a capture that is left to
        who launches the graph."""
        for other in others if recording.uses is None else ():
            self.after(other)

    def let_wait(self, others: Iterable[Cuda]) -> None:
        """The other way round."""
        for other in others if recording.uses is None else ():
            other.after(self)

    def after(self, other: Cuda) -> None:
        """What is launched here from now on runs after what the other stream was given so far."""
        with self.quiet(), other.quiet():
            self.order(other.stream.handle, self.stream.handle)

    def before(self, stream: int) -> None:
        """What another library gives that stream of its own from now on runs after what was launched here so far."""
        self.order(self.stream.handle, stream)

    def order(self, first: int, then: int) -> None:
        """What a stream is given from now on runs after what another was given so far."""
        event = ctypes.c_void_p()
        with self:
            context.call("cuEventCreate", ctypes.byref(event), 2)  # CU_EVENT_DISABLE_TIMING
            try:
                context.call("cuEventRecord", event, ctypes.c_void_p(first))
                context.call("cuStreamWaitEvent", ctypes.c_void_p(then), event, 0)
            finally:
                context.call("cuEventDestroy_v2", event)

    def behind(self, stream: int) -> None:
        """What is launched here from now on runs after what another library gave that stream of its own so far."""
        self.order(stream, self.stream.handle)

    def quiet(self) -> AbstractContextManager[object]:
        """Inside no other thread captures this stream: what is given to the stream of another Net would go into its graph."""
        return nullcontext() if self.captured_by in (0, threading.get_ident()) else context.exclusive

    def needs_host(self, reason: str) -> None:
        """Notes a copy, a wait, or a look at an array from the host. Raises DeviceError in a capture, which cannot hold one."""
        self.host_work += 1
        if recording.uses is not None:
            raise DeviceError(f"{self.name}: {reason} in a part of a net that is captured as a graph")

    # KernelFile

    def cubin_path(self, kernels: KernelFile, real: str) -> Path:
        """Where the compiled form of a file of kernels for this GPU is kept."""
        return cubin.path_of(kernels, real, self.arch)

    def build(self, kernels: KernelFile, real: DType) -> None:
        """Compiles a file of kernels for `real`, or takes it from the cache."""
        key = kernels, REALS[np.dtype(real)]
        if key in self.modules:
            return
        if kernels.host_only:
            raise KernelError(f"{kernels.path.name} is for the CPU alone and cannot run on {self.name}")
        image = cubin.compiled(*key, self.arch)
        with self, context.exclusive:
            if key not in self.modules:
                try:
                    self.modules[key] = driver().module_from_buffer(image)
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
        if type(n) is not int and not isinstance(n, (int, np.integer)):
            raise kernel.reject_scalars(args)
        if n <= 0:
            return
        function, packed, (threads, alone) = self.functions.get((kernel, real)) or self.function(kernel, real)
        passed, others = self.arguments(kernel, packed, args)
        try:
            block = packed.pack(*passed)
        except (struct.error, OverflowError) as error:
            raise kernel.reject_scalars(args) from error
        # In the deterministic mode a block that adds is one thread: by the kernel contract the result is the same sum,
        # in one order.
        if self.deterministic:
            threads = alone
        blocks = int(min(n if kernel.blocks else -(-n // threads), WAVES * max(1, self.resident // threads)))
        foreign = context.current() != self.handle
        if foreign:
            context.interface().cuCtxPushCurrent_v2(self.handle)
        try:
            if others:
                self.wait_for(others)
            function._launch_kernel((blocks, 1), (threads, 1, 1), block, 0, self.held["stream"])
            if others:
                self.let_wait(others)
            if recording.launches is not None:
                recording.launches.append((function, (blocks, 1), (threads, 1, 1), packed, block, args))
            if self.debug:
                self.stream.synchronize()
                self.checks.raise_failed()
        except driver().Error as error:
            raise self.failed(error, f"{kernel} failed on {blocks} blocks of {threads} threads: ") from error
        finally:
            if foreign:
                context.interface().cuCtxPopCurrent_v2(context.thread.at)

    def arguments(self, kernel: Kernel, packed: Packed, args: Sequence[Any]) -> tuple[list[Any], Sequence[Cuda]]:
        """The arguments with addresses in place of arrays and bytes in place of structs, and the arrays' other streams."""
        passed, others = list(args), []
        for i, struct_, layout in packed.structs:
            arg = args[i]
            if not isinstance(arg, StructValue) or arg.struct != struct_:
                raise kernel.reject_scalars(args)
            passed[i] = arg.raw(layout)
        for i in packed.numbers:
            if type(args[i]) not in PLAIN and not isinstance(args[i], (int, float, np.number)):
                raise kernel.reject_scalars(args)
        for i, dtype, write in packed.arrays:
            arg = args[i]
            if arg is None:
                passed[i] = 0
                continue
            buffer = arg.buffer if isinstance(arg, Array) else None
            if (
                buffer is None
                or buffer.dtype != dtype
                or (buffer.device is not self and buffer.device.name != self.name)
            ):
                where = f" on {arg.device.name}" if isinstance(arg, Array) else ""
                seen = f"{type(arg).__name__} of {getattr(arg, 'dtype', '?')}{where}"
                raise kernel.reject(kernel.parameters[i], f"an array of {dtype} on {self.name}", seen)
            passed[i] = buffer.on_device(write) + arg.start * dtype.itemsize
            if buffer.device is not self and buffer.device not in others:
                others.append(cast(Cuda, buffer.device))
        return passed, others

    def function(self, kernel: Kernel, real: DType) -> tuple[Any, Packed, tuple[int, int]]:
        """A kernel's function, how it takes its arguments, and the threads of its blocks, else and if deterministic."""
        self.build(kernel.file, real)
        with self, context.exclusive:  # the driver loads a kernel when it is first asked for
            function = self.modules[kernel.file, REALS[real]].get_function(kernel.name)
        known = function, Packed(kernel, real), (THREADS, 1 if kernel.adds else THREADS)
        self.functions[kernel, real] = known
        return known

    # Memory

    def allocate(self, size: int) -> Allocation:
        """Memory of `size` bytes; what it holds is not defined."""
        with self:
            try:
                return Allocation(self, size)
            except driver().MemoryError:
                for other in list(Cuda.instances):  # this pool has given back what it could
                    if other.index == self.index:
                        other.spares = {}
                        other.pool.free_held()
            try:
                return Allocation(self, size)
            except driver().MemoryError as error:
                self.short_of_memory = True
                free, total = (part / 2**20 for part in driver().mem_get_info())
                pools = [other.pool for other in list(Cuda.instances) if other.index == self.index]
                held = sum(pool.active_bytes for pool in pools) / 2**20
                raise DeviceError(
                    f"{self.name} is out of memory: {size / 2**20:.1f} MiB were asked for, {held:.1f} MiB are held by arrays "
                    f"of this process, {free:.1f} of {total:.1f} MiB are free; use a smaller batch or image, or delete Nets"
                ) from error

    def lend(self, size: int) -> Allocation | Loan:
        """As `allocate`. A little that was lent before and dropped is lent again, which costs the host less."""
        if size > LENT or self.debug:
            return self.allocate(size)
        waiting = self.spares.get(size)
        if waiting is None:
            if len(self.spares) == SIZES:
                self.spares = {}
            waiting = self.spares[size] = []
        try:
            memory = waiting.pop()
        except IndexError:
            memory = self.allocate(size)
        return Loan(memory, waiting)

    def free_held(self) -> None:
        """Gives memory that no array uses back to the driver, for other programs and libraries to use."""
        self.spares = {}
        with self:
            self.pool.free_held()
            self.pinned.free_held()

    def copy(self, source: int, target: int, size: int) -> None:
        """Device to device."""
        if size:
            with self:
                driver().memcpy_dtod_async(target, source, size, self.stream)

    def clear(self, memory: Any, size: int) -> None:
        """Sets bytes to zero."""
        if size:
            with self, self.quiet():
                driver().memset_d8_async(int(memory), 0, size, self.stream)

    def fill(self, array: Array, value: float) -> None:
        """Sets every element of an Array."""
        if array.size == 0:
            return
        bits = np.array(value, array.dtype).tobytes()
        with self:
            if bits == bytes(len(bits)):
                driver().memset_d8_async(array.address(True), 0, array.nbytes, self.stream)
            elif len(bits) == 2:
                driver().memset_d16_async(array.address(True), int.from_bytes(bits, "little"), array.size, self.stream)
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
        self.needs_host("a wait")
        with self, self.quiet():
            try:
                self.stream.synchronize()
            except driver().Error as error:
                raise self.failed(error, "a kernel failed: ") from error
        self.checks.raise_failed()

    def lost(self) -> int:
        """The error after which this GPU takes no more work of this process; 0 where there is none. Its context is current."""
        return context.sticky(self.stream.handle)

    def failed(self, error: Exception, subject: str = "") -> DeviceError:
        """What to raise for an error of PyCUDA's. Its context is current."""
        said = f"{self.name}: {subject}{error}"
        return DeviceLost(f"{said}; {context.LOST}") if self.lost() else DeviceError(said)

    def describe(self) -> str:
        """The line of `boxpresso device_query`."""
        major, minor = self.gpu.compute_capability()
        memory = self.gpu.total_memory() / 2**30
        try:
            kernels = f"kernels compiled with {nvcc()}"
        except DeviceError:
            library = nvrtc.library()
            kernels = "but kernels cannot be compiled: neither nvcc nor NVRTC was found"
            if library is not None:
                kernels = f"kernels compiled with {nvrtc.version(library)}, {library._name}"
        return (
            f"{self.name}: {self.gpu.name()}, compute capability {major}.{minor}, {self.processors} multiprocessors, "
            f"{memory:.1f} GiB, {kernels}"
        )
