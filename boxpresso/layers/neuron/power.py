"""Power: a line of the input, raised to a power."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.functions import power as raised
from ..core import Layer, Trait
from ..core.lowering import Affine, Fusible, Lowering, Pointwise


class Power(Layer, type="Power", param="power_param", bottoms=1, tops=1, in_place=True, traits=Trait.ELEMENTWISE):
    """top = (shift + scale * x) ^ power, element by element.

    With a scale of 0 or a power of 0 the input is ignored, even where it is NaN: the top is shift ^ power (1 for power
    0) and the gradient is 0. In place the layer keeps a copy of its input where the gradient depends on it.

    Parameters
    ----------
    bottom 0
        Any shape.
    power_param
        `power` (1), `scale` (1) and `shift` (0), as in the formula.

    Returns
    -------
    top 0
        The powers, in the shape of the bottom.

    Source
    ------
    Caffe, with two differences. Caffe's gradient in place is wrong: it overwrites the diff and the data of the top
    before it reads them. And it is NaN where shift + scale * x is 0; here the formula power * scale * (shift + scale *
    x) ^ (power - 1) is used.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Power" power_param { power: 2 scale: 0.5 shift: 1 }', [[0, 2, 4]]).tolist()
    [[1.0, 4.0, 9.0]]
    """

    kernels = Kernels("power.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.power_param
        self.line = param.power, param.scale, param.shift
        self.constant = param.power * param.scale == 0
        # The gradient of a curve depends on the place, which a layer in place must then remember.
        self.remembers = top[0] is bottom[0] and not self.constant and param.power != 1
        self.place = Blob((), self.dtype, self.device) if self.remembers else bottom[0]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)
        if self.remembers:
            self.place.reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        power, _, shift = self.line
        if self.constant:
            with np.errstate(all="ignore"):  # 0 ^ -1 is infinity and (-1) ^ 0.5 NaN, as C has it
                top[0].data.fill(raised(shift, power))
            return
        if self.remembers:
            self.place.data[...] = bottom[0].data
        self.kernels.power_forward(top[0].count, bottom[0].data, top[0].data, *self.line)

    def fuse(self) -> Fusible | None:
        power, scale, shift = self.line
        return Affine(np.array(scale, np.float64), np.array(shift, np.float64)) if power == 1 and scale else None

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, affine=self.fuse) if self.fuse() else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        if self.constant:
            bottom[0].diff.fill(0)
        else:
            self.kernels.power_backward(top[0].count, self.place.data, top[0].diff, bottom[0].diff, *self.line)
