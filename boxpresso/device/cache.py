"""The folder where compiled kernels are cached between runs.

What lies there is run, so that it is taken only where no other user can have put it there: the folder and each file must be
this user's, and nobody else may write to them. Beside each file lies another one with its size and checksum; a file that
does not match is compiled again.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..proto import files

INCLUDE = re.compile(rb'^\s*#include\s+"([^"]+)"', re.M)
OTHERS = stat.S_IWGRP | stat.S_IWOTH
PRIVATE = "boxpresso-"  # the start of the name of a folder for one run
PATIENCE = 300.0  # seconds to wait for another process that compiles the same file; then this one compiles it too


@functools.cache
def folder() -> Path:
    """$BOXPRESSO_CACHE, else the user's cache folder; one for this run alone, with a warning, where neither can be used."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:  # a user without a home
        return private_folder(f"this user has no home folder to keep a kernel cache in ({error})")
    wanted = Path(os.environ.get("BOXPRESSO_CACHE") or Path(base) / "boxpresso")
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = wanted.resolve()
        if why := unsafe_folder(place):
            return private_folder(
                f"the kernel cache {wanted} is not used, because the kernels in it are run, and {why}; "
                "delete that folder, so that it is made anew, or take write permission from all others"
            )
        if os.name == "posix":
            with suppress(OSError):
                place.chmod(0o700)
        with tempfile.TemporaryFile(dir=place):
            return place
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
        return private_folder(
            f"the kernel cache {wanted} cannot be written ({getattr(error, 'strerror', '') or error})"
        )


def private_folder(why: str) -> Path:
    """A folder for this run, removed at its end. Warns; also removes those of runs that were killed."""
    with suppress(OSError):
        files.sweep(Path(tempfile.gettempdir()).glob(f"{PRIVATE}*"))
    private = Path(tempfile.mkdtemp(prefix=f"{PRIVATE}{files.owner()}-"))
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in a fork of it
            shutil.rmtree(private, ignore_errors=True)

    atexit.register(remove)
    warnings.warn(
        f"{why}; kernels are cached in {private} for this run. Set BOXPRESSO_CACHE to a folder that only you can write to.",
        stacklevel=3,
    )
    return private


def unsafe_folder(place: Path) -> str:
    """Why files of a folder might be somebody else's; "" where they are this user's. `place` is free of links."""
    if os.name != "posix":
        return ""
    seen = place.stat()
    if not stat.S_ISDIR(seen.st_mode):
        return f"{place} is not a folder"
    if seen.st_uid != os.geteuid():
        return f"{place} belongs to another user (number {seen.st_uid})"
    if seen.st_mode & OTHERS:
        return f"other users may write to {place} (its mode is {stat.S_IMODE(seen.st_mode):04o})"
    for above in place.parents:  # who may rename a folder may put another in its place
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"other users may write to {above} above it (its mode is {stat.S_IMODE(mode):04o})"
    return ""


def read(path: Path) -> bytes:
    """A file of the cache. Raises OSError for one that is missing, a link, another user's, or writable by others."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as file:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise PermissionError(f"{path} is not a file")
        if os.name == "posix" and (seen.st_uid != os.geteuid() or seen.st_mode & OTHERS):
            raise PermissionError(f"{path} belongs to another user, or others may write to it")
        return file.read()


def checksum(data: bytes) -> bytes:
    return b"%d %s\n" % (len(data), hashlib.sha256(data).hexdigest().encode())


def beside(path: Path) -> Path:
    """The file with the size and the checksum of `path`."""
    return path.with_name(f"{path.name}.sum")


def fetch(path: Path) -> bytes | None:
    """The content of a file of the cache; None where it is missing, damaged, or might be somebody else's."""
    try:
        data = read(path)
        return data if data and read(beside(path)) == checksum(data) else None
    except OSError:
        return None


def there(path: Path) -> bool:
    """Whether a file seems to be in the cache; `fetch` tells whether it is whole."""
    return path.exists() and beside(path).exists()


def store(path: Path, part: Path) -> None:
    """Puts the file `part` into the cache as `path`: on disk first, then with its checksum, then under its name.

    Raises OSError, as for a full disk; `part` is then gone.
    """
    total = temporary(beside(path))
    try:
        part.chmod(0o700)
        files.to_disk(part)
        with open(os.open(total, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(checksum(part.read_bytes()))
            file.flush()
            os.fsync(file.fileno())
        os.replace(total, beside(path))
        os.replace(part, path)
    finally:
        for left in (part, total):
            with suppress(OSError):
                left.unlink()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """While other processes that want to make `path` wait. On a file system without locks, nobody waits."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f"{path.name}.lock")
    fd = -1
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.stat(lock).st_ino == os.fstat(fd).st_ino:
                    break
            except BlockingIOError:
                time.sleep(0.02)
            except FileNotFoundError:  # its last holder has just removed it; or there is no folder
                if not lock.parent.exists():
                    break
            except OSError:
                break
            if fd >= 0:
                os.close(fd)
                fd = -1
        yield
    finally:
        if fd >= 0:
            with suppress(OSError):
                lock.unlink()
            os.close(fd)


@functools.cache
def tidy(place: Path) -> None:
    """Once a run, removes what processes that were killed have left in the cache."""
    with suppress(OSError):
        files.sweep(place.glob("*.tmp"))


def sources(path: Path, include: Path) -> bytes:
    """The text of a file and of every file that it includes by name, each once: what its compiled form depends on."""
    return b"\0".join(texts(path, include))


def texts(path: Path, include: Path) -> list[bytes]:
    """The same as a list."""
    seen: dict[str, bytes] = {}

    def visit(file: str) -> None:
        if file in seen:
            return
        stat = os.stat(file)
        seen[file], names = text_of(file, stat.st_mtime_ns, stat.st_size)
        for name in names:
            header = included(file, name, str(include))
            if header is not None:
                visit(header)

    visit(str(path.resolve()))
    return list(seen.values())


@functools.cache
def text_of(file: str, changed: int, size: int) -> tuple[bytes, tuple[str, ...]]:
    """The text of a file, and the names that it includes; read again when it has changed."""
    text = Path(file).read_bytes()
    return text, tuple(name.decode() for name in INCLUDE.findall(text))


def included(file: str, name: str, include: str) -> str | None:
    """Where an included file is, without links: beside the file that includes it, or in `include`."""
    for place in (os.path.dirname(file), include):
        if os.path.isfile(os.path.join(place, name)):
            return resolved(os.path.join(place, name))
    return None


@functools.cache
def resolved(path: str) -> str:
    """A path without links: headers are shared by many files."""
    return os.path.realpath(path)


def key(*parts: bytes | str) -> str:
    """A short name for what was compiled, from everything that the result depends on."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def temporary(path: Path) -> Path:
    """A name beside `path` to write to before an atomic rename, so that two processes never see half a file."""
    return files.beside(path, ".tmp")
