"""Pooling of features inside upright regions."""

from __future__ import annotations

from math import frexp, log2
from typing import Any

import numpy as np

from .graph import OnnxGraph, Work, lowering
from .sampling import inside, on_map

LENGTHS = 1024  # pixels of a map, below which the bins of ROIPooling have a table


def rows_of(g: OnnxGraph, w: Work, columns: int = 5) -> list[str]:
    """The columns of the regions, (R, 1) each: the image, then its numbers."""
    shape = w.bottom_shapes[1]
    rows = w.bottoms[1] if len(shape) == 2 else g.op("Reshape", w.bottoms[1], g.ints(-1, columns))
    image, *numbers = (g.slice(rows, 1, k, k + 1) for k in range(columns))
    return [truncated(g, image), *numbers]


def truncated(g: OnnxGraph, x: str) -> str:
    """Towards zero, as a cast does."""
    return g.cast(g.cast(x, "int64"), "float")


def sides(w: Work) -> tuple[tuple[int, int], tuple[int, int]]:
    """The size of the map and the bins of a region, each for y and x."""
    height, width = w.bottom_shapes[0][2:]
    return (height, width), w.layer.pooled


def native(g: OnnxGraph, w: Work, rows: list[str]) -> tuple[str, str]:
    """Corners (R, 4) and the numbers of images (R) as ONNX's operators of regions take them."""
    return g.concat(rows[1:], 1), g.cast(g.squeeze(rows[0], 1), "int64")


# Bins that are made of whole pixels


@lowering("ROIPooling")
def roi_pooling(g: OnnxGraph, w: Work) -> str:
    layer = w.layer
    w.need(len(w.step.outputs) == 1, "its second top, where the maxima lie, has no counterpart")
    w.need(layer.numbered is None, "regions (B, 4), one of each image without its number, have no counterpart")
    w.need(not layer.mmcv and not layer.last, "its form of boxpresso.ops has no counterpart")
    rows = rows_of(g, w)
    if layer.pad_ratio:
        for first, last in ((1, 3), (2, 4)):
            pad = g.mul(g.add(g.sub(rows[last], rows[first]), 1.0), float(layer.pad_ratio))
            rows[first], rows[last] = g.sub(rows[first], pad), g.add(rows[last], pad)
    if g.target.has("MaxRoiPool", g.opset):
        how = {"pooled_shape": list(layer.pooled), "spatial_scale": float(layer.scale)}
        return g.op("MaxRoiPool", w.bottoms[0], g.concat(rows, 1), **how)
    sizes, pooled = sides(w)
    begins, ends = [], []
    for axis, (first, last) in enumerate(((2, 4), (1, 3))):
        start, end = (g.rounded(g.mul(rows[k], float(layer.scale))) for k in (first, last))
        length = g.larger(g.add(g.sub(end, start), 1.0), 1.0)
        begin, stop = cuts(g, length, pooled[axis])
        begins.append(g.clamp(g.add(begin, start), 0.0, float(sizes[axis])))
        ends.append(g.clamp(g.add(stop, start), 0.0, float(sizes[axis])))
    return largest(g, w, rows[0], begins, ends)


def cuts(g: OnnxGraph, length: str, bins: int) -> tuple[str, str]:
    """Where the bins of regions of whole lengths (R, 1) begin and end, (R, bins) each, from where the region starts.

    As p * (length / bins) in float32 says, whose rounding decides some edges. Readers divide in other ways, so the usual
    lengths have a table.
    """
    numbers = np.arange(bins + 1, dtype=np.float32)[None]
    known = (np.arange(LENGTHS, dtype=np.float32) / np.float32(bins))[:, None]
    tables = np.floor(numbers[:, :-1] * known), np.ceil(numbers[:, 1:] * known)
    size = g.div(length, float(bins))
    computed = g.op("Floor", g.mul(size, g.const(numbers[:, :-1]))), g.op("Ceil", g.mul(size, g.const(numbers[:, 1:])))
    row = g.cast(g.squeeze(g.smaller(length, float(LENGTHS - 1)), 1), "int64")
    usual = g.op("Less", length, g.const(float(LENGTHS)))
    begin, stop = (g.op("Where", usual, g.gather(g.const(t), row), c) for t, c in zip(tables, computed))
    return begin, stop


