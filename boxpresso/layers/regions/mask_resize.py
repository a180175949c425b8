"""MaskResize: bilinear interpolation of masks to the size of features (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from .region_base import RegionLayer


class MaskResize(RegionLayer, type="MaskResize", param="mask_resize_param", bottoms=1, tops=1):
    """Resizes each plane to h x w by bilinear interpolation: pixel (y, x) of the top is at (y H / h, x W / w).

    So the first pixels lie on each other. The value of the last pixel holds for half a pixel beyond it; from there on
    the result is 0, which a mask that is more than doubled gets on its lower and right borders.

    The gradient is that of the forward pass.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), masks.
    mask_resize_param
        `output_height`, `output_width` (required): h and w.

    Returns
    -------
    top 0
        (N, C, h, w), the resized masks.

    Raises
    ------
    LayerError
        For a size of 0, or a bottom that has not four axes.

    Source
    ------
    Dai et al. 2016, Multi-task Network Cascades, and its Caffe, whose backward pass is the gradient of its forward pass
    only where a mask is made smaller.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "MaskResize" mask_resize_param { output_height: 2 output_width: 4 }'
    >>> run_layer(layer, [[[[0, 1], [2, 3]]]]).tolist()
    [[[[0.0, 0.5, 1.0, 1.0], [2.0, 2.5, 3.0, 3.0]]]]
    """

    kernels = Kernels("mask_resize.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mask_resize_param
        self.out = p.output_height, p.output_width
        self.need(min(self.out) > 0, f"output_height and output_width must be positive, got {self.out}")
        self.setup_types()

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, *size = self.axes(bottom[0], 4)
        self.size = size[0], size[1]
        top[0].reshape(images, channels, *self.out)
        self.planes = images * channels

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        given = self.widened(bottom[0].data)
        with self.rounded(top[0].data) as resized:
            self.kernels.mask_resize_forward(self.planes, given, resized, *self.size, *self.out)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            given = self.widened(top[0].diff)
            with self.rounded(bottom[0].diff) as sums:
                self.kernels.mask_resize_backward(self.planes, given, sums, *self.size, *self.out)
