"""DepthwiseConvolution: a Convolution with one group for each channel, as forks of Caffe for MobileNet have it."""

from __future__ import annotations

from ..core import Trait
from .convolution_base import ConvolutionLayer


class DepthwiseConvolution(
    ConvolutionLayer,
    type=("DepthwiseConvolution", "ConvolutionDepthwise"),
    param="convolution_param",
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """A Convolution with one group for each channel: each channel is filtered on its own.

    `num_output` is the number of channels, or a multiple of it; then each channel has that many filters. Several
    bottoms of one shape go through the same weights to as many tops.

    Learned parameters: W (num_output, 1, *kernel); bias (num_output,) unless bias_term is false.

    Parameters
    ----------
    bottom 0
        (N, C, *size), the channels at `axis`. Further bottoms have the same shape.
    convolution_param
        As for Convolution: `num_output` and `kernel_size` (required), `pad` (0), `stride` (1), `dilation` (1),
        `bias_term` (true), `axis` (1), `weight_filler` and `bias_filler` (constant 0). `group` may be left out; 1 and
        the number of channels mean the same. Another one that divides them makes a Convolution of that many groups, as
        the forks' CPU code does.

    Returns
    -------
    top 0
        (N, num_output, *places), as for Convolution. One top for each bottom.

    Raises
    ------
    LayerError
        What Convolution refuses; a group that does not divide the number of channels; a num_output that is not a multiple of
        the number of groups.

    Source
    ------
    Forks of Caffe for MobileNet, under either of the two names.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DepthwiseConvolution" convolution_param { num_output: 2 kernel_size: 2 }'
    >>> run_layer(text, [[[1, 2, 3], [4, 5, 6]]], params=[[1, 1, 1, -1], [0, 0]]).tolist()
    [[[3.0, 5.0], [-1.0, -1.0]]]
    """

    def groups(self) -> int:
        p = self.param.convolution_param
        return int(p.group) if p.HasField("group") and p.group > 1 else self.channels
