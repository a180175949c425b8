"""BNLL: log(1 + exp(x)), today called softplus."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class BNLL(Neuron, type="BNLL", bottoms=1, tops=1, in_place=True):
    """top = log(1 + exp(bottom)), element by element, the binomial normal log likelihood; it does not overflow.

    The gradient, 1 - exp(-top), is taken from the top. Source: Caffe, whose gradient in place is wrong.
    """

    kernels, from_top = Kernels("bnll.cu"), True
