"""BNLL: log(1 + exp(x)), today called softplus."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class BNLL(Neuron, type=("BNLL", "Softplus"), bottoms=1, tops=1, in_place=True):
    """top = log(1 + exp(bottom)), element by element.

    This is the binomial normal log likelihood, today called softplus, as other programs name it. It does not overflow. The
    gradient is computed from the top, as 1 - exp(-top), so that it is right in place too.

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
    Caffe, whose gradient in place is wrong; Synopsys's Caffe and OpenCV's dnn (Softplus).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "BNLL"', [0, 100]).tolist()]
    [0.6931, 100.0]
    """

    kernels, reads_top = Kernels("bnll.cu"), True
