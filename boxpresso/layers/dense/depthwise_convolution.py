"""DepthwiseConvolution: a Convolution with one group for each channel, as forks of Caffe for MobileNet have it."""

from __future__ import annotations

from .convolution_base import ConvolutionLayer


class DepthwiseConvolution(
    ConvolutionLayer,
    type=("DepthwiseConvolution", "ConvolutionDepthwise"),
    param="convolution_param",
    bottoms=(1, None),
    tops=(1, None),
):
    """Each channel is filtered on its own; num_output is the channels, or a multiple with that many filters for each.

    convolution_param as for Convolution; group may be left out. Parameters: W (num_output, 1, *kernel), bias
    (num_output,).
    """

    def groups(self) -> int:
        p = self.param.convolution_param
        self.need(
            not p.HasField("group") or p.group in (1, self.channels),
            f"group {p.group} is given, but a depthwise convolution has one for each of the {self.channels} channels",
        )
        return self.channels
