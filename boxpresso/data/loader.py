"""Batches loaded ahead of time: a batch depends on the seed and its number alone, bitwise identical for any workers."""

from __future__ import annotations

import os
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoWarning
from .errors import BrokenRecord, DataError
from .workers import Here, Processes, Threads

Sample = Any  # what `load` returns for one record


class RecordSource:
    """Where the samples of batches come from: records by number. Worker processes get it pickled."""

    def load(self, index: int, rng: np.random.Generator) -> Sample:
        """The sample of a record. Raises BrokenRecord where it cannot be read. rng: of the seed and the record's place."""
        raise NotImplementedError

    def collate(self, samples: Sequence[Sample]) -> list[np.ndarray]:
        """The arrays of a batch."""
        raise NotImplementedError

    def name(self, index: int) -> str:
        """What to call a record in a message."""
        return f"record {index}"


@lru_cache(8)
def permutation(seed: int, turn: int, count: int) -> np.ndarray:
    return np.random.default_rng([seed, 1, turn]).permutation(count)


class Order:
    """Which record comes at place 0, 1, 2 ..: endlessly in order, or shuffled anew in each round."""

    def __init__(self, count: int, shuffle: bool, seed: int, skip: int = 0) -> None:
        self.count, self.shuffle, self.seed, self.skip = count, shuffle, seed, skip

    def __getitem__(self, place: int) -> int:
        turn, at = divmod(place + self.skip, self.count)
        return int(permutation(self.seed, turn, self.count)[at]) if self.shuffle else at


class Maker:
    """Loads the batch of a number. A record that cannot be read is an error, or the next one takes its place."""

    def __init__(self, source: RecordSource, order: Order, batch: int, seed: int, refuse: bool) -> None:
        self.source, self.order, self.batch, self.seed, self.refuse = source, order, batch, seed, refuse
        self.share = (0, 1)  # this rank, and how many ranks: each takes its own part of a larger batch

    def __call__(
        self, number: int, at_hand: Callable[[int], None] = lambda index: None
    ) -> tuple[list[np.ndarray], dict[int, str]]:
        """The arrays, and {record skipped: why}. at_hand: called with each record before it is read."""
        rank, ranks = self.share
        start = (number * ranks + rank) * self.batch
        broken: dict[int, str] = {}
        samples = [self.sample(place, broken, at_hand) for place in range(start, start + self.batch)]
        return self.source.collate(samples), broken

    def sample(self, place: int, broken: dict[int, str], at_hand: Callable[[int], None]) -> Sample:
        record = self.order[place]
        for step in range(self.order.count):
            index = (record + step) % self.order.count
            at_hand(index)
            try:
                return self.source.load(index, np.random.default_rng([self.seed, 0, place]))
            except BrokenRecord as error:
                if self.refuse:
                    raise
                broken[index] = str(error)
            except DataError as error:
                raise DataError(f"{self.source.name(index)}: {error}") from error
            except Exception as error:
                raise DataError(f"{self.source.name(index)}: {type(error).__name__}: {error}") from error
        raise DataError(
            f"none of the {self.order.count} records can be read; the last one: {list(broken.values())[-1]}"
        )


KINDS = ("auto", "threads", "processes")
HEAVY = 0.02  # seconds of a core for a batch, from which on "auto" takes processes: threads would keep the net from its Python


def chosen(workers: int | str) -> tuple[str, int | None]:
    """Kind and number of workers: of "processes:2", "threads", "auto" or 4; 0 is none. BOXPRESSO_WORKERS goes before it."""
    kind, count = "auto", None
    for setting in (str(workers), os.environ.get("BOXPRESSO_WORKERS", "")):
        for word in filter(None, setting.split(":")):
            if word in KINDS:
                kind = word
            elif word.isdecimal():
                count = int(word)
            else:
                raise DataError(
                    f"workers (and BOXPRESSO_WORKERS) must be like processes:2, threads, auto or 4, got {setting!r}"
                )
    return kind, count


