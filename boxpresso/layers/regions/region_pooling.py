"""RegionPooling: the largest feature in each bin of a rectangular ring (LocNet, multi-region R-CNN)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Trait
from .region_base import RegionLayer


class RegionPooling(
    RegionLayer,
    type="RegionPooling",
    param="region_pooling_param",
    bottoms=2,
    tops=1,
    traits=Trait.ROWS_OF_1 | Trait.WRITES_ALL | Trait.SIXTEEN_BITS,
):
    """The largest feature in each bin of a region, without the pixels inside its inner rectangle.

    An edge x of a rectangle lies at pixel floor((x + 1 + offset) spatial_scale + 1/2) of the map where the rectangle begins,
    and at ceil((x + 1 - offset) spatial_scale - 1/2) where it ends; a side that ends before it begins is its middle. Bin p
    of P on a side of length L runs from floor(p L / P) to ceil((p + 1) L / P), clipped to the map. Pixels between the edges
    of the inner rectangle, these excluded, do not count. A bin whose features are all 0 or below gives 0.

    The gradient goes to the pixel that was the largest, the first of equals; not to the regions. A region with NaN, infinity
    or a batch index outside the batch gives 0 and gets no gradient. float16 and bfloat16 are storage types.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (R, 9), regions: batch index, then x1, y1, x2, y2 of the outer and of the inner rectangle, in pixels of the image.
    region_pooling_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image. `offset` (6): how many pixels of the image a rectangle is narrower by on each side.

    Returns
    -------
    top 0
        (R, C, pooled_h, pooled_w).

    Raises
    ------
    LayerError
        pooled_h or pooled_w is missing; regions that are not of nine numbers; a gradient of the regions is asked for.

    Source
    ------
    Gidaris and Komodakis 2015 and 2016, and their Caffe (gidariss/caffe_LocNet).

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "RegionPooling" region_pooling_param { pooled_h: 1 pooled_w: 1 offset: 0 }'
    >>> run_layer(layer, np.arange(25).reshape(1, 1, 5, 5), [[0, 0, 0, 2, 2, 9, 9, 9, 9]]).item()  # pixels 1 to 3
    18.0
    """

    kernels = Kernels("region_pooling.cu", UNFUSED)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.region_pooling_param
        self.setup_types()
        self.need(
            p.pooled_h > 0 and p.pooled_w > 0, f"pooled_h and pooled_w must be given, got {p.pooled_h} and {p.pooled_w}"
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.region_pooling_param
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.regions = bottom[1].shape[0] if bottom[1].shape else 0
        self.need(
            bottom[1].shape and bottom[1].count == 9 * self.regions,
            f"bottom 1, the regions, must be (R, 9), got shape {bottom[1].shape}",
        )
        top[0].reshape(self.regions, channels, p.pooled_h, p.pooled_w)
        self.planes = batch * channels
        self.ask_sums(bottom[0].shape)
        self.geometry = self.kernels.struct(
            "Rings", batch=batch, channels=channels, height=height, width=width, out_height=p.pooled_h,
            out_width=p.pooled_w, scale=p.spatial_scale, offset=p.offset,
        )  # fmt: skip
        self.sides = self.device.empty((self.regions, 9), np.int32)
        self.places = self.device.empty(top[0].shape, np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features = bottom[0].data
        self.kernels.ring_sides(self.regions, bottom[1].data, self.sides, self.geometry)
        self.kernels.ring_places(top[0].count, features, self.sides, self.places, self.geometry)
        self.kernels.ring_forward(top[0].count, features, self.sides, self.places, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if propagate_down[0]:
            with self.rounded(bottom[0].diff) as sums:
                args = top[0].diff, self.sides, self.places, sums, self.regions, self.geometry
                self.kernels.ring_backward(self.planes, *args)
