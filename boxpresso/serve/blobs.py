"""The numbers of a blob as small pictures, one for each channel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from ..data.inputs import Numpy
from .answers import data_url
from .options import Refusal

# Matplotlib's viridis (CC0, by Smith, van der Walt and Firing) at nine places; between them it is interpolated.
VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"]
PER_PAGE, MOST_PER_PAGE = 32, 128  # channels
SIDE = 160  # pixels of a channel's picture; a larger one is made smaller, by means
FIRST = 64  # numbers that are given as they are, of a blob that is no map


@dataclass(frozen=True)
class View:
    """What of a blob is shown, and how.

    Attributes
    ----------
    page, per_page
        Which channels: `per_page` from number `page` * `per_page` on.
    colours
        "viridis" or "grey".
    scale
        From the lowest to the highest number of each "channel", or of the whole "blob".
    """

    page: int = 0
    per_page: int = PER_PAGE
    colours: str = "viridis"
    scale: str = "channel"


def look(values: Numpy, view: View) -> dict[str, Any]:
    """A page of a blob's channels, and what can be said of it in numbers.

    Examples
    --------
    >>> seen = look(np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2), View())
    >>> seen["shape"], seen["min"], seen["mean"], seen["max"], seen["channels"], seen["pages"]
    ([1, 2, 2, 2], 0.0, 3.5, 7.0, 2, 1)
    """
    maps, folded = as_maps(values)
    if not 1 <= view.per_page <= MOST_PER_PAGE:
        raise Refusal(422, f"per_page must be from 1 to {MOST_PER_PAGE}, got {view.per_page}")
    pages = max(1, math.ceil(len(maps) / view.per_page))
    if not 0 <= view.page < pages:
        raise Refusal(404, f"there is no page {view.page}; there are {pages}, from 0 on")
    whole = numbers(values)
    images = []
    for at in range(view.page * view.per_page, min(len(maps), (view.page + 1) * view.per_page)):
        own = numbers(values.reshape(len(maps), -1)[at])
        span = whole if view.scale == "blob" else own
        image = painted(maps[at], span["min"], span["max"], view.colours)
        images.append({"channel": at, "width": maps.shape[2], "height": maps.shape[1], **own, "image": data_url(image)})
    channels = values.shape[1] if values.ndim > 1 and not folded else 1
    return {
        "shape": list(values.shape),
        **whole,
        "channels": len(maps),
        "channels_each": channels,  # of each picture of a batch
        "folded": folded,
        "first": plain(values.reshape(-1)[:FIRST]) if folded else [],
        "page": view.page,
        "pages": pages,
        "images": images,
    }


def as_maps(values: Numpy) -> tuple[Numpy, bool]:
    """A blob as maps (K, H, W), and whether it is none in itself: then its numbers are laid in the lines of a square.

    Examples
    --------
    >>> as_maps(np.zeros((2, 3, 4, 5)))[0].shape, as_maps(np.zeros((2, 10)))[0].shape, as_maps(np.zeros((1, 2, 900)))[0].shape
    ((6, 4, 5), (2, 3, 4), (1, 42, 43))
    """
    if not values.size:
        return np.zeros((0, 1, 1), values.dtype), False
    if values.ndim >= 3:
        high, wide = values.shape[-2:]
        if min(high, wide) > 1 and max(high, wide) <= 8 * min(high, wide):
            return values.reshape(-1, high, wide), False
    rows = values.reshape(values.shape[0] if values.ndim > 1 else 1, -1)
    wide = math.ceil(math.sqrt(rows.shape[1]))
    high = math.ceil(rows.shape[1] / wide)
    laid = np.full((len(rows), high * wide), np.nan, np.result_type(values.dtype, np.float32))
    laid[:, : rows.shape[1]] = rows
    return laid.reshape(len(rows), high, wide), True


def numbers(values: Numpy) -> dict[str, Any]:
    """The lowest, the mean and the highest number, None where there is none, and how many are not finite."""
    finite = np.isfinite(values)
    good = values if finite.all() else values[finite]
    if not good.size:
        return {"min": None, "mean": None, "max": None, "not_finite": int(values.size)}
    low, mean, high = float(good.min()), float(good.mean(dtype=np.float64)), float(good.max())
    return {"min": low, "mean": mean, "max": high, "not_finite": int(values.size - good.size)}


def painted(values: Numpy, low: float | None, high: float | None, colours: str) -> Image.Image:
    """A map as a picture with a palette; what is not finite is the lowest."""
    steps = np.zeros(values.shape, np.uint8)
    if low is not None and high is not None and high > low:
        known = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
        steps = np.rint(255 * ((known - low) / (high - low)).clip(0, 1)).astype(np.uint8)
    image = Image.fromarray(steps)
    if max(image.size) > SIDE:
        factor = SIDE / max(image.size)
        size = max(1, round(image.width * factor)), max(1, round(image.height * factor))
        image = image.resize(size, Image.Resampling.BOX)
    if colours == "viridis":
        image.putpalette(viridis())
    return image


def viridis() -> list[int]:
    """256 colours as red, green, blue in turn."""
    places = np.array([[int(code[i : i + 2], 16) for i in (0, 2, 4)] for code in VIRIDIS])
    at = np.linspace(0, 255, len(places))
    table = np.stack([np.interp(np.arange(256), at, places[:, i]) for i in range(3)], 1)
    result: list[int] = np.rint(table).astype(int).reshape(-1).tolist()
    return result


def plain(values: Numpy) -> list[float | None]:
    """Numbers for JSON, None for one that is not finite."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]
