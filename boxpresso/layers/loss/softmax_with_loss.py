"""SoftmaxWithLoss, WeightedSoftmaxWithLoss, MultiSoftmaxWithLoss: the cross entropy of labels and the softmax of scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.functions import log
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class SoftmaxWithLoss(
    Layer,
    type="SoftmaxWithLoss",
    param=("loss_param", "softmax_param"),
    bottoms=(2, 3),
    tops=(1, 3),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """top 0 = the sum of -log(softmax(bottom 0)[label]) over all labels, divided by a normaliser of 1 at least.

    FULL divides by the number of labels, VALID by that of labels not ignored, BATCH_SIZE by the size of the axes before
    `axis`, PRE_FIXED (of a fork) by pre_fixed_normalizer, NONE by 1. The loss of a label is at most -log(FLT_MIN). The
    labels have no gradient.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        Whole labels from 0, one for each position of the other axes.
    bottom 2
        Optional: a weight for each label, by which its loss is multiplied; the normaliser does not know it.
    softmax_param
        `axis` (1): the axis of the channels.
    loss_param
        `ignore_label` (none): labels of this value do not count. `normalization` (VALID): the normaliser, see above.
        `normalize`: older; true is VALID, false is BATCH_SIZE. `pre_fixed_normalizer` (1): the normaliser of PRE_FIXED.
        `weight_by_label_freqs` (false) and `class_weighting`, SegNet's: true multiplies the loss of a label by the number
        that class_weighting has for its class; the normaliser does not know it.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: the probabilities, in the shape of bottom 0.
    top 2
        Optional: the loss of each label, in the shape of bottom 1, without a gradient; 0 where the label is ignored.

    Raises
    ------
    LayerError
        A label that is not a channel and not ignored; a number of labels that is not that of the positions; no
        channels; an axis that the scores lack; a pre_fixed_normalizer that is not above 0 with PRE_FIXED;
        label_smoothing of a fork; weight_by_label_freqs without a class_weighting for each channel; a gradient of the labels
        is asked for.

    Source
    ------
    Caffe, but a label that is not a channel raises LayerError. Weights and losses of labels: Cascade R-CNN's Caffe.
    Weights of classes: SegNet's Caffe (alexgkendall).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> scores, labels = [[0, 0], [0, 0]], [0, 1]
    >>> round(run_layer('type: "SoftmaxWithLoss"', scores, labels).item(), 3)
    0.693
    >>> text = 'type: "SoftmaxWithLoss" loss_param { ignore_label: 255 normalization: NONE }'
    >>> round(run_layer(text, scores, labels).item(), 3)
    1.386
    """

    kernels, sum_kernels, softmax_kernels = Kernels("softmax_with_loss.cu"), KERNELS, softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p, ("weight_by_label_freqs", "class_weighting"))
        self.mode = normalization(self, p)
        self.ignored = int(p.HasField("ignore_label")), p.ignore_label
        self.probability = Blob((), self.dtype, self.device)

    def weights_of_classes(self, channels: int) -> list[float]:
        """What the loss of each class's labels is multiplied by; empty: 1."""
        p = self.param.loss_param
        if not p.weight_by_label_freqs:
            return []
        weights = list(p.class_weighting)
        self.need(
            len(weights) == channels,
            f"weight_by_label_freqs needs a class_weighting for each of {channels} channels, got {len(weights)}",
        )
        return weights

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.shape = outer, channels, inner = self.sizes(bottom)
        self.need(channels > 0, f"scores of shape {shape} have no channels")
        self.class_weights = self.weights_of_classes(channels)
        self.table = self.device.table(np.asarray(self.class_weights or [0]), self.dtype)
        self.need(
            len(bottom) < 3 or bottom[2].count == bottom[1].count,
            f"bottom 2 must have a weight for each of {bottom[1].count} labels, its shape is {bottom[-1].shape}",
        )
        top[0].reshape()
        if len(top) > 2:
            top[2].reshape(*bottom[1].shape)
        self.probability.reshape(*shape)
        if len(top) > 1:
            self.pass_on_memory(self.probability, top[1])
        self.weights = self.device.empty((max(1, outer * inner) if self.class_weights else 1,), self.dtype)
        self.sum = Sum(self, outer * inner)
        self.divisor = self.divided_by(outer, inner)

    def sizes(self, bottom: list[Blob]) -> tuple[int, int, int]:
        """The sizes before the channels, of them, and behind. Raises LayerError for another number of labels."""
        shape, axis = bottom[0].shape, self.axis(bottom[0], self.param.softmax_param.axis)
        outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
        self.need(
            bottom[1].count == outer * inner,
            f"scores of shape {shape} have {outer * inner} labels beside axis {axis}, bottom 1 of shape "
            f"{bottom[1].shape} has {bottom[1].count}; labels are whole numbers, one for each position",
        )
        return outer, shape[axis], inner

    def divided_by(self, outer: int, inner: int) -> float:
        """What the sum is divided by; 0: by the number of labels that count."""
        return divisor(self.param.loss_param, self.mode, outer * inner, outer)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        outer, channels, inner = self.shape
        probability, label = self.probability.data, bottom[1].data
        if bottom[0].count:
            softmax.forward(self.device, bottom[0].data, probability, *self.shape)
        if len(top) > 1:
            self.pass_on_data(self.probability, top[1])
        if self.class_weights:
            label_weights = bottom[2].data if len(bottom) > 2 else None
            self.kernels.weights_of_labels(outer * inner, label, label_weights, self.table, self.weights, channels)
        self.kernels.label_losses(
            self.sum.blocks, probability, label, self.sum.partial, outer * inner, channels, inner, *self.ignored,
            *self.weight(bottom),
        )  # fmt: skip
        self.sum.join(top[0].data, self.divisor)
        self.sum.check_labels(label, channels, self.ignored)
        if len(top) > 2:
            top[2].data[...] = self.losses(bottom).reshape(top[2].shape)

    def weight(self, bottom: list[Blob]) -> tuple[AnyArray, int]:
        """The weights, and whether there are any; without, what stands in for them is not read."""
        if self.class_weights:
            return self.weights, 1
        return bottom[-1].data, int(len(bottom) > 2)

    def losses(self, bottom: list[Blob]) -> np.ndarray:
        """The loss of each label (outer, 1, inner)."""
        outer, _, inner = self.shape
        truth = np.asarray(bottom[1].data).reshape(outer, 1, inner).astype(np.int64)
        counts = truth != self.ignored[1] if self.ignored[0] else np.ones(truth.shape, bool)
        whole = np.asarray(self.probability.data).reshape(self.shape)
        likely = np.take_along_axis(whole, np.where(counts, truth, 0), 1)
        weights, weighted = self.weight(bottom)
        label_weights = np.asarray(weights).reshape(-1)[: truth.size].reshape(truth.shape) if weighted else 1
        return np.asarray(np.where(counts, -log(np.maximum(likely, np.finfo(np.float32).tiny)) * label_weights, 0))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        self.need(not any(propagate_down[2:]), "weights have no gradient; set propagate_down: false for bottom 2")
        if not propagate_down[0]:
            return
        outer, channels, inner = self.shape
        probability, label = self.probability.data, bottom[1].data
        loss_diff, diff = (top[0].diff, self.sum.result), bottom[0].diff
        if inner == 1:
            self.kernels.label_diffs_of_rows(
                outer, probability, label, *loss_diff, diff, channels, *self.ignored, *self.weight(bottom)
            )
        else:
            blocks = outer * channels if inner else 0
            self.kernels.label_diffs(
                blocks, probability, label, *loss_diff, diff, channels, inner, *self.ignored, *self.weight(bottom)
            )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class WeightedSoftmaxWithLoss(
    SoftmaxWithLoss,
    type="WeightedSoftmaxWithLoss",
    param=("loss_param", "softmax_param"),
    bottoms=(2, 3),
    tops=(1, 3),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """SoftmaxWithLoss whose labels weigh: each by the number in bottom 2, or those of single classes by one of the prototxt's.

    As there the loss is divided by a number of labels, which their weights do not change.

    Parameters
    ----------
    bottom 0
        Scores, the channels at `axis`.
    bottom 1
        Whole labels from 0, one for each position of the other axes.
    bottom 2
        Optional: a weight for each label.
    softmax_param
        `axis` (1). `pos_cid` (1): a class; `pos_mult` (1): what the loss of its labels is multiplied by. Both may be repeated,
        a pair for each class; the labels of the others weigh 1.
    loss_param
        As of SoftmaxWithLoss, but for its weights of classes.

    Returns
    -------
    top 0, top 1, top 2
        As of SoftmaxWithLoss.

    Raises
    ------
    LayerError
        As of SoftmaxWithLoss; a pos_cid that is no channel, or is there twice; another number of pos_cid than of pos_mult.

    Source
    ------
    A layer of some twenty forks: weights of classes are those of bairdzhang/des and jiangjiewei/cc-guardian, a weight for each
    label that of wang1ang/caffe and lpzhang/caffe-fast-rcnn. With one for each label ferasha/deeplab-public-ver2 divides by the
    sum of the weights, and haochen-rye/LSTD by the number of those above 0.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "WeightedSoftmaxWithLoss" softmax_param { pos_cid: 0 pos_mult: 3 }'
    >>> round(run_layer(text, [[0, 0], [0, 0]], [0, 1]).item(), 3)  # (3 + 1) / 2 times log 2
    1.386
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        refuse_forks(self, self.param.loss_param)
        super().setup(bottom, top)

    def weights_of_classes(self, channels: int) -> list[float]:
        p = self.param.softmax_param
        if not p.pos_mult:
            return []
        classes = list(p.pos_cid) or [1]
        self.need(
            len(classes) == len(p.pos_mult),
            f"softmax_param: each pos_cid has a pos_mult, got {len(p.pos_cid)} and {len(p.pos_mult)}",
        )
        weights = [1.0] * channels
        for label, weight in zip(classes, p.pos_mult):
            self.need(0 <= label < channels, f"softmax_param: pos_cid {label} is none of the {channels} channels")
            self.need(classes.count(label) == 1, f"softmax_param: pos_cid {label} is there twice; remove one")
            weights[label] = weight
        return weights


class MultiSoftmaxWithLoss(
    SoftmaxWithLoss,
    type="MultiSoftmaxWithLoss",
    param=("loss_param", "softmax_param", "mult_softmax_loss_param"),
    bottoms=2,
    tops=(1, 2),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """top 0 = the sum of -log(softmax)[label] over all classifiers of all images, divided by the number of images.

    A map of scores (N, C, H, W) with a label for each place is a classifier of C classes at each place. Rows (N, K C) with K
    labels each are K classifiers, whose scores lie one after another. Which of them it is, the number of labels tells. The loss
    of a label is at most -log(FLT_MIN). The labels have no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), or (N, K C), scores.
    bottom 1
        N H W, or (N, K), whole labels from 0.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: the probabilities, in the shape of bottom 0.

    Raises
    ------
    LayerError
        A label that is not a class; a number of labels that is neither that of the places nor K for each row, where K parts
        the channels; as many labels as scores, which two other layers of this name take; any field of loss_param, another
        axis of softmax_param than 1, and mult_softmax_loss_param, whose labels begin with 1; a gradient of the labels is
        asked for.

    Source
    ------
    Of maps: Wang et al. 2015, Designing Deep Networks for Surface Normal Estimation, and its Caffe. Of rows: programs that
    find several attributes at once.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "MultiSoftmaxWithLoss"', [[0, 0, 0, 0]], [[0, 1]]).item(), 3)  # 2 log 2
    1.386
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.loss_param
        refuse_forks(self, p)
        for name in ("ignore_label", "normalization", "normalize"):
            self.need(not p.HasField(name), f"loss_param: {name} is of another layer of this name; remove it")
        self.need(
            not self.param.HasField("mult_softmax_loss_param"),
            "mult_softmax_loss_param is of an older layer, whose labels begin with 1, as MultiSoftmaxLoss has them; multiply "
            "loss_weight in its place",
        )
        axis = self.param.softmax_param.axis
        self.need(axis == 1, f"softmax_param: takes axis 1 alone, got {axis}")
        super().setup(bottom, top)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.images = bottom[0].shape[0] if bottom[0].shape else 1
        super().reshape(bottom, top)

    def sizes(self, bottom: list[Blob]) -> tuple[int, int, int]:
        shape, labels = bottom[0].shape, bottom[1].count
        self.need(len(shape) > 1, f"scores must be (N, C, ...), their shape is {shape}")
        images, channels, places = shape[0], shape[1], prod(shape[2:])
        if labels == images * places:
            return images, channels, places
        each = labels // images if images else 0
        self.need(
            places == 1 and each and each * images == labels and each < channels and channels % each == 0,
            f"scores of shape {shape} take {images * places} labels, one for each place, or {images} times a number that "
            f"parts {channels} channels; bottom 1 of shape {bottom[1].shape} has {labels}",
        )
        return images * each, channels // each, 1

    def divided_by(self, outer: int, inner: int) -> float:
        return max(1.0, float(self.images))


