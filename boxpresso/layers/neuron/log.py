"""Log: the logarithm of a line of the input."""

from __future__ import annotations

from math import log

from ...device import Kernels
from .neuron_base import Neuron


class Log(Neuron, type="Log", param="log_param", bottoms=1, tops=1, in_place=True):
    """top = log(shift + scale * bottom) to the base `base`, element by element.

    A number that has no logarithm gives NaN or -infinity. In place the layer keeps a copy of its input for the
    gradient.

    Parameters
    ----------
    bottom 0
        Any shape.
    log_param
        `base` (-1): -1 stands for e; any other base must be above 0 and not 1. `scale` (1) and `shift` (0): of the
        argument.

    Returns
    -------
    top 0
        The logarithms, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a base that is neither -1 nor above 0, and for a base of 1.

    Source
    ------
    Caffe, whose gradient in place is wrong.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Log" log_param { base: 2 scale: 1 shift: 0 }', [[1, 2, 8]]).round(4).tolist()
    [[0.0, 1.0, 3.0]]
    """

    kernels = Kernels("log.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.log_param
        fits = p.base == -1 or (p.base > 0 and p.base != 1)
        self.need(fits, f"base must be above 0 and not 1, or -1 for e, got {p.base:g}")
        return p.scale, p.shift, 1.0 if p.base == -1 else 1 / log(p.base)
