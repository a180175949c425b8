"""ModulatedDeformROIPooling: DeformROIPooling times a mask (Deformable ConvNets v2)."""

from __future__ import annotations

from ...device import Blob
from .deform_roi_base import DeformPoolingLayer


class ModulatedDeformROIPooling(
    DeformPoolingLayer,
    type=("ModulatedDeformROIPooling", "ModulatedDeformRoIPool"),
    param=("modulated_deform_roi_pooling_param", "deform_roi_pooling_param"),
    bottoms=4,
    tops=1,
):
    """DeformROIPooling with a fourth bottom, the mask (K, 1, pooled_h, pooled_w), that multiplies every channel of a bin.

    The parameter is deform_roi_pooling_param, or modulated_deform_roi_pooling_param with the same fields. Gradients go to
    the features, the offsets and the mask. Source: Zhu et al. 2019; numbers as mmcv's ModulatedDeformRoIPoolPack, whose
    sigmoid is a layer of its own here.
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.HasField("modulated_deform_roi_pooling_param"):
            self.message = "modulated_deform_roi_pooling_param"
        super().setup(bottom, top)
