"""The operators in the place of torchvision's: under its names in torch's dispatcher, where its functions, modules, models and
scripted code look for them. Signatures, defaults and checks of arguments in Python stay theirs; as there, regions have no
gradient."""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import ops as operators
from ..proto.errors import BoxpressoError
from . import torch as differentiable
from .derivatives import Backward, detached
from .dispatcher import Table, kernel, put_in
from .regions import roi_pool as pool
from .regions import roi_pool_argmax, roi_pool_backward
from .torch import traced, transformed

SIZE = "SymInt pooled_height, SymInt pooled_width"
SHAPE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
TAPS = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
SCHEMAS = {  # torchvision's, for where its own library could not be loaded
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",  # of which torchvision wants to be there alone
    "roi_align": f"(Tensor input, Tensor rois, float spatial_scale, {SIZE}, int sampling_ratio, bool aligned) -> Tensor",
    "_roi_align_backward":
        f"(Tensor grad, Tensor rois, float spatial_scale, {SIZE}, {SHAPE}, int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool": f"(Tensor input, Tensor rois, float spatial_scale, {SIZE}) -> (Tensor, Tensor)",
    "_roi_pool_backward": f"(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, {SIZE}, {SHAPE}) -> Tensor",
    "ps_roi_align": f"(Tensor input, Tensor rois, float spatial_scale, {SIZE}, int sampling_ratio) -> (Tensor, Tensor)",
    "_ps_roi_align_backward":
        f"(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, {SIZE}, int sampling_ratio, {SHAPE}) "
        "-> Tensor",
    "ps_roi_pool": f"(Tensor input, Tensor rois, float spatial_scale, {SIZE}) -> (Tensor, Tensor)",
    "_ps_roi_pool_backward":
        f"(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, {SIZE}, {SHAPE}) -> Tensor",
    "deform_conv2d": f"({TAPS}) -> Tensor",
    "_deform_conv2d_backward": f"(Tensor grad, {TAPS}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
}  # fmt: skip
ours: Any = differentiable
FORWARD: Table = {}  # with autograd
ALONE: Table = {}  # without a gradient of their own


def like(grad: Any, *shape: int) -> Any:
    """A map of which the gradient needs the shape alone."""
    return grad.new_empty(shape)


def constant(rois: Any) -> Any:
    """Regions without a gradient."""
    return rois.detach() if rois.requires_grad or transformed() else rois


def square(height: int, width: int) -> int:
    if height != width:
        raise BoxpressoError(f"output_size must be as high as wide here, got {(height, width)}")
    return height


def below(x: Any, rois: Any, scale: float, height: int, width: int) -> Any:
    """torchvision's roi_pool below autograd: of a tensor without numbers what its shapes are, else ours."""
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.torchvision.roi_pool(x, rois, scale, height, width)


@functools.lru_cache(16)
def numbered(*shape: int) -> np.ndarray:
    """The numbers of the channels of one region's result: (1, *shape)."""
    row = np.arange(math.prod(shape), dtype=np.int32).reshape(1, *shape)
    row.flags.writeable = False
    return row


def mapping(x: Any, rois: Any, height: int, width: int) -> Any:
    """The channel of each number of a position-sensitive result."""
    outputs = x.shape[1] // max(height * width, 1)
    if x.is_cpu and not traced((x, rois)):  # torch's repeat takes longer than the operator
        return torch.from_numpy(numbered(outputs, height, width).repeat(rois.shape[0], 0))
    channels = torch.arange(outputs * height * width, dtype=torch.int32, device=x.device)
    return channels.reshape(1, outputs, height, width).repeat(rois.shape[0], 1, 1, 1)


@kernel(ALONE)
def nms(boxes: Any, scores: Any, threshold: float) -> Any:
    boxes, scores = detached((boxes, scores))
    return operators.nms(boxes, scores, threshold)


@kernel(FORWARD)
def roi_align(x: Any, rois: Any, scale: float, height: int, width: int, ratio: int, aligned: bool) -> Any:
    return ours.roi_align(x, constant(rois), (height, width), scale, ratio, aligned)


@kernel(ALONE)
def _roi_align_backward(grad: Any, rois: Any, scale: float, h: int, w: int, *rest: Any) -> Any:
    *shape, ratio, aligned = rest
    options = {"output_size": (h, w), "spatial_scale": scale, "sampling_ratio": ratio, "aligned": aligned}
    return operators.roi_align_backward(grad, like(grad, *shape), rois, **options)["x"]


