"""Activations and arithmetic, element by element."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from .table import Run, Work, factory, import_torch, sized


@factory("ReLU")
def relu(w: Work) -> Run:
    functional = import_torch().nn.functional
    slope, ceiling = (float(v) for v in w.layer.limits)

    def run(p: Any, x: Any) -> Any:
        y = functional.leaky_relu(x, slope) if slope else functional.relu(x)
        return y if ceiling == inf else y.clamp(max=ceiling)

    return run


@factory("PReLU")
def prelu(w: Work) -> Run:
    functional = import_torch().nn.functional
    return lambda p, x: functional.prelu(x, p.weight.reshape(-1))


@factory("ELU")
def elu(w: Work) -> Run:
    functional = import_torch().nn.functional
    alpha, scale = (float(v) for v in w.layer.numbers)
    return lambda p, x: functional.elu(x, alpha) * scale if scale != 1 else functional.elu(x, alpha)


@factory("Sigmoid")
def sigmoid(w: Work) -> Run:
    return lambda p, x: x.sigmoid()


@factory("TanH")
def tanh(w: Work) -> Run:
    return lambda p, x: x.tanh()


@factory("AbsVal")
def absval(w: Work) -> Run:
    return lambda p, x: x.abs()


@factory("BNLL", "Softplus")
def bnll(w: Work) -> Run:
    torch = import_torch()
    return lambda p, x: torch.logaddexp(x, torch.zeros_like(x))


@factory("Clip", "BReLU")
def clip(w: Work) -> Run:
    low, high = (float(v) for v in w.layer.numbers)
    return lambda p, x: x.clamp(low, high)


@factory("Swish")
def swish(w: Work) -> Run:
    (beta,) = (float(v) for v in w.layer.numbers)
    return lambda p, x: x * (beta * x).sigmoid()


@factory("GELU")
def gelu(w: Work) -> Run:
    (coeff,) = (float(v) for v in w.layer.numbers)
    functional = import_torch().nn.functional
    return lambda p, x: coeff * functional.gelu(x, approximate="tanh")


@factory("HardSigmoid")
def hard_sigmoid(w: Work) -> Run:
    alpha, beta = (float(v) for v in w.layer.numbers)
    return lambda p, x: (alpha * x + beta).clamp(0, 1)


@factory("HardSwish", "HSwish")
def hard_swish(w: Work) -> Run:
    functional = import_torch().nn.functional
    return lambda p, x: functional.hardswish(x)


@factory("Mish")
def mish(w: Work) -> Run:
    functional = import_torch().nn.functional
    return lambda p, x: functional.mish(x)


@factory("SignedSqrt")
def signed_sqrt(w: Work) -> Run:
    return lambda p, x: x.sign() * x.abs().sqrt()


@factory("Softsign")
def softsign(w: Work) -> Run:
    functional = import_torch().nn.functional
    return lambda p, x: functional.softsign(x)


@factory("Exp")
def exp(w: Work) -> Run:
    slope, shift = (float(v) for v in w.layer.numbers)
    return lambda p, x: (slope * x + shift).exp()


@factory("Log")
def log(w: Work) -> Run:
    scale, shift, factor = (float(v) for v in w.layer.numbers)
    return lambda p, x: factor * (scale * x + shift).log()


@factory("Power")
def power(w: Work) -> Run:
    torch = import_torch()
    exponent, scale, shift = (float(v) for v in w.layer.line)
    if w.layer.constant:
        with np.errstate(all="ignore"):
            value = float(np.power(np.float64(shift), exponent)) if exponent else 1.0
        return lambda p, x: torch.full_like(x, value)

    def run(p: Any, x: Any) -> Any:
        y = scale * x + shift
        return y if exponent == 1 else y * y if exponent == 2 else y**exponent

    return run


@factory("Threshold")
def threshold(w: Work) -> Run:
    limit = float(w.layer.param.threshold_param.threshold)
    return lambda p, x: (x > limit).to(x.dtype)


@factory("ScaleTanH")
def scale_tanh(w: Work) -> Run:
    (scale,) = (float(v) for v in w.layer.numbers)
    return lambda p, x: (scale * x).tanh()


@factory("Noise")
def noise(w: Work) -> Run:
    w.need(not w.layer.drops, "it draws random numbers at TEST too")
    return lambda p, x: x


@factory("GuidedDropout")
def guided_dropout(w: Work) -> Run:
    if w.layer.identity:
        return lambda p, x, guide: x
    bound = float(w.layer.bound)

    def run(p: Any, x: Any, guide: Any) -> Any:
        stays = (guide.reshape(x.shape[:2]) > bound).to(x.dtype)
        factor = stays * x.shape[1] / stays.sum(1, keepdim=True).clamp(min=1)
        return x * factor.reshape(*x.shape[:2], *[1] * (x.dim() - 2))

    return run


@factory("Dropout")
def dropout(w: Work) -> Run:
    """The identity at TEST; a module that is training drops as Caffe does."""
    w.need(not w.layer.drops, "it drops elements at random at TEST too")
    functional = import_torch().nn.functional
    ratio, scale = float(w.layer.param.dropout_param.dropout_ratio), float(w.layer.scale)

    def run(p: Any, x: Any) -> Any:
        if p.training:
            dropped_out = functional.dropout(x, ratio)
            return dropped_out if scale == 1 else dropped_out * (1 - ratio)
        return x if scale == 1 else x * scale

    return run


@factory("SpatialDropout")
def spatial_dropout(w: Work) -> Run:
    w.need(not w.layer.drops, "it drops channels at random at TEST too")
    functional = import_torch().nn.functional
    ratio = 1 - 1 / float(w.layer.scale)
    return lambda p, x: functional.dropout2d(x, ratio) if p.training else x


@factory("Eltwise")
def eltwise(w: Work) -> Run:
    torch = import_torch()
    operation, coeff = w.layer.operation, [float(c) for c in w.layer.coeff]
    shapes, shape = w.bottom_shapes, w.top_shapes[0]

    def run(p: Any, *xs: Any) -> Any:
        parts = [x if len(own) == len(shape) else x.reshape(sized(x, own, shape)) for x, own in zip(xs, shapes)]
        total = parts[0] * coeff[0] if operation == "SUM" and coeff[0] != 1 else parts[0]
        for part, c in zip(parts[1:], coeff[1:]):
            if operation == "SUM":
                total = total + (part if c == 1 else c * part)
            else:
                total = total * part if operation == "PROD" else torch.maximum(total, part)
        return total

    return run


@factory("CReLU")
def crelu(w: Work) -> Run:
    torch = import_torch()
    functional = torch.nn.functional
    param = w.layer.param.crelu_param
    slope, axis = float(param.negative_slope), int(param.concat_axis)
    return lambda p, x: torch.cat([functional.leaky_relu(x, slope), functional.leaky_relu(-x, slope)], axis)


@factory("SpatialProduct")
def spatial_product(w: Work) -> Run:
    return lambda p, x, factors: x * factors


@factory("Axpy")
def axpy(w: Work) -> Run:
    axes = len(w.bottom_shapes[1]) - 2
    return lambda p, a, x, y: a.reshape(*a.shape[:2], *[1] * axes) * x + y
