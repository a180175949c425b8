"""Tiling: channels become pixels, depth to space."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided


class Tiling(Layer, type="Tiling", param="tiling_param", bottoms=1, tops=1, traits=Trait.REARRANGES | Trait.WRITES_ALL):
    """(N, C, H, W) to (N, C / t^2, H t, W t), t = tile_dim: t^2 channels become the pixels of a tile.

    Pixel (y t + i, x t + j) of the top's channel c is pixel (y, x) of the bottom's channel c t^2 + i t + j.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    tiling_param
        `tile_dim`: the side t of a tile, required.

    Returns
    -------
    top 0
        (N, C / t^2, H t, W t).

    Raises
    ------
    LayerError
        For a tile_dim below 1, a bottom without four axes, or channels that are not divisible by t^2.

    Source
    ------
    Huval et al. 2015 and brodyh's Caffe; the detector of Tsinghua-Tencent 100K.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Tiling" tiling_param { tile_dim: 2 }', np.arange(8).reshape(1, 4, 1, 2)).tolist()
    [[[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]]]
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        side = self.param.tiling_param.tile_dim
        self.need(side > 0, f"tiling_param: tile_dim must be given and at least 1, got {side}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        t, (images, channels, height, width) = self.param.tiling_param.tile_dim, self.axes(bottom[0], 4)
        self.need(channels % t**2 == 0, f"{channels} channels do not divide by tile_dim {t} squared")
        few = channels // t**2
        top[0].reshape(images, few, height * t, width * t)
        self.shape = images, few, t, t, height, width
        fine = strides((images, few, height, t, width, t))
        self.channels, self.pixels = strides(self.shape), (*fine[:2], fine[3], fine[5], fine[2], fine[4])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        strided.copy(self.device, self.shape, bottom[0].data, self.channels, top[0].data, self.pixels)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            strided.copy(self.device, self.shape, top[0].diff, self.pixels, bottom[0].diff, self.channels)
