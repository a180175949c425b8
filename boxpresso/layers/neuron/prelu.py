"""PReLU: the rectifier with a learned slope below zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.fixed_point import FixedParameters
from ..core.lowering import Activation, Fusible, Lowering, Pointwise


class PReLU(
    Layer,
    type="PReLU",
    param="prelu_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = max(x, 0) + a * min(x, 0), with a learned slope `a` for each channel, or one for all channels.

    The learned parameter holds the slopes: its shape is (C), or () with channel_shared. In place the layer keeps a copy
    of its input for the gradient.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    prelu_param
        `channel_shared` (false): one slope for all channels. `filler` (constant 0.25): the initial slopes.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a bottom without a channel axis, and for a number of channels that changes after setup.

    Source
    ------
    Caffe; He et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "PReLU" prelu_param { filler { type: "constant" value: 0.25 } }', [[4, -4]]).tolist()
    [[4.0, -1.0]]
    >>> run_layer('type: "PReLU"', [[-4, -4]], params=[[0.5, 2]]).tolist()
    [[-2.0, -8.0]]
    """

    kernels = Kernels("prelu.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.in_place_now = top[0] is bottom[0]
        self.place = Blob((), self.dtype, self.device) if self.in_place_now else bottom[0]
        self.sums = Blob((), self.dtype, self.device)
        self.reshape(bottom, top)  # makes the parameter

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, param = bottom[0].shape, self.param.prelu_param
        self.need(len(shape) >= 2, f"the bottom must have a channel axis, (N, C, ...), got shape {shape}")
        slopes = () if param.channel_shared else (shape[1],)
        filled = {"filler": param.filler} if param.HasField("filler") else {"value": 0.25}
        self.slope = self.parameter(0, slopes, **filled)
        self.images, self.channels, self.size = shape[0], shape[1], prod(shape[2:])
        top[0].reshape(*shape)
        self.place.reshape(*shape)
        self.sums.reshape(self.channels)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.in_place_now:
            self.place.data[...] = bottom[0].data
        self.kernels.prelu_forward(
            self.images * self.channels, bottom[0].data, self.blobs[0].data, top[0].data, *self.layout()
        )

    def fuse(self) -> Fusible | None:
        return Activation("SLOPES", slopes=np.asarray(self.slope.data, np.float64))

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, activation=self.fuse)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        place = self.place.data
        if self.param_propagate_down[0] and bottom[0].count:  # before bottom.diff, which in place overwrites top.diff
            sums = self.sums.data
            self.kernels.prelu_slope_sums(self.channels, place, top[0].diff, sums, self.images, self.size)
            self.kernels.prelu_slope_diff(self.slope.count, sums, self.slope.diff, self.channels)
        if propagate_down[0]:
            self.kernels.prelu_backward(
                self.images * self.channels, place, self.slope.data, top[0].diff, bottom[0].diff, *self.layout()
            )

    def layout(self) -> tuple[int, int, bool]:
        return self.channels, self.size, self.slope.shape == ()


class PReLUFixed(
    FixedParameters,
    PReLU,
    type="PReLUFixed",
    param=("prelu_param", "fixed_param"),
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """PReLU whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of PReLU with the parameters as they are.

    Learned parameters: those of PReLU, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of PReLU.
    prelu_param
        As of PReLU.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of PReLU.

    Raises
    ------
    LayerError
        As of PReLU; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PReLUFixed" fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'
    >>> run_layer(text, [[-1, -10]], params=[[1.4, 0.6]]).tolist()
    [[-1.5, -5.0]]
    """
