"""ROIWarping: each region cut out of the features and resized, with a gradient for the regions too (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .regions import check_regions


class ROIWarping(Layer, type="ROIWarping", param="roi_warping_param", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the image.

    top (K, C, pooled_h, pooled_w); roi_warping_param { pooled_h pooled_w spatial_scale: 1 }. The corners of a region are
    scaled and rounded to pixels of the map, halves away from 0, and a negative side counts as 0. Each bin is one bilinear
    sample, where the bin starts: row i at y1 + i (y2 - y1) / pooled_h. The border pixels hold for half a pixel beyond
    them, and then there is 0. A region with NaN, infinity or a batch index outside the batch gives 0.

    Both bottoms get a gradient: the regions (their batch index 0) as if their corners had not been rounded.
    Source: Dai et al. 2016, Multi-task Network Cascades, and its Caffe, whose backward takes regions for a pixel larger
    than its forward does; ours is the gradient of the forward.
    """

    kernels = Kernels("roi_warping.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.roi_warping_param
        self.pooled, self.scale = (p.pooled_h, p.pooled_w), p.spatial_scale
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.places = [self.device.empty((0,), np.int32)] * 3  # made by reshape

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels, *self.size = self.axes(bottom[0], 4, "bottom 0")
        self.regions = check_regions(self, bottom[1], 5)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        if self.places[1].shape != (self.regions, sum(self.pooled)):
            shape = self.regions, sum(self.pooled)
            self.places = [
                self.device.empty(shape[:1], np.int32),  # the image of each region, or -1
                self.device.empty(shape, np.int32),  # the pixel below each row and column of samples, or -1 outside
                self.device.empty(shape, self.dtype),  # the part of the pixel above
            ]

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.channels, *self.size, *self.pooled

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.roi_warping_places(
            self.regions, bottom[1].data, *self.places, self.batch, *self.size, *self.pooled, self.scale
        )
        self.kernels.roi_warping_forward(
            self.regions * self.channels, bottom[0].data, *self.places, top[0].data, *self.sizes
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.roi_warping_backward(
                self.batch * self.channels, top[0].diff, *self.places, bottom[0].diff, self.regions, *self.sizes
            )
        if propagate_down[1]:
            self.kernels.roi_warping_regions(
                self.regions, bottom[0].data, top[0].diff, bottom[1].data, *self.places, bottom[1].diff, *self.sizes,
                self.scale,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
