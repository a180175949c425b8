"""Normalisation and learned affine maps."""

from __future__ import annotations

from math import prod

import numpy as np

from ..operations import Numpy, Shape
from .graph import OnnxGraph, Work, lowering


def broad(values: Numpy, axis: int, axes: int) -> Numpy:
    """Numbers of the axes from `axis` on, in the shape that broadcasts over a value of so many axes."""
    return values.reshape(*values.shape, *[1] * (axes - axis - values.ndim))


@lowering("Affine")
def affine(g: OnnxGraph, w: Work) -> str:
    """BatchNorm, Scale and Bias, or a chain of them, with no weights before them."""
    scale, shift = (broad(np.asarray(p), 1, len(w.top_shapes[0])) for p in w.params)
    y = w.bottoms[0] if np.all(scale == 1) else g.op("Mul", w.bottoms[0], g.const(scale))
    return y if np.all(shift == 0) else g.op("Add", y, g.const(shift))


@lowering("BatchNorm", "BN")
def batch_norm(g: OnnxGraph, w: Work) -> str:
    """With the statistics of the batch itself; others are an Affine."""
    layer, shape, x = w.layer, w.bottom_shapes[0], w.bottoms[0]
    w.need(len(w.step.outputs) == 1, "only its first top has a counterpart")
    w.need(len(shape) > 1, f"its bottom has the shape {shape}; it needs a channel axis")
    axes = [0, *range(2, len(shape))]
    centred = g.sub(x, g.reduce("ReduceMean", x, axes))
    variance = g.reduce("ReduceMean", g.mul(centred, centred), axes)
    y = g.div(centred, g.op("Sqrt", g.add(variance, layer.eps)))
    own = w.params[:2] if w.step.type == "BN" else w.params[3:]
    for kind, values in zip(("Mul", "Add"), own):
        y = g.op(kind, y, g.const(broad(values.reshape(-1), 1, len(shape))))
    return y


@lowering("Scale")
def scale(g: OnnxGraph, w: Work) -> str:
    shape, p = w.bottom_shapes[0], w.layer.param.scale_param
    axis, other, values = operand(g, w, p)
    y = g.mul(w.bottoms[0], values)
    if p.bias_term:
        y = g.add(y, g.const(broad(w.params[-1].reshape(other), axis, len(shape))))
    return y


@lowering("Bias")
def bias(g: OnnxGraph, w: Work) -> str:
    return g.add(w.bottoms[0], operand(g, w, w.layer.param.bias_param)[2])


def operand(g: OnnxGraph, w: Work, p: object) -> tuple[int, Shape, str]:
    """The axis, shape and value of a Scale's or Bias's second operand, learned or a bottom, ready to broadcast."""
    shape = w.bottom_shapes[0]
    count, axis = p.num_axes, p.axis % max(len(shape), 1)  # type: ignore[attr-defined]
    if not w.layer.learned:
        other = w.bottom_shapes[1]
        axis = axis if other else 0
        lead = w.lead and axis == 0 and bool(other)
        wide = (*other, *[1] * (len(shape) - axis - len(other)))
        return axis, other, w.bottoms[1] if wide == other else g.reshape(w.bottoms[1], wide, lead)
    axis = 0 if count == 0 else axis
    values = w.params[0]
    return axis, values.shape, g.const(broad(values, axis, len(shape)) if values.ndim else values)


@lowering("LRN")
def lrn(g: OnnxGraph, w: Work) -> str:
    layer, x, (images, channels, *size) = w.layer, w.bottoms[0], w.bottom_shapes[0]
    wide, half = 2 * layer.half + 1, layer.half
    if layer.across and layer.by > 0 and layer.beta > 0:  # onnxruntime refuses others
        return g.op("LRN", x, size=wide, alpha=float(layer.by * wide), beta=float(layer.beta), bias=float(layer.k))
    squares = g.mul(x, x)
    if layer.across:
        planes = g.reshape(squares, (images, 1, channels, prod(size)), w.lead)
        means = g.op("AveragePool", planes, kernel_shape=[wide, 1], pads=[half, 0, half, 0], count_include_pad=1)
        means = g.reshape(means, w.bottom_shapes[0], w.lead)
    else:
        means = g.op("AveragePool", squares, kernel_shape=[wide] * 2, pads=[half] * 4, count_include_pad=1)
    total = g.add(g.mul(means, layer.by * (wide if layer.across else wide**2)), float(layer.k))
    return g.div(x, g.op("Pow", total, g.const(layer.beta)))


