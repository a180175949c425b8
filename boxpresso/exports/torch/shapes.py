"""Layers that move, repeat, choose or resample elements without weights."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .table import Run, Work, factory, import_torch


@factory("Permute")
def permute(w: Work) -> Run:
    order = [int(axis) for axis in w.layer.order]
    return lambda p, x: x.permute(order)


@factory("Transpose")
def transpose(w: Work) -> Run:
    order = [int(axis) for axis in w.layer.param.transpose_param.dim]
    return lambda p, x: x.permute(order)


@factory("Reshape")
def reshape(w: Work) -> Run:
    lengths = w.layer.lengths
    return lambda p, x: x.reshape(lengths(x.shape))


@factory("Flatten")
def flatten(w: Work) -> Run:
    param, axes = w.layer.param.flatten_param, len(w.bottom_shapes[0])
    start, end = int(param.axis) % axes, int(param.end_axis) % axes + 1
    return lambda p, x: x.reshape(*x.shape[:start], prod(x.shape[start:end]), *x.shape[end:])


@factory("Concat")
def concat(w: Work) -> Run:
    torch, param = import_torch(), w.layer.param.concat_param
    axis = int(param.concat_dim if param.HasField("concat_dim") else param.axis)
    return lambda p, *xs: torch.cat(xs, axis)


@factory("Slice")
def slice_(w: Work) -> Run:
    param = w.layer.param.slice_param
    axis = int(param.slice_dim if param.HasField("slice_dim") else param.axis) % len(w.bottom_shapes[0])
    points, parts = [int(point) for point in param.slice_point], len(w.top_shapes)

    def run(p: Any, x: Any) -> Any:
        return x.tensor_split(points, axis) if points else x.unflatten(axis, (parts, -1)).unbind(axis)

    return run


@factory("Crop", "AutoCrop")
def crop(w: Work) -> Run:
    param, axes = w.layer.param.crop_param, len(w.top_shapes[0])
    axis = int(param.axis) % axes
    offsets = [int(v) for v in param.offset] or [0]
    offsets = offsets * (axes - axis) if len(offsets) == 1 else offsets

    def run(p: Any, x: Any, like: Any) -> Any:
        for k, offset in zip(range(axis, axes), offsets):
            x = x.narrow(k, offset, like.shape[k])
        return x

    return run


@factory("Pad", "Padding")
def pad(w: Work) -> Run:
    torch, layer = import_torch(), w.layer
    borders, value = layer.borders, float(layer.value)
    if layer.mode == "CONSTANT":
        sides = [int(side) for border in reversed(borders) for side in border]
        return lambda p, x: torch.nn.functional.pad(x, sides, value=value)

    def run(p: Any, x: Any) -> Any:
        for k, border in enumerate(borders, x.dim() - len(borders)):
            places = torch.as_tensor(layer.source(x.shape[k], *border), device=x.device)
            x = x.index_select(k, places)
        return x

    return run


@factory("Tile")
def tile(w: Work) -> Run:
    param, axes = w.layer.param.tile_param, len(w.bottom_shapes[0])
    repeats = [1] * axes
    repeats[int(param.axis) % axes] = int(param.tiles)
    return lambda p, x: x.repeat(repeats)


@factory("Reverse")
def reverse(w: Work) -> Run:
    axes = [int(axis) for axis in w.layer.param.reverse_param.axis] or [0]
    return lambda p, x: x.flip(axes)


@factory("Reorg")
def reorg(w: Work) -> Run:
    param, (_, channels, height, width) = w.layer.param.reorg_param, w.bottom_shapes[0]
    s, back, shape = int(param.stride), bool(param.reverse), w.top_shapes[0]
    few, w.fixed = channels // s**2, True

    def run(p: Any, x: Any) -> Any:
        if back:
            turned = x.reshape(-1, s, s, few, height, width).permute(0, 3, 4, 1, 5, 2)
        else:
            turned = x.reshape(-1, few, height, s, width, s).permute(0, 3, 5, 1, 2, 4)
        return turned.reshape(-1, *shape[1:])

    return run


@factory("Tiling")
def tiling(w: Work) -> Run:
    shuffle = import_torch().nn.functional.pixel_shuffle
    side = int(w.layer.param.tiling_param.tile_dim)
    return lambda p, x: shuffle(x, side)


@factory("ShuffleChannel")
def shuffle_channel(w: Work) -> Run:
    group = int(w.layer.param.shuffle_channel_param.group)
    return lambda p, x: x.unflatten(1, (group, -1)).transpose(1, 2).flatten(1, 2)


@factory("Reduction")
def reduction(w: Work) -> Run:
    param, shape = w.layer.param.reduction_param, w.bottom_shapes[0]
    axis, kind, coeff = (int(param.axis) % len(shape) if shape else 0), w.layer.name_of, float(param.coeff)
    axes = list(range(axis, len(shape)))

    def run(p: Any, x: Any) -> Any:
        y = x.abs() if kind == "ASUM" else x * x if kind == "SUMSQ" else x
        if axes:
            y = y.mean(axes) if kind == "MEAN" else y.sum(axes)
        return y * coeff

    return run


@factory("ParseOutput")
def parse_output(w: Work) -> Run:
    """Of equal values the first channel: the first of a stable order."""
    two = len(w.top_shapes) > 1

    def run(p: Any, x: Any) -> Any:
        values, order = x.sort(dim=1, descending=True, stable=True)
        places = order.narrow(1, 0, 1).to(x.dtype)
        return (places, values.narrow(1, 0, 1)) if two else places

    return run


@factory("ArgMax")
def argmax(w: Work) -> Run:
    """Of equal values the one with the higher index comes first: the first of the reversed axis."""
    torch, param, shape = import_torch(), w.layer.param.argmax_param, w.bottom_shapes[0]
    by_axis, count, values_too = param.HasField("axis"), int(param.top_k), bool(param.out_max_val)
    axis, top = (int(param.axis) % len(shape) if by_axis else 1), w.top_shapes[0]

    def run(p: Any, x: Any) -> Any:
        flat = x if by_axis else x.reshape(x.shape[0], prod(x.shape[1:]))
        values, order = flat.flip(axis).sort(dim=axis, descending=True, stable=True)
        values, order = values.narrow(axis, 0, count), order.narrow(axis, 0, count)
        places = (flat.shape[axis] - 1 - order).to(x.dtype)
        if by_axis:
            return values if values_too else places
        parts = [places, values] if values_too else [places]
        return torch.stack(parts, 1).reshape(-1, *top[1:])

    return run


@factory("BatchReindex")
def batch_reindex(w: Work) -> Run:
    return lambda p, x, numbers: x.index_select(0, numbers.long())


@factory("Filter")
def filter_(w: Work) -> Run:
    return lambda p, *xs: [x[xs[-1].reshape(-1) != 0] for x in xs[:-1]]


@factory("Upsample")
def upsample(w: Work) -> Run:
    torch, (height, width) = import_torch(), w.top_shapes[0][2:]
    if not w.layer.unpools:
        down, across = (int(s) for s in w.layer.scale)
        return lambda p, x: x.repeat_interleave(down, 2).repeat_interleave(across, 3)
    area, w.fixed = height * width, True

    def run(p: Any, x: Any, mask: Any) -> Any:
        values, places = x.flatten(2), mask.flatten(2)
        at = torch.where((places >= 0) & (places < area), places, torch.full_like(places, area)).long()
        order = torch.arange(1, values.shape[2] + 1, device=x.device).expand_as(at)
        last = at.new_zeros(*at.shape[:2], area + 1).scatter_reduce(2, at, order, "amax")
        padded = torch.cat([values.new_zeros(*values.shape[:2], 1), values], 2)
        return padded.gather(2, last)[:, :, :area].reshape(*x.shape[:2], height, width)

    return run


@factory("Interp")
def interp(w: Work) -> Run:
    from ..onnx.shapes import between

    w.fixed = True
    height, width, inner_height, inner_width, cut, out_height, out_width = w.layer.sizes
    rows, columns = between(height, inner_height, cut, out_height), between(width, inner_width, cut, out_width).T
    return matrices(rows, columns)


@factory("Resize")
def resize(w: Work) -> Run:
    from ..onnx.shapes import from_corner

    w.fixed = True
    height, width, out_height, out_width = w.layer.sizes
    return matrices(from_corner(height, out_height), from_corner(width, out_width).T)


@factory("MaskResize")
def mask_resize(w: Work) -> Run:
    from ..onnx.regions import resizing

    w.fixed = True
    (height, width), (out_height, out_width) = w.bottom_shapes[0][2:], w.layer.pooled
    return matrices(resizing(height, out_height), resizing(width, out_width).T)


def matrices(rows: np.ndarray, columns: np.ndarray) -> Run:
    """rows @ x @ columns."""
    left, right = rows.tolist(), np.ascontiguousarray(columns).tolist()
    return lambda p, x: x.new_tensor(left) @ (x @ x.new_tensor(right))


@factory("MaskPooling")
def mask_pooling(w: Work) -> Run:
    return lambda p, x, mask: x * mask
