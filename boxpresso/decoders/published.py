"""Public models that are fetched by their names, from where their authors publish them: published.json has the table.

An entry names a repository and one commit of it, whose files never change, and of each file its size and SHA-256. What
arrives is compared with these before it gets its name; a transfer that broke is gone on with where it ended. Nothing of the
models is part of Boxpresso.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from ..device.cache import alone
from ..device.cache import folder as cache_folder
from ..proto.errors import BoxpressoError, ModelError, nearest

TABLE = Path(__file__).with_name("published.json")
HOST = "https://raw.githubusercontent.com"  # the files of any public repository of GitHub, by commit and path
PIECE, SECONDS, TRIES = 1 << 16, 30, 4  # bytes read at once; how long a server may be silent; attempts at one file
Tell = Callable[[str, int, int], None]  # of a file its name, how many bytes are there, of how many


@dataclass(frozen=True)
class File:
    """One file: its path in the repository, its bytes and their SHA-256."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """What it is called here."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class Published:
    """A model, or the nets of a cascade, that can be fetched.

    Attributes
    ----------
    name, title
        What it is fetched by, and what it is.
    models
        Its nets, as the table of known models calls them.
    repository, commit
        Where its authors publish it: of GitHub OWNER/NAME, and the commit.
    licence
        As the repository states it; None where it states none.
    files
        Prototxts and weights.
    """

    name: str
    title: str
    models: tuple[str, ...]
    repository: str
    commit: str
    licence: str | None
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def page(self) -> str:
        """The address of the commit, for people."""
        return f"https://github.com/{self.repository}/tree/{self.commit}"

    @property
    def folder(self) -> Path:
        """Where its files are kept, below the cache folder."""
        return cache_folder() / "models" / self.name

    def address(self, file: File) -> str:
        """Where a file is fetched: at GitHub, or below $BOXPRESSO_MIRROR, which has the same folders OWNER/NAME/COMMIT/PATH."""
        base = os.environ.get("BOXPRESSO_MIRROR") or HOST
        return f"{base.rstrip('/')}/{self.repository}/{self.commit}/{file.path}"

    def missing(self) -> list[File]:
        """The files that are not here yet, or are not what they should be."""
        return [file for file in self.files if not sound(self.folder / file.name, file)]

    def paths(self) -> tuple[list[Path], list[Path]]:
        """The prototxts, and weights: one file for each prototxt, or one for all."""
        names = [self.folder / file.name for file in self.files]
        models = [path for path in names if path.suffix == ".prototxt"]
        return models, [path for path in names if path.suffix != ".prototxt"]


@cache
def published() -> dict[str, Published]:
    """All entries by their names.

    >>> published()["ultralight-face"].licence
    'MIT'
    """
    result = {}
    for row in json.loads(TABLE.read_text(encoding="utf-8")):
        row["models"], row["files"] = tuple(row["models"]), tuple(File(**file) for file in row["files"])
        result[row["name"]] = Published(**row)
    return result


def find(name: str) -> Published | None:
    """The entry of a name, or of a known model that is alone in its entry; None for another.

    >>> find("rfb-320").name, find("street.prototxt")
    ('ultralight-face', None)
    """
    entries = published()
    return entries.get(name) or next((entry for entry in entries.values() if entry.models == (name,)), None)


def unknown(name: str) -> str:
    """What is said of a name that is neither a file nor an entry."""
    return f"there is no file {name!r}, and no model of that name can be fetched{nearest(name, published())}"


def fetch(name: str, tell: Tell | None = None) -> Published:
    """Fetches what of a model is not here yet.

    Parameters
    ----------
    name
        As `find` takes it.
    tell
        Called while a file arrives; by default a line on standard error says what is fetched, from where, and its licence.

    Raises
    ------
    ModelError
        For a name that there is not.
    BoxpressoError
        Where a file cannot be had, or is not the one that was published.
    """
    entry = find(name)
    if entry is None:
        raise ModelError(unknown(name))
    if not entry.missing():
        return entry
    try:
        entry.folder.mkdir(parents=True, exist_ok=True)
        with alone(entry.folder / "fetch"):
            if tell is None and os.environ.get("BOXPRESSO_PROGRESS") != "0":
                print(f"boxpresso: {notice(entry)}", file=sys.stderr, flush=True)
            for file in entry.missing():  # those that another process has just fetched are here
                fetch_file(entry, file, tell or (lambda *_: None))
    except OSError as error:
        raise BoxpressoError(f"cannot write {entry.folder}: {error.strerror or error}") from error
    return entry


