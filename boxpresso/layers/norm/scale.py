"""Scale: multiplies by learned factors, or by a second bottom, along some axes; mostly what follows BatchNorm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from ..core.fixed_point import FixedParameters
from ..core.lowering import Affine as channel_affine
from ..core.lowering import Fusible, Lowering, Pointwise
from .affine import Affine, place
from .affine import kernels as affine_kernels


class Scale(
    Layer,
    type="Scale",
    param="scale_param",
    bottoms=(1, 2),
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = bottom * scale (+ bias), with scale and bias broadcast over the axes that they lack.

    With one bottom the scale is a learned parameter; its axes are num_axes axes of the bottom from `axis` on. With two
    bottoms, bottom 1 is the scale; its axes are those of bottom 0 from `axis` on. The bias has the shape of the scale,
    is always learned, and is the last parameter.

    Parameters
    ----------
    bottom 0
        Any shape.
    bottom 1
        Optional, the scale: its shape is a part of that of bottom 0, or () for one number.
    scale_param
        `axis` (1): the first axis of bottom 0 that the scale has. `num_axes` (1): how many axes a learned scale has; -1
        for all that follow, 0 for one number. `filler` (1): the initial values of a learned scale. `bias_term` (false):
        whether to add a bias. `bias_filler` (0): its initial values.

    Returns
    -------
    top 0
        The result, in the shape of bottom 0.

    Raises
    ------
    LayerError
        For an axis or num_axes that does not fit bottom 0, a bottom 1 whose shape does not fit, parameters whose shape
        changes after setup, and fields of forks that are not supported: dis_mode, gen_mode, min_value, max_value.

    Source
    ------
    Caffe, except that the gradient of a learned scale is always added to its diff.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Scale" scale_param { axis: 1 num_axes: 1 bias_term: true }'
    >>> run_layer(text, [[1, 2]], params=[[2, 4], [0.5, 1]]).tolist()
    [[2.5, 9.0]]
    >>> run_layer('type: "Scale" scale_param { axis: 0 }', [[1, 2], [3, 4]], [10, 100]).tolist()
    [[10.0, 20.0], [300.0, 400.0]]
    """

    kernels = affine_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.scale_param
        for fork in ("dis_mode", "gen_mode", "min_value", "max_value"):
            self.need(not p.HasField(fork), f"scale_param: {fork} of a fork is not supported; remove it")
        self.learned = len(bottom) == 1
        self.copy = Blob((), self.dtype, self.device)  # bottom 0 as it was before a forward in place
        _, shape = place(self, p, bottom)
        if self.learned:
            filler = p.filler if p.HasField("filler") else None
            self.parameter(0, shape, filler, 1 if filler is None else None)
        if p.bias_term:
            filler = p.bias_filler if p.HasField("bias_filler") else None
            self.parameter(len(self.blobs), shape, filler, 0 if filler is None else None)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        axis, scale = place(self, self.param.scale_param, bottom)
        for i in range(len(self.blobs)):
            self.parameter(i, scale)
        top[0].reshape(*bottom[0].shape)
        if bottom[0] is top[0]:
            self.copy.reshape(*bottom[0].shape)
        self.affine = Affine(self.device, bottom[0].shape, axis, scale)
        self.by_channel = scale == () or (axis == 1 and len(scale) == 1)
        self.bias = self.blobs[-1] if self.param.scale_param.bias_term else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scale = self.blobs[0] if self.learned else bottom[1]
        copy = None
        if bottom[0] is top[0]:
            self.copy.reshape(*bottom[0].shape)
            copy = self.copy.data
        self.affine.apply(bottom[0].data, scale.data, self.blobs[-1].data if self.bias else None, top[0].data, copy)

    def fuse(self) -> Fusible | None:
        if not self.learned or not self.by_channel:
            return None
        values = [np.asarray(blob.data, np.float64) for blob in self.blobs]
        return channel_affine(values[0], values[1] if self.bias else None)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        known = self.learned and self.by_channel
        return Pointwise(self.device, self.dtype, affine=self.fuse) if known else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diff = top[0].diff
        if self.bias and self.param_propagate_down[-1]:
            self.affine.reduce(diff, None, self.bias.diff, keep=True)
        scale = self.blobs[0] if self.learned else bottom[1]
        if self.param_propagate_down[0] if self.learned else propagate_down[1]:
            x = self.copy if bottom[0] is top[0] else bottom[0]
            self.affine.reduce(diff, x.data, scale.diff, keep=self.learned)
        if propagate_down[0]:
            self.affine.apply(diff, scale.data, None, bottom[0].diff)


class ScaleFixed(
    FixedParameters,
    Scale,
    type="ScaleFixed",
    param=("scale_param", "fixed_param"),
    bottoms=(1, 2),
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """Scale whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Scale with the parameters as they are.

    Learned parameters: those of Scale, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Scale.
    scale_param
        As of Scale.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Scale.

    Raises
    ------
    LayerError
        As of Scale; no fixed_param (fallingdust's layer of that name); a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ScaleFixed" fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'
    >>> run_layer(text, [[1, 10]], params=[[1.4, 0.6]]).tolist()
    [[1.5, 5.0]]
    """
