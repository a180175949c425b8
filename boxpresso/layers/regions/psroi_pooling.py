"""PSROIPooling: averages over the bins of regions, each bin in its own channel (R-FCN)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from .psroi_base import PositionSensitive


class PSROIPooling(PositionSensitive, type="PSROIPooling", param="psroi_pooling_param", bottoms=2, tops=(1, 2)):
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
        p = self.param.psroi_pooling_param
        self.setup_outputs(p)
        self.need(not p.no_pad_shift, "no_pad_shift belongs to another program's PSROIPooling, which is not known here")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.reshape_tops(top)
        self.image, self.bins = self.tables()
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def cut(self, bottom: list[Blob], less: int) -> None:
        """The bins of all regions, on the map without its last `less` rows and columns."""
        rows = self.widened(bottom[1].data)
        self.kernels.psroi_pooling_bins(
            self.regions, rows, self.image, self.bins, self.torchvision, less, self.geometry
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.cut(bottom, int(self.torchvision))
        top[0].data.fill(0)
        self.kernels.psroi_pooling_forward(
            self.batch * self.channels, bottom[0].data, self.image, self.bins, top[0].data, self.geometry
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if propagate_down[0]:
            self.cut(bottom, 0)
            diff = bottom[0].diff
            self.kernels.psroi_pooling_backward(
                self.batch * self.channels, top[0].diff, self.image, self.bins, self.sums_of(diff), diff, self.geometry
            )
