"""The region operators as functions of arrays: numpy's, torch's, cupy's, and of any library that speaks DLPack.

    from boxpresso import ops
    pooled = ops.roi_align(features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)
    grads = ops.roi_align_backward(grad, features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)   # {"x": ...}

The layers of `boxpresso.layers` compute them on the device of the first array, over the caller's own memory. The result is an
array of the first one's kind, dtype and device. Arrays that are not contiguous are copied first, but for torch's images in
channels_last, whose format the result has too; so are further arrays of another dtype than the computation's. Dtypes are
float32, float64, and float16 with arithmetic in float32: regions beside it are taken as float32.

Parameters that many functions share:

x: (B, C, H, W), or (B, H, W, C) with layout="NHWC", where the result is channels last as well; offsets and masks keep their
own layout. rois: (K, 5): batch index, x1, y1, x2, y2 in pixels of the image; one with NaN, infinity or a batch index outside
the batch gives 0. output_size: (height, width), or one number for both. spatial_scale: pixels of x per pixel of the image.

All raise BoxpressoError (or LayerError, which is one) for arrays and options that do not fit each other.

The memory of large results on the CPU is used again once nobody holds them; `forget()` gives it back.

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
    """RoIAlign: the average or maximum of bilinear samples in each bin of each region.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see the module.
    sampling_ratio : samples per bin and axis; 0 or less takes as many as the bin has pixels along the axis, rounded up.
    aligned : whether pixel centres are at half a pixel; see the layer ROIAlign.
    pool_mode : "avg" or "max".

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    He et al. 2017 (Mask R-CNN); see the layer ROIAlign.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0, 0, 0, 4, 4]], np.float32)
    >>> roi_align(x, rois, 2, sampling_ratio=2)[0, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
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
    """RoIPool: the largest pixel of each bin.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see the module.
    mmcv : cut the bins as mmcv's roi_pool does, which does not round them to whole pixels.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Girshick 2015 (Fast R-CNN), as in Caffe and torchvision; see the layer ROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> roi_pool(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    parameter = {"roi_pooling_param": pooled(output_size, spatial_scale)}
    return Plan(
        "ROIPooling", parameter, {"mmcv": mmcv, "has_places": False}, remembers=False, keeps=True, half=True, last=True
    )


def roi_pool_argmax(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """roi_pool's result, and where each number of it lies in its map.

    Returns
    -------
    result : (K, C, *output_size)
    argmax : int32 of the same shape: h W + w, or -1 for an empty bin; for roi_pool_backward.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> roi_pool_argmax(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[1][0, 0].tolist()
    [[5, 7], [13, 15]]
    """
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
    """The gradient of sum(grad * roi_pool(...)), as {"x": gradient}.

    Parameters
    ----------
    grad : (K, C, *output_size), followed by roi_pool's arguments.
    argmax : from roi_pool_argmax for the same arguments; without it the largest pixels are looked for again.

    Examples
    --------
    >>> import numpy as np
    >>> x, rois = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2), np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> roi_pool_backward(np.full((1, 1, 1, 1), 5, np.float32), x, rois, 1)["x"][0, 0].tolist()
    [[0.0, 0.0], [0.0, 5.0]]
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
    """RoIAlign of rotated regions.

    Parameters
    ----------
    rois : (K, 6): batch index, centre x, centre y, width, height in pixels of the image, angle in radians.
    clockwise : which way the angle turns, y pointing down.
    x, output_size, spatial_scale, layout : see the module; sampling_ratio, aligned : see `roi_align`.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    mmcv's roi_align_rotated; see the layer ROIAlignRotated.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> rois = np.array([[0, 2, 2, 2, 2, np.pi / 2]], np.float32)
    >>> roi_align_rotated(x, rois, 2, sampling_ratio=1)[0, 0].round(3).tolist()
    [[9.0, 5.0], [10.0, 6.0]]
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio}
    fields.update(aligned=aligned, clockwise=clockwise)
    return Plan("ROIAlignRotated", {"roi_align_rotated_param": fields}, remembers=False, half=True)


@operator("x", "rois")
def riroi_align_rotated(
    x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, num_samples: int = 0, num_orientations: int = 8,
    clockwise: bool = False, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Rotation-invariant roi_align_rotated: the angle also rotates x's channels among their orientations.

    Parameters
    ----------
    rois : (K, 6), as roi_align_rotated's.
    num_samples : roi_align's sampling_ratio.
    num_orientations : so many channels in a row belong together.
    clockwise : which way the angle turns.
    x, output_size, spatial_scale, layout : see the module.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Han et al. 2021 (ReDet), as mmcv's riroi_align_rotated; see the layer RiROIAlignRotated.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> rois = np.array([[0, 2, 2, 2, 2, np.pi / 2]], np.float32)
    >>> riroi_align_rotated(x, rois, 1, num_orientations=4).ravel().round(3).tolist()
    [3.0, 0.0, 1.0, 2.0]
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": num_samples}
    fields.update(num_orientations=num_orientations, clockwise=clockwise)
    return Plan("RiROIAlignRotated", {"riroi_align_rotated_param": fields}, remembers=False)


@operator("x", "rois", "image_info", constant=("rois", "image_info"))
def rotate_roi_pool(
    x: Any, rois: Any, image_info: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW"
) -> Plan:
    """The largest pixel in each bin of rotated regions.

    Parameters
    ----------
    rois : (K, 6): batch index, centre x, centre y, height, width in pixels of the image, angle in degrees.
    image_info : (1, 3): height, width and scale of the image.
    x, output_size, spatial_scale, layout : see the module.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Ma et al. 2018 (RRPN); see the layer RotateROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    >>> rois, info = np.array([[0, 3, 3, 4, 4, 0]], np.float32), np.array([[6, 6, 1]], np.float32)
    >>> rotate_roi_pool(x, rois, info, 2)[0, 0].tolist()
    [[14.0, 16.0], [26.0, 28.0]]
    """
    return Plan("RotateROIPooling", {"rotate_pooling_param": pooled(output_size, spatial_scale)})


@operator("x", "rois")
def ps_roi_pool(x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Position-sensitive RoIPool, as torchvision has it; R-FCN's own is the layer PSROIPooling.

    Parameters
    ----------
    x : (B, outputs * output_size^2, H, W): each bin has channels of its own.
    output_size : one number.
    rois, spatial_scale, layout : see the module.

    Returns
    -------
    (K, outputs, output_size, output_size)

    Source
    ------
    Dai et al. 2016 (R-FCN), in torchvision's form.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> ps_roi_pool(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    fields = position_sensitive(x, output_size, spatial_scale)
    return Plan("PSROIPooling", {"psroi_pooling_param": fields}, {"torchvision": True}, half=True)


@operator("x", "rois")
def ps_roi_align(
    x: Any, rois: Any, output_size: int, spatial_scale: float = 1.0, sampling_ratio: int = -1, *, layout: str = "NCHW"
) -> Plan:
    """Position-sensitive RoIAlign.

    Parameters
    ----------
    x : (B, outputs * output_size^2, H, W): each bin has channels of its own.
    output_size : one number.
    sampling_ratio : as `roi_align`'s.
    rois, spatial_scale, layout : see the module.

    Returns
    -------
    (K, outputs, output_size, output_size)

    Source
    ------
    torchvision's ps_roi_align; see the layer PSROIAlign.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> ps_roi_align(x, np.array([[0, 0, 0, 3, 3]], np.float32), 2)[0, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
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
    """Position-sensitive pooling with bins that move.

    Parameters
    ----------
    x : (B, output_dim * group_size^2, H, W)
    trans : (K, 2 * classes, part_size, part_size), how far bins move; None moves none.
    pooled_size : bins along each axis. part_size : as trans's; 0 takes pooled_size.
    sample_per_part : samples per bin and axis. trans_std : trans is multiplied by it and by the region's size.
    rois, spatial_scale, layout : see the module.

    Returns
    -------
    (K, output_dim, pooled_size, pooled_size)

    Source
    ------
    Dai et al. 2017, as MXNet's DeformablePSROIPooling; see the layer of that name.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4, 4, 4), np.float32) * np.arange(4, dtype=np.float32)[:, None, None]
    >>> rois = np.array([[0, 0, 0, 3, 3]], np.float32)
    >>> deformable_psroi_pool(x, rois, None, 1.0, 1, 2, 2)[0, 0].tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    fields = {
        "spatial_scale": spatial_scale, "output_dim": output_dim, "group_size": group_size, "pooled_size": pooled_size,
        "part_size": part_size, "sample_per_part": sample_per_part, "trans_std": trans_std, "no_trans": trans is None,
    }  # fmt: skip
    return Plan("DeformablePSROIPooling", {"deformable_psroi_pooling_param": fields})


@operator("x", "rois", constant=())
def prroi_pool(x: Any, rois: Any, output_size: Two, spatial_scale: float = 1.0, *, layout: str = "NCHW") -> Plan:
    """Precise RoI pooling: the exact average of the bilinear surface over each bin. The regions have a gradient, too.

    Parameters
    ----------
    x, rois, output_size, spatial_scale, layout : see the module.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Jiang et al. 2018 (IoU-Net); see the layer PrROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> prroi_pool(x, np.array([[0, 0, 0, 2, 2]], np.float32), 1).item()
    5.0
    """
    return Plan("PrROIPooling", {"prroi_pooling_param": pooled(output_size, spatial_scale)})


@operator("x", "rois", "offset")
def deform_roi_pool(
    x: Any, rois: Any, offset: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0,
    gamma: float = 0.1, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """RoIAlign with bins that move: each by gamma times the region's size times its offset.

    Parameters
    ----------
    offset : (K, 2, *output_size), x then y; None moves none.
    gamma : the factor of offsets.
    x, rois, output_size, spatial_scale, layout : see the module; sampling_ratio : see `roi_align`.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Dai et al. 2017, as mmcv's deform_roi_pool; see the layer DeformROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.tile(np.arange(8, dtype=np.float32), (8, 1))[None, None]
    >>> rois, right = np.array([[0, 0, 0, 4, 4]], np.float32), np.zeros((1, 2, 1, 1), np.float32)
    >>> right[0, 0] = 5  # by 0.1 * 4 * 5 = 2 pixels
    >>> deform_roi_pool(x, rois, None, 1).item(), deform_roi_pool(x, rois, right, 1).item()
    (1.5, 3.5)
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "gamma": gamma}
    return Plan("DeformROIPooling", {"deform_roi_pooling_param": fields}, remembers=False)


