"""What the examples that train share: their words on the command line, progress, a log and its curves, and sheets of pictures."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from boxpresso.train.curves import plot
from boxpresso.train.log import Log, glog

T = TypeVar("T")


def arguments(about: str, folder: Path) -> argparse.ArgumentParser:
    """The words that every one of these commands takes; folder: the example's."""
    words = argparse.ArgumentParser(description=about.splitlines()[0])
    words.add_argument("--iterations", type=int, help="by default as many as solver.prototxt says")
    words.add_argument("--out", type=Path, default=folder / "work", help="the folder for everything that is written")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--device", default=None, help="cpu, cuda or cuda:N")
    return words


@contextmanager
def logged(path: Path) -> Iterator[Log]:
    """A `log` for Solver: each line goes to standard error, as `boxpresso train` writes it, and to a file, for curves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:

        def log(line: str) -> None:
            glog(line)
            print(line, file=file, flush=True)

        yield log


def curves(log: Path) -> Path | None:
    """Draws the curves of a log to curves.png beside it, as `boxpresso plot` does; None where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        return None
    return plot(str(log), str(log.with_name("curves.png")))


def tracked(things: Iterable[T], total: int, description: str) -> Iterator[T]:
    """The things, with a bar on a terminal where `rich` is installed."""
    if importlib.util.find_spec("rich") is None:
        yield from things
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(things, description, total, console=Console(stderr=True), transient=True)


def sheet(pictures: Sequence[Any], columns: int = 4, gap: int = 4) -> Any:
    """Pillow images of one size, side by side in rows on white."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    picture_sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), "white")
    for i, picture in enumerate(pictures):
        row, column = divmod(i, columns)
        picture_sheet.paste(picture, (column * (width + gap), row * (height + gap)))
    return picture_sheet