def largest(g: OnnxGraph, w: Work, image: str, begins: list[str], ends: list[str]) -> str:
    """The maximum of each bin, 0 of an empty one; begins, ends: (R, bins) of y, then of x.

    The maxima of all windows of 1, 2, 4 .. pixels are found first; that of a bin is the largest of the four windows, as
    large as fit, in its corners.
    """
    sizes = sides(w)[0]
    channels = w.bottom_shapes[0][1]
    levels = [max(1, int(log2(size)) + 1) for size in sizes]
    table, row = [], w.bottoms[0]
    for down in range(levels[0]):
        if down:
            row = doubled(g, row, 0, 2 ** (down - 1))
        whole = row
        for across in range(levels[1]):
            if across:
                whole = doubled(g, whole, 1, 2 ** (across - 1))
            table.append(g.unsqueeze(whole, 0))
    stacked = g.transpose(g.concat(table, 0), 0, 1, 3, 4, 2)  # (levels, N, H, W, C)
    lines = g.op("Reshape", stacked, g.ints(-1, channels))
    level, low, high, empty = [], [], [], []
    for axis in range(2):
        length = g.sub(ends[axis], begins[axis])
        empty.append(g.op("LessOrEqual", length, g.const(0.0)))
        steps = [g.cast(g.op("GreaterOrEqual", length, g.const(float(2**k))), "float") for k in range(1, levels[axis])]
        log = steps[0] if steps else g.mul(length, 0.0)
        for step in steps[1:]:
            log = g.add(log, step)
        window = g.const(1.0)
        for k, step in enumerate(steps):
            window = g.add(window, g.mul(step, float(2**k)))
        level.append(log)
        low.append(on_map(g, begins[axis], sizes[axis]))
        high.append(on_map(g, g.sub(ends[axis], window), sizes[axis]))
    level_y, empty_y = (g.unsqueeze(v, 2) for v in (level[0], empty[0]))  # (R, PH, 1)
    level_x, empty_x = (g.unsqueeze(v, 1) for v in (level[1], empty[1]))  # (R, 1, PW)
    at_level = g.add(g.mul(level_y, float(levels[1])), level_x)
    images = g.cast(g.size(w.bottoms[0], 0), "int64")
    plane = g.add(g.op("Mul", g.cast(at_level, "int64"), images), g.cast(g.unsqueeze(image, 2), "int64"))
    values = []
    for y in (low[0], high[0]):
        for x in (low[1], high[1]):
            at = g.add(g.mul(g.unsqueeze(y, 2), float(sizes[1])), g.unsqueeze(x, 1))
            place = g.op("Add", g.op("Mul", plane, g.const(sizes[0] * sizes[1], "int64")), g.cast(at, "int64"))
            values.append(g.gather(lines, place))  # (R, PH, PW, C)
    most = g.op("Max", *values)
    none = g.unsqueeze(g.op("Or", empty_y, empty_x), 3)
    return g.transpose(g.op("Where", none, g.const(0.0), most), 0, 3, 1, 2)


def doubled(g: OnnxGraph, x: str, axis: int, apart: int) -> str:
    """At each pixel the larger of itself and the one that lies `apart` pixels on; beyond the border there is nothing."""
    kernel, dilation, end = [1, 1], [1, 1], [0, 0]
    kernel[axis], dilation[axis], end[axis] = 2, apart, apart
    low = float(np.finfo(np.float32).min)
    pads = [0] * 8
    pads[6 + axis] = apart
    padded = g.op("Pad", x, g.ints(*pads), g.const(low))
    return g.op("MaxPool", padded, kernel_shape=kernel, dilations=dilation, strides=[1, 1])


@lowering("PSROIPooling")
def psroi_pooling(g: OnnxGraph, w: Work) -> list[str]:
    layer = w.layer
    w.need(not layer.torchvision, "torchvision's form of it has no counterpart")
    rows, (sizes, pooled) = rows_of(g, w), sides(w)
    weights, areas = [], []
    for axis, (first, last) in enumerate(((2, 4), (1, 3))):
        start = g.mul(g.rounded(rows[first]), float(layer.scale))
        stop = g.mul(g.add(g.rounded(rows[last]), 1.0), float(layer.scale))
        pixels = g.sub(g.rounded(rows[last]), g.rounded(rows[first]))
        edges = edges_of(g, layer.scale, pooled[axis], pixels, g.sub(stop, start))
        begin = g.op("Floor", g.add(g.slice(edges, 1, 0, pooled[axis]), start))
        end = g.op("Ceil", g.add(g.slice(edges, 1, 1, None), start))
        begin, end = (g.clamp(v, 0.0, float(sizes[axis])) for v in (begin, end))
        pixel = g.const(np.arange(sizes[axis]))
        from_begin = g.op("GreaterOrEqual", pixel, g.unsqueeze(begin, 2))
        weights.append(g.cast(g.op("And", from_begin, g.op("Less", pixel, g.unsqueeze(end, 2))), "float"))
        areas.append(g.larger(g.sub(end, begin), 1.0))
    sums = by_position(g, w, rows[0], weights[0], weights[1])
    area = g.mul(g.unsqueeze(areas[0], 2), g.unsqueeze(areas[1], 1))  # (R, G, G)
    return with_channels(g, w, g.div(sums, g.unsqueeze(area, 1)))


