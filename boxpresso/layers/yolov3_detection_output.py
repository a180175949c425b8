"""Yolov3DetectionOutput: the last layer of YOLOv3, from feature maps to a list of detections."""

from __future__ import annotations

import numpy as np

from .core import Layer
from .core.boxes import best, suppress


class Yolov3DetectionOutput(Layer, type="Yolov3DetectionOutput", bottoms=(1, None), tops=1):
    """Bottoms: feature maps (N, B (5 + num_classes), H, W); for each of the B boxes at a place: x, y, width, height,
    objectness, classes. Each bottom has an anchors_scale, in pixels of the input per place, and an equal share of `mask`,
    which names its anchors: pairs (width, height) in pixels among `biases`.

    A box lies at ((column + sigmoid(x)) / W, (row + sigmoid(y)) / H), its width is exp(width) * anchor / (W *
    anchors_scale), and its scores are sigmoid(objectness) * sigmoid(class). Of each image the scores above
    confidence_threshold, best first; a box goes when it overlaps a better one, of whatever class, by nms_threshold.
    top (1, 1, D, 7): rows (image, label from 1, score, xmin, ymin, xmax, ymax) in parts of the image, not clipped; when
    nothing was found N rows (image, -1, ...).

    yolov3_detection_output_param { num_classes: 20 num_box: 3 confidence_threshold: 0.01 nms_threshold: 0.45
    mask_group_num: 2 biases.. mask.. anchors_scale.. }. Sources: Redmon and Farhadi 2018, MobileNet-YOLO's Caffe, which
    calls every image 0, lets images suppress each other, and takes maps for squares.
    """

    def setup(self, bottom, top) -> None:
        self.no_gradient = True
        p = self.param.yolov3_detection_output_param
        self.need(not p.gaussian_box, "gaussian_box: true is another form, not known here")
        self.need(p.num_classes > 0, f"num_classes must be at least 1, got {p.num_classes}")
        count = len(bottom)
        self.need(p.mask_group_num == count, f"mask_group_num is {p.mask_group_num}, but there are {count} bottoms")
        self.need(
            len(p.anchors_scale) == count, f"{count} bottoms need as many anchors_scale, got {len(p.anchors_scale)}"
        )
        self.need(
            len(p.mask) == count * p.num_box, f"mask must name {p.num_box} anchors for each bottom, got {list(p.mask)}"
        )
        self.anchors = np.array(p.biases, np.float64)
        self.need(len(self.anchors) % 2 == 0, f"biases must be pairs of width and height, got {len(self.anchors)}")
        self.anchors = self.anchors.reshape(-1, 2)
        self.need(max(p.mask) < len(self.anchors), f"mask names anchor {max(p.mask)}, biases has {len(self.anchors)}")

    def reshape(self, bottom, top) -> None:
        p = self.param.yolov3_detection_output_param
        channels = p.num_box * (5 + p.num_classes)
        for i, blob in enumerate(bottom):
            shape = self.axes(blob, 4)
            self.need(
                shape[:2] == (bottom[0].shape[0], channels),
                f"bottom {i} must have {channels} channels for {p.num_box} boxes of {p.num_classes} classes, got {shape}",
            )
        top[0].reshape(1, 1, 1, 7)  # forward knows how many rows there are

    def forward(self, bottom, top) -> None:
        p = self.param.yolov3_detection_output_param
        threshold = np.nextafter(np.float32(p.nms_threshold), np.float32(-1))  # what overlaps by the threshold goes
        parts = [self.boxes(i, np.asarray(blob.data)) for i, blob in enumerate(bottom)]
        images = bottom[0].shape[0]
        rows = [np.zeros((0, 7), self.dtype)]
        for image in range(images):
            boxes, scores = (np.concatenate([part[k][image] for part in parts]) for k in (0, 1))
            at, label = np.nonzero(scores > np.float32(p.confidence_threshold))
            order = best(scores[at, label])
            kept = order[suppress(boxes[at[order]], threshold)]
            found = np.column_stack(
                [np.full(len(kept), image), label[kept] + 1, scores[at, label][kept], boxes[at[kept]]]
            )
            rows.append(found.astype(self.dtype))
        joined = np.concatenate(rows)
        if not len(joined):
            joined = np.full((images, 7), -1, self.dtype)
            joined[:, 0] = np.arange(images)
        top[0].reshape(1, 1, len(joined), 7)
        top[0].data[...] = joined

    def boxes(self, i: int, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (N, H W B, 4) and scores (N, H W B, classes) of bottom i, by row, column, box."""
        p = self.param.yolov3_detection_output_param
        images, _, height, width = values.shape
        values = values.reshape(images, p.num_box, -1, height, width).transpose(0, 3, 4, 1, 2)
        sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
        cells, scale = np.array([width, height], self.dtype), p.anchors_scale[i]
        mine = self.anchors[list(p.mask[i * p.num_box : (i + 1) * p.num_box])].astype(self.dtype)
        place = np.stack(np.meshgrid(np.arange(width), np.arange(height)), 2).astype(self.dtype)[:, :, None]
        with np.errstate(over="ignore", invalid="ignore"):
            centre = (place + sigmoid(values[..., :2])) / cells
            half = np.exp(values[..., 2:4]) * mine / (cells * scale) / 2
            scores = sigmoid(values[..., 4:5]) * sigmoid(values[..., 5:])
        boxes = np.concatenate([centre - half, centre + half], -1)
        return boxes.reshape(images, -1, 4), scores.reshape(images, -1, p.num_classes)

    def allow_force_backward(self, index: int) -> bool:
        return False
