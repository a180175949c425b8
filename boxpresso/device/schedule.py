"""How many workers a launch on the CPU gets: one, or all, whichever was faster for launches of about its size."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Hashable, Sequence

WAKE = 50_000  # nanoseconds until a sleeping worker is at work, about
BYTES = 3  # that one worker gets through in a nanosecond, about: the guess for a launch of a size not seen yet
# At each launch by one worker the time that all took is remembered as this much less: the machine may have been busy then.
FADE = 0.95
# At each launch by all workers of what waits while it runs, whose time on the processor tells nothing of what one would need.
SLOW_FADE = 0.998
LONG = 1_000_000  # nanoseconds from which on a launch can be interrupted


def interruptible() -> bool:
    """Whether SIGINT would raise KeyboardInterrupt here: in the main thread, where nobody else handles it."""
    main = threading.current_thread() is threading.main_thread()
    return main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Schedule:
    """Remembers how long launches took, by one worker and by all, for each kernel and order of magnitude of its size.

    To wake sleeping workers takes longer than small work does. Results do not depend on the number of workers.
    """

    def __init__(self, waits: bool = False) -> None:
        """waits: whether workers wait for each other while a launch runs."""
        self.waits = waits
        self.always_all = False  # whether all work at anything, however small
        self.took: dict[Hashable, tuple[float, float]] = {}  # nanoseconds of one worker, of all

    def run(
        self, kernel: Hashable, workers: int, n: int, size: int, call: Callable[..., int], args: Sequence[object]
    ) -> int:
        """Runs call(count, *args), with one worker or `workers`, and remembers how long it took; -count: it may be interrupted.

        The launch is of n items, and its arrays have `size` bytes. Returns what `call` does.
        """
        key = kernel, n.bit_length(), size.bit_length()
        known = self.took.get(key)
        alone, together = known or (size / BYTES, WAKE + size / BYTES / workers)
        guard = -1 if (known is None or min(alone, together) > LONG) and interruptible() else 1
        if workers == 1 or (alone <= together and not self.always_all):
            start = time.perf_counter_ns()
            result = call(guard, *args)
            self.took[key] = time.perf_counter_ns() - start, FADE * together
            return result
        start, busy = time.perf_counter_ns(), time.thread_time_ns()
        result = call(guard * workers, *args)
        lapse = time.perf_counter_ns() - start
        alone = (time.thread_time_ns() - busy) * workers
        if self.waits:
            self.took[key] = SLOW_FADE * (known[0] if known else 2 * lapse), lapse
            return result
        self.took[key] = alone, lapse if known else WAKE + alone / workers  # the first launch may find its memory cold
        return result