def edges_of(g: OnnxGraph, scale: float, bins: int, pixels: str, extent: str) -> str:
    """(R, bins + 1): where the bins of PSROIPooling begin, from the start of the region; its last one where they end.

    From a table where the scale is a power of two, for then the extent on the map says nothing that the extent in pixels of
    the image, a whole number, does not; see `cuts`.
    """
    numbers = np.arange(bins + 1, dtype=np.float32)[None]
    computed = g.mul(g.div(g.larger(extent, 0.1), float(bins)), g.const(numbers))
    if frexp(scale)[0] != 0.5:
        return computed
    lengths = np.maximum((np.arange(1, LENGTHS * 4, dtype=np.float32) * np.float32(scale))[:, None], np.float32(0.1))
    table = numbers * (lengths / np.float32(bins))
    usual = g.op("Less", pixels, g.const(float(len(table))))
    row = g.cast(g.squeeze(g.clamp(pixels, 0.0, float(len(table) - 1)), 1), "int64")
    usual = g.op("And", usual, g.op("GreaterOrEqual", pixels, g.const(0.0)))
    return g.op("Where", usual, g.gather(g.const(table), row), computed)


def with_channels(g: OnnxGraph, w: Work, y: str) -> list[str]:
    """The top, and where there is a second one the channel of each bin."""
    if len(w.step.outputs) == 1:
        return [y]
    layer = w.layer
    channels = np.arange(layer.channels, dtype=np.float32).reshape(1, layer.output_dim, layer.group, layer.group)
    return [y, g.add(g.mul(y, 0.0), g.const(channels))]


# Averages of samples: rows of weights for y and for x


def images_of(g: OnnxGraph, w: Work, image: str) -> str:
    """(R, N): 1 in the column of a region's image."""
    numbers = g.count_up(g.size(w.bottoms[0], 0))
    return g.cast(g.op("Equal", image, g.unsqueeze(numbers, 0)), "float")


def over_images(g: OnnxGraph, w: Work, image: str, weights: str) -> str:
    """(R, bins, N * H): weights (R, bins, H) in the rows of a region's image."""
    own = g.unsqueeze(images_of(g, w, image), 1, 3)  # (R, 1, N, 1)
    wide = g.mul(g.unsqueeze(weights, 2), own)
    return g.op("Reshape", wide, g.concat([g.size(weights, 0), g.size(weights, 1), g.joined(wide, 2, 4)], 0))


def by_weights(g: OnnxGraph, w: Work, image: str, rows: str, columns: str) -> str:
    """(R, C, PH, PW): sums of weights (R, PH, H) and (R, PW, W) over the features."""
    _, channels, _, width = w.bottom_shapes[0]
    high = g.unsqueeze(over_images(g, w, image, rows), 1)
    features = g.op("Reshape", g.transpose(w.bottoms[0], 1, 0, 2, 3), g.ints(1, channels, -1, width))
    return g.op("MatMul", g.op("MatMul", high, features), g.unsqueeze(g.transpose(columns, 0, 2, 1), 1))


