"""Swish: x * sigmoid(beta x)."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Swish(Neuron, type="Swish", param="swish_param", bottoms=1, tops=1, in_place=True):
    """top = x / (1 + exp(-beta * x)), element by element. swish_param { beta: 1 }.

    Source: Caffe; Ramachandran et al. 2017.
    """

    kernels = Kernels("swish.cu")

    def read(self) -> tuple[float, ...]:
        return (self.param.swish_param.beta,)
