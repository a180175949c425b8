"""The operators in the place of mmcv's: as the functions of `mmcv._ext`, its library of C++, which all of mmcv.ops calls.

Functions, classes, defaults and checks of arguments in Python stay mmcv's. Where `mmcv._ext` cannot be imported (mmcv-lite, an
mmcv that was installed without its operators or for another torch), there is one with ours, and mmcv.ops can be imported.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch

from .. import ops
from . import torch as differentiable
from .derivatives import detached
from .dispatcher import Extension, Table, kernel
from .in_torchvision import like

NAME = "mmcv._ext"
FUNCTIONS: Table = {}
function = kernel(FUNCTIONS)
attention = differentiable.__dict__["multi_scale_deformable_attn"]


def fill(*pairs: tuple[Any, Any]) -> None:
    """Writes results into the tensors that mmcv has made for them."""
    for target, result in pairs:
        if target is not None and target.numel():
            target.copy_(result.reshape(target.shape))


# Regions. mmcv gives what follows the tensors by name.


def align(
    aligned_height: int, aligned_width: int, spatial_scale: float, sampling_ratio: int, aligned: bool
) -> dict[str, Any]:
    size = aligned_height, aligned_width
    return {
        "output_size": size,
        "spatial_scale": spatial_scale,
        "sampling_ratio": sampling_ratio,
        "aligned": bool(aligned),
    }


@function
def roi_align_forward(
    input: Any, rois: Any, output: Any, argmax_y: Any, argmax_x: Any, *, pool_mode: int, **how: Any
) -> None:
    x, rois = detached((input, rois))
    if pool_mode:
        fill((output, ops.roi_align(x, rois, **align(**how))))
    else:
        fill(*zip((output, argmax_y, argmax_x), ops.roi_align_argmax(x, rois, **align(**how))))


@function
def roi_align_backward(
    grad_output: Any, rois: Any, argmax_y: Any, argmax_x: Any, grad_input: Any, *, pool_mode: int, **how: Any
) -> None:
    grad, rois = detached((grad_output, rois))
    if pool_mode:
        fill((grad_input, ops.roi_align_backward(grad, like(grad, *grad_input.shape), rois, **align(**how))["x"]))
        return
    batch, channels, height, width = grad_input.shape
    images = rois[:, 0].long()
    known = ((images >= 0) & (images < batch))[:, None, None, None] & (argmax_y >= -1) & (argmax_x >= -1)
    first = (images.clamp(0, max(batch - 1, 0))[:, None] * channels + torch.arange(channels, device=grad.device)) * (
        height * width
    )
    y, x = argmax_y.clamp(0, max(height - 1, 0)), argmax_x.clamp(0, max(width - 1, 0))
    top, left = y.floor(), x.floor()
    flat = torch.zeros_like(grad_input).reshape(-1)
    for row, down in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, across in ((left, 1 - (x - left)), (left + 1, x - left)):
            there = known & (row < height) & (column < width)
            index = first[..., None, None] + (row * width + column).long()
            flat.index_add_(0, index[there], (grad * down * across)[there].to(flat.dtype))
    grad_input.copy_(flat.reshape(grad_input.shape))


def rotated(
    pooled_height: int, pooled_width: int, aligned: bool = True, clockwise: bool = False, **rest: Any
) -> dict[str, Any]:
    return dict(output_size=(pooled_height, pooled_width), aligned=bool(aligned), clockwise=bool(clockwise), **rest)


@function
def roi_align_rotated_forward(input: Any, rois: Any, output: Any, **how: Any) -> None:
    fill((output, ops.roi_align_rotated(*detached((input, rois)), **rotated(**how))))


@function
def roi_align_rotated_backward(grad_output: Any, rois: Any, grad_input: Any, **how: Any) -> None:
    grad, rois = detached((grad_output, rois))
    fill((grad_input, ops.roi_align_rotated_backward(grad, like(grad, *grad_input.shape), rois, **rotated(**how))["x"]))


def sized(pooled_height: int, pooled_width: int, **rest: Any) -> dict[str, Any]:
    return dict(output_size=(pooled_height, pooled_width), **rest)


@function
def riroi_align_rotated_forward(features: Any, rois: Any, output: Any, **how: Any) -> None:
    fill((output, ops.riroi_align_rotated(*detached((features, rois)), **sized(**how))))


@function
def riroi_align_rotated_backward(top_grad: Any, rois: Any, bottom_grad: Any, **how: Any) -> None:
    grad, rois = detached((top_grad, rois))
    fill(
        (bottom_grad, ops.riroi_align_rotated_backward(grad, like(grad, *bottom_grad.shape), rois, **sized(**how))["x"])
    )


@function
def roi_pool_forward(input: Any, rois: Any, output: Any, argmax: Any, **how: Any) -> None:
    fill(*zip((output, argmax), ops.roi_pool_argmax(*detached((input, rois)), mmcv=True, **sized(**how))))


@function
def roi_pool_backward(grad_output: Any, rois: Any, argmax: Any, grad_input: Any, **how: Any) -> None:
    grad, rois = detached((grad_output, rois))
    x = like(grad, *grad_input.shape)
    fill((grad_input, ops.roi_pool_backward(grad, x, rois, mmcv=True, argmax=argmax, **sized(**how))["x"]))


@function
def prroi_pool_forward(input: Any, rois: Any, output: Any, **how: Any) -> None:
    fill((output, ops.prroi_pool(*detached((input, rois)), **sized(**how))))


@function
def prroi_pool_backward(grad_output: Any, rois: Any, grad_input: Any, **how: Any) -> None:
    grad, rois = detached((grad_output, rois))
    x = like(grad, *grad_input.shape)
    fill((grad_input, ops.prroi_pool_backward(grad, x, rois, wanted=["x"], **sized(**how))["x"]))


@function
def prroi_pool_coor_backward(output: Any, grad_output: Any, input: Any, rois: Any, grad_rois: Any, **how: Any) -> None:
    grad, x, rois = detached((grad_output, input, rois))
    fill((grad_rois, ops.prroi_pool_backward(grad, x, rois, wanted=["rois"], **sized(**how))["rois"]))


def moves(offset: Any, rois: Any, how: dict[str, Any]) -> Any:
    """Offsets, of zeros where there are none."""
    return offset if offset.numel() else rois.new_zeros(len(rois), 2, how["pooled_height"], how["pooled_width"])


@function
def deform_roi_pool_forward(input: Any, rois: Any, offset: Any, output: Any, **how: Any) -> None:
    x, rois, offset = detached((input, rois, offset))
    fill((output, ops.deform_roi_pool(x, rois, moves(offset, rois, how), **sized(**how))))


@function
def deform_roi_pool_backward(
    grad_output: Any, input: Any, rois: Any, offset: Any, grad_input: Any, grad_offset: Any, **how: Any
) -> None:
    grad, x, rois, offset = detached((grad_output, input, rois, offset))
    slopes = ops.deform_roi_pool_backward(grad, x, rois, moves(offset, rois, how), **sized(**how))
    fill((grad_input, slopes["x"]), (grad_offset, slopes["offset"]))


# Suppression


@function
def nms(boxes: Any, scores: Any, iou_threshold: float, offset: int) -> Any:
    return ops.nms(boxes.detach(), scores.detach(), iou_threshold, offset)


@function
def softnms(
    boxes: Any, scores: Any, dets: Any, iou_threshold: float, sigma: float, min_score: float, method: int, offset: int
) -> Any:
    name = ("naive", "linear", "gaussian")[method]
    rows, order = ops.soft_nms(boxes.detach(), scores.detach(), iou_threshold, sigma, min_score, name, offset)
    dets[: len(rows)] = rows
    return order


@function
def nms_rotated(
    dets: Any, scores: Any, order: Any, dets_sorted: Any, labels: Any, iou_threshold: float, multi_label: bool
) -> Any:
    """mmcv's kernels pass the labels over, on a CPU and on CUDA: boxes of all labels count as of one."""
    return ops.nms_rotated(dets[:, :5].detach().contiguous(), scores.detach(), iou_threshold)


