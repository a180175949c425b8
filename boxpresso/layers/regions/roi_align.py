"""ROIAlign: bilinear samples in each bin of each region, their average or the largest (Mask R-CNN)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ...proto.errors import BoxpressoWarning
from ..core import Layer
from .regions import KERNELS, MOST, by_place, check_grids, check_regions, widened

SLAB, PART = 16, 16  # as in slab.h and roi_align.cu
LINES = {"cpu": 14, "cuda": 56}  # bins of channels that a block takes, about: that its planes stay in a core's cache
MANY = {"cpu": 4096, "cuda": 0}  # slabs pay where each region has fewer pixels of the maps than this to pay for
OTHERS = {
    "pad_ratio": "MS-CNN's and others'",
    "roi_end_mode": "an accelerator vendor's",
    "position_sensitive": "another fork's position-sensitive",
    "topk": "PerfXLab's pyramid",
    "aligned_h": "chuanqi305's",
    "aligned_w": "chuanqi305's",
}


class ROIAlign(Layer, type="ROIAlign", param=("roi_align_param", "roi_pooling_param"), bottoms=2, tops=(1, 3)):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the image.

    top 0 (K, C, pooled_h, pooled_w). roi_align_param: a region is scaled by spatial_scale, its size is at least 1; with
    `aligned` half a pixel is taken off and there is no smallest size. Each bin is the average (pool_mode AVG) or the
    largest (MAX) of sampling_ratio^2 bilinear samples, or, from 0 down, of ceil(size of the bin) in each direction
    (sample_ratio is another name). A sample outside [-1, H] x [-1, W] counts as 0. MAX offers tops 1 and 2, where the
    largest sample lies: its y and its x on the map, -1 where none is larger than the smallest number.

    Gradients: to the features, through the four pixels of each sample; of AVG also to the regions where propagate_down
    asks for it, with the number of samples taken as fixed, which no other program has. A sample of MAX exactly at y = -1
    loses its gradient, as in mmcv.

    A region with NaN, infinity or a batch index outside the batch gives 0; one whose bins would take more than 2^20
    samples is an error; an aligned one of negative size gives 0, or with a fixed sampling_ratio samples backwards; MAX of
    no samples is the smallest number. float16 is a type to store in: regions may be float32 beside it, and all
    arithmetic is in float32.

    Forks have other operators under this name. With roi_pooling_param it is Cascade R-CNN's: one sample at each corner of
    the pooled_h x pooled_w cells of a region that is widened by pad_ratio of its size on each side, half a pixel taken
    off, so that top is (K, C, pooled_h + 1, pooled_w + 1); a Pooling layer takes their average. A sample outside
    [-0.5, H - 0.5] x [-0.5, W - 0.5] is 0, and so is a region without a size. Others read the same fields as a maximum:
    a warning says so. What fields tell apart (roi_end_mode, position_sensitive, topk, aligned_h, pad_ratio in
    roi_align_param, bi_type) is refused; the maximum of caffe-mask-rcnn, fallingdust and fireae reads roi_align_param with
    the same three fields, and nothing tells it from the average.
    Sources: He et al. 2017; Cai and Vasconcelos 2018 (corners); numbers as mmcv, detectron2 and torchvision have them.
    """

    kernels = Kernels("roi_align.cu")
    largest = Kernels("roi_align_max.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.corners = not self.param.HasField("roi_align_param")
        p = self.param.roi_pooling_param if self.corners else self.param.roi_align_param
        for name, whose in OTHERS.items():
            self.need(
                self.corners or not getattr(p, name),
                f"{name} belongs to {whose} ROIAlign, an operator that Boxpresso does not have",
            )
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        self.scale = p.spatial_scale
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        if self.corners:
            self.setup_corners(p)
        else:
            self.aligned, self.max, self.pad_ratio = int(p.aligned), p.pool_mode == p.MAX, 0.0
            self.ratio = p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_ratio
        self.need(
            self.ratio < 0 or self.ratio**2 <= MOST, f"sampling_ratio {self.ratio} asks for more than 2^20 samples"
        )
        self.need(self.max or len(top) == 1, "tops 1 and 2 are where the maximum lies; an average has only the first")
        self.real = real_of(self.dtype)
        self.key: tuple | None = None  # the shapes that the scratch arrays are for

    def setup_corners(self, p) -> None:
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
        self.aligned, self.max, self.ratio, self.pad_ratio = 1, False, 1, p.pad_ratio

    def entries(self, size: int, bins: int) -> int:
        """Entries that an axis of `size` pixels needs at most: two for each pixel of a bin; neighbours share pixels."""
        by_pixel = 2 * (size + 1 + 3 * bins)
        return by_pixel if self.ratio <= 0 else min(by_pixel, 2 * self.ratio * bins)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels, *self.size = self.axes(bottom[0], 4, "bottom 0")
        self.regions = check_regions(self, bottom[1], 5)
        for blob in top:
            blob.reshape(self.regions, self.channels, *self.pooled)
        self.rooms = [self.entries(size, bins) for size, bins in zip(self.size, self.pooled)]
        key = bottom[0].shape, self.regions
        if self.key != key:
            self.key = key
            self.made: dict[str, tuple] = {}

    def scratch(self, name: str, *arrays: tuple[tuple[int, ...], object]) -> tuple:
        """Arrays of these shapes and dtypes under a name, kept until the shapes of the bottoms change."""
        if name not in self.made:
            self.made[name] = tuple(self.device.empty(shape, dtype) for shape, dtype in arrays)
        return self.made[name]

    @property
    def lists(self) -> tuple:
        """start, at and weight of the lists by bin."""
        count, entries = (self.regions, sum(self.pooled) + 2), (self.regions, sum(self.rooms))
        return self.scratch("lists", (count, np.int32), (entries, np.int32), (entries, self.real))

    @property
    def heads(self) -> tuple:
        """image, inverse and head of each region."""
        k = self.regions
        return self.scratch("heads", ((k,), np.int32), ((k,), self.real), ((k, 4), np.int32))

    @property
    def in_slabs(self) -> bool:
        """Whether so many regions share the features that bringing them into slabs pays. On a GPU that would leave too few
        blocks for the backward pass."""
        return MANY[self.device.kind] * self.regions > self.batch * self.size[0] * self.size[1]

    def room(self):
        """Room for slabs, each with the bins of a region: on the CPU one for each worker, which stays in its core's cache."""
        slabs = self.batch * -(-self.channels // SLAB)
        at_once = min(self.device.workers, slabs) if self.device.kind == "cpu" else slabs
        pixels = self.size[0] * self.size[1] + self.pooled[0] * self.pooled[1]
        return self.scratch("room", ((at_once, pixels, SLAB), self.real))[0]

    def make_lists(self, rows, slopes=None) -> None:
        start, at, weight = self.lists
        slope, lever = slopes or (weight, weight)
        self.kernels.roi_align_lists(
            self.regions, rows, *self.heads, start, at, weight, slope, lever, int(slopes is not None), self.batch,
            *self.size, *self.pooled, *self.rooms, self.scale, self.ratio, self.aligned,
            int(self.corners), self.pad_ratio,
        )  # fmt: skip

    def turn_lists(self) -> tuple:
        """start, bin and weight of the lists by pixel."""
        pixels, entries = (self.regions, sum(self.size) + 2), (self.regions, sum(self.rooms))
        turned = self.scratch("turned", (pixels, np.int32), (entries, np.int32), (entries, self.real))
        head = self.heads[-1]
        self.kernels.roi_align_turn(self.regions, head, *self.lists, *turned, *self.size, *self.pooled, *self.rooms)
        return turned

    def check(self, rows) -> None:
        if self.ratio <= 0:
            check_grids(self, np.asarray(rows), self.batch, self.scale, self.pooled, not self.aligned)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features, rows = bottom[0].data, widened(self, bottom[1].data, self.real)
        self.check(rows)
        if self.batch == 0:
            for blob in top:
                blob.data.fill(0 if blob is top[0] else -1)
        elif self.max:
            self.forward_max(features, rows, top)
        elif self.in_slabs:
            self.make_lists(rows)
            room, order = self.room(), by_place(self, rows, self.scale)
            self.kernels.roi_align_forward_slabs(
                room.shape[0], features, order, *self.heads, *self.lists, room, top[0].data, self.regions, self.batch,
                self.channels, *self.size, *self.pooled, *self.rooms,
            )  # fmt: skip
        else:
            self.make_lists(rows)
            group = max(LINES[self.device.kind] // self.pooled[0], 1)
            self.kernels.roi_align_forward(
                -(-self.channels // group) * self.regions, features, *self.heads, *self.lists, top[0].data, self.regions,
                self.channels, group, *self.size, *self.pooled, *self.rooms,
            )  # fmt: skip

    def forward_max(self, features, rows, top: list[Blob]) -> None:
        area, slabs = self.size[0] * self.size[1], -(-self.channels // SLAB)
        (packed,) = self.scratch("slabs", ((self.batch, slabs, area, SLAB), self.real))
        places = self.scratch("places", *[(top[0].shape, self.real)] * 2)
        self.largest.roi_align_max_pack(self.batch * slabs, features, packed, self.channels, area)
        self.largest.roi_align_max_forward(
            slabs * self.regions, packed, rows, top[0].data, *places, self.regions, self.batch, self.channels, *self.size,
            *self.pooled, self.scale, self.ratio, self.aligned,
        )  # fmt: skip
        for place, blob in zip(places, top[1:]):
            KERNELS.on(self.device).narrow(blob.count, place, blob.data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = widened(self, bottom[1].data, self.real)
        if propagate_down[0]:
            self.backward_features(top[0].diff, rows, bottom[0].diff)
        if propagate_down[1]:
            self.need(not self.corners, "a grid of corners has no gradient for the regions; set propagate_down: false")
            self.need(not self.max, "a maximum has no gradient for the regions; set propagate_down: false for bottom 1")
            self.backward_regions(top[0].diff, bottom[0].data, rows, bottom[1].diff)

    def backward_features(self, top_diff, rows, diff) -> None:
        if self.batch == 0:
            return
        if not self.max:
            self.check(rows)
            self.make_lists(rows)
            turned = self.turn_lists()
        if self.in_slabs and not self.max:
            room, order = self.room(), by_place(self, rows, self.scale)
            self.kernels.roi_align_backward_slabs(
                room.shape[0], top_diff, order, *self.heads, *self.lists, *turned, room, diff, self.regions, self.batch,
                self.channels, *self.size, *self.pooled, *self.rooms,
            )  # fmt: skip
            return
        planes = self.batch * self.channels
        sums = diff if self.real == self.dtype else self.scratch("sums", (diff.shape, self.real))[0]
        if self.max:
            places = self.scratch("places", *[(top_diff.shape, self.real)] * 2)
            self.largest.roi_align_max_backward(
                planes, top_diff, *places, rows, sums, self.regions, self.batch, self.channels, *self.size, *self.pooled,
                self.scale, self.ratio, self.aligned,
            )  # fmt: skip
        else:
            self.kernels.roi_align_backward(
                planes, top_diff, *self.heads, *turned, sums, self.regions, self.channels, *self.size, *self.pooled,
                *self.rooms,
            )  # fmt: skip
        if sums is not diff:
            KERNELS.on(self.device).narrow(diff.size, sums, diff)

    def backward_regions(self, top_diff, features, rows, diff) -> None:
        parts = -(-self.channels // PART)
        entries = (self.regions, sum(self.rooms))
        slopes = self.scratch("slopes", (entries, self.real), (entries, self.real))
        (sums,) = self.scratch("parts", ((parts, self.regions, 4), self.real))
        if self.batch == 0:
            diff.fill(0)
            return
        self.check(rows)
        self.make_lists(rows, slopes)
        self.kernels.roi_align_moves(
            parts * self.regions, features, top_diff, *self.heads, *self.lists, *slopes, sums, self.regions, self.channels,
            *self.size, *self.pooled, *self.rooms,
        )  # fmt: skip
        self.kernels.roi_align_corners(self.regions, sums, rows, diff, parts, *self.pooled, self.scale, self.aligned)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
