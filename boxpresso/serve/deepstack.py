"""DeepStack's interface for objects, by which Frigate's detector of type `deepstack`, Home Assistant and Blue Iris ask.

Source
------
https://docs.deepstack.cc/object-detection/; Frigate's detector, which takes 20 objects, best first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .options import Refusal
from .upload import ADVICE, named_parts

MOST = 20  # objects of an answer: Frigate's detector has room for these


def read_request(body: bytes, headers: Mapping[str, str]) -> tuple[bytes, float | None]:
    """The file of the picture, and the field `min_confidence` (None without it). Raises Refusal."""
    data, least = b"", None
    for name, called, first, end in named_parts(body, headers.get("content-type", "")):
        if name == "min_confidence":
            least = share(body[first:end])
        elif not data and (called is not None or name == "image"):
            data = body[first:end]
    if not data:
        raise Refusal(400, f"the upload is empty, or has no file called image; {ADVICE}")
    return data, least


def share(data: bytes) -> float:
    """A number from 0 to 1. Raises Refusal."""
    try:
        value = float(data)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise Refusal(422, f"min_confidence is {data[:40].decode(errors='replace')!r}, not a number from 0 to 1")
    return value


def answer(reply: Mapping[str, Any]) -> dict[str, Any]:
    """What DeepStack answers, of what /api/detect does.

    >>> found = {"detections": [{"label": "cat", "score": 0.75, "box": [1.2, 2, 30.6, 40]}], "milliseconds": 12.6}
    >>> answer(found)["predictions"]
    [{'label': 'cat', 'confidence': 0.75, 'x_min': 1, 'y_min': 2, 'x_max': 31, 'y_max': 40}]
    """
    sides = ("x_min", "y_min", "x_max", "y_max")
    rows = [
        {"label": one["label"], "confidence": one["score"], **{n: round(v) for n, v in zip(sides, one["box"])}}
        for one in reply["detections"][:MOST]
        if None not in one["box"]
    ]
    return {"success": True, "predictions": rows, "duration": round(reply["milliseconds"])}
