"""ROIPooling: the largest feature in each bin of each region (Fast R-CNN)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Layer
from .regions import KERNELS, check_regions, widened

SLAB = 16  # as in slab.h


class ROIPooling(Layer, type="ROIPooling", param="roi_pooling_param", bottoms=2, tops=(1, 2)):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2, ends included, pixels of the image.

    top (K, C, pooled_h, pooled_w). A region is scaled by spatial_scale and rounded to whole pixels, halves away from
    zero; one whose end comes before its start is 1 x 1. Its bins are cut at floor(p L / P) and ceil((p + 1) L / P),
    clipped to the map, and may share pixels; an empty one gives 0. The gradient goes to the pixel that was the largest,
    the first of equals; a second top, on request, says which: h W + w, or -1 for none. pad_ratio widens a region on
    each side by that part of its size (MS-CNN). A region with NaN, infinity or a batch index outside the batch gives 0
    and gets no gradient. Source: Girshick 2015 and its Caffe, but the gradient goes to the largest pixel also where
    that Caffe drops it (malformed regions, edges past the region).

    Forward keeps the places in phase TRAIN, where a second top asks for them, or where `keep` is set; detection needs none.
    Without them backward walks the bins again. float16 is a type to store in; regions may be float32 beside it.

    With `last` set, which boxpresso.ops does, features are (B, H, W, C) and the tops (K, pooled_h, pooled_w, C).
    """

    kernels = Kernels("roi_pooling.cu")
    mmcv = False  # whether to cut bins as mmcv does
    last = False  # whether the channels are the last axis
    keep = False  # whether forward keeps the places for a backward that may come
    kept = False  # whether it has kept them

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        p = self.param.roi_pooling_param
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.pad_ratio = p.spatial_scale, p.pad_ratio
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.slabs = self.device.empty((0,), self.real)  # made by reshape
        self.places = self.device.empty((0,), np.int32)  # of the top's shape, once they are asked for
        self.none = self.device.empty((0,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = self.axes(bottom[0], 4, "bottom 0")
        self.batch, self.channels, *self.size = (shape[0], shape[3], *shape[1:3]) if self.last else shape
        self.regions, self.count = check_regions(self, bottom[1], 5), -(-self.channels // SLAB)
        pooled = (*self.pooled, self.channels) if self.last else (self.channels, *self.pooled)
        for blob in top:
            blob.reshape(self.regions, *pooled)
        if self.slabs.shape != (self.batch, self.count, math.prod(self.size), SLAB):
            self.slabs = self.device.empty((self.batch, self.count, math.prod(self.size), SLAB), self.real)
        self.image = self.device.empty((self.regions,), np.int32)
        self.bins = self.device.empty((self.regions, 2 * sum(self.pooled) + 2), np.int32)

    def cut(self, bottom: list[Blob]) -> None:
        """The bins of all regions."""
        self.kernels.roi_pooling_bins(
            self.regions, widened(self, bottom[1].data, self.real), self.image, self.bins, self.batch, *self.size,
            *self.pooled, self.scale, self.pad_ratio, self.mmcv,
        )  # fmt: skip

    def walk(self, features, top: Blob, values: bool, argmax: bool) -> None:
        """The largest numbers, into `top`, their places, into `self.places`, or both."""
        area = math.prod(self.size)
        if argmax and self.places.shape != top.shape:
            self.places = self.device.empty(top.shape, np.int32)
        self.kernels.roi_pooling_pack(self.batch * self.count, features, self.slabs, self.channels, area, self.last)
        self.kernels.roi_pooling_forward(
            self.count * self.regions, self.slabs, self.image, self.bins, top.data if values else self.none, self.places,
            values, argmax, self.regions, self.channels, area, self.size[1], *self.pooled, self.last,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kept = self.keep or self.phase == "TRAIN" or len(top) > 1
        self.cut(bottom)
        self.walk(bottom[0].data, top[0], True, self.kept)
        if len(top) > 1:
            self.kernels.roi_pooling_places(top[1].count, self.places, top[1].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        self.cut(bottom)
        if not self.kept:
            self.walk(bottom[0].data, top[0], False, True)
        diff = bottom[0].diff
        sums = diff if self.real == self.dtype else self.device.empty(diff.shape, self.real)
        lines = self.last and self.device.kind == "cpu"
        group, bands = (self.channels, self.device.workers) if lines else (SLAB, 1)
        self.kernels.roi_pooling_backward(
            self.batch * -(-self.channels // max(group, 1)) * bands, top[0].diff, self.places, self.image, self.bins, sums,
            group, bands, self.regions, self.channels, *self.size, *self.pooled, self.last,
        )  # fmt: skip
        if sums is not diff:
            KERNELS.on(self.device).narrow(diff.size, sums, diff)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
