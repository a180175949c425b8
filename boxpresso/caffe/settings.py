"""What pycaffe sets for the whole process: CPU or GPU, the device, the random seed, logging; and its timer."""

from __future__ import annotations

import itertools
import os
import time
import warnings

import numpy as np

from ..device import devices
from ..layers.core.catalogue import layer_types
from ..proto.errors import BoxpressoError, BoxpressoWarning
from ..train.log import glog

QUIET = "GLOG_minloglevel"  # Caffe's environment variable


class _State:
    """The settings that later nets take."""

    def __init__(self) -> None:
        self.gpu = False
        self.index = 0
        self.seeds: itertools.count[int] | None = None
        self.seed = 0
        self.level = 0
        self.solvers, self.rank, self.multiprocess = 1, 0, False
        self.phase: int | None = None  # of nets that do not say it; None: they have to


_state = _State()


def set_mode_cpu() -> None:
    """Nets that are made from now on run on the CPU, as they do without it."""
    _state.gpu = False


def set_mode_gpu() -> None:
    """Nets that are made from now on run on a GPU; where none answers they run on the CPU, and a warning says so."""
    _state.gpu = True
    if len(devices()) == 1 and not os.environ.get("BOXPRESSO_DEVICE"):
        warnings.warn(
            "set_mode_gpu: no GPU answers, so nets run on the CPU; `boxpresso device_query` says what is missing",
            BoxpressoWarning,
            stacklevel=2,
        )


def set_phase_test() -> None:
    """Nets that are made from now on without a phase are for TEST: pycaffe of 2014 had the phase here."""
    _state.phase = 1


def set_phase_train() -> None:
    """Nets that are made from now on without a phase are for TRAIN."""
    _state.phase = 0


def phase() -> int | None:
    """Of a net that does not say it; None where it has to."""
    return _state.phase


def set_device(index: int) -> None:
    """Chooses the GPU that nets in GPU mode take."""
    _state.index = int(index)


def device_name() -> str:
    """The device of a new net: $BOXPRESSO_DEVICE where it is set, else what the mode says."""
    if chosen := os.environ.get("BOXPRESSO_DEVICE"):
        return chosen
    if not _state.gpu or len(devices()) == 1:
        return "cpu"
    return f"cuda:{_state.index}"


def set_random_seed(seed: int) -> None:
    """Nets and solvers that are made from now on draw the same random numbers on every run."""
    _state.seed, _state.seeds = int(seed), itertools.count()


def next_seed() -> int | None:
    """The seed of a new net: another one for each, all following from set_random_seed; None without it."""
    if _state.seeds is None:
        return None
    return int(np.random.SeedSequence([_state.seed, next(_state.seeds)]).generate_state(1)[0]) & 0x7FFFFFFF


def init_log(level: int = 0, stderr: bool = False) -> None:
    """Sets from which level on lines are logged: 0 information, 1 warnings, 2 errors, 3 none.

    Lines always go to standard error, so the second argument changes nothing.
    """
    _state.level = int(level)


def log(text: str) -> None:
    """Logs a line in Caffe's form, at the level of information."""
    if max(_state.level, int(os.environ.get(QUIET) or 0)) < 1:
        glog(text)


def layer_type_list() -> list[str]:
    """The names of all layer types, sorted."""
    return sorted(name for cls in layer_types() for name in cls.types)


def solver_count() -> int:
    """How many solvers train together, as set_solver_count was told."""
    return _state.solvers


def set_solver_count(count: int) -> None:
    """Is noted for solver_count; several GPUs train with `mpirun -n N boxpresso train`."""
    _state.solvers = int(count)


def solver_rank() -> int:
    """The number of this solver, as set_solver_rank was told."""
    return _state.rank


def set_solver_rank(rank: int) -> None:
    """Is noted for solver_rank."""
    _state.rank = int(rank)


def set_multiprocess(multiprocess: bool) -> None:
    """Is noted and has no effect: each process has one solver."""
    _state.multiprocess = bool(multiprocess)


def has_nccl() -> bool:
    """False: several GPUs train through MPI, not NCCL."""
    return False


class NCCL:
    """Not available (see has_nccl): making one says what to use instead."""

    def __init__(self, *_: object) -> None:
        raise BoxpressoError(
            "NCCL: Boxpresso has no NCCL; several GPUs train with `mpirun -n N boxpresso train --solver SOLVER`"
        )

    @staticmethod
    def new_uid() -> bytes:
        raise BoxpressoError(
            "NCCL: Boxpresso has no NCCL; several GPUs train with `mpirun -n N boxpresso train --solver SOLVER`"
        )


class Timer:
    """Measures the time between start and stop, in milliseconds.

    Examples
    --------
    >>> timer = Timer()
    >>> timer.start()
    >>> timer.stop()
    >>> timer.ms >= 0
    True
    """

    def __init__(self) -> None:
        self._begin = self._end = 0.0
        self._running = False

    def start(self) -> None:
        self._begin, self._running = time.perf_counter(), True

    def stop(self) -> None:
        if self._running:
            self._end, self._running = time.perf_counter(), False

    @property
    def ms(self) -> float:
        end = time.perf_counter() if self._running else self._end
        return (end - self._begin) * 1000