@function
def box_iou_rotated(boxes1: Any, boxes2: Any, ious: Any, mode_flag: int, aligned: bool) -> None:
    mode = ("iou", "iof")[mode_flag]
    fill((ious, ops.box_iou_rotated(boxes1.detach(), boxes2.detach(), mode, bool(aligned))))


# Images


@function
def carafe_forward(
    features: Any, masks: Any, rfeatures: Any, routput: Any, rmasks: Any, output: Any, **how: Any
) -> None:
    """rfeatures: what mmcv keeps for the gradient, the features."""
    fill((rfeatures, features.detach()), (output, ops.carafe(*detached((features, masks)), **how)))


@function
def carafe_backward(
    top_grad: Any, rfeatures: Any, masks: Any, rtop_grad: Any, rbottom_grad_hs: Any, rbottom_grad: Any, rmask_grad: Any,
    bottom_grad: Any, mask_grad: Any, **how: Any,
) -> None:  # fmt: skip
    slopes = ops.carafe_backward(*detached((top_grad, rfeatures, masks)), **how)
    fill((bottom_grad, slopes["x"]), (mask_grad, slopes["masks"]))


@function
def carafe_naive_forward(features: Any, masks: Any, output: Any, **how: Any) -> None:
    fill((output, ops.carafe(*detached((features, masks)), **how)))


