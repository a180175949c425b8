"""Devices by name: "cpu", "cuda", "cuda:1"."""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Iterable

import numpy as np

from ..proto.errors import DeviceError
from .compiling import Progress
from .context import cuda_devices
from .cuda import Cuda
from .device import Device
from .functions import check_arithmetic
from .host import cpu, reproducible_cpu
from .signature import KernelFile

_lock = threading.Lock()


@functools.cache
def _cuda(index: int, deterministic: bool) -> Cuda:
    return Cuda(index, deterministic)


def open_device(name: str | None = None, *, deterministic: bool = False, reproducible: bool = False) -> Device:
    """The device of that name.

    Parameters
    ----------
    name
        "cpu", "cuda" or "cuda:N". None takes $BOXPRESSO_DEVICE, else the first GPU if one answers, else the CPU.
    deterministic
        Whether results on a GPU are bitwise identical on every run; on the CPU they always are.
    reproducible
        Whether results have the same bits on every CPU (docs/reproducible.md). No GPU does that: without a name it is the CPU.

    Raises
    ------
    DeviceError
        Says which part is missing: the name is unknown, or PyCUDA, the driver or the GPU is not there; or a GPU was to be
        reproducible, in a thread whose numbers are not rounded as always.

    Examples
    --------
    >>> from boxpresso.device import open_device
    >>> open_device("cpu").empty((2, 3), "float32").shape
    (2, 3)
    """
    if reproducible:
        check_arithmetic()
    if name == "cpu":  # asked for often
        with _lock:
            return reproducible_cpu() if reproducible else cpu()
    name = name or os.environ.get("BOXPRESSO_DEVICE") or ("cuda:0" if not reproducible and cuda_devices() else "cpu")
    match = re.fullmatch(r"cpu|cuda(?::(\d+))?", name)
    if match is None:
        raise DeviceError(f"unknown device {name!r}: it must be 'cpu', 'cuda' or 'cuda:N'")
    if reproducible and name != "cpu":
        raise DeviceError(
            f"reproducible: {name} is a GPU, whose sums and functions are not those of the CPUs (docs/reproducible.md); take "
            "device 'cpu', or deterministic=True for the same bits on one GPU"
        )
    with _lock:
        if reproducible:
            return reproducible_cpu()
        return cpu() if name == "cpu" else _cuda(int(match[1] or 0), deterministic)


def devices() -> list[str]:
    """The names of the devices that answer: "cpu", then "cuda:0" and on.

    Examples
    --------
    >>> from boxpresso import devices
    >>> devices()[0]
    'cpu'
    """
    return ["cpu", *(f"cuda:{i}" for i in range(len(cuda_devices())))]


def build_all(device: Device, files: Iterable[KernelFile], real: np.dtype) -> None:
    """Compiles files of kernels at once, and says on standard error how far it is.

    Raises
    ------
    DeviceError
        Where there is no compiler, or it cannot be run.
    KernelError
        For a file that does not compile.
    """
    wanted = [k for k in dict.fromkeys(files) if not (k.host_only and device.kind != "cpu")]
    try:
        missing = [k for k in wanted if not device.built(k, real)]
    except DeviceError as error:  # no compiler: the traceback ends here, not deep in the cache
        raise error.with_traceback(None) from None
    if not missing:
        return
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # slow to import

    progress = Progress(device.name, len(missing))
    with ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        running = {pool.submit(device.build, k, real) for k in missing}
        try:
            while running:
                done, running = wait(running, 0.5, return_when=FIRST_COMPLETED)
                progress.tell(progress.done + len(done))
                for each in done:
                    each.result()
        finally:
            for each in running:
                each.cancel()
            progress.end()
