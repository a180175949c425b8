"""Detections as the answer of a request."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

from ..data.inputs import Numpy
from ..decoders.detections import Detections
from ..decoders.saving import as_json

SAME = ("score", "box", "angle", "rotated", "landmarks", "landmark_scores", "mask")


def rows(found: Detections) -> list[dict[str, Any]]:
    """Each detection as plain values.

    Returns
    -------
    list of dict
        `label`, the name of its class, or "label 3" where that is not known; `class_index`, its number; `score`; `box`:
        left, top, right, bottom in pixels; and where there are any `polygon` (corners), `angle`, `rotated`, `landmarks`,
        `landmark_scores` and `mask`, COCO's run lengths.

    Examples
    --------
    >>> rows(Detections([[1, 2, 3, 4]], [0.5], [7], {7: "cat"}))
    [{'label': 'cat', 'class_index': 7, 'score': 0.5, 'box': [1.0, 2.0, 3.0, 4.0]}]
    """
    result = []
    for i, row in enumerate(as_json(found)):
        answer = {"label": found.label(i), "class_index": row["label"]}
        answer.update({name: row[name] for name in SAME if name in row})
        if "quadrilateral" in row:
            answer["polygon"] = row["quadrilateral"]
        result.append(answer)
    return result


def image_of(pixels: Numpy) -> dict[str, Any]:
    """A picture that a net made, as PNG in a data URL."""
    return {"width": pixels.shape[1], "height": pixels.shape[0], "url": data_url(Image.fromarray(pixels))}


def data_url(image: Image.Image) -> str:
    """A Pillow image as a data URL.

    Examples
    --------
    >>> data_url(Image.new("L", (2, 2)))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    to = io.BytesIO()
    image.save(to, "PNG")
    return f"data:image/png;base64,{base64.b64encode(to.getvalue()).decode('ascii')}"
