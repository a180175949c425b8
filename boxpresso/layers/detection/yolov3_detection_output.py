"""Yolov3DetectionOutput, YoloDetectionOutput: the last layer of YOLO, from feature maps to a list of detections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Blob
from ..core import Layer
from ..core.doubt import warn_of_nan
from . import suppress


class YoloOutput(Layer):
    """What both forms share: maps in, boxes and scores of each place by `decode`, suppression, rows of detections out."""

    chooses_rows = True
    kernels = suppress.kernels
    p: Any  # the layer's parameter: num_classes, num_box, nms_threshold ..

    def decode(self, index: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (N, H, W, B, 4) and scores (N, H, W, B, classes) of bottom `index`, its values (N, H, W, B, 5 + classes)."""
        raise NotImplementedError(f"{self} has no decode")

    def candidates(self, scores: np.ndarray) -> np.ndarray:
        """Which scores (N, P, classes) are detections, before suppression."""
        raise NotImplementedError(f"{self} has no candidates")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.p
        channels = p.num_box * (5 + p.num_classes)
        for i, blob in enumerate(bottom):
            shape = self.axes(blob, 4)
            self.need(
                shape[:2] == (bottom[0].shape[0], channels),
                f"bottom {i} must have {channels} channels for {p.num_box} boxes of {p.num_classes} classes, got {shape}",
            )
        top[0].reshape(1, 1, 1, 7)  # forward knows how many rows there are

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.p
        parts = []
        for i, blob in enumerate(bottom):
            images, _, height, width = blob.shape
            numbers = 5 + p.num_classes
            values = np.asarray(blob.data).reshape(images, p.num_box, numbers, height, width).transpose(0, 3, 4, 1, 2)
            with np.errstate(over="ignore", invalid="ignore"):
                boxes, scores = self.decode(i, values)
            places = height * width * p.num_box
            parts.append((boxes.reshape(images, places, 4), scores.reshape(images, places, p.num_classes)))
        boxes, scores = (np.concatenate([part[k] for part in parts], 1) for k in (0, 1))
        rows = self.detections(boxes, scores)
        if not len(rows) or rows[0, 1] < 0:
            warn_of_nan(self, bottom)
        top[0].reshape(1, 1, len(rows), 7)
        top[0].data[...] = rows

    def detections(self, boxes: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The rows (D, 7), by image, best first, without boxes that overlap a better one of the image, of whatever class."""
        image, at, label = np.nonzero(self.candidates(scores))
        score = scores[image, at, label]
        order = np.lexsort((-score, image))
        image, at, label, score = image[order], at[order], label[order], score[order]
        starts = np.searchsorted(image, np.arange(len(scores) + 1))
        threshold = float(np.float32(self.p.nms_threshold))
        stay = suppress.suppress_boxes(self.device, boxes[image, at], threshold, starts=starts, pixels=False)
        rows = np.column_stack([image[stay], label[stay] + 1, score[stay], boxes[image, at][stay]])
        if not len(rows):
            rows = np.full((len(scores), 7), -1)
            rows[:, 0] = np.arange(len(scores))
        return rows

    def places(self, height: int, width: int) -> np.ndarray:
        """(H, W, 1, 2): column and row of each place."""
        return np.stack(np.meshgrid(np.arange(width), np.arange(height)), 2).astype(self.dtype)[:, :, None]

    def allow_force_backward(self, index: int) -> bool:
        return False


class Yolov3DetectionOutput(
    YoloOutput, type="Yolov3DetectionOutput", param="yolov3_detection_output_param", bottoms=(1, None), tops=1
):
    """The last layer of YOLOv3: turns feature maps into a list of detections.

    A box lies at ((column + sigmoid(x)) / W, (row + sigmoid(y)) / H). Its width is exp(width) * anchor / (W *
    anchors_scale), and its height likewise with H. Its scores are sigmoid(objectness) * sigmoid(class).

    Of each image, the scores above `confidence_threshold` are taken, best first. A box is suppressed when it overlaps
    a better one, of whatever class, by `nms_threshold` or more. There is no gradient.

    Parameters
    ----------
    bottom 0, 1, ...
        (N, B (5 + num_classes), H, W), feature maps. The numbers of each of the B boxes at a place are: x, y, width,
        height, objectness, classes.
    yolov3_detection_output_param
        `num_classes` (20), `num_box` (3): B; `confidence_threshold` (0.01), `nms_threshold` (0.45), `mask_group_num`
        (2): the number of bottoms; `biases`: the anchors, pairs (width, height) in pixels; `mask`: for each bottom an
        equal share of anchors, `num_box` each; `anchors_scale`: one for each bottom, pixels of the input per place.

    Returns
    -------
    top 0
        (1, 1, D, 7), rows (image, label from 1, score, xmin, ymin, xmax, ymax) as fractions of the image, not clipped.
        Without any detection N rows (image, -1, ...).

    Raises
    ------
    LayerError
        For `gaussian_box` of another form, `num_classes` below 1, a number of `mask_group_num` or `anchors_scale` that
        is not that of the bottoms, a `mask` of the wrong length or that names a missing anchor, an odd number of
        `biases`, or bottoms of the wrong shape.

    Source
    ------
    Redmon and Farhadi 2018, and MobileNet-YOLO's Caffe, which gives every image the number 0, lets images suppress
    each other, and takes maps for squares.

    Examples
    --------
    One box of the size of its anchor, which fills the image; both sigmoids are 0.5:

    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "Yolov3DetectionOutput" yolov3_detection_output_param {
    ...     num_classes: 1 num_box: 1 mask_group_num: 1 biases: 32 biases: 32 mask: 0 anchors_scale: 32 }'''
    >>> run_layer(text, [[[[0]]] * 6]).tolist()
    [[[[0.0, 1.0, 0.25, 0.0, 0.0, 1.0, 1.0]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.p = self.param.yolov3_detection_output_param
        self.need(not p.gaussian_box, "gaussian_box: true is another form, which is not supported")
        self.need(p.num_classes > 0, f"num_classes must be at least 1, got {p.num_classes}")
        count = len(bottom)
        self.need(p.mask_group_num == count, f"mask_group_num is {p.mask_group_num}, but there are {count} bottoms")
        self.need(
            len(p.anchors_scale) == count, f"{count} bottoms need as many anchors_scale, got {len(p.anchors_scale)}"
        )
        self.need(p.num_box > 0, f"num_box must be at least 1, got {p.num_box}")
        self.need(min(p.anchors_scale) > 0, f"every anchors_scale must be above 0, got {list(p.anchors_scale)}")
        self.need(
            len(p.mask) == count * p.num_box, f"mask must name {p.num_box} anchors for each bottom, got {list(p.mask)}"
        )
        self.anchors = np.array(p.biases, np.float64)
        self.need(len(self.anchors) % 2 == 0, f"biases must be pairs of width and height, got {len(self.anchors)}")
        self.anchors = self.anchors.reshape(-1, 2)
        self.need(max(p.mask) < len(self.anchors), f"mask names anchor {max(p.mask)}, biases has {len(self.anchors)}")

    def decode(self, index: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, (height, width) = self.p, values.shape[1:3]
        cells, scale = np.array([width, height], self.dtype), p.anchors_scale[index]
        mine = self.anchors[list(p.mask[index * p.num_box : (index + 1) * p.num_box])].astype(self.dtype)
        centre = (self.places(height, width) + sigmoid(values[..., :2])) / cells
        half = np.exp(values[..., 2:4]) * mine / (cells * scale) / 2
        return np.concatenate([centre - half, centre + half], -1), sigmoid(values[..., 4:5]) * sigmoid(values[..., 5:])

    def candidates(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(scores > np.float32(self.p.confidence_threshold))


class YoloDetectionOutput(
    YoloOutput, type="YoloDetectionOutput", param="yolo_detection_output_param", bottoms=(1, 2), tops=1
):
    """The last layer of YOLOv2: turns feature maps into a list of detections.

    This is YOLOv2's form of Yolov3DetectionOutput. All bottoms have the same anchors, and the classes of a box exclude
    each other. A box has one class, the likeliest, and the score sigmoid(objectness) * softmax(classes). A box is
    chosen from `confidence_threshold` on. There is no gradient.

    Parameters
    ----------
    bottom 0, 1
        (N, B (5 + num_classes), H, W), one or two feature maps. The numbers of each of the B boxes at a place are: x,
        y, width, height, objectness, classes.
    yolo_detection_output_param
        `num_classes` (20), `num_box` (5): B; `confidence_threshold` (0.01), `nms_threshold` (0.45), `biases`: the
        anchors, B pairs (width, height) in places of the map.

    Returns
    -------
    top 0
        (1, 1, D, 7), rows (image, label from 1, score, xmin, ymin, xmax, ymax) as fractions of the image, not clipped.
        Without any detection N rows (image, -1, ...).

    Raises
    ------
    LayerError
        For `num_classes` below 1, `coords` other than 4, `biases` that are not `num_box` pairs, or bottoms of the wrong
        shape.

    Source
    ------
    Redmon and Farhadi 2017, and MobileNet-YOLO's Caffe, which gives every image the number 0.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "YoloDetectionOutput"
    ... yolo_detection_output_param { num_classes: 1 num_box: 1 biases: 1 biases: 1 }'''
    >>> run_layer(text, [[[[0]]] * 6]).tolist()
    [[[[0.0, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.p = self.param.yolo_detection_output_param
        self.need(p.num_classes > 0, f"num_classes must be at least 1, got {p.num_classes}")
        self.need(p.num_box > 0, f"num_box must be at least 1, got {p.num_box}")
        self.need(p.coords == 4, f"coords must be 4, got {p.coords}")
        self.need(len(p.biases) == 2 * p.num_box, f"biases must be {p.num_box} pairs, got {len(p.biases)} numbers")
        self.anchors = np.array(p.biases, self.dtype).reshape(-1, 2)

    def decode(self, index: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        height, width = values.shape[1:3]
        cells = np.array([width, height], self.dtype)
        centre = (self.places(height, width) + sigmoid(values[..., :2])) / cells
        half = np.exp(values[..., 2:4]) * self.anchors / cells / 2
        classes = np.exp(values[..., 5:] - values[..., 5:].max(-1, keepdims=True))
        scores = sigmoid(values[..., 4:5]) * classes / classes.sum(-1, keepdims=True)
        return np.concatenate([centre - half, centre + half], -1), scores

    def candidates(self, scores: np.ndarray) -> np.ndarray:
        likeliest = np.arange(self.p.num_classes) == scores.argmax(2)[..., None]
        return np.asarray(likeliest & (scores >= np.float32(self.p.confidence_threshold)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function 1 / (1 + exp(-x))."""
    return np.asarray(1 / (1 + np.exp(-x)))
