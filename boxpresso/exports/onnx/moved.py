"""Layers whose samples lie where regions or offsets say: rotated and deformable ones."""

from __future__ import annotations

from math import pi

import numpy as np

from .graph import OnnxGraph, Work, lowering
from .regions import region_of, rows_of, samples, sides
from .sampling import inside, on_map, sample

NUMBERS = 6  # of a rotated region: image, centre x, y, two sizes, angle


def pooled_samples(g: OnnxGraph, w: Work, image: str, y: str, x: str, valid: str, count: str) -> str:
    """(R, C, PH, PW): averages of samples at y, x (R, PH, PW, SY, SX), each times `valid`, over `count` (R, 1)."""
    sizes, pooled = sides(w)
    bins = pooled[0] * pooled[1]
    inner = g.joined(y, 3, 5)
    each = g.concat([g.size(image, 0), g.ints(bins), inner], 0)
    lines = [g.op("Reshape", on_map(g, v, size), each) for v, size in ((y, sizes[0]), (x, sizes[1]))]  # (R, bins, S)
    of = g.unsqueeze(image, 2)
    rows = g.concat([g.joined(lines[0], 0, 2), inner], 0)
    flat = [g.op("Reshape", v, rows) for v in lines]
    numbers = g.op("Reshape", g.add(of, g.mul(lines[0], 0.0)), rows)
    values = g.squeeze(sample(g, w.bottoms[0], sizes[0], sizes[1], numbers, *flat), 0)  # (C, R * bins, S)
    shape = g.concat([g.size(values, 0), g.size(image, 0), g.ints(bins), g.size(values, 2)], 0)
    values = g.mul(g.op("Reshape", values, shape), g.op("Reshape", valid, each))
    sums = g.transpose(g.reduce("ReduceSum", values, [3], keep=False), 1, 0, 2)  # (R, C, bins)
    means = g.div(sums, g.unsqueeze(g.larger(count, 1.0), 2))
    return g.op("Reshape", means, g.ints(-1, w.bottom_shapes[0][1], *pooled))


def grid_of(g: OnnxGraph, w: Work, starts: list[str], lengths: list[str]) -> tuple[tuple[str, str], str, str]:
    """Places (R, PH, 1, SY, 1) and (R, 1, PW, 1, SX) of samples, whether both are there, and how many there are (R, 1)."""
    map_size, pooled = sides(w)
    parts = [
        samples(g, start, g.div(length, float(bins)), bins, w.layer.ratio, size)
        for start, length, bins, size in zip(starts, lengths, pooled, map_size)
    ]
    y, x = g.unsqueeze(parts[0][0], 2, 4), g.unsqueeze(parts[1][0], 1, 3)
    there = g.mul(g.unsqueeze(parts[0][1], 2, 4), g.unsqueeze(parts[1][1], 1, 3))
    return (y, x), there, g.mul(parts[0][2], parts[1][2])


@lowering("ROIAlignRotated")
def roi_align_rotated(g: OnnxGraph, w: Work) -> str:
    return align_rotated(g, w, rows_of(g, w, NUMBERS))


def align_rotated(g: OnnxGraph, w: Work, rows: list[str]) -> str:
    layer, (sizes, _) = w.layer, sides(w)
    image, cx, cy, width, height, theta = rows
    scale, half = float(layer.scale), 0.5 if layer.aligned else 0.0
    centre = [g.sub(g.mul(v, scale), half) for v in (cy, cx)]
    lengths = [g.mul(v, scale) for v in (height, width)]
    if not layer.aligned:
        lengths = [g.larger(v, 1.0) for v in lengths]
    (yy, xx), there, count = grid_of(g, w, [g.mul(v, -0.5) for v in lengths], lengths)
    angle = g.op("Neg", theta) if layer.clockwise else theta
    cos, sin, at_y, at_x = (g.unsqueeze(v, 2, 3, 4) for v in (g.op("Cos", angle), g.op("Sin", angle), *centre))
    y = g.add(g.sub(g.mul(yy, cos), g.mul(xx, sin)), at_y)
    x = g.add(g.add(g.mul(yy, sin), g.mul(xx, cos)), at_x)
    valid = g.mul(there, g.mul(inside(g, y, sizes[0]), inside(g, x, sizes[1])))
    return pooled_samples(g, w, image, y, x, valid, count)


