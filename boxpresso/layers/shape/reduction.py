"""Reduction: the trailing axes summed up."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait

OPERATIONS = {"SUM": "SUM", "MEAN": "SUM", "ASUM": "ASUM", "SUMSQ": "SUMSQ"}  # the kernels' constant for each


class Reduction(Layer, type="Reduction", param="reduction_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top = coeff * the sum, mean, sum of absolute values or sum of squares over the axes from `axis` on.

    The gradient is coeff g for SUM, coeff g / count for MEAN, coeff g sign(x) for ASUM, where sign(0) is 0, and
    2 coeff g x for SUMSQ, where g is the gradient of the top.

    Parameters
    ----------
    bottom 0
        Any shape; for MEAN at least one element in each sum.
    reduction_param
        `operation` (SUM): SUM, MEAN, ASUM (the sum of absolute values) or SUMSQ (the sum of squares). `axis` (0): the
        first axis that is summed over; a negative axis counts from the end. `coeff` (1): the factor.

    Returns
    -------
    top 0
        The axes of the bottom before `axis`; with axis 0 a single number of shape ().

    Raises
    ------
    LayerError
        For TOPK, an operation of a fork, an axis that the bottom lacks, or the MEAN of no elements.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Reduction" reduction_param { operation: MEAN axis: 1 }', [[1, 2], [-3, 4]]).tolist()
    [1.5, 0.5]
    >>> run_layer('type: "Reduction" reduction_param { operation: ASUM coeff: 0.5 }', [[1, 2], [-3, 4]]).tolist()
    5.0
    """

    kernels = Kernels("reduction.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.reduction_param
        self.name_of = p.ReductionOp.Name(p.operation)
        known = ", ".join(OPERATIONS)
        self.need(self.name_of in OPERATIONS, f"operation {self.name_of} of a fork is not one of {known}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.reduction_param, bottom[0].shape
        axis = self.axis(bottom[0], p.axis) if shape else 0
        self.rows, self.length = prod(shape[:axis]), prod(shape[axis:])
        mean = self.name_of == "MEAN"
        self.need(self.length or not mean, f"there is no MEAN of no elements: shape {shape} from axis {axis} on")
        self.how = self.kernels.constants[OPERATIONS[self.name_of]], p.coeff / (self.length if mean else 1)
        top[0].reshape(*shape[:axis])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.reduction_forward(self.rows, bottom[0].data, top[0].data, self.length, *self.how)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            data, diff = bottom[0].data, bottom[0].diff
            self.kernels.reduction_backward(self.rows, data, top[0].diff, diff, self.length, *self.how)