def by_position(g: OnnxGraph, w: Work, image: str, rows: str, columns: str) -> str:
    """(R, D, G, G): the same where each bin has channels of its own, of features with D * G * G channels."""
    layer, width = w.layer, w.bottom_shapes[0][3]
    side, outputs = layer.group, layer.output_dim
    split = g.op("Reshape", w.bottoms[0], g.ints(-1, outputs, side, side, w.bottom_shapes[0][2], width))
    features = g.transpose(split, 2, 3, 0, 4, 1, 5)  # (G, G, N, H, D, W)
    features = g.op("Reshape", features, g.ints(side, side, -1, outputs * width))
    high = g.unsqueeze(g.transpose(over_images(g, w, image, rows), 1, 0, 2), 1)  # (G, 1, R, N * H)
    lines = g.op("MatMul", high, features)  # (G, G, R, D * W)
    lines = g.op("Reshape", lines, g.ints(side, side, -1, outputs, width))
    wide = g.unsqueeze(g.transpose(columns, 1, 0, 2), 0, 3)  # (1, G, R, 1, W)
    return g.transpose(g.reduce("ReduceSum", g.mul(lines, wide), [4], keep=False), 2, 3, 0, 1)


def tents(g: OnnxGraph, places: str, valid: str, size: int) -> str:
    """(R, bins, size): the weights of pixels in samples at places (R, bins, S), whose own weights are `valid`."""
    pixels = g.const(np.arange(size).reshape(1, 1, 1, -1))
    apart = g.op("Abs", g.sub(g.unsqueeze(on_map(g, places, size), 3), pixels))
    weights = g.op("Relu", g.sub(1.0, apart))
    return g.reduce("ReduceSum", g.mul(weights, g.unsqueeze(valid, 3)), [2], keep=False)


