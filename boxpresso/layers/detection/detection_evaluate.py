"""DetectionEvaluate: which detections are right; from its rows the average precision is computed."""

from __future__ import annotations

import numpy as np

from ...data.boxes import PAIR, best, iou
from ...data.evaluation import RIGHT, WRONG, judge
from ...device import Blob
from ...proto.errors import ModelError
from ...proto.reading import read_file
from ..core import Layer, Trait
from .results import in_image


class DetectionEvaluate(
    Layer, type="DetectionEvaluate", param="detection_evaluate_param", bottoms=(2, 3), tops=1, traits=Trait.CHOOSES_ROWS
):
    """Tells which detections are right; average precision is computed from its rows.

    A detection is compared with the true box of its label that it overlaps most. It is right when that overlap is
    `overlap_threshold` or more and no better detection has taken that true box.

    Without `evaluate_difficult_gt`, a difficult true box does not count, and its detections are neither right nor
    wrong (0, 0). Detections of image -1 or label -1 are skipped. Of the true boxes, reading ends at the first row of
    image -1.
    There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 1, D, 7), detections: image, label, score, xmin, ymin, xmax, ymax.
    bottom 1
        (1, 1, G, 8), true boxes: image, label, instance, xmin, ymin, xmax, ymax, difficult.
    bottom 2
        Optional, of Cascade R-CNN: (N, 2), height and width of the net's input. Then bottom 0 is (D, 7): image, xmin,
        ymin, xmax, ymax, label, score, and bottom 1 (G, 8): image, xmin, ymin, xmax, ymax, label, ignored, difficult,
        in pixels of the input, the last one included; the top is (K, 5, 1, 1).
    detection_evaluate_param
        `num_classes` (required), with the background; `background_label_id` (0); `overlap_threshold` (0.5);
        `evaluate_difficult_gt` (true): whether difficult true boxes count too; `name_size_file`: a file of lines
        `name height width`, one for each image with detections, in the order in which they come; boxes are then
        compared in its pixels, with widths of xmax - xmin + 1; `resize_param`: how the images were resized.

    Returns
    -------
    top 0
        (1, 1, C + K, 5). First for each class but the background a row (-1, label, number of true boxes, -1, -1).
        Then for each detection, by image, label and falling score, a row (image, label, score, right, wrong).

    Raises
    ------
    LayerError
        For a missing `num_classes`, an `overlap_threshold` of 0 or less, a `name_size_file` that cannot be read or
        has other lines, bottoms of the wrong shape, or a detection or true box with the label of the background.

    Source
    ------
    SSD's Caffe.

    Examples
    --------
    One true box, one right detection and one wrong one:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 2 }'
    >>> detections = [[0, 1, 0.75, 0, 0, 1, 1], [0, 1, 0.5, 0, 0, 0.25, 0.25]]
    >>> run_layer(text, [[detections]], [[[[0, 1, 0, 0, 0, 1, 1, 0]]]])[0, 0].tolist()
    [[-1.0, 1.0, 1.0, -1.0, -1.0], [0.0, 1.0, 0.75, 1.0, 0.0], [0.0, 1.0, 0.5, 0.0, 1.0]]
    """

    array_copies = 3

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.detection_evaluate_param
        self.need(p.HasField("num_classes"), "num_classes is missing")
        self.need(p.num_classes <= 2**16, f"num_classes must be at most 65536, got {p.num_classes}")
        self.need(p.overlap_threshold > 0, f"overlap_threshold must be above 0, got {p.overlap_threshold:g}")
        self.sizes: list[tuple[int, int]] = []
        self.seen = 0
        if p.HasField("name_size_file"):
            try:
                words = read_file(p.name_size_file, "text_bytes").decode("utf-8").split()
                self.sizes = [(int(h), int(w)) for _, h, w in zip(*[iter(words)] * 3, strict=True)]
            except ModelError as error:
                self.need(False, f"{error} (the name_size_file)")
            except ValueError:
                self.need(False, f"name_size_file {p.name_size_file!r} must hold lines `name height width`")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(bottom) > 2:
            self.reshape_pixels(bottom, top)
            return
        for i, columns, subject in ((0, 7, "the detections"), (1, 8, "the true boxes")):
            shape = bottom[i].shape
            self.need(
                len(shape) == 4 and shape[:2] == (1, 1) and shape[3] == columns,
                f"bottom {i}, {subject}, must be (1, 1, N, {columns}), got {shape}",
            )
        p = self.param.detection_evaluate_param
        self.labels = [c for c in range(p.num_classes) if c != p.background_label_id]
        top[0].reshape(1, 1, len(self.labels) + bottom[0].shape[2], 5)  # at most

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.ratio: np.ndarray | None = None
        if len(bottom) > 2:
            detections, truth = self.in_pixels(bottom)
        else:
            detections, truth = (np.asarray(blob.data)[0, 0] for blob in bottom)
        detections = detections[detections[:, 0].astype(int) != -1]
        images = np.unique(detections[:, 0].astype(int))  # those without a detection too
        detections = detections[detections[:, 1].astype(int) != -1]
        end = np.flatnonzero(truth[:, 0].astype(int) == -1)
        truth = truth[: end[0]] if len(end) else truth
        p = self.param.detection_evaluate_param
        for rows, subject in ((detections, "detection"), (truth, "true box")):
            wrong = rows[:, 1].astype(int) == p.background_label_id
            self.need(not wrong.any(), f"a {subject} has the label of the background, {p.background_label_id}")
        counted = truth if p.evaluate_difficult_gt else truth[truth[:, 7] == 0]
        of_label = [int((counted[:, 1].astype(int) == c).sum()) for c in self.labels]
        parts = [np.array([[-1, c, count, -1, -1] for c, count in zip(self.labels, of_label)]).reshape(-1, 5)]
        for image in images:
            in_truth = truth[truth[:, 0].astype(int) == image]
            mine = detections[detections[:, 0].astype(int) == image]
            for label in np.unique(mine[:, 1].astype(int)):
                same = mine[mine[:, 1].astype(int) == label]
                parts.append(self.rows_of(image, label, same, in_truth[in_truth[:, 1].astype(int) == label]))
            self.seen = (self.seen + 1) % len(self.sizes) if self.sizes else 0
        rows = np.concatenate(parts)
        top[0].reshape(*((len(rows), 5, 1, 1) if len(bottom) > 2 else (1, 1, len(rows), 5)))
        top[0].data[...] = rows.reshape(top[0].shape)

    def rows_of(self, image: int, label: int, detections: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The rows of one image's detections of one label."""
        p = self.param.detection_evaluate_param
        if len(truth):  # as Caffe: without true boxes they stay in the order that they had
            detections = detections[best(detections[:, 2])]
        self.need_pairs("overlaps of detections and true boxes", len(detections) * len(truth), PAIR)
        difficult = (truth[:, 7] != 0) & (not p.evaluate_difficult_gt)
        states = judge(
            self.overlaps(detections[:, 3:], truth[:, 3:7]), difficult, float(np.float32(p.overlap_threshold))
        )
        place = np.tile(np.array([image, label], detections.dtype), (len(detections), 1))
        return np.column_stack([place, detections[:, 2], states == RIGHT, states == WRONG])

    def overlaps(self, detections: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Intersection over union (D, G), of boxes as fractions of the image or in its pixels."""
        if self.ratio is not None:  # the last pixel belongs to a box
            height, width = self.sizes[self.seen] if self.sizes else self.ratio
            by = np.tile([width / self.ratio[1], height / self.ratio[0]], 2)
            return iou((detections * by)[:, None], truth * by, last=1)
        if not self.sizes:
            return iou(detections[:, None], truth)
        p, (height, width) = self.param.detection_evaluate_param, self.sizes[self.seen]
        resized = p.resize_param if p.HasField("resize_param") else None
        boxes = []
        for rows in (detections, truth):
            boxes.append(np.array([in_image(box, height, width, resized) for box in rows]).reshape(-1, 4))
            boxes[-1][:, 2:] += 1  # the last pixel belongs to a box
        return iou(boxes[0][:, None], boxes[1])

    def reshape_pixels(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The form of Cascade R-CNN."""
        for i, columns, subject in ((0, 7, "the detections"), (1, 8, "the true boxes"), (2, 2, "the sizes of images")):
            shape = bottom[i].shape
            self.need(
                shape[1:2] == (columns,) and bottom[i].count == columns * shape[0],
                f"bottom {i}, {subject}, must be (N, {columns}), got {shape}",
            )
        p = self.param.detection_evaluate_param
        self.labels = [c for c in range(p.num_classes) if c != p.background_label_id]
        top[0].reshape(len(self.labels) + bottom[0].shape[0], 5, 1, 1)  # at most

    def in_pixels(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray]:
        """Detections and true boxes of Cascade R-CNN's form with the columns of SSD's."""
        labelled, real, size = (np.asarray(blob.data).reshape(*blob.shape[:2]) for blob in bottom)
        self.ratio = size[0] if len(size) else np.ones(2)
        detections = labelled[:, [0, 5, 6, 1, 2, 3, 4]]
        truth = np.column_stack([real[:, 0], real[:, 5], np.zeros(len(real), real.dtype), real[:, 1:5], real[:, 7]])
        return detections, truth

    def allow_force_backward(self, index: int) -> bool:
        return False
