"""ModulatedDeformableConvolution: DeformableConvolution with a weight for each sample (Deformable ConvNets v2)."""

from __future__ import annotations

from ...device import Blob
from .deformable_base import DeformableLayer


class ModulatedDeformableConvolution(
    DeformableLayer,
    type="ModulatedDeformableConvolution",
    param=("modulated_deformable_convolution_param", "deformable_convolution_param", "convolution_param"),
    bottoms=3,
    tops=1,
):
    """DeformableConvolution with a third bottom, the mask (N, deformable_group * taps, H', W'), that multiplies the samples.

    The parameter is modulated_deformable_convolution_param, or deformable_convolution_param. The mask is taken as it is: a
    Sigmoid, as the paper has it, is a layer of its own. Gradients go to the mask as well. Source: Zhu et al. 2019; numbers
    as torchvision's deform_conv2d.
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.HasField("modulated_deformable_convolution_param"):
            self.message = "modulated_deformable_convolution_param"
        super().setup(bottom, top)
