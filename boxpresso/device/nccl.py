"""NCCL: where its library is, and the communicator by which ranks sum arrays of their GPUs.

Communicators do not block: a call that has to wait for other ranks says so, and is asked again. So a rank that waits still
sees that another one has failed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np

from ..proto.errors import DeviceError
from . import context
from .array import Array
from .cuda import Cuda
from .libraries import find
from .prototypes import NCCL, UniqueId

SUCCESS, IN_PROGRESS, SUM = 0, 7, 0  # ncclSuccess, ncclInProgress; ncclSum
TYPES = {np.dtype(np.float32): 7, np.dtype(np.float64): 8}  # ncclFloat32, ncclFloat64
MAGIC, VERSION = 0xCAFEBEEF, 21400  # of ncclConfig_t, and the first NCCL that has it: Config is what it was then
WHEEL = "nvidia-nccl-cu{}"
OTHERWISE = "gradients of several ranks are summed by MPI"


class Config(ctypes.Structure):
    """The first members of ncclConfig_t. Newer libraries read `size` bytes of it, and take their defaults for the rest."""

    _fields_ = [
        ("size", ctypes.c_size_t), ("magic", ctypes.c_uint), ("version", ctypes.c_uint), ("blocking", ctypes.c_int),
    ]  # fmt: skip


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library that is used (torch's, the pip wheel's or the system's), None without one."""
    return find("nccl", (2,), NCCL, otherwise=OTHERWISE)


def version() -> str:
    """The version of the library that is found."""
    known, number = library(), ctypes.c_int()
    if known is None or known.ncclGetVersion(ctypes.byref(number)):
        return "unknown version"
    major, rest = divmod(number.value, 10000)
    return f"{major}.{rest // 100}.{rest % 100}"


def failure(name: str, status: int, communicator: ctypes.c_void_p | None = None) -> DeviceError:
    """What a function that failed says."""
    known = library()
    assert known is not None
    said = [known.ncclGetErrorString(status).decode(errors="replace")]
    said.append((known.ncclGetLastError(communicator) or b"").decode(errors="replace").strip())
    return DeviceError(
        f"{name} of NCCL failed with {status}: {': '.join(filter(None, said))}; NCCL_DEBUG=INFO tells more, and with "
        f"BOXPRESSO_LIBRARIES=cublas,cudnn {OTHERWISE}"
    )


def unique_id() -> bytes:
    """What one rank makes for a new communicator and gives to all. Raises DeviceError."""
    known, made = library(), UniqueId()
    assert known is not None
    status = known.ncclGetUniqueId(ctypes.byref(made))
    if status:
        raise failure("ncclGetUniqueId", status)
    return bytes(made)


class Communicator:
    """The ranks that sum arrays of their GPUs, one GPU each. All make the same calls in the same order.

    Parameters
    ----------
    device
        The GPU of this rank, with the stream that sums are given.
    size, rank
        How many ranks there are, and the number of this one.
    key
        The `unique_id` that one of them has made.
    meanwhile
        Called again and again while others are waited for. What it raises ends the waiting, and the communicator.

    Raises
    ------
    DeviceError
        Where NCCL fails, here or later.
    """

    def __init__(self, device: Cuda, size: int, rank: int, key: bytes, meanwhile: Callable[[], None]) -> None:
        known = library()
        assert known is not None
        self.device, self.library, self.handle = device, known, ctypes.c_void_p()
        if device.deterministic:  # NVLink's switches add in no fixed order; read when the first communicator is made
            os.environ.setdefault("NCCL_ALGO", "^NVLS")
        config = Config(ctypes.sizeof(Config), MAGIC, VERSION, 0)
        with device, context.exclusive:  # it allocates, in a thread of its own
            asked = UniqueId.from_buffer_copy(key)
            status = known.ncclCommInitRankConfig(ctypes.byref(self.handle), size, asked, rank, ctypes.byref(config))
            self.done("ncclCommInitRankConfig", status, meanwhile)

    def done(self, name: str, status: int, meanwhile: Callable[[], None]) -> None:
        """Waits until a call is through. Where it fails the communicator is aborted."""
        try:
            while status == IN_PROGRESS:
                meanwhile()
                time.sleep(0)
                status = self.state(name)
            if status:
                raise failure(name, status, self.handle)
        except BaseException:
            self.abort()
            raise

    def state(self, name: str = "ncclCommGetAsyncError") -> int:
        """SUCCESS, or IN_PROGRESS. Raises DeviceError where something that was called before has failed by now."""
        state = ctypes.c_int()
        status = self.library.ncclCommGetAsyncError(self.handle, ctypes.byref(state)) or state.value
        if status not in (SUCCESS, IN_PROGRESS):
            raise failure(name, status, self.handle)
        return status

    def sum(self, arrays: Iterable[Array], meanwhile: Callable[[], None]) -> None:
        """Has arrays summed over the ranks, in place and all together, behind what its stream was given. The sums are bitwise
        identical on all ranks."""
        stream = ctypes.c_void_p(self.device.stream.handle)
        targets = [(ctypes.c_void_p(array.address(True)), array.size, TYPES[array.dtype]) for array in arrays]
        with self.device, self.device.quiet():
            status = self.library.ncclGroupStart()
            for at, count, type_ in targets:
                if status in (SUCCESS, IN_PROGRESS):
                    status = self.library.ncclAllReduce(at, at, count, type_, SUM, self.handle, stream)
            ended = self.library.ncclGroupEnd()
            self.done("ncclAllReduce", ended if status in (SUCCESS, IN_PROGRESS) else status, meanwhile)

    def abort(self) -> None:
        """Ends it, here, whatever is under way."""
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle:
            with suppress(DeviceError), self.device, context.exclusive:
                self.library.ncclCommAbort(handle)
