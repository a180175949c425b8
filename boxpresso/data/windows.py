"""Window files of R-CNN: pictures with regions, each with a class and its overlap with an object of that class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import DataError
from .lines import read_lines, words_of
from .picture import resize


@dataclass
class Windows:
    """paths: of pictures. rows: (N, 7) picture, class, overlap, xmin, ymin, xmax, ymax in pixels, the last one inside."""

    paths: list[str]
    rows: np.ndarray


def read_windows(source: str) -> Windows:
    """A window file. Raises DataError that names file and line.

    For each picture: `# number`, its path, channels, height, width and the number of windows, each on a line, and then a
    line `class overlap xmin ymin xmax ymax` for each window. Source: Caffe's WindowData.
    """
    lines = read_lines(source, "the window file", "be a window file")
    paths: list[str] = []
    rows: list[list[float]] = []
    at, wrong = 0, ""
    try:
        while at < len(lines):
            if not lines[at].strip():
                at += 1
                continue
            if not lines[at].startswith("#"):
                wrong = "it must be `# number`"
                raise ValueError
            paths.append(lines[at + 1].strip())
            at += 5
            count = int(lines[at])
            for _ in range(count):
                at += 1
                words, wrong = lines[at].split(), "it must be `class overlap xmin ymin xmax ymax`"
                if len(words) != 6:
                    raise ValueError
                rows.append([len(paths) - 1, *map(float, words)])
            at, wrong = at + 1, ""
    except (ValueError, IndexError) as error:
        seen = words_of(lines[at]) if at < len(lines) else "the end of the file"
        why = wrong or ("a whole number must be here" if not isinstance(error, IndexError) else "more must follow")
        raise DataError(f"{source}, line {at + 1}: {why}, got {seen}") from None
    if not rows:
        raise DataError(f"the window file {source!r} has no window")
    return Windows(paths, np.array(rows, np.float32))


def cut_window(
    picture: np.ndarray, corners: Any, size: int, context: int, square: bool, flip: bool
) -> tuple[np.ndarray, int, int]:
    """A window of a picture as a crop of at most size x size, and where its upper left corner goes: (crop, y, x).

    context: pixels of the crop around the window itself. square: the tightest square around it, and not warped. What lies
    outside the picture is left out.
    """
    rows, columns = picture.shape[:2]
    x1, y1, x2, y2 = (int(v) for v in corners)
    pad_x = pad_y = 0
    width = height = size
    if context or square:
        single = np.float32  # as there: it decides where halves are rounded to
        scale = single(size) / single(size - 2 * context)
        half_y, half_x = single(y2 - y1 + 1) / 2, single(x2 - x1 + 1) / 2
        centre_y, centre_x = single(y1) + half_y, single(x1) + half_x
        if square:
            half_y = half_x = max(half_y, half_x)
        x1, x2 = nearest(centre_x - half_x * scale), nearest(centre_x + half_x * scale)
        y1, y2 = nearest(centre_y - half_y * scale), nearest(centre_y + half_y * scale)
        scale_x, scale_y = single(size) / single(x2 - x1 + 1), single(size) / single(y2 - y1 + 1)
        left, right = max(0, -x1), max(0, x2 - columns + 1)
        up, down = max(0, -y1), max(0, y2 - rows + 1)
        x1, x2, y1, y2 = x1 + left, x2 - right, y1 + up, y2 - down
        width, height = nearest(single(x2 - x1 + 1) * scale_x), nearest(single(y2 - y1 + 1) * scale_y)
        pad_y, pad_x = nearest(single(up) * scale_y), nearest(single(right if flip else left) * scale_x)
        width, height = min(width, size - pad_x), min(height, size - pad_y)
    if not (0 <= x1 <= x2 < columns and 0 <= y1 <= y2 < rows and width > 0 and height > 0):
        raise DataError(f"the window {[int(v) for v in corners]} is not inside the picture of {columns}x{rows}")
    crop = resize(picture[y1 : y2 + 1, x1 : x2 + 1], width, height)
    return (crop[:, ::-1] if flip else crop), pad_y, pad_x


def nearest(value: Any) -> int:
    """To the nearest, halves away from zero, as C rounds."""
    return int(np.floor(abs(float(value)) + 0.5)) * (1 if value >= 0 else -1)
