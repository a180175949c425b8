"""Reading a whole file from elsewhere: a regular one, of no more bytes than its limit says."""

from __future__ import annotations

import os
import stat
from typing import Union

from .errors import ModelError
from .limits import LIMITS

FilePath = Union[str, "os.PathLike[str]"]


def read_file(path: FilePath, limit: str = "file_bytes") -> bytes:
    """All of a file.

    Parameters
    ----------
    limit : the name of the limit on its size.

    Raises
    ------
    ModelError: it cannot be read, is no regular file (a pipe would block, a device may have no end), or is too large.

    Examples
    --------
    >>> read_file("/dev/null")
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.ModelError: cannot read /dev/null: it is a device, not a regular file
    """
    shown, most = os.fspath(path), getattr(LIMITS, limit)
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise ModelError(f"cannot read {shown}: {getattr(error, 'strerror', None) or error}") from error
    try:
        seen = os.fstat(fd)
        if kind := kind_of(seen.st_mode):
            raise ModelError(f"cannot read {shown}: it is {kind}, not a regular file")
        if seen.st_size > most:
            raise ModelError(f"cannot read {shown}: it has {seen.st_size} bytes; {LIMITS.advice(limit)}")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(min(seen.st_size, most) + 1)  # Python makes room for all of them
            while more := file.read(2**20 if len(data) <= most else 0):  # it has grown, or is one of /proc
                data += more
    except OSError as error:
        raise ModelError(f"cannot read {shown}: {error.strerror or error}") from error
    finally:
        os.close(fd)
    if len(data) > most:
        raise ModelError(f"cannot read {shown}: it has more than {most} bytes; {LIMITS.advice(limit)}")
    return data


def kind_of(mode: int) -> str:
    """What a file is that is not a regular one; "" for a regular one."""
    if stat.S_ISREG(mode):
        return ""
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((name for test, name in kinds.items() if test(mode)), "a device")
