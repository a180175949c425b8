"""PrROIPooling: the exact average of the features over each bin of each region, with a gradient for the regions too."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .separable_base import Separable


class PrROIPooling(
    Separable, type="PrROIPooling", param="prroi_pooling_param", bottoms=2, tops=1, traits=Trait.REGIONS
):
    """The exact average of the bilinear surface of the features over each bin: its integral divided by the bin's area.

    A region is scaled by spatial_scale; a negative side counts as 0. The bilinear surface passes through the pixels and
    falls to 0 within one pixel outside the map.

    Both bottoms get a gradient; that of the batch index is 0. A region with NaN, infinity, no area or a batch index
    outside the batch gives 0, and neither gets nor gives a gradient.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    prroi_pooling_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average over each bin.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit.

    Source
    ------
    Jiang et al. 2018, Precise RoI Pooling. The integral as a product of one integral per axis is Boxpresso's own.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "PrROIPooling" prroi_pooling_param { pooled_h: 2 pooled_w: 2 }'
    >>> run_layer(layer, np.arange(9).reshape(1, 1, 3, 3), [[0, 0, 0, 2, 2]]).tolist()
    [[[[2.0, 3.0], [5.0, 6.0]]]]
    """

    kernels = Kernels("prroi_pooling.cu")
    adaptive_share = 0.6  # beside its entries stand their slots

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.prroi_pooling_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.shape_lists()

    def entries(self, size: int, bins: int) -> int:
        """A bin has at most three pixels more than its part of the map."""
        return size + 3 * bins

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        self.kernels.prroi_pooling_lists(self.regions, rows, *lists, changes, self.geometry)

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        self.kernels.prroi_pooling_regions(self.regions, parts, diff, count, self.geometry)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gather(bottom[0].data, self.check_work(bottom[1].data), top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diffs = [blob.diff if wanted else None for blob, wanted in zip(bottom, propagate_down)]
        self.gradients(top[0].diff, bottom[0].data, self.check_work(bottom[1].data), *diffs)

    def allow_force_backward(self, index: int) -> bool:
        return True  # the regions have a gradient too
