"""PSROIAlign: averages of bilinear samples in the bins of regions, each bin in its own channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from .psroi_base import PositionSensitive


class PSROIAlign(PositionSensitive, type="PSROIAlign", param="psroi_align_param", bottoms=2, tops=(1, 2)):
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
        p = self.param.psroi_align_param
        self.setup_outputs(p)
        self.setup_ratio(p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_num, "sample_num")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.reshape_tops(top)
        image, bins = self.tables()
        weights = self.pooled[0] * self.size[0] + self.pooled[1] * self.size[1]
        samples = self.scratch("samples", (self.regions, 2), np.int32)
        self.lists = image, samples, bins, self.scratch("weights", (self.regions, weights))
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.check_grids(bottom[1].data, False)
        rows = self.widened(bottom[1].data)
        self.kernels.psroi_align_weights(self.regions, rows, *self.lists, self.ratio, self.geometry)
        top[0].data.fill(0)
        self.kernels.psroi_align_forward(
            self.batch * self.channels, bottom[0].data, *self.lists, top[0].data, self.geometry
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if propagate_down[0]:
            diff = bottom[0].diff
            self.kernels.psroi_align_backward(
                self.batch * self.channels, top[0].diff, *self.lists, self.sums_of(diff), diff, self.geometry
            )
