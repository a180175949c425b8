"""ROIWarping: each region cut out of the features and resized, with a gradient for the regions too (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .separable_base import Separable


class ROIWarping(Separable, type="ROIWarping", param="roi_warping_param", bottoms=2, tops=1, traits=Trait.REGIONS):
    """Cuts each region out of the features and resizes it, with one bilinear sample in each bin.

    The corners of a region are scaled and rounded to pixels of the map, halves away from 0; a negative side counts as
    0. The sample of a bin is where the bin starts: row i is at y1 + i (y2 - y1) / pooled_h. The border pixels hold for
    half a pixel beyond them; from there on the value is 0. A region with NaN, infinity or a batch index outside the
    batch gives 0.

    Both bottoms get a gradient. That of the regions is computed as if their corners had not been rounded; that of the
    batch index is 0.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    roi_warping_param
        `pooled_h`, `pooled_w` (required, 1024 at most): bins of a region. `spatial_scale` (1): pixels of the map in one
        pixel of the image.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the sample of each bin.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit.

    Source
    ------
    Dai et al. 2016, Multi-task Network Cascades, and its Caffe, whose backward pass takes regions for a pixel larger
    than its forward pass does; Boxpresso's is the gradient of the forward pass.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "ROIWarping" roi_warping_param { pooled_h: 2 pooled_w: 2 }'
    >>> run_layer(layer, np.arange(16).reshape(1, 1, 4, 4), [[0, 0, 0, 1, 1]]).tolist()
    [[[[0.0, 0.5], [2.0, 2.5]]]]
    """

    kernels = Kernels("roi_warping.cu")
    ratio = 1

    @property
    def single(self) -> bool:
        return True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.roi_warping_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.shape_lists()

    def entries(self, size: int, bins: int) -> int:
        """The two pixels of each sample."""
        return 2 * bins

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        self.kernels.roi_warping_lists(self.regions, rows, *lists, changes, self.geometry)

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        self.kernels.roi_warping_regions(self.regions, parts, rows, diff, count, self.geometry)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gather(bottom[0].data, self.widened(bottom[1].data), top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        diffs = [blob.diff if wanted else None for blob, wanted in zip(bottom, propagate_down)]
        self.gradients(top[0].diff, bottom[0].data, rows, *diffs)
