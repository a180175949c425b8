"""AngleLoss: the angles between vectors of length 1 at the places of two maps, such as normals of surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import rows_of


class AngleLoss(Layer, type="AngleLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = the sum over all places of acos(t) / N, where t = the sum over the channels of x * label.

    x and label are meant to have length 1; t is cut to -1 and 1, where its program gives NaN beyond. A place does not count
    where the first channel of the label is above 10 or below -10. The gradient is -label / (sqrt(1 - t^2) + 1e-6) / N, as in
    its program, which is not infinite where both agree.

    Parameters
    ----------
    bottom 0
        x (N, C, ...).
    bottom 1
        The labels, in the same shape. They have no gradient.

    Returns
    -------
    top 0
        A single number, in radians.

    Raises
    ------
    LayerError
        The bottoms differ in shape or have no channels; an empty batch; a gradient of the labels is asked for.

    Source
    ------
    Wang et al. 2015, Designing Deep Networks for Surface Normal Estimation, and its Caffe (ANGLE_LOSS).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "AngleLoss"', [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]]).item(), 4)  # pi / 2 / 2
    0.7854
    """

    kernels = Kernels("angle_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.images, _ = rows_of(self, bottom[0])
        self.need(len(shape) > 1, f"its bottoms must be (N, C, ...), got {shape}")
        self.need(bottom[1].shape == shape, f"its bottoms must have one shape, got {shape} and {bottom[1].shape}")
        self.sizes = shape[1], prod(shape[2:])
        top[0].reshape()
        self.sums = self.device.empty((self.images,), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.angle_sums(self.images, bottom[0].data, bottom[1].data, self.sums, *self.sizes)
        self.kernels.angle_mean(1, self.sums, top[0].data, self.images)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, label, diff = bottom[0].data, bottom[1].data, bottom[0].diff
            self.kernels.angle_diffs(self.images * self.sizes[1], x, label, top[0].diff, diff, self.images, *self.sizes)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
