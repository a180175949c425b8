"""Batches made ahead by worker threads: what a batch holds depends on the seed and its number alone, not on the workers."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ..proto.errors import BoxpressoError, BoxpressoWarning
from .errors import BrokenRecord, DataError

Sample = Any  # what `load` returns for one record
Load = Callable[[int, np.random.Generator], Sample]  # (number of the record, its own generator)
Collate = Callable[[Sequence[Sample]], list[np.ndarray]]


class Order:
    """Which record stands at which place of the endless row 0, 1, 2 ..: in turn, or shuffled anew for each round."""

    def __init__(self, count: int, shuffle: bool, seed: int, skip: int = 0) -> None:
        self.count, self.shuffle, self.seed, self.skip = count, shuffle, seed, skip
        self._rounds: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def __getitem__(self, place: int) -> int:
        turn, at = divmod(place + self.skip, self.count)
        if not self.shuffle:
            return at
        with self._lock:
            if turn not in self._rounds:
                for old in [t for t in self._rounds if t < turn - 1]:
                    del self._rounds[old]
                self._rounds[turn] = np.random.default_rng([self.seed, 1, turn]).permutation(self.count)
            return int(self._rounds[turn][at])


class Maker:
    """Makes the batch of a number. A record that cannot be read is an error, or its follower takes its place."""

    def __init__(
        self, load: Load, collate: Collate, order: Order, batch: int, seed: int, refuse: bool, name: Callable[[int], str]
    ) -> None:
        self.load, self.collate, self.order, self.name = load, collate, order, name
        self.batch, self.seed, self.refuse = batch, seed, refuse
        self.share = (0, 1)  # this rank, and how many ranks: each takes its own part of a larger batch

    def __call__(self, number: int) -> tuple[list[np.ndarray], dict[int, str]]:
        rank, ranks = self.share
        start = (number * ranks + rank) * self.batch
        broken: dict[int, str] = {}
        samples = [self.sample(place, broken) for place in range(start, start + self.batch)]
        return self.collate(samples), broken

    def sample(self, place: int, broken: dict[int, str]) -> Sample:
        record = self.order[place]
        for step in range(self.order.count):
            index = (record + step) % self.order.count
            try:
                return self.load(index, np.random.default_rng([self.seed, 0, place]))
            except BrokenRecord as error:
                if self.refuse:
                    raise
                broken[index] = str(error)
            except DataError as error:
                raise DataError(f"{self.name(index)}: {error}") from error
        raise DataError(f"none of the {self.order.count} records can be read; the last one: {list(broken.values())[-1]}")


class Loader:
    """`next()` gives one batch after another, made `ahead` of time by `workers` threads.

    load: gives the sample of a record from its number and a generator that depends on the seed and the record's place.
    collate: makes arrays of a batch's samples. name: what to call a record. refuse: whether a record that cannot be read is
    an error; otherwise the one after it takes its place, it is counted in `broken` (number: what was wrong) and named in one
    warning. `batch` is the number of the next batch and may be set, to resume. `waited` is the share of the time since the
    first batch that `next` has spent waiting.
    """

    def __init__(
        self, load: Load, collate: Collate, order: Order, batch: int, *, seed: int, ahead: int = 4, workers: int = 2,
        refuse: bool = True, name: Callable[[int], str] = "record {}".format,
    ) -> None:  # fmt: skip
        self.maker = Maker(load, collate, order, batch, seed, refuse, name)
        self.ahead, self.workers = max(ahead, 1), max(workers, 1)
        self.broken: dict[int, str] = {}
        self.waiting, self._started = 0.0, 0.0
        self._number = 0
        self._futures: deque[Future] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._end: Any = None

    @property
    def batch(self) -> int:
        return self._number

    @batch.setter
    def batch(self, number: int) -> None:
        self._forget()
        self._number = number

    def set_share(self, rank: int, ranks: int) -> None:
        """From the next batch on, this is one of several ranks, and takes every `ranks`-th part of their common batch."""
        self._forget()
        self.maker.share = (rank, ranks)

    def set_refuse(self, refuse: bool) -> None:
        """Whether, from the next batch on, a record that cannot be read is an error."""
        self._forget()
        self.maker.refuse = refuse

    @property
    def waited(self) -> float:
        lapse = time.perf_counter() - self._started
        return self.waiting / lapse if self._started and lapse > 0 else 0.0

    def next(self) -> list[np.ndarray]:
        begin = time.perf_counter()
        self._started = self._started or begin
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="boxpresso-data")
            self._end = weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)
        while len(self._futures) < self.ahead:
            self._futures.append(self._pool.submit(self.maker, self._number + len(self._futures)))
        future = self._futures.popleft()
        try:
            arrays, broken = future.result()
        except BoxpressoError:
            self._forget()
            raise
        self._number += 1
        self._futures.append(self._pool.submit(self.maker, self._number + len(self._futures)))
        self.waiting += time.perf_counter() - begin
        for index, what in broken.items():
            if index not in self.broken:
                self.broken[index] = what
                warnings.warn(f"skipped {what} ({len(self.broken)} skipped so far)", BoxpressoWarning, stacklevel=3)
        return arrays

    def _forget(self) -> None:
        for future in self._futures:
            future.cancel()
        self._futures.clear()

    def close(self) -> None:
        """Ends the threads once they have made what they are at."""
        self._forget()
        if self._end is not None:
            self._end()
        self._pool = self._end = None
