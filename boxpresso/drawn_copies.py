"""Copies of pictures and videos with their detections drawn, written one after another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np
from PIL.Image import Image as PillowImage

from .data.errors import DataError
from .data.sources import Item, PictureSource
from .data.video import VideoWriter, is_video
from .decoders.detections import Detections
from .drawing import draw_detections
from .proto.errors import BoxpressoError
from .proto.files import replacing


class DrawnCopies:
    """Writes the drawings of some sources; a context manager, at whose end videos are complete.

    Parameters
    ----------
    places
        For each source the file to write; a source without one is not drawn. Several may go into one video.

    Attributes
    ----------
    videos
        The videos that are complete.
    """

    def __init__(self, places: Mapping[PictureSource, Path]) -> None:
        self.places = places
        self.open: dict[Path, VideoWriter] = {}
        self.failed: set[Path] = set()
        self.videos: list[Path] = []

    def add(self, item: Item, image: PillowImage, detections: Detections) -> Path | None:
        """Draws the detections of a picture or a frame.

        Returns
        -------
        Path or None
            The file; None for a picture without detections, whose copy would be the picture itself, and for a frame.

        Raises
        ------
        BoxpressoError
            Where the file cannot be written; further frames of the same video are passed over.
        """
        place = self.places.get(item.source)
        if place is None or place in self.failed:
            return None
        if is_video(place):
            for other in [path for path in self.open if path != place]:
                self.finish(other)
            try:
                if place not in self.open:
                    self.open[place] = VideoWriter(place, item.rate)
                self.open[place].add(np.asarray(draw_detections(image, detections)))
            except DataError:
                self.failed.add(place)
                self.open.pop(place, None)
                raise
            return None
        if not len(detections) and detections.picture is None:
            return None
        save(draw_detections(image, detections), place)
        return place

    def finish(self, place: Path) -> None:
        """Completes a video."""
        writer = self.open.pop(place)
        writer.close()
        self.videos.append(place)

    def end(self) -> list[BoxpressoError]:
        """Completes all videos; the errors of those that cannot be."""
        errors: list[BoxpressoError] = []
        for place in list(self.open):
            try:
                self.finish(place)
            except BoxpressoError as error:
                errors.append(error)
        return errors

    def __enter__(self) -> DrawnCopies:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.end()
        for writer in self.open.values():
            writer.discard()


def save(picture: PillowImage, path: Path) -> None:
    """Writes a picture, whole or not at all. Raises BoxpressoError that names the file."""
    quick = {"compress_level": 1} if path.suffix.lower() == ".png" else {}  # 6 takes 3 times as long
    with replacing(path, suffix=f".part{path.suffix}", lasting=False) as part:
        picture.save(part, **quick)
