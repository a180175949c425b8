"""Averages of bilinear samples in rotated regions, for ROIAlignRotated and RiROIAlignRotated."""

from __future__ import annotations

from typing import Any

from ...device import AnyArray, Blob, Kernels
from .listed import Listed

ENOUGH = 2048  # blocks that a GPU is to have before one takes several slabs
MANY_SAMPLES = (
    4  # of an axis of a bin, from which on the CPU finds them once for slabs that do not fit its nearer caches
)


class AlignRotated(Listed):
    """What both layers do: `setup_align` reads the parameters, `pool` and its two gradients work on arrays.

    Regions: (K, 6): batch index, centre x and y, width, height in pixels of the image, angle in radians.
    """

    rotated = Kernels("align_rotated.cu")
    listed = Kernels("align_rotated_lists.cu")
    together = True
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
        area, cpu, together = self.size[0] * self.size[1], self.device.kind == "cpu", self.slabs_together
        at_once = self.batch * -(-self.slabs // together)
        at_once = together * (min(self.device.workers, at_once) if cpu else at_once)
        if cpu:  # `together` for each worker, which stay in its core's caches
            self.scratch("features", (at_once, area + 1, self.slab))
        self.scratch("packed", (self.batch * self.slabs, area + 1, self.slab), backward=cpu)
        if self.tiled:
            self.ask_lists()
        else:
            self.scratch("sums", (at_once, area + self.rotated.constants["APART"], self.slab), backward=True)
        self.scratch("parts", (self.slabs, self.regions, 5), backward=True)

    @property
    def slabs_together(self) -> int:
        """Slabs for which a block of forward finds samples once, where all workers, or a GPU's multiprocessors, have some."""
        most: int = self.rotated.constants["MOST_TOGETHER"] * 4 // self.real.itemsize
        if self.device.kind == "cpu":
            many = self.ratio <= 0 or self.ratio >= MANY_SAMPLES
            return most if many and self.batch * self.slabs >= most * self.device.workers else 1
        return most if self.regions * self.batch * self.slabs >= ENOUGH * most else 1

    def pack(self, features: AnyArray) -> AnyArray:
        """The features in slabs, with a pixel of zeros behind each."""
        packed = self.room("packed")
        self.pack_slabs(features, packed, 1)
        return packed

    def pool(self, features: AnyArray, rows: AnyArray, pooled: AnyArray, orientations: int = 0) -> None:
        """pooled (K, C, pooled_h, pooled_w): the averages of each bin, or the mixtures of so many orientations of them."""
        rows = self.check_grids(rows, not self.aligned)
        if self.batch == 0:
            pooled.fill(0)
            return
        cpu, together = self.device.kind == "cpu", self.slabs_together
        room = self.room("features") if cpu else self.pack(features)
        parts = 1 if cpu else self.regions
        groups = room.shape[0] // together if cpu else self.batch * -(-self.slabs // together)
        self.rotated.align_rotated_forward(
            groups * parts, features if cpu else None, room, self.by_place(rows), rows, pooled, parts, together, orientations,
            self.clockwise, self.geometry,
        )  # fmt: skip

    def to_features(self, pooled_diff: AnyArray, rows: AnyArray, diff: AnyArray, orientations: int = 0) -> None:
        """The features' gradient; on a GPU that of mixtures of so many orientations, where `mixes` says so."""
        rows = self.check_grids(rows, not self.aligned)
        if self.tiled:
            self.to_tiles(pooled_diff, rows, diff, orientations)
            return
        together, room = self.slabs_together, self.room("sums")
        self.rotated.align_rotated_backward(
            room.shape[0] // together, pooled_diff, room, self.by_place(rows), rows, diff, together, self.clockwise,
            self.geometry,
        )  # fmt: skip

    def mixes(self, orientations: int) -> bool:
        """Whether `to_features` takes the gradient of mixtures of so many orientations."""
        return self.tiled and self.listed.constants["PACKED_TOGETHER"] % orientations == 0

    def to_tiles(self, pooled_diff: AnyArray, rows: AnyArray, diff: AnyArray, orientations: int) -> None:
        """The features' gradient from lists of each tile's samples, and of tiles whose lists have no room slab by slab."""
        if diff.size == 0:
            return
        boxes, g = self.room("boxes"), self.geometry
        self.rotated.align_rotated_boxes(self.regions, rows, boxes, self.clockwise, g)
        tiles, lists = self.tiles(boxes, self.by_place(rows))
        packed_diff, heads, entries, most = listed = self.lists_room()
        parts = self.packed_parts
        for half, packed in enumerate((parts // 2, parts - parts // 2)):
            self.listed.align_rotated_prepare(
                tiles + packed,
                pooled_diff,
                rows,
                lists,
                packed_diff,
                heads,
                entries,
                most,
                orientations,
                self.clockwise,
                half,
                g,
            )
        if self.add_listed(tiles, lists, listed, diff):
            blocks = tiles * self.slabs // self.listed.constants["TILES_OF_A_BLOCK"] + 1
            self.listed.align_rotated_unlisted(blocks, packed_diff, lists, heads, rows, diff, self.clockwise, g)

    def to_regions(self, features: AnyArray, pooled_diff: AnyArray, rows: AnyArray, diff: AnyArray) -> None:
        """The regions' gradient, angle included."""
        rows = self.check_grids(rows, not self.aligned)
        if self.batch == 0:
            diff.fill(0)
            return
        parts = self.room("parts")
        self.rotated.align_rotated_moves(
            self.slabs * self.regions, self.pack(features), pooled_diff, rows, parts, self.clockwise, self.geometry
        )
        self.rotated.align_rotated_corners(self.regions, parts, rows, diff, self.slabs, self.clockwise, self.geometry)
