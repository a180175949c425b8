"""Swish: x * sigmoid(beta x)."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Swish(Neuron, type="Swish", param="swish_param", bottoms=1, tops=1, in_place=True):
    """top = x / (1 + exp(-beta * x)), element by element.

    In place the layer keeps a copy of its input for the gradient.

    Parameters
    ----------
    bottom 0
        Any shape.
    swish_param
        `beta` (1): as in the formula.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Source
    ------
    Caffe; Ramachandran et al. 2017.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "Swish" swish_param { beta: 1 }', [0, 1, 100]).tolist()]
    [0.0, 0.7311, 100.0]
    """

    kernels = Kernels("swish.cu")

    def read(self) -> tuple[float, ...]:
        return (self.param.swish_param.beta,)
