"""The one thread that runs the nets: a Net holds one pass at a time."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ..device.host import STOP
from .options import Refusal


class Interrupted(BaseException):
    """Raised in the worker, in a job that nobody waits for any more. Not an Exception, which a layer might catch."""


class Job:
    """Some work, and what it will give."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.future: Future[Any] = Future()
        self.given_up = self.interrupted = False


class Worker:
    """Runs jobs one after the other in a thread of its own.

    Parameters
    ----------
    recover
        Called in the thread after a job that was interrupted, before the next.

    Examples
    --------
    >>> worker = Worker()
    >>> worker.submit(lambda: 6 * 7).future.result()
    42
    >>> worker.close()
    """

    def __init__(self, recover: Callable[[], None] | None = None) -> None:
        self.recover = recover
        self.jobs: queue.Queue[Job | None] = queue.Queue()
        self.lock = threading.Lock()
        self.current: Job | None = None
        self.closed = False
        self.thread = threading.Thread(target=self.loop, name="boxpresso serve", daemon=True)
        self.thread.start()

    def submit(self, work: Callable[[], Any]) -> Job:
        """Puts work at the end of the queue. Raises Refusal after `close`."""
        if self.closed:
            raise Refusal(503, "the server is shutting down")
        job = Job(work)
        self.jobs.put(job)
        return job

    def give_up(self, job: Job) -> None:
        """Nobody waits for a job any more: it is not begun, and where it runs it is interrupted.

        Kernels on the CPU end early, as for SIGINT; a kernel on a GPU ends by itself. Then the thread sees the exception.
        """
        with self.lock:
            job.given_up = True
            if self.current is job and not job.interrupted:
                job.interrupted = True
                raise_in(self.thread, Interrupted)
                STOP[0] = 1

    def close(self) -> None:
        """Gives up all jobs and ends the thread."""
        self.closed = True
        with self.lock:
            current = self.current
        waiting = [current] if current else []
        while True:
            try:
                job = self.jobs.get_nowait()
            except queue.Empty:
                break
            waiting += [job] if job else []
        for job in waiting:
            self.give_up(job)
            job.future.cancel()
        self.jobs.put(None)

    def loop(self) -> None:
        """Runs the jobs, until `close`."""
        while (job := self.jobs.get()) is not None:
            with self.lock:
                if job.given_up:
                    job.future.cancel()
                    continue
                self.current = job
            self.run(job)

    def run(self, job: Job) -> None:
        """Runs a job. An interrupt comes once at most, and only between the two places where `current` is set."""
        value, error, ended = None, None, False
        try:
            try:
                value = job.work()
            except Interrupted:
                raise
            except BaseException as caught:
                error = caught
            with self.lock:
                self.current = None
            if job.interrupted:
                raise_in(self.thread, None)  # it has not come yet, and must not strike the next job
            ended = not job.interrupted  # kernels that were stopped have left anything in the blobs
        except Interrupted:
            with self.lock:
                self.current = None
        if job.interrupted:
            STOP[0] = 0
            if self.recover is not None:
                self.recover()
        if not job.future.set_running_or_notify_cancel():
            return
        if not ended:
            job.future.set_exception(TimeoutError("the job was interrupted"))
        elif error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(value)


def raise_in(thread: threading.Thread, error: type[BaseException] | None) -> None:
    """Makes a thread raise an exception at its next line of Python; None takes back one that has not been raised yet."""
    value = ctypes.py_object(error) if error is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), value)
