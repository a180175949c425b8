"""KLDivLoss and NSSLoss: how a predicted map of saliency fits one of where people looked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import rows_of

TINY = 1e-6


class SaliencyLoss(Layer):
    """What the two share: maps of one size, a cost for each, their mean."""

    kernels = Kernels("saliency_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = rows_of(self, bottom[0])
        self.need(
            bottom[1].shape[:1] == (self.batch,) and bottom[1].count == bottom[0].count,
            f"needs maps of one size for each image, got {bottom[0].shape} and {bottom[1].shape}",
        )
        top[0].reshape()
        self.sums = self.device.empty((self.batch, 2), np.float64)
        self.costs = self.device.empty((self.batch,), np.float64)

    def refuse_truth(self, propagate_down: Sequence[bool]) -> None:
        """Raises LayerError where a gradient of the true maps is asked for."""
        self.need(not propagate_down[1], "true maps have no gradient; set propagate_down: false for bottom 1")

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class KLDivLoss(SaliencyLoss, type="KLDivLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = the mean over images of sum(f log(f / (s + e) + e)), e = 1e-6.

    f and s are the true and the predicted map, divided by their sum + e: the Kullback-Leibler divergence. The gradient is
    that of its program, -f (S - x) / (S x + e) / N with the sum S of the prediction x.

    Parameters
    ----------
    bottom 0
        (N, ...), predicted maps of numbers from 0.
    bottom 1
        True maps, of the same size.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Maps of two sizes, an empty batch, a gradient of the true maps is asked for.

    Source
    ------
    nian-liu/DSCLRCN (Liu and Han 2018).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "KLDivLoss"', [[1, 1]], [[1, 0]]).item(), 3)
    0.693
    """

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        maps = bottom[0].data, bottom[1].data
        self.kernels.saliency_sums(self.batch, *maps, self.sums, self.length)
        self.kernels.divergences(self.batch, *maps, self.sums, self.costs, self.length, TINY)
        self.kernels.saliency_mean(1, self.costs, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.refuse_truth(propagate_down)
        if propagate_down[0]:
            maps, sizes = (bottom[0].data, bottom[1].data), (self.batch, self.length)
            self.kernels.divergence_diffs(bottom[0].count, *maps, self.sums, top[0].diff, bottom[0].diff, *sizes, TINY)


class NSSLoss(SaliencyLoss, type="NSSLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = - the mean over images of sum(x f) / sum(|f|): minus the saliency where people looked.

    With predictions of mean 0 and variance 1 it is minus the normalized scanpath saliency. A map where nobody looked
    counts as 0.

    Parameters
    ----------
    bottom 0
        x (N, ...), predicted maps.
    bottom 1
        f, true maps, of the same size.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Maps of two sizes, an empty batch, a gradient of the true maps is asked for.

    Source
    ------
    nian-liu/DSCLRCN (Liu and Han 2018); Peters et al. 2005.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "NSSLoss"', [[2, -1, 0.5]], [[1, 0, 1]]).item()
    -1.25
    """

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        maps = bottom[0].data, bottom[1].data
        self.kernels.saliency_sums(self.batch, *maps, self.sums, self.length)
        self.kernels.scanpaths(self.batch, *maps, self.sums, self.costs, self.length)
        self.kernels.saliency_mean(1, self.costs, top[0].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.refuse_truth(propagate_down)
        if propagate_down[0]:
            sizes = self.batch, self.length
            self.kernels.scanpath_diffs(bottom[0].count, bottom[1].data, self.sums, top[0].diff, bottom[0].diff, *sizes)
