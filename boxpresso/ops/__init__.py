"""The region operators as functions of arrays: numpy's, torch's, cupy's, and whatever speaks DLPack.

    from boxpresso import ops
    pooled = ops.roi_align(features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)
    grads = ops.roi_align_backward(grad, features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)   # {"x": ...}

The layers of `boxpresso.layers` compute them, on the device where the first array is, over the caller's own memory; the
result is an array of the first's kind, dtype and device. What is not contiguous is copied first, but for torch's images in
channels_last, whose format the result has too; so are other arrays of another dtype than is computed in. float32, float64,
and float16 with arithmetic in float32: regions beside it are taken as float32.

x: (B, C, H, W), or (B, H, W, C) with layout="NHWC", where the result is channels last as well; offsets and masks keep their
own layout. rois: (K, 5): batch index, x1, y1, x2, y2 in pixels of the image, which spatial_scale brings to x. One with NaN,
infinity or a batch index outside the batch gives 0. output_size: (height, width) or one number for both.

Memory of the CPU's large results is used again once nobody holds them; `forget()` gives it back.

Each `NAME_backward(grad, ...)` takes the gradient of the result and NAME's arguments and returns the gradients by name.
`boxpresso.ops.torch` has the same functions for torch's autograd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from ..proto.errors import BoxpressoError
from .operator import Call, Operator, Plan, forget, operator
from .suppression import batched_nms, nms, nms_rotated

Two = Union[int, Sequence[int]]

__all__ = [
    "batched_nms", "deform_conv2d", "deform_conv2d_backward", "deform_roi_pool", "deform_roi_pool_backward",
    "deformable_psroi_pool", "deformable_psroi_pool_backward", "forget", "modulated_deform_roi_pool",
    "modulated_deform_roi_pool_backward", "nms", "nms_rotated", "permute", "permute_backward", "prroi_pool",
    "prroi_pool_backward", "ps_roi_align", "ps_roi_align_backward", "ps_roi_pool", "ps_roi_pool_backward",
    "riroi_align_rotated", "riroi_align_rotated_backward", "roi_align", "roi_align_backward", "roi_align_rotated",
    "roi_align_rotated_backward", "roi_pool", "roi_pool_argmax", "roi_pool_backward", "rotate_roi_pool",
    "rotate_roi_pool_backward",
]  # fmt: skip


def pair(value: Two, name: str = "output_size") -> tuple[int, int]:
    """(height, width) of one number for both, or of two."""
    two = (value, value) if isinstance(value, int) else tuple(int(v) for v in value)
    if len(two) != 2:
        raise BoxpressoError(f"{name} must be one number or two, got {value!r}")
    return two


def pooled(output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """What the parameters of nearly all region layers have in common."""
    height, width = pair(output_size)
    return {"pooled_h": height, "pooled_w": width, "spatial_scale": spatial_scale}


@operator("x", "rois")
def roi_align(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = True,
    pool_mode: str = "avg", *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign: the average ("avg") or maximum ("max") of bilinear samples in each bin: (K, C, *output_size).

    sampling_ratio: samples per bin and axis, from 0 down as many as its size in pixels. aligned: see layer ROIAlign.
    """
    if pool_mode not in ("avg", "max"):
        raise BoxpressoError(f"pool_mode must be 'avg' or 'max', got {pool_mode!r}")
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "aligned": aligned}
    fields["pool_mode"] = pool_mode.upper()
    return Plan("ROIAlign", {"roi_align_param": fields}, remembers=pool_mode == "max", half=True)


@operator("x", "rois")
def roi_pool(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, *, mmcv: bool = False, layout: str = "NCHW"
) -> Plan:
    """RoIPool: the largest pixel of each bin, as in Caffe and torchvision: (K, C, *output_size). See layer ROIPooling.

    mmcv: cut the bins as mmcv's roi_pool does, which does not round to whole pixels.
    """
    parameter = {"roi_pooling_param": pooled(output_size, spatial_scale)}
    return Plan(
        "ROIPooling", parameter, {"mmcv": mmcv, "has_places": False}, remembers=False, keeps=True, half=True, last=True
    )


