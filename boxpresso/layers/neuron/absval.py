"""AbsVal: the absolute value."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class AbsVal(Neuron, type="AbsVal", bottoms=1, tops=1, in_place=True):
    """top = |bottom|, element by element.

    The gradient is the top's times the sign of the bottom; at 0 it is 0. It may work in place.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        The absolute values, in the shape of the bottom.

    Source
    ------
    Caffe, which refuses this layer in place.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "AbsVal"', [[-2, 0.5]]).tolist()
    [[2.0, 0.5]]
    """

    kernels = Kernels("absval.cu")
