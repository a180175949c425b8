"""The lists of MS-CNN and Cascade R-CNN: images with true boxes and with regions that do not count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .errors import DataError
from .lines import read_lines, words_of


@dataclass
class Framed:
    """One image of a list.

    Attributes
    ----------
    path
        Without the folder that goes before it.
    size
        Channels, height and width, as the list says.
    marks
        (N, 3): class, whether the box is ignored, whether it is difficult.
    boxes
        (N, 4): xmin, ymin, xmax, ymax in pixels.
    regions
        (M, 4): where nothing counts.
    """

    path: str
    size: tuple[int, int, int]
    marks: np.ndarray
    boxes: np.ndarray
    regions: np.ndarray


def read_framed(source: str, difficult: bool) -> list[Framed]:
    """The images of a list: words, separated by blanks or ends of lines.

    For each image: `# number`, its path, channels, height, width; the number of boxes, and for each `class ignore xmin ymin
    xmax ymax`, with `difficult` between ignore and xmin where the argument says so; the number of regions, and for each
    `xmin ymin xmax ymax`.

    Raises
    ------
    DataError that names file and line.
    """
    lines = read_lines(source, "the window file", "be a window file")
    words = ((word, number) for number, line in enumerate(lines, 1) for word in line.split())
    reader = Words(words, source)
    frames: list[Framed] = []
    while (mark := reader.next("")) is not None:
        if mark != "#":
            reader.wrong("`# number`", mark)
        reader.whole("the number of the image")
        path = reader.next("a path") or ""
        channels, height, width = (reader.whole(subject) for subject in ("channels", "height", "width"))
        rows = reader.table(reader.whole("the number of boxes"), 7 if difficult else 6, "a box")
        regions = reader.table(reader.whole("the number of regions"), 4, "a region")
        if not difficult:
            rows = np.insert(rows, 2, 0, axis=1)
        if (rows[:, 0] <= 0).any():
            raise DataError(f"{source}: {path} has a box of class {rows[:, 0].min():g}; classes count from 1")
        frames.append(Framed(path, (channels, height, width), rows[:, :3], rows[:, 3:], regions))
    if not frames:
        raise DataError(f"the window file {source!r} is empty")
    return frames


class Words:
    """The words of a list, one after another."""

    def __init__(self, words: Iterator[tuple[str, int]], source: str) -> None:
        self.words, self.source, self.line = words, source, 0

    def next(self, subject: str) -> str | None:
        """The next word; None at the end where nothing must follow, that is, without `subject`."""
        word, self.line = next(self.words, (None, self.line))
        if word is None and subject:
            raise DataError(f"{self.source} ends where {subject} must follow")
        return word

    def number(self, subject: str) -> float:
        word = self.next(subject) or ""
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not np.isfinite(value) or abs(value) > 1e9:
            self.wrong(subject, word)
        return value

    def whole(self, subject: str) -> int:
        value = self.number(subject)
        if value != int(value) or value < 0:
            self.wrong(f"{subject}, a whole number,", f"{value:g}")
        return int(value)

    def table(self, rows: int, columns: int, subject: str) -> np.ndarray:
        values = [[self.number(subject) for _ in range(columns)] for _ in range(rows)]
        return np.array(values, np.float32).reshape(-1, columns)

    def wrong(self, subject: str, word: str) -> None:
        raise DataError(f"{self.source}, line {self.line}: {subject} must be here, not {words_of(word)}")
