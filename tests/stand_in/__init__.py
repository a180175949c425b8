"""The stand-in for NVIDIA's driver (driver.cpp), seen from the tests: is it loaded, and what has it counted?"""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import sys

NAMES = (
    "launches", "to_device", "to_device_bytes", "to_host", "to_host_bytes", "on_device", "cleared", "allocated",
    "freed", "held", "pinned", "streams", "modules", "faults", "one_thread",
    "waits", "captures", "graphs", "replays", "library_calls", "handles", "descriptors", "sums",
    "pageable_bytes",
)  # fmt: skip


@functools.cache
def library() -> ctypes.CDLL | None:
    """The preloaded library, or None where the process has the real driver or none."""
    if sys.platform == "win32":  # nothing is preloaded there
        return None
    this = ctypes.CDLL(None)
    if not hasattr(this, "stand_in_counts"):
        return None
    assert this.stand_in_count_number() == len(NAMES)
    return this


def active() -> bool:
    return library() is not None


def exact() -> bool:
    """Whether kernels are the host compiler's, with its functions and its order of rounding, and not nvcc's."""
    return active() and "STAND_IN_NVCC" not in os.environ


def counts() -> dict[str, int]:
    """What this process has done so far: calls and bytes of copies, bytes held now, and so on. What earlier tests left behind in
    circles of references is collected first, so that none of it ends between two counts."""
    gc.collect()
    return _counted()


def _counted() -> dict[str, int]:
    values = (ctypes.c_ulonglong * len(NAMES))()
    library().stand_in_counts(values)
    return dict(zip(NAMES, values, strict=True))


def since(before: dict[str, int]) -> dict[str, int]:
    """How much each count has grown."""
    return {name: value - before[name] for name, value in _counted().items()}


def set_memory(size: int) -> None:
    """How many bytes each of its GPUs has."""
    library().stand_in_memory(ctypes.c_size_t(size))


def null_launches(on: bool) -> None:
    """Whether kernels, libraries and graphs are checked and counted, but not run: for what the host's part costs."""
    library().stand_in_null_launches(int(on))


def cudnn(math: int = -1, refused: int = -1, status: int = 3000) -> None:
    """What cuDNN is to do that its manual allows: say that all its algorithms are of this cudnnMathType_t; refuse this
    algorithm when it runs, though it is listed, with this status."""
    library().stand_in_cudnn(math, refused, status)


def no_handles(status: int = 0) -> None:
    """With what cuBLAS and cuDNN refuse to make a handle, as on a GPU that they are not for; 0: they do not."""
    library().stand_in_create(status)


def lose(error: int = 0, index: int = 0) -> None:
    """The CUresult that all calls of a GPU give from now on, as after a kernel that used a wrong address; 0: none."""
    library().stand_in_lose(index, error)


def layout_times(first: float = 0.010, last: float = 0.020) -> None:
    """How many milliseconds a call of cuDNN takes by events, on arrays whose channels are first, and last."""
    library().stand_in_layout_times(ctypes.c_double(first), ctypes.c_double(last))


def profile(path: str) -> None:
    """Writes what kernels have done since the last time, where STAND_IN_PROFILE has had them count (benchmarks/warps.py)."""
    library().stand_in_profile(path.encode())
