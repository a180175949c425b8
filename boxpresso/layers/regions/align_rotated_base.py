"""Averages of bilinear samples in rotated regions, for ROIAlignRotated and RiROIAlignRotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .region_base import RegionLayer


class AlignRotated(RegionLayer):
    """What both layers do: `setup_align` reads the parameters, `pool` and its two gradients work on arrays.

    Regions: (K, 6): batch index, centre x and y, width, height in pixels of the image, angle in radians.
    """

    rotated = Kernels("align_rotated.cu")
    in_tiles = Kernels("align_rotated_tiles.cu")
    columns = ("batch index", "centre x", "centre y", "width", "height", "angle")

    def setup_align(self, p: Any, aligned: bool) -> None:
        """p: the layer's parameter message; aligned: whether half a pixel is taken off and sizes may be below 1."""
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        self.setup_ratio(p.sampling_ratio)
        self.aligned, self.clockwise = bool(aligned), int(p.clockwise)
        self.slab = self.rotated.constants["SLAB"]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.slabs = -(-self.channels // self.slab)
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.geometry = self.rotated.struct(
            "GridGeometry", **self.fields, sampling_ratio=self.ratio, aligned=self.aligned
        )

    def room(self, name: str, pixels: int) -> AnyArray:
        """Room for slabs of so many pixels: on the CPU one for each worker, which stays in its core's cache."""
        slabs = self.batch * self.slabs
        at_once = min(self.device.workers, slabs) if self.device.kind == "cpu" else slabs
        return self.scratch(name, (at_once, pixels, self.slab))

    def take_scratch(self, bottom: Sequence[Blob], backward: bool) -> None:
        area = self.size[0] * self.size[1]
        if self.device.kind == "cpu":
            self.room("features", area + 1)
        else:
            self.scratch("packed", (self.batch * self.slabs, area + 1, self.slab))
        if backward and not self.tiled:
            self.room("sums", area)

    def pack(self, features: AnyArray) -> AnyArray:
        """The features in slabs, with a pixel of zeros behind each."""
        area = self.size[0] * self.size[1]
        packed = self.scratch("packed", (self.batch * self.slabs, area + 1, self.slab))
        self.pack_slabs(features, packed, 1)
        return packed

    def pool(self, features: AnyArray, rows: AnyArray, pooled: AnyArray, orientations: int = 0) -> None:
        """pooled (K, C, pooled_h, pooled_w): the averages of each bin, or the mixtures of so many orientations of them."""
        rows = self.check_grids(rows, not self.aligned)
        if self.batch == 0:
            pooled.fill(0)
            return
        cpu = self.device.kind == "cpu"
        room = self.room("features", self.size[0] * self.size[1] + 1) if cpu else self.pack(features)
        parts = 1 if cpu else self.regions
        self.rotated.align_rotated_forward(
            room.shape[0] * parts, features if cpu else None, room, self.by_place(rows), rows, pooled, parts, orientations,
            self.clockwise, self.geometry,
        )  # fmt: skip

    def to_features(self, pooled_diff: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The features' gradient."""
        rows = self.check_grids(rows, not self.aligned)
        if self.tiled:
            boxes = self.scratch("boxes", (self.regions, 5), np.int32)
            self.rotated.align_rotated_boxes(self.regions, rows, boxes, self.clockwise, self.geometry)
            tiles, lists = self.tiles(boxes, self.by_place(rows))
            self.in_tiles.align_rotated_backward_tiles(
                tiles * self.slabs, pooled_diff, lists, rows, diff, self.clockwise, self.geometry
            )
            return
        room = self.room("sums", self.size[0] * self.size[1])
        self.rotated.align_rotated_backward(
            room.shape[0], pooled_diff, room, self.by_place(rows), rows, diff, self.clockwise, self.geometry,
        )  # fmt: skip

    def to_regions(self, features: AnyArray, pooled_diff: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The regions' gradient, angle included."""
        rows = self.check_grids(rows, not self.aligned)
        if self.batch == 0:
            diff.fill(0)
            return
        parts = self.scratch("parts", (self.slabs, self.regions, 5))
        self.rotated.align_rotated_moves(
            self.slabs * self.regions, self.pack(features), pooled_diff, rows, parts, self.clockwise, self.geometry
        )
        self.rotated.align_rotated_corners(self.regions, parts, rows, diff, self.slabs, self.clockwise, self.geometry)
