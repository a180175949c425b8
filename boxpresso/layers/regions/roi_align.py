"""ROIAlign: bilinear samples in each bin of each region, their average or the largest (Mask R-CNN)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...proto.errors import BoxpressoWarning
from ..core import Trait
from .marked import Marked
from .region_base import FEW
from .separable_base import Separable

OTHERS = {
    "pad_ratio": "MS-CNN's and others'",
    "roi_end_mode": "an accelerator vendor's",
    "position_sensitive": "another fork's position-sensitive",
    "topk": "PerfXLab's pyramid",
    "aligned_h": "chuanqi305's",
    "aligned_w": "chuanqi305's",
}


class ROIAlign(
    Separable,
    Marked,
    type="ROIAlign",
    param=("roi_align_param", "roi_pooling_param"),
    bottoms=2,
    tops=(1, 3),
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """The average, or the largest, of bilinear samples in each bin of each region.

    A region is scaled by spatial_scale, and its size is at least 1 pixel of the map. With `aligned`, half a pixel is
    subtracted and there is no smallest size. A sample outside [-1, H] x [-1, W] counts as 0.

    Gradients go to the features, through the four pixels of each sample. With pool_mode AVG they also go to the regions
    where propagate_down asks for it, with the number of samples taken as fixed; no other program has this gradient.
    With MAX, a sample exactly at y = -1 loses its gradient, as in mmcv.

    A region with NaN, infinity or a batch index outside the batch gives 0. With `aligned`, a region of negative size
    gives 0, or, with a fixed sampling_ratio, samples that run backwards. MAX of no samples is the smallest number.
    float16 and bfloat16 are storage types: regions may be float32 beside them, and all arithmetic is in float32.

    Forks have other operators under this name. With roi_pooling_param the layer is Cascade R-CNN's: one sample at each
    corner of the pooled_h x pooled_w cells of a region that is widened by pad_ratio of its size on each side, half a
    pixel subtracted, so that the top is (K, C, pooled_h + 1, pooled_w + 1); a Pooling layer takes their average. A
    sample outside [-0.5, H - 0.5] x [-0.5, W - 0.5] is 0, and so is a region without a size. Other forks read the same
    fields as a maximum: a warning says so. Fields that identify another operator are refused (see Raises). The maximum
    of caffe-mask-rcnn, fallingdust and fireae reads roi_align_param with the same three fields, so that nothing
    distinguishes it from the average.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    roi_align_param
        `pooled_h`, `pooled_w` (required, 1024 at most): bins of a region. `spatial_scale` (1): pixels of the map in one
        pixel of the image. `sampling_ratio` (0): samples of a bin in each direction; 0 or less means ceil(size of the
        bin). `sample_ratio`: another name of sampling_ratio. `aligned` (false): subtract half a pixel. `pool_mode`
        (AVG): AVG or MAX.
    roi_pooling_param
        Cascade R-CNN's form, without roi_align_param: `pooled_h`, `pooled_w` (required, 1024 at most), `spatial_scale`
        (1), `pad_ratio` (0).

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average or the largest sample of each bin; (K, C, pooled_h + 1, pooled_w + 1)
        with roi_pooling_param.
    top 1, top 2
        Optional, only of MAX. The same shape: y and x on the map of the largest sample; -1 where none is larger than
        the smallest number.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, a region whose bins would take more than 2^20 samples, tops 1 and 2 of
        an average, or a field of another operator: roi_end_mode, position_sensitive, topk, aligned_h, aligned_w,
        pad_ratio in roi_align_param; bi_type and is_multi_interpolate in roi_pooling_param.

    Source
    ------
    He et al. 2017, Mask R-CNN; Cai and Vasconcelos 2018, Cascade R-CNN (corners). Numbers as mmcv, detectron2 and
    torchvision have them.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "ROIAlign" roi_align_param { pooled_h: 2 pooled_w: 2 sampling_ratio: 1 aligned: true }'
    >>> run_layer(layer, np.arange(16).reshape(1, 1, 4, 4), [[0, 0, 0, 4, 4]]).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    kernels = Kernels("roi_align.cu")
    largest = Kernels("roi_align_max.cu")
    keep = False  # whether forward stores where the largest samples lie, for a backward that may come
    has_places = False  # whether it has stored it

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.corners = not self.param.HasField("roi_align_param")
        p = self.param.roi_pooling_param if self.corners else self.param.roi_align_param
        for name, whose in OTHERS.items():
            self.need(
                self.corners or not getattr(p, name),
                f"{name} belongs to {whose} ROIAlign, an operator that Boxpresso does not have",
            )
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        if self.corners:
            self.setup_corners(p)
        else:
            self.aligned, self.max, self.pad_ratio = bool(p.aligned), p.pool_mode == p.MAX, 0.0
            self.separable = not self.max
            self.setup_ratio(p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_ratio)
        self.need(self.max or len(top) == 1, "tops 1 and 2 are where the maximum lies; an average has only the first")

    def setup_corners(self, p: Any) -> None:
        """Cascade R-CNN's form, with roi_pooling_param."""
        self.need(
            self.param.HasField("roi_pooling_param"),
            "roi_align_param is missing (pooled_h, pooled_w, spatial_scale, sampling_ratio, aligned, pool_mode)",
        )
        self.need(
            not (p.HasField("bi_type") or p.HasField("is_multi_interpolate")),
            "bi_type and is_multi_interpolate belong to frcnn's ROIAlign, a maximum that Boxpresso does not have",
        )
        warnings.warn(
            f"{self}: roi_pooling_param is read as Cascade R-CNN's, corners of {p.pooled_h} x {p.pooled_w} cells whose "
            "average a Pooling layer takes; the ROIAlign of frcnn and caffe-wsl, a maximum, has the same fields",
            BoxpressoWarning,
            stacklevel=2,
        )
        self.pooled = p.pooled_h + 1, p.pooled_w + 1
        self.aligned, self.max, self.ratio, self.pad_ratio = True, False, 1, p.pad_ratio
        self.separable = True

    def entries(self, size: int, bins: int) -> int:
        """Entries that an axis of `size` pixels needs at most: two for each pixel of a bin; neighbours share pixels."""
        by_pixel = 2 * (size + 1 + 3 * bins)
        return by_pixel if self.ratio <= 0 else min(by_pixel, 2 * self.ratio * bins)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        for blob in top:
            blob.reshape(self.regions, self.channels, *self.pooled)
        if self.max:
            self.geometry = self.largest.struct(
                "GridGeometry", **self.fields, sampling_ratio=self.ratio, aligned=self.aligned
            )
            self.ask_largest(top)
        else:
            self.shape_lists()
            self.samples = self.kernels.struct(
                "SampleGeometry",
                sampling_ratio=self.ratio,
                aligned=self.aligned,
                corners=self.corners,
                pad_ratio=self.pad_ratio,
            )

    def ask_largest(self, top: list[Blob]) -> None:
        """In reshape: for the maximum, the features in slabs, and of each largest sample its number in its bin."""
        slab, stored = self.largest.constants["SLAB"], self.keep or self.phase == "TRAIN" or len(top) > 1
        slabs = -(-self.channels // slab)
        at_once = self.batch * slabs if self.packed else min(self.device.workers, self.batch * slabs)
        self.scratch("slabs", (at_once, self.size[0] * self.size[1], slab))
        places = slabs, self.regions, self.pooled[0] * self.pooled[1], slab
        self.scratch("places", places, np.int32, backward=not stored)
        if len(top) == 2:
            self.scratch("x", top[1].shape, self.dtype)
        if self.tiled:
            self.ask_tables(backward=True)
            self.ask_marks(1)
        else:
            self.ask_room()

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        self.kernels.roi_align_lists(self.regions, rows, *lists, changes, self.samples, self.geometry)

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        self.kernels.roi_align_regions(self.regions, parts, rows, diff, count, self.aligned, self.geometry)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features, rows = bottom[0].data, self.widened(bottom[1].data)
        rows = self.check_grids(rows, not self.aligned)
        if self.max and self.batch:
            self.forward_max(features, rows, top)
            return
        self.gather(features, rows, top[0].data)
        for places in top[1:]:
            places.data.fill(-1)

    def repeats(self) -> bool:
        return not self.max and 0 < self.regions < FEW and self.batch > 0 and self.real == self.dtype

    def watch(self) -> tuple[int, Callable[[AnyArray], object]] | None:
        return self.watch_grids(not self.aligned)

    def walk_largest(self, features: AnyArray, rows: AnyArray, top: AnyArray | None, places: AnyArray | None) -> None:
        """The largest samples, into `top`, and their numbers in the bins, into `places`."""
        slabs = self.room("slabs")
        if self.packed:
            self.pack_slabs(features, slabs)
            self.largest.roi_align_max_forward_packed(
                self.channel_slabs * self.regions, slabs, rows, top, places, self.geometry
            )
        else:
            self.largest.roi_align_max_forward(
                slabs.shape[0], features, self.by_place(rows), rows, slabs, top, places, self.geometry
            )

    @property
    def places(self) -> AnyArray:
        """The number in its bin of each largest sample: (slabs, K, bins, channels of a slab)."""
        return self.room("places")

    def forward_max(self, features: AnyArray, rows: AnyArray, top: list[Blob]) -> None:
        self.has_places = self.keep or self.phase == "TRAIN" or len(top) > 1
        self.walk_largest(features, rows, top[0].data, self.places if self.has_places else None)
        if len(top) > 1:
            y, x = top[1].data, top[2].data if len(top) > 2 else self.room("x")
            self.largest.roi_align_max_places(top[1].count, self.places, rows, y, x, self.geometry)

    def backward_max(self, top_diff: AnyArray, features: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        if not self.has_places:
            self.walk_largest(features, rows, None, self.places)
        if self.tiled:
            image, bins = self.tables
            self.largest.roi_align_max_bins(self.regions, rows, image, bins, self.geometry)
            tiles, lists = self.tiles(self.boxes_of(image, bins), self.by_place(rows))
            marks = self.mark_bins(tiles, lists, bins)
            self.largest.roi_align_max_backward_tiles(
                tiles * self.channel_slabs,
                self.slabs_of_top(top_diff),
                self.places,
                lists,
                marks,
                rows,
                diff,
                self.geometry,
            )
            return
        room = self.room("room")
        self.largest.roi_align_max_backward(
            room.shape[0], top_diff, self.places, self.by_place(rows), rows, room, diff, self.geometry
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        rows = (self.checked_before if self.max else self.check_grids)(rows, not self.aligned)
        if self.max:
            self.need(
                not propagate_down[1],
                "a maximum has no gradient for the regions; set propagate_down: false for bottom 1",
            )
            if propagate_down[0] and self.batch:
                self.backward_max(top[0].diff, bottom[0].data, rows, bottom[0].diff)
            return
        self.need(
            not (self.corners and propagate_down[1]),
            "a grid of corners has no gradient for the regions; set propagate_down: false",
        )
        diffs = [blob.diff if wanted else None for blob, wanted in zip(bottom, propagate_down)]
        self.gradients(top[0].diff, bottom[0].data, rows, *diffs)
