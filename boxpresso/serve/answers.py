"""Detections as the answer of a request."""

from __future__ import annotations

import base64
import io
import math
import os
import re
from pathlib import PurePath
from typing import Any

from PIL import Image

from ..data.inputs import Numpy
from ..decoders.detections import Detections
from ..decoders.saving import as_json

SAME = ("class_id", "class_name", "score", "box", "angle", "rotated", "landmarks", "landmark_scores", "mask")


def rows(detections: Detections) -> list[dict[str, Any]]:
    """Each detection as plain values.

    Returns
    -------
    list of dict
        `class_id`, the number of its class; `class_name`, None where it is not known; `score`; `box`: left, top, right, bottom
        in pixels; `label`, an older name of class_name, "label 3" where that is not known, and `class_index`, one of class_id;
        and where there are any `polygon` (corners), `angle`, `rotated`, `landmarks`,
        `landmark_scores` and `mask`, COCO's run lengths.

    Examples
    --------
    >>> rows(Detections([[1, 2, 3, 4]], [0.5], [7], {7: "cat"}))
    [{'class_id': 7, 'class_name': 'cat', 'score': 0.5, 'box': [1.0, 2.0, 3.0, 4.0], 'label': 'cat', 'class_index': 7}]
    """
    result = []
    for i, row in enumerate(as_json(detections)):
        answer = {name: finite(row[name]) for name in SAME if name in row}
        answer.update(label=detections.label(i), class_index=row["class_id"])
        if "quadrilateral" in row:
            answer["polygon"] = finite(row["quadrilateral"])
        result.append(answer)
    return result


def finite(value: Any) -> Any:
    """A value of JSON, which has no NaN and no infinity: None in their place."""
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


PATHS = re.compile(
    r"(?<![\w./\\])(?<!https:)(?<!http:)(?:[A-Za-z]:)?[\\/](?:[^\s'\":;,()]+[\\/])+"
)  # the folders of an absolute path


def public(text: str, *paths: object) -> str:
    """A text for clients: of absolute paths, and of these, the last name alone; addresses on the web stay.

    Examples
    --------
    >>> public("cannot read /home/me/mean.npy for layer 'a/b' of in/deploy.prototxt", "in/deploy.prototxt")
    "cannot read mean.npy for layer 'a/b' of deploy.prototxt"
    >>> public("published at https://github.com/owner/net/tree/main, kept in /home/me/net")
    'published at https://github.com/owner/net/tree/main, kept in net'
    """
    for path in paths:
        if isinstance(path, (str, os.PathLike)) and os.fspath(path):
            text = text.replace(os.fspath(path), PurePath(path).name)
    return PATHS.sub("", text)


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
