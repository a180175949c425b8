"""The region operators as functions of arrays: numpy's, torch's, cupy's, and of any library that speaks DLPack.

    from boxpresso import ops
    pooled = ops.roi_align(features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)
    grads = ops.roi_align_backward(grad, features, rois, (7, 7), spatial_scale=1 / 16, sampling_ratio=2)   # {"x": ...}

The layers of `boxpresso.layers` compute them on the device of the first array, over the caller's own memory. The result is an
array of the first one's kind, dtype and device. Arrays that are not contiguous are copied first, but for torch's images in
channels_last, whose format the result has too; so are further arrays of another dtype than the computation's. Dtypes are
float32, float64, and float16 and bfloat16 (torch's, or ml_dtypes' under numpy) with arithmetic in float32: regions beside these
are taken as float32, and gradients of all inputs are of the first one's dtype. Arrays may be empty: docs/operators.md says what
they give.

Parameters that many functions share:

x: (B, C, H, W), or (B, H, W, C) with layout="NHWC", where the result is channels last as well; offsets and masks keep their
own layout. rois: (K, 5): batch index, x1, y1, x2, y2 in pixels of the image, or a list of arrays of boxes (K, 4), one for
each image; a region with NaN, infinity or a batch index outside the batch gives 0. output_size: (height, width), or one number
for both. spatial_scale: pixels of x per pixel of the image.

All raise BoxpressoError (or LayerError, which is one) for arrays and options that do not fit each other.

The memory of large results on the CPU is used again once nobody holds them; `forget()` gives it back.

Each `NAME_backward(grad, ...)` takes the gradient of the result and NAME's arguments and returns the gradients by name.
`boxpresso.torch` has the same functions for torch's autograd.
"""

from __future__ import annotations

from .arrays import reproducible as reproducible
from .attention import multi_scale_deformable_attn
from .axes import permute
from .deformable import deform_conv2d, deform_roi_pool, deformable_psroi_pool, modulated_deform_roi_pool
from .operator import Operator, forget
from .pyramid import multi_scale_roi_align, multi_scale_roi_align_backward
from .regions import (
    prroi_pool,
    ps_roi_align,
    ps_roi_pool,
    riroi_align_rotated,
    roi_align,
    roi_align_argmax,
    roi_align_rotated,
    roi_pool,
    roi_pool_argmax,
    roi_pool_backward,
    rotate_roi_pool,
)
from .sampling import carafe, corner_pool, correlation, crop_and_resize, paste_masks, point_sample
from .soft_suppression import box_iou_rotated, matrix_nms, polygon_iou, soft_nms
from .suppression import batched_nms, batched_nms_rotated, nms, nms_rotated

__all__ = [
    "batched_nms",
    "batched_nms_rotated",
    "box_iou_rotated",
    "carafe",
    "carafe_backward",
    "corner_pool",
    "corner_pool_backward",
    "correlation",
    "correlation_backward",
    "crop_and_resize",
    "crop_and_resize_backward",
    "deform_conv2d",
    "deform_conv2d_backward",
    "deform_roi_pool",
    "deform_roi_pool_backward",
    "deformable_psroi_pool",
    "deformable_psroi_pool_backward",
    "forget",
    "matrix_nms",
    "modulated_deform_roi_pool",
    "modulated_deform_roi_pool_backward",
    "multi_scale_deformable_attn",
    "multi_scale_deformable_attn_backward",
    "multi_scale_roi_align",
    "multi_scale_roi_align_backward",
    "nms",
    "nms_rotated",
    "paste_masks",
    "permute",
    "permute_backward",
    "point_sample",
    "point_sample_backward",
    "polygon_iou",
    "prroi_pool",
    "prroi_pool_backward",
    "ps_roi_align",
    "ps_roi_align_backward",
    "ps_roi_pool",
    "ps_roi_pool_backward",
    "riroi_align_rotated",
    "riroi_align_rotated_backward",
    "roi_align",
    "roi_align_argmax",
    "roi_align_backward",
    "roi_align_rotated",
    "roi_align_rotated_backward",
    "roi_pool",
    "roi_pool_argmax",
    "roi_pool_backward",
    "rotate_roi_pool",
    "rotate_roi_pool_backward",
    "soft_nms",
]  # fmt: skip

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
multi_scale_deformable_attn_backward = multi_scale_deformable_attn.backward

carafe_backward = carafe.backward
corner_pool_backward = corner_pool.backward
correlation_backward = correlation.backward
crop_and_resize_backward = crop_and_resize.backward
point_sample_backward = point_sample.backward

OPERATORS: dict[str, Operator[...]] = {name: value for name, value in globals().items() if isinstance(value, Operator)}
