"""What a net computes by the definitions of its layers: an interpreter in numpy and float64 that shares nothing with the package.

Each layer makes new arrays, in place too; a blob's value is what its last writer made. It reads a parsed prototxt and weights:

    blobs = run(parse_net(text), {"conv": [weight, bias]}, {"x": image})

Sources are Caffe's layers, and for those of forks the formulas of their docstrings.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, sqrt

import numpy as np

Array = np.ndarray
Weights = Sequence[Array]
LAYERS: dict[str, Callable] = {}


class Unknown(Exception):
    """A layer, or a form of one, that is not written here."""


def run(net, weights: Mapping[str, Weights], inputs: Mapping[str, Array], dtype: type = np.float64) -> dict[str, Array]:
    """The values of all blobs. `dtype` is what regions are rounded in, as Caffe rounds them in its own."""
    blobs: dict[str, Array] = {}
    for layer in net.layer:
        if layer.type == "Input":
            blobs.update((top, np.asarray(inputs[top], np.float64)) for top in layer.top)
            continue
        if layer.type not in LAYERS:
            raise Unknown(layer.type)
        bottoms = [blobs[name].copy() for name in layer.bottom]
        params = [np.asarray(w, np.float64) for w in weights.get(layer.name, ())]
        with np.errstate(all="ignore"):
            if layer.type == "ROIPooling":
                tops = roi_pooling(layer, params, *bottoms, dtype=dtype)
            else:
                tops = LAYERS[layer.type](layer, params, *bottoms)
        tops = tops if isinstance(tops, list) else [tops]
        blobs.update((name, np.array(top, np.float64)) for name, top in zip(layer.top, tops * len(layer.top)))
    return blobs


def layer(*types: str) -> Callable[[Callable], Callable]:
    """Notes a function of a layer's message, its parameters and its bottoms, which gives the tops."""

    def note(function: Callable) -> Callable:
        LAYERS.update(dict.fromkeys(types, function))
        return function

    return note


def along(values: Array, like: Array, axis: int) -> Array:
    """`values` with axes of 1 around, so that its axes stand at `axis` of `like`."""
    return values.reshape((1,) * axis + values.shape + (1,) * (like.ndim - axis - values.ndim))


def pair(p, name: str, default: int) -> tuple[int, int]:
    """Height and width of a field that is given once, twice, or as NAME_h and NAME_w."""
    both = getattr(p, "kernel_size" if name == "kernel" else name)
    if p.HasField(f"{name}_h") or p.HasField(f"{name}_w"):
        return getattr(p, f"{name}_h"), getattr(p, f"{name}_w")
    values = list(both) if not isinstance(both, int) else [both]
    if not values:
        return default, default
    return values[0], values[-1]


# Windows