def notice(entry: Published) -> str:
    """What is fetched, how much, from where and under which licence."""
    return (
        f"fetching {entry.name} ({megabytes(entry.size)}) from {entry.page}, licence: {entry.licence or 'none stated'}"
    )


def megabytes(size: int) -> str:
    """A number of bytes for people: `30 kB`, `1.1 MB`."""
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{size / 1e3:.0f} kB"


def fetch_file(entry: Published, file: File, tell: Tell) -> None:
    """Fetches one file, or the rest of it, and gives it its name when it is what it should be."""
    target, address = entry.folder / file.name, entry.address(file)
    part = target.with_name(f"{target.name}.part")
    for attempt in range(1, TRIES + 1):
        try:
            transfer(address, part, file, tell)
            break
        except Broken as error:
            if attempt == TRIES or error.final:
                raise BoxpressoError(unreachable(entry, address, error)) from None
            time.sleep(0.2 * 2**attempt if attempt > 1 else 0)
    if not sound(part, file):
        seen = digest(part)
        part.unlink()
        raise BoxpressoError(
            f"{address} has the SHA-256 {seen}, but {file.sha256} was published: it was changed on its way, or there, and is "
            "not taken"
        )
    os.replace(part, target)


class Broken(Exception):
    """A transfer that ended early; `final` where another attempt would be no better."""

    def __init__(self, why: object, final: bool = False) -> None:
        super().__init__(str(why))
        self.final = final


def transfer(address: str, part: Path, file: File, tell: Tell) -> None:
    """Adds to a part of a file what is missing. Raises Broken."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen  # slow to import

    have = part.stat().st_size if part.exists() else 0
    if have >= file.size:
        if have == file.size and sound(part, file):
            return
        part.unlink()
        have = 0
    headers = {"User-Agent": "boxpresso", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with urlopen(Request(address, headers=headers), timeout=SECONDS) as answer:
            resumed = getattr(answer, "status", 200) == 206
            if resumed and not (answer.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
                raise Broken("the server gave another part of the file than was asked for")
            have = have if resumed else 0
            with open(part, "ab" if resumed else "wb", buffering=0) as to:  # what a killed process leaves is there
                while piece := answer.read1(min(PIECE, file.size + 1 - have)):
                    to.write(piece)
                    have += len(piece)
                    tell(file.name, have, file.size)
        if have < file.size:
            raise Broken(f"the connection ended after {have} of {file.size} bytes")
    except HTTPError as error:
        if error.code == 416:
            part.unlink(missing_ok=True)
        raise Broken(f"{error.code} {error.reason}", final=error.code in (401, 403, 404, 410)) from None
    except (URLError, HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        raise Broken(getattr(error, "reason", None) or error or type(error).__name__) from None


def sound(path: Path, file: File) -> bool:
    """Whether a file is there and is the published one."""
    try:
        return path.stat().st_size == file.size and digest(path) == file.sha256
    except OSError:
        return False


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as stream:
        total: Any = hashlib.sha256()
        while piece := stream.read(1 << 20):
            total.update(piece)
    return str(total.hexdigest())


def unreachable(entry: Published, address: str, error: Broken) -> str:
    """What to do where a file cannot be had."""
    return (
        f"cannot fetch {address}: {error}\n"
        f"  without a way to it, run `boxpresso models --get {entry.name}` on another machine and copy its folder to\n"
        f"  {entry.folder}, or set BOXPRESSO_MIRROR to an address, such as file:///media/mirror, below which it is\n"
        f"  {entry.repository}/{entry.commit}/.."
    )
