"""Layers that sample features in regions, by their definitions: a part of reference.py, which they enter themselves into.

Regions whose batch index is outside the batch, or with NaN, are not drawn. Decisions between whole numbers are made in `dtype`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import ceil, cos, floor, pi, sin

import numpy as np
from reference import LAYERS, Array, half_away, layer, places, spatial


def settings(layer) -> dict:
    """What a param_str says."""
    text = layer.python_param.param_str.strip()
    return dict(ast.literal_eval(text if text.startswith("{") else f"{{{text}}}"))


# Bilinear samples


def axis_of(c: float, size: int) -> tuple[int, int, float] | None:
    """The two pixels of a sample on one axis and the share of the second; None outside [-1, size]."""
    if not size or not -1 <= c <= size:
        return None
    c = max(c, 0.0)
    low = int(c)
    return (size - 1, size - 1, 0.0) if low >= size - 1 else (low, low + 1, c - low)


def sample(plane: Array, y: float, x: float) -> Array:
    """The channels of (C, H, W) at a place; 0 beyond one pixel around the map."""
    rows, columns = axis_of(y, plane.shape[1]), axis_of(x, plane.shape[2])
    if rows is None or columns is None:
        return np.zeros(len(plane))
    (a, b, f), (c, d, g) = rows, columns
    return (1 - f) * ((1 - g) * plane[:, a, c] + g * plane[:, a, d]) + f * (
        (1 - g) * plane[:, b, c] + g * plane[:, b, d]
    )


def grid(start: float, size: float, bins: int, ratio: int) -> list[list[float]]:
    """For each bin the places of its samples on one axis."""
    count = ratio if ratio > 0 else ceil(size / bins)
    length = size / bins
    return [[start + i * length + (k + 0.5) * length / count for k in range(count)] for i in range(bins)]


def averaged(plane: Array, ys: list[float], xs: list[float]) -> Array:
    return sum((sample(plane, y, x) for y in ys for x in xs), np.zeros(len(plane))) / max(1, len(ys) * len(xs))


@layer("ROIAlign")
def roi_align(layer, params, x, rois, dtype):
    p = layer.roi_align_param
    shift, out = 0.5 if p.aligned else 0, np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    for k, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (c * p.spatial_scale - shift for c in corners)
        w, h = (x2 - x1, y2 - y1) if p.aligned else (max(x2 - x1, 1), max(y2 - y1, 1))
        rows, columns = grid(y1, h, p.pooled_h, p.sampling_ratio), grid(x1, w, p.pooled_w, p.sampling_ratio)
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            if p.pool_mode == p.AVG:
                out[k, :, i, j] = averaged(x[int(image)], rows[i], columns[j])
            else:
                seen = [sample(x[int(image)], y, z) for y in rows[i] for z in columns[j]]
                out[k, :, i, j] = np.fmax.reduce([np.full(x.shape[1], -float(np.finfo(dtype).max)), *seen], axis=0)
    return out


def turned(x: Array, rois: Array, p, aligned: bool) -> Array:
    """The averages of rotated regions."""
    shift, out = 0.5 if aligned else 0, np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    for k, (image, cx, cy, w, h, angle) in enumerate(rois):
        w, h, angle = w * p.spatial_scale, h * p.spatial_scale, -angle if p.clockwise else angle
        w, h = (w, h) if aligned else (max(w, 1), max(h, 1))
        cx, cy = cx * p.spatial_scale - shift, cy * p.spatial_scale - shift
        rows, columns = grid(-h / 2, h, p.pooled_h, p.sampling_ratio), grid(-w / 2, w, p.pooled_w, p.sampling_ratio)
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            for a in rows[i]:
                for b in columns[j]:
                    y, z = a * cos(angle) - b * sin(angle) + cy, a * sin(angle) + b * cos(angle) + cx
                    out[k, :, i, j] += sample(x[int(image)], y, z) / (len(rows[i]) * len(columns[j]))
    return out


@layer("ROIAlignRotated")
def roi_align_rotated(layer, params, x, rois):
    return turned(x, rois, layer.roi_align_rotated_param, layer.roi_align_rotated_param.aligned)


@layer("RiROIAlignRotated")
def riroi_align_rotated(layer, params, x, rois):
    p = layer.riroi_align_rotated_param
    plain, n = turned(x, rois, p, False), p.num_orientations
    plain = plain.reshape(len(rois), x.shape[1] // n, n, p.pooled_h, p.pooled_w)
    out = np.empty_like(plain)
    for k, angle in enumerate(rois[:, 5]):
        turn = angle * n / (2 * pi)
        whole, share = floor(turn), turn - floor(turn)
        out[k] = (1 - share) * np.roll(plain[k], whole, axis=1) + share * np.roll(plain[k], whole - 1, axis=1)
    return out.reshape(len(rois), x.shape[1], p.pooled_h, p.pooled_w)


@layer("PSROIAlign")
def psroi_align(layer, params, x, rois):
    p = layer.psroi_align_param
    n, ratio = p.group_size, p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_num
    out, channels = np.zeros((len(rois), p.output_dim, n, n)), np.zeros((len(rois), p.output_dim, n, n))
    for k, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (c * p.spatial_scale - 0.5 for c in corners)
        rows, columns = grid(y1, y2 - y1, n, ratio), grid(x1, x2 - x1, n, ratio)
        for i, j in np.ndindex(n, n):
            own = (np.arange(p.output_dim) * n + i) * n + j
            channels[k, :, i, j] = own
            if not rows[i] or not columns[j]:
                out[k, :, i, j] = np.nan
            else:
                out[k, :, i, j] = averaged(x[int(image)][own], rows[i], columns[j])
    return [out, channels]


@layer("PSROIPooling")
def psroi_pooling(layer, params, x, rois, dtype):
    p = layer.psroi_pooling_param
    n, scale = p.group_size, dtype(p.spatial_scale)
    out, channels = np.zeros((len(rois), p.output_dim, n, n)), np.zeros((len(rois), p.output_dim, n, n))
    for k, (image, *corners) in enumerate(rois):
        x1, y1 = (dtype(half_away(c)) * scale for c in corners[:2])
        x2, y2 = (dtype(half_away(c) + 1) * scale for c in corners[2:])
        w, h = (dtype(max(v, 0.1)) / dtype(n) for v in (x2 - x1, y2 - y1))
        for i, j in np.ndindex(n, n):
            own = (np.arange(p.output_dim) * n + i) * n + j
            channels[k, :, i, j] = own
            rows = [min(max(v, 0), x.shape[2]) for v in (floor(dtype(i) * h + y1), ceil(dtype(i + 1) * h + y1))]
            columns = [min(max(v, 0), x.shape[3]) for v in (floor(dtype(j) * w + x1), ceil(dtype(j + 1) * w + x1))]
            part = x[int(image), own, rows[0] : rows[1], columns[0] : columns[1]].reshape(p.output_dim, -1)
            out[k, :, i, j] = part.mean(axis=1) if part.size else 0
    return [out, channels]


@layer("PrROIPooling")
def prroi_pooling(layer, params, x, rois):
    p = layer.prroi_pooling_param
    out = np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))

    def area(t: Array) -> Array:
        """The integral of a pixel's hat up to t."""
        t = np.clip(t, -1, 1)
        return np.where(t < 0, (t + 1) ** 2 / 2, 1 - (1 - t) ** 2 / 2)

    def weights(start: float, size: float, bins: int, length: int) -> Array:
        edges = start + np.arange(bins + 1) * size / bins
        upto = area(edges[:, None] - np.arange(length))
        return upto[1:] - upto[:-1]

    for k, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (c * p.spatial_scale for c in corners)
        w, h = max(x2 - x1, 0), max(y2 - y1, 0)
        if w * h > 0:
            rows, columns = weights(y1, h, p.pooled_h, x.shape[2]), weights(x1, w, p.pooled_w, x.shape[3])
            out[k] = np.einsum("ih,chw,jw->cij", rows, x[int(image)], columns) * p.pooled_h * p.pooled_w / (w * h)
    return out


