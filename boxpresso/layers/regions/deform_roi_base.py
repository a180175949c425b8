"""DeformROIPooling and ModulatedDeformROIPooling: their parameter, and the kernels that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from .listed import Listed
from .region_base import first_numbers

MANY = {"cpu": 4096, "cuda": 0}  # slabs pay where each region has fewer pixels of the maps than this to pay for


class DeformPoolingLayer(Listed):
    """Bottoms: features (B, C, H, W), regions (K, 5), then the offsets and the mask, where there are any."""

    kernels = Kernels("deform_roi.cu")
    slabs = Kernels("deform_roi_slabs.cu")
    in_tiles = Kernels("deform_roi_tiles.cu")
    from_slabs = Kernels("deform_roi_packed.cu")
    moves = Kernels("deform_roi_moves.cu")
    listed = Kernels("deform_roi_lists.cu")
    adaptive_share = 0.5  # one entry for a bin and a pixel
    message = "deform_roi_pooling_param"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = getattr(self.param, self.message)
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)
        self.need(max(self.pooled) <= 1024, f"pooled_h and pooled_w must be at most 1024, got {self.pooled}")
        self.setup_ratio(p.sampling_ratio)
        self.gamma = p.gamma
        self.need(np.isfinite(self.gamma), f"gamma must be finite, got {self.gamma}")
        self.tile = self.kernels.constants["TILE"]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.bins = self.pooled[0] * self.pooled[1]
        for blob, each, what in zip(bottom[2:], (2, 1), ("offsets (x, y)", "mask")):
            wanted = self.regions, each, *self.pooled
            self.need(
                blob.count == np.prod(wanted) and blob.shape[:1] == wanted[:1],
                f"the {what} must be of shape {wanted}, or of as many numbers for each region; got {blob.shape}",
            )
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.padded = -(-self.channels // self.tile) * self.tile
        self.geometry = self.kernels.struct("GridGeometry", **self.fields, sampling_ratio=self.ratio, aligned=True)

    @property
    def features_last(self) -> AnyArray:
        """Room for the features, or for their gradient, with the channels last."""
        return self.scratch("features", (self.batch, self.size[0] * self.size[1], self.padded))

    @property
    def bins_last(self) -> AnyArray:
        """Room for the top, or for its gradient, with the channels last."""
        return self.scratch("bins", (self.regions, self.bins, self.padded))

    def take_scratch(self, bottom: Sequence[Blob], backward: bool) -> None:
        if self.packed:
            self.packed_room()
        if not self.packed or (backward and not self.tiled):
            self.features_last  # noqa: B018  # asking is what counts it
            self.bins_last  # noqa: B018
        if backward and self.tiled:
            self.tile_room(len(bottom) > 2, len(bottom) > 3)
            self.lists_room()
        elif backward and self.by_slabs:
            self.slab_room()

    @property
    def by_slabs(self) -> bool:
        """Whether enough regions share the features for slabs to pay."""
        return MANY[self.device.kind] * self.regions > self.batch * self.size[0] * self.size[1]

    def slab_room(self) -> AnyArray:
        """Room for the gradients by slabs, for each worker."""
        slab = self.slabs.constants["SLAB"]
        at_once = min(self.device.workers, self.batch * -(-self.channels // slab))
        return self.scratch("room", (at_once, 2 * self.size[0] * self.size[1] + 4 * self.bins, slab))

    def tile_room(self, moves: bool, masked: bool) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        """Room for where the bins lie, which of them touch each tile, and the parts of the gradients of offsets and mask."""
        constants = self.moves.constants
        tiles = self.batch * math.prod(-(-size // constants["TILE_SIDE"]) for size in self.size)
        groups, words = -(-self.channel_slabs // constants["TOGETHER"]), -(-self.bins // constants["MARKED"])
        places = self.scratch("places", (self.regions, self.bins, 4))
        marks = self.scratch("marks", (tiles, self.regions, words), np.int32)
        shape = groups, self.regions, self.bins, constants["SLOTS"], 3 if masked else 2
        return places, marks, self.scratch("parts", shape) if moves or masked else None

    def packed_room(self) -> AnyArray:
        """Room for the features in slabs, on a GPU."""
        slab = self.slabs.constants["SLAB"]
        return self.scratch("packed", (self.batch * self.channel_slabs, self.size[0] * self.size[1], slab))

    def turn(self, maps: AnyArray, last: AnyArray) -> None:
        """maps (N, C, area) to last (N, area, padded)."""
        count, area = last.shape[:2]
        self.kernels.deform_roi_turn(count * -(-area // self.tile), maps, last, self.channels, area)

    def turn_back(self, last: AnyArray, maps: AnyArray) -> None:
        """And back."""
        count, area = last.shape[:2]
        self.kernels.deform_roi_turn_back(count * -(-area // self.tile), last, maps, self.channels, area)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions = self.check_grids(bottom[1].data, False)
        _, _, offset, mask = self.four(bottom, "data")
        if self.packed:
            slabs = self.packed_room()
            self.pack_slabs(bottom[0].data, slabs)
            self.from_slabs.deform_roi_forward_packed(
                self.channel_slabs * self.regions, slabs, regions, offset, mask, top[0].data, self.gamma, self.geometry
            )
            return
        self.turn(bottom[0].data, self.features_last)
        self.kernels.deform_roi_forward(
            self.regions * self.bins,
            self.features_last,
            regions,
            offset,
            mask,
            self.bins_last,
            self.gamma,
            self.geometry,
        )
        self.turn_back(self.bins_last, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        regions = self.checked_before(bottom[1].data, False)
        _, _, offset, mask = self.four(bottom, "data")
        feature_diff, _, offset_diff, mask_diff = self.four(bottom, "diff", propagate_down)
        if self.tiled:
            self.backward_tiles(top[0].diff, bottom, regions, feature_diff, offset_diff, mask_diff)
            return
        if self.by_slabs:
            self.backward_slabs(top[0].diff, bottom, feature_diff, offset_diff, mask_diff)
            return
        self.turn(top[0].diff, self.bins_last)
        if offset_diff is not None or mask_diff is not None:
            self.turn(bottom[0].data, self.features_last)
            self.kernels.deform_roi_moves(
                self.regions * self.bins, self.bins_last, self.features_last, regions, offset, mask, offset_diff, mask_diff,
                self.gamma, self.geometry,
            )  # fmt: skip
        if feature_diff is not None:
            self.features_last.fill(0)
            height, shares = self.size[0], self.batch * -(-self.padded // self.kernels.constants["OWNED"])
            band = max(1, height if self.device.kind == "cpu" and shares >= 2 * self.device.workers else 8)
            self.kernels.deform_roi_backward(
                shares * -(-height // band), self.bins_last, regions, offset, mask, self.features_last, self.gamma, band,
                self.geometry,
            )  # fmt: skip
            self.turn_back(self.features_last, feature_diff)

    def backward_tiles(
        self, top_diff: AnyArray, bottom: list[Blob], regions: AnyArray, diff: AnyArray | None, offset_diff: AnyArray | None,
        mask_diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradients that are not None, in tiles."""
        features, _, offset, mask = self.four(bottom, "data")
        moves, masked = offset_diff is not None or mask_diff is not None, mask_diff is not None
        places, marks, parts = self.tile_room(moves, masked)
        boxes = self.scratch("boxes", (self.regions, 5), np.int32)
        self.in_tiles.deform_roi_boxes(self.regions, regions, offset, boxes, places, self.gamma, self.geometry)
        tiles, lists = self.tiles(boxes, first_numbers(self.device, self.regions))
        self.in_tiles.deform_roi_marks(tiles, lists, places, marks, self.geometry)
        if moves:
            kinds = 3 if masked else 2
            groups = -(-self.channel_slabs // self.moves.constants["TOGETHER"])
            self.moves.deform_roi_moves_tiles(
                tiles * groups, top_diff, features, lists, marks, places, parts, kinds, self.geometry
            )
            self.moves.deform_roi_moves_sum(
                self.regions * self.bins, parts, places, mask, offset_diff, mask_diff, self.gamma, kinds, self.geometry
            )
        if diff is None or diff.size == 0:
            return
        given, heads, entries, most = listed = self.lists_room()
        self.listed.deform_roi_prepare(
            self.prepare_blocks(tiles), top_diff, lists, marks, places, mask, given, heads, entries, most, self.geometry
        )
        if self.add_listed(tiles, lists, listed, diff):
            self.in_tiles.deform_roi_backward_tiles(
                tiles * self.channel_slabs, top_diff, lists, marks, places, heads, mask, diff, self.geometry
            )

    def backward_slabs(
        self, top_diff: AnyArray, bottom: list[Blob], diff: AnyArray | None, offset_diff: AnyArray | None,
        mask_diff: AnyArray | None,
    ) -> None:  # fmt: skip
        """The gradients that are not None, by slabs: where many regions share the features."""
        features, regions, offset, mask = self.four(bottom, "data")
        count, room = -(-self.channels // self.slabs.constants["SLAB"]), self.slab_room()
        moves = offset_diff is not None or mask_diff is not None
        parts = self.scratch("parts", (count, self.regions, self.bins, 3)) if moves else None
        self.slabs.deform_roi_slabs_backward(
            room.shape[0], top_diff, features, self.by_place(bottom[1].data), regions, offset, mask, room, diff, parts,
            self.gamma, self.geometry,
        )  # fmt: skip
        if moves:
            self.slabs.deform_roi_slabs_moves(
                self.regions * self.bins, parts, regions, mask, offset_diff, mask_diff, self.gamma, self.geometry
            )

    @staticmethod
    def four(bottom: list[Blob], what: str, wanted: Sequence[bool] | None = None) -> list[AnyArray | None]:
        """The data or diffs of features, regions, offsets and mask: None for one that is not there or not wanted."""
        asked = wanted or [True] * len(bottom)
        return [getattr(b, what) if ask else None for b, ask in zip(bottom, asked)] + [None] * (4 - len(bottom))

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
