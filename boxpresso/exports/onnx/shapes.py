"""Layers that move, repeat, choose or resample elements without weights."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np

from ..operations import Numpy
from .graph import OnnxGraph, Work, lowering


@lowering("Permute")
def permute(g: OnnxGraph, w: Work) -> str:
    return moved(g, w, list(w.layer.order))


@lowering("Transpose")
def transpose(g: OnnxGraph, w: Work) -> str:
    return moved(g, w, list(w.layer.param.transpose_param.dim))


def moved(g: OnnxGraph, w: Work, order: list[int]) -> str:
    return g.transpose(w.bottoms[0], *order)


@lowering("Reshape", "Flatten")
def reshape(g: OnnxGraph, w: Work) -> str:
    at = w.layer.grows
    if at:
        return g.reshape(w.bottoms[0], [*w.top_shapes[0][:at], -1, *w.top_shapes[0][at + 1 :]])
    if w.bottom_shapes[0] == w.top_shapes[0]:
        return w.bottoms[0]
    return g.reshape(w.bottoms[0], w.top_shapes[0], w.lead)


@lowering("Concat")
def concat(g: OnnxGraph, w: Work) -> str:
    p = w.layer.param.concat_param
    axis = p.concat_dim if p.HasField("concat_dim") else p.axis
    return g.concat(w.bottoms, axis % len(w.top_shapes[0]))


@lowering("Slice")
def slice_(g: OnnxGraph, w: Work) -> list[str]:
    p, shape = w.layer.param.slice_param, w.bottom_shapes[0]
    axis = (p.slice_dim if p.HasField("slice_dim") else p.axis) % len(shape)
    if len(w.top_shapes) == 1:
        return [w.bottoms[0]]
    if axis == 0 and w.lead and not p.slice_point:  # equal parts of however many images
        part = g.op("Div", g.size(w.bottoms[0], 0), g.ints(len(w.top_shapes)))
        bounds = [g.op("Mul", part, g.ints(i)) for i in range(len(w.top_shapes) + 1)]
        return [g.op("Slice", w.bottoms[0], start, end, g.ints(0)) for start, end in pairwise(bounds)]
    ends = np.cumsum([top[axis] for top in w.top_shapes])
    return [g.slice(w.bottoms[0], axis, int(end - top[axis]), int(end)) for end, top in zip(ends, w.top_shapes)]


@lowering("Crop", "AutoCrop")
def crop(g: OnnxGraph, w: Work) -> str:
    p, shape, window = w.layer.param.crop_param, w.bottom_shapes[0], w.top_shapes[0]
    axis = p.axis % len(shape)
    offsets = list(p.offset) or [0]
    offsets = offsets * (len(shape) - axis) if len(offsets) == 1 else offsets
    axes = list(range(axis, len(shape)))
    w.need(axis > 0 or not w.lead, "it crops the batch, whose length must be known")
    ends = [offset + window[k] for k, offset in zip(axes, offsets)]
    if all(offset == 0 and window[k] == shape[k] for k, offset in zip(axes, offsets)):
        return w.bottoms[0]
    return g.op("Slice", w.bottoms[0], g.ints(*offsets), g.ints(*ends), g.ints(*axes))


@lowering("Pad", "Padding")
def pad(g: OnnxGraph, w: Work) -> str:
    borders, axes = w.layer.borders, len(w.bottom_shapes[0])
    w.need(axes > len(borders) or not any(borders[0]) or not w.lead, "it pads the batch, whose length must be known")
    before, behind = ([0] * (axes - len(borders)) + [int(border[side]) for border in borders] for side in (0, 1))
    mode = {"CONSTANT": "constant", "REPLICATE": "edge", "REFLECT": "reflect"}[w.layer.mode]
    return g.op("Pad", w.bottoms[0], g.ints(*before, *behind), g.const(w.layer.value), mode=mode)


@lowering("Tile")
def tile(g: OnnxGraph, w: Work) -> str:
    p, shape = w.layer.param.tile_param, w.bottom_shapes[0]
    repeats = [1] * len(shape)
    repeats[p.axis % len(shape)] = p.tiles
    return g.op("Tile", w.bottoms[0], g.ints(*repeats))


@lowering("Reverse")
def reverse(g: OnnxGraph, w: Work) -> str:
    y, axes = w.bottoms[0], len(w.bottom_shapes[0])
    for axis in w.layer.param.reverse_param.axis or [0]:
        y = g.slice(y, axis % axes, -1, np.iinfo(np.int64).min, -1)
    return y


@lowering("Reorg")
def reorg(g: OnnxGraph, w: Work) -> str:
    p, (images, channels, height, width) = w.layer.param.reorg_param, w.bottom_shapes[0]
    s = p.stride
    if p.reverse:
        return g.op("DepthToSpace", w.bottoms[0], blocksize=s, mode="DCR")
    fine = g.reshape(w.bottoms[0], (images, channels // s**2, height, s, width, s), w.lead)
    turned = g.transpose(fine, 0, 3, 5, 1, 2, 4)
    return g.reshape(turned, w.top_shapes[0], w.lead)


@lowering("ParseOutput")
def parse_output(g: OnnxGraph, w: Work) -> list[str]:
    """Of equal values the first channel."""
    x = w.bottoms[0]
    places = g.cast(g.op("ArgMax", x, axis=1, keepdims=1), "float")
    return [places, g.reduce("ReduceMax", x, [1])][: len(w.step.outputs)]


@lowering("Tiling")
def tiling(g: OnnxGraph, w: Work) -> str:
    return g.op("DepthToSpace", w.bottoms[0], blocksize=w.layer.param.tiling_param.tile_dim, mode="CRD")


@lowering("ShuffleChannel")
def shuffle_channel(g: OnnxGraph, w: Work) -> str:
    group, shape = w.layer.param.shuffle_channel_param.group, w.bottom_shapes[0]
    grouped = g.reshape(w.bottoms[0], (shape[0], group, shape[1] // group, prod(shape[2:])), w.lead)
    return g.reshape(g.transpose(grouped, 0, 2, 1, 3), shape, w.lead)


@lowering("Reduction")
def reduction(g: OnnxGraph, w: Work) -> str:
    layer, shape = w.layer, w.bottom_shapes[0]
    p = layer.param.reduction_param
    axis = p.axis % len(shape) if shape else 0
    kind = {"SUM": "ReduceSum", "MEAN": "ReduceMean", "ASUM": "ReduceL1", "SUMSQ": "ReduceSumSquare"}[layer.name_of]
    axes = list(range(axis, len(shape)))
    y = g.reduce(kind, w.bottoms[0], axes, keep=False) if axes else w.bottoms[0]
    return y if p.coeff == 1 else g.mul(y, p.coeff)


@lowering("ArgMax")
def argmax(g: OnnxGraph, w: Work) -> str:
    """Of equal values the one with the higher index comes first: the largest of the reversed axis."""
    p, shape, x = w.layer.param.argmax_param, w.bottom_shapes[0], w.bottoms[0]
    w.need(not w.lead or not p.HasField("axis") or p.axis % len(shape), "its axis is the batch, which is dynamic")
    by_axis = p.HasField("axis")
    axis = p.axis % len(shape) if by_axis else 1
    length = shape[axis] if by_axis else prod(shape[1:])
    flat = x if by_axis else g.reshape(x, (shape[0], length), w.lead)
    values, places = g.top_k(g.slice(flat, axis, -1, np.iinfo(np.int64).min, -1), p.top_k, axis)
    numbers = g.sub(float(length - 1), g.cast(places, "float"))
    if by_axis:
        return values if p.out_max_val else numbers
    parts = [numbers, values] if p.out_max_val else [numbers]
    return g.reshape(g.concat([g.unsqueeze(part, 1) for part in parts], 1), w.top_shapes[0], w.lead)


@lowering("BatchReindex")
def batch_reindex(g: OnnxGraph, w: Work) -> str:
    return g.gather(w.bottoms[0], g.cast(w.bottoms[1], "int64"))


@lowering("Filter")
def filter_(g: OnnxGraph, w: Work) -> list[str]:
    chosen = g.squeeze(g.op("NonZero", g.reshape(w.bottoms[-1], (-1,))), 0)
    return [g.gather(x, chosen) for x in w.bottoms[:-1]]


@lowering("Upsample")
def upsample(g: OnnxGraph, w: Work) -> str:
    if w.layer.unpools:
        return unpool(g, w)
    scales = g.const(np.array([1, 1, *w.layer.scale], np.float32))
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return g.op("Resize", w.bottoms[0], "", scales, **how)


def unpool(g: OnnxGraph, w: Work) -> str:
    """Each element goes where the mask says; of several that go to one place the last one counts.

    ScatterElements leaves the order open, so each place takes the element of the largest index that goes there.
    """
    (images, channels, *size), (*_, height, width) = w.bottom_shapes[0], w.top_shapes[0]
    count, area = prod(size), height * width
    x, mask = (g.reshape(v, (images * channels, count), w.lead) for v in w.bottoms)
    inside = g.op("And", g.op("GreaterOrEqual", mask, g.const(0.0)), g.op("Less", mask, g.const(float(area))))
    place = g.cast(g.op("Where", inside, mask, g.const(float(area))), "int64")  # one place more, for what goes nowhere
    rows = g.concat([g.size(x, 0), g.ints(area + 1)], 0)
    order = g.const(np.arange(1, count + 1, dtype=np.int64), "int64")
    order = g.op("Expand", order, g.op("Shape", place))
    nothing = g.op("Expand", g.const(0, "int64"), rows)
    if g.opset < 18:
        y = g.op("ScatterElements", g.op("Expand", g.const(0.0), rows), place, x, axis=1)
    else:
        last = g.op("ScatterElements", nothing, place, order, axis=1, reduction="max")
        with_none = g.concat([g.op("Expand", g.const(0.0), g.concat([g.size(x, 0), g.ints(1)], 0)), x], 1)
        y = g.op("GatherElements", with_none, last, axis=1)
    return g.reshape(g.slice(y, 1, 0, area), w.top_shapes[0], w.lead)


@lowering("Interp")
def interp(g: OnnxGraph, w: Work) -> str:
    """Bilinear, with the corners on each other: two products with matrices of weights, exact on every reader."""
    height, width, inner_height, inner_width, cut, out_height, out_width = w.layer.sizes
    x = w.bottoms[0]
    rows = g.const(between(height, inner_height, cut, out_height))
    columns = g.const(between(width, inner_width, cut, out_width).T)
    return g.op("MatMul", rows, g.op("MatMul", x, columns))


@lowering("Resize")
def resize(g: OnnxGraph, w: Work) -> str:
    """Two products with matrices of weights, as of Interp; a neighbour beyond the last pixel has no column."""
    height, width, out_height, out_width = w.layer.sizes
    rows, columns = g.const(from_corner(height, out_height)), g.const(from_corner(width, out_width).T)
    return g.op("MatMul", rows, g.op("MatMul", w.bottoms[0], columns))


def from_corner(size: int, out: int) -> Numpy:
    """(out, size): the weights of each pixel, as resize.cu has them."""
    weights = np.zeros((out, size + 1), np.float32)
    for at in range(out):
        x = np.float32(at) * (np.float32(size) / np.float32(out))
        low = min(int(x), size - 1)
        weights[at, low], weights[at, low + 1] = 1 - np.float32(x - low), x - low
    return weights[:, :size]


def between(size: int, inner: int, cut: int, out: int) -> Numpy:
    """(out, size): the weights of each pixel, as interp.cu has them."""
    weights = np.zeros((out, size), np.float32)
    for at in range(out):
        x = np.float32(at) * (np.float32(inner - 1) / np.float32(out - 1)) if out > 1 else np.float32(0)
        low = min(int(x), inner - 1)
        high = min(low + 1, inner - 1)
        part = np.float32(0) if low == high else np.float32(x - low)
        weights[at, cut + low] += 1 - part
        weights[at, cut + high] += part
    return weights
