"""Where pictures come from: files, folders, patterns, videos and cameras, one after another."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..proto.errors import BoxpressoError
from ..proto.reading import FilePath
from .errors import BrokenRecord, DataError
from .folders import is_hidden
from .image import is_address
from .video import is_video, open_camera, open_video

PICTURES = (
    ".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".dib", ".webp", ".tif", ".tiff", ".gif",
    ".ppm", ".pgm", ".pbm", ".jp2", ".avif", ".tga", ".mpo", ".qoi",
)  # fmt: skip


@dataclass(frozen=True)
class PictureSource:
    """Something that gives pictures.

    Attributes
    ----------
    kind
        "picture", "video" or "camera".
    path
        The file, or the number of the camera.
    """

    kind: str
    path: str

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"camera {self.path}" if self.kind == "camera" else self.path


@dataclass(frozen=True)
class Item:
    """One picture of a source, or why it cannot be read.

    Attributes
    ----------
    source
        Where it is from.
    picture
        What the reader of pictures gave, or a frame's pixels (H, W, 3) in RGB order; None where `error` says why.
    frame, time
        Of a video or a camera: the number of the frame from 0, and its time in seconds.
    error
        What is wrong with it.
    rate, total
        Of a video: frames a second that are read, and how many are read in all, where that is known.
    """

    source: PictureSource
    picture: Any = None
    frame: int | None = None
    time: float | None = None
    error: BrokenRecord | None = None
    rate: float | None = None
    total: int | None = None

    @property
    def name(self) -> str:
        """The file, and the number of the frame."""
        return self.source.name if self.frame is None else f"{self.source.name} #{self.frame}"


def expand(names: Sequence[str]) -> list[PictureSource]:
    """The sources that a user named.

    Parameters
    ----------
    names
        Pictures; addresses of pictures; folders, of which all pictures and videos are taken, in the order of their names, but
        hidden ones; patterns such as "img/*.jpg", where the shell has not replaced them; videos, by their ending; cameras, by
        their number.

    Raises
    ------
    DataError
        For a folder without pictures and a pattern that nothing fits.

    Examples
    --------
    >>> expand(["b.mp4", "0"])
    [PictureSource(kind='video', path='b.mp4'), PictureSource(kind='camera', path='0')]
    """
    result: list[PictureSource] = []
    for name in names:
        if os.path.isdir(name):
            there = sorted(path for path in Path(name).iterdir() if not is_hidden(path))
            paths = [str(path) for path in there if known(path) and path.is_file()]
            if not paths:
                raise DataError(f"the folder {name} has no pictures (.jpg, .png ..) and no videos (.mp4 ..)")
            result += [of_file(path) for path in paths]
        elif is_address(name):  # which may have a "?"
            result.append(PictureSource("picture", name))
        elif not os.path.lexists(name) and glob.has_magic(name):
            paths = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
            if not paths:
                raise DataError(f"no file fits the pattern {name}")
            result += [of_file(path) for path in paths]
        elif name.isdecimal() and not os.path.lexists(name):
            result.append(PictureSource("camera", name))
        else:
            result.append(of_file(name))
    return result


def known(path: FilePath) -> bool:
    """Whether a file in a folder is taken, by its ending."""
    name = os.fspath(path).lower()
    return (name.endswith(PICTURES) and ".detections." not in name) or is_video(path)


def of_file(path: str) -> PictureSource:
    """A file as a source: a video by its ending, else a picture."""
    return PictureSource("video" if is_video(path) else "picture", path)


def read(
    sources: Sequence[PictureSource], picture: Callable[[str], Any], *, every: int = 1, frames: int | None = None
) -> Iterator[Item]:
    """The pictures of some sources, one after another. What cannot be read is an item with an error, and is passed over.

    Parameters
    ----------
    sources
        Of `expand`.
    picture
        Reads a picture's file; raises BoxpressoError where it cannot.
    every
        Of videos and cameras, 1 takes each frame, 2 each second, and so on.
    frames
        The most frames that are taken of each video and camera.

    Raises
    ------
    DataError
        For a camera that is not there, and where nothing that reads videos is installed.
    """
    for source in sources:
        if source.kind == "picture":
            yield one(source, picture)
        else:
            yield from moving(source, every, frames)


def one(source: PictureSource, picture: Callable[[str], Any]) -> Item:
    """A picture's item."""
    try:
        return Item(source, picture(source.path))
    except BoxpressoError as error:
        return Item(source, error=error if isinstance(error, BrokenRecord) else BrokenRecord(str(error)))


def moving(source: PictureSource, every: int, frames: int | None) -> Iterator[Item]:
    """The items of a video or a camera."""
    try:
        reader = open_camera(int(source.path), every) if source.kind == "camera" else open_video(source.path, every)
    except BrokenRecord as error:
        yield Item(source, error=error)
        return
    rate = reader.rate / every if reader.rate else None
    total = None if reader.count is None else -(-reader.count // every)
    if frames is not None:
        total = frames if total is None else min(total, frames)
    taken = 0
    try:
        for frame in reader.frames():
            yield Item(source, frame.pixels, frame.number, frame.time, rate=rate, total=total)
            taken += 1
            if taken == frames:
                return
    except BrokenRecord as error:
        yield Item(source, error=error)
    finally:
        reader.close()


def batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Items in groups of at most `size`; one that could not be read is alone in its group, and so is what is of another
    source.

    >>> groups = batches(iter([Item(PictureSource("picture", name), 1) for name in "abc"]), 2)
    >>> [[item.name for item in group] for group in groups]
    [['a', 'b'], ['c']]
    """
    group: list[Item] = []
    for item in items:
        apart = item.error is not None or (
            group
            and (item.source.kind != "picture" or group[0].source.kind != "picture")
            and item.source != group[0].source
        )
        if group and (apart or len(group) >= size):
            yield group
            group = []
        if item.error is not None:
            yield [item]
        else:
            group.append(item)
    if group:
        yield group
