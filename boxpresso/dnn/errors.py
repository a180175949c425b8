"""Errors that `except cv2.error` catches, too, in a program that gave this module to OpenCV (restore)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..proto.errors import BoxpressoError

Public = TypeVar("Public", bound="Callable[..., Any]")
STATUS = -2  # OpenCV's StsError, "Unspecified error"


class _State:
    """The class of OpenCV's errors, once `restore` has named it."""

    opencv: type[Exception] | None = None


def raise_as(opencv: type[Exception] | None) -> None:
    """From now on errors of this module's functions are `opencv`, cv2.error, too; None takes it back."""
    _State.opencv = opencv


_classes: dict[tuple[type, type], type[BoxpressoError]] = {}


def both(kind: type[BoxpressoError], opencv: type[Exception]) -> type[BoxpressoError]:
    """A class of errors that is `kind`, by name and module, and one of OpenCV's; the same for each pair."""
    if (kind, opencv) not in _classes:
        _classes[kind, opencv] = combined(kind, opencv)
    return _classes[kind, opencv]


def combined(kind: type[BoxpressoError], opencv: type[Exception]) -> type[BoxpressoError]:
    return type(kind.__name__, (kind, opencv), {"__module__": kind.__module__, "__doc__": kind.__doc__})


def opencv_errors(public: Public) -> Public:
    """A function, or the public methods of a class, whose BoxpressoErrors are cv2.error after `restore`, with its attributes
    code, err, msg, func, file and line.

    >>> class Theirs(Exception): code = 0
    >>> @opencv_errors
    ... def read(name):
    ...     raise BoxpressoError("cannot read " + name)
    >>> raise_as(Theirs)
    >>> try:
    ...     read("a.prototxt")
    ... except Theirs as error:
    ...     isinstance(error, BoxpressoError), error.msg, error.func, error.code
    (True, 'cannot read a.prototxt', 'read', -2)
    >>> raise_as(None)
    """
    if inspect.isclass(public):
        for name, value in list(vars(public).items()):
            if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
                setattr(public, name, opencv_errors(value))
        return public

    @functools.wraps(public)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return public(*args, **options)
        except BoxpressoError as error:
            opencv = _State.opencv
            if opencv is not None and not isinstance(error, opencv):
                error.__class__ = both(type(error), opencv)
                about = {
                    "code": STATUS,
                    "err": str(error),
                    "msg": str(error),
                    "func": public.__name__,
                    "file": "",
                    "line": 0,
                }
                vars(error).update(about)
            raise

    return call  # type: ignore[return-value]
