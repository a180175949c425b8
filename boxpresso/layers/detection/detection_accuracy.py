"""DetectionAccuracy, DetectionGroupAccuracy, BboxAccuracy: how good the maps and boxes of MS-CNN and Cascade R-CNN are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Blob
from ...device.functions import exp
from ..core import Layer
from . import fields


class FieldAccuracy(Layer):
    """What both have in common: the accuracy of places, and the overlap of boxes."""

    array_copies = 4

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.message()
        stride, widths, heights = self.sizes(p)
        self.fields, self.stride = fields.check_fields(self, p, widths, heights, stride), stride
        self.deviation = fields.Deviation(self)
        self.need(p.cls_num >= 2, f"cls_num must be 2 or more, got {p.cls_num}")
        self.best = getattr(p, "top_k", 1)
        self.need(0 < self.best <= p.cls_num, f"top_k must be from 1 to cls_num, got {self.best}")

    def message(self) -> Any:
        """The layer's parameters."""
        raise NotImplementedError(f"{self} has no message")

    def sizes(self, p: Any) -> tuple[int, list[int], list[int]]:
        """The stride, and widths and heights of fields."""
        raise NotImplementedError(f"{self} has no sizes")

    def parts(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores, offsets and labels."""
        raise NotImplementedError(f"{self} has no parts")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows, _, height, width = self.axes(bottom[0], 4, "bottom 0")
        classes = self.message().cls_num
        channels = (classes + 4, 6) if len(bottom) == 2 else (classes, 4, 6)
        for i, few in enumerate(channels):
            wanted = (rows, few, height, width)
            self.need(bottom[i].shape == wanted, f"bottom {i} must be {wanted}, got {bottom[i].shape}")
        self.need(rows % len(self.fields) == 0, f"{rows} rows are no multiple of {len(self.fields)} fields")
        top[0].reshape(1, 1, 1, 2)
        if len(top) > 1:
            top[1].reshape(1, 1, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, loss = self.message(), self.param.loss_param
        scores, offsets, truth = self.parts(bottom)
        labels = fields.classes_of(truth[:, 0], p.objectness)
        counts = ~((labels == 0) & (truth[:, 5] >= np.float32(p.bg_threshold)))
        known = np.ones(labels.shape, bool)
        if loss.HasField("ignore_label"):
            known = labels != loss.ignore_label
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self.best]
        right = (order == labels[:, None]).any(1)
        counts &= known
        objects = counts & (labels != 0)
        values = [float(right[mine].mean()) if mine.any() else -1.0 for mine in (counts, objects)]
        top[0].data[...] = np.reshape(values, top[0].shape)
        if len(top) > 1:
            sizes = np.resize(self.fields, (len(scores), 2))
            plain = self.deviation.restore(offsets, 1)
            boxes = fields.decode(plain, sizes, self.stride, p.field_xyr, p.field_whr)
            real = np.concatenate([truth[:, 1:3] - truth[:, 3:5] / 2, truth[:, 3:5]], 1)
            shared = fields.overlap(np.moveaxis(boxes, 1, -1), np.moveaxis(real, 1, -1))
            mine = known & (truth[:, 0].astype(np.int64) != 0)
            top[1].data[...] = float(shared[mine].mean()) if mine.any() else -1.0

    def allow_force_backward(self, index: int) -> bool:
        return False


class DetectionAccuracy(
    FieldAccuracy,
    type="DetectionAccuracy",
    param=("detection_accuracy_param", "bbox_reg_param", "loss_param"),
    bottoms=2,
    tops=(1, 2),
):
    """How often the best class of a place is its label, among all and among objects, and how much objects' boxes overlap.

    Background with an overlap of `bg_threshold` or more does not count. What has nothing to count is -1. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, cls_num + 4, H, W): scores, then offsets.
    bottom 1
        (N, 6, H, W): labels as for DetectionLoss.
    detection_accuracy_param
        `cls_num`, `field_w`, `field_h`, `downsample_rate` (all required); `top_k` (1): a label may be among so many best;
        `field_whr` (2), `field_xyr` (4), `bg_threshold` (0.5), `objectness` (false), as for DetectionLoss.
    bbox_reg_param
        `bbox_mean` and `bbox_std` of the offsets.
    loss_param
        `ignore_label` (none).

    Returns
    -------
    top 0
        (1, 1, 1, 2): the accuracy of all, and of objects.
    top 1
        Optional. (1, 1, 1, 1): the mean overlap of objects' boxes with the truth.

    Raises
    ------
    LayerError
        For parameters that are missing or do not fit, or bottoms of the wrong shape.

    Source
    ------
    Cai et al. 2016 (MS-CNN) and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DetectionAccuracy" detection_accuracy_param { cls_num: 2 field_w: 8 field_h: 8 downsample_rate: 8 }'
    >>> given, truth = [[[[0]], [[1]], [[0]], [[0]], [[0]], [[0]]]], [[[[1]], [[4]], [[4]], [[8]], [[8]], [[1]]]]
    >>> [top.ravel().tolist() for top in run_layer(text, given, truth, tops=2)]
    [[1.0, 1.0], [1.0]]
    """

    def message(self) -> Any:
        return self.param.detection_accuracy_param

    def sizes(self, p: Any) -> tuple[int, list[int], list[int]]:
        return p.downsample_rate, [p.field_w], [p.field_h]

    def parts(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scores, truth = (np.asarray(blob.data).astype(np.float64) for blob in bottom)
        classes = self.message().cls_num
        return scores[:, :classes], scores[:, classes:], truth


class DetectionGroupAccuracy(
    FieldAccuracy,
    type="DetectionGroupAccuracy",
    param=("detection_group_accuracy_param", "bbox_reg_param", "loss_param"),
    bottoms=3,
    tops=(1, 2),
):
    """DetectionAccuracy over all fields of one map. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As for DetectionGroupLoss: scores (N G, cls_num, H, W), offsets (N G, 4, H, W), labels (N G, 6, H, W).
    detection_group_accuracy_param
        `cls_num`, `stride`, and `field_w` and `field_h`, G of each (all required); `field_whr` (2), `field_xyr` (4),
        `bg_threshold` (0.5), `objectness` (false).
    bbox_reg_param, loss_param
        As for DetectionAccuracy.

    Returns
    -------
    top 0, top 1
        As of DetectionAccuracy.

    Raises
    ------
    LayerError
        As DetectionAccuracy.

    Source
    ------
    Cascade R-CNN's Caffe, which measures boxes here in whole pixels, the last one included; DetectionAccuracy's edges are
    taken for both.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "DetectionGroupAccuracy"
    ... detection_group_accuracy_param { cls_num: 2 field_w: 8 field_h: 8 stride: 8 }'''
    >>> truth = [[[[1]], [[4]], [[4]], [[8]], [[8]], [[1]]]]
    >>> run_layer(text, [[[[0]], [[1]]]], [[[[0]]] * 4], truth).ravel().tolist()
    [1.0, 1.0]
    """

    def message(self) -> Any:
        return self.param.detection_group_accuracy_param

    def sizes(self, p: Any) -> tuple[int, list[int], list[int]]:
        return p.stride, list(p.field_w), list(p.field_h)

    def parts(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scores, offsets, truth = (np.asarray(blob.data).astype(np.float64) for blob in bottom)
        return scores, offsets, truth


class BboxAccuracy(Layer, type="BboxAccuracy", param="bbox_reg_param", bottoms=3, tops=(1, 2)):
    """How much the boxes that a detector predicts for its regions overlap the true boxes, and how much the regions do.

    Regions that overlap their true box by more than 0.975 are true boxes themselves and do not count. Without any other object
    both are -1. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 4 C), offsets for each class; (R, 8) without `cls_aware`.
    bottom 1
        (R, 5), regions: image, xmin, ymin, xmax, ymax.
    bottom 2
        (R, 6), matched true boxes: label (0 for background), xmin, ymin, xmax, ymax, overlap.
    bbox_reg_param
        `bbox_mean` and `bbox_std` of the offsets; `cls_aware` (true).

    Returns
    -------
    top 0
        (1, 1, 1, 1): the mean overlap of predicted boxes.
    top 1
        Optional. (1, 1, 1, 1): that of the regions.

    Raises
    ------
    LayerError
        For bottoms of the wrong shape, or a label without offsets.

    Source
    ------
    Cai et al. 2016 (MS-CNN) and its Caffe, whose boxes' widths here are last pixel - first + 1.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> region, truth = [[0, 0, 0, 9, 9]], [[1, 0, 0, 9, 4, 0.5]]
    >>> [top.item() for top in run_layer('type: "BboxAccuracy"', [[0] * 8], region, truth, tops=2)]
    [0.5, 0.5]
    """

    array_copies = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.deviation = fields.Deviation(self)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = bottom[0].shape[:1]
        for i, few in ((1, 5), (2, 6)):
            self.need(
                bottom[i].shape[:2] == (*rows, few) and bottom[i].count == few * rows[0],
                f"bottom {i} must be {(*rows, few)}, got {bottom[i].shape}",
            )
        aware = self.param.bbox_reg_param.cls_aware
        self.need(len(bottom[0].shape) > 1, f"bottom 0 must be (R, 4 C), got {bottom[0].shape}")
        each = bottom[0].shape[1]
        self.need(
            each % 4 == 0 and (aware or each == 8 or not rows[0]), f"bottom 0 must be (R, 4 C), got {bottom[0].shape}"
        )
        for blob in top:
            blob.reshape(1, 1, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        count = bottom[0].shape[0]
        offsets, regions, truth = (
            np.asarray(blob.data).astype(np.float64).reshape(count, blob.shape[1]) for blob in bottom
        )
        at = np.flatnonzero((truth[:, 0] > 0) & (truth[:, 5] <= 0.975))
        labels = truth[at, 0].astype(int)
        if not self.param.bbox_reg_param.cls_aware:
            labels = np.minimum(labels, 1)
        if not len(at):
            for blob in top:
                blob.data[...] = -1
            return
        by = offsets.reshape(count, -1, 4)
        self.need(
            labels.max() < by.shape[1], f"a true box has the label {labels.max()}, bottom 0 has {by.shape[1]} boxes"
        )
        plain = self.deviation.restore(by[at, labels])
        size = regions[at, 3:5] - regions[at, 1:3] + 1
        grown = size * exp(plain[:, 2:])
        first = plain[:, :2] * size + regions[at, 1:3] + size / 2 - grown / 2
        real = np.concatenate([truth[at, 1:3], truth[at, 3:5] - truth[at, 1:3] + 1], 1)
        for blob, boxes in zip(top, ([first, grown], [regions[at, 1:3], size])):
            blob.data[...] = float(fields.overlap(np.concatenate(boxes, 1), real).mean())

    def allow_force_backward(self, index: int) -> bool:
        return False
