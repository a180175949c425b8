"""SPP: spatial pyramid pooling, one length for every image size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class SPP(Layer, type="SPP", param="spp_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """Spatial pyramid pooling: level l pools each channel into 2^l x 2^l bins, for l from 0 to pyramid_height - 1.

    (N, C, H, W) becomes (N, C * (1 + 4 + 16 ...)), one length for every image size. The levels follow each other, each
    as (C, 2^l, 2^l). A bin is ceil(size / 2^l) pixels long; where the bins are longer than the image, the rest is
    padding on both sides. The divisor of AVE counts the padding, as Pooling's does.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    spp_param
        `pyramid_height`: the number of levels, required. `pool` (MAX): MAX or AVE.

    Returns
    -------
    top 0
        (N, C * (1 + 4 + 16 ...)); (N, C, 1, 1) with a height of 1.

    Raises
    ------
    LayerError
        pyramid_height is not given or 0; pool is neither MAX nor AVE; an empty image; an image too small for a level,
        where a bin would hold nothing but padding.

    Source
    ------
    Caffe; He et al. 2014.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SPP" spp_param { pyramid_height: 2 }', [[[[1, 2], [3, 4]]]]).tolist()
    [[4.0, 1.0, 2.0, 3.0, 4.0]]
    """

    kernels = Kernels("spp.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.spp_param
        height = p.pyramid_height
        self.need(height > 0, f"spp_param: pyramid_height must be given and at least 1, got {height}")
        method = p.PoolMethod.Name(p.pool)
        self.need(method in ("MAX", "AVE"), f"pool must be MAX or AVE, got {method}")
        self.average = int(method == "AVE")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, self.channels, *size = self.axes(bottom[0], 4)
        self.height = self.param.spp_param.pyramid_height
        self.need(min(size) > 0, f"the image is empty, shape {bottom[0].shape}")
        levels = []
        for level in range(self.height):
            bins = 2**level
            bin_size = [-(-length // bins) for length in size]
            pad = [(k * bins - length + 1) // 2 for k, length in zip(bin_size, size)]
            self.need(
                all(p < k for p, k in zip(pad, bin_size)),
                f"the image of {size} is too small for {bins} x {bins} bins: one would hold nothing but padding",
            )
            levels.append([bins, *bin_size, *pad])
        self.bins = sum(4**level for level in range(self.height))
        self.levels = self.device.table(np.array(levels).ravel())
        self.size = size
        self.planes = images * self.channels
        if self.height == 1:
            top[0].reshape(images, self.channels, 1, 1)
        else:
            top[0].reshape(images, self.channels * self.bins)
        self.mask = self.device.empty((max(1, top[0].count),), np.int32)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = self.channels, *self.size, self.height, self.levels, self.average
        self.kernels.spp_forward(self.planes, bottom[0].data, top[0].data, self.mask, *shape)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            shape = self.channels, *self.size, self.height, self.levels, self.average
            self.kernels.spp_backward(self.planes, top[0].diff, self.mask, bottom[0].diff, *shape)
