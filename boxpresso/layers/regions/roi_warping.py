"""ROIWarping: each region cut out of the features and resized, with a gradient for the regions too (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .listed import Listed
from .region_base import KERNELS

PIXELS_A_SAMPLE = 7  # of the maps that may be packed for a sample of the top


class ROIWarping(Listed, type="ROIWarping", param="roi_warping_param", bottoms=2, tops=1, traits=Trait.REGIONS):
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
    listed = Kernels("roi_warping_listed.cu")
    ratio = 1

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.roi_warping_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    @property
    def places(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The image of each region, or -1; the pixel below each of its rows and columns of samples, or -1 outside; the part
        of the pixel above."""
        shape = self.regions, sum(self.pooled)
        image = self.scratch("image", shape[:1], np.int32)
        return image, self.scratch("low", shape, np.int32), self.scratch("part", shape)

    def take_scratch(self, bottom: Sequence[Blob], backward: bool) -> None:
        self.places  # noqa: B018  # asking is what counts it
        if self.in_slabs:
            self.slabs()
        if backward and self.tiled:
            self.around()
            self.lists_room()

    @property
    def in_slabs(self) -> bool:
        """Whether the maps are packed in slabs first. A sample reads two rows of two pixels, some 74 bytes of a channel of a
        plane in sectors of 32, and 16 of a slab; a pixel packed is 8 bytes."""
        samples = self.regions * self.pooled[0] * self.pooled[1]
        return self.packed and PIXELS_A_SAMPLE * samples > self.batch * self.size[0] * self.size[1]

    def slabs(self) -> AnyArray:
        """Room for the maps in slabs."""
        slab = KERNELS.constants["SLAB"]
        return self.scratch("slabs", (self.batch * self.channel_slabs, self.size[0] * self.size[1], slab))

    def around(self) -> AnyArray:
        """Room for where the regions have samples."""
        return self.scratch("boxes", (self.regions, 5), np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        places, rows = self.places, self.widened(bottom[1].data)
        self.kernels.roi_warping_places(self.regions, rows, *places, self.geometry)
        planes = self.regions * self.channels
        with self.rounded(top[0].data) as pooled:
            if self.in_slabs:
                slabs = self.slabs()
                self.pack_slabs(bottom[0].data, slabs)
                self.kernels.roi_warping_forward_packed(
                    self.channel_slabs * self.regions, slabs, *places, pooled, self.geometry
                )
            else:
                self.kernels.roi_warping_forward(planes, self.widened(bottom[0].data), *places, pooled, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        places = self.places
        if propagate_down[0] and self.tiled:
            self.backward_tiles(top[0].diff, places, bottom)
        elif propagate_down[0]:
            planes = self.batch * self.channels
            given = self.widened(top[0].diff)
            with self.rounded(bottom[0].diff) as sums:
                self.kernels.roi_warping_backward(planes, given, *places, sums, self.geometry)
        if propagate_down[1]:
            features, rows = (self.widened(blob.data) for blob in bottom)
            given = self.widened(top[0].diff)
            with self.rounded(bottom[1].diff) as sums:
                self.kernels.roi_warping_regions(self.regions, features, given, rows, *places, sums, self.geometry)

    def backward_tiles(
        self, top_diff: AnyArray, places: tuple[AnyArray, AnyArray, AnyArray], bottom: list[Blob]
    ) -> None:
        """The gradient of the maps from lists of what each pixel gets, and of tiles whose lists have no room by slabs."""
        (image, low, part), around, diff = places, self.around(), bottom[0].diff
        if diff.size == 0:
            return
        self.kernels.roi_warping_boxes(self.regions, image, low, around, self.geometry)
        tiles, lists = self.tiles(around, self.by_place(bottom[1].data))
        given, heads, entries, most = listed = self.lists_room()
        self.listed.roi_warping_prepare(
            self.prepare_blocks(tiles), top_diff, lists, *places, given, heads, entries, most, self.geometry
        )
        if self.add_listed(tiles, lists, listed, diff):
            self.kernels.roi_warping_backward_tiles(
                tiles * self.channel_slabs, given, lists, heads, around, low, part, diff, self.geometry
            )
