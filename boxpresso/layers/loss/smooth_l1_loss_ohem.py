"""SmoothL1LossOHEM: the Huber loss of box regression, and beside it the loss of each region."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Layer, Trait
from ..core.normalizer import divisor, normalization


class SmoothL1LossOHEM(
    Layer, type="SmoothL1LossOHEM", param="loss_param", bottoms=(2, 3), tops=(1, 2), loss=True, traits=Trait.COMPARES
):
    """top 0 = sum(f(weights * (a - b))) / normaliser, and as top 1 the loss of each region.

    f(d) = d^2 / 2 where |d| < 1, elsewhere |d| - 1 / 2. PRE_FIXED divides by pre_fixed_normalizer, which may be below
    1, FULL and VALID by R * H * W, BATCH_SIZE by R, NONE by 1. a and b get a gradient; the weights are constants, and
    their gradient, if it is asked for, is 0. Top 1 passes no gradient on.

    Parameters
    ----------
    bottom 0
        a (R, C, H, W), R regions.
    bottom 1
        b, of the same size.
    bottom 2
        Optional: the weights, of the same size.
    loss_param
        `normalization` (VALID): the normaliser, see above. `pre_fixed_normalizer` (1): that of PRE_FIXED; R-FCN takes
        loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 128 }. `normalize`: older; true is VALID, false is
        BATCH_SIZE.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: (R, 1, H, W), the sum over the channels of each region, not normalised.

    Raises
    ------
    LayerError
        Bottoms differ in their first axis or in their number of elements; a pre_fixed_normalizer that is not above 0
        with PRE_FIXED.

    Source
    ------
    R-FCN's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> a, b = [[0.5, 3], [1, 0]], [[0, 0], [0, 0]]
    >>> loss, each = run_layer('type: "SmoothL1LossOHEM"', a, b, tops=2)
    >>> loss.item(), each.ravel().tolist()
    (1.5625, [2.625, 0.5])
    """

    kernels = Kernels("smooth_l1_loss_ohem.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.mode = normalization(self, self.param.loss_param)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        first = bottom[0].shape
        for i, blob in enumerate(bottom[1:], 1):
            same = blob.count == bottom[0].count and blob.shape[:1] == first[:1]
            self.need(same, f"bottom {i} must have bottom 0's shape {first}, got {blob.shape}")
        regions, channels, *rest = (*first, 1, 1, 1)[: max(4, len(first))]
        self.shape = regions, channels, prod(rest)
        top[0].reshape()
        if len(top) > 1:
            top[1].reshape(regions, 1, *rest)
        p, full = self.param.loss_param, regions * prod(rest)
        fixed = self.mode == "PRE_FIXED"  # as R-FCN: it may be below 1
        self.divisor = p.pre_fixed_normalizer if fixed else divisor(p, self.mode, full, regions, valid=full)
        self.each = self.device.empty((full,), np.float64)

    @staticmethod
    def operands(bottom: list[Blob]) -> list[AnyArray | None]:
        """The data of all bottoms; None for the weights that are not given."""
        return [blob.data for blob in bottom] + [None] * (3 - len(bottom))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions, channels, inner = self.shape
        self.kernels.ohem_sums(regions * inner, *self.operands(bottom), self.each, channels, inner)
        self.kernels.ohem_total(1, self.each, top[0].data, regions * inner, self.divisor)
        if len(top) > 1:
            self.kernels.ohem_each(regions * inner, self.each, top[1].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if any(propagate_down[2:]):
            bottom[2].diff.fill(0)  # weights are constants
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.ohem_backward(
                    bottom[i].count, *self.operands(bottom), top[0].diff, bottom[i].diff, sign / self.divisor
                )

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
