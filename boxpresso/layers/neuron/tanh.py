"""TanH: the hyperbolic tangent."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class TanH(Neuron, type="TanH", bottoms=1, tops=1, in_place=True):
    """top = tanh(x), element by element. Source: Caffe."""

    kernels, from_top = Kernels("tanh.cu"), True
