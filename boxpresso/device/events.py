"""How long work takes on a GPU: events of its stream around replays of a graph, so that the host's part does not count."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from ..proto.errors import BoxpressoError
from .cuda import Cuda, driver
from .graph import CapturedGraph

WARM = 2  # replays that are not timed


def median_ms(device: Cuda, work: Callable[[], object], turns: int = 5) -> float:
    """The median of some runs, in milliseconds, by events of the device's stream.

    Parameters
    ----------
    device
        Whose stream it is launched in.
    work
        Launches kernels and library calls. It runs once by itself, which loads kernels and takes memory, and then as a graph;
        what cannot be captured is launched anew in each turn.
    turns
        How many runs are timed.
    """
    cuda = driver()
    work()
    run: Callable[[], object] = work
    with suppress(BoxpressoError, cuda.Error):
        run = CapturedGraph(device, cast(Any, work)).launch
    for _ in range(WARM):
        run()
    pairs = []
    with device:
        for _ in range(turns):
            start, end = cuda.Event(), cuda.Event()
            start.record(device.stream)
            run()
            end.record(device.stream)
            pairs.append((start, end))
        device.synchronize()
        median = float(statistics.median(start.time_till(end) for start, end in pairs))
        del start, end, pairs  # PyCUDA ends events where the context is current
        return median
