"""Batches that worker processes draw, a few ahead of the net that learns from them."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Generator
from itertools import count
from typing import TypeVar

T = TypeVar("T")


def ahead(draw: Callable[[int], T], workers: int = 2, depth: int = 8) -> Generator[T, None, None]:
    """draw(0), draw(1) and so on without end, in order; at most `depth` are waiting. With 0 workers they are drawn here."""
    if workers == 0:
        yield from map(draw, count())
        return
    with multiprocessing.get_context("spawn").Pool(
        workers
    ) as pool:  # a fork would not bear the threads of the net's device
        waiting = deque(pool.apply_async(draw, (number,)) for number in range(depth))
        for number in count(depth):
            yield waiting.popleft().get()
            waiting.append(pool.apply_async(draw, (number,)))
