"""Convolutions, pooling and products with weights."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .graph import OnnxGraph, Work, lowering


@lowering("Convolution", "DepthwiseConvolution")
def convolution(g: OnnxGraph, w: Work) -> list[str]:
    return windows(g, w, "Conv")


@lowering("Deconvolution")
def deconvolution(g: OnnxGraph, w: Work) -> list[str]:
    return windows(g, w, "ConvTranspose")


def windows(g: OnnxGraph, w: Work, kind: str) -> list[str]:
    """Conv or ConvTranspose of each bottom with the same weights; axes before the channels become one."""
    layer = w.layer
    weights = [g.weights(w, w.params[0]), *g.biases(w)]
    spatial, axis = len(layer.kernel), layer.channel_axis
    how = {
        "kernel_shape": list(layer.kernel), "strides": list(layer.stride), "pads": [*layer.pad, *layer.pad],
        "dilations": list(layer.dilation), "group": layer.group,
    }  # fmt: skip
    tops = []
    for x, shape, top in zip(w.bottoms, w.bottom_shapes, w.top_shapes):
        plain = axis == 1 and spatial > 0
        if not plain:
            x = g.reshape(x, (prod(shape[:axis]), *shape[axis:], *[1] * (spatial == 0)), w.lead)
            if spatial == 0:
                how.update(kernel_shape=[1], strides=[1], pads=[0, 0], dilations=[1])
                weights[0] = g.const(w.params[0].reshape(*w.params[0].shape, 1))
        if kind == "Conv" and not g.target.pads_points and set(layer.kernel) == {1} and any(layer.pad):
            x = g.op("Pad", x, g.ints(0, 0, *layer.pad, 0, 0, *layer.pad), g.const(0.0))
            how["pads"] = [0] * (2 * spatial)
        y = g.op(kind, x, *weights, **how)
        tops.append(y if plain else g.reshape(y, top, w.lead))
    return tops


@lowering("CrossCorrelation")
def cross_correlation(g: OnnxGraph, w: Work) -> str:
    layer, (x, target) = w.layer, w.bottoms
    w.need(layer.channel_axis == 1 and layer.kernel, "another axis than 1, or no spatial axes, has no counterpart")
    weights = layer.weights_shape()
    if w.bottom_shapes[1] != weights:
        target = g.reshape(target, weights)
    return g.op(
        "Conv", x, target, *g.biases(w), kernel_shape=list(layer.kernel),
        strides=list(layer.stride), pads=[*layer.pad, *layer.pad], dilations=list(layer.dilation), group=layer.group,
    )  # fmt: skip


@lowering("MatMul")
def matmul(g: OnnxGraph, w: Work) -> str:
    layer, shapes = w.layer, [*w.bottom_shapes, *[values.shape for values in w.params]]
    matrices = [*w.bottoms, *[g.const(values) for values in w.params]]
    if all(layer.dims):
        w.need(not w.lead, "matrices of dim_1, dim_2 and dim_3 have no batch")
        m, n, k = layer.sizes
        shapes = [(m, k), (n, k)]
        matrices = [g.reshape(x, shape) for x, shape in zip(matrices, shapes)]
    for i, turned in enumerate(layer.turned):
        if turned:
            *before, last, other = range(len(shapes[i]))
            matrices[i] = g.transpose(matrices[i], *before, other, last)
    return g.op("MatMul", *matrices)


@lowering("Gram")
def gram(g: OnnxGraph, w: Work) -> str:
    images, channels, *_ = w.bottom_shapes[0]
    x = g.reshape(w.bottoms[0], (images, channels, w.layer.places), w.lead)
    return g.unsqueeze(g.mul(g.op("MatMul", x, g.transpose(x, 0, 2, 1)), 1 / w.layer.size), 3)


@lowering("Local")
def local(g: OnnxGraph, w: Work) -> str:
    """Of each place a product of the pixels under its window with its own filters: places become the batch of a MatMul."""
    p, step, places = w.layer.param.local_param, w.layer.dilation, prod(w.top_shapes[0][2:])
    (_, channels, _, _), (_, maps, height, width) = w.bottom_shapes[0], w.top_shapes[0]
    x = w.bottoms[0]
    if p.pad:
        x = g.op("Pad", x, g.ints(0, 0, p.pad, p.pad, 0, 0, p.pad, p.pad), g.const(0.0))
    taps = []
    for ky, kx in np.ndindex(p.kernel_size, p.kernel_size):
        row = g.slice(x, 2, ky * step, ky * step + (height - 1) * p.stride + 1, p.stride)
        part = g.slice(row, 3, kx * step, kx * step + (width - 1) * p.stride + 1, p.stride)
        taps.append(g.reshape(part, (w.bottom_shapes[0][0], channels, 1, places), w.lead))
    depth = channels * len(taps)
    columns = g.reshape(g.concat(taps, 2), (w.bottom_shapes[0][0], depth, places), w.lead)
    filters = w.params[0].reshape(maps, depth, places).transpose(2, 1, 0)
    y = g.transpose(g.op("MatMul", g.transpose(columns, 2, 0, 1), g.const(filters)), 1, 2, 0)
    y = g.reshape(y, w.top_shapes[0], w.lead)
    return g.add(y, g.const(w.params[1].reshape(1, maps, height, width))) if p.bias_term else y


@lowering("InnerProduct")
def inner_product(g: OnnxGraph, w: Work) -> str:
    layer, shape = w.layer, w.bottom_shapes[0]
    axis = layer.param.inner_product_param.axis % len(shape)
    rows, depth = prod(shape[:axis]), prod(shape[axis:])
    flat = len(shape) == 2 and axis == 1
    x = w.bottoms[0] if flat else g.reshape(w.bottoms[0], (rows, depth), w.lead and axis > 0)
    matrix = w.params[0].reshape(depth, -1) if layer.transpose else w.params[0].reshape(-1, depth)
    if layer.unit:
        matrix = matrix / np.sqrt(np.square(matrix).sum(1, keepdims=True) + 1e-6)
    y = g.op("Gemm", x, g.weights(w, matrix, int(layer.transpose)), *g.biases(w), transB=int(not layer.transpose))
    return y if axis == 1 else g.reshape(y, w.top_shapes[0], w.lead and axis > 0)


@lowering("Embed")
def embed(g: OnnxGraph, w: Work) -> str:
    table = w.params[0] + (w.params[1] if len(w.params) > 1 else 0)
    return g.gather(g.const(table), g.cast(w.bottoms[0], "int64"))


@lowering("Pooling")
def pooling(g: OnnxGraph, w: Work) -> list[str]:
    layer, x = w.layer, w.bottoms[0]
    w.need(layer.method != "RCM", "the maxima of rows and columns (pool: RCM)")
    if layer.method == "STOCHASTIC":
        return [stochastic(g, w)]
    if layer.whole and len(w.step.outputs) == 1:
        return [g.op("GlobalMaxPool" if layer.method == "MAX" else "GlobalAveragePool", x)]
    w.need(not layer.dilated or layer.method == "MAX", "a mean over dilated windows")
    x, how = padded(g, w, 0.0 if layer.method == "AVE" else float(np.finfo(np.float32).min))
    if layer.method == "MAX":
        if len(w.step.outputs) == 1:
            return [g.op("MaxPool", x, **how)]
        w.need(x == w.bottoms[0], "the places of maxima, its second top, where a window lies wholly beyond the border")
        values, places = g.ops("MaxPool", [x], 2, **how)
        plane = g.const(prod(w.bottom_shapes[0][2:]), "int64")
        return [values, g.cast(g.op("Mod", places, plane), "float")]
    means = g.op("AveragePool", x, count_include_pad=1, **how)
    factors = true_shares(w)
    return [means if np.all(factors == 1) else g.op("Mul", means, g.const(factors))]


def padded(g: OnnxGraph, w: Work, low: float) -> tuple[str, dict[str, list[int]]]:
    """What a pooling operator reads, and its windows; pixels beyond the border are `low` where it has to be padded before."""
    layer, x = w.layer, w.bottoms[0]
    begin, end = list(layer.pad), pads_at_end(w)
    if any(
        e >= k for e, k in zip(end, reaches(layer))
    ):  # a window wholly beyond the border, which poolings do not take
        x = g.op("Pad", x, g.ints(0, 0, *begin, 0, 0, end[0], end[1] + 1), g.const(low))
        x = g.slice(x, 3, 0, -1)  # onnxruntime joins a Pad with the pooling behind it, and then refuses that
        begin = end = [0, 0]
    how = {"kernel_shape": list(layer.kernel), "strides": list(layer.stride), "pads": [*begin, *end]}
    return x, how | ({"dilations": list(layer.dilation)} if layer.dilated else {})


def reaches(layer: Any) -> list[int]:
    """How many pixels a window of a Pooling spans along height and width."""
    return [(kernel - 1) * dilation + 1 for kernel, dilation in zip(layer.kernel, layer.dilation)]


def pads_at_end(w: Work) -> list[int]:
    """Padding below and to the right with which windows, counted rounding down, are as many as the layer's."""
    layer = w.layer
    sizes = zip(w.bottom_shapes[0][2:], w.top_shapes[0][2:], reaches(layer), layer.stride, layer.pad)
    return [max(0, (out - 1) * stride + kernel - pad - size) for size, out, kernel, stride, pad in sizes]


