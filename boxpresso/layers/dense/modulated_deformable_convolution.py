"""ModulatedDeformableConvolution: DeformableConvolution with a weight for each sample (Deformable ConvNets v2)."""

from __future__ import annotations

from ...device import Blob
from ..core import Trait
from .deformable_base import DeformableLayer


class ModulatedDeformableConvolution(
    DeformableLayer,
    type="ModulatedDeformableConvolution",
    param=("modulated_deformable_convolution_param", "deformable_convolution_param", "convolution_param"),
    bottoms=3,
    tops=1,
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """DeformableConvolution with a third bottom, the mask, that multiplies the samples.

    The mask is taken as it is: the Sigmoid that the paper applies to it is a layer of its own. Gradients go to
    features, offsets, mask, weights and bias.

    Learned parameters: W (num_output, channels / group, *kernel); bias (num_output,) unless bias_term is false.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), the features.
    bottom 1
        (N, 2 * deformable_group * taps, H', W'), the offsets, y and x of each tap, as for DeformableConvolution.
    bottom 2
        (N, deformable_group * taps, H', W'), the mask: a factor for the sample of each tap.
    modulated_deformable_convolution_param
        The fields and defaults of DeformableConvolution's deformable_convolution_param.
    deformable_convolution_param
        Read in its place where modulated_deformable_convolution_param is not given.

    Returns
    -------
    top 0
        (N, num_output, H', W'), H' and W' as Convolution has them.

    Raises
    ------
    LayerError
        What DeformableConvolution refuses; a mask of another shape.

    Source
    ------
    Zhu et al. 2019. The numbers are those of torchvision's deform_conv2d.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> param = "modulated_deformable_convolution_param { num_output: 1 kernel_size: 1 deformable_group: 1 }"
    >>> features, offsets, mask = [[[[1, 2, 4]]]], [[[[0, 0, 0]], [[0.5, 0.5, 0.5]]]], [[[[1, 0.5, 0]]]]
    >>> text = f'type: "ModulatedDeformableConvolution" {param}'
    >>> run_layer(text, features, offsets, mask, params=[1, 0]).tolist()
    [[[[1.5, 1.5, 0.0]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.HasField("modulated_deformable_convolution_param"):
            self.message = "modulated_deformable_convolution_param"
        super().setup(bottom, top)
