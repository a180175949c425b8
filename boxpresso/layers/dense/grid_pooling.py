"""GRIDPooling: the maxima of a grid of so many cells over an image of any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class GRIDPooling(
    Layer, type="GRIDPooling", param="grid_pooling_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL | Trait.BY_CHANNEL
):
    """top[n, c, i, j] = the maximum over a cell: rows from i H / pooled_h, rounded down, up to (i + 1) H / pooled_h, rounded
    up, and columns likewise.

    Cells overlap where the sizes do not divide; of several maxima the first has the gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    grid_pooling_param
        `pooled_h`, `pooled_w` (required): the cells of the grid.

    Returns
    -------
    top 0
        (N, C, pooled_h, pooled_w).

    Raises
    ------
    LayerError
        No pooled_h or pooled_w; an empty image.

    Source
    ------
    JiajianZeng/caffe-face-attributes; there is no backward on its CPU.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "GRIDPooling" grid_pooling_param { pooled_h: 1 pooled_w: 2 }', [[[[1, 5, 2]]]]).tolist()
    [[[[5.0, 5.0]]]]
    """

    kernels = Kernels("grid_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.grid_pooling_param
        self.need(p.pooled_h > 0 and p.pooled_w > 0, "grid_pooling_param: pooled_h and pooled_w must be given")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.grid_pooling_param
        images, channels, height, width = self.axes(bottom[0], 4)
        self.need(height * width > 0, f"the image is empty, its shape is {bottom[0].shape}")
        top[0].reshape(images, channels, p.pooled_h, p.pooled_w)
        self.sizes = height, width, p.pooled_h, p.pooled_w
        self.places = self.device.empty(top[0].shape, np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.grid_pooling_forward(top[0].count, bottom[0].data, top[0].data, self.places, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.grid_pooling_backward(bottom[0].count, top[0].diff, self.places, bottom[0].diff, *self.sizes)
