"""Softmax: scores to probabilities that sum to 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob
from ..core import Layer, Trait, softmax
from ..core.lowering import Launch, Lowering, Planes


class Softmax(
    Layer,
    type=("Softmax", "MultiSoftmax"),
    param="softmax_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.PROBABILITIES | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = exp(bottom) / sum(exp(bottom)) along one axis.

    It is computed from the differences to the maximum, so that exp does not overflow. MultiSoftmax is the same under the name
    that Wang et al. 2015 (surface normals) gave it, from a time when Caffe's Softmax took a whole image for one row.

    Parameters
    ----------
    bottom 0
        Any shape with the axis `axis`: scores.
    softmax_param
        `axis` (1): the axis along which the values sum to 1; negative values count from the end.

    Returns
    -------
    top 0
        Probabilities, in the shape of the bottom.

    Raises
    ------
    LayerError
        For an axis that the bottom does not have, and for a `normalize_type` of a fork other than "Softmax".

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Softmax" softmax_param { axis: 1 }', [[0, 0], [0, 1000]]).round(4).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """

    kernels, reads_top = softmax.kernels, True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.softmax_param
        self.need(p.normalize_type == "Softmax", f"normalize_type {p.normalize_type!r} of a fork is not supported")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        top[0].reshape(*shape)
        self.shape = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, top[0].data, *self.shape)
            self.remember(top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Planes([softmax.kernels], self.launch)

    def launch(self, launch: Launch, x: AnyArray, y: AnyArray) -> None:
        """The launches of a forward."""
        if x.size:
            softmax.forward_by(launch, x, y, *self.shape)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0] and bottom[0].count:
            softmax.backward(self.device, self.as_made(top[0]).data, top[0].diff, bottom[0].diff, *self.shape)
