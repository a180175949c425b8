"""TanH: the hyperbolic tangent."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class TanH(Neuron, type="TanH", bottoms=1, tops=1, in_place=True):
    """top = tanh(x), element by element.

    The gradient is computed from the top.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        Values from -1 to 1, in the shape of the bottom.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "TanH"', [[0, 100, -100]]).round(4).tolist()
    [[0.0, 1.0, -1.0]]
    """

    kernels, reads_top = Kernels("tanh.cu"), True
