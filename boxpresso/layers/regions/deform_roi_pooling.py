"""DeformROIPooling: ROIAlign whose bins are moved by learned offsets (Deformable ConvNets)."""

from __future__ import annotations

from .deform_roi_base import DeformPoolingLayer


class DeformROIPooling(
    DeformPoolingLayer,
    type=("DeformROIPooling", "DeformRoIPool"),
    param="deform_roi_pooling_param",
    bottoms=(2, 3),
    tops=1,
):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the image; offsets
    (K, 2, pooled_h, pooled_w), x then y, or as many numbers in other axes.

    top (K, C, pooled_h, pooled_w). deform_roi_pooling_param: each bin is that of ROIAlign with `aligned`, moved by gamma
    times the size of the region times its offset; see there for spatial_scale, sampling_ratio and what lies outside.
    Without offsets it is ROIAlign. Gradients go to the features and to the offsets; that of the offsets is the derivative
    inside the map, but in the strip of one pixel around it what the published kernels give. A region with NaN, infinity or
    a batch index outside the batch gives 0; one whose bins would take more than 2^20 samples is an error; one of negative
    size gives 0, or with a fixed sampling_ratio samples backwards.
    Source: Dai et al. 2017; numbers as mmcv's deform_roi_pool.
    """
