"""What several verbs print: errors, warnings, progress, lists and sizes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence


def complain(error: object) -> None:
    """Print an error as one line on stderr."""
    print(f"boxpresso: error: {error}", file=sys.stderr)


def warn(warning: object) -> None:
    """Print a warning as one line on stderr."""
    print(f"boxpresso: warning: {warning}", file=sys.stderr)


def progress(verb: str) -> Callable[[int, int], None]:
    """A function of (done, total) that shows on a terminal how far a verb is, a few times a second."""
    shown = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if sys.stderr.isatty() and (now - shown > 0.2 or done == total):
            shown = now
            print(f"\r{verb}: {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)

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
