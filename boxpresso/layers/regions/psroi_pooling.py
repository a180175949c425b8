"""PSROIPooling: averages over the bins of regions, each bin in its own channel (R-FCN)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer
from .regions import check_regions, widened


class PSROIPooling(Layer, type="PSROIPooling", param="psroi_pooling_param", bottoms=2, tops=(1, 2)):
    """Bottoms: features (B, output_dim * group_size^2, H, W); regions (K, 5): batch index, x1, y1, x2, y2, ends
    included, pixels of the image.

    top (K, output_dim, group_size, group_size): bin (i, j) of output c is an average over channel
    (c * group_size + i) * group_size + j. The corners are rounded, halves away from zero, then scaled by
    spatial_scale; a side is at least 0.1 pixel of the map. A bin covers all pixels that it touches, clipped to the map;
    an empty one gives 0. A second top, on request, has the channel that each number came from. A region with NaN,
    infinity or a batch index outside the batch gives 0 and gets no gradient.
    Source: Dai et al. 2016, R-FCN, and its Caffe.

    torchvision's ps_roi_pool (the attribute `torchvision`) scales first and rounds then, has no + 1 at the end and sides
    of 1 pixel at least. It never reads the last row and column of the map, but gives them a gradient.
    """

    kernels = Kernels("psroi_pooling.cu")
    torchvision = False

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        p = self.param.psroi_pooling_param
        self.output_dim, self.pooled, self.scale = p.output_dim, (p.group_size, p.group_size), p.spatial_scale
        self.need(
            p.output_dim > 0 and p.group_size > 0,
            f"output_dim {p.output_dim} and group_size {p.group_size} must be > 0",
        )
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.need(not p.no_pad_shift, "no_pad_shift belongs to another program's PSROIPooling, which is not known here")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        channels = self.axes(bottom[0], 4, "bottom 0")[1]
        wanted = self.output_dim * self.pooled[0] * self.pooled[1]
        self.need(
            channels == wanted,
            f"bottom 0 must have output_dim * group_size^2 = {wanted} channels, got shape {bottom[0].shape}",
        )
        self.regions = check_regions(self, bottom[1], 5)
        self.image = self.device.empty((self.regions,), np.int32)
        self.bins = self.device.empty((self.regions, 2 * sum(self.pooled) + 2), np.int32)
        for blob in top:
            blob.reshape(self.regions, self.output_dim, *self.pooled)
        if len(top) > 1:
            top[1].data[...] = np.arange(channels).reshape(top[1].shape[1:])

    def cut(self, bottom: list[Blob], less: int) -> None:
        """The bins of all regions, on the map without its last `less` rows and columns."""
        batch, _, height, width = bottom[0].shape
        self.kernels.psroi_pooling_bins(
            self.regions, widened(self, bottom[1].data, self.real), self.image, self.bins, batch, height - less,
            width - less, *self.pooled, self.scale, self.torchvision,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        self.cut(bottom, int(self.torchvision))
        top[0].data.fill(0)
        self.kernels.psroi_pooling_forward(
            batch * channels, bottom[0].data, self.image, self.bins, top[0].data, self.regions, channels, height, width,
            *self.pooled,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            batch, channels, height, width = bottom[0].shape
            self.cut(bottom, 0)
            half = self.real != self.dtype
            sums = self.device.empty(bottom[0].shape, self.real) if half else bottom[0].diff
            self.kernels.psroi_pooling_backward(
                batch * channels, top[0].diff, self.image, self.bins, sums, bottom[0].diff, self.regions, channels, height,
                width, *self.pooled,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
