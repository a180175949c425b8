"""Averages of bilinear samples in rotated regions, for ROIAlignRotated and RiROIAlignRotated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Blob
from ...device.kernel import Kernels, real_of
from ..core.layer import Layer
from .regions import MOST, by_place, check_grids, check_regions

SLAB = 16  # as in slab.h
BANDS = {"cpu": 1, "cuda": 8}  # parts of a slab's rows that the backward pass gives to blocks of their own


class AlignRotated(Layer):
    """What both layers do: `setup_align` reads the parameters, `pool` and its two gradients work on arrays.

    Regions: (K, 6): batch index, centre x and y, width, height in pixels of the image, angle in radians.
    """

    rotated = Kernels("align_rotated.cu")

    def setup_align(self, p: Any, aligned: bool) -> None:
        """p: the layer's parameter message; aligned: whether half a pixel is taken off and sizes may be below 1."""
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.ratio = p.spatial_scale, p.sampling_ratio
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.need(
            self.ratio < 0 or self.ratio**2 <= MOST, f"sampling_ratio {self.ratio} asks for more than 2^20 samples"
        )
        self.aligned, self.clockwise = int(aligned), int(p.clockwise)
        self.real = real_of(self.dtype)
        self.key: tuple | None = None  # the shapes that the scratch arrays are for

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.size, self.slabs = (height, width), -(-self.channels // SLAB)
        self.regions = check_regions(self, bottom[1], 6)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        key = bottom[0].shape, self.regions
        if self.key != key:
            self.key = key
            self.made: dict[str, Any] = {}

    def scratch(self, name: str, *shape: int, dtype: Any = None) -> Any:
        """An array under a name, kept until the shapes of the bottoms change."""
        if name not in self.made:
            self.made[name] = self.device.empty(shape, dtype or self.real)
        return self.made[name]

    def room(self, name: str, pixels: int) -> Any:
        """Room for slabs of so many pixels: on the CPU one for each worker, which stays in its core's cache."""
        slabs = self.batch * self.slabs
        at_once = min(self.device.workers, slabs) if self.device.kind == "cpu" else slabs
        return self.scratch(name, at_once, pixels, SLAB)

    @property
    def grid(self) -> tuple:
        """The arguments that say where samples lie."""
        return *self.size, *self.pooled, self.scale, self.ratio, self.aligned, self.clockwise

    def check(self, rows: Any) -> None:
        if self.ratio <= 0:
            check_grids(self, np.asarray(rows), self.batch, self.scale, self.pooled, not self.aligned)

    def pack(self, features: Any) -> Any:
        """The features in slabs, with a pixel of zeros behind each."""
        area = self.size[0] * self.size[1]
        packed = self.scratch("packed", self.batch * self.slabs, area + 1, SLAB)
        self.rotated.align_rotated_pack(self.batch * self.slabs, features, packed, self.channels, area)
        return packed

    def pool(self, features: Any, rows: Any, pooled: Any) -> None:
        """pooled (K, C, pooled_h, pooled_w): the averages of each bin."""
        self.check(rows)
        if self.batch == 0:
            pooled.fill(0)
            return
        cpu = self.device.kind == "cpu"
        room = self.room("features", self.size[0] * self.size[1] + 1) if cpu else self.pack(features)
        parts = 1 if cpu else self.regions
        self.rotated.align_rotated_forward(
            room.shape[0] * parts, features, room, by_place(self, rows, self.scale), rows, pooled, parts, int(not cpu),
            self.regions, self.batch, self.channels, *self.grid,
        )  # fmt: skip

    def to_features(self, pooled_diff: Any, rows: Any, diff: Any) -> None:
        """The features' gradient."""
        self.check(rows)
        bands = max(min(BANDS[self.device.kind], self.size[0]), 1)
        room = self.room("sums", self.size[0] * self.size[1])
        self.rotated.align_rotated_backward(
            room.shape[0] * bands, pooled_diff, room, by_place(self, rows, self.scale), rows, diff, bands,
            -(-self.size[0] // bands), self.regions, self.batch, self.channels, *self.grid,
        )  # fmt: skip

    def to_regions(self, features: Any, pooled_diff: Any, rows: Any, diff: Any) -> None:
        """The regions' gradient, angle included."""
        self.check(rows)
        if self.batch == 0:
            diff.fill(0)
            return
        parts = self.scratch("parts", self.slabs, self.regions, 5)
        self.rotated.align_rotated_moves(
            self.slabs * self.regions, self.pack(features), pooled_diff, rows, parts, self.regions, self.batch,
            self.channels, *self.grid,
        )  # fmt: skip
        self.rotated.align_rotated_corners(
            self.regions, parts, rows, diff, self.slabs, self.scale, self.aligned, self.clockwise
        )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
