"""DeformablePSROIPooling: averages of samples in bins that are moved, each bin in its own channel (Deformable ConvNets)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from .psroi_base import PositionSensitive


class DeformablePSROIPooling(
    PositionSensitive,
    type="DeformablePSROIPooling",
    param="deformable_psroi_pooling_param",
    bottoms=(2, 3),
    tops=(1, 2),
):
    """Bottoms: features (B, output_dim * group_size^2, H, W); regions (K, 5): batch index, x1, y1, x2, y2, ends
    included, pixels of the image; unless no_trans, trans (K, 2 * classes, part_size, part_size).

    top (K, output_dim, pooled_size, pooled_size): bin (i, j) of output c is an average over channel
    (c * group_size + gh) * group_size + gw with gh = i * group_size / pooled_size, rounded down, gw alike. The corners
    are rounded, halves away from zero, scaled by spatial_scale, and half a pixel is taken off; a side is at least 0.1
    pixel of the map. trans moves a bin, in x then in y, by trans_std times the region's size; outputs are in as many
    classes as trans has. A bin has sample_per_part^2 samples, each at the start of its share of the bin; those more
    than half a pixel outside the map are left out, and a bin without samples gives 0. A second top, on request, counts
    the samples. Features and trans get a gradient. A region with NaN, infinity or a batch index outside the batch gives
    0, and neither gets nor gives a gradient; a bin that trans moves by NaN or infinity has no samples.
    Source: Dai et al. 2017, Deformable Convolutional Networks, and its MXNet.
    """

    kernels = Kernels("deformable_psroi_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.deformable_psroi_pooling_param
        self.output_dim, self.group, self.trans_std = p.output_dim, p.group_size, p.trans_std
        size = p.pooled_size if p.HasField("pooled_size") else p.group_size
        self.part, self.samples = p.part_size or size, p.sample_per_part
        for name, value in (("output_dim", p.output_dim), ("group_size", p.group_size), ("pooled_size", size),
                            ("part_size", self.part)):  # fmt: skip
            self.need(value > 0, f"{name} must be positive, got {value}")
        most = self.kernels.constants["MOST"]
        self.need(0 < self.samples <= most, f"sample_per_part must be from 1 to {most}, got {self.samples}")
        self.setup_bins(size, size, p.spatial_scale)
        self.need(np.isfinite(self.trans_std), f"trans_std must be finite, got {self.trans_std}")
        self.moved = not p.no_trans
        self.need(
            len(bottom) == 3 or not self.moved,
            "takes a third bottom, how far bins move; without one, set no_trans: true",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.classes = 1
        if self.moved:
            count, moves, *part = self.axes(bottom[2], 4, "bottom 2")
            self.need(
                count == self.regions and part == [self.part] * 2 and moves > 0 and moves % 2 == 0,
                f"bottom 2, how far bins move, must be ({self.regions}, 2 * classes, {self.part}, {self.part}), "
                f"got {bottom[2].shape}",
            )
            self.classes = moves // 2
            self.need(
                self.output_dim % self.classes == 0,
                f"output_dim {self.output_dim} is no multiple of the {self.classes} classes of bottom 2",
            )
        for blob in top:
            blob.reshape(self.regions, self.output_dim, *self.pooled)
        self.geometry = self.kernels.struct(
            "PartGeometry", regions=self.regions, batch=self.batch, height=self.size[0], width=self.size[1],
            output_dim=self.output_dim, group=self.group, pooled=self.pooled[0], part=self.part, samples=self.samples,
            classes=self.classes, scale=self.scale, trans_std=self.trans_std,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob in top:
            blob.data.fill(0)
        self.kernels.deformable_psroi_pooling_forward(
            self.batch * self.channels, bottom[0].data, bottom[1].data, bottom[2].data if self.moved else None, top[0].data,
            top[1].data if len(top) > 1 else None, self.geometry,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        planes, move = self.batch * self.channels, bottom[2].data if self.moved else None
        if propagate_down[0]:
            diff = bottom[0].diff
            self.kernels.deformable_psroi_pooling_backward(
                planes, top[0].diff, bottom[1].data, move, self.sums_of(diff), diff, self.geometry
            )
        if len(bottom) > 2 and propagate_down[2] and self.moved:
            slopes = self.scratch("slopes", (*top[0].shape, 2))
            self.kernels.deformable_psroi_pooling_slopes(
                planes, top[0].diff, bottom[0].data, bottom[1].data, move, slopes, self.geometry
            )
            self.kernels.deformable_psroi_pooling_trans(
                bottom[2].count, slopes, bottom[1].data, bottom[2].diff, self.geometry
            )
        elif len(bottom) > 2 and propagate_down[2]:
            bottom[2].diff.fill(0)

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
