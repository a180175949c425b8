"""Bias: adds learned values, or a second bottom, along some axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from ..core.lowering import Affine as channel_affine
from ..core.lowering import Fusible, Lowering, Pointwise
from .affine import Affine, place
from .affine import kernels as affine_kernels


class Bias(
    Layer,
    type="Bias",
    param="bias_param",
    bottoms=(1, 2),
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = bottom + bias, with the bias broadcast over the axes that it lacks.

    With one bottom the bias is a learned parameter; its axes are num_axes axes of the bottom from `axis` on. With two
    bottoms, bottom 1 is the bias; its axes are those of bottom 0 from `axis` on.

    Parameters
    ----------
    bottom 0
        Any shape.
    bottom 1
        Optional, the bias: its shape is a part of that of bottom 0, or () for one number.
    bias_param
        `axis` (1): the first axis of bottom 0 that the bias has. `num_axes` (1): how many axes a learned bias has; -1
        for all that follow, 0 for one number. `filler` (0): the initial values of a learned bias.

    Returns
    -------
    top 0
        The sum, in the shape of bottom 0.

    Raises
    ------
    LayerError
        For an axis or num_axes that does not fit bottom 0, a bottom 1 whose shape does not fit, and a learned bias
        whose shape changes after setup.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Bias" bias_param { axis: 1 num_axes: 1 }', [[1, 2], [3, 4]], params=[[10, 20]]).tolist()
    [[11.0, 22.0], [13.0, 24.0]]
    >>> run_layer('type: "Bias" bias_param { axis: 0 }', [[1, 2], [3, 4]], [10, 20]).tolist()
    [[11.0, 12.0], [23.0, 24.0]]
    """

    kernels = affine_kernels

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        return ("bias",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.bias_param
        self.learned = len(bottom) == 1
        if self.learned:
            filler = p.filler if p.HasField("filler") else None
            self.parameter(0, place(self, p, bottom)[1], filler, 0 if filler is None else None)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        axis, bias = place(self, self.param.bias_param, bottom)
        if self.learned:
            self.parameter(0, bias)
        self.by_channel = bias == () or (axis == 1 and len(bias) == 1)
        top[0].reshape(*bottom[0].shape)
        self.affine = Affine(self.device, bottom[0].shape, axis, bias)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        bias = self.blobs[0] if self.learned else bottom[1]
        self.affine.apply(bottom[0].data, None, bias.data, top[0].data)

    def fuse(self) -> Fusible | None:
        if not self.learned or not self.by_channel:
            return None
        values = [np.asarray(blob.data, np.float64) for blob in self.blobs]
        return channel_affine(None, values[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        known = self.learned and self.by_channel
        return Pointwise(self.device, self.dtype, affine=self.fuse) if known else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.param_propagate_down[0] if self.learned else propagate_down[1]:
            bias = self.blobs[0] if self.learned else bottom[1]
            self.affine.reduce(top[0].diff, None, bias.diff, keep=self.learned)
        if propagate_down[0] and bottom[0] is not top[0]:
            bottom[0].diff[...] = top[0].diff
