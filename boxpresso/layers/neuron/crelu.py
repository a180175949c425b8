"""CReLU: the positive and the negative part, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class CReLU(Layer, type="CReLU", param="crelu_param", bottoms=1, tops=1, traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL):
    """top = (relu(x), relu(-x)), concatenated along one axis.

    Below zero, relu(x) is negative_slope * x. At 0, each of the two parts has the gradient that it has below zero,
    negative_slope.

    Parameters
    ----------
    bottom 0
        Any shape with the axis concat_axis.
    crelu_param
        `negative_slope` (0): slope below 0. `concat_axis` (1): the axis along which the two parts are concatenated;
        negative values count from the end.

    Returns
    -------
    top 0
        First relu(x), then relu(-x): the shape of the bottom, with concat_axis twice as long.

    Raises
    ------
    LayerError
        For a concat_axis that the bottom does not have.

    Source
    ------
    Cambricon's Caffe; Shang et al. 2016.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "CReLU" crelu_param { negative_slope: 0 concat_axis: 1 }', [[3, -2]]).astype(int).tolist()
    [[3, 0, 0, 2]]
    >>> run_layer('type: "CReLU" crelu_param { negative_slope: 0.5 }', [[3, -2]]).tolist()
    [[3.0, -1.0, -1.5, 2.0]]
    """

    kernels = Kernels("crelu.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, param = bottom[0].shape, self.param.crelu_param
        axis = self.axis(bottom[0], param.concat_axis, "concat_axis")
        self.how = prod(shape[axis:]), param.negative_slope
        top[0].reshape(*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.crelu_forward(bottom[0].count, bottom[0].data, top[0].data, *self.how)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.crelu_backward(bottom[0].count, bottom[0].data, top[0].diff, bottom[0].diff, *self.how)
