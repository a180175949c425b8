"""MultiSoftmaxWithLoss: several softmax losses at once, of the places of a map or of blocks of a row."""

from __future__ import annotations

from math import prod

from ...device import Blob
from ..core import Trait
from ..core.normalizer import refuse_forks
from .softmax_with_loss import SoftmaxWithLoss


class MultiSoftmaxWithLoss(
    SoftmaxWithLoss,
    type="MultiSoftmaxWithLoss",
    param="loss_param",
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
        the channels; as many labels as scores, which two other layers of this name take; any field of loss_param, and
        mult_softmax_loss_param, whose labels begin with 1; a gradient of the labels is asked for.

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
            "mult_softmax_loss_param is of an older layer of this name, whose labels begin with 1; count them from 0 and "
            "multiply loss_weight in its place",
        )
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
