"""A training's claim on its snapshot_prefix: two at once would overwrite each other's snapshots.

The claim is a lock of the operating system on a small file beside the snapshots, which says who holds it. The lock ends with
its process, however that ends, so that a training that was killed leaves a file that claims nothing. It is a lock of the
process (POSIX), not of the open file: data workers that were forked and live a little longer do not hold it.
"""

from __future__ import annotations

import os
import socket
import weakref
from contextlib import suppress
from pathlib import Path

from ..proto import SolverParameter
from ..proto.errors import ModelError
from .log import Log

_held: dict[str, tuple[int, int, int]] = {}  # by file: its descriptor, the process, and how many Solvers of it claim it


class Claim:
    """What keeps other processes from training under the same snapshot_prefix. The Solvers of one process share it.

    It ends with `release`, with the Solver, or with the process.

    Parameters
    ----------
    param
        The solver's.

    Examples
    --------
    >>> import os, tempfile
    >>> from boxpresso.proto import parse_solver
    >>> folder = tempfile.mkdtemp()
    >>> claim = Claim(parse_solver(f'snapshot_prefix: "{folder}/net"'))
    >>> claim.take(print)
    >>> os.listdir(folder)
    ['net_iter.lock']
    >>> claim.release()
    >>> os.listdir(folder)
    []
    """

    def __init__(self, param: SolverParameter) -> None:
        self.param = param
        self.end: weakref.finalize[[str, int], Claim] | None = None

    def take(self, log: Log) -> None:
        """Claims the prefix, if it is not claimed yet; where the file system has no locks, the log says so.

        Raises
        ------
        ModelError
            While another process has claimed it, which the message names.
        """
        if self.end is not None and self.end.alive:
            return
        prefix = self.param.snapshot_prefix
        file = os.path.realpath(f"{prefix}_iter.lock")
        fd, process, count = _held.get(file, (-1, os.getpid(), 0))
        if process != os.getpid():  # of the process that this one was forked from, whose claim it is
            return
        if not count:
            try:
                fd = lock(file)
            except BlockingIOError as error:
                raise ModelError(
                    f"solver: snapshot_prefix {prefix!r} is in use by {error}, and two trainings would overwrite each other's "
                    "snapshots; end the other one, or give this one a snapshot_prefix of its own"
                ) from None
            except OSError as error:
                log(f"{file} cannot be locked ({error.strerror or error}): another training on it would not be noticed")
                return
        _held[file] = fd, process, count + 1
        self.end = weakref.finalize(self, give_back, file, process)

    def release(self) -> None:
        """Ends the claim."""
        if self.end is not None:
            self.end()


def lock(file: str) -> int:
    """The descriptor of a locked file. Raises BlockingIOError that says who holds it, and OSError where there are no locks."""
    try:
        import fcntl
    except ImportError:
        raise OSError("this system has no fcntl") from None
    while True:
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seen = os.fstat(fd)
            with suppress(FileNotFoundError):  # its last holder has just removed it
                if os.path.samestat(os.stat(file), seen):
                    os.ftruncate(fd, 0)
                    os.write(fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
                    return fd
        except (BlockingIOError, PermissionError):  # POSIX lets a system choose
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip()
            os.close(fd)
            raise BlockingIOError(holder or "another process") from None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def give_back(file: str, process: int) -> None:
    """Ends one Solver's claim, and with the last one's the lock."""
    if process != os.getpid():
        return
    fd, _, count = _held.pop(file)
    if count > 1:
        _held[file] = fd, process, count - 1
        return
    with suppress(OSError):
        Path(file).unlink()
    os.close(fd)
