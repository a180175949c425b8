"""MultiScaleROIAlign: ROIAlign of each region from the level of a feature pyramid that its size chooses (FPN)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...device import AnyArray, Blob
from ...proto import LayerParameter
from ..core.layer import Layer
from ..core.param_str import settings
from ..core.registry import make_layer
from .levels import AT_ONCE, KERNELS, bounds_of, levels_of, put_rows, take_rows
from .region_base import RegionLayer


class MultiScaleROIAlign(
    RegionLayer, type="MultiScaleROIAlign", param=("roi_align_param", "python_param"), bottoms=(2, None), tops=1
):
    """The average of bilinear samples in each bin of each region, from the level that the region's size chooses.

    Level k has 2^-k pixels per pixel of the image; a region is pooled from k = floor(canonical_level +
    log2(sqrt(area) / canonical_scale) + 1e-6), held between the first and the last level. Within its level a region is
    pooled as by ROIAlign, bitwise the same.

    Gradients go to the features. A region with NaN, infinity or a batch index outside the batch gives 0.

    Parameters
    ----------
    bottom 0 to the one before the last
        (B, C, H, W), the features of each level, the largest first; B and C are the same for all.
    last bottom
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    roi_align_param
        `pooled_h`, `pooled_w` (required), `sampling_ratio` (0), `aligned` (false): see ROIAlign. `pool_mode` must be AVG.
    python_param
        Such as python_param { param_str: "'spatial_scales': [0.25, 0.125, 0.0625, 0.03125]" }. `param_str`: a text with
        `spatial_scales` (1/4, 1/8, ...), a list of the pixels of each level per pixel of the image; `canonical_scale` (224)
        and `canonical_level` (4): a region of that size, in pixels of the image, is of that level.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average of each bin.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, as ROIAlign does, or scales that do not fall.

    Source
    ------
    Lin et al. 2017, Feature Pyramid Networks; numbers as torchvision's MultiScaleRoIAlign has them.

    Examples
    --------
    A region of 224 pixels is of level 4, the third; one of 28 pixels would be of level 1, and the first is taken.

    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> maps = [np.full((1, 1, 2**k, 2**k), 7 - k) for k in (7, 6, 5, 4)]
    >>> layer = 'type: "MultiScaleROIAlign" roi_align_param { pooled_h: 1 pooled_w: 1 }'
    >>> run_layer(layer, *maps, [[0, 9, 9, 233, 233], [0, 9, 9, 37, 37]]).ravel().tolist()
    [2.0, 0.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, count = self.param.roi_align_param, len(bottom) - 1
        self.setup_bins(p.pooled_h, p.pooled_w, 1.0)
        self.need(p.pool_mode == p.AVG, "pool_mode must be AVG")
        defaults = {
            "spatial_scales": [2.0 ** -(k + 2) for k in range(count)], "canonical_scale": 224, "canonical_level": 4,
        }  # fmt: skip
        s = settings(self, defaults)
        try:
            self.scales = [float(scale) for scale in s["spatial_scales"]]
            self.canonical = float(s["canonical_scale"]), float(s["canonical_level"])
        except (TypeError, ValueError):
            self.scales = []
        falling = all(0 < b < a < np.inf for a, b in pairwise(self.scales)) and self.scales != []
        self.need(
            len(self.scales) == count and falling and self.scales[0] > 0,
            f"spatial_scales must be {count} falling numbers above 0, one for each level, and canonical_scale and "
            f"canonical_level numbers; got {s}",
        )
        self.need(0 < self.canonical[0] < np.inf, f"canonical_scale must be above 0, got {self.canonical[0]}")
        self.need(np.isfinite(self.canonical[1]), f"canonical_level must be a number, got {self.canonical[1]}")
        self.rows = [Blob((0, 5), bottom[-1].dtype, self.device) for _ in self.scales]
        self.parts = [Blob((), self.dtype, self.device) for _ in self.scales]
        self.with_diffs = [*self.rows, *self.parts]
        self.one_level = [self.level(i, bottom) for i in range(count)]
        real = self.dtype == bottom[-1].dtype and self.dtype.itemsize >= 4  # the host looks at numbers of 16 bits
        self.at_once = AT_ONCE[self.device.kind] and real
        bounds = bounds_of(self.dtype, self.scales, *self.canonical) if self.at_once else ()
        self.least = self.device.table(bounds, self.dtype if self.at_once else np.float32)

    def level(self, index: int, bottom: list[Blob]) -> Layer:
        """The ROIAlign of one level."""
        param = LayerParameter(name=f"{self.name} level {index}", type="ROIAlign")
        param.roi_align_param.CopyFrom(self.param.roi_align_param)
        param.roi_align_param.spatial_scale = self.scales[index]
        layer = make_layer(param, device=self.device, dtype=self.dtype, phase=self.phase)
        layer.setup([bottom[index], self.rows[index]], [self.parts[index]])
        return layer

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes([bottom[0], bottom[-1]])
        for blob in bottom[1:-1]:
            self.need(
                len(blob.shape) == 4 and blob.shape[:2] == bottom[0].shape[:2],
                f"all levels must be (B, C, H, W) with one B and C; the first is {bottom[0].shape}, one is {blob.shape}",
            )
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.rows[0].reshape(self.regions, 5)
        for blob, layer in zip(bottom, self.one_level):  # as if all regions were on each: which are, forward knows
            layer.reshape([blob, self.rows[0]], [self.parts[0]])

    def by_level(self, bottom: list[Blob]) -> list[np.ndarray]:
        """The numbers of each level's regions; fills and shapes each level's layer."""
        regions = np.asarray(bottom[-1].data).reshape(self.regions, 5)
        level = levels_of(regions, self.scales, *self.canonical)
        result = []
        for i, layer in enumerate(self.one_level):
            index = np.flatnonzero(level == i)
            self.rows[i].reshape(len(index), 5)
            self.rows[i].data[...] = regions[index]
            layer.reshape([bottom[i], self.rows[i]], [self.parts[i]])
            result.append(index)
        return result

    def one_of_all(self, i: int, bottom: list[Blob]) -> list[Blob]:
        """The bottoms of a level's layer that takes all regions: those of other levels lie in no image, and give nothing."""
        rows = self.rows[0]  # of each level in turn
        rows.reshape(self.regions, 5)
        regions, levels = bottom[-1].data, len(self.scales)
        KERNELS.on(self.device).level_regions(self.regions, regions, self.least, rows.data, i, levels)
        self.one_level[i].reshape([bottom[i], rows], [self.parts[0]])
        return [bottom[i], rows]

    def forward_at_once(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Each level pools all regions, and the bins of those of other levels are left out: the host sorts nothing."""
        regions, count, levels, bins = bottom[-1].data, self.regions, len(self.scales), self.parts[0]
        kernels, size = KERNELS.on(self.device), self.channels * self.pooled[0] * self.pooled[1]
        for i, layer in enumerate(self.one_level):
            layer.forward(self.one_of_all(i, bottom), [bins])
            kernels.level_bins(count, regions, self.least, bins.data, top[0].data, i, levels, size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.at_once:
            self.forward_at_once(bottom, top)
            return
        for i, index in enumerate(self.by_level(bottom)):
            if len(index):
                self.one_level[i].forward([bottom[i], self.rows[i]], [self.parts[i]])
                put_rows(self.device, self.parts[i].data, index, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[-1], "there is no gradient for the regions; set propagate_down: false for them")
        if self.at_once:
            for i, layer in enumerate(self.one_level):
                if propagate_down[i]:
                    layer.backward(top, [True, False], self.one_of_all(i, bottom))
            return
        for i, index in enumerate(self.by_level(bottom)):
            if propagate_down[i]:
                diff: AnyArray = self.parts[i].diff
                take_rows(self.device, top[0].diff, index, diff)
                self.one_level[i].backward([self.parts[i]], [True, False], [bottom[i], self.rows[i]])

    def allow_force_backward(self, index: int) -> bool:
        return index < len(self.scales)
