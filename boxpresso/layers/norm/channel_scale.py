"""ChannelScale: features times a number of their own, as normalisation took it from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class ChannelScale(Layer, type="ChannelScale", param="channel_scale_param", bottoms=2, tops=1):
    """top = bottom 0 * bottom 1, whose numbers stand for all channels of a place.

    Behind Normalize with a second top, which gives the norms, it makes the features as long as they were.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    bottom 1
        A number for each image and place: N times the places, in any shape that begins with N.
    channel_scale_param
        `do_forward` (true): without it the top is bottom 0. `do_backward_feature` (true): without it the gradient of
        bottom 0 is the top's. `do_backward_scale` (true): without it that of bottom 1 is 0.

    Returns
    -------
    top 0
        The shape of bottom 0.

    Raises
    ------
    LayerError
        For bottoms of other shapes, and for `global_scale`, a learned mean of the norms, which is not supported.

    Source
    ------
    happynear/caffe-windows.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ChannelScale"', [[1, 2], [3, 4]], [10, 100]).tolist()
    [[10.0, 20.0], [300.0, 400.0]]
    """

    kernels = Kernels("channel_scale.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.options = p = self.param.channel_scale_param
        self.need(not p.global_scale, "channel_scale_param: global_scale is not supported; remove it")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, numbers = bottom[0].shape, bottom[1].shape
        self.need(len(shape) > 1, f"bottom 0 must be (N, C, ...), got shape {shape}")
        self.channels, self.inner = shape[1], prod(shape[2:])
        self.need(
            numbers[:1] == shape[:1] and bottom[1].count == shape[0] * self.inner,
            f"bottom 1 must have {self.inner} numbers for each of {shape[0]} images, got shape {numbers}",
        )
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.options.do_forward:
            x, scale = bottom[0].data, bottom[1].data
            self.kernels.channel_scale(top[0].count, x, scale, top[0].data, self.channels, self.inner)
        else:
            top[0].data[...] = bottom[0].data

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diff, sizes = top[0].diff, (self.channels, self.inner)
        if propagate_down[0] and self.options.do_backward_feature:
            self.kernels.channel_scale(top[0].count, diff, bottom[1].data, bottom[0].diff, *sizes)
        elif propagate_down[0]:
            bottom[0].diff[...] = diff
        if propagate_down[1] and self.options.do_backward_scale:
            self.kernels.channel_scale_diff(bottom[1].count, bottom[0].data, diff, bottom[1].diff, *sizes)
        elif propagate_down[1]:
            bottom[1].diff.fill(0)
