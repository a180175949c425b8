"""The progress bar of a training, by `rich`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from ..layers.data.batches import BatchLayer
from .solver import Solver

LONGEST, SHORTEST = 40, 8  # of the bar, in columns


@contextmanager
def progress(solver: Solver) -> Iterator[None]:
    """Shows a bar below the log, where standard error is a terminal and `rich` is installed.

    It has the count, the time left, the loss, the rate, images a second and the share of time spent waiting for data; on a
    narrow terminal the last of these are left out. Lines of the log are not wrapped.

    Parameters
    ----------
    solver
        The Solver that trains inside the block.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress, Task
        from rich.progress_bar import ProgressBar
        from rich.table import Table
    except ImportError:
        yield
        return
    console = Console(stderr=True, soft_wrap=True)  # the log is printed through it
    if solver.ranks.rank or not console.is_terminal:
        yield
        return
    images = (
        solver.ranks.size * solver.param.iter_size * next((b.shape[0] for b in solver.net.blobs.values() if b.shape), 1)
    )
    data = [layer for layer in solver.net.layers if isinstance(layer, BatchLayer)]

    def status(task: Task) -> list[str]:
        """What is shown, the most important first."""
        parts = [f"{task.completed:.0f}/{total}", left(task.time_remaining), f"loss {solver.smoothed_loss:.4g}"]
        parts += [f"{(task.speed or 0) * images:.0f} images/s", f"rate {solver.rate:.3g}"]
        return [*parts, f"{sum(layer.waited for layer in data):.1%} waiting"] if data else parts

    class Bar(Progress):
        def get_renderable(self) -> Table:
            row = Table.grid()
            for task in self.tasks:
                text, width = fit(status(task), console.width - 1)  # a terminal may wrap after its last column
                shown = [ProgressBar(total=total, completed=task.completed, width=width)] if width else []
                row.add_row(*shown, text)
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
