"""GradientScaler: nothing forward, and the gradient reversed backward, by which two domains become alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import Lowering, Same


class GradientScaler(
    Layer,
    type="GradientScaler",
    param="gradient_scaler_param",
    bottoms=1,
    tops=1,
    traits=Trait.ELEMENTWISE | Trait.VIEW,
):
    """top = bottom; the gradient of the bottom is -c times that of the top.

    c = 2 (upper - lower) / (1 + exp(-alpha p)) - (upper - lower) + lower goes from lower to upper as p = min(1, i /
    max_iter) goes from 0 to 1, i being the number of forward passes at TRAIN before this one, where the program that the
    layer is from counts its solver's iterations.

    Parameters
    ----------
    bottom 0
        Any shape.
    gradient_scaler_param
        `lower_bound` (0), `upper_bound` (1), `alpha` (10), `max_iter` (1).

    Returns
    -------
    top 0
        The bottom; the data are shared.

    Raises
    ------
    LayerError
        A max_iter below 1, an upper_bound below the lower_bound.

    Source
    ------
    Ganin and Lempitsky 2015, Unsupervised domain adaptation by backpropagation, and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "GradientScaler"', [1, -2]).tolist()
    [1.0, -2.0]
    """

    kernels = Kernels("gradient_scaler.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.gradient_scaler_param
        self.need(p.max_iter >= 1, f"max_iter must be 1 or more, got {p.max_iter:g}")
        ordered = p.lower_bound <= p.upper_bound
        self.need(ordered, f"upper_bound, {p.upper_bound:g}, is below lower_bound, {p.lower_bound:g}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_memory(bottom[0], top[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number += self.phase == "TRAIN"
        self.pass_on_data(bottom[0], top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Same()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            scale = -self.coefficient(max(self.pass_number - 1, 0))
            self.kernels.gradient_scaler_backward(bottom[0].count, top[0].diff, bottom[0].diff, scale)

    def coefficient(self, iteration: int) -> float:
        """c after so many forward passes."""
        p = self.param.gradient_scaler_param
        wide, steep = p.upper_bound - p.lower_bound, -p.alpha * min(1.0, iteration / p.max_iter)
        return float(2 * wide / (1 + exp(min(steep, 700.0))) - wide + p.lower_bound)
