"""PrROIPooling: the exact average of the features over each bin of each region, with a gradient for the regions too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer

SLAB = 16  # as in slab.h


class PrROIPooling(Layer, type="PrROIPooling", param="prroi_pooling_param", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the image.

    top (K, C, pooled_h, pooled_w). A region is scaled by spatial_scale, a negative side counts as 0. Each bin is the
    integral, divided by its area, of the bilinear surface through the pixels, which falls to 0 within one pixel outside
    the map. Both bottoms get a gradient (the batch index 0). A region with NaN, infinity, no area or a batch index
    outside the batch gives 0 and neither gets nor gives a gradient.
    Source: Jiang et al. 2018, Precise RoI Pooling; the integral as a product of one per axis is ours.
    """

    kernels = Kernels("prroi_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        p = self.param.prroi_pooling_param
        self.pooled, self.scale = (p.pooled_h, p.pooled_w), p.spatial_scale
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.slabs = self.diff = self.device.empty((0,), self.real)  # made by reshape

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        shape = bottom[1].shape
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 5,
            f"bottom 1, the regions, must be (K, 5): batch index, x1, y1, x2, y2; got {shape}",
        )
        self.regions, self.count = shape[0], -(-channels // SLAB)
        top[0].reshape(self.regions, channels, *self.pooled)
        if self.slabs.shape != (batch, self.count, height * width, SLAB):
            self.slabs = self.device.empty((batch, self.count, height * width, SLAB), self.real)
            self.diff = self.device.empty(self.slabs.shape, self.real)
        self.image = self.device.empty((self.regions,), np.int32)
        self.bins = self.device.empty((self.regions, 2 * sum(self.pooled) + 2), np.int32)
        weights = self.pooled[0] * height + self.pooled[1] * width
        self.weights = self.device.empty((self.regions, weights), self.real)
        self.slopes = self.device.empty((self.count, self.regions, 4), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        self.kernels.prroi_pooling_weights(
            self.regions, bottom[1].data, self.image, self.bins, self.weights, batch, height, width, *self.pooled,
            self.scale,
        )  # fmt: skip
        self.kernels.prroi_pooling_pack(batch * self.count, bottom[0].data, self.slabs, channels, height * width)
        self.kernels.prroi_pooling_forward(
            self.count * self.regions, self.slabs, self.image, self.bins, self.weights, top[0].data, self.regions, channels,
            height, width, *self.pooled,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        if propagate_down[0]:
            self.kernels.prroi_pooling_backward(
                batch * self.count, top[0].diff, self.image, self.bins, self.weights, self.diff, bottom[0].diff,
                self.regions, channels, height, width, *self.pooled,
            )  # fmt: skip
        if propagate_down[1]:
            self.kernels.prroi_pooling_slopes(
                self.count * self.regions, self.slabs, bottom[1].data, self.image, self.bins, self.weights, top[0].diff,
                self.slopes, self.regions, channels, height, width, *self.pooled, self.scale,
            )  # fmt: skip
            self.kernels.prroi_pooling_region_diff(
                5 * self.regions, self.slopes, self.image, bottom[1].diff, self.regions, self.count
            )
