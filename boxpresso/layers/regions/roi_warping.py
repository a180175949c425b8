"""ROIWarping: each region cut out of the features and resized, with a gradient for the regions too (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .region_base import RegionLayer


class ROIWarping(RegionLayer, type="ROIWarping", param="roi_warping_param", bottoms=2, tops=1):
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
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    @property
    def places(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The image of each region, or -1; the pixel below each of its rows and columns of samples, or -1 outside; the part
        of the pixel above."""
        shape = self.regions, sum(self.pooled)
        image = self.scratch("image", shape[:1], np.int32)
        return image, self.scratch("low", shape, np.int32), self.scratch("part", shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        places = self.places
        self.kernels.roi_warping_places(self.regions, bottom[1].data, *places, self.geometry)
        planes = self.regions * self.channels
        self.kernels.roi_warping_forward(planes, bottom[0].data, *places, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        places = self.places
        if propagate_down[0]:
            planes = self.batch * self.channels
            self.kernels.roi_warping_backward(planes, top[0].diff, *places, bottom[0].diff, self.geometry)
        if propagate_down[1]:
            self.kernels.roi_warping_regions(
                self.regions, bottom[0].data, top[0].diff, bottom[1].data, *places, bottom[1].diff, self.geometry
            )
