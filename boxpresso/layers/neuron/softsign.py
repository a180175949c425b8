"""Softsign: x / (1 + |x|)."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Softsign(Neuron, type="Softsign", bottoms=1, tops=1, in_place=True):
    """top = x / (1 + |x|), element by element.

    In place the layer keeps a copy of its input for the gradient.

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
    Bergstra et al. 2009; Synopsys's Caffe, OpenCV's dnn.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Softsign"', [[-3, 0, 1]]).tolist()
    [[-0.75, 0.0, 0.5]]
    """

    kernels = Kernels("softsign.cu")
