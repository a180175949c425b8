"""ROIPooling: the largest feature in each bin of each region (Fast R-CNN)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Trait, strided
from .marked import Marked

GROUP = 4  # slabs that a worker takes together (ABREAST in roi_pooling.cu), in 3/4 of the time of one after the other
CACHED = 1 << 19  # numbers that these may have, so that they stay in a core's cache


class ROIPooling(
    Marked,
    type="ROIPooling",
    param="roi_pooling_param",
    bottoms=2,
    tops=(1, 2),
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """The largest feature in each bin of each region.

    A region is scaled by spatial_scale and rounded to whole pixels, halves away from zero. A region whose end comes
    before its start is 1 x 1. Bin p of P on a side of length L runs from floor(p L / P) to ceil((p + 1) L / P), clipped
    to the map; bins may share pixels, and an empty bin gives 0. pad_ratio widens a region on each side by that part of
    its size (MS-CNN).

    The gradient goes to the pixel that was the largest, the first of equals; not to the regions. A region with NaN,
    infinity or a batch index outside the batch gives 0 and gets no gradient. float16 and bfloat16 are storage types:
    regions may be float32 beside them.

    The forward pass stores the places of the largest pixels in phase TRAIN, for a top 1, or where the attribute `keep`
    is set; detection does not need them. Without stored places, the backward pass walks the bins again.

    With the attribute `last`, which boxpresso.ops sets, features are (B, H, W, C) and tops are (K, pooled_h, pooled_w,
    C).

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image, end pixels included. Or (B, 4), x1, y1, x2, y2
        of one region of each image.
    roi_pooling_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image. `pad_ratio` (0): the part of its size by which a region is widened on each side.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the largest feature of each bin.
    top 1
        Optional. The same shape: the place of the largest pixel, h W + w, or -1 for none.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit.

    Source
    ------
    Girshick 2015, Fast R-CNN, and its Caffe; BrotherJing/CNN_tabletennis for (B, 4). But the gradient goes to the largest
    pixel also where that Caffe drops it (malformed regions, edges past the region).

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 2 }'
    >>> run_layer(layer, np.arange(16).reshape(1, 1, 4, 4), [[0, 0, 0, 3, 3]]).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    kernels, copying = Kernels("roi_pooling.cu", UNFUSED), strided.kernels
    mmcv = False  # whether to cut bins as mmcv does
    last = False  # whether the channels are the last axis
    keep = False  # whether forward stores the places for a backward that may come
    has_places = False  # whether it has stored them
    numbered: Blob | None  # one region of each image, behind the number of the image

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.roi_pooling_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.pad_ratio, self.slab = p.pad_ratio, self.kernels.constants["SLAB"]
        self.none, self.no_places = self.device.empty((0,), self.dtype), self.device.empty((0,), np.int32)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.number_regions(bottom)
        self.read_shapes([bottom[0], self.numbered or bottom[1]], self.last)
        pooled = (*self.pooled, self.channels) if self.last else (self.channels, *self.pooled)
        for blob in top:
            blob.reshape(self.regions, *pooled)
        self.count, area = -(-self.channels // self.slab), math.prod(self.size)
        self.group, at_once = self.shares(area)
        self.scratch("slabs", (at_once * self.group, area, self.slab))
        stored = self.keep or self.phase == "TRAIN" or len(top) > 1
        self.scratch("places", top[0].shape, np.int32, backward=not stored)
        self.ask_tables()
        self.image, self.bins = self.tables
        if self.tiled:
            self.ask_marks(2)
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def number_regions(self, bottom: list[Blob]) -> None:
        """In reshape: makes room for the images' numbers before regions that have none, as there is one for each image."""
        shape, self.numbered = bottom[1].shape, None
        if len(shape) > 1 and math.prod(shape[1:]) == 4 and shape[0] == bottom[0].shape[0]:
            self.numbered = Blob((shape[0], 5), bottom[1].dtype, self.device)
            self.numbered.data[...] = np.arange(shape[0])[:, None].repeat(5, 1)

    def rows_of(self, bottom: list[Blob]) -> AnyArray:
        """The regions (K, 5)."""
        if self.numbered is None:
            return bottom[1].data
        shape = self.numbered.shape[0], 4
        strided.copy(self.device, shape, bottom[1].data, (4, 1), self.numbered.data, (5, 1), target_at=1)
        return self.numbered.data

    def shares(self, area: int) -> tuple[int, int]:
        """How many slabs are taken together, and how many times as many there is room for."""
        slabs, groups = self.batch * self.count, self.batch * -(-self.count // GROUP)
        if self.packed:
            return 1, slabs
        workers = self.device.workers
        if GROUP * area * self.slab > CACHED or 3 * -(-groups // workers) > -(-slabs // workers):
            return 1, min(workers, slabs)
        return GROUP, min(workers, groups)

    def cut(self, bottom: list[Blob]) -> None:
        """The bins of all regions."""
        rows = self.check_work(self.widened(self.rows_of(bottom)))
        self.kernels.roi_pooling_bins(
            self.regions, rows, self.image, self.bins, self.pad_ratio, self.mmcv, self.geometry
        )

    def walk(self, features: AnyArray, top: Blob, values: bool, argmax: bool) -> None:
        """The largest numbers, into `top`, their places, into the room for them, or both."""
        kernels, slabs, tables = self.kernels, self.room("slabs"), (self.image, self.bins)
        places = self.room("places") if argmax else self.no_places
        into = top.data if values else self.none, places, values, argmax, self.last
        if self.batch == 0:
            top.data.fill(0) if values else None
            places.fill(-1)
        elif not self.packed:
            kernels.roi_pooling_forward(
                slabs.shape[0] // self.group, features, slabs, *tables, *into, self.group, self.geometry
            )
        else:
            area = math.prod(self.size)
            if self.last:
                parts = -(-area // kernels.constants["LINE_PIXELS"])
                kernels.roi_pooling_pack_lines(slabs.shape[0] * parts, features, slabs, self.channels, area)
            else:
                self.pack_slabs(features, slabs)
            kernels.roi_pooling_forward_packed(self.count * self.regions, slabs, *tables, *into, self.geometry)

    def repeats(self) -> bool:
        return self.regions > 0 and self.batch > 0 and self.real == self.dtype and self.numbered is None

    def watch(self) -> tuple[int, Callable[[AnyArray], object]] | None:
        return (1, self.check_work) if self.may_check and self.numbered is None else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.has_places = self.keep or self.phase == "TRAIN" or len(top) > 1
        self.cut(bottom)
        self.walk(bottom[0].data, top[0], True, self.has_places)
        if len(top) > 1:
            self.kernels.roi_pooling_places(top[1].count, self.room("places"), top[1].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if not propagate_down[0]:
            return
        self.cut(bottom)
        if not self.has_places:
            self.walk(bottom[0].data, top[0], False, True)
        diff = bottom[0].diff
        if self.tiled:
            tiles, lists = self.tiles(self.boxes_of(self.image, self.bins), self.by_place(self.rows_of(bottom)))
            slabs, marks = (
                self.given_places(top[0].diff, self.room("places"), self.last),
                self.mark_bins(tiles, lists, self.bins),
            )
            self.add_pixels(tiles, slabs, lists, marks, diff, self.last)
            return
        sums = self.sums_of(diff)
        lines = self.last and self.device.kind == "cpu"
        group, bands = (self.channels, self.device.workers) if lines else (self.slab, 1)
        self.kernels.roi_pooling_backward(
            self.batch * -(-self.channels // max(group, 1)) * bands, top[0].diff, self.room("places"), self.image, self.bins,
            sums, group, bands, self.last, self.geometry,
        )  # fmt: skip
        if sums is not diff:
            self.narrow(sums, diff)
