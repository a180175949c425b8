"""Boxes and their labels, drawn on a copy of a picture of any size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .decoders.detections import as_detections
from .decoders.drawing import PALETTE, colour, draw, draw_frame, draw_tag, font_for, inside, overlap, shorten, visible

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "PALETTE",
    "colour",
    "draw",
    "draw_detections",
    "draw_frame",
    "draw_tag",
    "font_for",
    "inside",
    "overlap",
    "shorten",
    "visible",
]


def draw_detections(image: Image, detections: Iterable[Any], names: Mapping[int, str] | None = None) -> Image:
    """Draws a box, or a quadrilateral, and a tag ("person 87%") for each detection, its landmarks and its mask.

    The size of lines and letters follows that of the picture. The best detection is drawn last, tags over all boxes; a tag
    goes where it stays inside the picture and covers no other, if there is such a place, and its text is shortened to fit.
    Tags of more than 12 boxes are no larger than these, and say the score alone where all are of one class. Classes of the
    whole picture are written in its corner; of a net that makes a picture this is the drawing.

    Parameters
    ----------
    image
        A Pillow image, which stays as it is.
    detections
        Of a `Detector` or of `detect`, or anything else with class_id, score and box.
    names
        {class_id: class_name}; without one the tag says "label 3".

    Returns
    -------
    PIL.Image.Image
        A copy in mode RGB.

    Examples
    --------
    >>> from PIL import Image
    >>> from boxpresso import Detection
    >>> drawing = draw_detections(Image.new("L", (100, 80)), [Detection(1, 0.9, (20, 20, 60, 60))], {1: "cat"})
    >>> drawing.mode, drawing.size
    ('RGB', (100, 80))
    """
    return draw(image, as_detections(detections, names))
