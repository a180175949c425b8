"""Operators that sample where offsets say: deformable pooling of regions, deformable convolution."""

from __future__ import annotations

from typing import Any

from ..proto.errors import BoxpressoError
from .operator import Plan, operator
from .parameters import Two, pair, pooled


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
    rois, spatial_scale, layout : see boxpresso.ops.

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
    return Plan("DeformablePSROIPooling", {"deformable_psroi_pooling_param": fields}, {"least_outputs": 0})


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
    x, rois, output_size, spatial_scale, layout : see boxpresso.ops; sampling_ratio : see `roi_align`.

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


@operator("x", "rois", "offset", "mask", linear=("x", "mask"))
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
    for name, array in (("offset", offset), ("mask", mask)):
        if array is None:
            raise BoxpressoError(f"{name} must be an array, got None")
    fields = {**pooled(output_size, spatial_scale), "sampling_ratio": sampling_ratio, "gamma": gamma}
    return Plan("ModulatedDeformROIPooling", {"deform_roi_pooling_param": fields}, remembers=False)


@operator("x", "offset", "weight", "bias", "mask", constant=(), linear=("x", "weight", "mask"))
def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any = None, stride: Two = 1, padding: Two = 0, dilation: Two = 1,
    mask: Any = None, *, layout: str = "NCHW",
) -> Plan:  # fmt: skip
    """Deformable convolution, with a mask its second version.

    Parameters
    ----------
    x, layout : see boxpresso.ops.
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
    for name, array in (("offset", offset), ("weight", weight)):
        if array is None or len(array.shape) != 4:
            raise BoxpressoError(f"{name} must have 4 axes, got {None if array is None else tuple(array.shape)}")
    outputs, inner, height, width = weight.shape
    fields: dict[str, Any] = {
        "num_output": outputs, "kernel_size": (height, width), "bias_term": bias is not None,
        "group": x.shape[1] // inner if inner else 1, "deformable_group": offset.shape[1] // max(2 * height * width, 1),
    }  # fmt: skip
    for name, value in (("stride", stride), ("pad", padding), ("dilation", dilation)):
        fields[name] = pair(value, "padding" if name == "pad" else name)
    type = "DeformableConvolution" if mask is None else "ModulatedDeformableConvolution"
    return Plan(type, {"deformable_convolution_param": fields}, blobs=(2, 3), remembers=False)
