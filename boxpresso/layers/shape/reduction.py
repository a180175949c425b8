"""Reduction: the trailing axes summed up; BatchReduction: parts of one axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

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


class BatchReduction(
    Layer, type="BatchReduction", param="batch_reduction_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL
):
    """top = the sums or means of consecutive parts of one axis, of level * level elements for each level.

    A pyramid over time, whose elements lie one after another: the parts of the first level, then those of the second. With one
    level of 1, which is the default, the part is the whole axis, and the top lacks it.

    Parameters
    ----------
    bottom 0
        Any shape with the axis, which is as long as all parts together.
    batch_reduction_param
        `level` (1), which may be repeated: the roots of the parts' lengths. `reduction_param { operation: SUM axis: 0 }`: SUM
        or MEAN, and the axis.

    Returns
    -------
    top 0
        The shape of the bottom, its axis as long as there are levels; without the axis for one level of 1.

    Raises
    ------
    LayerError
        Another operation; an axis that the bottom lacks, or of another length than the parts together; a level below 1; the
        mean of no elements; a coeff other than 1; `pos` of a fork.

    Source
    ------
    yjxiong/caffe (temporal segment networks) and two others.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = "type: 'BatchReduction' batch_reduction_param { level: 1 level: 2 reduction_param { operation: MEAN axis: 1 } }"
    >>> run_layer(text, [[8, 1, 2, 3, 4]]).tolist()
    [[8.0, 2.5]]
    """

    kernels = Kernels("reduction.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.batch_reduction_param
        name = p.reduction_param.ReductionOp.Name(p.reduction_param.operation)
        self.need(name in ("SUM", "MEAN"), f"operation must be SUM or MEAN, got {name}")
        self.need(p.reduction_param.coeff == 1, "reduction_param: its program ignores coeff; remove it")
        self.levels, self.mean = list(p.level) or [1], int(name == "MEAN")
        self.need(min(self.levels) > 0, f"levels must be 1 or more, got {self.levels}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 0, "needs an axis, its bottom is a single number")
        axis = self.axis(bottom[0], self.param.batch_reduction_param.reduction_param.axis)
        whole = self.levels == [1]
        lengths = [shape[axis]] if whole else [level * level for level in self.levels]
        self.need(sum(lengths) == shape[axis], f"its parts of {lengths} elements do not make up axis {axis} of {shape}")
        self.need(not self.mean or min(lengths) > 0, f"there is no MEAN of no elements: axis {axis} of {shape}")
        self.begins = self.device.table(np.cumsum([0, *lengths]))
        self.part_of = self.device.table(np.repeat(np.arange(len(lengths)), lengths) if shape[axis] else [0])
        self.sizes = len(lengths), shape[axis], prod(shape[axis + 1 :]), self.mean
        top[0].reshape(*shape[:axis], *([] if whole else [len(lengths)]), *shape[axis + 1 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.parts_forward(top[0].count, bottom[0].data, self.begins, top[0].data, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            tables = self.begins, self.part_of
            self.kernels.parts_backward(bottom[0].count, top[0].diff, *tables, bottom[0].diff, *self.sizes)
