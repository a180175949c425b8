"""Exp: a power of a base whose exponent is a line of the input."""

from __future__ import annotations

from math import log

from ...device import Kernels
from .neuron_base import Neuron


class Exp(Neuron, type="Exp", param="exp_param", bottoms=1, tops=1, in_place=True):
    """top = base ^ (shift + scale * bottom), element by element.

    Parameters
    ----------
    bottom 0
        Any shape.
    exp_param
        `base` (-1): -1 stands for e; any other base must be above 0. `scale` (1) and `shift` (0): of the exponent.

    Returns
    -------
    top 0
        The powers, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a base that is neither -1 nor above 0.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Exp" exp_param { base: 2 scale: 1 shift: 1 }', [[0, 1, 2]]).round(4).tolist()
    [[2.0, 4.0, 8.0]]
    """

    kernels, reads_top = Kernels("exp.cu"), True

    def read(self) -> tuple[float, ...]:
        p = self.param.exp_param
        self.need(p.base == -1 or p.base > 0, f"base must be above 0, or -1 for e, got {p.base:g}")
        rate = 1.0 if p.base == -1 else log(p.base)
        return rate * p.scale, rate * p.shift
