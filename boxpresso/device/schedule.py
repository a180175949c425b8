"""How many workers a launch on the CPU gets: one, or all, whichever was faster for launches of about its size."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

WAKE = 50_000  # nanoseconds until a sleeping worker is at work, about
BYTES = 3  # that one worker gets through in a nanosecond, about: the guess for a launch of a size not seen yet
SHARE = 0.03  # of the time, which tries by all workers may cost where one is faster
LONGEST = 256  # launches by one worker until all are tried again
# At each launch by all workers of what waits while it runs, whose time on the processor tells nothing of what one would need.
SLOW_FADE = 0.998
# Nanoseconds, guessed, up to which the first launch of what waits is by one worker, to know its time.
SHORT = 10_000_000
LONG = 1_000_000  # nanoseconds from which on a launch can be interrupted


def interruptible() -> bool:
    """Whether SIGINT would raise KeyboardInterrupt here: in the main thread, where nobody else handles it."""
    main = threading.current_thread() is threading.main_thread()
    return main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@dataclass
class Times:
    """Nanoseconds that launches of about one size took."""

    alone: float  # by one worker
    together: float  # by all, the last time
    lost: float = 0.0  # by the last launch by all, where it was slower and those before were not
    left: float = LONGEST  # launches by one worker, until all are tried
    measured: bool = False  # whether `alone` was: of small work most of a worker's part is to begin and to end it


class Schedule:
    """Remembers how long launches took, by one worker and by all, for each kernel and order of magnitude of its size.

    To wake sleeping workers takes longer than small work does, and so does all while other programs use the machine. A launch
    by all that was slower may have been the one after a pause, which found them asleep, or the only one that was disturbed: all
    are tried again at once. Where they are slower twice, one worker goes on until what both lost is but SHARE of the time.
    Results do not depend on the number of workers.
    """

    def __init__(self, waits: bool = False) -> None:
        """waits: whether workers wait for each other while a launch runs."""
        self.waits = waits
        self.always_all = False  # whether all work at anything, however small
        self.took: dict[Hashable, Times] = {}

    def run(
        self, kernel: Hashable, workers: int, n: int, size: int, call: Callable[..., int], args: Sequence[object]
    ) -> int:
        """Runs call(count, *args), with one worker or `workers`, and remembers how long it took; -count: it may be interrupted.

        The launch is of n items, and its arrays have `size` bytes. Returns what `call` does.
        """
        key = kernel, n.bit_length(), size.bit_length()
        known = self.took.get(key)
        times = known or self.took.setdefault(key, Times(size / BYTES, WAKE + size / BYTES / workers))
        guard = -1 if (known is None or min(times.alone, times.together) > LONG) and interruptible() else 1
        tells = known is None and self.waits and times.alone < SHORT  # the next is by all
        by_all = (times.together < times.alone and not tells) or times.left <= 0
        if workers == 1 or not (self.always_all or by_all):
            start = time.perf_counter_ns()
            result = call(guard, *args)
            times.alone, times.left = time.perf_counter_ns() - start, 0 if tells else times.left - 1
            times.measured = True
            return result
        start, busy = time.perf_counter_ns(), time.thread_time_ns()
        result = call(guard * workers, *args)
        lapse, alone = time.perf_counter_ns() - start, (time.thread_time_ns() - busy) * workers
        if self.waits:
            times.alone, times.together = SLOW_FADE * times.alone if known else 2 * lapse, lapse
        else:  # the first launch may find its memory cold
            least = min(alone, times.alone) if times.measured else alone
            times.alone, times.together = least, lapse if known else WAKE + alone / workers
        slower = times.together - times.alone
        if slower < 0:
            times.lost = 0.0
        elif not times.lost:
            times.lost, times.left = max(slower, 1.0), 0
        else:
            times.left, times.lost = min((times.lost + slower) / (SHARE * max(times.alone, 1.0)), LONGEST), 0.0
        return result
