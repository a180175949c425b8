"""Other names that OpenCV has for an argument: one function stands for all of its overloads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound="Callable[..., Any]")


def also(**names: str) -> Callable[[Function], Function]:
    """Lets a function take keyword arguments by other names: also(other="name").

    >>> @also(bufferProto="prototxt")
    ... def read(prototxt, weights=None):
    ...     return prototxt
    >>> read(bufferProto=b"x"), read(prototxt="a")
    (b'x', 'a')
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            return function(*args, **{names.get(name, name): value for name, value in options.items()})

        return call  # type: ignore[return-value]

    return decorate
