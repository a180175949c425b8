"""SignedSqrt: the root of the magnitude, with the sign."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class SignedSqrt(Neuron, type="SignedSqrt", bottoms=1, tops=1, in_place=True):
    """top = sign(x) * sqrt(|x|), element by element.

    The gradient is 1 / (2 (|top| + 0.03)), where the slope is 1 / (2 |top|): it is bounded at 0. It is computed from the top.

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
    Gao et al. 2016, Compact Bilinear Pooling; yuminsuh/caffe_retrieval and five other forks.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SignedSqrt"', [[-4, 0, 9]]).tolist()
    [[-2.0, 0.0, 3.0]]
    """

    kernels, reads_top = Kernels("signed_sqrt.cu"), True
