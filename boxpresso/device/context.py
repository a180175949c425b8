"""The NVIDIA driver, and which GPU's context is current in a thread.

All that uses one GPU in a process shares its primary context, torch and cupy included, and each thread has one context current.
What is done here makes its own current for as long as it takes, and then gives the thread back as it was: another library may
have chosen another GPU in between, and would not expect to find ours.
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
from collections import deque
from collections.abc import Callable
from typing import Any

from ..proto.errors import DeviceError, DeviceLost
from .prototypes import DRIVER, declare

__all__ = ["Entered", "context_handle", "cuda_devices", "driver", "interface", "nvcc", "primary_context", "pushed"]


class Exclusive:
    """Held by who captures a stream's work, and by who makes or destroys a library's handle or loads a module: that waits for
    the whole GPU, which CUDA refuses while any of its streams captures, in whichever thread, and the capture breaks.

    Python runs finalisers wherever it likes, in threads that hold locks of their own, and the thread that is inside may wait
    for one of these. So a finaliser does not enter: it leaves its work to be done.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0  # how often the thread that has the lock is inside
        self.left: deque[Callable[[], None]] = deque()

    def __enter__(self) -> None:
        self.lock.acquire()
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        self.lock.release()
        self.do_left()

    def leave(self, work: Callable[[], None]) -> None:
        """Has work done inside: now if nobody is there, else by who is there, when they come out. Waits for nothing."""
        self.left.append(work)
        self.do_left()

    def do_left(self) -> None:
        """Does what was left, unless somebody is inside, this thread or another."""
        while self.left and self.lock.acquire(blocking=False):
            try:
                if self.depth:
                    return
                self.depth = 1
                try:
                    self.left.popleft()()
                finally:
                    self.depth = 0
            finally:
                self.lock.release()


exclusive = Exclusive()
forking: list[Callable[[], None]] = []  # called in a fork of a process that has started the driver
forked = False  # whether this process is one


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
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=end_in_fork)
    return cuda


@functools.cache
def driver_version() -> int:
    """The CUDA that the driver is of, such as 13000 for 13.0; 0 where there is none."""
    number = ctypes.c_int()
    try:
        call("cuDriverGetVersion", ctypes.byref(number))
    except DeviceError:
        return 0
    return number.value


def end_in_fork() -> None:
    """In a fork nothing of CUDA can be used, nor freed."""
    global forked
    forked = True
    for end in forking:
        end()


@functools.cache
def interface() -> ctypes.CDLL:
    """The driver's own library, for what PyCUDA has no name for."""
    driver()
    try:
        library = declare(ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1"), DRIVER)
    except OSError as error:
        raise DeviceError(f"the NVIDIA driver's library cannot be used: {error}") from error
    Thread.get_current = library.cuCtxGetCurrent
    return library


def call(name: str, *args: Any) -> None:
    """Calls a function of the driver's library. Raises DeviceError where the function says that it failed."""
    status = getattr(interface(), name)(*args)
    if status:
        raise failure(name, status)


def failure(name: str, status: int) -> DeviceError:
    """What a function of the driver's that failed says."""
    text = ctypes.c_char_p()
    interface().cuGetErrorString(status, ctypes.byref(text))
    said = f"{name} of the NVIDIA driver failed with {status}: {(text.value or b'').decode(errors='replace')}"
    return DeviceLost(f"{said}; {LOST}") if status in STICKY else DeviceError(said)


# CUresult of which cuda.h says that the process has to be started anew: of memory (ECC, NVLink), and of kernels that used a
# wrong address, took too long, or failed otherwise. Every later call gives it again.
STICKY = frozenset({214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719})
LOST = (
    "this process cannot use the GPU any more: start it anew. With BOXPRESSO_DEBUG=1 the error names the kernel, and "
    "compute-sanitizer the line"
)


def capturing(stream: int) -> bool:
    """Whether a stream of the current context is being captured as a graph, by whomever."""
    status = ctypes.c_int()
    error = interface().cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status))
    return error == IMPLICIT or status.value != 0


def device_of(address: int) -> int:
    """The number of the GPU whose memory an address is in; 0 for none, as of an empty array."""
    index = ctypes.c_int()
    if address:
        call("cuPointerGetAttribute", ctypes.byref(index), DEVICE_ORDINAL, ctypes.c_ulonglong(address))
    return index.value


DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
IMPLICIT = 906  # CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: of the null stream, while one that waits for it is captured


def sticky(stream: int) -> int:
    """The error after which the current context takes no more work; 0 where there is none, and while the stream is captured,
    which may not be asked then."""
    if capturing(stream):
        return 0
    status = int(interface().cuStreamQuery(ctypes.c_void_p(stream)))
    return status if status in STICKY else 0


