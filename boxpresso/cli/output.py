"""What several verbs print: errors, warnings, progress, lists and sizes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TextIO

from ..proto.errors import visible


class Visible:
    """A stream of text through which nothing steers the terminal: see `visible`."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def complain(error: object) -> None:
    """Print an error as one line on stderr."""
    print(visible(f"boxpresso: error: {error}"), file=sys.stderr)


def warn(warning: object) -> None:
    """Print a warning as one line on stderr."""
    print(visible(f"boxpresso: warning: {warning}"), file=sys.stderr)


class Progress:
    """How far a verb is, with rate and time left, on standard error.

    On a terminal one line is rewritten a few times a second; elsewhere a line is printed every 10 seconds. `before` were done
    by another run, and do not count in the rate.
    """

    def __init__(self, verb: str, unit: str = "", before: int = 0) -> None:
        self.verb, self.unit, self.before = verb, f" {unit}" if unit else "", before
        self.terminal = sys.stderr.isatty()
        self.start = time.monotonic()
        self.next = self.start + (0.2 if self.terminal else 10.0)
        self.shown = False

    def tell(self, done: int, total: int | None = None) -> None:
        """Says how many are done, of how many where that is known, if it is time to."""
        now = time.monotonic()
        if now < self.next and not (self.terminal and self.shown and done == total):
            return
        self.next = now + (0.2 if self.terminal else 10.0)
        text = describe(self.verb, done, total, now - self.start, self.unit, self.before)
        if self.terminal:
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = True
        else:
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away, before something else is printed."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = False

    def end(self) -> None:
        """Leaves the line as it is, and begins another."""
        if self.shown:
            print(file=sys.stderr)
            self.shown = False


def describe(verb: str, done: int, total: int | None, seconds: float, unit: str = "", before: int = 0) -> str:
    """A line of progress; `before` of those that are done do not count in the rate.

    >>> describe("detect", 340, 1000, 10.0, " pictures")
    'detect: 340 of 1000 pictures, 34.0 a second, 0:00:19 left'
    >>> describe("detect", 3, None, 6.0)
    'detect: 3, 0.5 a second'
    """
    rate = (done - before) / seconds if seconds else 0.0
    text = f"{verb}: {done}{'' if total is None else f' of {total}'}{unit}, {rate:.1f} a second"
    if total is None or not rate:
        return text
    return f"{text}, {timedelta(seconds=int(max(0, total - done) / rate))} left"


def progress(verb: str) -> Callable[[int, int], None]:
    """A function of (done, total) that shows how far a verb is."""
    shown = Progress(verb)

    def tell(done: int, total: int) -> None:
        shown.tell(done, total)
        if done == total:
            shown.end()

    return tell


def listed(names: Sequence[str]) -> str:
    """The first four names, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d and 2 more'
    """
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def size(count: float) -> str:
    """A number of bytes in the unit that people read.

    >>> size(100), size(1536), size(5 << 30)
    ('100 B', '1.5 KiB', '5.00 GiB')
    """
    if count < 1024:
        return f"{count} B"
    for unit in ("KiB", "MiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.2f} GiB"
