"""DeformablePSROIPooling: averages of samples in bins that are moved, each bin in its own channel (Deformable ConvNets)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer

MOST = 64  # samples of a bin in each direction, as in the .cu


class DeformablePSROIPooling(
    Layer, type="DeformablePSROIPooling", param="deformable_psroi_pooling_param", bottoms=(2, 3), tops=(1, 2)
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
        self.real = real_of(self.dtype)
        p = self.param.deformable_psroi_pooling_param
        self.output_dim, self.group, self.scale, self.trans_std = (
            p.output_dim,
            p.group_size,
            p.spatial_scale,
            p.trans_std,
        )
        self.pooled = p.pooled_size if p.HasField("pooled_size") else p.group_size
        self.part, self.samples = p.part_size or self.pooled, p.sample_per_part
        for name, value in (("output_dim", p.output_dim), ("group_size", p.group_size), ("pooled_size", self.pooled),
                            ("part_size", self.part)):  # fmt: skip
            self.need(value > 0, f"{name} must be positive, got {value}")
        self.need(0 < self.samples <= MOST, f"sample_per_part must be from 1 to {MOST}, got {self.samples}")
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.need(np.isfinite(self.trans_std), f"trans_std must be finite, got {self.trans_std}")
        self.moved = not p.no_trans
        self.need(
            len(bottom) == 3 or not self.moved,
            "takes a third bottom, how far bins move; without one, set no_trans: true",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        channels = self.axes(bottom[0], 4, "bottom 0")[1]
        wanted, shape = self.output_dim * self.group**2, bottom[1].shape
        self.need(
            channels == wanted,
            f"bottom 0 must have output_dim * group_size^2 = {wanted} channels, got shape {bottom[0].shape}",
        )
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 5,
            f"bottom 1, the regions, must be (K, 5): batch index, x1, y1, x2, y2; got {shape}",
        )
        self.regions, self.classes = shape[0], 1
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
            blob.reshape(self.regions, self.output_dim, self.pooled, self.pooled)

    @property
    def layout(self) -> tuple[float, ...]:
        """The last arguments of the kernels."""
        return (
            self.output_dim,
            self.group,
            self.pooled,
            self.part,
            self.samples,
            self.classes,
            self.scale,
            self.trans_std,
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        for blob in top:
            blob.data.fill(0)
        self.kernels.deformable_psroi_pooling_forward(
            batch * channels, bottom[0].data, bottom[1].data, bottom[2].data if self.moved else None, top[0].data,
            top[1].data if len(top) > 1 else None, self.regions, batch, height, width, *self.layout,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        batch, channels, height, width = bottom[0].shape
        move = bottom[2].data if self.moved else None
        if propagate_down[0]:
            half = self.real != self.dtype
            sums = self.device.empty(bottom[0].shape, self.real) if half else bottom[0].diff
            self.kernels.deformable_psroi_pooling_backward(
                batch * channels, top[0].diff, bottom[1].data, move, sums, bottom[0].diff, self.regions, batch, height, width,
                *self.layout,
            )  # fmt: skip
        if len(bottom) > 2 and propagate_down[2] and self.moved:
            slopes = self.device.empty((*top[0].shape, 2), self.real)
            self.kernels.deformable_psroi_pooling_slopes(
                batch * channels, top[0].diff, bottom[0].data, bottom[1].data, move, slopes, self.regions, batch, height,
                width, *self.layout,
            )  # fmt: skip
            self.kernels.deformable_psroi_pooling_trans(
                bottom[2].count, slopes, bottom[1].data, bottom[2].diff, batch, self.output_dim, self.pooled, self.part,
                self.classes,
            )  # fmt: skip
        elif len(bottom) > 2 and propagate_down[2]:
            bottom[2].diff.fill(0)

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
