"""CrossEntropyLoss, GANLoss: the cross entropy of targets and of probabilities that a layer before has made."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class CrossEntropyLoss(
    Layer,
    type="CrossEntropyLoss",
    param=("cross_entropy_loss_param", "loss_param"),
    bottoms=2,
    tops=(0, 1),
    loss=True,
):
    """top = the sum of -t log(p) - (1 - t) log(1 - p) over all probabilities p, divided by how many there are.

    p and 1 - p count as 1e-5 at least. With a cross_entropy_loss_param, which one of the forks has, the sum is divided by the
    first axis, targets of -1 do not count, and the least p is 1e-20.

    Where bottom 1 has a number for each row of bottom 0 and not for each probability, it holds classes: top = the sum of
    -log(p[class]) / N, as of MultinomialLogisticLoss. The targets have no gradient. Of scores without probabilities:
    SigmoidCrossEntropyLoss, SoftmaxWithLoss, or SoftmaxCrossEntropyLoss.

    Parameters
    ----------
    bottom 0
        p (N, ...), probabilities.
    bottom 1
        t, as many targets from 0 to 1; or N whole labels from 0.
    cross_entropy_loss_param
        `ignore_value` (-1): targets of this value do not count. `display`: has no effect.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Neither a target for each probability nor a label for each row; a label that is not a channel; an empty batch; an
        ignore_label of 0 or more, which leaves out places of the batch in its fork; a loss_param, which is of a fork that
        takes scores; a gradient of the targets is asked for.

    Source
    ------
    MSRCCS/Caffe, chenxistephen/caffe_msra and a pull request to BVLC/caffe; shenyunhang/caffe-wsl and caffe-fwsl, with
    cross_entropy_loss_param; chenbinghui1/Hybrid-Attention-based-Decoupled-Metric-Learning for classes. In
    shenwei1231/caffe-LDLForests the name stands for SoftmaxCrossEntropyLoss, in lyxok1/Tiny-DSOD for half of the sum, divided
    by nothing.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CrossEntropyLoss"'
    >>> round(run_layer(text, [[0.5, 0.25]], [[1, 0]]).item(), 4)  # (log(2) + log(4 / 3)) / 2
    0.4904
    >>> round(run_layer(text, [[0.5, 0.25]], [0]).item(), 4)  # log(2)
    0.6931
    """

    kernels, row_kernels = Kernels("cross_entropy_loss.cu"), Kernels("multinomial_logistic_loss.cu")
    sum_kernels = KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.cross_entropy_loss_param
        self.of_wsl = self.param.HasField("cross_entropy_loss_param")
        self.need(p.ignore_label < 0, f"ignore_label {p.ignore_label} of a fork is not supported; remove it")
        self.need(
            not self.param.HasField("loss_param"),
            "takes probabilities and no loss_param; of scores: SoftmaxCrossEntropyLoss, which takes it",
        )
        self.rules = 1e-20 if self.of_wsl else 1e-5, int(self.of_wsl), p.ignore_value, 0

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, other = bottom[0].shape, bottom[1].shape
        self.of_classes = bottom[1].count != bottom[0].count
        self.need(
            not self.of_classes or bottom[1].count == shape[0],
            f"needs a target for each probability of bottom 0, {shape}, or a label for each of its rows; bottom 1 is {other}",
        )
        self.batch, self.length = (
            labelled_rows(self, bottom) if self.of_classes else (max(1, shape[0] if shape else 1), 0)
        )
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {shape}) has no value")
        top[0].reshape()
        self.sum = Sum(self, self.batch if self.of_classes else bottom[0].count)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, target, count = bottom[0].data, bottom[1].data, bottom[0].count
        if self.of_classes:
            self.row_kernels.row_losses(self.sum.blocks, p, target, self.sum.partial, self.batch, self.length)
            self.sum.join(top[0].data, self.batch)
            self.sum.check_labels(target, self.length)
            return
        self.kernels.probable_entropies(self.sum.blocks, p, target, self.sum.partial, count, *self.rules)
        self.sum.join(top[0].data, self.batch if self.of_wsl else count)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "targets have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        p, target = bottom[0].data, bottom[1].data
        if self.of_classes:
            self.row_kernels.row_diffs(self.batch, p, target, top[0].diff, bottom[0].diff, self.length)
        else:
            result = self.sum.result
            self.kernels.probable_diffs(bottom[0].count, p, target, top[0].diff, result, bottom[0].diff, *self.rules)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class GANLoss(Layer, type="GANLoss", param="gan_loss_param", bottoms=(1, 2), tops=(0, 1), loss=True):
    """top = -mean(log(p)) of bottom 0, and -mean(log(1 - p)) of bottom 1, where there is one.

    With two bottoms it is the loss of what tells true from generated: bottom 0 holds the probabilities of true examples,
    bottom 1 those of generated ones. With one it is that of what generates. p and 1 - p count as 1e-20 at least. A backward
    gives zeros but after each dis_iter-th forward with two bottoms, and each gen_iter-th with one.

    Parameters
    ----------
    bottom 0
        Probabilities (N, 1, ...).
    bottom 1
        Optional: probabilities, as many.
    gan_loss_param
        `dis_iter`, `gen_iter` (1).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Bottoms of different sizes or without elements; a dis_iter or gen_iter of 0.

    Source
    ------
    Goodfellow et al. 2014; godisboy/caffe_InfoGAN, jasonustc/caffe-multigpu, satchelwu/my_caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "GANLoss"', [[0.5]], [[0.75]]).item(), 4)  # log(2) + log(4)
    2.0794
    """

    kernels, sum_kernels = Kernels("cross_entropy_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.gan_loss_param
        self.need(p.dis_iter > 0 and p.gen_iter > 0, "dis_iter and gen_iter must be 1 or more")
        self.every = p.dis_iter if len(bottom) > 1 else p.gen_iter

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shapes = [blob.shape for blob in bottom]
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {shapes[0]}) has no value")
        self.need(bottom[-1].count == bottom[0].count, f"needs as many probabilities in both bottoms, got {shapes}")
        top[0].reshape()
        self.sums = [Sum(self, blob.count) for blob in bottom]
        self.parts = [self.device.empty((1,), self.dtype) for _ in bottom]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.every > 1:
            self.pass_number += 1
        for i, (blob, one) in enumerate(zip(bottom, self.sums)):
            data = one.blocks, blob.data, None, one.partial, blob.count
            self.kernels.probable_entropies(*data, 1e-20, 0, 0, 1 - i)
            one.join(self.parts[i], blob.count)
        self.kernels.total(1, self.parts[0], self.parts[-1] if len(bottom) > 1 else None, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, (blob, one) in enumerate(zip(bottom, self.sums)):
            if not propagate_down[i]:
                continue
            if self.pass_number % self.every:
                blob.diff.fill(0)
                continue
            data = blob.count, blob.data, None, top[0].diff, one.result, blob.diff
            self.kernels.probable_diffs(*data, 1e-20, 0, 0, 1 - i)