@lowering("MVN")
def mvn(g: OnnxGraph, w: Work) -> str:
    p, shape, x = w.layer.param.mvn_param, w.bottom_shapes[0], w.bottoms[0]
    axes = list(range(1 if p.across_channels else 2, len(shape)))
    w.need(axes, f"nothing is left to normalise in the shape {shape}")
    centred = g.sub(x, g.reduce("ReduceMean", x, axes))
    if not p.normalize_variance:
        return centred
    variance = g.reduce("ReduceMean", g.mul(centred, centred), axes)
    inner = p.add_eps_before_sqrt
    root = g.op("Sqrt", g.add(variance, p.eps) if inner else variance)
    return g.div(centred, root if inner else g.add(root, p.eps))


@lowering("Normalize")
def normalize(g: OnnxGraph, w: Work) -> str:
    p, shape, x = w.layer.param.norm_param, w.bottom_shapes[0], w.bottoms[0]
    axes = list(range(1, len(shape))) if p.across_spatial else [1]
    norm = g.op("Sqrt", g.add(g.reduce("ReduceSum", g.mul(x, x), axes), p.eps))
    values = w.params[0]
    return g.mul(g.div(x, norm), g.const(broad(values, 1, len(shape)) if values.ndim else values))


@lowering("NormalizeChannels")
def normalize_channels(g: OnnxGraph, w: Work) -> str:
    w.need(len(w.step.outputs) == 1, "its second top, the norms, has no counterpart")
    x = w.bottoms[0]
    if w.layer.param.normalize_param.normalize_type == "L1":
        return g.div(x, g.add(g.reduce("ReduceL1", x, [1]), w.layer.added))
    return g.div(x, g.op("Sqrt", g.add(g.reduce("ReduceSum", g.mul(x, x), [1]), w.layer.added)))


@lowering("NormL2", "L2Normalize", "Norm", "GRN")
def lengths(g: OnnxGraph, w: Work) -> str:
    layer, x, axes = w.layer, w.bottoms[0], list(range(1, len(w.bottom_shapes[0]))) if w.layer.whole else [1]
    norm = g.op("Sqrt", g.add(g.reduce("ReduceSum", g.mul(x, x), axes), layer.added))
    return g.div(x, g.add(norm, layer.behind) if layer.behind else norm)


@lowering("NormalizationL2", "Normalization", "L2Norm", "L2Normalization")
def normalization_l2(g: OnnxGraph, w: Work) -> str:
    x, axes = w.bottoms[0], list(range(1, len(w.bottom_shapes[0])))
    norm = g.reduce("ReduceL2", x, axes) if axes else g.op("Abs", x)
    return g.div(x, g.larger(g.add(norm, w.layer.behind) if w.layer.behind else norm, 1e-30))


@lowering("Mean")
def mean(g: OnnxGraph, w: Work) -> list[str]:
    tops = []
    for x, shape in zip(w.bottoms, w.bottom_shapes):
        means = np.tile(w.layer.means, shape[1] // len(w.layer.means))
        tops.append(g.add(g.mul(x, w.layer.scale), g.const(broad(means, 1, len(shape)))))
    return tops


@lowering("ChannelNorm")
def channel_norm(g: OnnxGraph, w: Work) -> str:
    x = w.bottoms[0]
    return g.op("Sqrt", g.reduce("ReduceSum", g.mul(x, x), [1]))


@lowering("Softmax", "MultiSoftmax")
def softmax(g: OnnxGraph, w: Work) -> str:
    return g.op("Softmax", w.bottoms[0], axis=w.layer.param.softmax_param.axis % len(w.bottom_shapes[0]))


@lowering("GroupNorm")
def group_norm(g: OnnxGraph, w: Work) -> str:
    p, shape = w.layer.param.group_norm_param, w.bottom_shapes[0]
    rows = g.reshape(w.bottoms[0], [0, p.group_num, -1])  # 0: as many images as there are
    centred = g.sub(rows, g.reduce("ReduceMean", rows, [2]))
    variance = g.reduce("ReduceMean", g.mul(centred, centred), [2])
    return g.reshape(g.div(centred, g.op("Sqrt", g.add(variance, p.eps))), [0, *shape[1:]])