@functools.cache
def cuda_devices() -> tuple[str, ...]:
    """The names of the GPUs that answer; none where PyCUDA, the driver or a GPU is missing."""
    try:
        cuda = driver()
        return tuple(cuda.Device(i).name() for i in range(cuda.Device.count()))
    except DeviceError:
        return ()


TOOLKIT = "/usr/local/cuda/bin"  # where NVIDIA's installer puts it


def nvcc_of_wheels() -> list[str]:
    """The folders of nvcc in NVIDIA's wheels for CUDA 13 and 12."""
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations or ()) if spec else ()
    return [os.path.join(root, package, "bin") for root in roots for package in ("cu13", "cuda_nvcc")]


class NoCompiler(DeviceError):
    """There is no nvcc."""


def nvcc() -> str:
    """The path of nvcc: of the toolkit that $CUDA_HOME or $CUDA_PATH names, else on PATH, of that in /usr/local/cuda, or
    of NVIDIA's wheel. Raises NoCompiler, which says how to get it."""
    named = [os.path.join(root, "bin") for name in ("CUDA_HOME", "CUDA_PATH") if (root := os.environ.get(name))]
    for path in (*named, os.environ.get("PATH", os.defpath), TOOLKIT, *nvcc_of_wheels()):
        if (program := shutil.which("nvcc", path=path)) is not None:
            return program
    raise NoCompiler(
        "nvcc was not found in $CUDA_HOME, on PATH, in /usr/local/cuda or in NVIDIA's wheel: GPU kernels are compiled on first "
        "use; install the CUDA toolkit, or pip install nvidia-cuda-nvrtc (NVRTC, which compiles them too)"
    )


closing: list[Callable[[Any], None]] = []  # called with each context before it ends with the process


@functools.cache
def primary_context(index: int) -> Any:
    """The context of a GPU that everybody in the process shares, as PyCUDA's."""
    context = driver().Device(index).retain_primary_context()
    atexit.register(close, context)
    return context


@functools.cache
def context_handle(index: int) -> int:
    """The same as the driver knows it."""
    with pushed(primary_context(index)):
        return current()


def close(context: Any) -> None:
    """Gives a context back at the end of the process."""
    if forked:
        return
    context.push()
    for end in closing:
        end(context)
    context.detach()


class Thread(threading.local):
    """What a thread has entered: (GPU, what was current before) from the outermost on."""

    get_current: Any = None  # the driver's function, once there is one

    def __init__(self) -> None:
        self.entered: list[tuple[int, int]] = []
        self.entries = 0  # how often it has: for all that is done on a GPU but launches
        self.seen = ctypes.c_void_p()
        self.at = ctypes.addressof(self.seen)


thread = Thread()


def current() -> int:
    """The thread's context, 0 for none. Raises DeviceError in a fork."""
    if forked:
        raise DeviceError(
            "a fork of a process that has used the GPU cannot use it: start workers before the GPU is used, or with "
            "multiprocessing's method 'spawn'"
        )
    own = thread
    (own.get_current or interface().cuCtxGetCurrent)(own.at)
    return own.seen.value or 0


class pushed:
    """A context of PyCUDA's is current inside, and outside what was before.

    PyCUDA keeps a stack of its own, and takes what it put there for current: where another library has replaced that, it would
    be given back in place of the library's.
    """

    __slots__ = ("before", "context")

    def __init__(self, context: Any) -> None:
        self.context = context

    def __enter__(self) -> None:
        self.before = current()
        self.context.push()

    def __exit__(self, *error: object) -> None:
        driver().Context.pop()
        if current() != self.before:
            interface().cuCtxSetCurrent(self.before)


class Entered:
    """A GPU's context as a `with` block, as `pushed`. PyCUDA allocates and frees only inside."""

    index: int
    context: Any

    def failed(self, error: Exception, subject: str = "") -> DeviceError:
        """What to raise for an error of PyCUDA's."""
        raise NotImplementedError

    def __enter__(self) -> None:
        before, inside = current(), thread.entered
        thread.entries += 1
        if not inside or inside[-1][0] != self.index or before != context_handle(self.index):
            self.context.push()
            inside.append((self.index, before))
        else:
            inside.append((self.index, -1))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        said = self.failed(error) if isinstance(error, driver().Error) else None
        _, before = thread.entered.pop()
        if before >= 0:
            driver().Context.pop()
            if current() != before:
                interface().cuCtxSetCurrent(before)
        if said is not None:
            raise said from error
