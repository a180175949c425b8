"""HardMining: the regions of each image with the greatest loss, and all that belongs to them."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ...device.functions import whole
from ..core import Layer


class HardMining(Layer, type="HardMining", param="hard_mining_param", bottoms=(2, None), tops=(1, None)):
    """Online hard example mining over several images: the regions with the greatest loss, in their order.

    Of each image the `num_roi_per_image` regions with the greatest loss are taken. Where images have fewer, those of
    all images that were left out fill up to `num_image` times as many. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R), the loss of each region.
    bottom 1
        (R, 5), regions: image, xmin, ymin, xmax, ymax.
    bottom 2, ...
        (R, ...): labels, targets, weights.
    hard_mining_param
        `num_roi_per_image` (128), `num_image` (4).

    Returns
    -------
    top 0, ...
        (D, ...): the rows of bottom 1, bottom 2, ... that were taken; D is R, or `num_image` * `num_roi_per_image`
        where that is less.

    Raises
    ------
    LayerError
        For numbers below 1, bottoms with different numbers of rows, or another number of tops than of bottoms from 1
        on; for a region of an image from `num_image` on.

    Source
    ------
    Cascade R-CNN's Caffe. Of equal losses the first region wins there the last.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> regions = [[0, 0, 0, 9, 9], [0, 0, 0, 5, 5], [0, 0, 0, 7, 7]]
    >>> text = 'type: "HardMining" hard_mining_param { num_image: 1 num_roi_per_image: 2 }'
    >>> run_layer(text, [0.5, 2, 1], regions)[:, 3].tolist()
    [5.0, 7.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.hard_mining_param
        self.need(p.num_roi_per_image > 0 and p.num_image > 0, "num_roi_per_image and num_image must be 1 or more")
        self.need(
            len(bottom) == len(top) + 1,
            f"takes one bottom more than tops, got {len(bottom)} bottoms and {len(top)} tops",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, rows = self.param.hard_mining_param, bottom[0].count
        self.count = min(p.num_roi_per_image * p.num_image, rows)
        for i, (blob, out) in enumerate(zip(bottom[1:], top), 1):
            self.need(blob.shape[:1] == (rows,), f"bottom {i} has the shape {blob.shape}, there are {rows} losses")
            out.reshape(self.count, *blob.shape[1:])
        self.need(bottom[1].count == 5 * rows, f"bottom 1, the regions, must be ({rows}, 5), got {bottom[1].shape}")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, losses = self.param.hard_mining_param, np.asarray(bottom[0].data).reshape(-1)
        images = np.asarray(bottom[1].data).reshape(-1, 5)[:, 0]
        images = whole(images, -1, p.num_image)
        self.need(
            not len(images) or (images.min() >= 0 and images.max() < p.num_image),
            f"a region is of image {images.max(initial=0)}, num_image is {p.num_image}",
        )
        order = np.argsort(-losses, kind="stable")
        rank = np.zeros(len(losses), int)
        for image in np.unique(images):  # not all that num_image counts
            mine = order[images[order] == image]
            rank[mine] = np.arange(len(mine))
        first = order[rank[order] < p.num_roi_per_image]
        rest = order[rank[order] >= p.num_roi_per_image]
        taken = np.sort(np.concatenate([first, rest])[: self.count])
        for blob, out in zip(bottom[1:], top):
            out.data[...] = np.asarray(blob.data)[taken]

    def allow_force_backward(self, index: int) -> bool:
        return False
