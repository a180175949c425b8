"""FixedNeuron: values as an FPGA holds them, of nets that are made for Xilinx's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from ..core.fixed_point import KERNELS, FixedPoint


class FixedNeuron(
    Layer, type="FixedNeuron", param="fixed_param", bottoms=1, tops=1, in_place=True, traits=Trait.ELEMENTWISE
):
    """top = x as a number of few bits whose point is at place p: a whole number from -2^(bits - 1) to 2^(bits - 1) - 1, times
    2^-p. The gradient passes as it is.

    The parameter (1) holds p; it has no gradient. At TEST it counts. While training p is found anew in each forward by the
    method, and the parameter holds the one that has been most often, the lower of two; with OVER_FLOW that of the
    batch at hand rounds, with the others that of the parameter. Halves are rounded up from below 0 and away from it above, as
    the machine does; with `follow_data_layer`, behind a net's data, away from 0, and at TEST cut off towards 0, without
    a limit.

    Parameters
    ----------
    bottom 0
        x, any shape.
    fixed_param
        `bit_width` (8). `fixed_method` (DIFF_S): OVER_FLOW, the last place of the point at which no number is too large;
        DIFF_S and DIFF_A, of it and the four behind it the one with the least sum of squared errors; DIFF_S_SIGMOID, of ten,
        that of their sigmoids. `follow_data_layer` (false). `enable` (true); with false top = x.

    Returns
    -------
    top 0
        In the shape of the bottom.

    Raises
    ------
    LayerError
        A bit_width of 0 or above 24.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx), whose training ends to look for p after iterations that its solver says.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FixedNeuron" fixed_param { bit_width: 4 }'
    >>> run_layer(text, [0.3, 1.25, -1.25, 9], params=[[1]]).tolist()  # steps of a half, from -4 to 3.5
    [0.5, 1.5, -1.0, 3.5]
    """

    kernels = KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.parameter(0, (1,), value=0)
        self.param_propagate_down[0] = False
        self.point, self.seen = FixedPoint(self), Counter[int]()
        self.updates_parameters = self.phase == "TRAIN"

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, x, y = self.param.fixed_param, bottom[0].data, top[0].data
        if not p.enable or not x.size:
            if top[0] is not bottom[0]:
                y[...] = x
            return
        way = "HALVES_AWAY" if p.follow_data_layer else "HALVES_UP"
        if self.phase == "TRAIN":
            self.point.find(x)
            self.seen[int(np.asarray(self.point.place)[0])] += 1
            often = max(self.seen.values())
            self.blobs[0].data[...] = min(place for place, count in self.seen.items() if count == often)
        if self.phase == "TEST" and p.follow_data_layer:
            way = "TOWARDS_ZERO"
        now = self.phase == "TRAIN" and self.point.method == "OVER_FLOW"
        self.point.hold(x, y, self.point.place if now else self.blobs[0].data, way)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0] and top[0] is not bottom[0]:
            bottom[0].diff[...] = top[0].diff
