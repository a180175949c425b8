"""DeformROIPooling: ROIAlign whose bins are moved by learned offsets (Deformable ConvNets)."""

from __future__ import annotations

from ..core import Trait
from .deform_roi_base import DeformPoolingLayer


class DeformROIPooling(
    DeformPoolingLayer,
    type=("DeformROIPooling", "DeformRoIPool"),
    param="deform_roi_pooling_param",
    bottoms=(2, 3),
    tops=1,
    traits=Trait.REGIONS,
):
    """ROIAlign with `aligned`, where every bin is moved by a learned offset: by gamma * size of the region * offset.

    Each bin is the average of sampling_ratio^2 bilinear samples, as in ROIAlign; see there for spatial_scale,
    sampling_ratio and samples outside the map. Without bottom 2, the layer is ROIAlign with `aligned`.

    A region with NaN, infinity or a batch index outside the batch gives 0. A region of negative size gives 0, or, with
    a fixed sampling_ratio, samples that run backwards.

    Gradients go to the features and to the offsets, not to the regions. The gradient of an offset is the derivative
    inside the map; in the strip of one pixel around the map it is what the published kernels give.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    bottom 2
        Optional. (K, 2, pooled_h, pooled_w), offsets, x then y; or as many numbers for each region in other axes.
    deform_roi_pooling_param
        `pooled_h`, `pooled_w` (required): bins of a region. `spatial_scale` (1): pixels of the map in one pixel of the
        image. `sampling_ratio` (0): samples of a bin in each direction; 0 or less means ceil(size of the bin). `gamma`
        (0.1): an offset of 1 moves a bin by gamma times the size of the region.

    Returns
    -------
    top 0
        (K, C, pooled_h, pooled_w), the average of each bin.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, a gamma that is not finite, or a region whose bins would take more
        than 2^20 samples.

    Source
    ------
    Dai et al. 2017, Deformable Convolutional Networks. Numbers as mmcv's deform_roi_pool.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "DeformROIPooling"
    ...     deform_roi_pooling_param { pooled_h: 1 pooled_w: 1 sampling_ratio: 1 gamma: 0.5 }'''
    >>> features, region = np.arange(16).reshape(1, 1, 4, 4), [[0, 0, 0, 2, 2]]
    >>> run_layer(layer, features, region).tolist()
    [[[[2.5]]]]
    >>> offset = [[[[1]], [[0]]]]  # 0.5 * 2 * 1 = 1 pixel to the right
    >>> run_layer(layer, features, region, offset).tolist()
    [[[[3.5]]]]
    """
