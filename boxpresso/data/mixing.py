"""Pictures for training that are made of several, with the boxes of all of them.

A picture is uint8 (H, W, C), its boxes are (N, 7) as in `records.BOX`, the corners as fractions of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .augment import rounded
from .boxes import CORNERS, project
from .errors import DataError
from .picture import resize

Annotated = tuple[np.ndarray, np.ndarray]  # a picture and its boxes
PICTURES = 4  # of a mosaic
NEAREST = 0.2  # that the centre of a mosaic comes to an edge, as a part of the side
EVEN = 32.0  # both parameters of the beta distribution that a mixup's share is of: near a half


def mosaic(
    samples: Sequence[Annotated], rng: np.random.Generator, emit: Any = None, most: tuple[int, int] | None = None
) -> Annotated:
    """A picture of four: about a centre that is drawn lies a part of each, and objects keep their sizes.

    Parameters
    ----------
    samples
        Four pictures, of which the first one's size is the mosaic's unless that is too large, and their boxes.
    rng
        Draws the centre, a fifth of a side from an edge at least, and which part of each picture is shown.
    emit
        An EmitConstraint: which objects that a part cuts are kept; None: all that it shows a
        bit of.
    most
        The width and height that the mosaic has at most; pictures shrink for it. None: it may have any.

    Returns
    -------
    picture, boxes
        Of the mosaic.

    Raises
    ------
    DataError
        For pictures of different numbers of channels.

    Source
    ------
    Bochkovskiy et al. 2020 (YOLOv4).

    Examples
    --------
    >>> white, box = np.full((10, 10, 1), 255, np.uint8), np.array([[1, 0, 0, 0, 1, 1, 0]], np.float32)
    >>> black = np.zeros((20, 20, 1), np.uint8)
    >>> picture, boxes = mosaic([(white, box), (black, box), (black, box), (white, box)], np.random.default_rng(0))
    >>> picture.shape, picture[0, 0, 0], picture[0, 9, 0], boxes.shape
    ((10, 10, 1), np.uint8(255), np.uint8(0), (4, 7))
    """
    check_channels(samples)
    rows, columns, channels = samples[0][0].shape
    if most is not None:
        columns, rows = min(columns, most[0]), min(rows, most[1])
    row, column = (round(rng.uniform(NEAREST, 1 - NEAREST) * side) for side in (rows, columns))
    output, boxes = np.empty((rows, columns, channels), np.uint8), []
    places = [(y, x) for y in ((0, row), (row, rows)) for x in ((0, column), (column, columns))]
    for (picture, own), ((top, bottom), (left, right)) in zip(samples, places):
        if top == bottom or left == right:
            continue  # of a picture of a pixel or two
        window = drawn_window(picture, (right - left) / columns, (bottom - top) / rows, rng)
        x0, y0, x1, y1 = window
        output[top:bottom, left:right] = resize(picture[y0:y1, x0:x1], right - left, bottom - top, "LINEAR")
        sides = np.tile(picture.shape[1::-1], 2)
        seen = project(own, np.array(window, np.float32) / sides, emit)
        frame = np.array([left / columns, top / rows, right / columns, bottom / rows], np.float32)
        seen[:, CORNERS] = seen[:, CORNERS] * np.tile(frame[2:] - frame[:2], 2) + np.tile(frame[:2], 2)
        boxes.append(seen)
    return output, np.concatenate(boxes)


def drawn_window(
    picture: np.ndarray, across: float, down: float, rng: np.random.Generator
) -> tuple[int, int, int, int]:
    """A window (xmin, ymin, xmax, ymax in pixels) of a picture that is so large, as parts of its width and height."""
    rows, columns = picture.shape[:2]
    width, height = (min(max(1, round(share * side)), side) for share, side in ((across, columns), (down, rows)))
    left, top = int(rng.integers(columns - width + 1)), int(rng.integers(rows - height + 1))
    return left, top, left + width, top + height


def mixup(samples: Sequence[Annotated], rng: np.random.Generator) -> Annotated:
    """Two pictures one over the other, each about half transparent, and the objects of both.

    Parameters
    ----------
    samples
        Two pictures, of which the first one's size is the result's, and their boxes.
    rng
        Draws the share of the first one, of a beta distribution about a half.

    Returns
    -------
    picture, boxes
        All objects count alike.

    Raises
    ------
    DataError
        For pictures of different numbers of channels.

    Source
    ------
    Zhang et al. 2018 (mixup) and Zhang et al. 2019 (for detection, where objects stay where they are).

    Examples
    --------
    >>> white, box = np.full((4, 4, 1), 255, np.uint8), np.array([[1, 0, 0, 0, 1, 1, 0]], np.float32)
    >>> picture, boxes = mixup([(white, box), (np.zeros((8, 8, 1), np.uint8), box)], np.random.default_rng(0))
    >>> picture.shape, 64 < picture[0, 0, 0] < 192, len(boxes)
    ((4, 4, 1), np.True_, 2)
    """
    check_channels(samples)
    (one, own), (other, others) = samples
    share = np.float32(rng.beta(EVEN, EVEN))
    over = resize(other, one.shape[1], one.shape[0], "LINEAR")
    return rounded(one * share + over * (1 - share)), np.concatenate([own, others])


def check_channels(samples: Sequence[Annotated]) -> None:
    """Raises DataError for pictures of different numbers of channels."""
    channels = sorted({picture.shape[2] for picture, _ in samples})
    if len(channels) > 1:
        raise DataError(
            f"pictures of {channels[0]} and {channels[1]} channels do not go into one; give transform_param "
            "{ force_color: true }"
        )
