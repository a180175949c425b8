"""ROIAlignRotated: the average of bilinear samples in each bin of each rotated region."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from .align_rotated_base import AlignRotated


class ROIAlignRotated(AlignRotated, type="ROIAlignRotated", param="roi_align_rotated_param", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W); regions (K, 6): batch index, centre x and y, width, height in pixels of the image,
    angle in radians.

    top (K, C, pooled_h, pooled_w). roi_align_rotated_param: a region is scaled by spatial_scale, half a pixel taken off
    its centre with `aligned`, without it its size is at least 1. A positive angle turns it counter-clockwise, or with
    `clockwise` the other way; the map is what it holds, turned upright. Each bin is the average of sampling_ratio^2
    bilinear samples, or, from 0 down, of ceil(size of the bin) in each direction; one outside [-1, H] x [-1, W] counts as 0.

    Gradients to the features and, where propagate_down asks for it, to the regions, the angle included, with the number of
    samples taken as fixed. A region with NaN, infinity or a batch index outside the batch gives 0; one whose bins would take
    more than 2^20 samples is an error; an aligned one of negative size gives 0, or mirrored samples with a fixed
    sampling_ratio. float16 is a type to store in: regions may be float32 beside it, and all arithmetic is in float32.
    Source: Ma et al. 2018 and detectron2; numbers as mmcv and detectron2 have them, whose `aligned` is true by default.
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.setup_align(self.param.roi_align_rotated_param, self.param.roi_align_rotated_param.aligned)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        self.pool(bottom[0].data, rows, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        if propagate_down[0]:
            self.to_features(top[0].diff, rows, bottom[0].diff)
        if propagate_down[1]:
            self.to_regions(bottom[0].data, top[0].diff, rows, bottom[1].diff)
