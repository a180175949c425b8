"""pycaffe's coord_map: how the coordinates of two blobs of a NetSpec are related, and the Crop that aligns them.

A map is (axis, scale, shift): coordinate x of the first blob is scale * x + shift in the second, along all axes from `axis`
on; axis None stands for a layer that works on each element alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.crops import (  # scripts take the exceptions from here
    AxisMismatchException,
    Map,
    UndefinedMapException,
    compose,
    inverse,
    window_map,
)
from ..layers.core import Trait
from ..layers.core.catalogue import layer_types
from ..layers.core.registry import known_type
from ..proto import LayerParameter
from .net_spec import layers as L

__all__ = [
    "AxisMismatchException", "Map", "UndefinedMapException", "compose", "conv_params", "coord_map", "coord_map_from_to", "crop",
    "crop_params", "inverse",
]  # fmt: skip
LEGACY = ["pad_h", "pad_w", "kernel_h", "kernel_w", "stride_h", "stride_w"]


def __getattr__(name: str) -> list[str]:
    """PASS_THROUGH_LAYERS: the types of all layers that leave coordinates as they are."""
    if name != "PASS_THROUGH_LAYERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return [name for cls in layer_types() if Trait.KEEPS_PLACES in cls.traits for name in cls.types]


def conv_params(fn: Any) -> tuple[int, Any, Any, Any]:
    """(axis, stride, size, pad) of a layer with a kernel; the size is that of the dilated kernel.

    Raises
    ------
    AssertionError
        For parameters such as kernel_h.
    """
    settings = fn.params.get("convolution_param", fn.params)
    legacy = [name for name in LEGACY if name in fn.params]
    if legacy:
        raise AssertionError(f"cropping does not support legacy _h/_w params: {fn.type_name} has {', '.join(legacy)}")
    size = np.array(settings["kernel_size"], ndmin=1)
    dilation = np.array(settings.get("dilation", 1), ndmin=1)
    stride, pad = np.array(settings.get("stride", 1), ndmin=1), np.array(settings.get("pad", 0), ndmin=1)
    return settings.get("axis", 1), stride, (size - 1) * dilation + 1, pad


def crop_params(fn: Any) -> tuple[int, Any]:
    """(axis, offset) of a Crop."""
    settings = fn.params.get("crop_param", fn.params)
    return settings.get("axis", 2), np.array(settings.get("offset", 0), ndmin=1)


def coord_map(fn: Any) -> Map:
    """The map of a layer, from its first bottom to its top.

    Raises
    ------
    UndefinedMapException
        For a type of layer that has none.
    """
    known = known_type(fn.type_name)
    if known is not None and (window := known.window_of(LayerParameter())) is not None:
        return window_map(*conv_params(fn), window.spreads)
    if known is not None and Trait.KEEPS_PLACES in known.traits:
        return None, 1, 0
    if fn.type_name == "Crop":
        axis, offset = crop_params(fn)
        return axis - 1, 1, -offset  # as Convolution's axis, the last one without coordinates
    raise UndefinedMapException(f"{fn.type_name} has no map of coordinates")


def coord_map_from_to(top_from: Any, top_to: Any) -> Map:
    """The map between two tops, through a blob that both come from.

    Raises
    ------
    RuntimeError
        For tops that no such blob connects.
    AxisMismatchException
        For layers between them that work on different axes.
    """
    identity: Map = (None, 1, 0)
    seen = {top_from: identity}
    for top, _ in walk(top_from, seen):
        del top
    ahead = {top_to: identity}
    for top, here in walk(top_to, ahead):
        if top in seen:
            return compose(here, inverse(seen[top]))
    raise RuntimeError("Could not compute map between tops; are they connected by spatial layers?")


def walk(top: Any, maps: dict[Any, Map]) -> Any:
    """Every top that `top` comes from with its map, nearest first; `maps` is filled on the way.

    Of a Crop only the first bottom counts, as the second one gives but a size.
    """
    waiting = [top]
    while waiting:
        here = waiting.pop(0)
        yield here, maps[here]
        bottoms = here.fn.inputs[:1] if here.fn.type_name == "Crop" else here.fn.inputs
        for bottom in bottoms:
            try:
                below = compose(maps[here], coord_map(here.fn))
            except UndefinedMapException:
                break
            if bottom not in maps:
                waiting.append(bottom)
            maps[bottom] = below


def crop(top_from: Any, top_to: Any) -> Any:
    """A Crop of one top to the size of another, with the offset that aligns their coordinates.

    Raises
    ------
    AssertionError
        For tops of different scales, and for an offset that is negative or no whole number.
    """
    axis, scale, shift = coord_map_from_to(top_from, top_to)
    scale, shift = np.asarray(scale), np.asarray(shift)
    if not (scale == 1).all():
        raise AssertionError(f"scale mismatch on crop (a = {scale})")
    if not (shift <= 0).all():
        raise AssertionError(f"cannot crop negative offset (b = {shift})")
    if not (np.round(shift) == shift).all():
        raise AssertionError(f"cannot crop noninteger offset (b = {shift})")
    offset = [int(value) for value in np.atleast_1d(-np.round(shift))]
    return L.Crop(top_from, top_to, crop_param={"axis": axis + 1, "offset": offset})
