"""Tile: a blob repeated along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class Tile(Layer, type="Tile", param="tile_param", bottoms=1, tops=1):
    """The bottom, `tiles` times one after the other along `axis`, which may be negative.

    tile_param { axis: 1 tiles: TILES }. The gradient is the sum over the copies. Source: Caffe.
    """

    kernels = Kernels("tile.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.tile_param
        self.need(p.tiles > 0, f"tile_param: tiles, how often, must be given and at least 1, got {p.tiles}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.tile_param, bottom[0].shape
        axis = self.axis(bottom[0], p.axis)
        self.inner = prod(shape[axis:])
        top[0].reshape(*shape[:axis], shape[axis] * p.tiles, *shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        tiles = self.param.tile_param.tiles
        self.kernels.tile_forward(bottom[0].count, bottom[0].data, top[0].data, self.inner, tiles)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            tiles = self.param.tile_param.tiles
            self.kernels.tile_backward(bottom[0].count, top[0].diff, bottom[0].diff, self.inner, tiles)
