"""RiROIAlignRotated: ROIAlignRotated of orientation channels, which turn with the region (ReDet)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from .align_rotated_base import AlignRotated


class RiROIAlignRotated(AlignRotated, type="RiROIAlignRotated", param="riroi_align_rotated_param", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W), C = groups * num_orientations with the orientation fastest; regions (K, 6): batch
    index, centre x and y, width, height in pixels of the image, angle in radians.

    top (K, C, pooled_h, pooled_w). riroi_align_rotated_param: as ROIAlignRotated without `aligned` (no half pixel, sizes at
    least 1); then the orientations of each group are shifted by the angle in units of a full turn / num_orientations,
    between the two nearest by its fraction. `clockwise` turns the samples the other way, not the shift.

    Gradients to the features and, where propagate_down asks for it, to the regions, the angle included. What is not a proper
    region gives 0. Source: Han et al. 2021 (ReDet); numbers as mmcv has them.
    """

    kernels = Kernels("riroi_align_rotated.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.riroi_align_rotated_param
        self.setup_align(p, False)
        self.orientations = p.num_orientations
        self.need(self.orientations > 0, f"num_orientations must be positive, got {self.orientations}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        self.need(
            self.channels % self.orientations == 0,
            f"bottom 0 has {self.channels} channels, not a multiple of num_orientations {self.orientations}",
        )

    def mix(self, values: AnyArray, rows: AnyArray, mixed: AnyArray, back: bool) -> None:
        """Shifts the orientations of each region by its angle, or `back`."""
        bins = self.pooled[0] * self.pooled[1]
        self.kernels.riroi_align_rotated_mix(
            mixed.size, values, rows, mixed, self.channels, bins, self.orientations, self.batch, int(back)
        )

    def unmixed(self, features: AnyArray, rows: AnyArray, shape: tuple[int, ...]) -> AnyArray:
        """The averages before the orientations are shifted."""
        pooled = self.scratch("pooled", shape, self.dtype)
        self.pool(features, rows, pooled)
        return pooled

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        self.mix(self.unmixed(bottom[0].data, rows, top[0].shape), rows, top[0].data, False)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows, diff = self.widened(bottom[1].data), self.scratch("diff", top[0].shape, self.dtype)
        self.mix(top[0].diff, rows, diff, True)
        if propagate_down[0]:
            self.to_features(diff, rows, bottom[0].diff)
        if propagate_down[1]:
            self.to_regions(bottom[0].data, diff, rows, bottom[1].diff)
            pooled = self.unmixed(bottom[0].data, rows, top[0].shape)
            self.kernels.riroi_align_rotated_angle(
                self.regions, pooled, top[0].diff, rows, bottom[1].diff, self.channels, self.pooled[0] * self.pooled[1],
                self.orientations, self.batch,
            )  # fmt: skip
