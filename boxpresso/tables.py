"""Tables of text, for what is printed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> list[str]:
    """Lines with columns as wide as their widest cell; align has < or > for each column.

    >>> print(*table(["name", "count"], [["a", "1"], ["bc", "12"]], "<>"), sep="\\n")
    name  count
    a         1
    bc       12
    """
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(map(places, column)) for column in zip(*cells)]
    return ["  ".join(padded(*each) for each in zip(row, align, widths)).rstrip() for row in cells]


def places(text: str) -> int:
    """How many columns of a terminal a text takes: 2 for a Chinese, Japanese or Korean sign, 0 for an accent by itself.

    >>> places("abc"), places("e\\u0301"), places("\\u65e5\\u672c")
    (3, 1, 4)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in ("W", "F")) for sign in text
    )


def padded(text: str, align: str, width: int) -> str:
    """A text with blanks behind it (<) or before it (>), that takes so many columns."""
    blanks = " " * (width - places(text))
    return text + blanks if align == "<" else blanks + text
