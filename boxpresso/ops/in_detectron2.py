"""The operators in the place of detectron2's: under its names in torch's dispatcher. Angles are in degrees there.

What detectron2 has from torchvision (roi_align, nms, deform_conv2d on a CPU) is torchvision's operator, which is replaced, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from math import pi
from typing import Any

from .. import ops as operators
from . import in_torchvision
from . import torch as differentiable
from .dispatcher import Extension, Table, kernel, put_in

SIZE = "SymInt pooled_height, SymInt pooled_width"
SCHEMAS = {  # detectron2's, for where its own library could not be loaded
    "nms_rotated": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "box_iou_rotated": "(Tensor boxes1, Tensor boxes2) -> Tensor",
    "roi_align_rotated_forward": f"(Tensor input, Tensor rois, float spatial_scale, {SIZE}, int sampling_ratio) -> Tensor",
    "roi_align_rotated_backward":
        f"(Tensor grad, Tensor rois, float spatial_scale, {SIZE}, SymInt batch_size, SymInt channels, SymInt height, "
        "SymInt width, int sampling_ratio) -> Tensor",
}  # fmt: skip
ours: Any = differentiable
FORWARD: Table = {}
ALONE: Table = {}


def in_radians(boxes: Any) -> Any:
    """Boxes, or regions, whose last number is an angle in degrees."""
    turned = boxes.clone()
    turned[:, -1] *= pi / 180
    return turned


@kernel(ALONE)
def nms_rotated(boxes: Any, scores: Any, threshold: float) -> Any:
    return operators.nms_rotated(in_radians(boxes.detach()), scores.detach(), threshold, clockwise=False)


@kernel(ALONE)
def box_iou_rotated(boxes1: Any, boxes2: Any) -> Any:
    return operators.box_iou_rotated(in_radians(boxes1.detach()), in_radians(boxes2.detach()), clockwise=False)


@kernel(FORWARD)
def roi_align_rotated_forward(x: Any, rois: Any, scale: float, height: int, width: int, ratio: int) -> Any:
    return ours.roi_align_rotated(x, in_radians(rois.detach()), (height, width), scale, ratio)


@kernel(ALONE)
def roi_align_rotated_backward(grad: Any, rois: Any, scale: float, h: int, w: int, *rest: int) -> Any:
    *shape, ratio = rest
    x = in_torchvision.like(grad, *shape)
    return operators.roi_align_rotated_backward(grad, x, in_radians(rois), (h, w), scale, ratio)["x"]


def replace() -> Callable[[], None]:
    """Puts ours in the place of detectron2's; gives the function that takes them back.

    Its deformable convolutions are torchvision's on a CPU, but are no classes where `detectron2._C` is missing when
    detectron2.layers is imported: that is done here, with a `_C` for as long as it takes.
    """
    package = import_module("detectron2")
    module = import_module("boxpresso.torch")
    fresh = "torchvision" not in module.replaced
    module.replace("torchvision")
    take_back = put_in("detectron2", SCHEMAS, FORWARD, ALONE)
    try:
        import_module("detectron2._C")
    except ImportError:
        package._C = sys.modules["detectron2._C"] = Extension("detectron2._C", {})  # type: ignore[attr-defined]
        import_module("detectron2.layers.deform_conv")
        del package._C, sys.modules["detectron2._C"]

    def back() -> None:
        take_back()
        if fresh:
            module.restore("torchvision")

    return back
