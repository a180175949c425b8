"""SeLU, SeLuDropout: the scaled exponential linear unit, and the dropout that keeps its mean and variance."""

from __future__ import annotations

import math

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .dropout_base import DropoutBase
from .neuron_base import Neuron


class SeLU(Neuron, type=("SeLu", "SeLU"), param="selu_param", bottoms=1, tops=1, in_place=True):
    """top = lambda * x above 0, and lambda * alpha * (exp(x) - 1) from 0 down, element by element.

    Parameters
    ----------
    bottom 0
        Any shape.
    selu_param
        `lambda` (1.05070102), `alpha` (1.67326319).

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Source
    ------
    Klambauer et al. 2017; caffe_latte and synopsys-caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SeLu"', [[2, 0, -100]]).round(3)
    array([[ 2.101,  0.   , -1.758]], dtype=float32)
    """

    kernels = Kernels("elu.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.selu_param
        return p.alpha, getattr(p, "lambda")


class SeLuDropout(
    DropoutBase,
    type=("SeLuDropout", "SeLUDropout"),
    param="selu_dropout_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.ELEMENTWISE | Trait.VIEW,
):
    """While training, sets a random part of the elements to `alpha`, so that after a * x + b mean and variance stay.

    TRAIN: an element becomes a * alpha + b with probability r = dropout_ratio, otherwise a * x + b, with q = 1 - r,
    a = 1 / sqrt(q (1 + alpha^2 r)) and b = -a r alpha. TEST: top is bottom. What is drawn depends on the layer's seed, the
    number of the forward and the index of the element, as in Dropout.

    Parameters
    ----------
    bottom 0
        Any shape.
    selu_dropout_param
        `dropout_ratio` (0.1), from 0 to below 1; `alpha` (-1.75809932).

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a dropout_ratio outside this range.

    Source
    ------
    Klambauer et al. 2017; caffe_latte and synopsys-caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SeLuDropout"', [[1, 2]]).tolist()
    [[1.0, 2.0]]
    """

    kernels = Kernels("selu_dropout.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.selu_dropout_param
        ratio = p.dropout_ratio
        self.need(0 <= ratio < 1, f"dropout_ratio must be from 0 to below 1, got {ratio:g}")
        self.drops = ratio > 0 and self.phase == "TRAIN"
        self.identity = not self.drops
        self.lose_traits()
        self.scale = 1 / math.sqrt((1 - ratio) * (1 + p.alpha * p.alpha * ratio))
        self.dropped, self.shift = self.scale * p.alpha, -self.scale * ratio * p.alpha
        self.threshold = self.threshold_of(ratio)
        self.key = int(self.rng.integers(2**32))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        if top[0] is bottom[0]:
            return
        if self.drops:
            top[0].reshape(*bottom[0].shape)
        else:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])

    def run(self, source: AnyArray, target: AnyArray, dropped: float, shift: float) -> None:
        """Draws for each element what it becomes."""
        if self.drops:
            self.kernels.selu_dropout(
                source.size, source, target, self.key, self.pass_number, self.threshold, self.scale, dropped, shift
            )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number = (self.pass_number + 1) % 2**32
        if self.drops:
            self.run(bottom[0].data, top[0].data, self.dropped, self.shift)
        else:
            self.pass_on_data(bottom[0], top[0])

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        self.run(source, target, 0, 0)  # gradients