def windows(x: Array, kernel, stride, pad, dilation) -> Array:
    """(N, C, H, W) as (N, C, KH, KW, OH, OW)."""
    x = np.pad(x, [(0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])])
    size = [(x.shape[2 + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    out = np.empty((*x.shape[:2], *kernel, *size))
    for i, j in np.ndindex(*kernel):
        y, z = i * dilation[0], j * dilation[1]
        out[:, :, i, j] = x[
            :, :, y : y + (size[0] - 1) * stride[0] + 1 : stride[0], z : z + (size[1] - 1) * stride[1] + 1 : stride[1]
        ]
    return out


def spatial(p):
    stride = pair(p, "stride", 1)
    dilation = (list(p.dilation) or [1])[0], (list(p.dilation) or [1])[-1]
    return pair(p, "kernel", 1), tuple(s or 1 for s in stride), pair(p, "pad", 0), dilation


@layer("Convolution", "DepthwiseConvolution")
def convolution(layer, params, x):
    kernel, stride, pad, dilation = spatial(layer.convolution_param)
    weight = params[0].reshape(params[0].shape[0], -1, *kernel)
    group = x.shape[1] // weight.shape[1]
    parts = []
    for rows, part in zip(np.split(weight, group), np.split(x, group, axis=1)):
        parts.append(np.einsum("ocij,ncijyx->noyx", rows, windows(part, kernel, stride, pad, dilation)))
    out = np.concatenate(parts, axis=1)
    return out + along(params[1].reshape(-1), out, 1) if len(params) > 1 else out


@layer("Deconvolution")
def deconvolution(layer, params, x):
    kernel, stride, pad, dilation = spatial(layer.convolution_param)
    group = layer.convolution_param.group
    weight = params[0]
    n, _, h, w = x.shape
    outputs = weight.shape[1] * group
    reach = [dilation[i] * (kernel[i] - 1) + 1 for i in (0, 1)]
    out = np.zeros((n, outputs, stride[0] * (h - 1) + reach[0], stride[1] * (w - 1) + reach[1]))
    per = outputs // group
    for g, (rows, part) in enumerate(zip(np.split(weight, group), np.split(x, group, axis=1))):
        for y, z in np.ndindex(h, w):
            patch = np.einsum("nc,coij->noij", part[:, :, y, z], rows)
            top, left = y * stride[0], z * stride[1]
            out[
                :, g * per : (g + 1) * per, top : top + reach[0] : dilation[0], left : left + reach[1] : dilation[1]
            ] += patch
    out = out[:, :, pad[0] : out.shape[2] - pad[0], pad[1] : out.shape[3] - pad[1]]
    return out + along(params[1].reshape(-1), out, 1) if len(params) > 1 else out


@layer("InnerProduct")
def inner_product(layer, params, x):
    p = layer.inner_product_param
    axis = p.axis % x.ndim
    weight = params[0] if p.transpose else params[0].T
    out = x.reshape(*x.shape[:axis], -1) @ weight
    return out + params[1].reshape(-1) if len(params) > 1 else out


@layer("Pooling")
def pooling(layer, params, x):
    p = layer.pooling_param
    n, c, h, w = x.shape
    kernel, stride, pad = pair(p, "kernel", 0), pair(p, "stride", 1), pair(p, "pad", 0)
    if p.global_pooling:
        kernel, stride, pad = (h, w), (1, 1), (0, 0)
    rounded = floor if p.round_mode == 1 else ceil
    size = []
    for i, m in enumerate((h, w)):
        count = rounded((m + 2 * pad[i] - kernel[i]) / stride[i]) + 1
        if any(pad) and (count - 1) * stride[i] >= m + pad[i]:
            count -= 1
        size.append(count)
    out = np.empty((n, c, *size))
    for y, z in np.ndindex(*size):
        start = y * stride[0] - pad[0], z * stride[1] - pad[1]
        end = [min(start[i] + kernel[i], m + pad[i]) for i, m in enumerate((h, w))]
        area = (end[0] - start[0]) * (end[1] - start[1])
        (top, left), (bottom, right) = [max(s, 0) for s in start], [min(e, m) for e, m in zip(end, (h, w))]
        part = x[:, :, top:bottom, left:right].reshape(n, c, -1)
        if p.pool == 0:
            out[:, :, y, z] = np.fmax.reduce(part, axis=2, initial=-np.finfo(np.float32).max)  # passes over NaN
        else:
            out[:, :, y, z] = part.sum(axis=2) / np.float64(area if p.avg_include_pad else part.shape[2])
    return out


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
    return np.ones_like(x) if p.power == 0 else (p.shift + p.scale * x) ** p.power


def relu(layer, x):
    slope = layer.relu_param.negative_slope
    return np.where(x > 0, x, x * slope) if slope else np.where(np.isnan(x), x, np.maximum(x, 0))


neuron("ReLU", relu)
neuron("ReLU6", lambda layer, x: np.clip(x, 0, 6))
neuron("ELU", lambda layer, x: np.where(x > 0, x, layer.elu_param.alpha * np.expm1(np.minimum(x, 0))))
neuron("Sigmoid", lambda layer, x: 1 / (1 + np.exp(-x)))
neuron("TanH", lambda layer, x: np.tanh(x))
neuron("AbsVal", lambda layer, x: np.abs(x))
neuron("BNLL", lambda layer, x: np.logaddexp(0, x))
neuron("Swish", lambda layer, x: x / (1 + np.exp(-layer.swish_param.beta * x)))
neuron("Clip", lambda layer, x: np.clip(x, layer.clip_param.min, layer.clip_param.max))
neuron("Threshold", lambda layer, x: (x > layer.threshold_param.threshold).astype(float))
neuron("Power", power)
neuron("Exp", exponential)
neuron("Log", logarithm)
neuron("Dropout", lambda layer, x: x)


@layer("PReLU")
def prelu(layer, params, x):
    slope = params[0].reshape(-1)
    return np.where(x > 0, x, x * (slope if slope.size == 1 else along(slope, x, 1)))


# Normalisation


@layer("BatchNorm")
def batch_norm(layer, params, x):
    p = layer.batch_norm_param
    axes = tuple(i for i in range(x.ndim) if i != 1)
    if p.HasField("use_global_stats") and not p.use_global_stats:
        mean, variance = x.mean(axis=axes), x.var(axis=axes)
    else:
        factor = params[2].reshape(-1)[0]
        mean, variance = (params[i].reshape(-1) * (1 / factor if factor else 0) for i in (0, 1))
    return (x - along(mean, x, 1)) / np.sqrt(along(variance, x, 1) + p.eps)


@layer("Scale")
def scale(layer, params, x, factor=None):
    p = layer.scale_param
    given = factor is not None
    factor = factor if given else params[0]
    rest = params if given else params[1:]
    axis = p.axis % x.ndim
    out = x * along(factor, x, axis)
    return out + along(rest[0].reshape(factor.shape), x, axis) if p.bias_term else out


@layer("Bias")
def bias(layer, params, x, shift=None):
    return x + along(shift if shift is not None else params[0], x, layer.bias_param.axis % x.ndim)


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
    axes = (1, 2, 3) if p.across_spatial else (1,)
    out = x / np.sqrt((x**2).sum(axis=axes, keepdims=True) + p.eps)
    return out * (params[0].reshape(-1)[0] if p.channel_shared else along(params[0].reshape(-1), x, 1))


@layer("MVN")
def mvn(layer, params, x):
    p = layer.mvn_param
    axes = tuple(range(1 if p.across_channels else 2, x.ndim))
    out = x - x.mean(axis=axes, keepdims=True)
    return out / (np.sqrt((out**2).mean(axis=axes, keepdims=True)) + p.eps) if p.normalize_variance else out


@layer("Softmax")
def softmax(layer, params, x):
    axis = layer.softmax_param.axis
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# Several bottoms or tops


@layer("Eltwise")
def eltwise(layer, params, *bottoms):
    p = layer.eltwise_param
    if p.operation == 1:
        return sum(c * x for c, x in zip(list(p.coeff) or [1] * len(bottoms), bottoms))
    return np.prod(bottoms, axis=0) if p.operation == 0 else np.max(bottoms, axis=0)


@layer("Concat")
def concat(layer, params, *bottoms):
    p = layer.concat_param
    return np.concatenate(bottoms, axis=p.concat_dim if p.HasField("concat_dim") else p.axis)


@layer("Slice")
def slice_(layer, params, x):
    p = layer.slice_param
    points = list(p.slice_point) or len(layer.top)
    return np.split(x, points, axis=p.slice_dim if p.HasField("slice_dim") else p.axis)


LAYERS["Split"] = lambda layer, params, x: x
LAYERS["Silence"] = lambda layer, params, *bottoms: []


@layer("Axpy")
def axpy(layer, params, a, x, y):
    return a.reshape(*a.shape[:2], 1, 1) * x + y


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
    return x.reshape(*x.shape[:axis], *dims, *x.shape[end:])


@layer("Flatten")
def flatten(layer, params, x):
    p = layer.flatten_param
    axis, end = p.axis % x.ndim, p.end_axis % x.ndim
    return x.reshape(*x.shape[:axis], -1, *x.shape[end + 1 :])


@layer("Tile")
def tile(layer, params, x):
    return np.concatenate([x] * layer.tile_param.tiles, axis=layer.tile_param.axis)


@layer("Reduction")
def reduction(layer, params, x):
    p = layer.reduction_param
    rows = x.reshape(*x.shape[: p.axis % x.ndim], -1)
    return p.coeff * [None, rows.sum, np.abs(rows).sum, (rows**2).sum, rows.mean][p.operation](axis=-1)


@layer("ArgMax")
def argmax(layer, params, x):
    p = layer.argmax_param
    if p.top_k != 1 or not p.HasField("axis"):
        raise Unknown("ArgMax of several, or of all axes")
    at = x.shape[p.axis] - 1 - np.flip(x, p.axis).argmax(axis=p.axis)  # of equals the last
    at = np.expand_dims(at, p.axis)
    return np.take_along_axis(x, at, p.axis) if p.out_max_val else at


@layer("ShuffleChannel")
def shuffle_channel(layer, params, x):
    n, c, *rest = x.shape
    group = layer.shuffle_channel_param.group
    return x.reshape(n, group, c // group, *rest).swapaxes(1, 2).reshape(x.shape)


@layer("Reorg")
def reorg(layer, params, x):
    s = layer.reorg_param.stride
    n, c, h, w = x.shape
    planes = x.reshape(n, c // s**2, h, s, w, s)  # the memory as (N, C / s^2, H s, W s), in blocks of s x s
    return planes.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * s**2, h // s, w // s)


@layer("Upsample")
def upsample(layer, params, x):
    s = layer.upsample_param.scale
    return x.repeat(s, axis=2).repeat(s, axis=3)


@layer("Interp")
def interp(layer, params, x):
    zoom = layer.interp_param.zoom_factor

    def line(m: int) -> Array:
        """A matrix from m places to m + (m - 1)(zoom - 1), first on first and last on last."""
        size = m + (m - 1) * (zoom - 1)
        places = np.arange(size) * ((m - 1) / (size - 1) if size > 1 else 0)
        low = np.minimum(places.astype(int), m - 1)
        matrix = np.zeros((size, m))
        np.add.at(matrix, (np.arange(size), low), 1 - (places - low))
        np.add.at(matrix, (np.arange(size), np.minimum(low + 1, m - 1)), places - low)
        return matrix

    return np.einsum("yh,nchw,xw->ncyx", line(x.shape[2]), x, line(x.shape[3]))


# Regions and detections


def half_away(v: float) -> int:
    return int(floor(abs(v) + 0.5) * (1 if v >= 0 else -1))


def roi_pooling(layer, params, x, rois, dtype):
    p = layer.roi_pooling_param
    out = np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    for k, roi in enumerate(rois.reshape(len(rois), -1)):
        x1, y1, x2, y2 = (half_away(float(dtype(v) * dtype(p.spatial_scale))) for v in roi[1:])
        bin_h, bin_w = dtype(max(y2 - y1 + 1, 1)) / dtype(p.pooled_h), dtype(max(x2 - x1 + 1, 1)) / dtype(p.pooled_w)
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            rows = [min(max(v + y1, 0), x.shape[2]) for v in (floor(dtype(i) * bin_h), ceil(dtype(i + 1) * bin_h))]
            columns = [min(max(v + x1, 0), x.shape[3]) for v in (floor(dtype(j) * bin_w), ceil(dtype(j + 1) * bin_w))]
            part = x[int(roi[0]), :, rows[0] : rows[1], columns[0] : columns[1]].reshape(x.shape[1], -1)
            out[k, :, i, j] = part.max(axis=1) if part.size else 0
    return out


LAYERS["ROIPooling"] = roi_pooling


@layer("PriorBox")
def prior_box(layer, params, x, image):
    p = layer.prior_box_param
    height, width = image.shape[2:]
    (h, w), ratios = x.shape[2:], [1.0]
    for ratio in p.aspect_ratio:
        ratios += [r for r in ([ratio, 1 / ratio] if p.flip else [ratio]) if all(abs(r - o) > 1e-6 for o in ratios)]
    step_h, step_w = (p.step_h or p.step or height / h), (p.step_w or p.step or width / w)
    boxes = []
    for y, z in np.ndindex(h, w):
        cx, cy = (z + p.offset) * step_w, (y + p.offset) * step_h
        for i, small in enumerate(map(int, p.min_size)):
            sizes = [(small, small)]
            if p.max_size:
                sizes.append((sqrt(small * int(p.max_size[i])),) * 2)
            sizes += [(small * sqrt(r), small / sqrt(r)) for r in ratios[1:]]
            boxes += [
                ((cx - a / 2) / width, (cy - b / 2) / height, (cx + a / 2) / width, (cy + b / 2) / height)
                for a, b in sizes
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


@layer("DetectionOutput")
def detection_output(layer, params, location, confidence, prior):
    p = layer.detection_output_param
    if p.code_type != 2 or not p.share_location or p.nms_param.eta != 1 or p.variance_encoded_in_target:
        raise Unknown("DetectionOutput of another form")
    priors, variances = (part.reshape(-1, 4) for part in prior[0])
    sizes, centres = priors[:, 2:] - priors[:, :2], (priors[:, 2:] + priors[:, :2]) / 2
    rows = []
    for image, (loc, conf) in enumerate(zip(location.reshape(len(location), -1, 4), confidence)):
        centre = variances[:, :2] * loc[:, :2] * sizes + centres
        size = np.exp(variances[:, 2:] * loc[:, 2:]) * sizes
        boxes = np.concatenate([centre - size / 2, centre + size / 2], axis=1)
        scores, kept = conf.reshape(-1, p.num_classes), []
        for label in range(p.num_classes):
            if label == p.background_label_id:
                continue
            order = [
                i for i in np.argsort(-scores[:, label], kind="stable") if scores[i, label] > p.confidence_threshold
            ]
            chosen: list[int] = []
            for i in order[: p.nms_param.top_k] if p.nms_param.HasField("top_k") else order:
                if all(overlap(boxes[i], boxes[j]) <= p.nms_param.nms_threshold for j in chosen):
                    chosen.append(i)
            kept += [(label, i) for i in chosen]
        if 0 <= p.keep_top_k < len(kept):
            best = sorted(kept, key=lambda row: -scores[row[1], row[0]])[: p.keep_top_k]
            kept = sorted(best, key=lambda row: row[0])
        rows += [(image, label, scores[i, label], *boxes[i]) for label, i in kept]
    if not rows:
        rows = [(image, *[-1] * 6) for image in range(len(location))]
    return np.array(rows, float)[None, None]


def types() -> list[str]:
    """The layers that are written here."""
    return sorted(itertools.chain(LAYERS, ["Input"]))