def samples(g: OnnxGraph, start: str, bin_size: str, bins: int, ratio: int, size: int) -> tuple[str, str, str]:
    """Places (R, bins, S) of the samples of an axis, 1 for each that a region has and 0 for what others have more, and how
    many each region has, (R, 1); start and bin_size: (R, 1); size: of the map."""
    numbers = g.const(np.arange(bins, dtype=np.float32)[None])
    origin = g.unsqueeze(g.add(g.mul(bin_size, numbers), start), 2)  # (R, bins, 1)
    if ratio > 0:
        step = g.const((np.arange(ratio, dtype=np.float32) + np.float32(0.5))[None, None])
        places = g.add(origin, g.div(g.mul(step, g.unsqueeze(bin_size, 2)), float(ratio)))
        return places, g.add(g.mul(places, 0.0), 1.0), g.add(g.mul(start, 0.0), float(ratio))
    count = g.larger(g.op("Ceil", bin_size), 0.0)
    if not g.target.computed:  # as many as regions need that are at most twice as large as the map
        step = g.const(np.arange(2 * -(-size // bins) + 1)[None, None])
        return spread(g, origin, bin_size, count, step)
    most = g.cast(g.reduce("ReduceMax", g.concat([count, g.const([[1.0]])], 0), [0, 1], keep=False), "int64")
    return spread(g, origin, bin_size, count, g.unsqueeze(g.count_up(g.unsqueeze(most, 0)), 0, 1))


def spread(g: OnnxGraph, origin: str, bin_size: str, count: str, step: str) -> tuple[str, str, str]:
    """What `samples` returns, of regions with `count` (R, 1) samples in a bin; step: 0, 1, .. (1, 1, S)."""
    each = g.unsqueeze(count, 2)
    places = g.add(origin, g.div(g.mul(g.add(step, 0.5), g.unsqueeze(bin_size, 2)), g.larger(each, 1.0)))
    exists = g.cast(g.op("Less", step, each), "float")
    return places, g.mul(exists, g.add(g.mul(origin, 0.0), 1.0)), count


def region_of(g: OnnxGraph, w: Work, rows: list[str], aligned: bool) -> list[tuple[str, str]]:
    """Start and size of the regions on the map, (R, 1) each, for y and x."""
    half, scale = 0.5 if aligned else 0.0, float(w.layer.scale)
    result = []
    for first, last in ((2, 4), (1, 3)):
        start, end = (g.mul(rows[k], scale) for k in (first, last))
        if half:
            start, end = g.sub(start, half), g.sub(end, half)
        size = g.sub(end, start)
        result.append((start, size if aligned else g.larger(size, 1.0)))
    return result


def averages(g: OnnxGraph, w: Work, rows: list[str], aligned: bool) -> tuple[str, str, str]:
    """Weights of rows and columns, and the number of samples (R, 1, 1, 1), of the align family."""
    sizes, pooled = sides(w)
    weights, counts = [], []
    for axis, (start, length) in enumerate(region_of(g, w, rows, aligned)):
        bin_size = g.div(length, float(pooled[axis]))
        places, exists, count = samples(g, start, bin_size, pooled[axis], w.layer.ratio, sizes[axis])
        weights.append(tents(g, places, g.mul(exists, inside(g, places, sizes[axis])), sizes[axis]))
        counts.append(count)
    return weights[0], weights[1], g.unsqueeze(g.mul(counts[0], counts[1]), 2, 3)


@lowering("ROIAlign")
def roi_align(g: OnnxGraph, w: Work) -> str:
    layer, rows = w.layer, rows_of(g, w)
    if layer.max:
        return align_max(g, w, rows)
    if layer.corners:
        return align_corners(g, w, rows)
    if g.target.has("RoiAlign", g.opset):
        mode = "half_pixel" if layer.aligned else "output_half_pixel"
        if layer.aligned and layer.adaptive:  # a negative size has no samples, which onnxruntime counts as too many
            rows = [*rows[:3], g.op("Max", rows[3], rows[1]), g.op("Max", rows[4], rows[2])]
        return g.op(
            "RoiAlign", w.bottoms[0], *native(g, w, rows), mode="avg", output_height=layer.pooled[0],
            output_width=layer.pooled[1], sampling_ratio=max(layer.ratio, 0), spatial_scale=float(layer.scale),
            coordinate_transformation_mode=mode,
        )  # fmt: skip
    high, wide, count = averages(g, w, rows, layer.aligned)
    return g.div(by_weights(g, w, rows[0], high, wide), g.larger(count, 1.0))


def align_max(g: OnnxGraph, w: Work, rows: list[str]) -> str:
    """The largest sample; one outside the map is 0, a bin without samples the smallest number."""
    w.need(len(w.step.outputs) == 1, "its further tops, where the maxima lie, have no counterpart")
    sizes, pooled = sides(w)
    weights, exist = [], []
    for axis, (start, length) in enumerate(region_of(g, w, rows, w.layer.aligned)):
        bin_size = g.div(length, float(pooled[axis]))
        places, exists, _ = samples(g, start, bin_size, pooled[axis], w.layer.ratio, sizes[axis])
        pixels = g.const(np.arange(sizes[axis]).reshape(1, 1, 1, -1))
        apart = g.op("Abs", g.sub(g.unsqueeze(on_map(g, places, sizes[axis]), 3), pixels))
        valid = g.unsqueeze(inside(g, places, sizes[axis]), 3)
        weights.append(flat_bins(g, g.mul(g.op("Relu", g.sub(1.0, apart)), valid), sizes[axis]))
        exist.append(exists)
    values = by_weights(g, w, rows[0], weights[0], weights[1])  # (R, C, PH * S, PW * T)
    down, across = (g.size(e, 2) for e in exist)
    channels = g.ints(w.bottom_shapes[0][1])
    split = g.concat([g.ints(-1), channels, g.ints(pooled[0]), down, g.ints(pooled[1]), across], 0)
    there = g.mul(g.unsqueeze(exist[0], 1, 4, 5), g.unsqueeze(exist[1], 1, 2, 3))
    low = g.const(float(np.finfo(np.float32).min))
    masked = g.op("Where", g.op("Greater", there, g.const(0.0)), g.op("Reshape", values, split), low)
    return g.reduce("ReduceMax", masked, [3, 5], keep=False)


def flat_bins(g: OnnxGraph, x: str, size: int) -> str:
    """(R, bins * S, size) of (R, bins, S, size)."""
    return g.op("Reshape", x, g.concat([g.size(x, 0), g.joined(x, 1, 3), g.ints(size)], 0))


def align_corners(g: OnnxGraph, w: Work, rows: list[str]) -> str:
    """Cascade R-CNN's: one sample at each corner of cells."""
    layer, (sizes, pooled) = w.layer, sides(w)
    places, lengths = [], []
    for first, last in ((2, 4), (1, 3)):
        pad = g.mul(g.add(g.sub(rows[last], rows[first]), 1.0), float(layer.pad_ratio))
        start = g.sub(g.mul(g.sub(rows[first], pad), float(layer.scale)), 0.5)
        end = g.sub(g.mul(g.add(rows[last], pad), float(layer.scale)), 0.5)
        places.append(start)
        lengths.append(g.sub(end, start))
    real = g.cast(g.op("Greater", g.smaller(*lengths), g.const(0.0)), "float")
    weights = []
    for axis, (start, length) in enumerate(zip(places, lengths)):
        cells = max(pooled[axis] - 1, 1)
        numbers = g.const(np.arange(pooled[axis], dtype=np.float32)[None])
        at = g.unsqueeze(g.add(g.mul(g.div(length, float(cells)), numbers), start), 2)
        valid = g.mul(inside(g, at, sizes[axis], 0.5), g.unsqueeze(real, 2))
        weights.append(tents(g, at, valid, sizes[axis]))
    return by_weights(g, w, rows[0], weights[0], weights[1])


@lowering("PSROIAlign")
def psroi_align(g: OnnxGraph, w: Work) -> list[str]:
    rows = rows_of(g, w)
    high, wide, count = averages(g, w, rows, True)
    return with_channels(g, w, g.div(by_position(g, w, rows[0], high, wide), count))


@lowering("ROIWarping")
def roi_warping(g: OnnxGraph, w: Work) -> str:
    rows, (sizes, pooled) = rows_of(g, w), sides(w)
    weights = []
    for axis, (first, last) in enumerate(((2, 4), (1, 3))):
        start, end = (g.rounded(g.mul(rows[k], float(w.layer.scale))) for k in (first, last))
        length = g.larger(g.sub(end, start), 0.0)
        numbers = g.const(np.arange(pooled[axis], dtype=np.float32)[None])
        at = g.unsqueeze(g.add(g.mul(g.div(length, float(pooled[axis])), numbers), start), 2)
        weights.append(tents(g, at, inside(g, at, sizes[axis], 0.5), sizes[axis]))
    return by_weights(g, w, rows[0], weights[0], weights[1])


@lowering("PrROIPooling")
def prroi_pooling(g: OnnxGraph, w: Work) -> str:
    """The integral of the bilinear surface over each bin, a product of integrals along y and x, over its area."""
    rows, (sizes, pooled) = rows_of(g, w), sides(w)
    weights, bins = [], []
    for axis, (first, last) in enumerate(((2, 4), (1, 3))):
        start, end = (g.mul(rows[k], float(w.layer.scale)) for k in (first, last))
        bin_size = g.div(g.larger(g.sub(end, start), 0.0), float(pooled[axis]))
        numbers = np.arange(pooled[axis] + 1, dtype=np.float32)[None]
        edges = g.unsqueeze(g.add(g.mul(bin_size, g.const(numbers)), start), 2)
        apart = g.sub(edges, g.const(np.arange(sizes[axis]).reshape(1, 1, -1)))
        weights.append(g.add(slope(g, apart, pooled[axis], -1.0, 0.0), slope(g, apart, pooled[axis], 0.0, 1.0)))
        bins.append(bin_size)
    sums = by_weights(g, w, rows[0], weights[0], weights[1])
    area = g.unsqueeze(g.mul(bins[0], bins[1]), 2, 3)
    nonempty = g.op("Greater", area, g.const(0.0))
    return g.op("Where", nonempty, g.div(sums, g.op("Where", nonempty, area, g.const(1.0))), g.const(0.0))


def slope(g: OnnxGraph, edges: str, bins: int, low: float, high: float) -> str:
    """The integral of 1 - |t| from each edge to the next, of what lies from low to high, which is one side of 0."""
    inner = g.clamp(edges, low, high)
    start, end = g.slice(inner, 1, 0, bins), g.slice(inner, 1, 1, None)
    middle = g.op("Abs", g.mul(g.add(start, end), 0.5))
    return g.mul(g.sub(end, start), g.sub(1.0, middle))


# Masks of MNC


@lowering("MaskPooling")
def mask_pooling(g: OnnxGraph, w: Work) -> str:
    return g.mul(w.bottoms[0], w.bottoms[1])


@lowering("MaskResize")
def mask_resize(g: OnnxGraph, w: Work) -> str:
    rows, columns = (g.const(resizing(size, out)) for size, out in zip(w.bottom_shapes[0][2:], w.layer.pooled))
    return g.op("MatMul", rows, g.op("MatMul", w.bottoms[0], g.transpose(columns, 1, 0)))


def resizing(size: int, out: int) -> Any:
    """(out, size): the weights of each pixel, as roi_warping.cu has them."""
    weights = np.zeros((out, size), np.float32)
    for at in range(out):
        place = np.float32(at) * (np.float32(size) / np.float32(out))
        if place > size - 0.5:
            continue
        low = min(int(place), size - 1)
        part = np.float32(0) if low == size - 1 else place - low
        weights[at, low] += 1 - part
        weights[at, min(low + 1, size - 1)] += part
    return weights
