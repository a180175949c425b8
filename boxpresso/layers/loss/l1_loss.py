"""L1Loss, CosLoss: the sum of absolute differences, and how far vectors of length 1 are from each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import KERNELS, Sum
from .pairs import batch_of_pair


class PairLoss(Layer, traits=Trait.COMPARES):
    """A loss of two bottoms (N, ...) of one size, by a kernel for the terms and one for the gradient of each bottom."""

    kernels, sum_kernels = Kernels("pair_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, count = batch_of_pair(self, bottom), bottom[0].count
        self.need(count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        self.sum = Sum(self, count)
        top[0].reshape()


class L1Loss(PairLoss, type=("L1Loss", "ManhattanLoss"), param="l1_loss_param", bottoms=2, tops=(0, 1), loss=True):
    """top = sum(|a - b|) / N, N being the first axis. Both bottoms get a gradient, which is 0 where a = b.

    Parameters
    ----------
    bottom 0
        a (N, ...).
    bottom 1
        b, with the same first axis and as many elements.
    l1_loss_param
        FlowNet's: no field but `normalize_by_num_entries: false` is taken.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their first axis or in their number of elements; an empty batch; a field of FlowNet's
        L1Loss, which is another layer.

    Source
    ------
    NVIDIA's Caffe; ManhattanLoss is the same layer in qxcv/caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "L1Loss"', [[1, 2]], [[3, 1]]).item()
    3.0
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.l1_loss_param
        other = p.l2_per_location or p.l2_prescale_by_channels or p.normalize_by_num_entries or p.plateau
        self.need(not other, "l1_loss_param is of FlowNet's L1Loss, another layer, which is not supported")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = bottom[0].data, bottom[1].data
        self.kernels.absolute_terms(self.sum.blocks, a, b, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.batch))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.absolute_backward(
                    bottom[i].count, bottom[0].data, bottom[1].data, top[0].diff, bottom[i].diff, sign / self.batch
                )


class CosLoss(PairLoss, type="CosLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = 1 - sum(a * b) / N: of vectors of length 1, one minus the mean cosine. Both bottoms get a gradient.

    Parameters
    ----------
    bottom 0
        a (N, ...), such as the top of a Normalize layer.
    bottom 1
        b, with the same first axis and as many elements.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their first axis or in their number of elements; an empty batch.

    Source
    ------
    CSLJXing/caffe, whose gradient goes to a alone and has no part along a.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "CosLoss"', [[0, 1], [1, 0]], [[0, 1], [0, 1]]).item()
    0.5
    """

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = bottom[0].data, bottom[1].data
        self.kernels.product_terms(self.sum.blocks, a, b, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.batch))
        top[0].data[...] = 1 + np.asarray(top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i in (0, 1):
            if propagate_down[i]:
                other = bottom[1 - i]
                self.kernels.product_backward(other.count, other.data, top[0].diff, bottom[i].diff, -1 / self.batch)
