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
from collections.abc import Callable
from typing import Any

from ..proto.errors import DeviceError
from .prototypes import DRIVER, declare

__all__ = ["Entered", "context_handle", "cuda_devices", "driver", "interface", "nvcc", "primary_context", "pushed"]

# Held by who captures a stream's work, and by who makes or destroys a library's handle or loads a module: that waits for
# the whole GPU, which CUDA refuses while any of its streams captures, in whichever thread, and the capture breaks.
exclusive = threading.RLock()
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
        return declare(ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1"), DRIVER)
    except OSError as error:
        raise DeviceError(f"the NVIDIA driver's library cannot be used: {error}") from error


def call(name: str, *args: Any) -> None:
    """Calls a function of the driver's library. Raises DeviceError where the function says that it failed."""
    library = interface()
    status = getattr(library, name)(*args)
    if status:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        said = (text.value or b"").decode(errors="replace")
        raise DeviceError(f"{name} of the NVIDIA driver failed with {status}: {said}")


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
    interface().cuCtxGetCurrent(thread.at)
    return thread.seen.value or 0


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

    def __enter__(self) -> None:
        before, inside = current(), thread.entered
        thread.entries += 1
        if not inside or inside[-1][0] != self.index or before != context_handle(self.index):
            self.context.push()
            inside.append((self.index, before))
        else:
            inside.append((self.index, -1))

    def __exit__(self, *error: object) -> None:
        _, before = thread.entered.pop()
        if before >= 0:
            driver().Context.pop()
            if current() != before:
                interface().cuCtxSetCurrent(before)
