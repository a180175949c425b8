"""HardSwish: x times a line between 0 and 1."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class HardSwish(Neuron, type=("HardSwish", "HSwish"), bottoms=1, tops=1, in_place=True):
    """top = x * min(max(x + 3, 0), 6) / 6, element by element.

    In place the layer keeps a copy of its input for the gradient, which is 0 up to -3 and 1 from 3 on.

    Parameters
    ----------
    bottom 0
        Any shape.

    Returns
    -------
    top 0
        The values, in the shape of the bottom; a NaN stays NaN.

    Source
    ------
    Howard et al. 2019, MobileNetV3; micronet-caffe, inisis/caffe, aovoc/caffe (HSwish) and Synopsys's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "HardSwish"', [[-4, -1.5, 0, 1.5, 4]]).tolist()
    [[0.0, -0.375, 0.0, 1.125, 4.0]]
    """

    kernels = Kernels("hard_swish.cu")
