"""Builtins, exceptions and math of Python 2, as converted scripts call them (python2.py puts them in)."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any

MISSING = object()


def compared(a: Any, b: Any) -> int:
    """cmp of Python 2, of any two values."""
    from .python2 import cmp

    return cmp(a, b)


def sorted(
    iterable: Iterable[Any], cmp: Callable[[Any, Any], int] | None = None, key: Any = None, reverse: bool = False
) -> list[Any]:
    """sorted of Python 2: it takes a function that compares, and values of any types.

    >>> sorted([3, None, "a", 1]), sorted([1, 2], lambda a, b: b - a), sorted([1, 3, 2], key=lambda x: -x)
    ([None, 1, 3, 'a'], [2, 1], [3, 2, 1])
    """
    values = list(iterable)
    sort(values, cmp, key=key, reverse=reverse)
    return values


def sort(values: Any, cmp: Any = None, **options: Any) -> Any:
    """values.sort(cmp) of Python 2; what is no list, as an array or a table, has a sort of its own."""
    if not isinstance(values, list):
        return values.sort(*(() if cmp is None else (cmp,)), **options)
    key = options.pop("key", None) or (lambda value: value)
    if cmp is not None:
        return values.sort(key=lambda value: cmp_to_key(cmp)(key(value)), **options)
    before = list(values)
    try:
        return values.sort(key=key, **options)
    except TypeError:
        values[:] = before
        return values.sort(key=lambda value: cmp_to_key(compared)(key(value)), **options)


def of_any_types(choose: Callable[..., Any]) -> Callable[..., Any]:
    """max or min of Python 2, which compare values of any types."""

    def call(*values: Any, **options: Any) -> Any:
        if len(values) == 1 and iter(values[0]) is values[0]:  # what can be read once
            values = (list(values[0]),)
        try:
            return choose(*values, **options)
        except TypeError:
            if options:
                raise
            return choose(*values, key=cmp_to_key(compared))

    call.__name__ = choose.__name__
    return call


max, min = of_any_types(builtins.max), of_any_types(builtins.min)


def map(function: Callable[..., Any] | None, *iterables: Iterable[Any]) -> list[Any]:
    """map of Python 2: a list; shorter iterables are filled up with None, and None in the place of a function makes tuples.

    >>> map(None, [1, 2], "a"), map(None, [1]), map(len, ["ab"])
    ([(1, 'a'), (2, None)], [1], [2])
    """
    if len(iterables) < 2:
        return list(*iterables) if function is None else list(builtins.map(function, *iterables))
    rows = itertools.zip_longest(*iterables)
    return list(rows) if function is None else [function(*row) for row in rows]


def filter(function: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Any:
    """filter of Python 2: text of text, a tuple of a tuple, a list of all else.

    >>> filter(str.isdigit, "a1b2"), filter(None, (0, 1)), filter(None, {0, 2})
    ('12', (1,), [2])
    """
    values = list(builtins.filter(function, iterable))
    if isinstance(iterable, str):
        return "".join(values)
    return tuple(values) if isinstance(iterable, tuple) else values


class Whole(float):
    """What floor and ceil give in Python 2: a float, which numpy and range took for a number of places."""

    def __index__(self) -> int:
        return int(self)


def floor(x: Any) -> float:
    """math.floor of Python 2.

    >>> floor(2.5) / 2, [7, 8, 9][floor(1.5)], floor(math.inf)
    (1.0, 8, inf)
    """
    return Whole(x) if math.isinf(x) or math.isnan(x) else Whole(math.floor(x))


def ceil(x: Any) -> float:
    """math.ceil of Python 2."""
    return Whole(x) if math.isinf(x) or math.isnan(x) else Whole(math.ceil(x))


def message(error: Any) -> Any:
    """error.message of Python 2: the one argument of an exception.

    >>> message(ValueError("a")), message(OSError(2, "b"))
    ('a', '')
    """
    own = getattr(error, "message", MISSING)
    if own is not MISSING or not isinstance(error, BaseException):
        return own
    return error.args[0] if len(error.args) == 1 else ""


def parts(error: Any) -> Any:
    """What error[0] is taken of in Python 2: the arguments of an exception."""
    return error.args if isinstance(error, BaseException) and not hasattr(type(error), "__getitem__") else error


def rich(cmp: Callable[[Any, Any], int]) -> tuple[Callable[[Any, Any], bool], ...]:
    """__lt__, __le__, __eq__, __ne__, __gt__ and __ge__ of a class of Python 2 that has __cmp__."""
    return (
        lambda self, other: cmp(self, other) < 0,
        lambda self, other: cmp(self, other) <= 0,
        lambda self, other: cmp(self, other) == 0,
        lambda self, other: cmp(self, other) != 0,
        lambda self, other: cmp(self, other) > 0,
        lambda self, other: cmp(self, other) >= 0,
    )
