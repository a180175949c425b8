"""SPP: spatial pyramid pooling, one length for every image size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer


class SPP(Layer, type="SPP", param="spp_param", bottoms=1, tops=1):
    """(N, C, H, W) to (N, C * (1 + 4 + 16 ...)): level l pools each channel into 2^l x 2^l bins, for every level from 0
    to pyramid_height - 1; levels follow each other, each as (C, 2^l, 2^l).

    spp_param { pyramid_height: HEIGHT pool: MAX }; MAX or AVE. A bin is ceil(size / 2^l) pixels long, and what does
    not fit is padding on both sides: AVE's divisor counts it, as Pooling's does. With a height of 1 the top is (N, C,
    1, 1). An image too small for a level (a bin of nothing but padding) is refused. Source: Caffe; He et al. 2014.
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
