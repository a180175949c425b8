"""Activations and arithmetic, element by element."""

from __future__ import annotations

from math import inf, pi, sqrt

import numpy as np

from .graph import OnnxGraph, Work, lowering


@lowering("ReLU")
def relu(g: OnnxGraph, w: Work) -> str:
    slope, ceiling = w.layer.limits
    y = g.op("LeakyRelu", w.bottoms[0], alpha=float(slope)) if slope else g.op("Relu", w.bottoms[0])
    return y if ceiling == inf else g.smaller(y, ceiling)


@lowering("PReLU")
def prelu(g: OnnxGraph, w: Work) -> str:
    shape = (w.params[0].size, *[1] * (len(w.top_shapes[0]) - 2))
    return g.op("PRelu", w.bottoms[0], g.const(w.params[0].reshape(shape)))


@lowering("ELU")
def elu(g: OnnxGraph, w: Work) -> str:
    alpha, scale = w.layer.numbers
    y = g.op("Elu", w.bottoms[0], alpha=float(alpha))
    return y if scale == 1 else g.mul(y, scale)


@lowering("Sigmoid")
def sigmoid(g: OnnxGraph, w: Work) -> str:
    return g.op("Sigmoid", w.bottoms[0])


@lowering("TanH")
def tanh(g: OnnxGraph, w: Work) -> str:
    return g.op("Tanh", w.bottoms[0])


@lowering("AbsVal")
def absval(g: OnnxGraph, w: Work) -> str:
    return g.op("Abs", w.bottoms[0])