def true_shares(w: Work) -> np.ndarray:
    """(H', W'): by what a mean over whole kernels is multiplied to be that over the elements that Caffe counts.

    These lie in the image and its padding, `pad` pixels on all sides; or in the image alone, where padding does not count.
    """
    layer, counts = w.layer, []
    sizes = zip(w.bottom_shapes[0][2:], w.top_shapes[0][2:], layer.kernel, layer.stride, layer.pad)
    for size, out, kernel, stride, pad in sizes:
        start = np.arange(out) * stride - pad
        stop = np.minimum(start + kernel, size + (0 if layer.inside else pad))
        start = np.maximum(start, 0) if layer.inside else start
        counts.append(stop - start)
    with np.errstate(divide="ignore"):  # of a window beyond the border
        return np.asarray(np.float32(prod(layer.kernel)) / np.outer(*counts).astype(np.float32))


def stochastic(g: OnnxGraph, w: Work) -> str:
    """At TEST: the sum of squares over the sum of each window, 0 where it sums to 0."""
    x, how = padded(g, w, 0.0)
    squares, sums = (g.op("AveragePool", v, count_include_pad=1, **how) for v in (g.mul(x, x), x))
    empty = g.op("Equal", sums, g.const(0.0))
    return g.op("Where", empty, g.const(0.0), g.div(squares, g.op("Where", empty, g.const(1.0), sums)))


