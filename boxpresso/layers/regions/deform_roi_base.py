"""DeformROIPooling and ModulatedDeformROIPooling: their parameter, and the kernels that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...device.blob import Blob
from ...device.kernel import Kernels, real_of
from ..core.layer import Layer
from .regions import MOST, check_grids, check_regions

TILE, OWNED = 16, 64  # as in channels.h and deform_roi.cu


class DeformPoolingLayer(Layer):
    """Bottoms: features (B, C, H, W), regions (K, 5), then the offsets and the mask, where there are any."""

    kernels = Kernels("deform_roi.cu")
    message = "deform_roi_pooling_param"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = getattr(self.param, self.message)
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.ratio, self.gamma = p.spatial_scale, p.sampling_ratio, p.gamma
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.need(np.isfinite(self.gamma), f"gamma must be finite, got {self.gamma}")
        self.need(
            self.ratio**2 <= MOST or self.ratio < 0, f"sampling_ratio {self.ratio} asks for more than 2^20 samples"
        )
        self.real = real_of(self.dtype)
        self.turned = self.rows = self.device.empty((0,), self.real)  # features and bins with the channels last

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.regions, self.bins = check_regions(self, bottom[1], 5), self.pooled[0] * self.pooled[1]
        for blob, each, what in zip(bottom[2:], (2, 1), ("offsets (x, y)", "mask")):
            wanted = self.regions, each, *self.pooled
            self.need(
                blob.count == np.prod(wanted) and blob.shape[:1] == wanted[:1],
                f"the {what} must be of shape {wanted}, or of as many numbers for each region; got {blob.shape}",
            )
        self.padded = -(-channels // TILE) * TILE
        top[0].reshape(self.regions, channels, *self.pooled)
        if self.turned.shape != (batch, height * width, self.padded):
            self.turned = self.device.empty((batch, height * width, self.padded), self.real)
        if self.rows.shape != (self.regions, self.bins, self.padded):
            self.rows = self.device.empty((self.regions, self.bins, self.padded), self.real)

    def turn(self, maps: Any, last: Any, channels: int) -> None:
        tiles = -(-last.shape[1] // TILE)
        self.kernels.deform_roi_turn(last.shape[0] * tiles, maps, last, channels, self.padded, last.shape[1], tiles)

    def turn_back(self, last: Any, maps: Any, channels: int) -> None:
        tiles = -(-last.shape[1] // TILE)
        self.kernels.deform_roi_turn_back(
            last.shape[0] * tiles, last, maps, channels, self.padded, last.shape[1], tiles
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = bottom[0].shape
        if self.ratio <= 0:
            check_grids(self, np.asarray(bottom[1].data), batch, self.scale, self.pooled, False)
        _, rois, offset, mask = self.four(bottom, "data")
        self.turn(bottom[0].data, self.turned, channels)
        self.kernels.deform_roi_forward(
            self.regions * self.bins, self.turned, rois, offset, mask, self.rows, batch, self.padded, height, width,
            *self.pooled, self.scale, self.ratio, self.gamma,
        )  # fmt: skip
        self.turn_back(self.rows, top[0].data, channels)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        batch, channels, height, width = bottom[0].shape
        features, rois, offset, mask = self.four(bottom, "data")
        feature_diff, _, offset_diff, mask_diff = self.four(bottom, "diff", propagate_down)
        sizes = batch, self.padded, height, width, *self.pooled, self.scale, self.ratio, self.gamma
        self.turn(top[0].diff, self.rows, channels)
        if offset_diff is not None or mask_diff is not None:
            self.turn(features, self.turned, channels)
            self.kernels.deform_roi_moves(
                self.regions * self.bins, self.rows, self.turned, rois, offset, mask, offset_diff, mask_diff, *sizes
            )
        if feature_diff is not None:
            self.turned.fill(0)
            shares = batch * -(-self.padded // OWNED)
            band = max(1, height if self.device.kind == "cpu" and shares >= 2 * self.device.workers else 8)
            self.kernels.deform_roi_backward(
                shares * -(-height // band), self.rows, rois, offset, mask, self.turned, self.regions, *sizes, band
            )
            self.turn_back(self.turned, feature_diff, channels)

    @staticmethod
    def four(bottom: list[Blob], what: str, wanted: Sequence[bool] | None = None) -> list[Any]:
        """The data or diffs of features, regions, offsets and mask: None for one that is not there or not wanted."""
        asked = wanted or [True] * len(bottom)
        return [getattr(b, what) if ask else None for b, ask in zip(bottom, asked)] + [None] * (4 - len(bottom))

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
