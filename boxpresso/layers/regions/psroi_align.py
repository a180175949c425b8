"""PSROIAlign: averages of bilinear samples in the bins of regions, each bin in its own channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer
from .regions import MOST, check_grids, check_regions, widened


class PSROIAlign(Layer, type="PSROIAlign", param="psroi_align_param", bottoms=2, tops=(1, 2)):
    """Bottoms: features (B, output_dim * group_size^2, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the
    image.

    top (K, output_dim, group_size, group_size): bin (i, j) of output c is the average of samples of channel
    (c * group_size + i) * group_size + j. A region is scaled by spatial_scale, and half a pixel is taken off. Each bin
    has sample_num (or sampling_ratio) samples in each direction, or, from 0 down, ceil(size of the bin); one outside
    [-1, H] x [-1, W] counts as 0. A second top, on request, has the channel that each number came from. A region with
    NaN, infinity or a batch index outside the batch gives 0 and gets no gradient; one without a size has no samples on
    an adaptive grid, whose average is NaN; more than 2^20 samples in a bin are an error.
    Source: He et al. 2017 with Dai et al. 2016; numbers as torchvision's ps_roi_align has them.
    """

    kernels = Kernels("psroi_align.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        p = self.param.psroi_align_param
        self.output_dim, self.pooled, self.scale = p.output_dim, (p.group_size, p.group_size), p.spatial_scale
        self.need(
            p.output_dim > 0 and p.group_size > 0,
            f"output_dim {p.output_dim} and group_size {p.group_size} must be > 0",
        )
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.ratio = p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_num
        self.need(
            self.ratio <= 0 or self.ratio**2 <= MOST,
            f"sample_num {self.ratio} asks for more than 2^20 samples in a bin",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        _, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        wanted = self.output_dim * self.pooled[0] * self.pooled[1]
        self.need(
            channels == wanted,
            f"bottom 0 must have output_dim * group_size^2 = {wanted} channels, got shape {bottom[0].shape}",
        )
        self.regions = check_regions(self, bottom[1], 5)
        self.image = self.device.empty((self.regions,), np.int32)
        self.samples = self.device.empty((self.regions, 2), np.int32)
        self.bins = self.device.empty((self.regions, 2 * sum(self.pooled) + 2), np.int32)
        weights = self.pooled[0] * height + self.pooled[1] * width
        self.weights = self.device.empty((self.regions, weights), self.real)
        for blob in top:
            blob.reshape(self.regions, self.output_dim, *self.pooled)
        if len(top) > 1:
            top[1].data[...] = np.arange(channels).reshape(top[1].shape[1:])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        if self.ratio <= 0:
            check_grids(self, np.asarray(bottom[1].data), batch, self.scale, self.pooled, False)
        self.kernels.psroi_align_weights(
            self.regions, widened(self, bottom[1].data, self.real), self.image, self.samples, self.bins, self.weights,
            batch, height, width, *self.pooled, self.scale, self.ratio,
        )  # fmt: skip
        top[0].data.fill(0)
        self.kernels.psroi_align_forward(
            batch * channels, bottom[0].data, self.image, self.samples, self.bins, self.weights, top[0].data,
            self.regions, channels, height, width, *self.pooled,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            batch, channels, height, width = bottom[0].shape
            half = self.real != self.dtype
            sums = self.device.empty(bottom[0].shape, self.real) if half else bottom[0].diff
            self.kernels.psroi_align_backward(
                batch * channels, top[0].diff, self.image, self.samples, self.bins, self.weights, sums, bottom[0].diff,
                self.regions, channels, height, width, *self.pooled,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
