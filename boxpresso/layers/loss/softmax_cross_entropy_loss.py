"""SoftmaxCrossEntropyLoss: the cross entropy of distributions over channels and the softmax of scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob, Kernels
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SoftmaxCrossEntropyLoss(
    Layer,
    type="SoftmaxCrossEntropyLoss",
    param=("softmax_cross_entropy_loss_param", "loss_param", "softmax_param"),
    bottoms=2,
    tops=(0, 1),
    loss=True,
    traits=Trait.COMPARES,
):
    """top = the sum of -w[channel] t log(p) over places and channels, divided by a normaliser; p is the softmax of bottom 0.

    The gradient is w (p - t) / normaliser, which is exact where the t of a place add up to 1 and all channels have one
    weight. p counts as 1e-20 at least. The targets have no gradient.

    FULL divides by the number of scores, VALID by that of targets that are not ignored, BATCH_SIZE by the first axis, PRE_FIXED
    (of a fork) by pre_fixed_normalizer, NONE by 1; the normaliser is 1 at least.

    Parameters
    ----------
    bottom 0
        Scores (N, ...), the channels at `axis`.
    bottom 1
        t, as many numbers from 0 to 1.
    softmax_cross_entropy_loss_param
        `weights`: w, one for each channel; 1 without them. `zero_channel` (none): the scores of this channel count as 0, and
        have no gradient.
    softmax_param
        `axis` (1): the axis of the channels.
    loss_param
        `normalization` (BATCH_SIZE), `normalize`, `pre_fixed_normalizer` (1): the normaliser. `ignore_label`: targets which are
        this number when they are truncated do not count.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Not as many targets as scores; no channels; an axis that the scores lack; weights for another number of channels;
        a zero_channel beyond them; fields of forks that weigh labels; a gradient of the targets is asked for.

    Source
    ------
    mitmul/caffe (Saito et al. 2016); CSLJXing/caffe, xieguotian/caffe, venkai/caffe and others, which have loss_param.
    cguindel/caffe-fast-rcnn and vincentzhang/caffe-roi have the same gradient, and report the loss of
    SigmoidCrossEntropyLoss.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SoftmaxCrossEntropyLoss" softmax_cross_entropy_loss_param { %s }'
    >>> round(run_layer(text % "", [[0, 0]], [[0.25, 0.75]]).item(), 4)  # log(2)
    0.6931
    >>> round(run_layer(text % "weights: 4 weights: 0", [[0, 0]], [[0.25, 0.75]]).item(), 4)
    0.6931
    """

    kernels, sum_kernels, softmax_kernels = Kernels("softmax_cross_entropy_loss.cu"), KERNELS, softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, own = self.param.loss_param, self.param.softmax_cross_entropy_loss_param
        refuse_forks(self, p)
        self.mode = normalization(self, p, "BATCH_SIZE")
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label
        self.zero = own.zero_channel
        self.weights = self.device.table(list(own.weights), self.dtype) if own.weights else None
        self.probability = Blob((), self.dtype, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        own = self.param.softmax_cross_entropy_loss_param
        self.sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        channels = shape[axis]
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        self.need(
            bottom[1].count == bottom[0].count,
            f"needs a target for each score, got scores {shape} and targets {bottom[1].shape}",
        )
        self.need(
            len(own.weights) in (0, channels),
            f"gives {len(own.weights)} weights, scores of shape {shape} have {channels} channels",
        )
        self.need(self.zero < channels, f"zero_channel {self.zero} is none of the channels 0 to {channels - 1}")
        top[0].reshape()
        self.probability.reshape(*shape)
        self.sum = Sum(self, bottom[0].count)
        self.divisor = divisor(self.param.loss_param, self.mode, bottom[0].count, shape[0])

    def targets(self, bottom: list[Blob]) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        return self.probability.data, bottom[1].data, self.weights

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        count, scores, p = bottom[0].count, bottom[0].data, self.probability.data
        _, channels, inner = self.sizes
        if self.zero >= 0:
            self.kernels.without_channel(count, scores, p, channels, inner, self.zero)
            scores = p
        if count:
            softmax.forward(self.device, scores, p, *self.sizes)
        pieces = self.sum.blocks, *self.targets(bottom), self.sum.partial
        self.kernels.target_entropies(*pieces, count, channels, inner, *self.ignored)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "targets have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            diffs, (_, channels, inner) = (top[0].diff, self.sum.result, bottom[0].diff), self.sizes
            self.kernels.target_diffs(
                bottom[0].count, *self.targets(bottom), *diffs, channels, inner, *self.ignored, self.zero
            )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