@lowering("BNLL", "Softplus")
def bnll(g: OnnxGraph, w: Work) -> str:
    """max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    rest = g.op("Log", g.add(g.op("Exp", g.op("Neg", g.op("Abs", w.bottoms[0]))), 1.0))
    return g.add(g.op("Relu", w.bottoms[0]), rest)


@lowering("Clip", "BReLU")
def clip(g: OnnxGraph, w: Work) -> str:
    low, high = w.layer.numbers
    return g.op("Clip", w.bottoms[0], g.const(low), g.const(high))


@lowering("Swish")
def swish(g: OnnxGraph, w: Work) -> str:
    (beta,) = w.layer.numbers
    x = w.bottoms[0]
    return g.mul(x, g.op("Sigmoid", x if beta == 1 else g.mul(x, beta)))


@lowering("GELU")
def gelu(g: OnnxGraph, w: Work) -> str:
    (coeff,) = w.layer.numbers
    x = w.bottoms[0]
    cube = g.mul(g.mul(x, g.mul(x, x)), 0.044715)
    inner = g.op("Tanh", g.mul(g.add(x, cube), sqrt(2 / pi)))
    return g.mul(g.mul(x, 0.5 * coeff), g.add(inner, 1.0))


@lowering("HardSigmoid")
def hard_sigmoid(g: OnnxGraph, w: Work) -> str:
    alpha, beta = w.layer.numbers
    return g.op("HardSigmoid", w.bottoms[0], alpha=float(alpha), beta=float(beta))


@lowering("HardSwish", "HSwish")
def hard_swish(g: OnnxGraph, w: Work) -> str:
    return g.mul(w.bottoms[0], g.op("HardSigmoid", w.bottoms[0], alpha=1 / 6, beta=0.5))


@lowering("Mish")
def mish(g: OnnxGraph, w: Work) -> str:
    return g.mul(w.bottoms[0], g.op("Tanh", g.op("Softplus", w.bottoms[0])))


@lowering("SignedSqrt")
def signed_sqrt(g: OnnxGraph, w: Work) -> str:
    return g.mul(g.op("Sign", w.bottoms[0]), g.op("Sqrt", g.op("Abs", w.bottoms[0])))


@lowering("Softsign")
def softsign(g: OnnxGraph, w: Work) -> str:
    return g.op("Softsign", w.bottoms[0])


@lowering("Exp")
def exp(g: OnnxGraph, w: Work) -> str:
    slope, shift = w.layer.numbers
    return g.op("Exp", line(g, w.bottoms[0], slope, shift))


@lowering("Log")
def log(g: OnnxGraph, w: Work) -> str:
    scale, shift, factor = w.layer.numbers
    y = g.op("Log", line(g, w.bottoms[0], scale, shift))
    return y if factor == 1 else g.mul(y, factor)


@lowering("Power")
def power(g: OnnxGraph, w: Work) -> str:
    exponent, scale, shift = w.layer.line
    x = w.bottoms[0]
    if w.layer.constant:
        with np.errstate(all="ignore"):
            value = float(np.power(np.float64(shift), exponent)) if exponent else 1.0
        return g.op("Expand", g.const(value), g.op("Shape", x))
    y = line(g, x, scale, shift)
    if exponent == 1:
        return y
    return g.mul(y, y) if exponent == 2 else g.op("Pow", y, g.const(exponent))


def line(g: OnnxGraph, x: str, scale: float, shift: float) -> str:
    """scale * x + shift, without what changes nothing."""
    y = x if scale == 1 else g.mul(x, scale)
    return y if shift == 0 else g.add(y, shift)


@lowering("Threshold")
def threshold(g: OnnxGraph, w: Work) -> str:
    limit = w.layer.param.threshold_param.threshold
    return g.cast(g.op("Greater", w.bottoms[0], g.const(limit)), "float")


@lowering("ScaleTanH")
def scale_tanh(g: OnnxGraph, w: Work) -> str:
    return g.op("Tanh", g.mul(w.bottoms[0], w.layer.numbers[0]))


@lowering("GuidedDropout")
def guided_dropout(g: OnnxGraph, w: Work) -> str:
    x, shape = w.bottoms[0], w.bottom_shapes[0]
    if w.layer.identity:
        return x
    stays = g.cast(g.op("Greater", g.reshape(w.bottoms[1], [0, shape[1]]), g.const(w.layer.bound)), "float")
    left = g.op("Max", g.reduce("ReduceSum", stays, [1]), g.const(1.0))
    factor = g.div(g.mul(stays, float(shape[1])), left)
    return g.mul(x, g.reshape(factor, [0, shape[1], *[1] * len(shape[2:])]))


@lowering("Dropout", "SpatialDropout", "Noise")
def dropout(g: OnnxGraph, w: Work) -> str:
    w.need(not w.layer.drops, "it draws random numbers at TEST too")
    scale = w.layer.scale if w.step.type == "Dropout" else 1.0
    return w.bottoms[0] if scale == 1 else g.mul(w.bottoms[0], scale)


@lowering("Eltwise")
def eltwise(g: OnnxGraph, w: Work) -> str:
    """Bottoms may differ by trailing axes of size 1; the top has the shape of the first."""
    shape = w.top_shapes[0]
    parts = [x if len(own) == len(shape) else g.reshape(x, shape, w.lead) for x, own in zip(w.bottoms, w.bottom_shapes)]
    if w.layer.operation == "SUM":
        parts = [x if c == 1 else g.mul(x, c) for x, c in zip(parts, w.layer.coeff)]
    kind = {"SUM": "Add", "PROD": "Mul", "MAX": "Max"}[w.layer.operation]
    total = parts[0]
    for part in parts[1:]:
        total = g.op(kind, total, part)
    return total


@lowering("CReLU")
def crelu(g: OnnxGraph, w: Work) -> str:
    p, x = w.layer.param.crelu_param, w.bottoms[0]
    slope, axis = p.negative_slope, p.concat_axis % len(w.bottom_shapes[0])
    halves = [
        g.op("LeakyRelu", part, alpha=float(slope)) if slope else g.op("Relu", part) for part in (x, g.op("Neg", x))
    ]
    return g.concat(halves, axis)


@lowering("SpatialProduct")
def spatial_product(g: OnnxGraph, w: Work) -> str:
    return g.mul(*w.bottoms)


@lowering("Axpy")
def axpy(g: OnnxGraph, w: Work) -> str:
    a, x, y = w.bottoms
    shape = w.bottom_shapes[1]
    factors = g.reshape(a, (*shape[:2], *[1] * (len(shape) - 2)), w.lead)
    return g.add(g.mul(factors, x), y)