def cores() -> int:
    """The number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Loader:
    """`next()` gives one batch after another, loaded `ahead` of time; workers change the speed alone, not a bit of a batch.

    workers: as `chosen` reads them. "auto" loads the first two batches in this thread and measures them: cheap batches are
    then loaded by threads, others by processes. refuse: whether a record that cannot be read is an error; otherwise the
    one after it takes its place, it is counted in `broken` (number: what was wrong) and named in one warning. `batch` is the
    number of the next batch and may be set, to resume. `waited` is the share of the time since the first batch that `next`
    has spent waiting.
    """

    def __init__(
        self, source: RecordSource, order: Order, batch: int, *, seed: int, ahead: int = 4, workers: int | str = "auto",
        refuse: bool = True,
    ) -> None:  # fmt: skip
        self.maker = Maker(source, order, batch, seed, refuse)
        self.kind, self.count = chosen(workers)
        self.ahead = max(ahead, 1)
        self.broken: dict[int, str] = {}
        self.waiting, self._started = 0.0, 0.0
        self._costs: list[float] = []  # seconds of a core for the batches that "auto" looks at
        self._number = self._asked = 0  # of the next batch that is given, and of the next one that is asked for
        self._pool: Here | Threads | Processes | None = None
        self._end: Any = None

    @property
    def batch(self) -> int:
        return self._number

    @batch.setter
    def batch(self, number: int) -> None:
        self.close()
        self._number = number

    def set_share(self, rank: int, ranks: int) -> None:
        """From the next batch on, this is one of several ranks, each of which loads its own part of a common batch."""
        self.close()
        self.maker.share = (rank, ranks)

    def set_workers(self, workers: int | str) -> None:
        """Changes kind and number of workers from the next batch on; batches stay the same."""
        self.close()
        self.kind, self.count = chosen(workers)

    def set_refuse(self, refuse: bool) -> None:
        """Whether, from the next batch on, a record that cannot be read is an error."""
        self.close()
        self.maker.refuse = refuse

    @property
    def waited(self) -> float:
        lapse = time.perf_counter() - self._started
        return self.waiting / lapse if self._started and lapse > 0 else 0.0

    def next(self) -> list[np.ndarray]:
        """The arrays of the next batch. The next call may overwrite them."""
        begin, used = time.perf_counter(), time.thread_time()
        self._started = self._started or begin
        try:
            arrays, broken = self._ahead().give()
            self._number += 1
            if self.kind == "auto":
                self._costs.append(time.thread_time() - used)
            if self.kind == "auto" and len(self._costs) == 2:  # the first one also loads code
                heavy = min(self._costs) > HEAVY and portable(self.maker.source)
                self.close()
                self.kind = "processes" if heavy else "threads"
            self._ahead()
        except BaseException:  # an interrupt, too, may leave a batch half received
            self.close()
            raise
        self.waiting += time.perf_counter() - begin
        for index, reason in broken.items():
            if index not in self.broken:
                self.broken[index] = reason
                warnings.warn(f"skipped {reason} ({len(self.broken)} skipped so far)", BoxpressoWarning, stacklevel=3)
        return arrays

    def _ahead(self) -> Here | Threads | Processes:
        """The workers, after asking them for all batches that they may load by now."""
        if self._pool is None:
            self._asked = self._number
            self._pool = self._workers()
            self._end = weakref.finalize(self, self._pool.close)
        while self._asked < self._number + self._pool.ahead:
            self._pool.ask(self._asked)
            self._asked += 1
        return self._pool

    def _workers(self) -> Here | Threads | Processes:
        if self.count == 0 or self.kind == "auto":
            return Here(self.maker)
        if self.kind == "threads":
            return Threads(self.maker, self.count or 2, self.ahead)
        return Processes(self.maker, self.count or min(max(cores() // 2, 2), 8), self.ahead, self.maker.source.name)

    def close(self) -> None:
        """Ends the workers; the next batch that is asked for starts new ones."""
        if self._end is not None:
            self._end()
        self._pool = self._end = None


def portable(source: RecordSource) -> bool:
    """Whether worker processes could load it: not from a program's main file, which they do not import."""
    return type(source).__module__ != "__main__" and os.name == "posix" and bool(sys.executable)
