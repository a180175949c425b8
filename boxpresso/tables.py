"""Tables of text, for what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> list[str]:
    """Lines with columns as wide as their widest cell; align has < or > for each column.

    >>> print(*table(["name", "count"], [["a", "1"], ["bc", "12"]], "<>"), sep="\\n")
    name  count
    a         1
    bc       12
    """
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(f"{c:{a}{w}}" for c, a, w in zip(row, align, widths)).rstrip() for row in cells]
