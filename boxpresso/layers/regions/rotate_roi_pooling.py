"""RotateROIPooling: the largest feature inside each rotated bin of each region (RRPN)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Trait
from .marked import Marked


class RotateROIPooling(
    Marked,
    type="RotateROIPooling",
    param="rotate_pooling_param",
    bottoms=3,
    tops=(1, 2),
    traits=Trait.REGIONS | Trait.IMAGE_INFO,
):
    """The largest feature, or 0 if none is above 0, inside each rotated bin of each region.

    A region is scaled by spatial_scale and divided into bins along its own sides. A bin has the pixels of the map whose
    middle lies in the bin and in the image.

    The gradient goes to the pixel that was the largest, the first of equals; bottoms 1 and 2 have none. A region with
    NaN, infinity or a batch index outside the batch gives 0 and gets no gradient.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 6), regions: batch index, x and y of the centre, height, width in pixels of the image, angle in degrees,
        counter-clockwise.
    bottom 2
        im_info: height, width, scale of the image in pixels; three numbers for all images, or three for each.
    rotate_pooling_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the largest feature of each bin, at least 0.
    top 1
        Optional. The same shape: the place of the largest pixel, h W + w, or -1 where no value is above 0.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit.

    Source
    ------
    Ma et al. 2018, RRPN, and its Caffe. The gradient is that of its forward pass, which its own backward pass is not.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "RotateROIPooling" rotate_pooling_param { pooled_h: 2 pooled_w: 2 }'
    >>> region, im_info = [[0, 2, 2, 4, 4, 0]], [4, 4, 1]
    >>> run_layer(layer, np.arange(16).reshape(1, 1, 4, 4), region, im_info).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    kernels = Kernels("rotate_roi_pooling.cu", UNFUSED)
    columns = ("batch index", "cx", "cy", "height", "width", "angle")
    turned = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.rotate_pooling_param
        self.setup_bins(p.pooled_h, p.pooled_w, p.spatial_scale)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.need(
            bottom[2].count in (3, 3 * self.batch),
            f"bottom 2, im_info, must be height, width and scale, once or for each image; got shape {bottom[2].shape}",
        )
        for blob in top:
            blob.reshape(self.regions, self.channels, *self.pooled)
        slab = self.kernels.constants["SLAB"]
        self.count, self.area = -(-self.channels // slab), self.size[0] * self.size[1]
        self.scratch("slabs", (self.batch, self.count, self.area, slab))
        self.scratch("argmax", top[0].shape, np.int32)
        self.scratch("image", (self.regions,), np.int32)
        self.scratch("sides", (self.regions, *self.pooled, 6))
        self.scratch("boxes of bins", (self.regions, *self.pooled, 4), np.int32)
        self.slabs, self.argmax, self.image = self.room("slabs"), self.room("argmax"), self.room("image")
        self.sides, self.boxes = self.room("sides"), self.room("boxes of bins")
        if self.tiled:
            self.ask_marks(2)
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        bins = self.regions * self.pooled[0] * self.pooled[1]
        self.kernels.rotate_roi_pooling_bins(
            bins, self.check_work(bottom[1].data), bottom[2].data, bottom[2].count // 3, self.image, self.sides, self.boxes,
            self.geometry,
        )  # fmt: skip
        self.pack_slabs(bottom[0].data, self.slabs)
        self.kernels.rotate_roi_pooling_forward(
            -(-bins // self.kernels.constants["TOGETHER"]), self.slabs, self.image, self.sides, self.boxes, top[0].data,
            self.argmax, top[1].data if len(top) > 1 else None, self.geometry,
        )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "bottoms 1 and 2 have no gradient; set propagate_down: false for them")
        if propagate_down[0] and self.tiled:
            around, regions = self.room("boxes"), bottom[1].data
            cells = self.pooled[0] * self.pooled[1]
            self.kernels.rotate_roi_pooling_boxes(self.regions, self.image, self.boxes, around, cells)
            tiles, lists = self.tiles(around, self.by_place(regions))
            slabs, marks = self.given_places(top[0].diff, self.argmax), self.room("marks")
            self.kernels.rotate_roi_pooling_marks(tiles, lists, self.boxes, marks, self.geometry)
            self.add_pixels(tiles, slabs, lists, marks, bottom[0].diff)
        elif propagate_down[0]:
            self.kernels.rotate_roi_pooling_backward(
                self.batch * self.channels, top[0].diff, bottom[1].data, self.argmax, self.image,
                self.sums_of(bottom[0].diff), bottom[0].diff, self.geometry,
            )  # fmt: skip
