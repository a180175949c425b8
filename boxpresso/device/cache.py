"""The folder where compiled kernels are cached between runs."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import tempfile
import warnings
from pathlib import Path

INCLUDE = re.compile(rb'^\s*#include\s+"([^"]+)"', re.M)


@functools.cache
def folder() -> Path:
    """$BOXPRESSO_CACHE, else the user's cache folder; a temporary one, with a warning, where neither can be written."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    wanted = Path(os.environ.get("BOXPRESSO_CACHE") or Path(base) / "boxpresso")
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as error:
        private = Path(tempfile.mkdtemp(prefix="boxpresso-"))
        warnings.warn(
            f"the kernel cache {wanted} cannot be written ({error.strerror}); kernels are cached in {private} for this run. "
            "Set BOXPRESSO_CACHE to a folder that can be written.",
            stacklevel=2,
        )
        return private


def sources(path: Path, include: Path) -> bytes:
    """The text of a file and of every file that it includes by name, each once: what its compiled form depends on."""
    seen: dict[Path, bytes] = {}

    def visit(file: Path) -> None:
        if file in seen:
            return
        seen[file] = file.read_bytes()
        for name in INCLUDE.findall(seen[file]):
            for place in (file.parent, include):
                if (place / name.decode()).is_file():
                    visit((place / name.decode()).resolve())
                    break

    visit(path.resolve())
    return b"\0".join(seen.values())


def key(*parts: bytes | str) -> str:
    """A short name for what was compiled, from everything that the result depends on."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def temporary(path: Path) -> Path:
    """A name beside `path` to write to before an atomic rename, so that two processes never see half a file."""
    return path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
