"""What a training shows while it runs: a line of progress in the log, its numbers for others, and a bar by `rich`."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

from ..layers.data.batches import BatchLayer
from ..proto.errors import BoxpressoError
from .curves import Curves, Points, Reader
from .log import glog_line
from .rows import CsvFile, Rows, Sink, beside
from .solver import Solver

LONGEST, SHORTEST = 40, 8  # of the bar, in columns


class Watch:
    """Reads the log of a Solver as it is written: it takes the place of `solver.log`.

    After the lines of each display it adds one of its own, with images a second, the time left and the last score:

        Progress: 100 of 2800 iterations, 45.3 images/s, 0:12:30 left, mAP 0.8123 at 50

    Parameters
    ----------
    solver
        The Solver; on ranks other than the first nothing is done.
    path
        A file for the log, too.
    again
        Whether the file is continued, not written anew.
    sinks
        Where the numbers go as rows, beside PATH.csv where there is a path; see `train.rows`.

    Attributes
    ----------
    curves
        The numbers so far; take `lock` to read them in another thread.
    lines
        The last lines of the log.

    Raises
    ------
    BoxpressoError
        Where the file cannot be written.
    """

    def __init__(
        self, solver: Solver, path: str | None = None, again: bool = False, sinks: Sequence[Sink] = ()
    ) -> None:
        self.solver, self.first, self.plain = solver, solver.ranks.rank == 0, solver.log
        self.reader, self.lock, self.lines = Reader(), threading.Lock(), deque[str](maxlen=200)
        self.total, self.images = solver.param.max_iter, images_each(solver)
        self.name = "mAP" if solver.param.eval_type == "detection" else ""
        self.started: tuple[int, float] | None = None  # iteration and time of the first display
        self.writing, self.waiting = False, deque[str]()  # lines that are to be written by who writes now
        self.file = None
        self.rows = Rows(sinks)
        if not self.first:
            return
        if path:
            try:
                self.file = open(path, "a" if again else "w", encoding="utf-8")  # noqa: SIM115  (for the whole training)
            except OSError as error:
                raise BoxpressoError(f"cannot write the log {path}: {error.strerror or error}") from error
            try:
                self.rows.sinks.append(CsvFile(beside(path), again))
            except BoxpressoError:
                self.file.close()
                raise
        solver.log = self

    def __call__(self, line: str) -> None:
        """Takes a line of the log."""
        self.write(line)
        if ", lr = " in line and (said := self.progress()):
            self.write(said)

    def write(self, line: str) -> None:
        """Passes a line on: to standard error, the file, and the curves.

        A line of a signal's handler, which may come while another is written, is written behind that.
        """
        self.waiting.append(line)
        if self.writing:
            return
        self.writing = True
        try:
            while self.waiting:
                self.write_now(self.waiting.popleft())
        finally:
            self.writing = False

    def write_now(self, line: str) -> None:
        self.plain(line)
        with self.lock:
            number = self.reader.feed(line)
            self.lines.append(glog_line(line))
        if number is not None:
            self.rows.add(*number)
        if self.file is not None:
            try:
                print(self.lines[-1], file=self.file, flush=True)
            except OSError as error:  # a full disk ends the file, not the training
                with suppress(OSError):
                    self.file.close()
                self.file = None
                print(f"boxpresso: warning: the log file ends here: {error.strerror or error}", file=sys.stderr)

    @property
    def curves(self) -> Curves:
        return self.reader.curves

    def progress(self) -> str:
        """The line of progress; nothing at the first display."""
        at, now = self.solver.iter, time.perf_counter()
        if self.started is None or at <= self.started[0]:
            self.started = at, now
            return ""
        return ", ".join(
            [f"Progress: {at} of {self.total} iterations", *self.speed(), left(self.seconds_left()), *self.score()]
        )

    def speed(self) -> list[str]:
        """Images a second since the display before, where it is known."""
        speeds = self.curves.speed
        return [f"{speeds[-1][1] * self.images:.4g} images/s"] if speeds and speeds[-1][1] else []

    def seconds_left(self) -> float | None:
        """The time left by that since the first display, tests and snapshots included; None before it is known."""
        if self.started is None or self.solver.iter <= self.started[0]:
            return None
        seconds = (time.perf_counter() - self.started[1]) / (self.solver.iter - self.started[0])
        return float(seconds * max(0, self.total - self.solver.iter))  # a script may go on beyond max_iter

    def score(self) -> list[str]:
        """The last score of the tests, and the best where that is another."""
        name, points = self.score_points()
        if not points:
            return []
        (at, last), (top, best) = points[-1], max(points, key=lambda point: point[1])
        better = f" (best {best:.4g} at {top})" if best > last else ""
        return [f"{name} {last:.4g} at {at}{better}"]

    def score_points(self) -> tuple[str, Points]:
        """The name and the points of the first score: the mean average precision of a detector, or another output."""
        for name, points in self.curves.scores.items():
            return self.name or name, points
        return "", []

    def close(self) -> None:
        """Ends the file and gives the solver its own log back."""
        while self.waiting:
            self.write_now(self.waiting.popleft())
        if self.first:
            self.solver.log = self.plain
            self.rows.close()
        if self.file is not None:
            self.file.close()


def images_each(solver: Solver) -> int:
    """How many images an iteration takes, over all ranks."""
    batch = next((b.shape[0] for b in solver.net.blobs.values() if b.shape), 1)
    return int(solver.ranks.size * solver.param.iter_size * batch)


@contextmanager
def progress(solver: Solver, watch: Watch | None = None) -> Iterator[None]:
    """Shows a bar below the log, where standard error is a terminal and `rich` is installed.

    It has the count, the time left, the loss, the last score of the tests, images a second, the learning rate and the share of
    time spent waiting for data; on a narrow terminal the last of these are left out. Lines of the log are not wrapped.

    Parameters
    ----------
    solver
        The Solver that trains inside the block.
    watch
        What reads its log, for the score.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress, Task
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        yield
        return
    console = Console(stderr=True, soft_wrap=True)  # the log is printed through it
    if solver.ranks.rank or not console.is_terminal:
        yield
        return
    images = images_each(solver)
    data = [layer for layer in solver.net.layers if isinstance(layer, BatchLayer)]

    def status(task: Task) -> list[str]:
        """What is shown, the most important first."""
        parts = [f"{task.completed:.0f}/{total}", left(task.time_remaining), f"loss {solver.smoothed_loss:.4g}"]
        name, points = watch.score_points() if watch else ("", [])
        parts += [f"{name} {points[-1][1]:.3g}"] if points else []
        parts += [f"{(task.speed or 0) * images:.0f} images/s", f"lr {solver.rate:.3g}"]
        return [*parts, f"{sum(layer.waited for layer in data):.1%} waiting"] if data else parts

    class Bar(Progress):
        def get_renderable(self) -> Table:
            row = Table.grid()
            for task in self.tasks:
                text, width = fit(status(task), console.width - 1)  # a terminal may wrap after its last column
                shown = [ProgressBar(total=total, completed=task.completed, width=width)] if width else []
                row.add_row(*shown, Text(text))  # a name may look like rich's markup
            return row

    total = solver.param.max_iter
    bar = Bar(console=console, transient=True)
    with bar:
        task = bar.add_task("", total=total)
        solver.add_callback(on_gradients=lambda: bar.update(task, completed=solver.iter + 1))
        yield


def left(seconds: float | None) -> str:
    """The time that is left, as hours, minutes and seconds.

    >>> left(75), left(None)
    ('0:01:15 left', '-:--:-- left')
    """
    return f"{'-:--:--' if seconds is None else timedelta(seconds=int(seconds))} left"


def fit(parts: Sequence[str], width: int) -> tuple[str, int]:
    """As many of the parts as go into a line of `width` columns, and how wide a bar before them may be; 0 is none.

    >>> fit(["12/5000", "0:01:15 left", "loss 0.5"], 40)
    ('  12/5000  0:01:15 left  loss 0.5', 0)
    >>> fit(["12/5000", "0:01:15 left", "loss 0.5"], 60)
    ('  12/5000  0:01:15 left  loss 0.5', 27)
    """
    text = ""
    for number, part in enumerate(parts):
        if number and len(text) + 2 + len(part) > width:
            break
        text += f"  {part}"
    room = width - len(text)
    return text, min(LONGEST, room) if room >= SHORTEST else 0
