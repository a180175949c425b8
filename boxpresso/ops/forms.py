"""The operators in torch's own operations, which torch can differentiate as often as one likes.

They are docs/formulas.md without its loops. The second derivatives of what is not linear in an operator's inputs (where samples
lie, which of them is the largest) come from them; their numbers are the kernels', rounded otherwise. A sample takes memory for
each of its channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from .parameters import Two, pair
from .regions import roi_pool_argmax

FORMS: dict[str, Callable[..., Any]] = {}  # by the name of the operator


def form(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a form under its name. Images have their channels first."""
    FORMS[function.__name__] = function
    return function


# Samples


def sampled(pixels: Any, first: Any, size: tuple[int, int], y: Any, x: Any) -> Any:
    """Bilinear samples (C, ...) of maps of zeros beyond their border, at y and x (...).

    pixels: (C, P), of all maps; first: which pixel of these is the first of a sample's map of `size`.
    """
    height, width = size
    near = (y > -1) & (y < height) & (x > -1) & (x < width)
    y, x = torch.where(near, y, -2), torch.where(near, x, -2)
    top, left = y.detach().floor(), x.detach().floor()
    result: Any = 0
    for row, down in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, across in ((left, 1 - (x - left)), (left + 1, x - left)):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            index = torch.where(inside, first + row.long() * width + column.long(), 0)
            values = pixels[:, index] if pixels.shape[1] else pixels.new_zeros(len(pixels), *index.shape)
            result = result + torch.where(inside, values, 0) * (down * across)
    return result


def clamped(pixels: Any, first: Any, size: tuple[int, int], y: Any, x: Any) -> Any:
    """The same of maps whose border holds for one more pixel, as the align family has them."""
    height, width = size
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = torch.where(inside, y, 0).clamp(0, height - 1), torch.where(inside, x, 0).clamp(0, width - 1)
    return torch.where(inside, sampled(pixels, first, size, y, x), 0)


def flat(x: Any) -> Any:
    """An image (B, C, H, W) as (C, B H W)."""
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def readable(rows: Any, images: Any, batch: int) -> tuple[Any, Any, Any]:
    """The rows with 0 for those that cannot be read, which can, and the image of each."""
    fine = rows.isfinite().all(1) & images.isfinite() & (images > -1) & (images < batch)
    return torch.where(fine[:, None], rows, 0), fine, torch.where(fine, images, 0).long()


def steps(size: Any, bins: int, ratio: int) -> tuple[Any, Any, Any]:
    """The samples of the bins of an axis, from its start on: (K, bins, n) each; which of n there are, (K, n), and how many."""
    bin = size / bins
    count = torch.full_like(bin, ratio) if ratio > 0 else bin.detach().ceil().clamp(min=0)
    number = torch.arange(int(count.max()) if len(count) else 0, device=bin.device)
    part = (number + 0.5) / count.clamp(min=1)[:, None]
    at = torch.arange(bins, device=bin.device)[:, None] + part[:, None]
    return at * bin[:, None, None], number < count[:, None], count


def pooled(x: Any, image: Any, fine: Any, y: Any, x_: Any, there: Any, mode: str = "avg") -> Any:
    """The mean or the largest (K, C, bins) of samples at (K, bins, n), of which `there` (K, n) are some."""
    first = (image * (x.shape[2] * x.shape[3]))[:, None, None]
    values = clamped(flat(x), first, (x.shape[2], x.shape[3]), y, x_)
    present = there.sum(1)
    if mode == "max":
        result = torch.where(there[:, None], values, -torch.inf)
        result = result.max(-1).values if values.shape[-1] else values.sum(-1)
        result = torch.where((present > 0)[:, None], result, 0)
    else:
        result = torch.where(there[:, None], values, 0).sum(-1) / present.clamp(min=1)[:, None]
    return torch.where(fine[:, None], result, 0).transpose(0, 1)


