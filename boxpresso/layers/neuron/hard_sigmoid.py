"""HardSigmoid: a line between 0 and 1 in the place of a logistic curve."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class HardSigmoid(
    Neuron,
    type="HardSigmoid",
    param=("hard_sigmoid_param", "hardsigmoid_param"),
    bottoms=1,
    tops=1,
    in_place=True,
):
    """top = min(max(alpha * bottom + beta, 0), 1), element by element.

    The gradient is alpha where 0 < top < 1, and 0 elsewhere.

    Parameters
    ----------
    bottom 0
        Any shape.
    hard_sigmoid_param
        `alpha` (0.2): the slope. `beta` (0.5): the value at 0. The gate of MobileNetV3, relu6(x + 3) / 6, has an alpha of
        1/6.
    hardsigmoid_param
        The same fields, under the name of another fork.

    Returns
    -------
    top 0
        Values from 0 to 1, in the shape of the bottom; a NaN stays NaN.

    Raises
    ------
    LayerError
        For both messages in one layer.

    Source
    ------
    inisis/caffe, Synopsys's Caffe, OpenCV's dnn.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "HardSigmoid"', [[-3, 0, 1.25, 3]]).tolist()
    [[0.0, 0.5, 0.75, 1.0]]
    """

    kernels, reads_top = Kernels("hard_sigmoid.cu"), True

    def read(self) -> tuple[float, ...]:
        messages = [name for name in ("hard_sigmoid_param", "hardsigmoid_param") if self.param.HasField(name)]
        self.need(len(messages) < 2, "hard_sigmoid_param and hardsigmoid_param are one message; leave one away")
        p = getattr(self.param, messages[0] if messages else "hard_sigmoid_param")
        return p.alpha, p.beta
