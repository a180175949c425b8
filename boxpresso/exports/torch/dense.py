"""Convolutions, pooling and products with weights."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .table import Run, Work, factory, import_torch


@factory("Convolution", "DepthwiseConvolution")
def convolution(w: Work) -> Run:
    return windows(w, "conv", {})


@factory("Deconvolution")
def deconvolution(w: Work) -> Run:
    return windows(w, "conv_transpose", {})


def windows(w: Work, name: str, more: dict[str, object]) -> Run:
    """torch's convolution of each bottom with the same weights."""
    layer, spatial = w.layer, len(w.layer.kernel)
    w.need(1 <= spatial <= 3, f"torch has convolutions over 1 to 3 axes, not {spatial}")
    function = getattr(import_torch().nn.functional, f"{name}{spatial}d")
    how = {
        "stride": list(layer.stride),
        "padding": list(layer.pad),
        "dilation": list(layer.dilation),
        "groups": layer.group,
    }
    axis = layer.channel_axis

    def run(p: Any, *xs: Any) -> Any:
        result = []
        for x in xs:
            flat = x if axis == 1 else x.reshape(-1, *x.shape[axis:])
            y = function(flat, p.weight, getattr(p, "bias", None), **how, **more)
            result.append(y if axis == 1 else y.reshape(*x.shape[:axis], *y.shape[1:]))
        return result

    return run


@factory("CrossCorrelation")
def cross_correlation(w: Work) -> Run:
    layer, shape = w.layer, w.layer.weights_shape()
    w.need(layer.channel_axis == 1 and 1 <= len(shape) - 2 <= 3, "torch has it over 1 to 3 axes behind the channels")
    function = getattr(import_torch().nn.functional, f"conv{len(shape) - 2}d")
    where = list(layer.stride), list(layer.pad), list(layer.dilation), layer.group
    bias = w.keys[1] if layer.bias_term else ""
    return lambda p, x, target: function(x, target.reshape(shape), getattr(p, bias) if bias else None, *where)


@factory("MatMul")
def matmul(w: Work) -> Run:
    layer = w.layer
    m, n, k = layer.sizes

    def run(p: Any, *xs: Any) -> Any:
        matrices = list(xs) if len(xs) > 1 else [xs[0], p.weight]
        if all(layer.dims):
            matrices = [x.reshape(shape) for x, shape in zip(matrices, ((m, k), (n, k)))]
        a, b = (x.transpose(-1, -2) if turned else x for x, turned in zip(matrices, layer.turned))
        return a @ b

    return run


@factory("Gram")
def gram(w: Work) -> Run:
    def run(p: Any, x: Any) -> Any:
        rows = x.flatten(2)
        return (rows @ rows.transpose(1, 2) / (rows.shape[1] * rows.shape[2])).unsqueeze(3)

    return run


@factory("Local")
def local(w: Work) -> Run:
    torch, layer = import_torch(), w.layer
    p, shape, w.fixed = layer.param.local_param, w.top_shapes[0], True
    how = {"kernel_size": p.kernel_size, "dilation": layer.dilation, "padding": p.pad, "stride": p.stride}

    def run(p: Any, x: Any) -> Any:
        columns = torch.nn.functional.unfold(x, **how)
        y = torch.einsum("nkp,mkp->nmp", columns, p.weight[:, 0])
        return (y + p.bias[0] if hasattr(p, "bias") else y).reshape(x.shape[0], *shape[1:])

    return run


@factory("InnerProduct")
def inner_product(w: Work) -> Run:
    functional = import_torch().nn.functional
    axis, turned = int(w.layer.param.inner_product_param.axis) % len(w.bottom_shapes[0]), bool(w.layer.transpose)

    def run(p: Any, x: Any) -> Any:
        flat = x.flatten(axis) if x.dim() > axis else x
        weight = p.weight.t() if turned else p.weight
        if w.layer.unit:
            weight = weight / (weight.square().sum(1, keepdim=True) + 1e-6).sqrt()
        return functional.linear(flat, weight, getattr(p, "bias", None))

    return run