@function
def carafe_naive_backward(
    top_grad: Any, features: Any, masks: Any, bottom_grad: Any, mask_grad: Any, **how: Any
) -> None:
    slopes = ops.carafe_backward(*detached((top_grad, features, masks)), **how)
    fill((bottom_grad, slopes["x"]), (mask_grad, slopes["masks"]))


def displaced(
    kH: int, kW: int, patchH: int, patchW: int, padH: int, padW: int, dilationH: int, dilationW: int,
    dilation_patchH: int, dilation_patchW: int, dH: int, dW: int,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of our correlation, which has the same for both axes, as mmcv's module."""
    return {
        "kernel_size": kH, "max_displacement": (patchH - 1) // 2, "stride": dH, "padding": padH, "dilation": dilationH,
        "dilation_patch": dilation_patchH,
    }  # fmt: skip


@function
def correlation_forward(input1: Any, input2: Any, output: Any, **how: Any) -> None:
    fill((output, ops.correlation(*detached((input1, input2)), **displaced(**how))))


@function
def correlation_backward(
    grad_output: Any, input1: Any, input2: Any, grad_input1: Any, grad_input2: Any, **how: Any
) -> None:
    slopes = ops.correlation_backward(*detached((grad_output, input1, input2)), **displaced(**how))
    fill((grad_input1, slopes["x"]), (grad_input2, slopes["other"]))


def taps(how: dict[str, Any]) -> dict[str, Any]:
    """The arguments of our deform_conv2d; numbers of groups follow from the shapes."""
    return {
        "stride": (how["dH"], how["dW"]),
        "padding": (how["padH"], how["padW"]),
        "dilation": (how["dilationH"], how["dilationW"]),
    }


@function
def deform_conv_forward(input: Any, weight: Any, offset: Any, output: Any, columns: Any, ones: Any, **how: Any) -> None:
    fill((output, ops.deform_conv2d(*detached((input, offset, weight)), **taps(how))))


@function
def deform_conv_backward_input(
    input: Any, offset: Any, gradOutput: Any, gradInput: Any, gradOffset: Any, weight: Any, columns: Any, **how: Any
) -> None:
    tensors = detached((gradOutput, input, offset, weight))
    slopes = ops.deform_conv2d_backward(*tensors, wanted=["x", "offset"], **taps(how))
    fill((gradInput, slopes["x"]), (gradOffset, slopes["offset"]))


@function
def deform_conv_backward_parameters(
    input: Any, offset: Any, gradOutput: Any, gradWeight: Any, columns: Any, ones: Any, *, scale: float, **how: Any
) -> None:
    tensors = detached((gradOutput, input, offset, torch.zeros_like(gradWeight)))
    gradWeight.add_(ops.deform_conv2d_backward(*tensors, wanted=["weight"], **taps(how))["weight"], alpha=scale)


def modulated(how: dict[str, Any]) -> dict[str, Any]:
    pairs = (("stride", "stride"), ("padding", "pad"), ("dilation", "dilation"))
    return {name: (how[f"{key}_h"], how[f"{key}_w"]) for name, key in pairs}


@function
def modulated_deform_conv_forward(
    input: Any, weight: Any, bias: Any, ones: Any, offset: Any, mask: Any, output: Any, columns: Any, *, with_bias: bool,
    **how: Any,
) -> None:  # fmt: skip
    x, weight, offset, mask, bias = detached((input, weight, offset, mask, bias))
    fill((output, ops.deform_conv2d(x, offset, weight, bias if with_bias else None, mask=mask, **modulated(how))))


@function
def modulated_deform_conv_backward(
    input: Any, weight: Any, bias: Any, ones: Any, offset: Any, mask: Any, columns: Any, grad_input: Any, grad_weight: Any,
    grad_bias: Any, grad_offset: Any, grad_mask: Any, grad_output: Any, *, with_bias: bool, **how: Any,
) -> None:  # fmt: skip
    grad, x, weight, offset, mask, bias = detached((grad_output, input, weight, offset, mask, bias))
    bias = bias if with_bias else None
    slopes = ops.deform_conv2d_backward(grad, x, offset, weight, bias, mask=mask, **modulated(how))
    targets = {"x": grad_input, "weight": grad_weight, "offset": grad_offset, "mask": grad_mask, "bias": grad_bias}
    fill(*((target, slopes[name]) for name, target in targets.items() if name != "bias" or with_bias))


@function
def ms_deform_attn_forward(
    value: Any, value_spatial_shapes: Any, value_level_start_index: Any, sampling_locations: Any, attention_weights: Any,
    im2col_step: int,
) -> Any:  # fmt: skip
    tensors = value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights
    return ops.multi_scale_deformable_attn(*detached(tensors))


@function
def ms_deform_attn_backward(
    value: Any, value_spatial_shapes: Any, value_level_start_index: Any, sampling_locations: Any, attention_weights: Any,
    grad_output: Any, grad_value: Any, grad_sampling_loc: Any, grad_attn_weight: Any, im2col_step: int,
) -> None:  # fmt: skip
    tensors = grad_output, value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights
    slopes = ops.multi_scale_deformable_attn_backward(*detached(tensors))
    names = "value", "sampling_locations", "attention_weights"
    fill(*zip((grad_value, grad_sampling_loc, grad_attn_weight), (slopes[name] for name in names)))


def multi_scale_deformable_attn_pytorch(
    value: Any, value_spatial_shapes: Any, sampling_locations: Any, attention_weights: Any
) -> Any:
    """mmcv's form of torch's grid_sample, which its modules call on a CPU; ours with a gradient."""
    shapes = torch.as_tensor(value_spatial_shapes)
    pixels = shapes.prod(1)
    return attention(value, shapes, pixels.cumsum(0) - pixels, sampling_locations, attention_weights)


# The library


def replace() -> Callable[[], None]:
    """Puts ours in the place of mmcv's; gives the function that takes them back."""
    importlib.import_module("mmcv")
    try:
        extension = importlib.import_module(NAME)
        originals = {name: getattr(extension, name) for name in FUNCTIONS if hasattr(extension, name)}
        for name in originals:
            setattr(extension, name, FUNCTIONS[name])
    except ImportError:
        extension, originals = Extension(NAME, FUNCTIONS), None
        sys.modules[NAME] = extension
    module = importlib.import_module("mmcv.ops.multi_scale_deform_attn")
    form = module.multi_scale_deformable_attn_pytorch
    module.multi_scale_deformable_attn_pytorch = multi_scale_deformable_attn_pytorch  # type: ignore[attr-defined]

    def back() -> None:
        module.multi_scale_deformable_attn_pytorch = form  # type: ignore[attr-defined]
        if originals is not None:
            for name, own in originals.items():
                setattr(extension, name, own)
            return
        for name in [name for name in sys.modules if name == NAME or name.startswith("mmcv.ops")]:
            del sys.modules[name]  # without its library mmcv.ops cannot be imported

    return back