def roi_pool_argmax(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """roi_pool's result, and where each number of it lies in its map: int32, h W + w, or -1 for none; for roi_pool_backward."""
    call = Call(roi_pool, *roi_pool.bind(*args, **kwargs))
    layer: Any = call.layer
    own = layer.places
    places, layer.places = call.results.empty(call.top[0].shape, np.int32)
    try:
        result = call.forward(keep=True)
    finally:
        layer.places, layer.has_places = own, False
    return result, call.outwards(places)


def roi_pool_backward(grad: Any, *args: Any, argmax: Any = None, **kwargs: Any) -> dict[str, Any]:
    """The gradient of sum(grad * roi_pool(...)) as {"x": gradient}. argmax: as roi_pool_argmax has given it for the same
    arguments, else it is found again.
    """
    if argmax is None:
        return roi_pool.backward(grad, *args, **kwargs)
    call = Call(roi_pool, *roi_pool.bind(*args, **kwargs))
    layer: Any = call.layer
    own = layer.places
    layer.places, layer.has_places = call.inwards(argmax, np.int32, "argmax"), True
    try:
        return {"x": call.backward(grad, [True, False])[0]}
    finally:
        layer.places, layer.has_places = own, False


@operator("x", "rois")
def roi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0, aligned: bool = True,
    clockwise: bool = False, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign of rotated regions (K, 6): batch index, centre x and y, width, height, angle in radians. Source: mmcv."""
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio}
    fields.update(aligned=aligned, clockwise=clockwise)
    return Plan("ROIAlignRotated", {"roi_align_rotated_param": fields}, remembers=False, half=True)


@operator("x", "rois")
def riroi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, num_samples: int = 0, num_orientations: int = 8,
    clockwise: bool = False, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Rotation-invariant roi_align_rotated: the angle also turns x's channels, num_orientations of each. Source: mmcv.

    num_samples: roi_align's sampling_ratio.
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": num_samples}
    fields.update(num_orientations=num_orientations, clockwise=clockwise)
    return Plan("RiROIAlignRotated", {"riroi_align_rotated_param": fields}, remembers=False)


@operator("x", "rois", "image_info", constant=("rois", "image_info"))
def rotate_roi_pool(
    x: Any, rois: Any, image_info: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW"
) -> Plan:
    """The largest pixel in each bin of rotated regions (K, 6): batch index, centre x and y, height, width, degrees.

    image_info: (1, 3): height, width and scale of the image. Source: RRPN; see layer RotateROIPooling.
    """
    return Plan("RotateROIPooling", {"rotate_pooling_param": pooled(output_size, spatial_scale)})


@operator("x", "rois")
def ps_roi_pool(x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Position-sensitive RoIPool as torchvision has it: x (B, outputs * output_size^2, H, W) to (K, outputs, output_size,
    output_size). R-FCN's own is the layer PSROIPooling.
    """
    fields = position_sensitive(x, output_size, spatial_scale)
    return Plan("PSROIPooling", {"psroi_pooling_param": fields}, {"torchvision": True}, half=True)


@operator("x", "rois")
def ps_roi_align(
    x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, sampling_ratio: int = -1, *, layout: str = "NCHW"
) -> Plan:
    """Position-sensitive RoIAlign: x (B, outputs * output_size^2, H, W) to (K, outputs, output_size, output_size).

    sampling_ratio: as roi_align's. Source: torchvision; see layer PSROIAlign.
    """
    fields = {**position_sensitive(x, output_size, spatial_scale), "sampling_ratio": sampling_ratio}
    return Plan("PSROIAlign", {"psroi_align_param": fields}, half=True)


def position_sensitive(x: Any, output_size: Two, spatial_scale: float) -> dict[str, Any]:
    """The parameter of x's channels, bins * bins for each output."""
    bins, width = pair(output_size)
    if bins != width:
        raise BoxpressoError(f"output_size must be as high as wide, got {output_size!r}")
    return {"spatial_scale": spatial_scale, "group_size": bins, "output_dim": x.shape[1] // max(bins * bins, 1)}


@operator("x", "rois", "trans")
def deformable_psroi_pool(
    x: Any, rois: Any, trans: Any, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int,
    part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Position-sensitive pooling with bins moved by trans (K, 2 * classes, part_size, part_size), None for not moved.

    Source: MXNet's DeformablePSROIPooling; see the layer of that name.
    """
    fields = {
        "spatial_scale": spatial_scale, "output_dim": output_dim, "group_size": group_size, "pooled_size": pooled_size,
        "part_size": part_size, "sample_per_part": sample_per_part, "trans_std": trans_std, "no_trans": trans is None,
    }  # fmt: skip
    return Plan("DeformablePSROIPooling", {"deformable_psroi_pooling_param": fields})


@operator("x", "rois", constant=())
def prroi_pool(x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Precise RoI pooling: the exact average of the bilinear surface over each bin. The regions have a gradient, too.

    See layer PrROIPooling.
    """
    return Plan("PrROIPooling", {"prroi_pooling_param": pooled(output_size, spatial_scale)})


@operator("x", "rois", "offset")
def deform_roi_pool(
    x: Any, rois: Any, offset: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0,
    gamma: float = 0.1, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign with each bin moved by gamma times the region's size times its offset (K, 2, *output_size), x then y.

    offset None moves nothing. Source: mmcv; see layer DeformROIPooling.
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "gamma": gamma}
    return Plan("DeformROIPooling", {"deform_roi_pooling_param": fields}, remembers=False)


@operator("x", "rois", "offset", "mask")
def modulated_deform_roi_pool(
    x: Any, rois: Any, offset: Any, mask: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0,
    gamma: float = 0.1, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """deform_roi_pool times mask (K, 1, *output_size). See layer ModulatedDeformROIPooling."""
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "gamma": gamma}
    return Plan("ModulatedDeformROIPooling", {"deform_roi_pooling_param": fields}, remembers=False)


@operator("x", "offset", "weight", "bias", "mask", constant=())
def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any = None, stride: Two = 1, padding: Two = 0, dilation: Two = 1,
    mask: Any = None, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Deformable convolution, with a mask its second version: (B, outputs, H', W'). Source: torchvision's deform_conv2d.

    offset: (B, 2 * deformable groups * taps, H', W'), y then x of each tap; weight: (outputs, C / groups, *kernel); mask:
    (B, deformable groups * taps, H', W'). See layer DeformableConvolution.
    """
    outputs, inner, height, width = weight.shape
    fields: dict[str, Any] = {
        "num_output": outputs, "kernel_size": (height, width), "bias_term": bias is not None,
        "group": x.shape[1] // max(inner, 1), "deformable_group": offset.shape[1] // max(2 * height * width, 1),
    }  # fmt: skip
    for name, value in (("stride", stride), ("pad", padding), ("dilation", dilation)):
        fields[name] = pair(value, name)
    type = "DeformableConvolution" if mask is None else "ModulatedDeformableConvolution"
    return Plan(type, {"deformable_convolution_param": fields}, blobs=(2, 3), remembers=False)


@operator("x", constant=())
def permute(x: Any, dims: Sequence[int]) -> Plan:
    """A new array whose axis k is x's axis dims[k], as torch's permute and numpy's transpose, but contiguous."""
    order = [axis % len(x.shape) if -len(x.shape) <= axis < len(x.shape) else axis for axis in dims]
    if sorted(order) != list(range(len(x.shape))):
        raise BoxpressoError(f"dims must name each axis of shape {tuple(x.shape)} once, got {tuple(dims)}")
    return Plan("Permute", {"permute_param": {"order": order}}, {"sharing": False}, remembers=False, half=True)


roi_align_backward = roi_align.backward
roi_align_rotated_backward = roi_align_rotated.backward
riroi_align_rotated_backward = riroi_align_rotated.backward
rotate_roi_pool_backward = rotate_roi_pool.backward
ps_roi_pool_backward = ps_roi_pool.backward
ps_roi_align_backward = ps_roi_align.backward
deformable_psroi_pool_backward = deformable_psroi_pool.backward
prroi_pool_backward = prroi_pool.backward
deform_roi_pool_backward = deform_roi_pool.backward
modulated_deform_roi_pool_backward = modulated_deform_roi_pool.backward
deform_conv2d_backward = deform_conv2d.backward
permute_backward = permute.backward

OPERATORS: dict[str, Operator] = {name: value for name, value in globals().items() if isinstance(value, Operator)}
