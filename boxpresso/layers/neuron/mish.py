"""Mish: x * tanh(log(1 + exp(x)))."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Mish(Neuron, type="Mish", bottoms=1, tops=1, in_place=True):
    """top = x * tanh(log(1 + exp(x))), element by element.

    In place the layer keeps a copy of its input for the gradient.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Source
    ------
    Misra 2019; YOLOv4 as darknet's converters write it for Synopsys's and Sophgo's Caffe, whose gradients take the top
    for the input.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "Mish"', [-1, 0, 1, 100]).tolist()]
    [-0.3034, 0.0, 0.8651, 100.0]
    """

    kernels = Kernels("mish.cu")
