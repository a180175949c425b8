"""EntropyLoss: how undecided the softmax of scores is, which nets for another domain than their labels' learn to lower."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, softmax
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class EntropyLoss(Layer, type="EntropyLoss", param=("loss_param", "softmax_param"), bottoms=1, tops=(0, 1), loss=True):
    """top = the sum of -p log(p) over all places and channels, divided by a normaliser; p is the softmax of the bottom.

    FULL and VALID divide by the number of places, BATCH_SIZE by the size of the axes before `axis`, PRE_FIXED (of a fork) by
    pre_fixed_normalizer, NONE by 1; the normaliser is 1 at least. A p counts as FLT_MIN at least in the logarithm.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    softmax_param
        `axis` (1): the axis of the channels.
    loss_param
        `normalization` (VALID), `normalize`, `pre_fixed_normalizer` (1): the normaliser.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        No channels; an axis that the scores lack; fields of forks that weigh labels.

    Source
    ------
    Mancini et al. 2018 (mancinimassimiliano/latent_domains_DA), JiahaoLi-gdut/CAFFE-DACH; madiken/skaffe_private_old, which
    divides by the batch. tgebru/transform, thuml/MADA and others have the entropy of probabilities under this name.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "EntropyLoss"', [[0, 0], [99, 0]]).item(), 4)
    0.3466
    """

    kernels, sum_kernels, softmax_kernels = Kernels("entropy_loss.cu"), KERNELS, softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        self.mode = normalization(self, p)
        self.probability, self.entropy = (Blob((), self.dtype, self.device) for _ in range(2))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        outer, channels, inner = self.sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        places = outer * inner
        top[0].reshape()
        self.probability.reshape(*shape)
        self.entropy.reshape(places)
        self.sum = Sum(self, places)
        self.divisor = divisor(self.param.loss_param, self.mode, places, outer, places)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.sizes
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, self.probability.data, *self.sizes)
        data = self.probability.data, self.entropy.data, self.sum.partial
        self.kernels.entropy_losses(self.sum.blocks, *data, outer * inner, channels, inner)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            data = self.probability.data, self.entropy.data, top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.entropy_diffs(bottom[0].count, *data, *self.sizes[1:])