def grid(y: tuple[Any, Any, Any], x: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The samples of both axes together: down and across (K, bins, n), and which there are (K, n)."""
    shape = len(y[0]), y[0].shape[1], x[0].shape[1], y[0].shape[2], x[0].shape[2]
    down, across = y[0][:, :, None, :, None].expand(shape), x[0][:, None, :, None, :].expand(shape)
    there = (y[1][:, :, None] & x[1][:, None]).flatten(1)
    return down.reshape(shape[0], shape[1] * shape[2], -1), across.reshape(shape[0], shape[1] * shape[2], -1), there


def shaped(result: Any, bins: tuple[int, int]) -> Any:
    return result.reshape(*result.shape[:2], *bins)


# Regions


@form
def roi_align(
    x: Any, rois: Any, output_size: Two, spatial_scale: float, sampling_ratio: int, aligned: bool, pool_mode: str
) -> Any:
    bins = pair(output_size)
    rows, fine, image = readable(rois, rois[:, 0], len(x))
    x1, y1, x2, y2 = (rows[:, 1:] * spatial_scale - (0.5 if aligned else 0)).unbind(1)
    width, height = (side if aligned else side.clamp(min=1) for side in (x2 - x1, y2 - y1))
    down, across, there = grid(steps(height, bins[0], sampling_ratio), steps(width, bins[1], sampling_ratio))
    y, x_ = y1[:, None, None] + down, x1[:, None, None] + across
    return shaped(pooled(x, image, fine, y, x_, there, pool_mode), bins)


@form
def roi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float, sampling_ratio: int, aligned: bool, clockwise: bool
) -> Any:
    bins = pair(output_size)
    rows, fine, image = readable(rois, rois[:, 0], len(x))
    centre_x, centre_y = (rows[:, 1:3] * spatial_scale - (0.5 if aligned else 0)).unbind(1)
    width, height = (side if aligned else side.clamp(min=1) for side in (rows[:, 3:5] * spatial_scale).unbind(1))
    angle = (-rows[:, 5] if clockwise else rows[:, 5])[:, None, None]
    v, u, there = grid(steps(height, bins[0], sampling_ratio), steps(width, bins[1], sampling_ratio))
    v, u = v - height[:, None, None] / 2, u - width[:, None, None] / 2
    y = v * torch.cos(angle) - u * torch.sin(angle) + centre_y[:, None, None]
    x_ = v * torch.sin(angle) + u * torch.cos(angle) + centre_x[:, None, None]
    return shaped(pooled(x, image, fine, y, x_, there), bins)


@form
def riroi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float, num_samples: int, num_orientations: int, clockwise: bool
) -> Any:
    plain = roi_align_rotated(x, rois, output_size, spatial_scale, num_samples, False, clockwise)
    turns = readable(rois, rois[:, 0], len(x))[0][:, 5] * num_orientations / (2 * torch.pi)
    whole = turns.detach().floor()
    part = (turns - whole)[:, None, None, None, None]
    groups = plain.unflatten(1, (-1, num_orientations))
    at = torch.arange(num_orientations, device=x.device) - whole.long()[:, None]
    rolled = [groups.gather(2, (k % num_orientations)[:, None, :, None, None].expand_as(groups)) for k in (at, at + 1)]
    return ((1 - part) * rolled[0] + part * rolled[1]).flatten(1, 2)


@form
def deform_roi_pool(
    x: Any, rois: Any, offset: Any, output_size: Two, spatial_scale: float, sampling_ratio: int, gamma: float
) -> Any:
    bins = pair(output_size)
    rows, fine, image = readable(rois, rois[:, 0], len(x))
    x1, y1, x2, y2 = (rows[:, 1:] * spatial_scale - 0.5).unbind(1)
    down, across, there = grid(steps(y2 - y1, bins[0], sampling_ratio), steps(x2 - x1, bins[1], sampling_ratio))
    y, x_ = y1[:, None, None] + down, x1[:, None, None] + across
    if offset is not None:
        moves = offset.flatten(2)[..., None]
        x_, y = x_ + gamma * (x2 - x1)[:, None, None] * moves[:, 0], y + gamma * (y2 - y1)[:, None, None] * moves[:, 1]
    return shaped(pooled(x, image, fine, y, x_, there), bins)


@form
def modulated_deform_roi_pool(x: Any, rois: Any, offset: Any, mask: Any, *options: Any) -> Any:
    return deform_roi_pool(x, rois, offset, *options) * mask


@form
def rotate_roi_pool(x: Any, rois: Any, image_info: Any, output_size: Two, spatial_scale: float) -> Any:
    bins = pair(output_size)
    rows, fine, image = readable(rois, rois[:, 0], len(x))
    info = image_info.reshape(-1, 3)[:, :2] * spatial_scale
    limits = (info[image] if len(info) > 1 else info).long()[:, :, None, None, None, None]
    angle = (rows[:, 5] / 180 * 3.1415926535)[:, None, None]  # as RRPN has it
    step_y, step_x = (rows[:, i, None, None] * spatial_scale / n for i, n in zip((3, 4), bins))
    along, down = (
        (torch.cos(angle) * step_x, -torch.sin(angle) * step_x),
        (torch.sin(angle) * step_y, torch.cos(angle) * step_y),
    )  # one bin to the right and one down, as (x, y)
    i, j = torch.meshgrid(*(torch.arange(n, device=x.device) for n in bins), indexing="ij")
    pixels = torch.meshgrid(*(torch.arange(n, device=x.device) for n in x.shape[2:]), indexing="ij")[::-1]

    def corner(right: int, below: int, axis: int) -> Any:
        start = (
            along[axis] * (-bins[1] / 2) + down[axis] * (-bins[0] / 2) + rows[:, 1 + axis, None, None] * spatial_scale
        )
        return along[axis] * (j + right) + down[axis] * (i + below) + start

    start = [corner(0, 0, axis) for axis in (0, 1)]
    far = [pixels[axis] - start[axis][..., None, None] for axis in (0, 1)]
    inside = (pixels[1] < limits[:, 0]) & (pixels[0] < limits[:, 1])
    for right, below in ((0, 1), (1, 0)):
        side = [(corner(right, below, axis) - start[axis])[..., None, None] for axis in (0, 1)]
        on = far[0] * side[0] + far[1] * side[1]
        inside = inside & (on >= 0) & (on < side[0] * side[0] + side[1] * side[1])
    values = torch.where(
        inside[:, None] & fine[:, None, None, None, None, None], x[image][:, :, None, None], -torch.inf
    )
    largest = values.flatten(-2).max(-1).values if values.shape[-1] * values.shape[-2] else values.flatten(-2).sum(-1)
    return torch.where(largest > 0, largest, 0)


@form
def roi_pool(x: Any, rois: Any, output_size: Two, spatial_scale: float, mmcv: bool) -> Any:
    """Which pixels are the largest, the kernels say."""
    places = Places.apply(x, rois, (output_size, spatial_scale), mmcv)
    image = readable(rois, rois[:, 0], len(x))[2]
    if not x.numel():
        return x.new_zeros(places.shape)
    values = x.flatten(2)[image].gather(2, places.flatten(2).clamp(min=0).long())
    return torch.where(places.flatten(2) >= 0, values, 0).reshape(places.shape)


class Places(torch.autograd.Function):  # type: ignore[misc]
    """Where each number of roi_pool lies in its map, by the kernels."""

    @staticmethod
    def forward(x: Any, rois: Any, options: tuple[Any, ...], mmcv: bool) -> Any:
        return roi_pool_argmax(x.detach(), rois.detach(), *options, mmcv=mmcv)[1]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple[None, None, None, None]:
        return None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *directions: Any) -> None:
        return None


@form
def prroi_pool(x: Any, rois: Any, output_size: Two, spatial_scale: float) -> Any:
    rows, fine, image = readable(rois, rois[:, 0], len(x))
    weights = []
    x1, y1, x2, y2 = rows[:, 1:].unbind(1)
    for low, high, bins, size in zip((y1, x1), (y2, x2), pair(output_size), x.shape[2:]):
        step = ((high - low) * spatial_scale / bins)[:, None, None]
        edges = low[:, None, None] * spatial_scale + torch.arange(bins + 1, device=x.device)[:, None] * step
        at = (edges - torch.arange(size, device=x.device)).clamp(-1, 1)
        share = torch.where(at < 0, (at + 1) ** 2 / 2, 1 - (1 - at) ** 2 / 2).diff(dim=1)
        weights.append(torch.where(step > 0, share / torch.where(step > 0, step, 1), 0))
    result = torch.einsum("kph,kchw,kqw->kcpq", weights[0], x[image], weights[1])
    return torch.where(fine[:, None, None, None], result, 0)


@form
def deformable_psroi_pool(
    x: Any, rois: Any, trans: Any, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int,
    part_size: int, sample_per_part: int, trans_std: float,
) -> Any:  # fmt: skip
    size, part, n = pooled_size, part_size or pooled_size, sample_per_part
    batch, channels, height, width = x.shape
    rows, fine, image = readable(rois, rois[:, 0], batch)
    corners = torch.sign(rows[:, 1:]) * (rows[:, 1:].abs() + 0.5).floor()
    low, high = corners[:, :2] * spatial_scale - 0.5, (corners[:, 2:] + 1) * spatial_scale - 0.5
    w, h = ((high - low).clamp(min=0.1)).unbind(1)
    c, i, j = (torch.arange(k, device=x.device) for k in (output_dim, size, size))
    if trans is None:
        move = x.new_zeros(len(rows), 2, 1, 1, 1)
    else:
        classes = trans.shape[1] // 2
        own = trans.unflatten(1, (classes, 2))[:, c // max(output_dim // classes, 1)]
        move = own[:, :, :, (i * part // size)[:, None], j * part // size].transpose(1, 2)
    at = torch.arange(n, device=x.device) / (size * n)

    def axis(start: Any, side: Any, moves: Any, bin: Any, length: int) -> tuple[Any, Any]:
        place = (moves * trans_std + bin / size)[..., None] + at
        place = start[:, None, None, None, None] + place * side[:, None, None, None, None]
        return place.clamp(0, length - 1), (place >= -0.5) & (place <= length - 0.5)

    y, in_y = axis(low[:, 1], h, move[:, 1], i[:, None], height)
    x_, in_x = axis(low[:, 0], w, move[:, 0], j, width)
    channel = (c[:, None, None] * group_size + (i * group_size // size)[:, None]) * group_size + j * group_size // size
    first = ((image[:, None, None, None] * channels + channel) * (height * width))[..., None, None]
    both = in_y[..., :, None] & in_x[..., None, :]
    y, x_ = torch.broadcast_tensors(y[..., :, None], x_[..., None, :])
    values = torch.where(both, sampled(x.reshape(1, -1), first, (height, width), y, x_)[0], 0).sum((-1, -2))
    return torch.where(fine[:, None, None, None], values / both.sum((-1, -2)).clamp(min=1), 0)


# Images


@form
def crop_and_resize(
    x: Any, boxes: Any, box_indices: Any, crop_size: Two, method: str, extrapolation_value: float
) -> Any:
    rows, fine, image = readable(boxes, box_indices.flatten(), len(x))
    lines = []
    for low, high, count, size in zip(rows[:, :2].unbind(1), rows[:, 2:].unbind(1), pair(crop_size), x.shape[2:]):
        part = (
            torch.arange(count, device=x.device) / (count - 1) if count > 1 else torch.full((1,), 0.5, device=x.device)
        )
        lines.append((low[:, None] + part * (high - low)[:, None]) * (size - 1))
    y, x_ = torch.broadcast_tensors(lines[0][:, :, None], lines[1][:, None])
    inside = (y >= 0) & (y <= x.shape[2] - 1) & (x_ >= 0) & (x_ <= x.shape[3] - 1) & fine[:, None, None]
    if method == "nearest":
        y, x_ = y.round(), x_.round()
    first = (image * (x.shape[2] * x.shape[3]))[:, None, None]
    values = sampled(flat(x), first, (x.shape[2], x.shape[3]), y, x_)
    return torch.where(inside, values, extrapolation_value).transpose(0, 1)


@form
def point_sample(x: Any, points: Any, align_corners: bool) -> Any:
    sides = torch.tensor([x.shape[3], x.shape[2]], device=x.device)
    at = points * (sides - 1) if align_corners else points * sides - 0.5
    first = torch.arange(len(x), device=x.device) * (x.shape[2] * x.shape[3])
    first = first.reshape(-1, *[1] * (points.dim() - 2))
    return sampled(flat(x), first, (x.shape[2], x.shape[3]), at[..., 1], at[..., 0]).transpose(0, 1)


@form
def corner_pool(x: Any, mode: str) -> Any:
    axis = 3 if mode in ("left", "right") else 2
    if not x.numel():
        return x.clone()
    backwards = mode in ("top", "left")
    result = (x.flip(axis) if backwards else x).cummax(axis).values
    return result.flip(axis) if backwards else result


@form
def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any, mask: Any, stride: Two, padding: Two, dilation: Two
) -> Any:
    inner, *kernel = weight.shape[1:]
    batch, _, height, width = x.shape
    taps = kernel[0] * kernel[1]
    groups, size = offset.shape[1] // max(2 * taps, 1), offset.shape[2:]
    where = []
    for axis, tap in enumerate(torch.meshgrid(*(torch.arange(n, device=x.device) for n in kernel), indexing="ij")):
        step, pad, wide = (pair(value)[axis] for value in (stride, padding, dilation))
        start = torch.arange(size[axis], device=x.device) * step - pad
        lines = start[:, None] if axis == 0 else start[None]
        where.append(lines + (tap.flatten() * wide)[:, None, None])
    moves = offset.reshape(batch, groups, taps, 2, *size)
    first = torch.arange(batch, device=x.device)[:, None, None, None] * (height * width)
    parts = []
    for g, image in enumerate(x.chunk(groups, 1)):
        values = sampled(
            flat(image), first, (height, width), where[0] + moves[:, g, :, 0], where[1] + moves[:, g, :, 1]
        )
        parts.append(values if mask is None else values * mask.reshape(batch, groups, taps, *size)[:, g])
    columns = torch.cat(parts).unflatten(0, (-1, inner))
    own = weight.reshape(len(columns), -1, inner, taps)
    result = torch.einsum("gcbtij,goct->bgoij", columns, own).flatten(1, 2)
    return result if bias is None else result + bias[:, None, None]


@form
def multi_scale_deformable_attn(
    value: Any, spatial_shapes: Any, level_start_index: Any, sampling_locations: Any, attention_weights: Any
) -> Any:
    batch, count, heads, depth = value.shape
    pixels = value.permute(3, 0, 2, 1).reshape(depth, -1)  # of each image and head the pixels of all levels
    maps = torch.arange(batch * heads, device=value.device).reshape(batch, 1, heads, 1) * count
    result: Any = 0
    for level, ((height, width), start) in enumerate(
        zip(spatial_shapes.long().tolist(), level_start_index.long().tolist())
    ):
        at = sampling_locations[:, :, :, level]
        y, x = at[..., 1] * height - 0.5, at[..., 0] * width - 0.5
        values = sampled(pixels, maps + start, (height, width), y, x)
        near = (y > -1) & (y < height) & (x > -1) & (x < width)
        result = result + (values * torch.where(near, attention_weights[:, :, :, level], 0)).sum(-1)
    return result.permute(1, 2, 3, 0).flatten(2)


def compute(name: str, names: Sequence[str], inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """An operator's form: its arrays as named, in one dtype; 16 bits as float32, an image with the channels where they are."""
    first = inputs[0]
    real = torch.float64 if first.dtype == torch.float64 else torch.float32
    by_name: dict[str, Any] = {n: v if v is None else v.to(real) for n, v in zip(names, inputs)}
    rest = {
        key: float(np.float32(value)) if type(value) is float else value  # as layers' parameters hold them
        for key, value in options.items()
        if key != "layout"
    }
    last = options.get("layout") == "NHWC"
    if last:
        by_name[names[0]] = by_name[names[0]].permute(0, 3, 1, 2)
    result = FORMS[name](*(by_name[n] for n in names), *rest.values())
    return (result.permute(0, 2, 3, 1) if last and result.dim() == 4 else result).to(first.dtype)