class MultiSoftmaxLoss(
    MultiSoftmaxWithLoss,
    type="MultiSoftmaxLoss",
    param=("loss_param", "softmax_param", "mult_softmax_loss_param"),
    bottoms=2,
    tops=(1, 2),
    loss=True,
    traits=Trait.NONE,
):
    """MultiSoftmaxWithLoss with labels that begin with 1.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), or (N, K C), scores.
    bottom 1
        N H W, or (N, K), whole labels from 1.

    Returns
    -------
    top 0
        A single number, whose gradient is that of its program; what its program prints is a 336th of it.
    top 1
        Optional: the probabilities, in the shape of bottom 0.

    Raises
    ------
    LayerError
        As of MultiSoftmaxWithLoss; a label below 1 is shown as it is counted from 0.

    Source
    ------
    MULTI_SOFTMAX_LOSS of xiaolonw/caffe-3dnormal_joint_pose (Wang et al. 2015).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> round(run_layer('type: "MultiSoftmaxLoss"', [[0, 0, 0, 0]], [[1, 2]]).item(), 3)  # 2 log 2
    1.386
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.from_zero = Blob((), self.dtype, self.device)
        super().setup(bottom, top)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.from_zero.reshape(*bottom[1].shape)
        super().reshape(bottom, top)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.labels_from_zero(bottom[1].count, bottom[1].data, self.from_zero.data)
        super().forward([bottom[0], self.from_zero], top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        super().backward(top, propagate_down, [bottom[0], self.from_zero])
