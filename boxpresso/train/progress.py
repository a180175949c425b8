"""The progress bar of a training, by `rich`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..layers.data.batches import BatchLayer
from .solver import Solver


@contextmanager
def progress(solver: Solver) -> Iterator[None]:
    """Shows a bar below the log, where standard error is a terminal and `rich` is installed.

    It has the loss, the rate, images a second, the share of time spent waiting for data, and the time left.

    Parameters
    ----------
    solver
        The Solver that trains inside the block.
    """
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield
        return
    console = Console(stderr=True)
    if solver.ranks.rank or not console.is_terminal:
        yield
        return
    images = (
        solver.ranks.size * solver.param.iter_size * next((b.shape[0] for b in solver.net.blobs.values() if b.shape), 1)
    )
    data = [layer for layer in solver.net.layers if isinstance(layer, BatchLayer)]
    waiting = "  {task.fields[waiting]:.1%} waiting" if data else ""
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(
            "loss {task.fields[loss]:.4g}  rate {task.fields[rate]:.3g}  {task.fields[speed]:.0f} images/s" + waiting
        ),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=solver.param.max_iter, loss=0.0, rate=0.0, speed=0.0, waiting=0.0)

        def show() -> None:
            speed = (bar.tasks[task].speed or 0) * images
            bar.update(
                task, completed=solver.iter + 1, loss=solver.smoothed_loss, rate=solver.rate, speed=speed,
                waiting=sum(layer.waited for layer in data),
            )  # fmt: skip

        solver.add_callback(on_gradients=show)
        yield
