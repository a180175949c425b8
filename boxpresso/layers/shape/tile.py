"""Tile: a blob repeated along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Tile(Layer, type="Tile", param="tile_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """Repeats the bottom `tiles` times along `axis`.

    The gradient is the sum over the copies.

    Parameters
    ----------
    bottom 0
        Any shape that has the axis.
    tile_param
        `axis` (1): may be negative. `tiles` (must be given): how many copies, at least 1.

    Returns
    -------
    top 0
        The shape of the bottom, with `axis` `tiles` times as long; the copies lie one after another.

    Raises
    ------
    LayerError
        For `tiles` missing or below 1, or an axis that the bottom lacks.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Tile" tile_param { axis: 1 tiles: 2 }', [[1, 2], [3, 4]]).tolist()
    [[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]
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
