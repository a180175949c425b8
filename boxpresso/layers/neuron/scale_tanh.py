"""ScaleTanH: the hyperbolic tangent, steeper and steeper while it trains: codes of HashNet."""

from __future__ import annotations

from ...device import Blob, Kernels
from ...device.functions import power
from .neuron_base import Neuron


class ScaleTanH(Neuron, type="ScaleTanH", param="scale_tanh_param", bottoms=1, tops=1, in_place=True):
    """top = tanh(scale * x), element by element; while training the scale grows, until top is nearly the sign of x.

    In TRAIN the scale of forward i, counted from 2, is init_scale * (1 + gamma * i)^power where i is a multiple of step_size,
    and stays until the next multiple; before the first it is init_scale. At TEST it is init_scale, where that program goes on
    counting the forwards of its test net. The gradient is computed from the top.

    Parameters
    ----------
    bottom 0
        Any shape.
    scale_tanh_param
        `init_scale` (1), `step_size` (200), `gamma` (1), `power` (0).

    Returns
    -------
    top 0
        Values from -1 to 1, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a step_size of 0, and for a negative gamma.

    Source
    ------
    Cao et al. 2017, HashNet, and its Caffe (thuml/HashNet), which counts the reshape of setup as the first forward.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ScaleTanH" scale_tanh_param { init_scale: 2 }', [[0, 0.5, -100]]).round(4)
    array([[ 0.    ,  0.7616, -1.    ]], dtype=float32)
    """

    kernels, reads_top = Kernels("scale_tanh.cu"), True

    def read(self) -> tuple[float, ...]:
        p = self.param.scale_tanh_param
        self.need(p.step_size > 0, "step_size must be 1 or more, got 0")
        self.need(p.gamma >= 0, f"gamma must not be negative, got {p.gamma:g}")
        return (p.init_scale,)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.phase == "TRAIN":
            self.pass_number += 1
            p = self.param.scale_tanh_param
            last = (self.pass_number + 1) // p.step_size * p.step_size
            self.numbers = (p.init_scale * (power(1 + p.gamma * last, p.power) if last else 1),)
        super().forward(bottom, top)
