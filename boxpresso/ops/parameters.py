"""What the parameters of several operators have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from ..proto.errors import BoxpressoError

Two = Union[int, Sequence[int]]


def pair(value: Two, name: str = "output_size") -> tuple[int, int]:
    """(height, width) of one number for both, or of two."""
    two = (value, value) if isinstance(value, int) else tuple(int(v) for v in value)
    if len(two) != 2:
        raise BoxpressoError(f"{name} must be one number or two, got {value!r}")
    return two


def pooled(output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """What the parameters of nearly all region layers have in common."""
    height, width = pair(output_size)
    return {"pooled_h": height, "pooled_w": width, "spatial_scale": spatial_scale}


def position_sensitive(x: Any, output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """The parameter of x's channels, bins * bins for each output."""
    bins, width = pair(output_size)
    if bins != width:
        raise BoxpressoError(f"output_size must be as high as wide, got {output_size!r}")
    return {"spatial_scale": spatial_scale, "group_size": bins, "output_dim": x.shape[1] // max(bins * bins, 1)}
