"""DetectionLoss, DetectionGroupLoss: the training losses of multi-scale proposal networks (MS-CNN, Cascade R-CNN)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...device import Blob
from ...device.functions import log, whole
from ..core import Layer
from ..core.numbers import COUNT_LIMIT
from . import fields

TINY = float(np.finfo(np.float32).tiny)


class FieldLoss(Layer):
    """What both have in common: the cross entropy of the places that were drawn, and the box loss of objects.

    After `measure`, `cross` and `off` are the gradients of the scores and of the offsets.
    """

    array_copies = 3

    def read(self, p: Any, stride: int, widths: list[int], heights: list[int]) -> None:
        """Reads what both messages hold."""
        self.need(p.cls_num >= 2, f"cls_num must be 2 or more, with the background; got {p.cls_num}")
        self.need(not p.objectness or p.cls_num == 2, f"objectness needs cls_num 2, got {p.cls_num}")
        self.need(p.bg_multiple > 0, f"bg_multiple must be above 0, got {p.bg_multiple}")
        self.fields = fields.check_fields(self, p, widths, heights, stride)
        self.stride, self.deviation = stride, fields.Deviation(self)
        self.bounds: np.ndarray | None = self.deviation.bounds(p.field_xyr, p.field_whr)

    def measure(
        self, p: Any, scores: np.ndarray, offsets: np.ndarray, truth: np.ndarray, *, quadratic: bool
    ) -> np.ndarray:
        """The loss, and the part of it that is of boxes.

        scores (M, C, H, W), offsets (M, 4, H, W), truth (M, 6, H, W), each row of one image and field.
        """
        probability = fields.softmax(scores)
        plain, labels = whole(truth[:, 0], -COUNT_LIMIT, COUNT_LIMIT), fields.classes_of(truth[:, 0], p.objectness)
        loss = self.param.loss_param
        counts = np.ones(labels.shape, bool) if not loss.HasField("ignore_label") else labels != loss.ignore_label
        wrong = (labels < 0) | (labels >= scores.shape[1])
        self.need(
            not (wrong & counts).any(),
            f"labels must be from 0 to {scores.shape[1] - 1}, got {labels.min(initial=0)} to {labels.max(initial=0)}",
        )
        counted, weight = self.sample(p, scores, probability, labels, plain, truth[:, 5])
        counted &= counts
        at = np.clip(labels, 0, scores.shape[1] - 1)[:, None]
        likely = np.maximum(np.take_along_axis(probability, at, 1)[:, 0], TINY)
        number = max(1, int(counted.sum()))
        self.cross = (probability - (np.arange(scores.shape[1])[:, None, None] == at)) * (counted * weight / number)[
            :, None
        ]
        confidence = float((-log(likely) * weight)[counted].sum()) / number

        objects = self.objects(plain, counted) & counts
        wanted = fields.encode(truth[:, 1:5], np.resize(self.fields, (len(truth), 2)), self.stride, self.deviation)
        if self.bounds is not None:
            low, high = self.bounds[:, :, None, None]
            offsets = np.clip(offsets, low, high)
        off = np.where(objects[:, None], offsets - wanted, 0)
        each = max(1, 4 * int(objects.sum()))
        far = np.abs(off)
        value = off**2 / 2 if quadratic else np.where(far < 1, off**2 / 2, far - 0.5)
        self.off = (off if quadratic else np.clip(off, -1, 1)) / each * p.__getattribute__("lambda")
        boxes = float(value.sum()) / each * p.__getattribute__("lambda")
        return np.array([confidence + boxes, boxes])

    def sample(
        self,
        p: Any,
        scores: np.ndarray,
        probability: np.ndarray,
        labels: np.ndarray,
        plain: np.ndarray,
        overlap: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which places count (M, H, W), and their weights."""
        raise NotImplementedError(f"{self} has no sample")

    def objects(self, labels: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """The places whose boxes count."""
        raise NotImplementedError(f"{self} has no objects")

    def balance(self, p: Any, weight: np.ndarray, positive: np.ndarray, counted: np.ndarray, count: int) -> np.ndarray:
        """Weights so that objects have 1 / (1 + bg_multiple) of the whole, and background the rest."""
        share = 1 / (1 + p.bg_multiple)
        for mine, part in ((positive, share), (~positive, 1 - share)):
            total = float(weight[mine & counted].sum())
            if total:
                weight = np.where(mine, weight * (part * count / total), weight)
        return weight

    def allow_force_backward(self, index: int) -> bool:
        return index != self.truth_index

    truth_index = 1


class DetectionLoss(
    FieldLoss,
    type="DetectionLoss",
    param=("detection_loss_param", "bbox_reg_param", "loss_param"),
    bottoms=2,
    tops=1,
    loss=True,
):
    """The loss of one map of a multi-scale proposal network: cross entropy plus `lambda` times the loss of boxes.

    With `side`, `num_class` or `num_object` it is YOLO's layer of this name, YoloDetectionLoss.

    The cross entropy is the mean over objects and over background that was drawn: of an image's `bg_multiple` places
    for each object, those that are background with an overlap below `bg_threshold`. "random" draws with repetition, with the
    net's seed, and at least 4 (cls_num - 1) of them; "bootstrap" takes, for each class, those with its best scores, 4 at
    least; "mixture" half of each; any other word takes all. The loss of boxes is the mean over the numbers of objects' boxes,
    Huber's with `bb_smooth`, else half the square. Predicted offsets are bounded first; their gradient is that of the bounded
    offsets, as if there were no bound.

    Parameters
    ----------
    bottom 0
        (N, cls_num + 4, H, W): scores, then offsets from the field at each place.
    bottom 1
        (N, 6, H, W): label, centre x, centre y, width and height of the object in pixels, and its overlap with the
        field.
    detection_loss_param
        `cls_num` (required), with the background; `field_w`, `field_h` and `downsample_rate` (required): the size of a
        field and the stride of the map; `lambda` (1); `bb_smooth` (true); `field_whr` (2): by how much sizes may grow;
        `field_xyr` (2): by 1 / of a field centres may move; `bg_threshold` (0.5); `bg_multiple` (4); `sample_mode`
        ("random"); `objectness` (false): all classes are one; `iou_weighted` (false): objects weigh their overlap;
        `pos_neg_weighted` (false): objects weigh 1 / (1 + bg_multiple) of the whole.
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0) and `bbox_std` (1, 1, 1, 1) of the offsets.
    loss_param
        `ignore_label` (none).

    Returns
    -------
    top 0
        (1, 1, 1, 2): the loss, and the part of it that is of boxes. Both are summed where a net reports its loss; the
        gradient is of the first alone.

    Raises
    ------
    LayerError
        For parameters that are missing or do not fit, bottoms of the wrong shape, a label that is no class, or a
        gradient of the labels.

    Source
    ------
    Cai et al. 2016 (MS-CNN) and its Caffe, where weights without any drawn background become infinite; here they stay.

    Examples
    --------
    A map of one place, which is an object of the size of the field:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DetectionLoss" detection_loss_param { cls_num: 2 field_w: 8 field_h: 8 downsample_rate: 8 }'
    >>> given, truth = [[[[0]], [[0]], [[0.5]], [[0]], [[0]], [[0]]]], [[[[1]], [[4]], [[4]], [[8]], [[8]], [[1]]]]
    >>> [round(value, 4) for value in run_layer(text, given, truth).ravel().tolist()]
    [0.7244, 0.0312]
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        p = param.detection_loss_param
        of_yolo = any(p.HasField(name) for name in ("side", "num_class", "num_object"))
        return "YoloDetectionLoss" if of_yolo else ""

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detection_loss_param
        self.need(p.coord_num == 4, f"coord_num must be 4, got {p.coord_num}")
        self.read(p, p.downsample_rate, [p.field_w], [p.field_h])

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        classes = self.param.detection_loss_param.cls_num
        self.need(channels == classes + 4, f"bottom 0 must have {classes} + 4 channels, got {bottom[0].shape}")
        wanted = (images, 6, height, width)
        self.need(bottom[1].shape == wanted, f"bottom 1, the labels, must be {wanted}, got {bottom[1].shape}")
        top[0].reshape(1, 1, 1, 2)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detection_loss_param
        scores, truth = (np.asarray(blob.data).astype(np.float64) for blob in bottom)
        loss = self.measure(p, scores[:, : p.cls_num], scores[:, p.cls_num :], truth, quadratic=not p.bb_smooth)
        top[0].data[...] = loss.reshape(top[0].shape)

    def sample(
        self,
        p: Any,
        scores: np.ndarray,
        probability: np.ndarray,
        labels: np.ndarray,
        plain: np.ndarray,
        overlap: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        images, positive = len(labels), labels != 0
        pool = ((plain == 0) & (overlap < np.float32(p.bg_threshold))).reshape(images, plain[0].size if images else 0)
        drawn = np.zeros(pool.shape, bool)
        draws, part = self.draws(), 0.5 if p.sample_mode == "mixture" else 1.0
        for i in range(images if pool.size else 0):
            if p.sample_mode in ("random", "mixture"):
                count = max(int(positive[i].sum() * p.bg_multiple * part), 4 * (p.cls_num - 1))
                at = draws.integers(0, pool.shape[1], count)
                drawn[i, at[pool[i, at]]] = True
            if p.sample_mode in ("bootstrap", "mixture"):
                for k in range(1, p.cls_num):
                    count = max(4, int((labels[i] == k).sum() * p.bg_multiple * part))
                    places = np.flatnonzero(pool[i])
                    best = np.argsort(-scores[i, k].reshape(-1)[places], kind="stable")[:count]
                    drawn[i, places[best]] = True
        if p.sample_mode not in ("random", "mixture", "bootstrap"):
            drawn = pool
        counted = positive | drawn.reshape(labels.shape)
        weight = np.where(positive & p.iou_weighted, overlap, 1.0)
        if p.pos_neg_weighted:
            weight = self.balance(p, weight, positive, counted, int(counted.sum()))
        return counted, weight

    def objects(self, labels: np.ndarray, counted: np.ndarray) -> np.ndarray:
        return np.asarray(labels != 0)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            upstream = float(np.asarray(top[0].diff).reshape(-1)[0])
            bottom[0].diff[...] = np.concatenate([self.cross, self.off], 1) * upstream


class DetectionGroupLoss(
    FieldLoss,
    type="DetectionGroupLoss",
    param=("detection_group_loss_param", "bbox_reg_param", "loss_param"),
    bottoms=3,
    tops=1,
    loss=True,
):
    """The loss of all fields of one map at once: cross entropy plus `lambda` times the loss of boxes.

    Of each image, over its G fields together, objects are drawn up to `batch_size` / (1 + `bg_multiple`), and
    background with an overlap below `bg_threshold` for the rest of `batch_size`. A `batch_size` of -1 takes all
    objects, and `bg_multiple` times as much background, `min_num_neg` at least. Background is drawn at random, with the
    net's seed ("random"), by rank ("bootstrap"), or half of it each ("mixture"); ranked by its cross entropy
    ("conf_loss") or by 1 - its probability ("conf_prob"). Cross entropy is the mean over what was drawn, the loss of
    boxes the mean over numbers of drawn objects' boxes.

    Parameters
    ----------
    bottom 0
        (N G, cls_num, H, W), scores of G fields of each image.
    bottom 1
        (N G, 4, H, W), offsets. They are bounded only if `field_xyr` and `field_whr` are given.
    bottom 2
        (N G, 6, H, W), labels as for DetectionLoss; those below 0 do not count.
    detection_group_loss_param
        `cls_num` (required); `field_w` and `field_h`, G of each (required); `stride` (required); `lambda` (1);
        `field_whr` (4); `field_xyr` (0.25); `bg_threshold` (0.5); `bg_multiple` (4); `neg_mining_type` ("random");
        `neg_ranking_type` ("conf_loss"); `min_num_neg` (5); `objectness` (false); `batch_size` (-1); `pos_neg_weighted`
        (false); `bbox_loss_type` ("Smooth_L1", or "Euclidean_L2").
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0) and `bbox_std` (1, 1, 1, 1) of the offsets.
    loss_param
        `ignore_label` (none).

    Returns
    -------
    top 0
        (1, 1, 1, 2): the loss, and the part of it that is of boxes.

    Raises
    ------
    LayerError
        As DetectionLoss; for an unknown word; for a batch_size that is neither -1 nor above 0; and for rows that are no
        multiple of the fields.

    Source
    ------
    Cai and Vasconcelos 2018 (Cascade R-CNN) and its Caffe, which refuses a label below 0 where it ranks background.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "DetectionGroupLoss"
    ... detection_group_loss_param { cls_num: 2 field_w: 8 field_h: 8 stride: 8 }'''
    >>> scores, offsets = [[[[0]], [[0]]]], [[[[0.5]], [[0]], [[0]], [[0]]]]
    >>> loss = run_layer(text, scores, offsets, [[[[1]], [[4]], [[4]], [[8]], [[8]], [[1]]]])
    >>> [round(value, 4) for value in loss.ravel().tolist()]
    [0.7244, 0.0312]
    """

    truth_index = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detection_group_loss_param
        self.read(p, p.stride, list(p.field_w), list(p.field_h))
        if not (p.HasField("field_xyr") and p.HasField("field_whr")):
            self.bounds = None
        for name, words in (
            ("neg_mining_type", ("random", "bootstrap", "mixture")),
            ("neg_ranking_type", ("conf_loss", "conf_prob")),
            ("bbox_loss_type", ("Smooth_L1", "Euclidean_L2")),
        ):
            self.need(getattr(p, name) in words, f"{name} must be one of {', '.join(words)}, got {getattr(p, name)!r}")
        self.need(p.batch_size == -1 or p.batch_size > 0, f"batch_size must be above 0 or -1, got {p.batch_size}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        classes = self.param.detection_group_loss_param.cls_num
        self.need(channels == classes, f"bottom 0 must have {classes} channels, got {bottom[0].shape}")
        self.need(rows % len(self.fields) == 0, f"{rows} rows are no multiple of {len(self.fields)} fields")
        for i, few in ((1, 4), (2, 6)):
            wanted = (rows, few, height, width)
            self.need(bottom[i].shape == wanted, f"bottom {i} must be {wanted}, got {bottom[i].shape}")
        top[0].reshape(1, 1, 1, 2)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.detection_group_loss_param
        scores, offsets, truth = (np.asarray(blob.data).astype(np.float64) for blob in bottom)
        loss = self.measure(p, scores, offsets, truth, quadratic=p.bbox_loss_type == "Euclidean_L2")
        top[0].data[...] = loss.reshape(top[0].shape)

    def sample(
        self,
        p: Any,
        scores: np.ndarray,
        probability: np.ndarray,
        labels: np.ndarray,
        plain: np.ndarray,
        overlap: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        images, draws = len(labels) // len(self.fields), self.draws()
        at = np.clip(labels, 0, scores.shape[1] - 1)[:, None]
        rank = -np.take_along_axis(log(np.maximum(probability, TINY)), at, 1)[:, 0]
        if p.neg_ranking_type == "conf_prob":
            rank = 1 - probability[:, 0]
        by_image = [values.reshape(images, plain.size // max(1, images)) for values in (plain, overlap, rank)]
        counted = np.zeros(by_image[0].shape, bool)
        for i, (label, shared, hard) in enumerate(zip(*by_image)):
            positive, negative = (
                np.flatnonzero(label > 0),
                np.flatnonzero((label == 0) & (shared < np.float32(p.bg_threshold))),
            )
            if p.batch_size == -1:
                few, many = len(positive), max(len(positive) * p.bg_multiple, p.min_num_neg)
            else:
                few = min(int(np.floor(p.batch_size / (1 + p.bg_multiple) + 0.5)), len(positive))
                many = p.batch_size - few
            many = min(many, len(negative))
            if len(positive) > few:
                positive = draws.choice(positive, size=few, replace=False)
            ranked = {"random": 0, "bootstrap": many, "mixture": int(np.floor(many * 0.5 + 0.5))}[p.neg_mining_type]
            order = negative[np.argsort(-hard[negative], kind="stable")]
            rest = order[ranked:]
            rest = draws.choice(rest, size=many - ranked, replace=False) if len(rest) > many - ranked else rest
            counted[i, positive] = counted[i, order[:ranked]] = counted[i, rest] = True
        drawn, weight = counted.reshape(labels.shape), np.ones(labels.shape)
        if p.pos_neg_weighted:
            weight = self.balance(p, weight, labels > 0, drawn, int(drawn.sum()))
        return drawn, weight

    def objects(self, labels: np.ndarray, counted: np.ndarray) -> np.ndarray:
        return np.asarray((labels > 0) & counted)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "labels have no gradient; set propagate_down: false for bottom 2")
        upstream = float(np.asarray(top[0].diff).reshape(-1)[0])
        for i, gradient in enumerate((self.cross, self.off)):
            if propagate_down[i]:
                bottom[i].diff[...] = gradient * upstream
