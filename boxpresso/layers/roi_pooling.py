"""ROIPooling: the largest feature in each bin of each region (Fast R-CNN)."""

from __future__ import annotations

import numpy as np

from .core import Kernels, Layer
from .core.kernel import real_of

SLAB = 16  # as in slab.h


class ROIPooling(Layer, type="ROIPooling", bottoms=2, tops=(1, 2)):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2, ends included, pixels of the image.

    top (K, C, pooled_h, pooled_w). A region is scaled by spatial_scale and rounded to whole pixels, halves away from
    zero; one whose end comes before its start is 1 x 1. Its bins are cut at floor(p L / P) and ceil((p + 1) L / P),
    clipped to the map, and may share pixels; an empty one gives 0. The gradient goes to the pixel that was the largest,
    the first of equals; a second top, on request, says which: h W + w, or -1 for none. pad_ratio widens a region on
    each side by that part of its size (MS-CNN). A region with NaN, infinity or a batch index outside the batch gives 0
    and gets no gradient. Source: Girshick 2015 and its Caffe, but the gradient goes to the largest pixel also where
    that Caffe drops it (malformed regions, edges past the region).

    Forward keeps no places: detection needs none, and backward, which walks the same bins, finds them again.
    """

    kernels = Kernels("roi_pooling.cu")
    mmcv = False  # whether to cut bins as mmcv does

    def setup(self, bottom, top) -> None:
        self.real = real_of(self.dtype)
        p = self.param.roi_pooling_param
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.pad_ratio = p.spatial_scale, p.pad_ratio
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.slabs = self.device.empty((0,), self.real)  # made by reshape

    def reshape(self, bottom, top) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        shape = bottom[1].shape
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 5,
            f"bottom 1, the regions, must be (K, 5): batch index, x1, y1, x2, y2; got {shape}",
        )
        self.regions, self.count = shape[0], -(-channels // SLAB)
        top[0].reshape(self.regions, channels, *self.pooled)
        if len(top) > 1:
            top[1].reshape(*top[0].shape)
        if self.slabs.shape != (batch, self.count, height * width, SLAB):
            self.slabs = self.device.empty((batch, self.count, height * width, SLAB), self.real)
            self.diff = self.device.empty(self.slabs.shape, self.real)
        self.image = self.device.empty((self.regions,), np.int32)
        self.bins = self.device.empty((self.regions, 2 * sum(self.pooled) + 2), np.int32)

    def forward(self, bottom, top) -> None:
        batch, channels, height, width = bottom[0].shape
        self.kernels.roi_pooling_bins(
            self.regions, bottom[1].data, self.image, self.bins, batch, height, width, *self.pooled, self.scale,
            self.pad_ratio, self.mmcv,
        )  # fmt: skip
        self.kernels.roi_pooling_pack(batch * self.count, bottom[0].data, self.slabs, channels, height * width)
        for places, made in enumerate(top):
            self.kernels.roi_pooling_forward(
                self.count * self.regions, self.slabs, self.image, self.bins, made.data, places, self.regions, channels,
                height * width, width, *self.pooled,
            )  # fmt: skip

    def backward(self, top, propagate_down, bottom) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            batch, channels, height, width = bottom[0].shape
            self.kernels.roi_pooling_backward(
                batch * self.count, self.slabs, self.image, self.bins, top[0].diff, self.diff, bottom[0].diff,
                self.regions, channels, height * width, width, *self.pooled,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
