"""Reduction: the trailing axes summed up."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer

OPERATIONS = {"SUM": "SUM", "MEAN": "SUM", "ASUM": "ASUM", "SUMSQ": "SUMSQ"}  # the kernels' constant for each


class Reduction(Layer, type="Reduction", param="reduction_param", bottoms=1, tops=1):
    """top = coeff * the sum (SUM), mean (MEAN), sum of absolute values (ASUM) or of squares (SUMSQ) of the axes from
    `axis` on, which the top lacks.

    reduction_param { operation: SUM axis: 0 coeff: 1 }; a negative axis counts from the end. Source: Caffe.
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
