"""Decoded pictures in memory: a small data set is decoded once, not in each round over it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .errors import DataError

MEGABYTES = 256  # in each process that loads pictures, where BOXPRESSO_DECODED does not say
Value = TypeVar("Value")


def room() -> int:
    """The bytes that decoded pictures may take in a process.

    Raises
    ------
    DataError
        Where BOXPRESSO_DECODED is no whole number of megabytes.
    """
    setting = os.environ.get("BOXPRESSO_DECODED", "") or str(MEGABYTES)
    if not setting.isdecimal():
        raise DataError(f"BOXPRESSO_DECODED is a number of megabytes, 0 for none, got {setting!r}")
    return int(setting) << 20


class Decoded:
    """The first pictures that come, as long as there is room. Another process begins without any.

    Examples
    --------
    >>> decoded, picture = Decoded(), np.zeros((2, 2, 3), np.uint8)
    >>> decoded.get(7, lambda: (picture, "a label"))[0] is decoded.get(7, lambda: (picture.copy(), ""))[0]
    True
    """

    def __init__(self) -> None:
        self.room, self.values = room(), dict[int, Any]()

    def __reduce__(self) -> Any:
        return Decoded, ()

    def get(self, index: int, read: Callable[[], tuple[np.ndarray, Value]]) -> tuple[np.ndarray, Value]:
        """A record's picture, not to be written to, and what `read` says of it; read now, or before."""
        value: tuple[np.ndarray, Value] | None = self.values.get(index)
        if value is None:
            value = read()
            if value[0].nbytes <= self.room:
                self.room -= value[0].nbytes  # of two threads that come at once both may count it
                value[0].setflags(write=False)
                self.values[index] = value
        return value