@lowering("SPP")
def spp(g: OnnxGraph, w: Work) -> str:
    """One pooling for each level of the pyramid, side by side."""
    images, channels, *size = w.bottom_shapes[0]
    parts = []
    for level in range(w.layer.height):
        bins = 2**level
        kernel = [-(-length // bins) for length in size]
        pad = [(k * bins - length + 1) // 2 for k, length in zip(kernel, size)]
        starts = [np.arange(bins) * k - p for k, p in zip(kernel, pad)]
        share = [np.minimum(s + k, n + p) - s for s, k, p, n in zip(starts, kernel, pad, size)]
        end = [max(0, bins * k - p - length) for k, p, length in zip(kernel, pad, size)]
        how = {"kernel_shape": kernel, "strides": kernel, "pads": [*pad, *end]}
        if w.layer.average:
            y = g.op("AveragePool", w.bottoms[0], count_include_pad=1, **how)
            factors = np.float32(prod(kernel)) / np.outer(*share).astype(np.float32)
            y = y if np.all(factors == 1) else g.op("Mul", y, g.const(factors))
        else:
            y = g.op("MaxPool", w.bottoms[0], **how)
        parts.append(y if w.layer.height == 1 else g.reshape(y, (images, channels * bins**2), w.lead))
    return g.concat(parts, 1)


@lowering("Im2col")
def im2col(g: OnnxGraph, w: Work) -> str:
    """A slice for each tap, side by side behind the channels."""
    layer, axis, top = w.layer, w.layer.channel_axis, w.top_shapes[0]
    spatial, x = len(layer.kernel), w.bottoms[0]
    if any(layer.pad):
        pads = [0] * (axis + 1) + list(layer.pad)
        x = g.op("Pad", x, g.ints(*pads, *pads), g.const(0.0))
    taps = []
    for tap in np.ndindex(*layer.kernel):
        starts = [at * apart for at, apart in zip(tap, layer.dilation)]
        sizes = zip(starts, top[axis + 1 :], layer.stride)
        ends = [start + (size - 1) * stride + 1 for start, size, stride in sizes]
        axes = range(axis + 1, axis + 1 + spatial)
        taps.append(g.op("Slice", x, g.ints(*starts), g.ints(*ends), g.ints(*axes), g.ints(*layer.stride)))
    each = g.concat([g.unsqueeze(tap, axis + 1) for tap in taps], axis + 1)
    return g.reshape(each, top, w.lead)
