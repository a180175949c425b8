"""SigmoidCrossEntropyLoss, MultiLabelLoss: the cross entropy of yes-or-no targets and the logistic function of scores."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SigmoidCrossEntropyLoss(
    Layer,
    type="SigmoidCrossEntropyLoss",
    param="loss_param",
    bottoms=(2, 3),
    tops=(0, 1),
    loss=True,
    traits=Trait.COMPARES | Trait.BINARY,
):
    """top = the sum of -t log(p) - (1 - t) log(1 - p), p = sigmoid(bottom 0), t = bottom 1, divided by a normaliser.

    FULL divides by the number of targets, VALID by that of targets not ignored, BATCH_SIZE by the first axis, PRE_FIXED
    by pre_fixed_normalizer, NONE by 1; the normaliser is 1 at least. The targets have no gradient.

    Parameters
    ----------
    bottom 0
        Scores (N, ...).
    bottom 1
        Targets from 0 to 1, as many as scores.
    bottom 2
        Optional: weights, as many as scores. The sum of the weighted losses is divided by that of the weights that count
        instead of a normaliser; where that is not above 0, the loss and its gradient are 0.
    loss_param
        `ignore_label` (none): a target that, truncated, has this value does not count. `normalization` (BATCH_SIZE):
        the normaliser, see above. `normalize`: older; true is VALID, false is BATCH_SIZE. `pre_fixed_normalizer` (1):
        the normaliser of PRE_FIXED.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Not as many targets or weights as scores; a pre_fixed_normalizer that is not above 0 with PRE_FIXED; label_smoothing,
        weight_by_label_freqs or class_weighting of forks; a gradient of the targets is asked for.

    Source
    ------
    Caffe; MNC's Caffe for the weights.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "SigmoidCrossEntropyLoss"', [[0, 0]], [[1, 0]]).item(), 3)
    1.386
    >>> text = 'type: "SigmoidCrossEntropyLoss" loss_param { normalization: VALID }'
    >>> round(run_layer(text, [[0, 0]], [[1, 0]]).item(), 3)
    0.693
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        self.mode = normalization(self, p, "BATCH_SIZE")
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, count = bottom[0].shape, bottom[0].count
        self.need(
            bottom[1].count == count,
            f"needs a target for each score, got scores {shape} and targets {bottom[1].shape}",
        )
        self.weighted = len(bottom) > 2
        self.need(
            not self.weighted or bottom[2].count == count,
            f"needs a weight for each score, got scores {shape} and weights {bottom[-1].shape}",
        )
        top[0].reshape()
        self.sum = Sum(self, count)
        self.divisor = divisor(self.param.loss_param, self.mode, count, shape[0] if shape else 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        data = [blob.data for blob in bottom]
        if self.weighted:
            run = self.kernels.weighted_entropies
            run(self.sum.blocks, *data, self.sum.partial, bottom[0].count, *self.ignored)
            self.kernels.join_weighted(1, self.sum.partial, top[0].data, self.sum.result, self.sum.blocks)
            return
        self.kernels.entropies(self.sum.blocks, *data, self.sum.partial, bottom[0].count, *self.ignored)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "targets have no gradient; set propagate_down: false for bottom 1")
        self.need(not any(propagate_down[2:]), "weights have no gradient; set propagate_down: false for bottom 2")
        if propagate_down[0]:
            weights = bottom[2].data if self.weighted else None
            data = bottom[0].data, bottom[1].data, weights
            loss_diff = top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.entropies_backward(bottom[0].count, *data, *loss_diff, *self.ignored)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class MultiLabelLoss(Layer, type="MultiLabelLoss", bottoms=2, tops=(0, 1), loss=True, traits=Trait.COMPARES):
    """top = the sum of -log(sigmoid(s x)) / N over all scores x, s being the sign of the label of each and N the first axis.

    A label of 0 stands for one that is not known: its score does not count. The labels have no gradient.

    Parameters
    ----------
    bottom 0
        Scores (N, ...).
    bottom 1
        Labels, as many as scores: above 0, such as 1, for yes; below 0, such as -1, for no; 0 for not known.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Not as many labels as scores, a gradient of the labels is asked for.

    Source
    ------
    WilsonWangTHU/clothesDetection and lxx1991/caffe_mpi, whose Caffe of 2014 has it as MULTI_LABEL_LOSS. Other forks weigh
    the labels (yun-liu/DDS, dangweili/caffe_openblas, mfs6174/caffe) or divide by those that are known
    (ywchao/caffe-fast-rcnn) under this name.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "MultiLabelLoss"', [[0, 0, 9]], [[1, -1, 0]]).item(), 3)
    1.386
    """

    kernels, sum_kernels = Kernels("sigmoid_cross_entropy_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, count = bottom[0].shape, bottom[0].count
        self.need(
            bottom[1].count == count,
            f"needs a label for each score, got scores {shape} and labels {bottom[1].shape}",
        )
        top[0].reshape()
        self.sum, self.divisor = Sum(self, count), max(1, shape[0] if shape else 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        score, label = bottom[0].data, bottom[1].data
        self.kernels.signed_entropies(self.sum.blocks, score, label, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            loss_diff = top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.signed_entropies_backward(bottom[0].count, bottom[0].data, bottom[1].data, *loss_diff)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
