"""Transpose: reorder all axes of a blob."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided


class Transpose(
    Layer, type="Transpose", param="transpose_param", bottoms=1, tops=1, traits=Trait.REARRANGES | Trait.WRITES_ALL
):
    """Reorders all axes: the top's axis k is the bottom's axis dim[k], as in numpy.transpose.

    Parameters
    ----------
    bottom 0
        Any shape.
    transpose_param
        `dim` (repeated): every axis of the bottom once, from 0, such as
        transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 } for four axes.

    Returns
    -------
    top 0
        The same elements with the axes in the new order.

    Raises
    ------
    LayerError
        For dims that do not name each axis of the bottom exactly once.

    Source
    ------
    CTPN's Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Transpose" transpose_param { dim: 1 dim: 0 }', [[1, 2, 3], [4, 5, 6]]).tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    >>> text = 'type: "Transpose" transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 }'
    >>> run_layer(text, np.zeros((2, 3, 4, 5))).shape
    (5, 4, 2, 3)
    """

    kernels = strided.kernels

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        dims, shape = list(self.param.transpose_param.dim), bottom[0].shape
        self.need(
            sorted(dims) == list(range(len(shape))),
            f"transpose_param must name each axis of the bottom, shape {shape}, once; its dims are {dims}",
        )
        top[0].reshape(*(shape[axis] for axis in dims))
        self.from_steps = [strides(shape)[axis] for axis in dims]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = top[0].shape
        strided.copy(self.device, shape, bottom[0].data, self.from_steps, top[0].data, strides(shape))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            shape = top[0].shape
            strided.copy(self.device, shape, top[0].diff, strides(shape), bottom[0].diff, self.from_steps)
