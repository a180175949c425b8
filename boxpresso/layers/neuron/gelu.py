"""GELU: the Gaussian error linear unit, in its form with a hyperbolic tangent."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class GELU(Neuron, type="GELU", param="gelu_param", bottoms=1, tops=1, in_place=True):
    """top = coeff * x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), element by element.

    In place the layer keeps a copy of its input for the gradient.

    Parameters
    ----------
    bottom 0
        Any shape.
    gelu_param
        `coeff` (1): a factor of the whole, such as 1.7015 of nets without normalisation.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Source
    ------
    Hendrycks and Gimpel 2016; a fork of Caffe with NFNet's factor (Brock et al. 2021).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "GELU" gelu_param { coeff: 2 }', [0, 1, 100]).tolist()]
    [0.0, 1.6824, 200.0]
    """

    kernels = Kernels("gelu.cu")

    def read(self) -> tuple[float, ...]:
        return (self.param.gelu_param.coeff,)