@operator("x", "rois", "offset", "mask")
def modulated_deform_roi_pool(
    x: Any, rois: Any, offset: Any, mask: Any, output_size: Two, spatial_scale: float = 1.0, sampling_ratio: int = 0,
    gamma: float = 0.1, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """deform_roi_pool, each bin times its number in a mask.

    Parameters
    ----------
    mask : (K, 1, *output_size)
    The others : see `deform_roi_pool`; here the offset is needed.

    Returns
    -------
    (K, C, *output_size)

    Source
    ------
    Zhu et al. 2019 (Deformable ConvNets v2); see the layer ModulatedDeformROIPooling.

    Examples
    --------
    >>> import numpy as np
    >>> x, rois = np.ones((1, 1, 4, 4), np.float32), np.array([[0, 0, 0, 4, 4]], np.float32)
    >>> offset, mask = np.zeros((1, 2, 1, 1), np.float32), np.full((1, 1, 1, 1), 0.25, np.float32)
    >>> modulated_deform_roi_pool(x, rois, offset, mask, 1).item()
    0.25
    """
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "gamma": gamma}
    return Plan("ModulatedDeformROIPooling", {"deform_roi_pooling_param": fields}, remembers=False)


@operator("x", "offset", "weight", "bias", "mask", constant=())
def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any = None, stride: Two = 1, padding: Two = 0, dilation: Two = 1,
    mask: Any = None, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Deformable convolution, with a mask its second version.

    Parameters
    ----------
    x, layout : see the module.
    offset : (B, 2 * deformable groups * taps, H', W'), y then x of each tap of the kernel.
    weight : (outputs, C / groups, *kernel); bias : (outputs,) or None.
    stride, padding, dilation : (height, width), or one number for both.
    mask : (B, deformable groups * taps, H', W'), what each tap is multiplied by, or None.

    Returns
    -------
    (B, outputs, H', W')

    Source
    ------
    Dai et al. 2017 and Zhu et al. 2019, as torchvision's deform_conv2d; see the layer DeformableConvolution.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> offset, weight = np.full((1, 2, 3, 3), 0.5, np.float32), np.ones((1, 1, 1, 1), np.float32)
    >>> deform_conv2d(x, offset, weight)[0, 0].tolist()
    [[2.0, 3.0, 1.75], [5.0, 6.0, 3.25], [3.25, 3.75, 2.0]]
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
    """A new contiguous array whose axis k is x's axis dims[k], as torch's permute and numpy's transpose have it.

    Raises
    ------
    BoxpressoError: dims that do not name each axis once.

    Examples
    --------
    >>> import numpy as np
    >>> permute(np.zeros((2, 3, 5), np.float32), (2, 0, -2)).shape
    (5, 2, 3)
    """
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

OPERATORS: dict[str, Operator[...]] = {name: value for name, value in globals().items() if isinstance(value, Operator)}
