"""MultiROIPooling: the patches of a map about several points of each image, a top for each point."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class MultiROIPooling(
    Layer,
    type="MultiROIPooling",
    param="multi_roi_pooling_param",
    bottoms=2,
    tops=(1, None),
    traits=Trait.WRITES_ALL | Trait.BY_CHANNEL,
):
    """top[k][n, c, i, j] = bottom[n, c, y + i, x + j], the patch about point k of image n; 0 outside of the map.

    With the point (px, py), x = round(px * spatial_scale - floor(pooled_w / 2)) and y alike, halves rounded away from 0.
    Nothing is pooled: patches have the resolution of the map. A point with NaN or infinity gives 0. The features have a
    gradient, the sum over the patches that show them; the points have none.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), features.
    bottom 1
        (N, K, 2), x and y of K points in each image.
    multi_roi_pooling_param
        `pooled_h`, `pooled_w` (required): the size of a patch. `top_num` (1): K, as many as there are tops.
        `spatial_scale` (1): what coordinates are multiplied by.

    Returns
    -------
    top 0, ..., K - 1
        (N, C, pooled_h, pooled_w), the patches about each image's first point, second point, and so on.

    Raises
    ------
    LayerError
        A size of 0, a number of tops other than `top_num`, points that are not (N, K, 2).

    Source
    ------
    mysee1989/PG-CNN: Li et al. 2018, Patch-gated CNN for occlusion-aware facial expression recognition. Its program gives
    every row of the gradient of a patch the first row's values, and reads beyond the map where a patch is wider than it;
    neither is so here.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MultiROIPooling" multi_roi_pooling_param { pooled_h: 2 pooled_w: 2 }'
    >>> run_layer(text, [[[[1, 2, 3], [4, 5, 6]]]], [[[2, 0]]]).tolist()
    [[[[0.0, 0.0], [2.0, 3.0]]]]
    """

    kernels = Kernels("multi_roi_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.multi_roi_pooling_param
        self.need(
            p.pooled_h and p.pooled_w, f"pooled_h and pooled_w must be above 0, got {p.pooled_h} and {p.pooled_w}"
        )
        self.need(p.top_num == len(top), f"top_num is {p.top_num}, but there are {len(top)} tops, one for each point")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.multi_roi_pooling_param
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        points = images, len(top), 2
        self.need(bottom[1].shape == points, f"bottom 1, the points, must be {points}, got {bottom[1].shape}")
        for blob in top:
            blob.reshape(images, channels, p.pooled_h, p.pooled_w)
        self.windows = self.kernels.struct(
            "Windows", channels=channels, height=height, width=width, high=p.pooled_h, wide=p.pooled_w, points=len(top),
            scale=p.spatial_scale,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for k, blob in enumerate(top):
            self.kernels.multi_roi_forward(blob.count, bottom[0].data, bottom[1].data, blob.data, k, self.windows)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "has no gradient for bottom 1, the points; set propagate_down: false for it")
        if propagate_down[0]:
            bottom[0].diff.fill(0)
            for k, blob in enumerate(top):
                self.kernels.multi_roi_backward(blob.count, blob.diff, bottom[1].data, bottom[0].diff, k, self.windows)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
