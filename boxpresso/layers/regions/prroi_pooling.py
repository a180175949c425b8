"""PrROIPooling: the exact average of the features over each bin of each region, with a gradient for the regions too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .listed_both import ListedBoth
from .region_base import first_numbers

BAND = 16  # rows of a map that its regions' gradients are added to at a time: they stay in the nearest cache


class PrROIPooling(
    ListedBoth, type="PrROIPooling", param="prroi_pooling_param", bottoms=2, tops=1, traits=Trait.REGIONS
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
    by_columns = Kernels("prroi_columns.cu")
    listed = Kernels("prroi_lists.cu")
    list_share, slotted = 0.5, True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.prroi_pooling_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        (height, width), edges = self.size, sum(self.pooled) + 2
        self.image, self.bins = self.tables()
        weights = self.pooled[0] * height + self.pooled[1] * width + edges
        self.weights = self.scratch("weights", (self.regions, weights))
        self.below = self.scratch("below", (self.regions, edges), np.int32)
        self.slab = self.kernels.constants["SLAB"]
        self.count = -(-self.channels // self.slab)
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def take_scratch(self, bottom: Sequence[Blob], backward: bool) -> None:
        slabs = self.batch * self.count
        if not self.packed:
            self.scratch("slabs", (min(self.device.workers, slabs), self.size[0] * self.size[1], self.slab))
        if backward and self.tiled:
            self.both_room(True)
        elif backward:
            band, moves = min(BAND, self.size[0]), self.kernels.constants["MOVES"]
            pixels = 2 * band * self.size[1] + self.regions * (self.pooled[0] * self.pooled[1] + moves)
            self.scratch("room", (min(self.device.workers, slabs), pixels, self.slab))

    def cut(self, regions: AnyArray) -> None:
        """The bins of all regions, and the weights of their pixels."""
        self.kernels.prroi_pooling_weights(
            self.regions, self.check_work(regions), self.image, self.bins, self.weights, self.below, self.geometry
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features, regions = bottom[0].data, bottom[1].data
        self.cut(regions)
        slabs = self.batch * self.count
        if self.packed:
            self.by_columns.prroi_pooling_forward_columns(
                self.count * self.regions, features, self.image, self.bins, self.weights, top[0].data, self.geometry
            )
        else:
            at_once = min(self.device.workers, slabs)
            room = self.scratch("slabs", (at_once, self.size[0] * self.size[1], self.slab))
            self.kernels.prroi_pooling_forward(
                at_once, features, self.by_place(regions), self.image, self.bins, self.weights, room, top[0].data, False,
                self.geometry,
            )  # fmt: skip
        if not slabs:
            top[0].data.fill(0)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diffs = [blob.diff if wanted else None for blob, wanted in zip(bottom, propagate_down)]
        features, regions, slabs = bottom[0].data, bottom[1].data, self.batch * self.count
        moves = self.kernels.constants["MOVES"]
        self.cut(regions)
        if self.tiled:
            self.backward_listed(top[0].diff, features, regions, diffs[0], diffs[1])
            return
        slopes = None if diffs[1] is None else self.scratch("slopes", (self.count, self.regions, moves))
        at_once, band = min(self.device.workers, slabs), min(BAND, self.size[0])
        pixels = (2 * band + 4) * self.size[1] + self.regions * (self.pooled[0] * self.pooled[1] + moves)
        self.kernels.prroi_pooling_backward(
            at_once, top[0].diff, features, self.by_place(regions, False), self.image, self.bins, self.weights,
            self.below, self.scratch("room", (at_once, pixels, self.slab)), diffs[0], slopes,
            self.kernels.struct("BandGeometry", **self.fields, band=band),
        )  # fmt: skip
        if slopes is not None:
            self.region_diff(slopes, None, None, regions, diffs[1])

    def region_diff(
        self, slopes: AnyArray | None, listed: AnyArray | None, left_out: AnyArray | None, regions: AnyArray,
        diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradient of the regions from sums."""
        self.kernels.prroi_pooling_region_diff(
            self.regions, slopes, listed, left_out, regions, self.image, self.bins, diff, self.geometry
        )

    def most_entries(self) -> int:
        """A bin has at most three pixels of an axis more than its part of the map."""
        down, across = (size + 3 * bins for size, bins in zip(self.size, self.pooled))
        return self.regions * down * across

    def backward_listed(
        self,
        top_diff: AnyArray,
        features: AnyArray,
        regions: AnyArray,
        diff: AnyArray | None,
        region_diff: AnyArray | None,
    ) -> None:
        """For a GPU: both gradients from lists, and what those have no room for from tiles and from columns of the maps."""
        tiles, lists = self.tiles(self.boxes_of(self.image, self.bins), first_numbers(self.device, self.regions))
        room, moves = self.both_room(region_diff is not None), self.kernels.constants["MOVES"]
        tables = self.scratch(
            "tables", (self.regions, self.listed.constants["TABLE_HEAD"] + sum(self.pooled)), np.int32
        )
        sizes = self.listed.struct("PrepareGeometry", **self.fields, most=room.most)
        self.listed.prroi_count(tiles + 1, lists, self.bins, room.heads, room.totals, tables, self.geometry)
        self.listed.prroi_prepare(
            self.prepare_blocks(tiles), top_diff, lists, self.bins, self.weights, tables, room.given, room.heads,
            room.totals, room.entries, room.slots, sizes,
        )  # fmt: skip
        self.walk_lists(tiles, lists, room, features, diff)
        if diff is not None and not room.whole:
            self.kernels.prroi_pooling_backward_tiles(
                tiles * self.count, top_diff, lists, room.heads, self.bins, self.weights, diff, self.geometry
            )
        if region_diff is None:
            return
        listed, slopes = self.scratch("listed", (self.regions, moves)), None
        left_out = self.scratch("left out", (self.regions,), np.int32)
        self.listed.prroi_moves_listed(
            self.regions, self.image, self.bins, self.weights, self.below, tables, room.heads, room.products, left_out, listed,
            sizes,
        )  # fmt: skip
        if (
            not room.whole
            or max(self.size[0] + 3 * self.pooled[0], self.size[1] + 3 * self.pooled[1]) > self.listed.constants["SIDE"]
        ):
            slopes = self.scratch("slopes", (self.count, self.regions, moves))
            self.by_columns.prroi_pooling_moves(
                self.count * self.regions, top_diff, features, self.image, self.bins, self.weights, self.below, left_out,
                slopes, self.geometry,
            )  # fmt: skip
        self.region_diff(slopes, listed, left_out, regions, region_diff)

    def allow_force_backward(self, index: int) -> bool:
        return True  # the regions have a gradient too
