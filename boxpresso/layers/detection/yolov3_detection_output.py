"""Yolov3DetectionOutput, YoloDetectionOutput: the last layer of YOLO, from feature maps to a list of detections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Blob
from ..core import Trait
from ..core.doubt import warn_of_nan
from . import suppress, yolo_choice
from .choosing import ChoosingBy
from .yolo_choice import YoloChoice


class YoloOutput(ChoosingBy[YoloChoice], traits=Trait.DETECTS):
    """What both forms share: maps in, boxes and scores of each place, suppression, rows of detections out.

    A subclass's setup gives `p` and `choice`.
    """

    list_shapes = ((1, 1, -1, 7),)
    kernels = suppress.kernels
    place_kernels = yolo_choice.kernels
    files = yolo_choice.FILES
    p: Any  # the layer's parameter: num_classes, num_box, nms_threshold ..
    choice: YoloChoice

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
        self.choice.reshape([blob.shape for blob in bottom])

    def launch(self, choice: YoloChoice, bottom: list[Blob], top: list[Blob]) -> None:
        choice.launch(bottom, top[0])

    def finish(self, choice: YoloChoice, bottom: list[Blob], top: list[Blob]) -> None:
        if not choice.finish(bottom, top[0]):
            warn_of_nan(self, bottom)

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = np.full((bottom[0].shape[0], 7), -1, self.dtype)
        rows[:, 0] = np.arange(len(rows))
        top[0].reshape(1, 1, *rows.shape)
        top[0].data[...] = rows


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

    overlap_field = "yolov3_detection_output_param.nms_threshold"

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
        each = [self.anchors[list(p.mask[i * p.num_box : (i + 1) * p.num_box])] for i in range(count)]
        self.choice = YoloChoice(self, p, each, p.anchors_scale, exclusive=False)


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

    overlap_field = "yolo_detection_output_param.nms_threshold"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.p = self.param.yolo_detection_output_param
        self.need(p.num_classes > 0, f"num_classes must be at least 1, got {p.num_classes}")
        self.need(p.num_box > 0, f"num_box must be at least 1, got {p.num_box}")
        self.need(p.coords == 4, f"coords must be 4, got {p.coords}")
        self.need(len(p.biases) == 2 * p.num_box, f"biases must be {p.num_box} pairs, got {len(p.biases)} numbers")
        self.anchors = np.array(p.biases, self.dtype).reshape(-1, 2)
        count = len(bottom)
        self.choice = YoloChoice(self, p, [self.anchors] * count, [1] * count, exclusive=True)
