"""Log: the logarithm of a line of the input."""

from __future__ import annotations

from math import log

from ...device import Kernels
from .neuron_base import Neuron


class Log(Neuron, type="Log", param="log_param", bottoms=1, tops=1, in_place=True):
    """top = log(shift + scale * bottom) to the base `base`, element by element.

    log_param { base: -1 scale: 1 shift: 0 }; a base of -1 is e, any other must be above 0 and not 1. What has no
    logarithm gives NaN or -infinity. Source: Caffe, whose gradient in place is wrong.
    """

    kernels = Kernels("log.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.log_param
        fits = p.base == -1 or (p.base > 0 and p.base != 1)
        self.need(fits, f"base must be above 0 and not 1, or -1 for e, got {p.base:g}")
        return p.scale, p.shift, 1.0 if p.base == -1 else 1 / log(p.base)
