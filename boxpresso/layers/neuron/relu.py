"""ReLU: max(x, 0), or leaky with a slope below zero, or with a ceiling, as ReLU6 has."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import Activation, Fusible, Lowering, Pointwise


class ReLU(
    Layer,
    type=("ReLU", "ReLU6"),
    param=("relu6_param", "relu_param"),
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.ELEMENTWISE,
):
    """top = min(max(x, 0) + negative_slope * min(x, 0), ceiling), element by element.

    ReLU has no ceiling by default; that of ReLU6 is 6. If several ceilings are given, the smallest counts. The gradient
    is negative_slope at 0 and below, 1 above 0, and 0 from the ceiling on. NaN stays NaN; without a slope -infinity gives 0
    (in Caffe NaN, which is infinity times 0).

    Parameters
    ----------
    bottom 0
        Any shape.
    relu_param
        `negative_slope` (0): slope below 0. Forks give ReLU a ceiling: `relu6` (false): true for a ceiling of 6.
        `maximum` (0) and `upper_limit` (0): the ceiling, where above 0.
    relu6_param
        The same fields. ReLU6 reads this message, or relu_param where it is missing.

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a `minimum` (a fork's) other than 0, and for a gradient in place with a negative_slope below 0: the sign of
        the input is then lost.

    Source
    ------
    Caffe, MobileNet-YOLO's Caffe and Synopsys's Caffe; Nair and Hinton 2010.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ReLU" relu_param { negative_slope: 0.5 }', [[-2, 3]]).tolist()
    [[-1.0, 3.0]]
    >>> run_layer('type: "ReLU6"', [[3, 8]]).tolist()
    [[3.0, 6.0]]
    """

    kernels = Kernels("relu.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        six = self.param.type.lower() == "relu6"
        param = self.param.relu6_param if six and self.param.HasField("relu6_param") else self.param.relu_param
        self.need(param.minimum == 0, f"minimum {param.minimum} is not supported: the least value is 0, or the slope's")
        ceilings = [v for v in (6.0 * (six or param.relu6), param.maximum, param.upper_limit) if v > 0]
        self.limits = param.negative_slope, min(ceilings, default=inf)
        self.reads_top = top[0] is bottom[0]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.relu_forward(top[0].count, bottom[0].data, top[0].data, *self.limits)
        self.remember(top[0])

    def fuse(self) -> Fusible | None:
        slope, limit = self.limits
        if limit < inf:
            return None if slope else Activation("CLIP", low=0, high=limit)
        return Activation("LEAKY", slope=slope) if slope else Activation("RELU")

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, activation=self.fuse) if self.fuse() else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            # In place the bottom is the top. For slopes from 0 on, the sign of the top decides just as well.
            self.need(
                top[0] is not bottom[0] or self.limits[0] >= 0,
                f"in place, a negative_slope below 0, {self.limits[0]}, leaves no way back; give it a top of its own",
            )
            place = self.as_made(top[0]) if self.reads_top else bottom[0]
            self.kernels.relu_backward(top[0].count, place.data, top[0].diff, bottom[0].diff, *self.limits)