@lowering("RiROIAlignRotated")
def riroi_align_rotated(g: OnnxGraph, w: Work) -> str:
    """The channels of each region turned by its angle: a product with a matrix of each region."""
    rows = rows_of(g, w, NUMBERS)
    orientations, channels = w.layer.orientations, w.bottom_shapes[0][1]
    bins = w.layer.pooled[0] * w.layer.pooled[1]
    values = g.op("Reshape", align_rotated(g, w, rows), g.ints(-1, channels // orientations, orientations, bins))
    exact = g.cast(g.mul(rows[5], float(orientations)), "double")
    turn = g.cast(g.op("Div", exact, g.const(2 * pi, "double")), "float")
    whole = g.op("Floor", turn)
    part = g.unsqueeze(g.sub(turn, whole), 2)
    own, other = (np.arange(orientations).reshape(shape) for shape in ((1, -1, 1), (1, 1, -1)))
    wanted = g.sub(g.const((own - other).astype(np.float32)), g.unsqueeze(whole, 2))  # (R, o, from)
    turns = g.div(wanted, float(orientations))
    first = g.op("Equal", turns, g.op("Floor", turns))
    after = g.div(g.add(wanted, 1.0), float(orientations))
    second = g.op("Equal", after, g.op("Floor", after))
    matrix = g.add(g.mul(g.sub(1.0, part), g.cast(first, "float")), g.mul(part, g.cast(second, "float")))
    mixed = g.op("MatMul", g.unsqueeze(matrix, 1), values)
    return g.op("Reshape", mixed, g.ints(-1, channels, *w.layer.pooled))


@lowering("DeformROIPooling", "ModulatedDeformROIPooling")
def deform_roi_pooling(g: OnnxGraph, w: Work) -> str:
    layer, (sizes, pooled) = w.layer, sides(w)
    rows = rows_of(g, w)
    (start_y, height), (start_x, width) = region_of(g, w, rows, True)
    (y, x), there, count = grid_of(g, w, [start_y, start_x], [height, width])
    if len(w.bottoms) > 2:
        moves = g.op("Reshape", w.bottoms[2], g.ints(-1, 2, *pooled))
        for axis, length in enumerate((width, height)):
            by = g.mul(g.squeeze(g.slice(moves, 1, axis, axis + 1), 1), g.unsqueeze(g.mul(length, layer.gamma), 2))
            if axis == 0:
                x = g.add(x, g.unsqueeze(by, 3, 4))
            else:
                y = g.add(y, g.unsqueeze(by, 3, 4))
    zero = g.mul(there, 0.0)
    y, x = g.add(y, zero), g.add(x, zero)
    whole = [g.op("Add", v, g.mul(other, 0.0)) for v, other in ((y, x), (x, y))]
    valid = g.mul(there, g.mul(inside(g, whole[0], sizes[0]), inside(g, whole[1], sizes[1])))
    result = pooled_samples(g, w, rows[0], whole[0], whole[1], valid, count)
    if len(w.bottoms) > 3:
        result = g.mul(result, g.op("Reshape", w.bottoms[3], g.ints(-1, 1, *pooled)))
    return result


@lowering("DeformablePSROIPooling")
def deformable_psroi_pooling(g: OnnxGraph, w: Work) -> list[str]:
    """Averages of the samples that lie on the map, of each bin in its own channel."""
    layer, (sizes, (bins, _)) = w.layer, sides(w)
    w.need(len(w.step.outputs) == 1, "its second top, how many samples each bin had, has no counterpart")
    rows, count = rows_of(g, w), layer.samples
    starts, lengths = [], []
    for first, last in ((2, 4), (1, 3)):
        start = g.sub(g.mul(g.rounded(rows[first]), float(layer.scale)), 0.5)
        end = g.sub(g.mul(g.add(g.rounded(rows[last]), 1.0), float(layer.scale)), 0.5)
        starts.append(start)
        lengths.append(g.larger(g.sub(end, start), 0.1))
    number = np.arange(bins, dtype=np.float32)
    places = []
    for axis, (start, length) in enumerate(zip(starts, lengths)):
        size = g.div(length, float(bins))
        at = g.unsqueeze(g.add(g.mul(size, g.const(number[None])), start), 2)  # (R, bins, 1)
        step = g.unsqueeze(g.mul(g.div(size, float(count)), g.const(np.arange(count)[None])), 1)
        spread = g.add(at, step)  # (R, bins, S)
        places.append(g.unsqueeze(spread, 1, 3, 5) if axis == 0 else g.unsqueeze(spread, 1, 2, 4))
    classes, part = layer.classes, layer.part
    if layer.moved:
        cell = np.floor((number / np.float32(bins)) * np.float32(part)).astype(np.int64)
        moves = g.gather(g.gather(w.bottoms[2], g.const(cell, "int64"), 2), g.const(cell, "int64"), 3)
        moves = g.mul(g.op("Reshape", moves, g.ints(-1, classes, 2, bins, bins)), float(layer.trans_std))
        for axis, (k, length) in enumerate(((1, lengths[0]), (0, lengths[1]))):
            by = g.mul(g.squeeze(g.slice(moves, 2, k, k + 1), 2), g.unsqueeze(length, 2, 3))  # (R, classes, P, P)
            places[axis] = g.add(places[axis], g.unsqueeze(by, 4, 5))
    y, x = (g.add(v, g.mul(other, 0.0)) for v, other in ((places[0], places[1]), (places[1], places[0])))
    valid = g.mul(inside(g, y, sizes[0], 0.5), inside(g, x, sizes[1], 0.5))
    return [positions(g, w, rows[0], y, x, valid)]


def positions(g: OnnxGraph, w: Work, image: str, y: str, x: str, valid: str) -> str:
    """Averages of the valid ones of samples at y, x (R, classes, P, P, S, S), bin by bin in the channels of each."""
    layer, (sizes, (bins, _)) = w.layer, sides(w)
    group, classes, outputs = layer.group, layer.classes, layer.output_dim
    width = layer.samples**2
    each = g.ints(-1, bins * bins, classes * width)
    number = g.clamp(g.op("Floor", g.const(np.arange(bins, dtype=np.float32) * group / bins)), 0.0, float(group - 1))
    of_bin = g.cast(number, "int64")
    split = g.op("Reshape", w.bottoms[0], g.ints(-1, outputs, group, group, *sizes))
    chosen = g.gather(g.gather(split, of_bin, 2), of_bin, 3)  # (N, D, P, P, H, W)
    per_bin = g.op("Reshape", g.transpose(chosen, 1, 2, 3, 0, 4, 5), g.ints(outputs, bins * bins, -1, sizes[1]))
    maps = g.transpose(per_bin, 1, 0, 2, 3)  # (P * P, D, N * H, W): a batch of maps, one for each bin
    rows = g.cast(g.size(maps, 2), "float")
    at_y = g.add(on_map(g, y, sizes[0]), g.mul(g.unsqueeze(image, 2, 3, 4, 5), float(sizes[0])))
    on_y = g.sub(g.div(g.mul(at_y, 2.0), g.larger(g.sub(rows, 1.0), 1.0)), 1.0)
    on_x = g.sub(g.div(g.mul(on_map(g, x, sizes[1]), 2.0), float(max(sizes[1] - 1, 1))), 1.0)
    grids = [
        g.transpose(g.op("Reshape", g.transpose(v, 0, 2, 3, 1, 4, 5), each), 1, 0, 2) for v in (on_x, on_y)
    ]  # (P * P, R, classes * S * S)
    grid = g.concat([g.unsqueeze(v, 3) for v in grids], 3)
    mode = "linear" if g.opset >= 20 else "bilinear"
    values = g.op("GridSample", maps, grid, mode=mode, padding_mode="border", align_corners=1)
    shape = g.ints(bins * bins, classes, outputs // classes, -1, classes, width)
    values = g.op("Reshape", values, shape)  # (P * P, class of output, each, R, class of offset, S * S)
    flags = g.transpose(
        g.op("Reshape", g.transpose(valid, 0, 2, 3, 1, 4, 5), g.ints(-1, bins * bins, classes, width)), 1, 0, 2, 3
    )
    own = g.const(np.eye(classes, dtype=np.float32).reshape(1, classes, 1, 1, classes, 1))
    weights = g.mul(g.unsqueeze(flags, 1, 2), own)
    sums = g.reduce("ReduceSum", g.mul(values, weights), [4, 5], keep=False)
    counts = g.larger(g.reduce("ReduceSum", weights, [4, 5], keep=False), 1.0)
    means = g.transpose(g.div(sums, counts), 3, 1, 2, 0)  # (R, classes, each, P * P)
    return g.op("Reshape", means, g.ints(-1, outputs, bins, bins))


@lowering("RotateROIPooling")
def rotate_roi_pooling(g: OnnxGraph, w: Work) -> str:
    """RRPN's maxima, region by region in a loop: all pixels of the box around each bin, those inside the bin count."""
    layer = w.layer
    w.need(g.target.computed, f"{g.target.name} runs no loop over regions")
    w.need(len(w.step.outputs) == 1, "its second top, where the maxima lie, has no counterpart")
    height, width = w.bottom_shapes[0][2:]
    rows = w.bottoms[1] if len(w.bottom_shapes[1]) == 2 else g.op("Reshape", w.bottoms[1], g.ints(-1, NUMBERS))
    info = g.op("Reshape", w.bottoms[2], g.ints(-1, 3))
    channels = w.bottom_shapes[0][1]
    pixels = g.op("Reshape", g.transpose(w.bottoms[0], 0, 2, 3, 1), g.ints(-1, channels))
    edges = [g.op("Floor", g.mul(g.slice(info, 1, k, k + 1), float(layer.scale))) for k in range(2)]
    edges = [g.clamp(e, 0.0, float(size)) for e, size in zip(edges, (height, width))]
    bins = bins_of(g, w, rows)
    count = g.squeeze(g.size(rows, 0), 0)
    h, types = g.onnx.helper, g.onnx.TensorProto
    turn, go, more, pooled = (g.fresh(word) for word in ("turn", "go", "more", "pooled"))
    with g.body() as nodes:
        here = [g.gather(v, turn) for v in bins]  # (bins, 1) each
        of = g.op("Reshape", g.cast(g.gather(g.slice(rows, 1, 0, 1), turn), "int64"), g.ints(1))
        last = g.sub(g.size(info, 0), g.const([1], "int64"))
        limits = [g.gather(edge, g.op("Min", of, last)) for edge in edges]
        value = turned_maximum(g, here, limits, pixels, of, height, width)
        nodes.append(h.make_node("Identity", [value], [pooled], name=pooled))
        nodes.append(h.make_node("Identity", [go], [more], name=more))
    infos = [h.make_tensor_value_info(turn, types.INT64, []), h.make_tensor_value_info(go, types.BOOL, [])]
    cells = layer.pooled[0] * layer.pooled[1]
    ends = [
        h.make_tensor_value_info(more, types.BOOL, []),
        h.make_tensor_value_info(pooled, types.FLOAT, [cells, channels]),
    ]
    body = h.make_graph(nodes, g.fresh("region"), infos, ends)
    result = g.ops("Loop", [count, ""], 1, body=body)[0]  # (R, bins, C)
    return g.op("Reshape", g.transpose(result, 0, 2, 1), g.ints(-1, channels, *layer.pooled))


def bins_of(g: OnnxGraph, w: Work, rows: str) -> list[str]:
    """Of every bin its corner A, the sides AB and AC, and the box around it: (R, bins, 1) each."""
    down, across = w.layer.pooled
    scale = float(w.layer.scale)
    _, cx, cy, high, wide, degrees = (g.slice(rows, 1, k, k + 1) for k in range(NUMBERS))
    angle = g.mul(g.div(degrees, 180.0), 3.1415926535)
    cos, sin = g.op("Cos", angle), g.op("Sin", angle)
    step_x, step_y = g.div(g.mul(wide, scale), float(across)), g.div(g.mul(high, scale), float(down))
    along = g.mul(cos, step_x), g.op("Neg", g.mul(sin, step_x))
    below = g.mul(sin, step_y), g.mul(cos, step_y)
    ph, pw = (v.reshape(1, -1).astype(np.float32) for v in np.mgrid[:down, :across])
    points = []
    for right, under in ((0, 0), (0, 1), (1, 0), (1, 1)):
        point = []
        for k, centre in enumerate((cx, cy)):
            start = g.add(g.add(g.mul(along[k], -across / 2), g.mul(below[k], -down / 2)), g.mul(centre, scale))
            moved = g.add(g.mul(along[k], g.const(pw + right)), g.mul(below[k], g.const(ph + under)))
            point.append(g.unsqueeze(g.add(moved, start), 2))
        points.append(point)
    (ax, ay), (bx, by), (cx, cy), _ = points
    box = []
    for k in (1, 0):
        values = [point[k] for point in points]
        box += [g.rounded(g.op("Min", *values)), g.add(g.rounded(g.op("Max", *values)), 1.0)]
    return [ay, ax, g.sub(by, ay), g.sub(bx, ax), g.sub(cy, ay), g.sub(cx, ax), *box]


def turned_maximum(
    g: OnnxGraph, here: list[str], limits: list[str], pixels: str, of: str, height: int, width: int
) -> str:
    """(bins, C) of one region: the largest of the pixels inside each bin, and of 0."""
    ay, ax, by, bx, cy, cx, top, bottom, left, right = here
    top, left = g.larger(top, 0.0), g.larger(left, 0.0)
    bottom, right = g.smaller(bottom, limits[0]), g.smaller(right, limits[1])
    steps = []
    for low, high in ((top, bottom), (left, right)):
        most = g.larger(g.reduce("ReduceMax", g.sub(high, low), [0, 1], keep=False), 1.0)
        steps.append(g.count_up(g.unsqueeze(g.cast(most, "int64"), 0)))
    y, x = g.unsqueeze(g.add(top, steps[0]), 2), g.unsqueeze(g.add(left, steps[1]), 1)  # (bins, H', 1), (bins, 1, W')
    within = g.op("And", g.op("Less", y, g.unsqueeze(bottom, 2)), g.op("Less", x, g.unsqueeze(right, 2)))
    py, px = g.sub(y, g.unsqueeze(ay, 2)), g.sub(x, g.unsqueeze(ax, 2))
    for side_y, side_x in ((by, bx), (cy, cx)):
        side = g.unsqueeze(side_y, 2), g.unsqueeze(side_x, 2)
        on = g.add(g.mul(px, side[1]), g.mul(py, side[0]))
        end = g.add(g.mul(side[1], side[1]), g.mul(side[0], side[0]))
        fits = g.op("And", g.op("GreaterOrEqual", on, g.const(0.0)), g.op("Less", on, end))
        within = g.op("And", within, fits)
    at = g.add(g.mul(g.clamp(y, 0.0, float(height - 1)), float(width)), g.clamp(x, 0.0, float(width - 1)))
    place = g.add(g.cast(at, "int64"), g.op("Mul", of, g.const(height * width, "int64")))
    values = g.op("Where", g.unsqueeze(within, 3), g.gather(pixels, place), g.const(0.0))
    return g.larger(g.reduce("ReduceMax", values, [1, 2], keep=False), 0.0)


@lowering("DeformableConvolution", "ModulatedDeformableConvolution")
def deformable_convolution(g: OnnxGraph, w: Work) -> str:
    layer = w.layer
    bias = w.params[1].reshape(-1) if len(w.params) > 1 else np.zeros(layer.outputs, np.float32)
    if g.target.has("DeformConv", g.opset):
        inputs = [w.bottoms[0], g.const(w.params[0]), w.bottoms[1], g.const(bias), *w.bottoms[2:]]
        return g.op(
            "DeformConv", *inputs, kernel_shape=list(layer.kernel), strides=list(layer.stride),
            pads=[*layer.pad, *layer.pad], dilations=list(layer.dilation), group=layer.group, offset_group=layer.parts,
        )  # fmt: skip
    return by_columns(g, w, bias)


def by_columns(g: OnnxGraph, w: Work, bias: np.ndarray) -> str:
    """Samples of every tap by GridSample, then one product with the weights."""
    layer, parts, taps = w.layer, w.layer.parts, w.layer.taps
    channels, height, width = w.bottom_shapes[0][1:]
    high, wide = layer.map
    places = high * wide
    offsets = g.op("Reshape", w.bottoms[1], g.ints(-1, taps, 2, high, wide))  # (N * parts, taps, (y, x), H', W')
    spots = []
    for axis, size in enumerate((high, wide)):
        tap = np.repeat(np.arange(layer.kernel[0]), layer.kernel[1])
        tap = tap if axis == 0 else np.tile(np.arange(layer.kernel[1]), layer.kernel[0])
        tap = (tap * layer.dilation[axis] - layer.pad[axis]).reshape(1, taps, 1, 1)
        base = (np.arange(size) * layer.stride[axis]).reshape((1, 1, -1, 1) if axis == 0 else (1, 1, 1, -1))
        moved = g.squeeze(g.slice(offsets, 2, axis, axis + 1), 2)
        spots.append(g.op("Add", moved, g.const((tap + base).astype(np.float32))))
    y, x = spots
    features = g.op("Reshape", w.bottoms[0], g.ints(-1, channels // parts, height, width))
    # GridSample's zeros beyond the border are the layer's: there a neighbour outside counts as 0
    on_y = g.sub(g.div(g.add(g.mul(y, 2.0), 1.0), float(height)), 1.0)
    on_x = g.sub(g.div(g.add(g.mul(x, 2.0), 1.0), float(width)), 1.0)
    grid = [g.unsqueeze(g.op("Reshape", v, g.ints(-1, taps, places)), 3) for v in (on_x, on_y)]
    mode = "linear" if g.opset >= 20 else "bilinear"
    values = g.op("GridSample", features, g.concat(grid, 3), mode=mode, padding_mode="zeros", align_corners=0)
    if len(w.bottoms) > 2:
        values = g.mul(values, g.op("Reshape", w.bottoms[2], g.ints(-1, 1, taps, places)))
    inner, filters = channels // layer.group, layer.outputs // layer.group
    columns = g.op("Reshape", values, g.ints(-1, layer.group, inner * taps, places))
    weights = g.const(w.params[0].reshape(1, layer.group, filters, inner * taps))
    y = g.op("Reshape", g.op("MatMul", weights, columns), g.ints(-1, layer.outputs, high, wide))
    return g.add(y, g.const(bias.reshape(-1, 1, 1))) if np.any(bias) else y
