"""The pictures of a folder that the page offers."""

from __future__ import annotations

from pathlib import Path

from ..proto.errors import BoxpressoError
from .options import Refusal

KINDS = {
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".bmp": "image/bmp",
    ".gif": "image/gif", ".tif": "image/tiff", ".tiff": "image/tiff",
}  # fmt: skip
MOST = 60
BESIDE = (
    "example",
    "sample",
    "scene",
    "demo",
)  # how the names of pictures beside a model begin that are examples for it


class Examples:
    """The first pictures of a folder, by name. What is too large to be sent is left out.

    Without a folder those that lie beside a model, and are called as BESIDE; none without both.

    Raises BoxpressoError where the folder cannot be read, or has no picture.
    """

    def __init__(self, folder: str | None, max_bytes: int, model: str | None = None) -> None:
        self.paths: list[Path] = []
        if folder is None:
            if model is not None:
                self.paths = beside(Path(model), max_bytes)
            return
        try:
            paths = sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in KINDS)
        except OSError as error:
            raise BoxpressoError(f"cannot read the folder {folder} of --examples: {error.strerror or error}") from error
        self.paths = [path for path in paths if path.is_file() and path.stat().st_size <= max_bytes][:MOST]
        if not self.paths:
            raise BoxpressoError(f"the folder {folder} of --examples has no pictures ({', '.join(KINDS)})")

    @property
    def names(self) -> list[str]:
        """The names of the files."""
        return [path.name for path in self.paths]

    def path(self, number: int) -> Path:
        """The file of an example. Raises Refusal."""
        if not 0 <= number < len(self.paths):
            raise Refusal(404, f"there is no example {number}; there are {len(self.paths)}, from 0 on")
        return self.paths[number]

    def media_type(self, number: int) -> str:
        """The type of an example's file. Raises Refusal."""
        return KINDS[self.path(number).suffix.lower()]


def beside(model: Path, max_bytes: int) -> list[Path]:
    """The examples that lie beside a prototxt, or in the folder of a cascade."""
    try:
        paths = sorted((model if model.is_dir() else model.parent).iterdir())
    except OSError:
        return []
    return [
        path for path in paths
        if path.suffix.lower() in KINDS and path.stem.lower().startswith(BESIDE) and path.is_file()
        and path.stat().st_size <= max_bytes
    ][:MOST]  # fmt: skip
