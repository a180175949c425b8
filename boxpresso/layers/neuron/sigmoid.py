"""Sigmoid: 1 / (1 + exp(-x))."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Sigmoid(Neuron, type="Sigmoid", bottoms=1, tops=1, in_place=True):
    """top = 1 / (1 + exp(-x)), element by element; it neither overflows nor loses small values. Source: Caffe."""

    kernels, from_top = Kernels("sigmoid.cu"), True
