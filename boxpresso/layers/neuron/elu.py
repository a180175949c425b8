"""ELU: the exponential linear unit."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class ELU(Neuron, type="ELU", param="elu_param", bottoms=1, tops=1, in_place=True):
    """top = lambda * x above 0, and lambda * alpha * (exp(x) - 1) from 0 down, element by element.

    This is the exponential linear unit. NVIDIA's `lambda` makes it SELU.

    Parameters
    ----------
    bottom 0
        Any shape.
    elu_param
        `alpha` (1): the factor from 0 down. `lambda` (1): NVIDIA's, a factor of the whole.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Source
    ------
    Caffe; NVIDIA's Caffe for lambda; Clevert et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ELU" elu_param { alpha: 0.5 }', [[2, 0, -100]]).round(4).tolist()
    [[2.0, 0.0, -0.5]]
    """

    kernels = Kernels("elu.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.elu_param
        return p.alpha, getattr(p, "lambda")
