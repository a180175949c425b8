"""MaskResize: bilinear interpolation of masks to the size of features (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer


class MaskResize(Layer, type="MaskResize", param="mask_resize_param", bottoms=1, tops=1):
    """Each plane of (N, C, H, W) to h x w by bilinear interpolation; mask_resize_param { output_height: h output_width: w }.

    The first pixels lie on each other: pixel y of the top is at y H / h. The last pixel's value holds for half a pixel
    beyond it, and then there is 0, which a mask that is more than doubled gets on its lower and right border.
    Source: Dai et al. 2016, Multi-task Network Cascades, and its Caffe; the gradient is that of its forward, which its own
    backward is only where a mask is made smaller.
    """

    kernels = Kernels("mask_resize.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mask_resize_param
        self.out = p.output_height, p.output_width
        self.need(min(self.out) > 0, f"output_height and output_width must be positive, got {self.out}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, *self.size = self.axes(bottom[0], 4)
        top[0].reshape(images, channels, *self.out)
        self.planes = images * channels

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.mask_resize_forward(self.planes, bottom[0].data, top[0].data, *self.size, *self.out)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.mask_resize_backward(self.planes, top[0].diff, bottom[0].diff, *self.size, *self.out)