@factory("Embed")
def embed(w: Work) -> Run:
    functional, has_bias = import_torch().nn.functional, len(w.params) > 1

    def run(p: Any, x: Any) -> Any:
        y = functional.embedding(x.long(), p.weight)
        return y + p.bias if has_bias else y

    return run


@factory("Pooling")
def pooling(w: Work) -> Run:
    """Caffe's windows: counted rounding up, and divided by what lies in the image and its padding."""
    torch, layer = import_torch(), w.layer
    functional = torch.nn.functional
    kernel, stride, pad = (list(v) for v in (layer.kernel, layer.stride, layer.pad))
    method, two = layer.method, len(w.step.outputs) > 1
    w.need(method != "RCM", "the maxima of rows and columns (pool: RCM)")
    if layer.whole and not two and method != "STOCHASTIC":
        return lambda p, x: x.amax((2, 3), keepdim=True) if method == "MAX" else x.mean((2, 3), keepdim=True)
    w.need(not layer.dilated or method == "MAX", "a mean over dilated windows")
    w.fixed = bool(layer.whole)
    apart = list(layer.dilation)
    reaches = [(k - 1) * d + 1 for k, d in zip(kernel, apart)]

    def places_of(size: list[int]) -> list[int]:
        return [layer.windows(*axis) for axis in zip(size, reaches, stride, pad)]

    def shares(size: list[int]) -> Any:
        with np.errstate(divide="ignore"):  # of a window beyond the border
            return (1.0 / np.outer(*counts(layer, size, places_of(size))).astype(np.float32)).tolist()

    def run(p: Any, x: Any) -> Any:
        size = height, width = [int(n) for n in x.shape[2:]]
        sides = [pad[1], 0, pad[0], 0]
        for i, (n, s, reach, b) in enumerate(zip(places_of(size), stride, reaches, pad)):
            sides[3 - 2 * i] = max(0, (n - 1) * s + reach - b - size[i])
        if method == "MAX":
            padded = functional.pad(x, sides, value=-3.4028234663852886e38) if any(sides) else x
            if not two:
                return functional.max_pool2d(padded, kernel, stride, dilation=apart)
            values, places = functional.max_pool2d(padded, kernel, stride, dilation=apart, return_indices=True)
            wide = padded.shape[3]
            rows, columns = places // wide - pad[0], places % wide - pad[1]
            # a window beyond the border has no place
            there = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            return [values, (rows * width + columns).where(there, -torch.ones_like(rows)).to(x.dtype)]
        padded = functional.pad(x, sides) if any(sides) else x
        sums = functional.avg_pool2d(padded, kernel, stride, divisor_override=1)
        if method == "AVE":
            return sums * sums.new_tensor(shares(size))
        squares = functional.avg_pool2d(padded * padded, kernel, stride, divisor_override=1)
        return squares / sums.where(sums != 0, sums + 1)

    return run


def counts(layer: Any, sizes: list[int], outs: list[int]) -> list[np.ndarray]:
    """How many rows, and columns, Caffe counts in each window of a Pooling; sizes, outs: of the image and the top."""
    result = []
    for size, out, kernel, stride, pad in zip(sizes, outs, layer.kernel, layer.stride, layer.pad):
        start = np.arange(out) * stride - pad
        stop = np.minimum(start + kernel, size + (0 if layer.inside else pad))
        result.append(stop - (np.maximum(start, 0) if layer.inside else start))
    return result