@layer("DeformROIPooling", "DeformROIPool", "ModulatedDeformROIPooling", "ModulatedDeformROIPool")
def deform_roi_pooling(layer, params, x, rois, offset=None, mask=None):
    p = layer.deform_roi_pooling_param
    out = np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    offset = (
        np.zeros((len(rois), 2, p.pooled_h, p.pooled_w))
        if offset is None
        else offset.reshape(len(rois), 2, p.pooled_h, p.pooled_w)
    )
    for k, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (c * p.spatial_scale - 0.5 for c in corners)
        w, h = x2 - x1, y2 - y1
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            ys = grid(y1 + p.gamma * h * offset[k, 1, i, j], h, p.pooled_h, p.sampling_ratio)[i]
            xs = grid(x1 + p.gamma * w * offset[k, 0, i, j], w, p.pooled_w, p.sampling_ratio)[j]
            out[k, :, i, j] = averaged(x[int(image)], ys, xs)
    return out if mask is None else out * mask.reshape(len(rois), 1, p.pooled_h, p.pooled_w)


@layer("DeformablePSROIPooling")
def deformable_psroi_pooling(layer, params, x, rois, trans=None):
    p = layer.deformable_psroi_pooling_param
    n = p.pooled_size or p.group_size
    cells, group, per = p.part_size or n, p.group_size, max(1, p.sample_per_part)
    out, counts = np.zeros((len(rois), p.output_dim, n, n)), np.zeros((len(rois), p.output_dim, n, n))
    for k, (image, *corners) in enumerate(rois):
        x1, y1 = (half_away(c) * p.spatial_scale - 0.5 for c in corners[:2])
        x2, y2 = ((half_away(c) + 1) * p.spatial_scale - 0.5 for c in corners[2:])
        w, h = max(x2 - x1, 0.1), max(y2 - y1, 0.1)
        for c, i, j in np.ndindex(p.output_dim, n, n):
            move = [0.0, 0.0]
            if not p.no_trans and trans is not None:
                kind = c // (p.output_dim // (trans.shape[1] // 2))
                move = [trans[k, 2 * kind + a, i * cells // n, j * cells // n] * p.trans_std for a in (0, 1)]
            left, top = j * w / n + x1 + move[0] * w, i * h / n + y1 + move[1] * h
            plane = x[int(image), (c * group + min(i * group // n, group - 1)) * group + min(j * group // n, group - 1)]
            for a, b in np.ndindex(per, per):
                y, z = top + a * h / n / per, left + b * w / n / per
                if -0.5 <= z <= plane.shape[1] - 0.5 and -0.5 <= y <= plane.shape[0] - 0.5:
                    y, z = min(max(y, 0), plane.shape[0] - 1), min(max(z, 0), plane.shape[1] - 1)
                    out[k, c, i, j] += sample(plane[None], y, z)[0]
                    counts[k, c, i, j] += 1
            out[k, c, i, j] /= max(1, counts[k, c, i, j])
    return [out, counts]


def within_half(plane: Array, y: float, x: float) -> Array:
    """A sample that holds at the border for half a pixel more, and is 0 from there on."""
    h, w = plane.shape[1:]
    if not (-0.5 <= y <= h - 0.5 and -0.5 <= x <= w - 0.5):
        return np.zeros(len(plane))
    return sample(plane, min(max(y, 0), h - 1), min(max(x, 0), w - 1))


@layer("ROIWarping")
def roi_warping(layer, params, x, rois):
    p = layer.roi_warping_param
    out = np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w))
    for k, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (half_away(c * p.spatial_scale) for c in corners)
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            y, z = y1 + i * max(y2 - y1, 0) / p.pooled_h, x1 + j * max(x2 - x1, 0) / p.pooled_w
            out[k, :, i, j] = within_half(x[int(image)], y, z)
    return out


@layer("MaskResize")
def mask_resize(layer, params, x):
    p = layer.mask_resize_param
    h, w = p.output_height, p.output_width
    out = np.zeros((*x.shape[:2], h, w))
    for n, i, j in np.ndindex(len(x), h, w):
        out[n, :, i, j] = within_half(x[n], i * x.shape[2] / h, j * x.shape[3] / w)
    return out


LAYERS["MaskPooling"] = lambda layer, params, x, mask: x * mask


@layer("CropAndResize")
def crop_and_resize(layer, params, x, boxes, image):
    fields = settings(layer)
    (h, w), method, beyond = fields["crop_size"], fields.get("method", "bilinear"), fields.get("extrapolation_value", 0)
    out = np.full((len(boxes), x.shape[1], h, w), float(beyond))

    def line(first: float, last: float, size: int, length: int) -> Iterator[float]:
        for i in range(size):
            share = i / (size - 1) if size > 1 else 0.5
            yield (first + share * (last - first)) * (length - 1)

    for k, ((y1, x1, y2, x2), n) in enumerate(zip(boxes, image.reshape(-1))):
        for i, y in enumerate(line(y1, y2, h, x.shape[2])):
            for j, z in enumerate(line(x1, x2, w, x.shape[3])):
                if 0 <= y <= x.shape[2] - 1 and 0 <= z <= x.shape[3] - 1:
                    near = x[int(n), :, half_away(y), half_away(z)]
                    out[k, :, i, j] = sample(x[int(n)], y, z) if method == "bilinear" else near
    return out


@layer("CornerPool")
def corner_pool(layer, params, x):
    mode = settings(layer)["mode"]
    axis, back = (2 if mode in ("top", "bottom") else 3), mode in ("top", "left")
    x = np.flip(x, axis) if back else x
    out = np.maximum.accumulate(x, axis=axis)
    return np.flip(out, axis) if back else out


@layer("Carafe")
def carafe(layer, params, x, mask):
    fields = settings(layer)
    k, groups, s = fields.get("kernel_size", 5), fields.get("group_size", 1), fields.get("scale_factor", 2)
    n, c, h, w = x.shape
    wide = np.pad(x, [(0, 0), (0, 0), (k // 2, k // 2), (k // 2, k // 2)])
    mask, out = mask.reshape(n, groups, k, k, h * s, w * s), np.zeros((n, c, h * s, w * s))
    for y, z in np.ndindex(h * s, w * s):
        around = wide[:, :, y // s : y // s + k, z // s : z // s + k].reshape(n, groups, c // groups, k, k)
        out[:, :, y, z] = np.einsum("ngcij,ngij->ngc", around, mask[..., y, z]).reshape(n, c)
    return out


@layer("LocalCorrelation")
def local_correlation(layer, params, a, b):
    fields = {
        "kernel_size": 1,
        "max_displacement": 1,
        "stride": 1,
        "padding": 0,
        "dilation": 1,
        "dilation_patch": 1,
        **settings(layer),
    }
    k, most, stride, pad, dilation, apart = fields.values()
    n, _, h, w = a.shape
    far = most * apart
    a, b = (
        np.pad(v, [(0, 0), (0, 0), (pad + more, pad + more), (pad + more, pad + more)])
        for v, more in ((a, 0), (b, far))
    )
    size = [(m + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for m in (h, w)]
    out = np.zeros((n, 2 * most + 1, 2 * most + 1, *size))
    for p, q, y, x in np.ndindex(*out.shape[1:]):
        for i, j in np.ndindex(k, k):
            v, u = y * stride + i * dilation, x * stride + j * dilation
            out[:, p, q, y, x] += (a[:, :, v, u] * b[:, :, v + p * apart, u + q * apart]).sum(axis=1)
    return out


@layer("DeformableConvolution", "ModulatedDeformableConvolution")
def deformable_convolution(layer, params, x, offset, mask=None):
    p = layer.modulated_deformable_convolution_param
    p = p if layer.HasField("modulated_deformable_convolution_param") else layer.deformable_convolution_param
    kernel, stride, pad, dilation = spatial(p)
    n, c, h, w = x.shape
    size, groups, taps = places((h, w), kernel, stride, pad, dilation), p.deformable_group, kernel[0] * kernel[1]
    weight = params[0].reshape(p.group, params[0].shape[0] // p.group, c // p.group, taps)
    moves = offset.reshape(n, groups, taps, 2, *size)
    strength = np.ones((n, groups, taps, *size)) if mask is None else mask.reshape(n, groups, taps, *size)
    out, wide = np.zeros((n, len(params[0]), *size)), np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    for image, y, z in np.ndindex(n, *size):
        seen = np.zeros((c, taps))
        for g, t in np.ndindex(groups, taps):
            dy, dx = moves[image, g, t, :, y, z]
            at = (
                y * stride[0] - pad[0] + t // kernel[1] * dilation[0] + dy,
                z * stride[1] - pad[1] + t % kernel[1] * dilation[1] + dx,
            )
            if -1 < at[0] < h and -1 < at[1] < w:
                low = floor(at[0]), floor(at[1])
                f, e = at[0] - low[0], at[1] - low[1]
                part = wide[
                    image, g * c // groups : (g + 1) * c // groups, low[0] + 1 : low[0] + 3, low[1] + 1 : low[1] + 3
                ]
                value = np.einsum("cij,i,j->c", part, [1 - f, f], [1 - e, e])
                seen[g * c // groups : (g + 1) * c // groups, t] = value * strength[image, g, t, y, z]
        out[image, :, y, z] = np.einsum("gmct,gct->gm", weight, seen.reshape(p.group, c // p.group, taps)).reshape(-1)
    return out + params[1].reshape(-1, 1, 1) if len(params) > 1 else out


@layer("RotateROIPooling")
def rotate_roi_pooling(layer, params, x, rois, info):
    p = layer.rotate_pooling_param
    out, at = (
        np.zeros((len(rois), x.shape[1], p.pooled_h, p.pooled_w)),
        np.full((len(rois), x.shape[1], p.pooled_h, p.pooled_w), -1.0),
    )
    info = np.resize(info.reshape(-1, 3), (len(x), 3))
    for k, (image, cx, cy, h, w, angle) in enumerate(rois):
        t, s = angle / 180 * 3.1415926535, p.spatial_scale
        right = np.array([cos(t), -sin(t)]) * w * s / p.pooled_w
        down = np.array([sin(t), cos(t)]) * h * s / p.pooled_h
        first = np.array([cx, cy]) * s - right * p.pooled_w / 2 - down * p.pooled_h / 2
        high, wide = (int(v * s) for v in info[int(image), :2])
        for i, j in np.ndindex(p.pooled_h, p.pooled_w):
            a, b, c, d = (first + u * right + v * down for u, v in ((j, i), (j, i + 1), (j + 1, i), (j + 1, i + 1)))
            xs, ys = zip(a, b, c, d)
            for y in range(max(half_away(min(ys)), 0), min(half_away(max(ys)), high - 1, x.shape[2] - 1) + 1):
                for z in range(max(half_away(min(xs)), 0), min(half_away(max(xs)), wide - 1, x.shape[3] - 1) + 1):
                    v = np.array([z, y]) - a
                    if 0 <= v @ (b - a) < (b - a) @ (b - a) and 0 <= v @ (c - a) < (c - a) @ (c - a):
                        more = x[int(image), :, y, z] > out[k, :, i, j]
                        out[k, more, i, j], at[k, more, i, j] = x[int(image), more, y, z], y * x.shape[3] + z
    return [out, at]
