"""SoftmaxKLDLoss: how far the softmax of scores is from a distribution that is given for each place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob, Kernels
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SoftmaxKLDLoss(
    Layer,
    type="SoftmaxKLDLoss",
    param=("loss_param", "softmax_param"),
    bottoms=(2, 3),
    tops=(0, 1),
    loss=True,
    traits=Trait.COMPARES,
):
    """top = the sum of -m q log(p) over all places and channels, divided by a normaliser; p is the softmax of bottom 0.

    It is the cross entropy of p and the distribution q that bottom 1 gives for each place. With an ignore_label, whatever it
    is, log(q) is taken off log(p): that is the Kullback-Leibler divergence. p and q count as FLT_MIN at least in a logarithm.
    The gradient is m (p - q) / normaliser, which is exact where the q of a place add up to 1.

    FULL divides by the number of places, VALID by the sum of |m|, BATCH_SIZE by the size of the axes before `axis`, PRE_FIXED
    (of a fork) by pre_fixed_normalizer, NONE by 1; the normaliser is 1 at least.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        q, as many numbers as bottom 0.
    bottom 2
        Optional: m, a weight for each place of the axes other than `axis`; 1 without it.
    softmax_param
        `axis` (1): the axis of the channels.
    loss_param
        `ignore_label`: given, the divergence. `normalization` (VALID), `normalize`, `pre_fixed_normalizer` (1): the normaliser.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Not as many numbers in bottom 1 as scores, or in bottom 2 as places; no channels; an axis that the scores lack; fields
        of forks that weigh labels; a gradient of bottom 1 or 2 is asked for.

    Source
    ------
    Chakrabarti et al. 2016, depth from a single image (ayanc/mdepth), whose sign of the divergence is ignore_label.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "SoftmaxKLDLoss"', [[0, 0]], [[0.5, 0.5]]).item(), 3)
    0.693
    >>> run_layer('type: "SoftmaxKLDLoss" loss_param { ignore_label: 0 }', [[0, 0]], [[0.5, 0.5]]).item()
    0.0
    """

    kernels, sum_kernels, softmax_kernels = Kernels("softmax_kld_loss.cu"), KERNELS, softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        self.mode = normalization(self, p)
        self.divergence = int(p.HasField("ignore_label"))
        self.probability = Blob((), self.dtype, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        outer, channels, inner = self.sizes = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        self.need(
            bottom[1].count == bottom[0].count,
            f"needs a probability for each score, got scores {shape} and bottom 1 {bottom[1].shape}",
        )
        places = outer * inner
        self.need(
            len(bottom) < 3 or bottom[2].count == places,
            f"bottom 2 must have a weight for each of the {places} places beside axis {axis} of {shape}, its shape is "
            f"{bottom[-1].shape}",
        )
        top[0].reshape()
        self.probability.reshape(*shape)
        self.sum = Sum(self, places)
        self.divisor = divisor(self.param.loss_param, self.mode, places, outer)

    def operands(self, bottom: list[Blob]) -> tuple[AnyArray, AnyArray, AnyArray | None]:
        """The probabilities, the distributions, the weights."""
        return self.probability.data, bottom[1].data, bottom[2].data if len(bottom) > 2 else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.sizes
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, self.probability.data, *self.sizes)
        pieces, places = (self.sum.blocks, *self.operands(bottom), self.sum.partial), outer * inner
        self.kernels.distribution_losses(*pieces, places, channels, inner, self.divergence)
        self.sum.join(top[0].data, self.divisor)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "bottoms 1 and 2 have no gradient; set propagate_down: false for them")
        if propagate_down[0]:
            loss_diff = top[0].diff, self.sum.result, bottom[0].diff
            self.kernels.distribution_diffs(bottom[0].count, *self.operands(bottom), *loss_diff, *self.sizes[1:])

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
