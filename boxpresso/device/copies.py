"""Copies between the host and a GPU, through page-locked memory; small ones to the host by the driver's own staging.

An asynchronous copy from other memory may be read late, where a GPU reads the host's pages itself: its source may not change
then. So what is copied to a GPU lies in page-locked memory that nobody else writes to until the copy is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from .context import Entered, driver
from .records import Checks

SMALL = 2**16  # bytes up to which a copy is not cut, nor one to the GPU waited for
UPLOADS = 64  # small copies to the GPU that may be under way in a stream
CHUNK = 2**22  # bytes of page-locked memory that a part of a larger copy goes through


class Copies(Entered):
    """A GPU with a stream, and the page-locked memory that copies go through: what Cuda has of them."""

    name: str
    pinned: Any  # PyCUDA's PageLockedMemoryPool
    held: dict[str, Any]  # "uploads": the small copies to the GPU under way, each an event behind it and its memory
    checks: Checks

    @property
    def stream(self) -> Any:
        """PyCUDA's Stream."""
        raise NotImplementedError

    def needs_host(self, reason: str) -> None:
        """Notes a copy."""
        raise NotImplementedError

    def quiet(self) -> AbstractContextManager[object]:
        """Inside no other thread captures the stream."""
        raise NotImplementedError

    def to_device(self, host: np.ndarray[Any, Any], memory: Any) -> None:
        """Copies to the GPU; the host's array may be written to again at once."""
        self.needs_host("a copy to the GPU")
        with self, self.quiet():
            bytes_ = host.reshape(-1).view(np.uint8)
            if bytes_.size <= SMALL:
                self.upload(bytes_, memory)
                return
            for part, start, event in self.staged(bytes_.size):
                part[...] = bytes_[start : start + part.size]
                driver().memcpy_htod_async(int(memory) + start, part, self.stream)
                event.record(self.stream)
            del event  # PyCUDA ends events where the context is current, in other threads too

    def upload(self, bytes_: np.ndarray[Any, Any], memory: Any) -> None:
        """Copies a little to the GPU, behind the caller's back."""
        uploads: deque[tuple[Any, Any]] = self.held["uploads"]
        drop_done(uploads, UPLOADS - 1)
        if bytes_.size == 0:
            return
        part = self.pinned.allocate((bytes_.size,), np.uint8)
        part[...] = bytes_
        driver().memcpy_htod_async(int(memory), part, self.stream)
        event = driver().Event(driver().event_flags.DISABLE_TIMING)
        event.record(self.stream)
        uploads.append((event, part))
        del event, part

    def to_host(self, memory: Any, host: np.ndarray[Any, Any]) -> None:
        """Copies from the GPU, after all that was launched before."""
        self.needs_host("a copy from the GPU")
        with self, self.quiet():
            if host.nbytes <= SMALL:
                driver().memcpy_dtoh_async(host, int(memory), self.stream)
                self.stream.synchronize()
                self.checks.raise_failed()
                return
            bytes_ = host.reshape(-1).view(np.uint8)
            pending: list[tuple[Any, int, Any]] = []
            for part, start, event in self.staged(bytes_.size):
                driver().memcpy_dtoh_async(part, int(memory) + start, self.stream)
                event.record(self.stream)
                pending.append((part, start, event))
                if len(pending) == 2:
                    self.unstage(bytes_, *pending.pop(0))
            while pending:
                self.unstage(bytes_, *pending.pop(0))
            del event
        self.checks.raise_failed()

    @staticmethod
    def unstage(target: np.ndarray[Any, Any], part: Any, start: int, event: Any) -> None:
        """Takes a part that has been copied to the host out of page-locked memory."""
        event.synchronize()
        target[start : start + part.size] = part

    def staged(self, size: int) -> Iterator[tuple[Any, int, Any]]:
        """Page-locked memory for each part of a copy in turn: (the memory, the part's first byte, an event to record behind its
        copy). There are two of them: while one is copied, the caller works on the other. In the end all are waited for."""
        cuda = driver()
        try:
            memory = [self.pinned.allocate((min(size, CHUNK),), np.uint8) for _ in range(1 if size <= CHUNK else 2)]
        except cuda.MemoryError as error:
            raise DeviceError(
                f"{self.name}: the host has no {CHUNK / 2**20:.0f} MiB of page-locked memory left"
            ) from error
        events = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in memory]
        try:
            for i, start in enumerate(range(0, size, CHUNK)):
                event = events[i % len(events)]
                if i >= len(events):
                    event.synchronize()
                yield memory[i % len(memory)][: min(CHUNK, size - start)], start, event
        finally:
            self.stream.synchronize()


def drop_done(uploads: deque[tuple[Any, Any]], most: int) -> None:
    """Gives back the page-locked memory of copies that are done, and waits for the oldest where more than `most` are not."""
    while uploads:
        try:
            event, part = uploads.popleft()
        except IndexError:  # another thread has taken the last
            return
        if len(uploads) >= most:
            event.synchronize()
        elif not event.query():
            uploads.appendleft((event, part))
            return
