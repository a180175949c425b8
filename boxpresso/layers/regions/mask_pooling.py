"""MaskPooling: the features of each region times its mask (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer


class MaskPooling(Layer, type="MaskPooling", bottoms=2, tops=1):
    """Multiplies the features of each region by its mask: top[n, c, y, x] = features[n, c, y, x] * mask[n, 0, y, x].

    Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), features.
    bottom 1
        (N, 1, H, W), masks.

    Returns
    -------
    top 0
        (N, C, H, W), each feature times the mask at its place.

    Raises
    ------
    LayerError
        For masks that are not (N, 1, H, W) for features of (N, C, H, W).

    Source
    ------
    Dai et al. 2016, Multi-task Network Cascades, and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MaskPooling"', [[[[1, 2], [3, 4]]]], [[[[1, 0], [0.5, 1]]]]).tolist()
    [[[[1.0, 0.0], [1.5, 4.0]]]]
    """

    kernels = Kernels("mask_pooling.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        wanted = images, 1, height, width
        self.need(
            bottom[1].shape == wanted,
            f"bottom 1, the masks, must be {wanted} for features of {bottom[0].shape}, got {bottom[1].shape}",
        )
        top[0].reshape(*bottom[0].shape)
        self.size = channels, height * width

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        planes = bottom[0].shape[0] * self.size[0]
        self.kernels.mask_pooling_forward(planes, bottom[0].data, bottom[1].data, top[0].data, *self.size)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:  # the gradient is masked as the features were
            planes = bottom[0].shape[0] * self.size[0]
            self.kernels.mask_pooling_forward(planes, top[0].diff, bottom[1].data, bottom[0].diff, *self.size)
        if propagate_down[1]:
            images = bottom[0].shape[0]
            self.kernels.mask_pooling_masks(images, bottom[0].data, top[0].diff, bottom[1].diff, *self.size)
