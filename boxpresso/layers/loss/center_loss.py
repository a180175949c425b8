"""CenterLoss: features near the centre of their class, which is learned beside them."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class CenterLoss(Layer, type="CenterLoss", param="center_loss_param", bottoms=2, tops=(0, 1), loss=True):
    """top = sum over rows of |x - c_label|^2 / (2 N), or with L1 of |x - c_label| / N.

    Each class has a centre c, a learned parameter (classes, K). The gradient of the features is the derivative. What
    moves a centre is a rule of its own, as in the paper: the sum of c - x (with L1 of its signs) over the rows of the
    class, divided by 1 + their number; it does not depend on loss_weight, and a solver's rate for it is that of the
    layer's `param`.

    Parameters
    ----------
    bottom 0
        (N, ...), one row of K features for each example.
    bottom 1
        (N), labels from 0.
    center_loss_param
        `num_output`: how many classes, required. `center_filler` (constant 0): the first centres. `distance_type`
        ("L2"): L2 or L1. Only axis 1 is taken.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        No num_output, another distance_type or axis, fields of forks with several centres (num_center, lr, top_k,
        update), labels that are not one for each row or no class, a gradient of the labels is asked for.

    Source
    ------
    Wen et al. 2016 and its Caffe (ydwen/caffe-face); L1 of happynear/caffe-windows, whose centres move by that sum
    once for each row of the class.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CenterLoss" center_loss_param { num_output: 2 }'
    >>> run_layer(text, [[3, 4], [1, 1]], [0, 1], params=[[[0, 0], [1, 1]]]).item()  # 25 / 2 / 2
    6.25
    """

    kernels, sum_kernels = Kernels("center_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.center_loss_param
        self.classes = p.num_output
        self.need(self.classes > 0, "num_output, the number of classes, must be given")
        self.need(p.distance_type in ("L1", "L2"), f"distance_type is L1 or L2, got {p.distance_type!r}")
        self.need(p.axis == 1, f"takes axis 1 alone, got {p.axis}")
        for field in ("num_center", "top_k", "update", "lr", "max_num_im_center", "ignore_label"):
            self.need(not p.HasField(field), f"center_loss_param: {field} of a fork is not supported; remove it")
        self.first_order = int(p.distance_type == "L1")
        self.parameter(0, (self.classes, labelled_rows(self, bottom)[1]), p.center_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        self.parameter(0, (self.classes, self.length))
        top[0].reshape()
        self.sum = Sum(self, self.batch)
        self.costs = self.device.empty((self.batch,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label, centers = bottom[0].data, bottom[1].data, self.blobs[0].data
        how = self.length, self.classes, self.first_order
        self.kernels.center_costs(self.batch, x, label, centers, self.costs, *how)
        self.kernels.center_losses(self.sum.blocks, self.costs, label, self.sum.partial, self.batch, self.classes)
        self.sum.join(top[0].data, self.batch if self.first_order else 2 * self.batch)
        self.sum.check_labels(label, self.classes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        x, label, centers = bottom[0].data, bottom[1].data, self.blobs[0]
        how = self.length, self.classes, self.first_order
        if self.param_propagate_down[0]:
            self.kernels.center_moves(self.classes, x, label, centers.data, centers.diff, self.batch, *how[::2])
        if propagate_down[0]:
            self.kernels.center_diffs(
                bottom[0].count, x, label, centers.data, top[0].diff, bottom[0].diff, self.batch, *how
            )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
