"""What the parameters of several operators have in common."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Union

import numpy as np

from ..proto.errors import BoxpressoError

Two = Union[int, Sequence[int]]


def pair(value: Two, name: str = "output_size") -> tuple[int, int]:
    """(height, width) of one number for both, or of two."""
    try:
        two: tuple[int, ...] = tuple(map(index, value if np.ndim(value) else (value, value)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        two = ()
    if len(two) != 2:
        raise BoxpressoError(f"{name} must be one whole number or two, got {value!r}")
    return two[0], two[1]


def number(value: Any, name: str) -> float:
    """A number. Raises BoxpressoError for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BoxpressoError(f"{name} must be a number, got {value!r}") from None


def pooled(output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """What the parameters of nearly all region layers have in common."""
    height, width = pair(output_size)
    if min(height, width) < 1:
        raise BoxpressoError(f"output_size must be above 0, got {output_size!r}")
    return {"pooled_h": height, "pooled_w": width, "spatial_scale": spatial_scale}


def position_sensitive(x: Any, output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """The parameter of x's channels, bins * bins for each output."""
    bins, width = pair(output_size)
    if bins != width or bins < 1:
        raise BoxpressoError(f"output_size must be above 0 and as high as wide, got {output_size!r}")
    return {"spatial_scale": spatial_scale, "group_size": bins, "output_dim": x.shape[1] // (bins * bins)}
