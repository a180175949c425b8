"""ModulatedDeformROIPooling: DeformROIPooling times a mask (Deformable ConvNets v2)."""

from __future__ import annotations

from ...device import Blob
from ..core import Trait
from .deform_roi_base import DeformPoolingLayer


class ModulatedDeformROIPooling(
    DeformPoolingLayer,
    type=("ModulatedDeformROIPooling", "ModulatedDeformRoIPool"),
    param=("modulated_deform_roi_pooling_param", "deform_roi_pooling_param"),
    bottoms=4,
    tops=1,
    traits=Trait.REGIONS,
):
    """DeformROIPooling times a mask, which multiplies every channel of a bin.

    Regions, offsets and samples are as in DeformROIPooling. Gradients go to the features, the offsets and the mask, not
    to the regions.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    bottom 2
        (K, 2, pooled_h, pooled_w), offsets, x then y; or as many numbers for each region in other axes.
    bottom 3
        (K, 1, pooled_h, pooled_w), the mask; or as many numbers for each region in other axes.
    deform_roi_pooling_param
        `pooled_h`, `pooled_w` (required), `spatial_scale` (1), `sampling_ratio` (0) and `gamma` (0.1), as for
        DeformROIPooling.
    modulated_deform_roi_pooling_param
        The same fields; it is read instead of deform_roi_pooling_param where it is given.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average of each bin times its mask.

    Raises
    ------
    LayerError
        As DeformROIPooling.

    Source
    ------
    Zhu et al. 2019, Deformable ConvNets v2. Numbers as mmcv's ModulatedDeformRoIPoolPack, whose sigmoid is a separate
    layer here.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "ModulatedDeformROIPooling"
    ...     deform_roi_pooling_param { pooled_h: 1 pooled_w: 1 sampling_ratio: 1 gamma: 0.5 }'''
    >>> features, region, offset = np.arange(16).reshape(1, 1, 4, 4), [[0, 0, 0, 2, 2]], [[[[1]], [[0]]]]
    >>> run_layer(layer, features, region, offset, [[[[0.5]]]]).tolist()
    [[[[1.75]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.HasField("modulated_deform_roi_pooling_param"):
            self.message = "modulated_deform_roi_pooling_param"
        super().setup(bottom, top)
