"""ROIAlignRotated: the average of bilinear samples in each bin of each rotated region."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Trait
from .align_rotated_base import AlignRotated


class ROIAlignRotated(
    AlignRotated,
    type="ROIAlignRotated",
    param="roi_align_rotated_param",
    bottoms=2,
    tops=1,
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """The average of bilinear samples in each bin of each rotated region.

    A region is scaled by spatial_scale. With `aligned`, half a pixel is subtracted from its centre; without it, its
    size is at least 1 pixel of the map. A positive angle turns the region counter-clockwise, or clockwise with
    `clockwise`; the top holds the region's content, turned upright. A sample outside [-1, H] x [-1, W] counts as 0.

    Gradients go to the features and, where propagate_down asks for it, to the regions, the angle included, with the
    number of samples taken as fixed.

    A region with NaN, infinity or a batch index outside the batch gives 0. With `aligned`, a region of negative size
    gives 0, or, with a fixed sampling_ratio, mirrored samples. float16 and bfloat16 are storage types: regions may be
    float32 beside them, and all arithmetic is in float32.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 6), regions: batch index, x and y of the centre, width, height in pixels of the image, angle in radians.
    roi_align_rotated_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image. `sampling_ratio` (0): samples of a bin in each direction; 0 or less means ceil(size of the bin).
        `aligned` (false): subtract half a pixel. `clockwise` (false): a positive angle turns clockwise.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average of each bin.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, or a region whose bins would take more than 2^20 samples.

    Source
    ------
    Ma et al. 2018 and detectron2. Numbers as mmcv and detectron2 have them, whose `aligned` is true by default.

    Examples
    --------
    A region turned by a quarter, counter-clockwise: its upper left corner is the lower left one of the map.

    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "ROIAlignRotated"
    ...     roi_align_rotated_param { pooled_h: 2 pooled_w: 2 sampling_ratio: 1 aligned: true }'''
    >>> top = run_layer(layer, np.arange(16).reshape(1, 1, 4, 4), [[0, 2, 2, 4, 4, np.pi / 2]])
    >>> top.round(3).tolist()
    [[[[10.5, 2.5], [12.5, 4.5]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.setup_align(self.param.roi_align_rotated_param, self.param.roi_align_rotated_param.aligned)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        self.pool(bottom[0].data, rows, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        rows = self.widened(bottom[1].data)
        if propagate_down[0]:
            self.to_features(top[0].diff, rows, bottom[0].diff)
        if propagate_down[1]:
            self.to_regions(bottom[0].data, top[0].diff, rows, bottom[1].diff)
