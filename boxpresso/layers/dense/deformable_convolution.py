"""DeformableConvolution: convolution whose taps are moved by learned offsets (Deformable ConvNets)."""

from __future__ import annotations

from ..core import Trait
from .deformable_base import DeformableLayer


class DeformableConvolution(
    DeformableLayer,
    type="DeformableConvolution",
    param=("deformable_convolution_param", "convolution_param"),
    bottoms=2,
    tops=1,
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """Convolution whose taps are moved by offsets: each tap reads a bilinear sample at its pixel plus its offset.

    What lies outside the features counts as 0. So does the outer neighbour in a sample between a pixel of the border
    and the outside. A NaN or infinite offset samples 0. Gradients go to features, offsets, weights and bias.

    Learned parameters: W (num_output, channels / group, *kernel); bias (num_output,) unless bias_term is false.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), the features.
    bottom 1
        (N, 2 * deformable_group * taps, H', W'), the offsets: for each deformable group and each tap of the kernel the
        y, then the x, in pixels of the features. (H', W') is the spatial shape of the top.
    deformable_convolution_param
        Convolution's fields: `num_output` and `kernel_size` (required), `pad` (0), `stride` (1), `dilation` (1),
        `group` (1), `bias_term` (true), `axis` (1; nothing else is possible), `weight_filler` and `bias_filler`
        (constant 0). `deformable_group` (4): so many groups of channels have offsets of their own. The default is 4 as
        in unsky's, makefile's and fireae's Caffe; it is 1 in zhanglonghao1992's.

    Returns
    -------
    top 0
        (N, num_output, H', W'), H' and W' as Convolution has them.

    Raises
    ------
    LayerError
        What Convolution refuses of its parameters; features that are not of four axes; another axis than 1; channels
        that cannot be divided into the deformable groups; offsets of another shape; an image whose columns would have
        2^31 elements or more.

    Source
    ------
    Dai et al. 2017. The numbers are those of torchvision's deform_conv2d.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> param = "deformable_convolution_param { num_output: 1 kernel_size: 1 deformable_group: 1 }"
    >>> features, offsets = [[[[1, 2, 4]]]], [[[[0, 0, 0]], [[0.5, 0.5, 0.5]]]]
    >>> run_layer(f'type: "DeformableConvolution" {param}', features, offsets, params=[1, 0]).tolist()
    [[[[1.5, 3.0, 2.0]]]]
    """
