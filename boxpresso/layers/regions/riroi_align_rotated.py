"""RiROIAlignRotated: ROIAlignRotated of orientation channels, which turn with the region (ReDet)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .align_rotated_base import AlignRotated


class RiROIAlignRotated(
    AlignRotated, type="RiROIAlignRotated", param="riroi_align_rotated_param", bottoms=2, tops=1, traits=Trait.REGIONS
):
    """ROIAlignRotated of orientation channels, which are shifted by the region's angle.

    Samples are as in ROIAlignRotated without `aligned`: no half pixel is subtracted, and sizes are at least 1. Then the
    orientations of each group are shifted by the angle in units of a full turn / num_orientations; an angle between two
    units is interpolated linearly between the two nearest. `clockwise` turns the samples the other way, not the shift.

    Gradients go to the features and, where propagate_down asks for it, to the regions, the angle included. A region
    with NaN, infinity or a batch index outside the batch gives 0.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features; C = groups * num_orientations, the orientation varying fastest.
    bottom 1
        (K, 6), regions: batch index, x and y of the centre, width, height in pixels of the image, angle in radians.
    riroi_align_rotated_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image. `sampling_ratio` (0): samples of a bin in each direction; 0 or less means ceil(size of the bin).
        `num_orientations` (8): channels of a group. `clockwise` (false): a positive angle turns samples clockwise.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average of each bin, with the orientations shifted.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, C that is no multiple of num_orientations, or a region whose bins
        would take more than 2^20 samples.

    Source
    ------
    Han et al. 2021, ReDet. Numbers as mmcv has them.

    Examples
    --------
    An angle of 1.5 units shifts four orientations by 1.5 channels:

    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "RiROIAlignRotated"
    ...     riroi_align_rotated_param { pooled_h: 1 pooled_w: 1 num_orientations: 4 }'''
    >>> features = np.repeat([0, 10, 20, 30], 25).reshape(1, 4, 5, 5)  # four channels, each of one value
    >>> top = run_layer(layer, features, [[0, 2, 2, 2, 2, 0.75 * np.pi]])
    >>> top.shape, top.ravel().round(3).tolist()
    ((1, 4, 1, 1), [15.0, 5.0, 15.0, 25.0])
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
        shape = top[0].shape
        self.scratch("pooled", shape, backward=self.slab % self.orientations == 0)
        self.scratch("gradient of averages", shape, backward=True)
        if self.real != self.dtype:
            self.scratch("mixed", shape)
            self.scratch("sums of region diff", bottom[1].shape, backward=True)

    def mix(self, values: AnyArray, rows: AnyArray, mixed: AnyArray, back: bool) -> None:
        """Shifts the orientations of each region by its angle, or `back`."""
        bins = self.pooled[0] * self.pooled[1]
        self.kernels.riroi_align_rotated_mix(
            mixed.size, values, rows, mixed, self.channels, bins, self.orientations, self.batch, int(back)
        )

    def unmixed(self, features: AnyArray, rows: AnyArray) -> AnyArray:
        """The averages before the orientations are shifted."""
        pooled = self.room("pooled")
        self.pool(features, rows, pooled)
        return pooled

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features, rows = (self.widened(blob.data) for blob in bottom)
        with self.rounded(top[0].data, "mixed") as mixed:
            if self.slab % self.orientations == 0:
                self.pool(features, rows, mixed, self.orientations)
                return
            self.mix(self.unmixed(features, rows), rows, mixed, False)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        folded = self.mixes(self.orientations)
        if propagate_down[1] or not folded:
            top_diff, diff = self.widened(top[0].diff), self.room("gradient of averages")
            self.mix(top_diff, rows, diff, True)
        if propagate_down[0]:
            with self.rounded(bottom[0].diff) as sums:
                if folded:
                    self.to_features(top[0].diff, rows, sums, self.orientations)
                else:
                    self.to_features(diff, rows, sums)
        if propagate_down[1]:
            features = self.widened(bottom[0].data)
            with self.rounded(bottom[1].diff, "sums of region diff") as sums:
                self.to_regions(features, diff, rows, sums)
                pooled = self.unmixed(features, rows)
                self.kernels.riroi_align_rotated_angle(
                    self.regions, pooled, top_diff, rows, sums, self.channels, self.pooled[0] * self.pooled[1],
                    self.orientations, self.batch,
                )  # fmt: skip
