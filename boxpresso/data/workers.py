"""The workers that load batches: this thread on demand, threads, or processes that hand batches over in shared memory.

All have `ask(number)`, `give()`, which waits for the oldest batch asked for, `close()`, and `ahead`, the number of batches that
they want to be asked for at a time.

A worker process is a new Python that is told what to load through a pipe. It is not forked, so that threads, OpenMP, CUDA and
MPI of this process cannot disturb it, and it does not import the program's main file, which needs no guard. Its batches
lie in memory without a name, which the system frees with the last process that holds it: nothing is left behind.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Pipe
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError
from .errors import DataError

Batch = tuple[list[np.ndarray], dict[int, str]]  # its arrays, and {record skipped: why}
Layout = list[tuple[tuple[int, ...], str, int]]  # shape, dtype and place of each array in a Slot
HEAD = 64  # bytes before the arrays of a Slot; the first 8 are the number of the record at hand


class Here:
    """Loads each batch in this thread when it is waited for."""

    ahead = 1

    def __init__(self, make: Callable[[int], Batch]) -> None:
        self.make, self.asked = make, deque[int]()

    def ask(self, number: int) -> None:
        self.asked.append(number)

    def give(self) -> Batch:
        return self.make(self.asked.popleft())

    def close(self) -> None:
        self.asked.clear()


class Threads:
    """Threads of this process; Pillow and numpy let them run side by side for most of the work."""

    def __init__(self, make: Callable[[int], Batch], count: int, ahead: int) -> None:
        self.ahead = max(ahead, count)
        self.make, self.pool = make, ThreadPoolExecutor(count, thread_name_prefix="boxpresso-data")
        self.asked: deque[Future[Batch]] = deque()

    def ask(self, number: int) -> None:
        self.asked.append(self.pool.submit(self.make, number))

    def give(self) -> Batch:
        return self.asked.popleft().result()

    def close(self) -> None:
        """The threads end once they have finished their current batches."""
        self.pool.shutdown(wait=False, cancel_futures=True)


class Slot:
    """Memory for one batch that processes share by its file descriptor. It has no name and grows as needed."""

    def __init__(self, fd: int | None = None) -> None:
        self.fd = nameless() if fd is None else fd
        self.map: Any = None
        self._reach(HEAD)

    def _reach(self, size: int) -> None:
        if os.fstat(self.fd).st_size < size:
            os.ftruncate(self.fd, size)
        if self.map is None or len(self.map) < size:
            self.map = mmap.mmap(self.fd, os.fstat(self.fd).st_size)

    @property
    def record(self) -> int:
        """The number of the record that a worker has at hand; -1 before the first."""
        return int(np.frombuffer(self.map, np.int64, 1)[0])

    @record.setter
    def record(self, index: int) -> None:
        np.frombuffer(self.map, np.int64, 1)[0] = index

    def put(self, arrays: Sequence[np.ndarray]) -> Layout:
        size, layout = HEAD, []
        for array in arrays:
            layout.append((array.shape, array.dtype.str, size))
            size += -(-array.nbytes // HEAD) * HEAD
        self._reach(size)
        for array, to in zip(arrays, self.arrays(layout)):
            to[...] = array
        return layout

    def arrays(self, layout: Layout) -> list[np.ndarray]:
        """What was put; views, which the next batch put here overwrites."""
        ends = [at + int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind, at in layout]
        self._reach(max(ends, default=HEAD))
        return [np.ndarray(shape, kind, self.map, at) for shape, kind, at in layout]


def nameless() -> int:
    """A descriptor of memory, or where the system has none of that kind, of a file that is deleted already."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("boxpresso-batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Worker:
    """One process. Raises DataError when it has died."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        if os.name != "posix" or not sys.executable:
            raise DataError("worker processes need a Unix system and a Python program; choose workers = 'threads:2'")
        self.pipe, there = Pipe()
        shared = [there.fileno(), *(slot.fd for slot in slots)]
        code = "import sys; sys.path[:] = sys.argv[2:]; from boxpresso.data.worker import main; main(sys.argv[1])"
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, ",".join(map(str, shared)), *(os.path.abspath(p) for p in sys.path)],
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL, pass_fds=shared, start_new_session=True,  # signals of the terminal are ours
            )  # fmt: skip
        finally:
            there.close()

    def send(self, message: Any) -> None:
        with suppress(OSError):  # it is dead: `receive` will tell
            self.pipe.send(message)

    def receive(self) -> Any:
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            raise self.dead() from None

    def dead(self) -> DataError:
        code = self.process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return DataError(f"worker process {self.process.pid} {how}{', perhaps for want of memory' * (code == -9)}")

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()  # it has nothing to save
        self.process.wait()


class Processes:
    """Processes that load batches in turn.

    make: gives a batch by its number; it is pickled. name: what to call a record in an error. The arrays that `give`
    returns are views of shared memory, which the batch `ahead` + 1 later will overwrite.
    """

    def __init__(self, make: Any, count: int, ahead: int, name: Callable[[int], str]) -> None:
        self.owner, self.name, self.ahead = os.getpid(), name, max(ahead, count)
        self.asked: deque[int] = deque()
        self.workers: list[Worker] = []
        self.slots: list[Slot] = []
        try:
            packed = pickle.dumps(make)
        except Exception as error:
            raise DataError(
                f"the source of the batches cannot be pickled for a process ({error}); choose workers = 'threads:2'"
            ) from error
        try:
            for _ in range(self.ahead + 1):
                self.slots.append(Slot())
            for _ in range(count):
                self.workers.append(Worker(self.slots))
            for worker in self.workers:
                worker.send((self.owner, packed))
        except BaseException:
            self.close()
            raise

    def ask(self, number: int) -> None:
        at = number % len(self.slots)
        self.slots[at].record = -1
        self.workers[number % len(self.workers)].send((number, at))
        self.asked.append(number)

    def give(self) -> Batch:
        number = self.asked.popleft()
        slot = self.slots[number % len(self.slots)]
        try:
            reply = self.workers[number % len(self.workers)].receive()
        except DataError as error:
            where = f", with {self.name(slot.record)} at hand" if slot.record >= 0 else ""
            raise DataError(f"{error} while it loaded batch {number}{where}") from None
        if isinstance(reply, BoxpressoError):
            raise reply
        layout, broken = reply
        return slot.arrays(layout), broken

    def close(self) -> None:
        """Ends the processes at once. In a fork of the process that started them it does nothing."""
        if os.getpid() != self.owner:
            return
        for worker in self.workers:
            worker.end()
        for slot in self.slots:
            os.close(slot.fd)
        self.workers.clear()
        self.slots.clear()
