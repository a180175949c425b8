"""ROIPooling: the largest feature in each bin of each region (Fast R-CNN)."""

from __future__ import annotations

import numpy as np

from .core import Kernels, Layer

TILE = 16  # as in channels.h


class ROIPooling(Layer, type="ROIPooling", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2, ends included, pixels of the image.

    top (K, C, pooled_h, pooled_w). A region is scaled by spatial_scale and rounded to whole pixels, halves away from
    zero; one whose end comes before its start is 1 x 1. Its bins are cut at floor(p L / P) and ceil((p + 1) L / P),
    clipped to the map, and may share pixels; an empty one gives 0. The gradient goes to the pixel that was the largest,
    the first of equals. pad_ratio widens a region on each side by that part of its size (MS-CNN). A region with NaN,
    infinity or a batch index outside the batch gives 0 and gets no gradient. Source: Girshick 2015 and its Caffe, but
    the gradient follows the recorded place also where that Caffe drops it (malformed regions, edges past the region).
    """

    kernels = Kernels("roi_pooling.cu")

    def setup(self, bottom, top) -> None:
        p = self.param.roi_pooling_param
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.pad_ratio = p.spatial_scale, p.pad_ratio
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.turned = self.argmax = self.device.empty((0,), self.dtype)  # made by reshape

    def reshape(self, bottom, top) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        shape = bottom[1].shape
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 5,
            f"bottom 1, the regions, must be (K, 5): batch index, x1, y1, x2, y2; got {shape}",
        )
        self.regions, self.padded = shape[0], -(-channels // TILE) * TILE
        self.tiles = -(-height * width // TILE)
        top[0].reshape(self.regions, channels, *self.pooled)
        if self.turned.shape != (batch, height * width, self.padded):
            self.turned = self.device.empty((batch, height * width, self.padded), self.dtype)
        if self.argmax.shape != top[0].shape:
            self.argmax = self.device.empty(top[0].shape, np.int32)
            self.image = self.device.empty((self.regions,), np.int32)
            self.edges = self.device.empty((self.regions, 2 * sum(self.pooled)), np.int32)

    def forward(self, bottom, top) -> None:
        batch, channels, height, width = bottom[0].shape
        self.kernels.roi_pooling_bins(
            self.regions, bottom[1].data, self.image, self.edges, batch, height, width, *self.pooled, self.scale,
            self.pad_ratio,
        )  # fmt: skip
        self.kernels.roi_pooling_turn(
            batch * self.tiles, bottom[0].data, self.turned, channels, self.padded, height * width, self.tiles
        )
        self.kernels.roi_pooling_forward(
            self.regions, self.turned, self.image, self.edges, top[0].data, self.argmax, channels, self.padded, height,
            width, *self.pooled,
        )  # fmt: skip

    def backward(self, top, propagate_down, bottom) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            batch, channels, height, width = bottom[0].shape
            self.kernels.roi_pooling_backward(
                batch * channels, top[0].diff, self.argmax, self.image, bottom[0].diff, self.regions, channels,
                height * width, self.pooled[0] * self.pooled[1],
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
