"""ROIAlign: the average of bilinear samples in each bin of each region (Mask R-CNN)."""

from __future__ import annotations

import numpy as np

from .core import Kernels, Layer

TILE, OWNED = 16, 64  # as in channels.h and roi_align.cu
MOST = 2**20  # samples of a bin: more is no region but an error


class ROIAlign(Layer, type="ROIAlign", bottoms=2, tops=1):
    """Bottoms: features (B, C, H, W); regions (K, 5): batch index, x1, y1, x2, y2 in pixels of the image.

    top (K, C, pooled_h, pooled_w). roi_align_param: a region is scaled by spatial_scale, its size is at least 1; with
    `aligned` half a pixel is taken off and there is no smallest size. Each bin is the average of sampling_ratio^2
    samples, or, from 0 down, of ceil(size of the bin) in each direction. A sample outside [-1, H] x [-1, W] counts as
    0; the gradient goes to the four pixels of each sample, none to the regions. A region with NaN, infinity or a batch
    index outside the batch gives 0; one whose bins would take more than 2^20 samples is an error; an aligned one of
    negative size gives 0, or with a fixed sampling_ratio samples backwards.
    Source: He et al. 2017; numbers as mmcv, detectron2 and torchvision have them.
    """

    kernels = Kernels("roi_align.cu")

    def setup(self, bottom, top) -> None:
        p = self.param.roi_align_param
        self.need(
            self.param.HasField("roi_align_param"),
            "roi_align_param is missing; an ROIAlign with roi_pooling_param (Cascade R-CNN's corner grid, MS-CNN's and "
            "others' maximum) is another operator of that name, not known here",
        )
        self.need(p.pool_mode == p.AVG, "pool_mode MAX is not there yet; AVG, the default, is")
        for name in ("pad_ratio", "roi_end_mode", "position_sensitive", "topk", "aligned_h", "aligned_w"):
            self.need(not getattr(p, name), f"{name} belongs to another program's ROIAlign, which is not known here")
        self.pooled = p.pooled_h, p.pooled_w
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.scale, self.aligned = p.spatial_scale, int(p.aligned)
        self.need(0 < self.scale < np.inf, f"spatial_scale must be positive, got {self.scale}")
        self.turned = self.device.empty((0,), self.dtype)  # the features with the channels last, made by reshape
        self.ratio = p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_ratio
        self.need(
            self.ratio**2 <= MOST or self.ratio < 0, f"sampling_ratio {self.ratio} asks for more than 2^20 samples"
        )

    def reshape(self, bottom, top) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        shape = bottom[1].shape
        self.need(
            len(shape) >= 2 and np.prod(shape[1:]) == 5,
            f"bottom 1, the regions, must be (K, 5): batch index, x1, y1, x2, y2; got {shape}",
        )
        self.regions, self.padded = shape[0], -(-channels // TILE) * TILE
        top[0].reshape(self.regions, channels, *self.pooled)
        self.tiles = -(-height * width // TILE)
        if self.turned.shape != (batch, height * width, self.padded):
            self.turned = self.device.empty((batch, height * width, self.padded), self.dtype)

    def check_grids(self, regions: np.ndarray, batch: int) -> None:
        """Raises for a region whose adaptive grid is absurd; what contributes nothing is passed over."""
        regions = regions.reshape(-1, 5)
        with np.errstate(all="ignore"):
            valid = np.isfinite(regions).all(1) & (regions[:, 0] > -1) & (regions[:, 0] < batch)
            size = (regions[:, 3:] - regions[:, 1:3]) * self.scale
            size = size if self.aligned else np.maximum(size, 1)
            samples = np.ceil(np.maximum(size, 0) / self.pooled[::-1]).prod(1)
        bad = np.flatnonzero(valid & ~(samples <= MOST))
        self.need(
            not len(bad),
            f"{len(bad)} regions ask for more than 2^20 samples a bin, such as {regions[bad[:1]]}; "
            "set sampling_ratio, or look where the regions come from",
        )

    def forward(self, bottom, top) -> None:
        batch, channels, height, width = bottom[0].shape
        if self.ratio <= 0:
            self.check_grids(np.asarray(bottom[1].data), batch)
        area = height * width
        self.kernels.roi_align_turn(
            batch * self.tiles, bottom[0].data, self.turned, channels, self.padded, area, self.tiles
        )
        self.kernels.roi_align_forward(
            self.regions, self.turned, bottom[1].data, top[0].data, batch, channels, self.padded, height, width,
            *self.pooled, self.scale, self.ratio, self.aligned,
        )  # fmt: skip

    def backward(self, top, propagate_down, bottom) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        batch, channels, height, width = bottom[0].shape
        self.turned.fill(0)
        self.kernels.roi_align_backward(
            batch * -(-self.padded // OWNED), top[0].diff, bottom[1].data, self.turned, self.regions, batch, channels,
            self.padded, height, width, *self.pooled, self.scale, self.ratio, self.aligned,
        )  # fmt: skip
        self.kernels.roi_align_turn_back(
            batch * self.tiles, self.turned, bottom[0].diff, channels, self.padded, height * width, self.tiles
        )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
