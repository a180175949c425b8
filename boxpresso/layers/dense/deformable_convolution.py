"""DeformableConvolution: convolution whose taps are moved by learned offsets (Deformable ConvNets)."""

from __future__ import annotations

from .deformable_base import DeformableLayer


class DeformableConvolution(
    DeformableLayer,
    type="DeformableConvolution",
    param=("deformable_convolution_param", "convolution_param"),
    bottoms=2,
    tops=1,
):
    """Bottoms: features (N, C, H, W); offsets (N, 2 * deformable_group * taps, H', W'): for each deformable group and tap
    of the kernel the y, then the x, in pixels of the features.

    top (N, num_output, H', W') is Convolution's, but each tap reads a bilinear sample at its pixel plus its offset; what
    lies outside the map counts as 0, also a pixel that a sample shares with the map's border. deformable_convolution_param:
    Convolution's fields, and deformable_group: so many groups of channels have offsets of their own (4 where it is not
    given, as in unsky's, makefile's and fireae's Caffe; zhanglonghao1992's takes 1). A NaN or infinite offset samples 0.
    Gradients go to features, offsets, weights and bias. Source: Dai et al. 2017; numbers as torchvision's deform_conv2d.
    """
