"""DeformROIPooling and ModulatedDeformROIPooling: their parameter, and the kernels that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .listed_both import ListedBoth, Lists
from .region_base import first_numbers


class DeformPoolingLayer(ListedBoth):
    """Bottoms: features (B, C, H, W), regions (K, 5), then the offsets and the mask, where there are any."""

    kernels = Kernels("deform_roi.cu")
    slabs = Kernels("deform_roi_slabs.cu")
    moves = Kernels("deform_roi_moves.cu")
    listed = Kernels("deform_roi_lists.cu")
    message = "deform_roi_pooling_param"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = getattr(self.param, self.message)
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        self.setup_ratio(p.sampling_ratio)
        self.list_share = 2.0 if self.ratio > 0 else 0.5
        self.gamma = p.gamma
        self.need(np.isfinite(self.gamma), f"gamma must be finite, got {self.gamma}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.bins = self.pooled[0] * self.pooled[1]
        for blob, each, subject in zip(bottom[2:], (2, 1), ("offsets (x, y)", "mask")):
            wanted = self.regions, each, *self.pooled
            self.need(
                blob.count == np.prod(wanted) and blob.shape[:1] == wanted[:1],
                f"the {subject} must be of shape {wanted}, or of as many numbers for each region; got {blob.shape}",
            )
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.geometry = self.kernels.struct("GridGeometry", **self.fields, sampling_ratio=self.ratio, aligned=True)
        of, area, slabs = self.slabs.constants, self.size[0] * self.size[1], self.batch * self.channel_slabs
        if self.packed:
            self.scratch("packed", (slabs, area, of["SLAB"]))
        else:  # some slabs for each worker, each with the bins of a region
            together = of["TOGETHER"]
            at_once = min(self.device.workers, self.batch * -(-self.channel_slabs // together))
            self.scratch("slabs", (at_once, together * (area + self.bins), of["SLAB"]))
        if self.tiled:  # where the bins lie, and which of them touch each tile
            self.ask_lists(len(bottom) > 2)
            words = -(-self.bins // self.listed.constants["MARKED"])
            self.scratch("places", (self.regions, self.bins, 4), backward=True)
            self.scratch("marks", (self.tile_count, self.regions, words), np.int32, backward=True)
        else:
            self.scratch("room", (min(self.device.workers, slabs), 2 * area + 4 * self.bins, of["SLAB"]), backward=True)
            if len(bottom) > 2:
                self.scratch("parts", (self.channel_slabs, self.regions, self.bins, 3), backward=True)

    def most_entries(self) -> int | None:
        """One for a pixel that a bin's samples have."""
        return 4 * self.regions * self.bins * self.ratio**2 if self.ratio > 0 else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions = self.check_grids(bottom[1].data, False)
        _, _, offset, mask = self.four(bottom, "data")
        if self.batch == 0:
            top[0].data.fill(0)
            return
        if self.packed:
            slabs = self.room("packed")
            self.pack_slabs(bottom[0].data, slabs)
            blocks = self.channel_slabs * self.regions
            self.kernels.deform_roi_forward(
                blocks, slabs, regions, offset, mask, top[0].data, self.gamma, self.geometry
            )
            return
        room = self.room("slabs")
        self.slabs.deform_roi_slabs_forward(
            room.shape[0], bottom[0].data, self.by_place(bottom[1].data), regions, offset, mask, room, top[0].data,
            self.gamma, self.geometry,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        regions = self.checked_before(bottom[1].data, False)
        feature_diff, _, offset_diff, mask_diff = self.four(bottom, "diff", propagate_down)
        if self.tiled:
            self.backward_tiles(top[0].diff, bottom, regions, feature_diff, offset_diff, mask_diff)
        else:
            self.backward_slabs(top[0].diff, bottom, feature_diff, offset_diff, mask_diff)

    def backward_tiles(
        self, top_diff: AnyArray, bottom: list[Blob], regions: AnyArray, diff: AnyArray | None, offset_diff: AnyArray | None,
        mask_diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradients that are not None, in tiles."""
        features, _, offset, mask = self.four(bottom, "data")
        moves = offset_diff is not None or mask_diff is not None
        if not moves and (diff is None or diff.size == 0):
            return
        places, marks, boxes = self.room("places"), self.room("marks"), self.room("boxes")
        self.listed.deform_roi_boxes(self.regions, regions, offset, boxes, places, self.gamma, self.geometry)
        tiles, lists = self.tiles(boxes, first_numbers(self.device, self.regions))
        room = self.lists_room(moves)
        self.listed.deform_roi_count(tiles, lists, places, marks, room.heads, room.totals, self.geometry)
        self.listed.deform_roi_prepare(
            self.prepare_blocks(tiles), top_diff, lists, marks, places, mask, room.packed_diff, room.heads, room.totals,
            room.entries, room.most, self.geometry,
        )  # fmt: skip
        self.walk_lists(tiles, lists, room, features, diff)
        if moves:
            self.backward_moves(boxes, places, room, features, mask, offset_diff, mask_diff)
        if diff is not None and not room.whole:
            self.listed.deform_roi_unlisted(
                tiles * self.channel_slabs,
                room.packed_diff,
                lists,
                marks,
                places,
                room.heads,
                mask,
                diff,
                self.geometry,
            )

    def backward_moves(
        self, boxes: AnyArray, places: AnyArray, room: Lists, features: AnyArray | None, mask: AnyArray | None,
        offset_diff: AnyArray | None, mask_diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradients of offsets and mask, from the products of lists."""
        of, count = self.moves.constants, self.regions * self.bins
        self.moves.deform_roi_moves_listed(
            -(-count // of["MOVED"]), boxes, room.heads, room.entries, room.products, room.most, places, mask, offset_diff,
            mask_diff, self.gamma, self.geometry,
        )  # fmt: skip
        if not room.whole:
            self.moves.deform_roi_moves_rest(
                -(-count // of["REST"]), boxes, room.heads, places, mask, room.packed_diff, features, offset_diff, mask_diff,
                self.gamma, self.geometry,
            )  # fmt: skip

    def backward_slabs(
        self, top_diff: AnyArray, bottom: list[Blob], diff: AnyArray | None, offset_diff: AnyArray | None,
        mask_diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradients that are not None, by slabs."""
        features, regions, offset, mask = self.four(bottom, "data")
        room = self.room("room")
        moves = offset_diff is not None or mask_diff is not None
        parts = self.room("parts") if moves else None
        self.slabs.deform_roi_slabs_backward(
            room.shape[0], top_diff, features, self.by_place(bottom[1].data), regions, offset, mask, room, diff, parts,
            self.gamma, self.geometry,
        )  # fmt: skip
        if moves:
            self.slabs.deform_roi_slabs_moves(
                self.regions * self.bins, parts, regions, mask, offset_diff, mask_diff, self.gamma, self.geometry
            )

    @staticmethod
    def four(bottom: list[Blob], attribute: str, wanted: Sequence[bool] | None = None) -> list[AnyArray | None]:
        """The data or diffs of features, regions, offsets and mask: None for one that is not there or not wanted."""
        asked = wanted or [True] * len(bottom)
        return [getattr(b, attribute) if ask else None for b, ask in zip(bottom, asked)] + [None] * (4 - len(bottom))

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
