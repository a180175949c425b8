"""HingeLoss: one-against-all support vector machines."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import KERNELS, Sum, labelled_rows


class HingeLoss(
    Layer, type="HingeLoss", param="hinge_loss_param", bottoms=2, tops=(0, 1), loss=True, traits=Trait.CLASS_LABELS
):
    """top = sum(max(0, margin - s x)^p) / N, s = 1 at a row's label and -1 elsewhere, p = 1 for L1 and 2 for L2.

    The loss of one-against-all support vector machines. The gradient of the labels, if it is asked for, is 0.

    Parameters
    ----------
    bottom 0
        x (N, ...), scores; the axes behind the first are one row of channels.
    bottom 1
        N whole labels, from 0.
    hinge_loss_param
        `norm` (L1): L1 or L2. `margin` (1): a field of a fork; Caffe has 1.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        A label that is not a channel; bottom 1 does not have one label for each row; an empty batch.

    Source
    ------
    Caffe, but a label that is not a channel raises LayerError. `margin`: jialinwu17's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "HingeLoss" hinge_loss_param { norm: L1 }', [[0.5, -0.5]], [0]).item()
    1.0
    >>> run_layer('type: "HingeLoss" hinge_loss_param { norm: L2 }', [[0.5, -0.5]], [0]).item()
    0.5
    """

    kernels, sum_kernels = Kernels("hinge_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.hinge_loss_param
        self.how = int(p.norm == p.L2), p.margin

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels = labelled_rows(self, bottom)
        top[0].reshape()
        self.sum = Sum(self, self.batch)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        data, partial = (bottom[0].data, bottom[1].data), self.sum.partial
        self.kernels.hinges(self.sum.blocks, *data, partial, self.batch, self.channels, *self.how)
        self.sum.join(top[0].data, self.batch)
        self.sum.check_labels(data[1], self.channels)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[1]:
            bottom[1].diff.fill(0)
        if propagate_down[0]:
            data = bottom[0].data, bottom[1].data
            self.kernels.hinges_backward(self.batch, *data, top[0].diff, bottom[0].diff, self.channels, *self.how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
