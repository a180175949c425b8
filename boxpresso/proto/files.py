"""Names of files that are being written, and the removal of what a process that was killed has left behind.

A file is written under another name beside its own and renamed when it is complete and on disk. That name says which process
writes it, so that another can tell a leftover from a file that is still being written.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import BoxpressoError, ModelError
from .reading import kind_of

DAY = 86400.0  # seconds; after it a file of a process that cannot be asked for counts as left behind
_NAME = re.compile(r"[.-](?P<machine>[0-9a-f]{8})-(?P<pid>\d{1,10})[.-]")


@functools.cache
def machine() -> str:
    """A name for the space of process numbers: this machine since its last start, or this container of it."""
    parts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:8]


def owner() -> str:
    """The part of a temporary name that says which process it belongs to."""
    return f"{machine()}-{os.getpid()}"


def beside(path: str | os.PathLike[str], suffix: str) -> Path:
    """A new name in the folder of `path`, ending in `suffix`, to write to before a rename.

    Examples
    --------
    >>> name = beside("weights.caffemodel", ".part")
    >>> name.name.startswith("weights.caffemodel."), name.suffix, left_behind(name)
    (True, '.part', False)
    """
    place = Path(path)
    return place.with_name(f"{place.name}.{owner()}.{os.urandom(4).hex()}{suffix}")


@contextmanager
def replacing(
    path: str | os.PathLike[str], subject: str = "", suffix: str = ".part", lasting: bool = True
) -> Iterator[Path]:
    """Gives the name of a new file beside `path`; what the block writes to it is put to disk and then renamed to `path`.

    A link stays one: the file that it points to is replaced. After an error, what was there before is untouched.

    Parameters
    ----------
    path
        The file to write.
    subject
        What it is, for errors, such as "the report ".
    suffix
        How the new name ends, for a writer that takes its format from the name.
    lasting
        Whether to wait until it is on disk, so that a machine that loses its power then has the old file or the new one.

    Raises
    ------
    ModelError
        Where `path` is no regular file, or cannot be written: for an OSError, RuntimeError or ValueError of the block.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a.bin") as part:
    ...         _ = part.write_bytes(b"all of it")
    ...     os.listdir(folder), Path(folder, "a.bin").read_bytes()
    (['a.bin'], b'all of it')
    """
    part: Path | None = None
    try:
        target = place_of(path)
        part = beside(target, suffix)
        yield part
        if lasting:
            to_disk(part)
        os.replace(part, target)
        if lasting:
            folder_to_disk(str(target.parent))
    except (OSError, RuntimeError, ValueError) as error:  # HDF5 raises a RuntimeError for a full disk
        raise ModelError(
            f"cannot write {subject}{os.fspath(path)}: {reason(error)}; what was there before is untouched"
        ) from error
    finally:
        with suppress(OSError):
            if part is not None:
                part.unlink()


def place_of(path: str | os.PathLike[str]) -> Path:
    """The file that a path, or a link, names. Raises OSError for what is there and no regular file."""
    target = Path(os.path.realpath(path))
    if target.exists() and (kind := kind_of(target.stat().st_mode)):
        raise OSError(f"it is {kind}, not a regular file")
    return target


def reason(error: Exception) -> str:
    """What an error says, without its number and its file."""
    return getattr(error, "strerror", None) or str(error).partition(" (")[0]


def need_place(path: str | os.PathLike[str], subject: str = "") -> None:
    """Raises ModelError where `replacing` could not write `path`, before the work is done that is to be written there.

    Examples
    --------
    >>> need_place("/no/such/folder/weights.caffemodel")
    Traceback (most recent call last):
    boxpresso.proto.errors.ModelError: cannot write /no/such/folder/weights.caffemodel: No such file or directory
    """
    try:
        trial = beside(place_of(path), ".part")
        trial.touch(exist_ok=False)
        trial.unlink()
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot write {subject}{os.fspath(path)}: {reason(error)}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file, as a whole or not at all, and its folder where that is missing. Raises BoxpressoError."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BoxpressoError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from error
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def left_behind(path: Path) -> bool:
    """Whether a temporary name belongs to a process that has ended; of another machine's, whether it is a day old."""
    match = _NAME.search(path.name)
    if match and match["machine"] == machine():
        if int(match["pid"]) == os.getpid():
            return False
        try:
            if os.name != "posix":  # Windows has no signal that only asks: 0 is CTRL+C there
                raise OSError
            os.kill(int(match["pid"]), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:
            pass  # it runs, as another user, or cannot be asked for
    try:
        return time.time() - path.lstat().st_mtime > DAY
    except OSError:
        return False


def sweep(paths: Iterable[Path]) -> list[Path]:
    """Removes the files and folders of these that were left behind and are this user's; returns them."""
    removed = []
    for path in paths:
        with suppress(OSError):
            if hasattr(os, "geteuid") and path.lstat().st_uid != os.geteuid():
                continue
            if not left_behind(path):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
            removed.append(path)
    return removed


def folder_to_disk(folder: str) -> None:
    """Waits until the names in a folder are on disk, where the system can."""
    with suppress(OSError):
        fd = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def to_disk(path: Path) -> None:
    """Waits until a file's content is on disk. Raises OSError."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
