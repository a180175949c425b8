"""What a net computes by the definitions of its layers: an interpreter in numpy and float64 that shares nothing with the package.

Each layer makes new arrays, in place too; a blob's value is what its last writer made. It reads a parsed prototxt and weights:

    blobs = run(parse_net(text), {"conv": [weight, bias]}, {"x": image})

Sources are Caffe's layers, and for those of forks the formulas of their docstrings.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, prod, sqrt

import numpy as np

Array = np.ndarray
Weights = Sequence[Array]
LAYERS: dict[str, Callable] = {}
FLOAT_MAX = float(np.finfo(np.float32).max)


class Unknown(Exception):
    """A layer, or a form of one, that is not written here."""


def run(
    net, weights: Mapping[str, Weights], inputs: Mapping[str, Array], dtype: type = np.float64, phase: str = "TEST"
) -> dict[str, Array]:
    """The values of all blobs. `dtype` is what regions are rounded in, as Caffe rounds them in its own."""
    blobs: dict[str, Array] = {}
    for layer in net.layer:
        if layer.type == "Input":
            blobs.update((top, np.asarray(inputs[top], np.float64)) for top in layer.top)
            continue
        if layer.type not in LAYERS:
            raise Unknown(layer.type)
        function = LAYERS[layer.type]
        asked = inspect.signature(function).parameters
        more = {key: value for key, value in {"dtype": dtype, "phase": phase}.items() if key in asked}
        bottoms = [blobs[name].copy() for name in layer.bottom]
        params = [np.asarray(w, np.float64) for w in weights.get(layer.name, ())]
        with np.errstate(all="ignore"):
            tops = function(layer, params, *bottoms, **more)
        tops = tops if isinstance(tops, list) else [tops] * len(layer.top)
        blobs.update((name, np.array(top, np.float64)) for name, top in zip(layer.top, tops))
    return blobs


def layer(*types: str) -> Callable[[Callable], Callable]:
    """Notes a function of a layer's message, its parameters and its bottoms, which gives the tops.

    One that asks for `dtype` or `phase` is given them. A list is of the tops one by one, an array is each of them.
    """

    def note(function: Callable) -> Callable:
        LAYERS.update(dict.fromkeys(types, function))
        return function

    return note


def along(values: Array, like: Array, axis: int) -> Array:
    """`values` with axes of 1 around, so that its axes stand at `axis` of `like`."""
    return values.reshape((1,) * axis + values.shape + (1,) * (like.ndim - axis - values.ndim))


def sizes(p, name: str, default: int, axes: int = 2) -> tuple[int, ...]:
    """A field of a window for each axis: as NAME_h and NAME_w, once for all axes, or once for each."""
    if p.HasField(f"{name}_h") or p.HasField(f"{name}_w"):
        return getattr(p, f"{name}_h"), getattr(p, f"{name}_w")
    both = getattr(p, "kernel_size" if name == "kernel" else name)
    values = [both] if isinstance(both, int) else list(both) or [default]
    return tuple(values) if len(values) > 1 else tuple(values * axes)


def number_of(p, name: str, old: str = "") -> int:
    """An axis by its name, or by its older one."""
    return getattr(p, old) if old and p.HasField(old) else getattr(p, name)


# Windows


def spatial(p, axes: int = 2) -> tuple[tuple[int, ...], ...]:
    """Kernel, stride, padding and dilation of a convolution_param."""
    dilation = list(p.dilation) or [1]
    dilation = dilation if len(dilation) > 1 else dilation * axes
    return sizes(p, "kernel", 1, axes), sizes(p, "stride", 1, axes), sizes(p, "pad", 0, axes), tuple(dilation)


def under(tap, size, stride, dilation) -> tuple[slice, ...]:
    """The pixels of a padded image, its channels before them, that lie under one tap of all windows."""
    starts = [t * d for t, d in zip(tap, dilation)]
    return slice(None), slice(None), *(slice(a, a + (m - 1) * s + 1, s) for a, m, s in zip(starts, size, stride))


def padded(x: Array, pad) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *((p, p) for p in pad)])


def places(image, kernel, stride, pad, dilation) -> list[int]:
    """How many windows there are along each axis."""
    return [(m + 2 * p - d * (k - 1) - 1) // s + 1 for m, k, s, p, d in zip(image, kernel, stride, pad, dilation)]


def windows(x: Array, kernel, stride, pad, dilation) -> Array:
    """(N, C, *image) as (N, C, *kernel, *places)."""
    size = places(x.shape[2:], kernel, stride, pad, dilation)
    x, out = padded(x, pad), np.empty((*x.shape[:2], *kernel, *size))
    for tap in np.ndindex(*kernel):
        out[(slice(None), slice(None), *tap)] = x[under(tap, size, stride, dilation)]
    return out


def by_groups(x: Array, group: int) -> Array:
    """(N, C, *image) as (N, groups, C / groups, pixels)."""
    return x.reshape(len(x), group, x.shape[1] // group, prod(x.shape[2:]))


def images_of(x: Array, axis: int) -> Array:
    """The axes before that of the channels as one."""
    return x.reshape(prod(x.shape[:axis]), *x.shape[axis:])


def with_bias(out: Array, params: Weights, before: Sequence[int]) -> Array:
    out = out + along(params[1].reshape(-1), out, 1) if len(params) > 1 else out
    return out.reshape(*before, *out.shape[1:])


@layer("Convolution", "DepthwiseConvolution", "ConvolutionDepthwise")
def convolution(layer, params, *bottoms):
    axis = layer.convolution_param.axis % bottoms[0].ndim
    kernel, stride, pad, dilation = spatial(layer.convolution_param, bottoms[0].ndim - axis - 1)
    tops = []
    for bottom in bottoms:
        x = images_of(bottom, axis)
        size = places(x.shape[2:], kernel, stride, pad, dilation)
        group = layer.convolution_param.group if layer.type == "Convolution" else x.shape[1]
        weight = params[0].reshape(group, params[0].shape[0] // group, x.shape[1] // group, *kernel)
        x, out = padded(x, pad), 0
        for tap in np.ndindex(*kernel):
            pixels = by_groups(x[under(tap, size, stride, dilation)], group)
            out = out + np.einsum("gmc,ngcp->ngmp", weight[(..., *tap)], pixels)
        tops.append(
            with_bias(out.reshape(len(x), -1 if out.size else len(params[0]), *size), params, bottom.shape[:axis])
        )
    return tops


@layer("Deconvolution")
def deconvolution(layer, params, *bottoms):
    group, axis = layer.convolution_param.group, layer.convolution_param.axis % bottoms[0].ndim
    kernel, stride, pad, dilation = spatial(layer.convolution_param, bottoms[0].ndim - axis - 1)
    tops = []
    for bottom in bottoms:
        x = images_of(bottom, axis)
        channels, size = x.shape[1], x.shape[2:]
        weight = params[0].reshape(group, channels // group, -1, *kernel)
        reach = [s * (m - 1) + d * (k - 1) + 1 for s, m, d, k in zip(stride, size, dilation, kernel)]
        out = np.zeros((len(x), group * weight.shape[2], *reach))
        for tap in np.ndindex(*kernel):
            patch = np.einsum("gco,ngcp->ngop", weight[(..., *tap)], by_groups(x, group))
            out[under(tap, size, stride, dilation)] += patch.reshape(len(x), out.shape[1], *size)
        out = out[(slice(None), slice(None), *(slice(p, m - p) for p, m in zip(pad, reach)))]
        tops.append(with_bias(out, params, bottom.shape[:axis]))
    return tops


@layer("Im2col")
def im2col(layer, params, x):
    axis = layer.convolution_param.axis % x.ndim
    kernel, stride, pad, dilation = spatial(layer.convolution_param, x.ndim - axis - 1)
    out = windows(images_of(x, axis), kernel, stride, pad, dilation)
    return out.reshape(*x.shape[:axis], x.shape[axis] * prod(kernel), *out.shape[2 + len(kernel) :])


@layer("InnerProduct")
def inner_product(layer, params, x):
    p = layer.inner_product_param
    axis = p.axis % x.ndim
    weight = params[0] if p.transpose else params[0].T
    out = x.reshape(*x.shape[:axis], prod(x.shape[axis:])) @ weight
    return out + params[1].reshape(-1) if len(params) > 1 else out


@layer("Embed")
def embed(layer, params, x):
    out = params[0][x.astype(int)]
    return out + params[1].reshape(-1) if len(params) > 1 else out


def pooled(x: Array, kind: str, kernel, stride, pad, down: bool = False, inside: bool = False) -> list[Array]:
    """The tops of a pooling; `down` rounds their size down, `inside` divides by the pixels inside the image."""
    n, c, h, w = x.shape
    size = []
    for i, m in enumerate((h, w)):
        count = (floor if down else ceil)((m + 2 * pad[i] - kernel[i]) / stride[i]) + 1
        if any(pad) and (count - 1) * stride[i] >= m + pad[i]:
            count -= 1
        size.append(count)
    out, mask = np.empty((n, c, *size)), np.full((n, c, *size), -1.0)
    for y, z in np.ndindex(*size):
        start = y * stride[0] - pad[0], z * stride[1] - pad[1]
        end = [min(start[i] + kernel[i], m + pad[i]) for i, m in enumerate((h, w))]
        area = (end[0] - start[0]) * (end[1] - start[1])
        (top, left), (bottom, right) = [max(s, 0) for s in start], [min(e, m) for e, m in zip(end, (h, w))]
        part = x[:, :, top : max(top, bottom), left : max(left, right)]
        wide, part, within = part.shape[3], part.reshape(n, c, prod(part.shape[2:])), (bottom - top) * (right - left)
        if kind == "MAX":
            out[:, :, y, z] = np.fmax.reduce(part, axis=2, initial=-FLOAT_MAX)  # passes over NaN
            if part.size:
                at = np.argmax(np.where(np.isnan(part), -np.inf, part), axis=2)
                there = np.take_along_axis(part, at[..., None], 2)[..., 0] > -FLOAT_MAX
                mask[:, :, y, z] = np.where(there, (top + at // wide) * w + left + at % wide, -1)
        elif kind == "STOCHASTIC":
            total = part.sum(axis=2)
            out[:, :, y, z] = np.where(total > 0, (part**2).sum(axis=2) / total, 0)
        else:
            out[:, :, y, z] = part.sum(axis=2) / np.float64(within if inside else area)
    return [out, mask]


@layer("Pooling")
def pooling(layer, params, x, phase):
    p = layer.pooling_param
    kind = p.PoolMethod.Name(p.pool)
    if kind not in ("MAX", "AVE", "AVE_EXC_PAD", "STOCHASTIC") or (kind == "STOCHASTIC" and phase == "TRAIN"):
        raise Unknown(f"{kind} of Pooling")
    kernel, stride, pad = (sizes(p, name, default) for name, default in (("kernel", 0), ("stride", 1), ("pad", 0)))
    if p.global_pooling:
        kernel, stride, pad = x.shape[2:], (1, 1), (0, 0)
    inside = kind == "AVE_EXC_PAD" or not p.avg_include_pad
    return pooled(x, kind, kernel, stride, pad, p.round_mode == p.FLOOR or not p.ceil_mode, inside)


@layer("SPP")
def pyramid(layer, params, x):
    p, parts = layer.spp_param, []
    for level in range(p.pyramid_height):
        kernel = [ceil(m / 2**level) for m in x.shape[2:]]
        pad = [(k * 2**level - m + 1) // 2 for k, m in zip(kernel, x.shape[2:])]
        parts.append(pooled(x, p.PoolMethod.Name(p.pool), kernel, kernel, pad)[0])
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([part.reshape(len(x), prod(part.shape[1:])) for part in parts], axis=1)


# Neurons: functions of each element


def neuron(type: str, function: Callable) -> None:
    LAYERS[type] = lambda layer, params, x: function(layer, x)


def exponential(layer, x):
    p = layer.exp_param
    return np.exp((p.shift + p.scale * x) * (1 if p.base == -1 else np.log(p.base)))


def logarithm(layer, x):
    p = layer.log_param
    return np.log(p.shift + p.scale * x) / (1 if p.base == -1 else np.log(p.base))


def power(layer, x):
    p = layer.power_param
    if p.power == 0 or p.scale == 0:
        return np.full_like(x, np.power(np.float64(p.shift), p.power) if p.power else 1)
    return (p.shift + p.scale * x) ** p.power


def relu(layer, x):
    slope = layer.relu_param.negative_slope
    return np.where(x > 0, x, x * slope) if slope else np.where(np.isnan(x), x, np.maximum(x, 0))


def selu(layer, x):
    p = layer.selu_param
    return getattr(p, "lambda") * np.where(x > 0, x, p.alpha * np.expm1(np.minimum(x, 0)))


def quantize(layer, x):
    return np.select([x >= 200, x >= 80, x >= 36, x >= 12, x >= 1], [0, 4, 3, 2, 1], 0)


neuron("ReLU", relu)
neuron("SeLU", selu)
neuron("SeLu", selu)
neuron("Quantize", quantize)
neuron("ReLU6", lambda layer, x: np.clip(x, 0, 6))
neuron("ELU", lambda layer, x: np.where(x > 0, x, layer.elu_param.alpha * np.expm1(np.minimum(x, 0))))
neuron("Sigmoid", lambda layer, x: 1 / (1 + np.exp(-x)))
neuron("TanH", lambda layer, x: np.tanh(x))
neuron("AbsVal", lambda layer, x: np.abs(x))
neuron("BNLL", lambda layer, x: np.logaddexp(0, x))
neuron("Swish", lambda layer, x: x / (1 + np.exp(-layer.swish_param.beta * x)))
neuron(
    "GELU", lambda layer, x: layer.gelu_param.coeff * x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))
)
neuron(
    "HardSigmoid", lambda layer, x: np.clip(layer.hard_sigmoid_param.alpha * x + layer.hard_sigmoid_param.beta, 0, 1)
)
neuron("HardSwish", lambda layer, x: x * np.clip(x + 3, 0, 6) / 6)
neuron("Mish", lambda layer, x: x * np.tanh(np.logaddexp(0, x)))
neuron("SignedSqrt", lambda layer, x: np.sign(x) * np.sqrt(np.abs(x)))
neuron("Softsign", lambda layer, x: x / (1 + np.abs(x)))
neuron("Clip", lambda layer, x: np.clip(x, layer.clip_param.min, layer.clip_param.max))
neuron("Threshold", lambda layer, x: (x > layer.threshold_param.threshold).astype(float))
neuron("Power", power)
neuron("Exp", exponential)
neuron("Log", logarithm)


@layer("Dropout", "SpatialDropout", "SeLuDropout", "SeLUDropout")
def dropout(layer, params, x, phase):
    p = layer.dropout_param
    if phase == "TRAIN" or p.sample_weights_test:
        raise Unknown("elements that are drawn")
    return x if p.scale_train or layer.type != "Dropout" else x * (1 - p.dropout_ratio)


@layer("CReLU")
def crelu(layer, params, x):
    slope = layer.crelu_param.negative_slope
    return np.concatenate([np.where(v > 0, v, slope * v) for v in (x, -x)], axis=layer.crelu_param.concat_axis)


@layer("Rescale")
def rescale(layer, params, x):
    rf = layer.rescale_param.rf
    counts = (x < rf) & (np.abs(x) > 0.0001)
    return [np.where(counts, 2 * x / rf - 1, 0), counts]


@layer("PReLU")
def prelu(layer, params, x):
    slope = params[0].reshape(-1)
    return np.where(x > 0, x, x * (slope if slope.size == 1 else along(slope, x, 1)))


# Normalisation


def of_batch(x: Array) -> tuple[Array, Array]:
    """Mean and variance of each channel."""
    axes = tuple(i for i in range(x.ndim) if i != 1)
    if not x.size:
        return np.zeros(x.shape[1]), np.zeros(x.shape[1])
    return x.mean(axis=axes).reshape(-1), x.var(axis=axes).reshape(-1)


def standard(x: Array, mean: Array, variance: Array, eps: float) -> Array:
    axis = 1 if x.ndim > 1 else 0  # a single axis is one channel
    return (x - along(mean, x, axis)) / np.sqrt(along(variance, x, axis) + eps)


@layer("BatchNorm")
def batch_norm(layer, params, x, phase):
    p = layer.batch_norm_param
    eps = max(p.eps, 1e-5) if len(params) > 3 else p.eps
    if not (p.use_global_stats if p.HasField("use_global_stats") else phase == "TEST"):
        mean, variance = of_batch(x)
    else:
        factor = params[2].reshape(-1)[0]
        mean, variance = (params[i].reshape(-1) * (1 / factor if factor else 0) for i in (0, 1))
    out = standard(x, mean, variance, eps)
    return out * along(params[3].reshape(-1), x, 1) + along(params[4].reshape(-1), x, 1) if len(params) > 3 else out


@layer("BN")
def bn(layer, params, x, phase):
    p, (factor, shift) = layer.bn_param, (along(v.reshape(-1), x, 1) for v in params[:2])
    mean, variance = of_batch(x)
    moments = [np.reshape(v, (1, -1, 1, 1)) for v in (mean, variance)]
    if len(params) == 2:  # SegNet's
        out = x if p.bn_mode == p.INFERENCE else standard(x, mean, variance, 1e-9)
        return [out * factor + shift, *moments]
    if p.frozen or phase == "TEST":
        mean, variance = params[2].reshape(-1), params[3].reshape(-1)
    return standard(x, mean, variance, p.eps) * factor + shift


@layer("Scale")
def scale(layer, params, x, factor=None):
    p = layer.scale_param
    has_factor = factor is not None
    factor = factor if has_factor else params[0]
    rest = params if has_factor else params[1:]
    axis = p.axis % x.ndim if factor.ndim else 0
    out = x * along(factor, x, axis)
    return out + along(rest[0].reshape(factor.shape), x, axis) if p.bias_term else out


@layer("Bias")
def bias(layer, params, x, shift=None):
    shift = params[0] if shift is None else shift
    return x + along(shift, x, layer.bias_param.axis % x.ndim if shift.ndim else 0)


@layer("LRN")
def lrn(layer, params, x):
    p = layer.lrn_param
    half = (p.local_size - 1) // 2
    if p.norm_region == 0:
        squares = np.pad(x**2, [(0, 0), (half, half), (0, 0), (0, 0)])
        total = sum(squares[:, i : i + x.shape[1]] for i in range(p.local_size))
        return x * (p.k + p.alpha / p.local_size * total) ** -p.beta
    total = windows(x**2, (p.local_size,) * 2, (1, 1), (half, half), (1, 1)).sum(axis=(2, 3))
    return x * (1 + p.alpha * total / p.local_size**2) ** -p.beta


@layer("Normalize")
def normalize(layer, params, x):
    p = layer.norm_param
    axes = tuple(range(1, x.ndim)) if p.across_spatial else (1,)
    out = x / np.sqrt((x**2).sum(axis=axes, keepdims=True) + p.eps)
    return out * (params[0].reshape(-1)[0] if p.channel_shared else along(params[0].reshape(-1), x, 1))


@layer("MVN")
def mvn(layer, params, x):
    p = layer.mvn_param
    axes = tuple(range(1 if p.across_channels else 2, x.ndim))
    out = x - x.mean(axis=axes, keepdims=True)
    if not p.normalize_variance:
        return out
    variance = (out**2).mean(axis=axes, keepdims=True)
    return out / (np.sqrt(variance + p.eps) if p.add_eps_before_sqrt else np.sqrt(variance) + p.eps)


@layer("Softmax")
def softmax(layer, params, x):
    axis = layer.softmax_param.axis
    e = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=axis, keepdims=True)


# Several bottoms or tops


@layer("Eltwise")
def eltwise(layer, params, *bottoms):
    p, bottoms = layer.eltwise_param, [x.reshape(bottoms[0].shape) for x in bottoms]
    if p.operation == 1:
        return sum(c * x for c, x in zip(list(p.coeff) or [1] * len(bottoms), bottoms))
    return np.prod(bottoms, axis=0) if p.operation == 0 else np.max(bottoms, axis=0)


@layer("Concat")
def concat(layer, params, *bottoms):
    return np.concatenate(bottoms, axis=number_of(layer.concat_param, "axis", "concat_dim"))


@layer("Slice")
def slice_(layer, params, x):
    p = layer.slice_param
    points = list(p.slice_point) or len(layer.top)
    return np.split(x, points, axis=number_of(p, "axis", "slice_dim"))


LAYERS["Split"] = lambda layer, params, x: x
LAYERS["Gather"] = lambda layer, params, *bottoms: list(bottoms)
LAYERS["Silence"] = lambda layer, params, *bottoms: []


@layer("Axpy")
def axpy(layer, params, a, x, y):
    return along(a.reshape(a.shape[:2]), x, 0) * x + y


@layer("Crop")
def crop(layer, params, x, like):
    p = layer.crop_param
    axis = p.axis % x.ndim
    offsets = list(p.offset) or [0]
    offsets = offsets * (x.ndim - axis) if len(offsets) == 1 else offsets
    return x[(slice(None),) * axis + tuple(slice(o, o + m) for o, m in zip(offsets, like.shape[axis:]))]


# Shapes


@layer("Permute")
def permute(layer, params, x):
    order = list(layer.permute_param.order)
    return x.transpose(order + [i for i in range(x.ndim) if i not in order])


@layer("Reshape")
def reshape(layer, params, x):
    p = layer.reshape_param
    axis = p.axis if p.axis >= 0 else p.axis + x.ndim + 1
    end = x.ndim if p.num_axes == -1 else axis + p.num_axes
    dims = [x.shape[axis + i] if d == 0 else d for i, d in enumerate(p.shape.dim)]
    if -1 in dims:
        dims[dims.index(-1)] = prod(x.shape[axis:end]) // -prod(dims)
    return x.reshape(*x.shape[:axis], *dims, *x.shape[end:])


@layer("Flatten")
def flatten(layer, params, x):
    p = layer.flatten_param
    axis, end = p.axis % x.ndim, p.end_axis % x.ndim
    return x.reshape(*x.shape[:axis], prod(x.shape[axis : end + 1]), *x.shape[end + 1 :])


@layer("Tile")
def tile(layer, params, x):
    return np.concatenate([x] * layer.tile_param.tiles, axis=layer.tile_param.axis)


@layer("Reduction")
def reduction(layer, params, x):
    p = layer.reduction_param
    axis = p.axis % x.ndim if x.ndim else 0
    rows = x.reshape(*x.shape[:axis], prod(x.shape[axis:]))
    return p.coeff * [None, rows.sum, np.abs(rows).sum, (rows**2).sum, rows.mean][p.operation](axis=-1)


@layer("ArgMax")
def argmax(layer, params, x):
    p = layer.argmax_param
    rows = np.moveaxis(x, p.axis, -1) if p.HasField("axis") else x.reshape(len(x), prod(x.shape[1:]))
    at = rows.shape[-1] - 1 - np.argsort(-rows[..., ::-1], axis=-1, kind="stable")[..., : p.top_k]  # of equals the last
    best = np.take_along_axis(rows, at, -1)
    if p.HasField("axis"):
        return np.moveaxis(best if p.out_max_val else at, -1, p.axis)
    out = np.stack([at, best], axis=1) if p.out_max_val else at[:, None]
    return out.reshape(*out.shape, *[1] * (x.ndim - 3))


@layer("Filter")
def filter_(layer, params, *bottoms):
    *bottoms, selector = bottoms
    if any(len(x) != selector.size for x in bottoms):
        raise Unknown("another number of entries than of selectors")
    return [x[selector.reshape(len(x)) != 0] for x in bottoms]


LAYERS["BatchReindex"] = lambda layer, params, x, rows: x[rows.reshape(-1).astype(int)]
LAYERS["Transpose"] = lambda layer, params, x: x.transpose(list(layer.transpose_param.dim))
LAYERS["Reverse"] = lambda layer, params, x: np.flip(x, list(layer.reverse_param.axis) or [0])


@layer("Flip")
def flip(layer, params, x):
    p = layer.flip_param
    return x[:, :, :: -1 if p.flip_height else 1, :: -1 if p.flip_width else 1]


@layer("Maxout")
def maxout(layer, params, x, info):
    parts = info.size - 2
    out = np.maximum(x.reshape(parts, len(x) // parts, *x.shape[1:]).max(axis=0), 0)
    return out if out.ndim > 2 else out[:, :, None, None]


@layer("ShuffleChannel")
def shuffle_channel(layer, params, x):
    n, c, *rest = x.shape
    group = layer.shuffle_channel_param.group
    return x.reshape(n, group, c // group, *rest).swapaxes(1, 2).reshape(x.shape)


@layer("MIL")
def mil(layer, params, x):
    p = layer.mil_param
    if p.context_per_roi:
        rows = x.reshape(len(x) // p.context_per_roi, p.context_per_roi, x.shape[1]).max(1)
    else:
        places = x.reshape(*x.shape[:2], prod(x.shape[2:]))
        rows = places.max(2)
        if p.type == p.NOR:
            rows = np.maximum(rows, 1 - np.prod(1 - places, 2))
    return rows[:, :, None, None]


@layer("Correlation")
def correlation(layer, params, a, b):
    p = layer.correlation_param
    pads, kernel, most = ((0, 0), (0, 0), (p.pad, p.pad), (p.pad, p.pad)), p.kernel_size, p.max_displacement
    a, b = np.pad(a, pads), np.pad(b, pads)
    reach = most // p.stride_2
    rows, columns = (ceil((side - 2 * most - kernel + 1) / p.stride_1) for side in a.shape[2:])
    top = np.zeros((len(a), (2 * reach + 1) ** 2, rows, columns))
    for channel, y, x in np.ndindex(top.shape[1:]):
        down, along = divmod(channel, 2 * reach + 1)
        v, w = y * p.stride_1 + most, x * p.stride_1 + most
        dv, dw = v + (down - reach) * p.stride_2, w + (along - reach) * p.stride_2
        product = a[:, :, v : v + kernel, w : w + kernel] * b[:, :, dv : dv + kernel, dw : dw + kernel]
        top[:, channel, y, x] = product.mean((1, 2, 3))
    return top


@layer("Reorg")
def reorg(layer, params, x):
    s = layer.reorg_param.stride
    n, c, h, w = x.shape
    if layer.reorg_param.reverse:
        return x.reshape(n, s, s, c // s**2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // s**2, h * s, w * s)
    planes = x.reshape(n, c // s**2, h, s, w, s)  # the memory as (N, C / s^2, H s, W s), in blocks of s x s
    return planes.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * s**2, h // s, w // s)


@layer("Tiling")
def tiling(layer, params, x):
    t = layer.tiling_param.tile_dim
    n, c, h, w = x.shape
    return x.reshape(n, c // t**2, t, t, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // t**2, h * t, w * t)


@layer("Upsample", "UpsampleNearest", "UpsampleDarknet")
def upsample(layer, params, x, mask=None):
    p = layer.upsample_param
    if layer.type == "UpsampleNearest":
        by = [layer.upsample_nearest_param.scale] * 2
    elif layer.type == "UpsampleDarknet":
        by = [layer.upsample_darknet_param.stride] * 2
    elif p.HasField("scale_h"):
        by = [p.scale_h, p.scale_w]
    else:
        by = [p.scale if p.HasField("scale") else 1 if mask is None else 2] * 2
    if mask is None:
        return x.repeat(by[0], axis=2).repeat(by[1], axis=3)
    n, c, h, w = x.shape
    size = (p.upsample_h or h * by[0] - p.pad_out_h), (p.upsample_w or w * by[1] - bool(p.pad_out_w or p.pad_out_W))
    out = np.zeros((n, c, prod(size)))
    for i, j in np.ndindex(n, c):
        for value, place in zip(x[i, j].reshape(-1), mask[i, j].reshape(-1).astype(int)):
            if 0 <= place < prod(size):
                out[i, j, place] = value
    return out.reshape(n, c, *size)


@layer("Interp")
def interp(layer, params, x):
    p = layer.interp_param
    x = x[:, :, -p.pad_beg : x.shape[2] + p.pad_end, -p.pad_beg : x.shape[3] + p.pad_end]

    def length(m: int, size: int) -> int:
        shrink, zoom = p.HasField("shrink_factor"), p.HasField("zoom_factor")
        if p.HasField("height") and not shrink ^ zoom:
            return size
        if not (shrink or zoom) and p.HasField("full_zoom_factor"):
            return m * p.full_zoom_factor
        m = (m - 1) // p.shrink_factor + 1 if shrink else m
        return m + (m - 1) * (p.zoom_factor - 1) if zoom else m

    def line(m: int, size: int) -> Array:
        """A matrix from m places to `size`, first on first and last on last."""
        places = np.arange(size) * ((m - 1) / (size - 1) if size > 1 else 0)
        low = np.minimum(places.astype(int), m - 1)
        matrix = np.zeros((size, m))
        np.add.at(matrix, (np.arange(size), low), 1 - (places - low))
        np.add.at(matrix, (np.arange(size), np.minimum(low + 1, m - 1)), places - low)
        return matrix

    down, across = (line(m, length(m, size)) for m, size in zip(x.shape[2:], (p.height, p.width)))
    return np.einsum("yh,nchw,xw->ncyx", down, x, across)


# Regions and detections


def half_away(v: float) -> int:
    return int(floor(abs(v) + 0.5) * (1 if v >= 0 else -1))


@layer("ROIPooling")
def roi_pooling(layer, params, x, rois, dtype):
    p = layer.roi_pooling_param
    out = np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    for k, roi in enumerate(rois.reshape(len(rois), 5)):
        x1, y1, x2, y2 = (half_away(float(dtype(v) * dtype(p.spatial_scale))) for v in roi[1:])
        bin_h, bin_w = dtype(max(y2 - y1 + 1, 1)) / dtype(p.pooled_h), dtype(max(x2 - x1 + 1, 1)) / dtype(p.pooled_w)
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            rows = [min(max(v + y1, 0), x.shape[2]) for v in (floor(dtype(i) * bin_h), ceil(dtype(i + 1) * bin_h))]
            columns = [min(max(v + x1, 0), x.shape[3]) for v in (floor(dtype(j) * bin_w), ceil(dtype(j + 1) * bin_w))]
            part = x[int(roi[0]), :, rows[0] : rows[1], columns[0] : columns[1]]
            part = part.reshape(x.shape[1], prod(part.shape[1:]))
            # The largest number: NaN is passed over, and a bin without a number gives the least one.
            out[k, :, i, j] = np.fmax.reduce(part, axis=1, initial=-float(np.finfo(dtype).max)) if part.size else 0
    return out


@layer("PriorBox")
def prior_box(layer, params, x, image):
    p = layer.prior_box_param
    height, width = p.img_h or p.img_size or image.shape[2], p.img_w or p.img_size or image.shape[3]
    (h, w), ratios = x.shape[2:], [1.0]
    for ratio in p.aspect_ratio:
        if all(abs(ratio - other) > 1e-6 for other in ratios):
            ratios += [ratio, 1 / ratio] if p.flip else [ratio]
    step_h, step_w = (p.step_h or p.step or height / h), (p.step_w or p.step or width / w)
    boxes = []
    for y, z in np.ndindex(h, w):
        cx, cy = (z + p.offset) * step_w, (y + p.offset) * step_h
        for i, small in enumerate(map(int, p.min_size)):
            sides = [(small, small)]
            if p.max_size:
                sides.append((sqrt(small * int(p.max_size[i])),) * 2)
            sides += [(small * sqrt(r), small / sqrt(r)) for r in ratios[1:]]
            boxes += [
                ((cx - a / 2) / width, (cy - b / 2) / height, (cx + a / 2) / width, (cy + b / 2) / height)
                for a, b in sides
            ]
    out = np.array(boxes).reshape(-1)
    out = np.clip(out, 0, 1) if p.clip else out
    variance = list(p.variance) or [0.1]
    return np.stack([out, np.resize(np.array(variance * (4 if len(variance) == 1 else 1)), out.shape)])[None]


def overlap(a: Array, b: Array) -> float:
    side = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    inner = float(side.prod()) if (side > 0).all() else 0.0
    areas = [float((v[2] - v[0]) * (v[3] - v[1])) if v[2] >= v[0] and v[3] >= v[1] else 0.0 for v in (a, b)]
    return inner / (sum(areas) - inner) if inner else 0.0


def decoded(loc: Array, priors: Array, variances: Array, p) -> Array:
    """Boxes (P, 4) from what a net says of them."""
    loc = loc if p.variance_encoded_in_target else loc * variances
    sides, centres = priors[:, 2:] - priors[:, :2], (priors[:, 2:] + priors[:, :2]) / 2
    if p.code_type == 1:  # CORNER
        return priors + loc
    if p.code_type == 3:  # CORNER_SIZE
        return priors + loc * np.concatenate([sides, sides], axis=1)
    centre, size = loc[:, :2] * sides + centres, np.exp(loc[:, 2:]) * sides
    return np.concatenate([centre - size / 2, centre + size / 2], axis=1)


def suppressed(boxes: Array, order: Sequence[int], threshold: float, eta: float) -> list[int]:
    """Which of the boxes, best first, overlap none that is taken by more than the threshold."""
    chosen: list[int] = []
    for i in order:
        if all(overlap(boxes[i], boxes[j]) <= threshold for j in chosen):
            chosen.append(i)
            threshold *= eta if eta < 1 and threshold > 0.5 else 1
    return chosen


@layer("DetectionOutput")
def detection_output(layer, params, location, confidence, prior):
    p = layer.detection_output_param
    priors, variances = (part.reshape(-1, 4) for part in prior[0])
    groups = 1 if p.share_location else p.num_classes
    rows = []
    for image, (loc, conf) in enumerate(zip(location, confidence)):
        loc, scores, stay = loc.reshape(len(priors), groups, 4), conf.reshape(len(priors), p.num_classes), []
        boxes = [decoded(loc[:, k], priors, variances, p) for k in range(groups)]
        boxes = [np.clip(each, 0, 1) for each in boxes] if p.clip else boxes
        for label in range(p.num_classes):
            if label == p.background_label_id:
                continue
            least = p.confidence_threshold if p.HasField("confidence_threshold") else -np.inf
            order = [i for i in np.argsort(-scores[:, label], kind="stable") if scores[i, label] > least]
            order = order[: p.nms_param.top_k] if p.nms_param.HasField("top_k") and p.nms_param.top_k >= 0 else order
            own = boxes[0 if p.share_location else label]
            stay += [(label, i, own[i]) for i in suppressed(own, order, p.nms_param.nms_threshold, p.nms_param.eta)]
        if 0 <= p.keep_top_k < len(stay):
            best = sorted(stay, key=lambda row: -scores[row[1], row[0]])[: p.keep_top_k]
            stay = sorted(best, key=lambda row: row[0])
        rows += [(image, label, scores[i, label], *box) for label, i, box in stay]
    if not rows:
        rows = [(image, *[-1] * 6) for image in range(len(location))]
    return np.array(rows, float)[None, None]


def types() -> list[str]:
    """The layers that are written here."""
    return sorted(itertools.chain(LAYERS, ["Input"]))