class RoiPool(torch.autograd.Function):  # type: ignore[misc]
    """roi_pool and where its numbers lie."""

    @staticmethod
    def forward(x: Any, rois: Any, size: tuple[int, int], scale: float) -> Any:
        if traced((x, rois)):
            return below(x, rois, scale, *size)
        return roi_pool_argmax(*detached((x, rois)), size, scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, rois, ctx.size, ctx.scale = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(x, rois, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, _: Any) -> tuple[Any, ...]:
        x, rois, places = ctx.saved_tensors
        if torch.is_grad_enabled():
            options = {"output_size": ctx.size, "spatial_scale": ctx.scale, "mmcv": False, "layout": "NCHW"}
            return Backward.apply(pool, options, (True, False), grad, x, rois)[0], None, None, None
        if traced((grad, x, rois)):
            back = torch.ops.torchvision._roi_pool_backward
            return back(grad, rois, places, ctx.scale, *ctx.size, *x.shape), None, None, None
        inputs = detached((grad, x, rois))
        return roi_pool_backward(*inputs, ctx.size, ctx.scale, argmax=places)["x"], None, None, None


@kernel(FORWARD)
def roi_pool(x: Any, rois: Any, scale: float, height: int, width: int) -> Any:
    if torch.is_grad_enabled() and x.requires_grad:
        return RoiPool.apply(x, constant(rois), (height, width), scale)
    if traced((x, rois)):
        return below(x, rois, scale, height, width)
    return roi_pool_argmax(*detached((x, rois)), (height, width), scale)


@kernel(ALONE)
def _roi_pool_backward(grad: Any, rois: Any, argmax: Any, scale: float, h: int, w: int, *shape: int) -> Any:
    return roi_pool_backward(grad, like(grad, *shape), rois, (h, w), scale, argmax=argmax)["x"]


@kernel(FORWARD)
def ps_roi_align(x: Any, rois: Any, scale: float, height: int, width: int, ratio: int) -> Any:
    return ours.ps_roi_align(x, constant(rois), square(height, width), scale, ratio), mapping(x, rois, height, width)


@kernel(ALONE)
def _ps_roi_align_backward(grad: Any, rois: Any, _: Any, scale: float, h: int, w: int, ratio: int, *shape: int) -> Any:
    return operators.ps_roi_align_backward(grad, like(grad, *shape), rois, square(h, w), scale, ratio)["x"]


@kernel(FORWARD)
def ps_roi_pool(x: Any, rois: Any, scale: float, height: int, width: int) -> Any:
    return ours.ps_roi_pool(x, constant(rois), square(height, width), scale), mapping(x, rois, height, width)


@kernel(ALONE)
def _ps_roi_pool_backward(grad: Any, rois: Any, _: Any, scale: float, h: int, w: int, *shape: int) -> Any:
    return operators.ps_roi_pool_backward(grad, like(grad, *shape), rois, square(h, w), scale)["x"]


def taps(x: Any, weight: Any, offset: Any, mask: Any, bias: Any, *rest: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of our deform_conv2d."""
    *numbers, groups, offset_groups, use_mask = rest
    size, count = weight.shape[2] * weight.shape[3], offset_groups
    if offset.shape[1] != 2 * count * size or x.shape[1] != weight.shape[1] * groups:
        raise BoxpressoError(
            f"offset {tuple(offset.shape)} of {count} groups and x {tuple(x.shape)} of {groups} do not fit weight "
            f"{tuple(weight.shape)}"
        )
    if use_mask and mask.shape[1] != count * size:
        raise BoxpressoError(f"mask.shape[1] is not valid: got {mask.shape[1]}, expected {count * size}")
    stride, padding, dilation = (tuple(numbers[i : i + 2]) for i in (0, 2, 4))
    return [x, offset, weight, bias, mask if use_mask else None], {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
    }


@kernel(FORWARD)
def deform_conv2d(*args: Any) -> Any:
    (x, offset, weight, bias, mask), options = taps(*args)
    return ours.deform_conv2d(x, offset, weight, bias, mask=mask, **options)


@kernel(ALONE)
def _deform_conv2d_backward(grad: Any, *args: Any) -> Any:
    (x, offset, weight, bias, mask), options = taps(*args)
    gradients = operators.deform_conv2d_backward(grad, x, offset, weight, bias, mask=mask, **options)
    return (
        gradients["x"],
        gradients["weight"],
        gradients["offset"],
        gradients.get("mask", torch.zeros_like(args[3])),
        gradients["bias"],
    )


def there() -> bool:
    """torchvision's _has_ops, where its operators are ours."""
    return True


def put_for(old: Any, new: Any) -> None:
    """Puts one function in the place of another in all modules of torchvision: each has its own name for it."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torchvision" and getattr(module, "_has_ops", None) is old:
            module._has_ops = new  # type: ignore[attr-defined]


def replace() -> Callable[[], None]:
    """Puts ours in the place of torchvision's, which may be imported later; gives the function that takes them back.

    Where torchvision's own library of C++ cannot be loaded (of another torch, of CUDA where there is none), its operators are
    those of ours until then.
    """
    if "torchvision" not in sys.modules:  # it is asked to load its library first
        try:
            importlib.import_module("torchvision")
        except RuntimeError:  # "operator torchvision::nms does not exist"
            for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
                del sys.modules[name]
    take_back = put_in("torchvision", SCHEMAS, FORWARD, ALONE)
    asked = importlib.import_module("torchvision.extension")._has_ops
    missing = not asked()
    if missing:
        put_for(asked, there)

    def back() -> None:
        take_back()
        if missing:
            put_for(there, asked)

    return back
