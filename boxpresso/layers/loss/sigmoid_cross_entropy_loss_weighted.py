"""SigmoidCrossEntropyLossWeighted and its like: the cross entropy of yes-or-no targets with weights."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SigmoidCrossEntropyLossWeighted(Layer, type="SigmoidCrossEntropyLossWeighted", bottoms=3, tops=(0, 1), loss=True):
    """top = sum(w (log(1 + e^x) - x t)) / N, N being the first axis.

    Parameters
    ----------
    bottom 0
        x (N, ...), scores.
    bottom 1
        t, as many targets from 0 to 1.
    bottom 2
        w, as many weights; where one is 0, score and target do not matter.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements; an empty batch; a gradient of targets or weights is asked for.

    Source
    ------
    Gidaris and Komodakis 2016, and their Caffe (gidariss/caffe_LocNet).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SigmoidCrossEntropyLossWeighted"'
    >>> round(float(run_layer(text, [[0, 9]], [[1, 0]], [[2, 0]])), 4)  # 2 log(2)
    1.3863
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss_weighted.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        for i in (1, 2):
            fits = bottom[i].count == bottom[0].count
            self.need(
                fits, f"bottom {i} must have as many elements as bottom 0, got {bottom[i].shape} and {bottom[0].shape}"
            )
        self.batch = bottom[0].shape[0] if bottom[0].shape else 1
        self.sum = Sum(self, bottom[0].count)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, target, weight = (blob.data for blob in bottom)
        self.kernels.weighted_terms(self.sum.blocks, x, target, weight, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.batch))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "targets and weights have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0]:
            x, target, weight = (blob.data for blob in bottom)
            args = x, target, weight, top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.weighted_backward(bottom[0].count, *args)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class SigmoidCrossEntropyBalanceLoss(
    Layer,
    type="SigmoidCrossEntropyBalanceLoss",
    bottoms=2,
    tops=(0, 1),
    loss=True,
    traits=Trait.COMPARES,
):
    """top = sum(w (log(1 + e^x) - x t)) / N, where the rarer kind of target weighs more: edges, or a small object.

    In each example, w is the share of targets of 0 for a target of 1, and the share of those of 1 for a target of 0. A
    target of another value does not count, where the program that the layer is from leaves its gradient without a weight.

    Parameters
    ----------
    bottom 0
        x (N, ...), scores.
    bottom 1
        t, as many targets, 0 or 1.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements; an empty batch; a gradient of the targets is asked for.

    Source
    ------
    Xie and Tu 2015, Holistically-nested edge detection; kmaninis/OSVOS-caffe and kmaninis/COB.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SigmoidCrossEntropyBalanceLoss"'
    >>> round(float(run_layer(text, [[0, 0, 0, 0]], [[1, 0, 0, 0]])), 4)  # 1.5 log(2)
    1.0397
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss_weighted.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        fits = bottom[1].count == bottom[0].count
        self.need(fits, f"bottom 1 must have as many elements as bottom 0, got {bottom[1].shape} and {bottom[0].shape}")
        self.batch = bottom[0].shape[0] if bottom[0].shape else 1
        self.weights = self.device.empty((bottom[0].count,), self.dtype)
        self.sum = Sum(self, bottom[0].count)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        count, (x, target) = bottom[0].count, (blob.data for blob in bottom)
        self.kernels.balance_weights(self.batch, target, self.weights, count // self.batch)
        self.kernels.weighted_terms(self.sum.blocks, x, target, self.weights, self.sum.partial, count)
        self.sum.join(top[0].data, float(self.batch))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "targets have no gradient; set propagate_down: false for them")
        if propagate_down[0]:
            args = bottom[0].data, bottom[1].data, self.weights, top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.weighted_backward(bottom[0].count, *args)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class WeightedSigmoidCrossEntropyLoss(
    Layer,
    type="WeightedSigmoidCrossEntropyLoss",
    param="loss_param",
    bottoms=(2, 3),
    tops=(0, 1),
    loss=True,
    traits=Trait.COMPARES,
):
    """top = sum(w (log(1 + e^x) - x t)) / a normaliser.

    With bottom 2 it holds w, and the normaliser is N, the first axis: SigmoidCrossEntropyLossWeighted. Without it, w makes the
    rarer kind of target count as much as the other, over the whole batch. Let s be the share of targets above 0:

    - without a loss_param w is 1 - s for targets above 0 and s for others, and the normaliser is N;
    - with a loss_param, which another fork reads, w is 1 / (2 s) and 1 / (2 (1 - s)), and a kind that is not there is taken for
      one target. FULL divides by the number of scores, VALID by that of targets that are not ignored, BATCH_SIZE by N,
      PRE_FIXED (of a fork) by pre_fixed_normalizer, NONE by 1; the normaliser is 1 at least.

    Parameters
    ----------
    bottom 0
        x (N, ...), scores.
    bottom 1
        t, as many targets, 0 or 1.
    bottom 2
        Optional: w, as many weights; where one is 0, score and target do not matter.
    loss_param
        Without bottom 2: `normalization` (BATCH_SIZE), `normalize`, `pre_fixed_normalizer` (1): the normaliser. `ignore_label`:
        targets which are this number when they are truncated do not count.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        The bottoms differ in their number of elements; an empty batch; a loss_param beside bottom 2; fields of forks that weigh
        labels; a gradient of targets or weights is asked for.

    Source
    ------
    wang1ang/caffe and zhenyangli/caffe-lang-track (Li et al. 2017) with weights; wang821002/Caffe-Multi-Label without them,
    GuohongWu/caffe-windows with loss_param. wk910930/caffe weighs nothing, hellojing89/weightedGANpartialDA by the scores.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "WeightedSigmoidCrossEntropyLoss"'
    >>> round(float(run_layer(text, [[0, 9]], [[1, 0]], [[2, 0]])), 4)  # 2 log(2)
    1.3863
    >>> round(float(run_layer(text, [[0, 0, 0, 0]], [[1, 0, 0, 0]])), 4)  # 1.5 log(2)
    1.0397
    >>> round(float(run_layer(text + " loss_param {}", [[0, 0, 0, 0]], [[1, 0, 0, 0]])), 4)  # 4 log(2)
    2.7726
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss_weighted.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        self.halves = int(self.param.HasField("loss_param"))
        self.need(not self.halves or len(bottom) < 3, "takes no loss_param beside the weights of bottom 2; remove it")
        self.mode = normalization(self, p, "BATCH_SIZE")
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label
        self.yes_share = self.device.empty((1,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        count = bottom[0].count
        self.need(count > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        for i, blob in enumerate(bottom):
            self.need(
                blob.count == count,
                f"bottom {i} must have as many elements as bottom 0, got {blob.shape} and {bottom[0].shape}",
            )
        self.batch = bottom[0].shape[0] if bottom[0].shape else 1
        self.sum, self.counted = Sum(self, count), Sum(self, count)
        self.weights = self.device.empty((count if len(bottom) < 3 else 1,), self.dtype)
        self.divisor = divisor(self.param.loss_param, self.mode, count, self.batch)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        count, x, target = bottom[0].count, bottom[0].data, bottom[1].data
        if len(bottom) < 3:
            counted = self.counted
            self.kernels.count_yes(counted.blocks, target, counted.partial, count, *self.ignored)
            counted.join(self.yes_share, 0)
            self.kernels.kind_weights(
                count, target, self.yes_share, counted.result, self.weights, self.halves, *self.ignored
            )
        weight = bottom[2].data if len(bottom) > 2 else self.weights
        self.kernels.weighted_terms(self.sum.blocks, x, target, weight, self.sum.partial, count)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[1:]), "targets and weights have no gradient; set propagate_down: false for them"
        )
        if propagate_down[0]:
            weight = bottom[2].data if len(bottom) > 2 else self.weights
            args = bottom[0].data, bottom[1].data, weight, top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.weighted_backward(bottom[0].count, *args)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
