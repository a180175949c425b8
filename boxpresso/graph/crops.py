"""Where a Crop without crop_param cuts: maps of coordinates between blobs, as caffe's python/caffe/coord_map.py has them.

A map is (axis, scale, shift): coordinate x of the first blob is scale * x + shift in the second, along all axes from `axis`
on; axis None stands for a layer that works on each element alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..layers.core import Trait, traits_of
from ..layers.core.registry import known_type
from ..proto import LayerParameter, NetParameter
from ..proto.errors import BoxpressoWarning, LayerError

Map = tuple[Any, Any, Any]
IDENTITY: Map = (None, Fraction(1), Fraction(0))
DIGITS = 256  # bits of a fraction: a map of longer ones is of no net that anybody has run


class UndefinedMapException(Exception):
    """A layer relates the coordinates of its bottom and its top in no such way."""


class AxisMismatchException(Exception):
    """Two maps work on different axes."""


def window_map(axis: int, stride: Any, size: Any, pad: Any, spreads: bool = False) -> Map:
    """The map of a layer with windows, from its bottom to its top. size: of the dilated kernel. spreads: of Deconvolution.

    Examples
    --------
    >>> window_map(1, 2, 3, 1)
    (1, 0.5, 0.0)
    """
    if spreads:
        return axis, stride, (size - 1) / 2 - pad
    return axis, 1 / stride, (pad - (size - 1) / 2) / stride


def compose(base_map: Map, next_map: Map) -> Map:
    """A map and then a further one, towards the bottom.

    Raises
    ------
    AxisMismatchException
        For maps on different axes.
    """
    (axis1, scale1, shift1), (axis2, scale2, shift2) = base_map, next_map
    if axis1 is not None and axis2 is not None and axis1 != axis2:
        raise AxisMismatchException(f"one map begins at axis {axis1}, the other at axis {axis2}")
    return axis2 if axis1 is None else axis1, scale1 * scale2, scale1 * shift2 + shift1


def inverse(coord_map: Map) -> Map:
    """The map in the other direction."""
    axis, scale, shift = coord_map
    return axis, 1 / scale, -shift / scale


def align_crops(net: NetParameter) -> NetParameter:
    """The net with an offset for each Crop that has no crop_param and whose offset 0 is not right by the maps of coordinates.

    BVLC's Crop begins at 0 unless its prototxt says otherwise. The Crop that HED, DeepSkeleton and CRF-RNN were trained with
    has no parameters: it walks the net from both bottoms to the blob that they come from, and what the maps on the way differ
    by is its offset. Offset 0 there is a picture that is shifted. A Crop whose maps say 0, or no whole number from 0, another
    scale, or nothing, as its bottoms are not connected by layers that have a map, stays as it is; so does any with a
    crop_param. A BoxpressoWarning names the layers and their offsets. An AutoCrop is that older Crop by its name: there is no
    warning, and one that cannot be aligned is refused.

    Raises
    ------
    LayerError
        An AutoCrop that no whole offset from 0 aligns.

    Source
    ------
    https://github.com/BVLC/caffe/blob/master/python/caffe/coord_map.py, by the authors of that Crop.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "x" type: "Input" top: "x" }
    ...     layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { kernel_size: 3 pad: 35 } }
    ...     layer { name: "crop" type: "Crop" bottom: "c" bottom: "x" top: "y" }''')
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     list(align_crops(net).layer[2].crop_param.offset)
    [34]
    """
    if not any(is_bare(layer) for layer in net.layer):
        return net
    offsets = offsets_of(net)
    if not offsets:
        return net
    result = NetParameter()
    result.CopyFrom(net)
    for i, (axis, offset) in offsets.items():
        result.layer[i].crop_param.axis = axis
        result.layer[i].crop_param.offset.extend(offset)
    said = ", ".join(
        f"{net.layer[i].name!r} ({' '.join(f'offset: {n}' for n in o)})"
        for i, (_, o) in offsets.items()
        if net.layer[i].type == "Crop"
    )
    if not said:
        return result  # AutoCrop says itself what is meant
    warnings.warn(
        f"Crop without crop_param: {said if len(said) < 600 else said[:600] + ' ..'}. These offsets align the coordinates of "
        "the bottoms, as the Crop of HED and CRF-RNN does; BVLC's would begin at 0, which shifts the picture. To say which "
        "is meant, write for each layer crop_param { offset: N }",
        BoxpressoWarning,
        stacklevel=4,
    )
    return result


def is_bare(layer: LayerParameter) -> bool:
    """Whether a layer is a Crop or AutoCrop of two bottoms without crop_param."""
    return layer.type in ("Crop", "AutoCrop") and len(layer.bottom) == 2 and not layer.HasField("crop_param")


def offsets_of(net: NetParameter) -> dict[int, tuple[int, list[int]]]:
    """{number of a Crop without crop_param: (axis, offsets)}, where the maps say another offset than 0.

    Each blob has a root, the blob before it that no map leads to, and the map from the root; layers are passed once.
    """
    known: dict[str, tuple[object, Map]] = {}
    cuts: dict[int, tuple[int, list[int]]] = {}
    for i, layer in enumerate(net.layer):
        before = [known.get(name, (name, IDENTITY)) for name in layer.bottom]
        here: tuple[object, Map] | None = None
        if is_bare(layer):
            offset = difference(before[0], before[1])
            if offset is None and layer.type == "AutoCrop":
                raise LayerError(
                    f"AutoCrop layer {layer.name!r}: no whole offset from 0 aligns {layer.bottom[0]!r} with "
                    f'{layer.bottom[1]!r} by the layers before them; write type: "Crop" and crop_param {{ offset: N }}'
                )
            if offset is not None and any(offset[1]):
                cuts[i] = offset
        try:
            if before:
                axis, offsets = cuts.get(i, (2, []))
                root, base = before[0]
                here = root, short(compose(map_of(layer, axis, offsets), base))
        except (UndefinedMapException, AxisMismatchException, ValueError):  # ValueError: axes of other numbers
            here = None
        for j, top in enumerate(layer.top):
            known[top] = (
                here if here is not None and (j == 0 or Trait.VIEW in traits_of(layer.type)) else ((i, j), IDENTITY)
            )
    return cuts


def map_of(layer: LayerParameter, axis: int, offsets: list[int]) -> Map:
    """The map of a layer, from its first bottom to its first top. axis, offsets: of a Crop without crop_param."""
    if Trait.KEEPS_PLACES in traits_of(layer.type):
        return IDENTITY
    if layer.type in ("Crop", "AutoCrop"):
        if layer.HasField("crop_param"):
            axis, offsets = layer.crop_param.axis, list(layer.crop_param.offset)
        return axis - 1, exact([1]), -exact(offsets or [0])
    known = known_type(layer.type)
    window = known.window_of(layer) if known is not None else None
    if window is None:
        raise UndefinedMapException(f"a {layer.type} of these parameters has no map of coordinates")
    if min(*window.stride, *window.kernel, *window.dilation) < 1:
        raise UndefinedMapException(f"a {layer.type} of these sizes is refused")
    size = (exact(window.kernel) - 1) * exact(window.dilation) + 1
    return window_map(window.axis, exact(window.stride), size, exact(window.pad), window.spreads)


def exact(numbers: Sequence[int]) -> Any:
    """An array of fractions."""
    return np.array([Fraction(n) for n in numbers], object)


def short(map: Map) -> Map:
    """The map; undefined where its fractions have grown long."""
    _, scale, shift = map
    for value in (*np.atleast_1d(scale), *np.atleast_1d(shift)):
        if value.numerator.bit_length() + value.denominator.bit_length() > DIGITS:
            raise UndefinedMapException("a map of long fractions")
    return map


def difference(cropped: tuple[object, Map], size: tuple[object, Map]) -> tuple[int, list[int]] | None:
    """(axis, offsets) of the Crop that aligns a blob with another, of which root and map are given; None for none."""
    if cropped[0] != size[0]:
        return None
    try:
        axis, scale, shift = compose(
            cropped[1], inverse(size[1])
        )  # from the other blob's coordinates to the cropped one's
        offsets = np.atleast_1d(shift)
        if not (np.atleast_1d(scale) == 1).all():
            return None
    except (AxisMismatchException, ValueError):
        return None
    if any(value < 0 or value.denominator != 1 or value >= 2**31 for value in offsets):
        return None
    whole = [int(value) for value in offsets]
    if axis is None:  # only layers between them that keep all coordinates
        return 2, [0]
    return axis + 1, whole[:1] if len(set(whole)) == 1 else whole
