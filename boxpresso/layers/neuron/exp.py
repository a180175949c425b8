"""Exp: a power of a base whose exponent is a line of the input."""

from __future__ import annotations

from math import log

from ...device import Kernels
from .neuron_base import Neuron


class Exp(Neuron, type="Exp", param="exp_param", bottoms=1, tops=1, in_place=True):
    """top = base ^ (shift + scale * bottom), element by element.

    exp_param { base: -1 scale: 1 shift: 0 }; a base of -1 is e, any other must be above 0. Source: Caffe.
    """

    kernels, from_top = Kernels("exp.cu"), True

    def read(self) -> tuple[float, ...]:
        p = self.param.exp_param
        self.need(p.base == -1 or p.base > 0, f"base must be above 0, or -1 for e, got {p.base:g}")
        rate = 1.0 if p.base == -1 else log(p.base)
        return rate * p.scale, rate * p.shift
