"""The anchors of a region proposal layer: those of its settings, of the net's caller, or as many as the scores have."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from math import inf, isfinite
from typing import Any

import numpy as np

from ...proto.errors import BoxpressoWarning
from ..core import Layer
from ..core.param_str import NUMBERS, kind_of
from .rcnn import Boxes

RON_RATIOS = (0.333, 0.5, 1, 2, 3)  # of RON's configuration
RATIOS = ((0.5, 1, 2), (0.2, 0.5, 1, 2, 3, 5, 7, 10), (0.5, 1, 2, 3, 5, 7, 10))


def away(x: np.ndarray) -> np.ndarray:
    """Rounded as C's round does: halves away from zero."""
    return np.floor(x + 0.5)


def check_lists(layer: Layer, settings: Mapping[str, Any]) -> None:
    """Raises LayerError for lists of scales, ratios or angles, where there are such, that make no anchors."""
    for name in ("scales", "ratios", "angles", "anchor_scales", "anchor_ratios"):
        values = settings.get(name)
        if values is not None:
            finite = kind_of(values) == NUMBERS and all(map(isfinite, values))
            layer.need(
                finite and (name == "angles" or min(values) > 0),
                f"{name} must be a list of numbers{'' if name == 'angles' else ' above 0'}, got {values!r}",
            )


def choose_anchors(
    layer: Layer,
    boxes: Boxes,
    settings: dict[str, Any],
    channels: int,
    explicit: Collection[str],
    rounded: Callable[[np.ndarray], np.ndarray] = np.round,
) -> np.ndarray:
    """The anchors (A, columns) of a layer whose scores have 2 A channels.

    The net's caller goes first (`Net(..., anchors=)`, `--anchors`, or a file beside the model). Then come those that
    the settings make. Where their number is another than that of the scores, and the settings left a list to its
    default, the program that the net is of had other defaults: the count then tells the scales (the default's largest
    and those below it, each half of the one before), or the angles, with a warning; boxes are right only when these are
    the program's.

    Parameters
    ----------
    settings
        With base_size, ratios, scales and angles, and perhaps feat_stride.
    explicit
        The names of settings that the prototxt gives.

    Raises
    ------
    LayerError
        For settings that are no numbers above 0, or no lists of them, for anchors of the wrong kind or number, or a count
        that no scales or angles make.
    """
    check_lists(layer, settings)
    for name in ("feat_stride", "base_size"):
        value = settings.get(name, 1)
        layer.need(isinstance(value, (int, float)) and 0 < value < inf, f"{name} must be above 0, got {value!r}")
    if layer.given_anchors is not None:
        rows = layer.given_anchors
        layer.need(
            rows.shape[1] == boxes.columns,
            f"its anchors are boxes of {boxes.columns} numbers; those given have {rows.shape[1]}",
        )
        layer.need(
            channels == 2 * len(rows),
            f"the scores have {channels} channels, which is {channels / 2:g} anchors; {len(rows)} were given",
        )
        return rows
    s = settings
    made = boxes.anchors(s["base_size"], s["ratios"], s["scales"], s["angles"], rounded=rounded)
    count = channels // 2
    if channels == 2 * len(made) or channels % 2 or not count:
        return made
    other = guess(s, count, explicit, boxes.columns == 5)
    if other is None:
        layer.need(
            False,
            f"bottom 0 must have {2 * len(made)} channels for {len(made)} anchors, got {channels}"
            if set(explicit) & {"scales", "ratios", "angles"}
            else f"the scores have {channels} channels, for {count} anchors, which the prototxt does not say and no list "
            "of scales makes; give them: Net(..., anchors=[[x1, y1, x2, y2], ...]), --anchors FILE of the command, or "
            "MODEL.anchors.json beside the model",
        )
    assert other is not None
    differing = ", ".join(
        f"{name} {list(other[name])}" for name in ("scales", "ratios", "angles") if other[name] != s[name]
    )
    warnings.warn(
        f"{layer}: the scores are of {count} anchors, which the prototxt does not say; {differing} were taken. If the net was "
        "trained with others, give them: Net(..., anchors=...) or --anchors",
        BoxpressoWarning,
        stacklevel=3,
    )
    return boxes.anchors(s["base_size"], other["ratios"], other["scales"], other["angles"], rounded=rounded)


def guess(s: dict[str, Any], count: int, explicit: Collection[str], rotated: bool) -> dict[str, Any] | None:
    """Settings that make so many anchors, with other scales, angles or ratios than the defaults; None where none do.

    >>> guess({"scales": (8, 16, 32), "ratios": (0.5, 1, 2), "angles": (0,)}, 15, (), False)["scales"]
    (2, 4, 8, 16, 32)
    """
    ratios, angles, scales = (tuple(s[name]) for name in ("ratios", "angles", "scales"))
    each = len(ratios) * len(angles)
    if "scales" not in explicit and count % each == 0 and count // each <= 8:
        return {**s, "scales": down_from(max(scales), count // each)}
    if rotated and "angles" not in explicit and count % (len(ratios) * len(scales)) == 0:
        few = count // (len(ratios) * len(scales))
        if few <= 12:
            return {**s, "angles": tuple(-30 + 180 * i / few for i in range(few))}
    if "ratios" not in explicit and not rotated:
        for other in RATIOS:
            if "scales" not in explicit and count % len(other) == 0:
                return {**s, "ratios": other, "scales": down_from(max(scales), count // len(other))}
            if count == len(other) * len(scales):
                return {**s, "ratios": other}
    return None


def down_from(largest: float, count: int) -> tuple[float, ...]:
    """So many scales, each twice the one before, of which the last is the largest.

    >>> down_from(32, 4)
    (4, 8, 16, 32)
    """
    scales = [largest / 2 ** (count - 1 - i) for i in range(count)]
    return tuple(int(scale) if scale == int(scale) else scale for scale in scales)
