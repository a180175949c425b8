"""How far the compilation of kernels is: a line that is rewritten on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time

FIRST, EVERY = 2.0, 15.0  # seconds from the start to the first line where there is no terminal, and between lines


class Progress:
    """Prints how many of `total` files of kernels are compiled for a device, on standard error.

    On a terminal one line is rewritten. Elsewhere (a pipe, a log) a whole line is printed when the compilation takes longer
    than 2 seconds, then every 15 seconds, and at the end. BOXPRESSO_PROGRESS=0 prints nothing, 1 rewrites one line anywhere.
    """

    def __init__(self, device: str, total: int) -> None:
        wanted = os.environ.get("BOXPRESSO_PROGRESS", "")
        self.silent = wanted == "0"
        self.rewrites = wanted == "1" or sys.stderr.isatty()
        self.device, self.total, self.done = device, total, 0
        self.start = time.monotonic()
        self.next = self.start + FIRST
        self.printed = False

    def tell(self, done: int) -> None:
        """Says that so many are compiled, where it is time to."""
        self.done = done
        if self.silent:
            return
        text = f"compiling kernels for {self.device}, first run only: {self.done}/{self.total}"
        if self.rewrites:
            print("\r" + text, end="", file=sys.stderr, flush=True)
        elif time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY
            print(text, file=sys.stderr, flush=True)
        else:
            return
        self.printed = True

    def end(self) -> None:
        """Ends the line on a terminal; elsewhere says how long it took, if anything was printed."""
        if not self.printed:
            return
        if self.rewrites:
            print(file=sys.stderr)
        elif self.done == self.total:
            seconds = time.monotonic() - self.start
            files = "file" if self.total == 1 else "files"
            print(
                f"compiled {self.total} kernel {files} for {self.device} in {seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )
