"""Sigmoid: 1 / (1 + exp(-x))."""

from __future__ import annotations

from ...device import Kernels
from ..core import Trait
from .neuron_base import Neuron


class Sigmoid(Neuron, type="Sigmoid", bottoms=1, tops=1, in_place=True, traits=Trait.ELEMENTWISE | Trait.PROBABILITIES):
    """top = 1 / (1 + exp(-x)), element by element.

    It does not overflow, and it does not lose small values. The gradient, top * (1 - top), is computed from the top.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        Values from 0 to 1, in the shape of the bottom.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Sigmoid"', [[0, 100, -100]]).round(4).tolist()
    [[0.5, 1.0, 0.0]]
    """

    kernels, reads_top = Kernels("sigmoid.cu"), True