@factory("SPP")
def spp(w: Work) -> Run:
    torch = import_torch()
    functional, w.fixed = torch.nn.functional, True
    size, levels, average = w.bottom_shapes[0][2:], w.layer.height, bool(w.layer.average)
    plans = []
    for level in range(levels):
        bins = 2**level
        kernel = [-(-n // bins) for n in size]
        pad = [(k * bins - n + 1) // 2 for k, n in zip(kernel, size)]
        ends = [max(0, k * bins - b - n) for k, b, n in zip(kernel, pad, size)]
        starts = [np.arange(bins) * k - b for k, b in zip(kernel, pad)]
        count = [np.minimum(s + k, n + b) - s for s, k, n, b in zip(starts, kernel, size, pad)]
        plans.append((kernel, [pad[1], ends[1], pad[0], ends[0]], 1.0 / np.outer(*count).astype(np.float32)))

    def run(p: Any, x: Any) -> Any:
        parts = []
        for kernel, sides, shares in plans:
            padded = functional.pad(x, sides, value=0.0 if average else -3.4028234663852886e38)
            if average:
                sums = functional.avg_pool2d(padded, kernel, kernel, divisor_override=1)
                parts.append(sums * sums.new_tensor(shares.tolist()))
            else:
                parts.append(functional.max_pool2d(padded, kernel, kernel))
        return parts[0] if levels == 1 else torch.cat([part.flatten(1) for part in parts], 1)

    return run


@factory("Im2col")
def im2col(w: Work) -> Run:
    functional, layer = import_torch().nn.functional, w.layer
    w.need(len(layer.kernel) == 2 and layer.channel_axis == 1, "torch's unfold has two axes behind the channels")
    how = dict(
        zip(("kernel_size", "dilation", "padding", "stride"), (layer.kernel, layer.dilation, layer.pad, layer.stride))
    )
    shape, w.fixed = w.top_shapes[0], True
    return lambda p, x: functional.unfold(x, **how).reshape(x.shape[0], *shape[1:])


@factory("LSTM", "RNN")
def recurrent(w: Work) -> Run:
    """Step by step; without a first state it starts from zeros, and keeps none between its runs."""
    torch, layer = import_torch(), w.layer
    size, states, exposed, static = layer.size, layer.states, layer.exposed, layer.static
    alone = w.step.type == "LSTM" and layer.older and len(w.bottom_shapes) == 1
    joined = w.step.type == "LSTM" and layer.joined  # time steps and sequences in one axis
    sequences = int(layer.param.lstm_param.batch_size) if joined else 1
    steps, depth = w.bottom_shapes[0][0] // sequences, prod(w.bottom_shapes[0][1 if joined else 2 :])

    def cell(p: Any, pre: Any, hidden: Any, state: Any) -> Any:
        taken, forget, shown, written = pre.split(size, -1)
        state = forget.sigmoid() * state + taken.sigmoid() * written.tanh()
        return shown.sigmoid() * state.tanh(), state

    def run(p: Any, x: Any, *rest: Any) -> Any:
        count = sequences if joined else x.shape[1]
        if joined and rest:
            rest = (rest[0].reshape(steps, count),)
        first = [s[0] for s in rest[len(rest) - exposed :]] if exposed else [x.new_zeros(count, size)] * states
        cont = (
            (torch.arange(steps, device=x.device) > 0).to(x.dtype)[:, None].expand(steps, count) if alone else rest[0]
        )
        pre = x.reshape(steps, count, depth) @ p.weight_x.t() + p.bias
        if static:
            pre = pre + rest[1].flatten(1) @ p.weight_static.t()
        hidden, state = first[0], first[-1]
        results = []
        for t in range(steps):
            keeps = cont[t][:, None]
            total = pre[t] + (hidden * keeps) @ p.weight_h.t()
            if states == 2:
                hidden, state = cell(p, total, hidden, state * keeps)
            else:
                hidden = total.tanh()
            results.append(hidden)
        series = torch.stack(results)
        if states == 1:
            series = (series @ p.weight_out.t() + p.bias_out).tanh()
        series = series.flatten(0, 1) if joined else series
        return [series, *[s[None] for s in (hidden, state)[:exposed]]]

    return run


@factory("LSTMUnit")
def lstm_unit(w: Work) -> Run:
    size = w.layer.size

    def run(p: Any, before: Any, pre: Any, cont: Any) -> Any:
        taken, forget, shown, written = pre.split(size, -1)
        state = forget.sigmoid() * before * cont[..., None] + taken.sigmoid() * written.tanh()
        return [state, shown.sigmoid() * state.tanh()]

    return run


@factory("DeformableConvolution", "ModulatedDeformableConvolution")
def deformable(w: Work) -> Run:
    from ...ops import torch as ops

    layer = w.layer
    stride, pad, dilation = (list(v) for v in (layer.stride, layer.pad, layer.dilation))
    convolve = ops.deform_conv2d  # type: ignore[attr-defined]
    return lambda p, x, offset, *mask: convolve(
        x, offset, p.weight, getattr(p, "bias", None), stride, pad, dilation, *mask
    )
