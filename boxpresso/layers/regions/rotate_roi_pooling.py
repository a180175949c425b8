"""RotateROIPooling: the largest feature inside each rotated bin of each region (RRPN)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer

SLAB = 16  # as in slab.h


class RotateROIPooling(Layer, type="RotateROIPooling", param="rotate_pooling_param", bottoms=3, tops=(1, 2)):
    """Bottoms: features (B, C, H, W); regions (K, 6): batch index, x and y of the centre, height, width, pixels of the image,
    angle in degrees, counter-clockwise; im_info: (height, width, scale) of the image in pixels, for all or for each.

    top (K, C, pooled_h, pooled_w). A region is scaled by spatial_scale and divided into bins along its own sides; a bin
    has the pixels of the map whose middle lies in it and in the image. Their largest value is the bin's, at least 0. The
    gradient goes to the pixel that was the largest, the first of equals; a second top, on request, says which:
    h W + w, or -1 where no value is above 0. A region with NaN, infinity or a batch index outside the batch gives 0 and
    gets no gradient.
    Source: Ma et al. 2018, RRPN, and its Caffe; the gradient is that of its forward, which its own backward is not.
    """

    kernels = Kernels("rotate_roi_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        p = self.param.rotate_pooling_param
        self.pooled, self.scale = (p.pooled_h, p.pooled_w), p.spatial_scale
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.slabs = self.device.empty((0,), self.real)  # made by reshape

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        shape = bottom[1].shape
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 6,
            f"bottom 1, the regions, must be (K, 6): batch index, cx, cy, height, width, angle; got {shape}",
        )
        self.need(
            bottom[2].count in (3, 3 * batch),
            f"bottom 2, im_info, must be height, width and scale, once or for each image; got shape {bottom[2].shape}",
        )
        self.regions, self.count = shape[0], -(-channels // SLAB)
        if self.slabs.shape != (batch, self.count, height * width, SLAB):
            self.slabs = self.device.empty((batch, self.count, height * width, SLAB), self.real)
        for blob in top:
            blob.reshape(self.regions, channels, *self.pooled)
        self.argmax = self.device.empty(top[0].shape, np.int32)
        self.image = self.device.empty((self.regions,), np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        self.kernels.rotate_roi_pooling_images(self.regions, bottom[1].data, self.image, batch)
        self.kernels.rotate_roi_pooling_pack(batch * self.count, bottom[0].data, self.slabs, channels, height * width)
        self.kernels.rotate_roi_pooling_forward(
            self.regions * self.pooled[0] * self.pooled[1], self.slabs, bottom[1].data, self.image, bottom[2].data,
            bottom[2].count // 3, top[0].data, self.argmax, top[1].data if len(top) > 1 else None, channels, height, width,
            *self.pooled, self.scale,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "bottoms 1 and 2 have no gradient; set propagate_down: false for them")
        if propagate_down[0]:
            batch, channels, height, width = bottom[0].shape
            half = self.real != self.dtype
            sums = self.device.empty(bottom[0].shape, self.real) if half else bottom[0].diff
            self.kernels.rotate_roi_pooling_backward(
                batch * channels, top[0].diff, bottom[1].data, self.argmax, self.image, sums, bottom[0].diff, self.regions,
                channels, height, width, *self.pooled, self.scale,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
