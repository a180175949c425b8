"""CenterCosLoss: features in the direction of the centre of their class, which is learned beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class CenterCosLoss(Layer, type="CenterCosLoss", param="center_cos_loss_param", bottoms=2, tops=(0, 1), loss=True):
    """top = - the sum over rows of cos(x, c_label).

    Each class has a centre c, a learned parameter (classes, K). The gradient of the features is the derivative of the mean,
    not of the sum. What moves a centre is a rule of its own, as CenterLoss has it: the derivative of -cos summed over the
    rows of the class, divided by 1 + their number, whatever the weight of the loss. A row or centre of zeros has the cosine 0
    and no gradient.

    Parameters
    ----------
    bottom 0
        x (N, ...), one row of K features for each example.
    bottom 1
        (N), labels from 0.
    center_cos_loss_param
        `num_output`: how many classes, required. `center_cos_filler` (constant 0): the first centres. Only axis 1 is taken.

    Returns
    -------
    top 0
        A single number, from -N to N.

    Raises
    ------
    LayerError
        No num_output, another axis, labels that are not one for each row or no class, a gradient of the labels is asked for.

    Source
    ------
    banxia1994/Mycaffe. There a GPU sums |cos|, the lengths of all rows so far and a centre's last gradient alone, and a CPU
    moves centres away from their features.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CenterCosLoss" center_cos_loss_param { num_output: 2 }'
    >>> round(run_layer(text, [[3, 4], [2, 0]], [0, 1], params=[[[2, 0], [-1, 0]]]).item(), 4)  # 0.6 - 1
    0.4
    """

    kernels, sum_kernels = Kernels("center_cos_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.center_cos_loss_param
        self.classes = p.num_output
        self.need(self.classes > 0, "num_output, the number of classes, must be given")
        self.need(p.axis == 1, f"takes axis 1 alone, got {p.axis}")
        self.parameter(0, (self.classes, labelled_rows(self, bottom)[1]), p.center_cos_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        self.parameter(0, (self.classes, self.length))
        top[0].reshape()
        self.sum = Sum(self, self.batch)
        self.products = self.device.empty((self.batch, 3), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label, centers = bottom[0].data, bottom[1].data, self.blobs[0].data
        self.kernels.center_products(self.batch, x, label, centers, self.products, self.length, self.classes)
        self.kernels.center_cosines(self.sum.blocks, self.products, label, self.sum.partial, self.batch, self.classes)
        self.sum.join(top[0].data, 1)
        self.sum.check_labels(label, self.classes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        x, label, centers, sizes = bottom[0].data, bottom[1].data, self.blobs[0], (self.batch, self.length)
        if self.param_propagate_down[0]:
            self.kernels.center_turns(self.classes, x, label, centers.data, self.products, centers.diff, *sizes)
        if propagate_down[0]:
            how = self.products, top[0].diff, bottom[0].diff, *sizes, self.classes
            self.kernels.feature_turns(bottom[0].count, x, label, centers.data, *how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
