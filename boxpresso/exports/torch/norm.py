"""Normalisation and learned affine maps."""

from __future__ import annotations

from typing import Any

from .table import Run, Work, factory, import_torch


def view(values: Any, axis: Any, axes: Any) -> Any:
    """Numbers of the axes from `axis` on, in the shape that broadcasts over a tensor of so many axes."""
    return values.reshape(*values.shape, *[1] * (axes - axis - values.dim()))


@factory("BatchNorm")
def batch_norm(w: Work) -> Run:
    """Caffe keeps sums of statistics, and the factor that they are divided by."""
    layer, axes = w.layer, len(w.bottom_shapes[0])
    running, own, eps = layer.running, layer.five, float(layer.eps)

    def run(p: Any, x: Any) -> Any:
        if running:
            factor = (1 / p.scale_factor).nan_to_num(posinf=0.0, neginf=0.0)
            mean, variance = view(p.running_mean * factor, 1, axes), view(p.running_var * factor, 1, axes)
        else:
            over = [0, *range(2, axes)]
            mean = x.mean(over, keepdim=True)
            variance = (x - mean).square().mean(over, keepdim=True)
        y = (x - mean) / (variance + eps).sqrt()
        return y * view(p.weight, 1, axes) + view(p.bias, 1, axes) if own else y

    return run


@factory("BN")
def bn(w: Work) -> Run:
    w.need(len(w.step.outputs) == 1, "only its first top has a counterpart")
    layer, axes = w.layer, len(w.bottom_shapes[0])
    plain, running, eps = layer.plain, layer.running, float(layer.eps)

    def run(p: Any, x: Any) -> Any:
        weight, bias = view(p.weight.reshape(-1), 1, axes), view(p.bias.reshape(-1), 1, axes)
        if plain:
            return x * weight + bias
        if running:
            mean, variance = (view(v.reshape(-1), 1, axes) for v in (p.parameter_2, p.parameter_3))
        else:
            over = [0, *range(2, axes)]
            mean = x.mean(over, keepdim=True)
            variance = (x - mean).square().mean(over, keepdim=True)
        return (x - mean) / (variance + eps).sqrt() * weight + bias

    return run


@factory("ChannelNorm")
def channel_norm(w: Work) -> Run:
    norm = import_torch().linalg.vector_norm  # whose gradient at 0 is 0
    return lambda p, x: norm(x, dim=1, keepdim=True)


@factory("Scale")
def scale(w: Work) -> Run:
    param, axes = w.layer.param.scale_param, len(w.bottom_shapes[0])
    axis = 0 if w.layer.learned and param.num_axes == 0 else int(param.axis) % max(axes, 1)
    learned, has_bias = w.layer.learned, bool(param.bias_term)
    bias_key = w.keys[-1] if has_bias else ""
    if not learned and not w.bottom_shapes[1]:
        axis = 0

    def run(p: Any, x: Any, *other: Any) -> Any:
        y = x * view(p.weight if learned else other[0], axis, axes)
        return y + view(getattr(p, bias_key), axis, axes) if has_bias else y

    return run


@factory("Bias")
def bias(w: Work) -> Run:
    param, axes = w.layer.param.bias_param, len(w.bottom_shapes[0])
    learned = w.layer.learned
    axis = 0 if learned and param.num_axes == 0 else int(param.axis) % max(axes, 1)
    if not learned and not w.bottom_shapes[1]:
        axis = 0
    return lambda p, x, *other: x + view(p.bias if learned else other[0], axis, axes)


@factory("LRN")
def lrn(w: Work) -> Run:
    functional = import_torch().nn.functional
    layer = w.layer
    half, by, beta, k, across = int(layer.half), float(layer.by), float(layer.beta), float(layer.k), layer.across
    size = 2 * half + 1

    def run(p: Any, x: Any) -> Any:
        squares = x * x
        if across:
            wide = functional.pad(squares.unsqueeze(1), (0, 0, 0, 0, half, half))
            total = functional.avg_pool3d(wide, (size, 1, 1), 1).squeeze(1) * size
        else:
            total = functional.avg_pool2d(squares, size, 1, half) * (size * size)
        return x / (k + by * total) ** beta

    return run


@factory("MVN")
def mvn(w: Work) -> Run:
    param, axes = w.layer.param.mvn_param, len(w.bottom_shapes[0])
    over = list(range(1 if param.across_channels else 2, axes))
    w.need(over, f"nothing is left to normalise in the shape {w.bottom_shapes[0]}")
    variance, inner, eps = bool(param.normalize_variance), bool(param.add_eps_before_sqrt), float(param.eps)

    def run(p: Any, x: Any) -> Any:
        centred = x - x.mean(over, keepdim=True)
        if not variance:
            return centred
        square = centred.square().mean(over, keepdim=True)
        return centred / ((square + eps).sqrt() if inner else square.sqrt() + eps)

    return run


@factory("Normalize")
def normalize(w: Work) -> Run:
    param, axes = w.layer.param.norm_param, len(w.bottom_shapes[0])
    over, eps = list(range(1, axes)) if param.across_spatial else [1], float(param.eps)

    def run(p: Any, x: Any) -> Any:
        norm = ((x * x).sum(over, keepdim=True) + eps).sqrt()
        return x / norm * (view(p.weight, 1, axes) if p.weight.dim() else p.weight)

    return run


@factory("NormalizeChannels")
def normalize_channels(w: Work) -> Run:
    absolute, added = w.layer.param.normalize_param.normalize_type == "L1", float(w.layer.added)
    two = len(w.step.outputs) > 1

    def run(p: Any, x: Any) -> Any:
        norm = x.abs().sum(1, keepdim=True) + added if absolute else ((x * x).sum(1, keepdim=True) + added).sqrt()
        return (x / norm, norm) if two else x / norm

    return run


@factory("NormL2", "L2Normalize", "Norm", "GRN")
def lengths(w: Work) -> Run:
    added, behind, whole = float(w.layer.added), float(w.layer.behind), w.layer.whole
    axes = list(range(1, len(w.bottom_shapes[0]))) if whole else [1]
    return lambda p, x: x / ((x * x).sum(axes, keepdim=True).add(added).sqrt() + behind)


@factory("NormalizationL2", "Normalization", "L2Norm", "L2Normalization")
def normalization_l2(w: Work) -> Run:
    axes, behind = list(range(1, len(w.bottom_shapes[0]))), float(w.layer.behind)

    def run(p: Any, x: Any) -> Any:
        norm = (x * x).sum(axes, keepdim=True).sqrt() if axes else x.abs()
        return x / (norm + behind).clamp(min=1e-30)

    return run


@factory("Mean")
def mean(w: Work) -> Run:
    torch, scale, means = import_torch(), float(w.layer.scale), w.layer.means

    def shifted(x: Any) -> Any:
        values = torch.as_tensor(means, dtype=x.dtype, device=x.device).repeat(x.shape[1] // len(means))
        return x * scale + view(values, 1, x.dim())

    return lambda p, *xs: shifted(xs[0]) if len(xs) == 1 else tuple(shifted(x) for x in xs)


@factory("Softmax", "MultiSoftmax")
def softmax(w: Work) -> Run:
    axis = int(w.layer.param.softmax_param.axis)
    return lambda p, x: x.softmax(axis)


@factory("GroupNorm")
def group_norm(w: Work) -> Run:
    param, functional = w.layer.param.group_norm_param, import_torch().nn.functional
    groups, eps = int(param.group_num), float(param.eps)
    return lambda p, x: functional.group_norm(x, groups, eps=eps)
