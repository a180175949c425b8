"""SegmentationEvaluate, SegAccuracy, ParseEvaluate: how well maps of classes meet the labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ...device.functions import product
from ..core import Layer, Trait


class SegmentationEvaluate(
    Layer,
    type="SegmentationEvaluate",
    param="segmentation_evaluate_param",
    bottoms=2,
    tops=1,
    traits=Trait.COMPARES | Trait.BINARY,
):
    """The intersection over union of each class, of scores and labels above a threshold, in the first image.

    Scores of another size than the labels are resized first, by the areas of pixels, in steps of 1/255. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), scores from 0 to 1.
    bottom 1
        (N, C, h, w), labels.
    segmentation_evaluate_param
        `threshold` (0.5). `num_classes` is not read.

    Returns
    -------
    top 0
        (1, 1, 1, C). 0 where nothing is common; of another size, -1 where no label is above the threshold.

    Raises
    ------
    LayerError
        For maps with different numbers of classes, or without an image or a pixel.

    Source
    ------
    MobileNet-YOLO's Caffe, and OpenCV's INTER_AREA.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SegmentationEvaluate"', [[[[0.9, 0.9]], [[0, 0]]]], [[[[1, 0]], [[1, 1]]]]).ravel().tolist()
    [0.5, 0.0]
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        scores, labels = (self.axes(blob, 4, f"bottom {i}") for i, blob in enumerate(bottom))
        self.need(scores[1] == labels[1], f"bottom 1 must have {scores[1]} classes, got {labels[1]}")
        self.need(bottom[0].count and bottom[1].count, f"needs an image, got {scores} and {labels}")
        top[0].reshape(1, 1, 1, scores[1])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        limit = self.param.segmentation_evaluate_param.threshold
        scores, labels = (np.asarray(blob.data)[0] for blob in bottom)
        same = scores.shape == labels.shape
        if not same:
            scores, limit_of_scores = resized(scores, labels.shape[1:]), float(int(limit * 255))
        seen = scores > (limit if same else limit_of_scores)
        true = labels > limit
        both = (seen & true).sum((1, 2))
        either = (seen | true).sum((1, 2))
        result = np.divide(both, either, out=np.zeros(len(both)), where=both > 0)
        if not same:
            result[(both == 0) & ~true.any((1, 2))] = -1
        top[0].data[...] = result.reshape(top[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return False


def resized(maps: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Maps (C, H, W) of 0 to 1 as bytes of another size: Wy X Wx^T, rounded."""
    levels = np.trunc(np.nan_to_num(np.clip(maps.astype(np.float64), 0, 1)) * 255)
    high, wide = (weights(old, new) for old, new in zip(maps.shape[1:], size))
    if maps.shape[1] < size[0] or maps.shape[2] < size[1]:  # OpenCV takes areas where both sides shrink
        high, wide = (spread(old, new) for old, new in zip(maps.shape[1:], size))
    return np.asarray(np.rint(product(product(high, levels), wide.T)))


def weights(old: int, new: int) -> np.ndarray:
    """(new, old): the part of each old pixel in each new one, summing to 1 in a row.

    >>> weights(3, 2).round(2).tolist()
    [[0.67, 0.33, 0.0], [0.0, 0.33, 0.67]]
    """
    scale = old / new
    first, last = np.arange(new)[:, None] * scale, (np.arange(new)[:, None] + 1) * scale
    part = np.clip(np.minimum(last, np.arange(old) + 1) - np.maximum(first, np.arange(old)), 0, None)
    return np.asarray(part / part.sum(1, keepdims=True))


def spread(old: int, new: int) -> np.ndarray:
    """(new, old): the weights of OpenCV's INTER_AREA where a side grows: two neighbours that a new pixel lies across.

    >>> spread(2, 4).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    scale = old / new
    at = np.arange(new)
    left = np.floor(at * scale).astype(int)
    over = (at + 1) - (left + 1) / scale
    over = np.where(over <= 0, 0, over - np.floor(over))
    result = np.zeros((new, old))
    result[at, np.minimum(left, old - 1)] += 1 - over
    result[at, np.minimum(left + 1, old - 1)] += over
    return result


class SegAccuracy(Layer, type="SegAccuracy", param="seg_accuracy_param", bottoms=2, tops=1, traits=Trait.CLASS_LABELS):
    """The accuracy of pixels, the mean recall of classes and their mean intersection over union, of the best class.

    They are counted in this batch, or with `reset: false` in all batches so far. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), scores. Of equal scores the higher class wins.
    bottom 1
        (N, 1, H, W), labels.
    seg_accuracy_param
        `ignore_label`: labels that do not count, repeated. `reset` (true). `metric` is not read.

    Returns
    -------
    top 0
        (1, 1, 1, 3): the share of pixels that are right; of the pixels of a class, the mean over the classes that are there;
        intersection over union, the mean over all classes, where one that is nowhere counts as 1.

    Raises
    ------
    LayerError
        For maps that do not fit each other, or a label that is no class and not ignored.

    Source
    ------
    DeepLab's Caffe, as PSPNet has it.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SegAccuracy"', [[[[0.9, 0.1]], [[0, 1]]]], [[[[0, 0]]]]).ravel().tolist()
    [0.5, 0.5, 0.25]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.counts: np.ndarray = np.zeros((0, 0))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, _, *size = self.axes(bottom[0], 4, "bottom 0, the scores,")
        self.need(bottom[1].shape == (images, 1, *size), f"labels must be {(images, 1, *size)}, got {bottom[1].shape}")
        top[0].reshape(1, 1, 1, 3)

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        return 8 * 4 * bottom[0].shape[1] ** 2  # the table of classes by classes, of all and of this batch

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, labels = np.asarray(bottom[0].data), np.asarray(bottom[1].data).reshape(-1)
        classes, p = scores.shape[1], self.param.seg_accuracy_param
        best = (classes - 1 - scores[:, ::-1].argmax(1)).reshape(-1) if scores.size else np.zeros(0, int)
        counts = ~np.isin(np.trunc(labels), list(p.ignore_label))
        wrong = np.flatnonzero(counts & ~((labels > -1) & (labels < classes)))
        if len(wrong):
            self.need(
                False, f"label {labels[wrong[0]]:g} at {wrong[0]} is none of the {classes} classes, and not ignored"
            )
        table = np.bincount(labels[counts].astype(int) * classes + best[counts], minlength=classes * classes)
        table = table.reshape(classes, classes).astype(np.float64)
        self.counts = table if p.reset or self.counts.shape != table.shape else self.counts + table
        right, true, seen = np.diag(self.counts), self.counts.sum(1), self.counts.sum(0)
        there, whole = true > 0, true.sum()
        recall = (right[there] / true[there]).mean() if there.any() else 0
        overlap = np.divide(right, true + seen - right, out=np.ones(classes), where=true + seen > 0).mean()
        top[0].data[...] = np.reshape([right.sum() / whole if whole else 0, recall, overlap], (1, 1, 1, 3))

    def allow_force_backward(self, index: int) -> bool:
        return False


class ParseEvaluate(Layer, type="ParseEvaluate", param="parse_evaluate_param", bottoms=2, tops=1):
    """Of each class in this batch: how many pixels are rightly said to be of it, how many are, and how many are said to be.

    From these sums over a test set come accuracies and intersections over union. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 1, H, W), classes that were found (by ParseOutput).
    bottom 1
        (N, 1, H, W), labels.
    parse_evaluate_param
        `num_labels`: how many classes there are. `ignore_label`: labels whose pixels do not count, repeated.

    Returns
    -------
    top 0
        (1, num_labels, 1, 3).

    Raises
    ------
    LayerError
        Without num_labels, for maps that do not fit each other, and for a class, or a label that counts, that is none of these.

    Source
    ------
    Liu et al. 2015, ParseNet, and its Caffe (weiliu89/caffe, branch fcn).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ParseEvaluate" parse_evaluate_param { num_labels: 2 }', [[[[0, 1]]]], [[[[1, 1]]]])[0, :, 0].tolist()
    [[0.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.classes = self.param.parse_evaluate_param.num_labels
        self.need(self.classes > 0, f"num_labels must say how many classes there are, got {self.classes}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, _, *size = self.axes(bottom[0], 4, "bottom 0, the classes,")
        for i, blob in enumerate(bottom):
            self.need(blob.shape == (images, 1, *size), f"bottom {i} must be {(images, 1, *size)}, got {blob.shape}")
        top[0].reshape(1, self.classes, 1, 3)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        seen, true = (np.trunc(np.asarray(blob.data)).reshape(-1) for blob in bottom)
        counts = ~np.isin(true, list(self.param.parse_evaluate_param.ignore_label))
        for words, classes in (("class", seen), ("label", true[counts])):
            wrong = ~((classes >= 0) & (classes < self.classes))
            self.need(not wrong.any(), f"{words} {classes[wrong][:1]} is none of the {self.classes} of num_labels")
        seen, true = seen[counts].astype(int), true[counts].astype(int)
        sums = [np.bincount(each, minlength=self.classes) for each in (true[true == seen], true, seen)]
        top[0].data[...] = np.stack(sums, 1).reshape(top[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return False
