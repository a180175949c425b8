"""Yolov3: the training loss of YOLOv3, for one feature map."""

from __future__ import annotations

import numpy as np

from ...data.boxes import PAIR, from_centre, iou
from ...device import Blob
from ...device.functions import exp, log, whole
from .yolo_base import YoloLoss


class Yolov3(YoloLoss, type="Yolov3", param="yolov3_param", bottoms=2, tops=1, loss=True):
    """The training loss of YOLOv3 for one feature map: the sum of squared errors of all its boxes / N.

    A box is responsible for a true box when it belongs to the place of the true centre and to the anchor whose shape
    is nearest to the true one, if that anchor is in `mask`. Each number of a box has an error:

    - Objectness o: sigmoid(o) - 1 for responsible boxes; 0 for other boxes that overlap a true one by more than
      `thresh`; sigmoid(o) for all others.
    - x and y, of responsible boxes only: the distance of the sigmoids, times coord_scale * (2 - true area).
    - Width and height, of responsible boxes only: the distance of the logarithms, times the same.
    - Classes, of responsible boxes only: sigmoid(c) - (1 for the label), times `class_scale`.

    The gradient is that of darknet, not of this sum: error / N, the derivative of a cross entropy. With
    `use_logic_gradient` the errors are multiplied by the slope of the sigmoid, and the objectness errors of
    responsible boxes by `object_scale`.

    Parameters
    ----------
    bottom 0
        (N, B (5 + num_class), H, W), a feature map. The numbers of each of the B boxes at a place are: x, y, width,
        height, objectness, classes.
    bottom 1
        (N, ..., 5), true boxes: label from 0, centre x, centre y, width, height, as fractions of the image. Of each
        image only the boxes before the first one of width 0 count.
    yolov3_param
        `num_class` (20), `num` (5): B; `anchors_scale` (32): pixels per place; `object_scale` (1), `class_scale` (1),
        `coord_scale` (5), `thresh` (0.2), `use_logic_gradient` (false), `biases`: the anchors, pairs (width, height) in
        pixels; `mask`: which anchors belong to this map, `num` of them.

    Returns
    -------
    top 0
        The loss, one number.

    Raises
    ------
    LayerError
        For `use_focal_loss` or an `iou_loss` of other programs, an odd number of `biases`, a `mask` that does not
        name `num` anchors or names a missing one, bottoms of the wrong shape, labels that are not from 0 to
        `num_class` - 1, or a gradient asked for the true boxes.

    Source
    ------
    Redmon and Farhadi 2018, and MobileNet-YOLO's Caffe. There a second true box of the same place and anchor is
    pushed away from its class, and one at the far border writes beyond the map.

    Examples
    --------
    One box, at the right place, whose objectness and class are both wrong by 0.5:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Yolov3" yolov3_param { num_class: 1 num: 1 biases: 32 biases: 32 mask: 0 }'
    >>> run_layer(text, [[[[0]]] * 6], [[[0, 0.5, 0.5, 1, 1]]]).item()
    0.5
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.p = self.param.yolov3_param
        self.need(not p.use_focal_loss and p.iou_loss == p.MSE, "use_focal_loss and iou_loss are not supported")
        self.anchors = np.array(p.biases, np.float64)
        self.need(
            len(self.anchors) % 2 == 0, f"biases must be pairs of width and height, got {len(self.anchors)} numbers"
        )
        self.anchors = self.anchors.reshape(-1, 2)
        self.mask = list(p.mask)
        self.need(len(self.mask) == p.num, f"mask must name num = {p.num} anchors, got {self.mask}")
        self.need(
            max(self.mask) < len(self.anchors), f"mask names anchor {max(self.mask)}, biases has {len(self.anchors)}"
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = (self.images, self.p.num, 5 + self.p.num_class, *self.cells[::-1])
        values = np.array(bottom[0].data).reshape(shape)
        self.sigmoids(values)
        error = np.zeros(shape, self.dtype)
        for image, truth in enumerate(self.truths(bottom[1])):
            self.errors_of(values[image], truth, error[image])
        self.error.data[...] = error.reshape(self.error.shape)
        top[0].data[...] = np.square(error, dtype=np.float64).sum() / max(1, self.images)
        if self.p.use_logic_gradient:
            slope = values * (1 - values)
            slope[:, :, 2:4] = 1
            self.error.data[...] = (error * slope).reshape(self.error.shape)

    @staticmethod
    def sigmoids(values: np.ndarray) -> None:
        """Of all but width and height, in place."""
        for part in (values[:, :, :2], values[:, :, 4:]):
            part[...] = 1 / (1 + exp(-part))

    def errors_of(self, values: np.ndarray, truth: np.ndarray, error: np.ndarray) -> None:
        """The errors (B, 5 + classes, H, W) of one image, into `error`."""
        p, cells = self.p, self.cells
        pixels = cells * p.anchors_scale
        error[:, 4] = values[:, 4]
        if not len(truth):
            return
        labels = whole(truth[:, 0], -1, p.num_class)
        self.need(
            ((labels >= 0) & (labels < p.num_class)).all(),
            f"labels of true boxes must be from 0 to {p.num_class - 1}, got {truth[:, 0].min():g} to {truth[:, 0].max():g}",
        )
        place = np.stack(np.meshgrid(*map(np.arange, cells)), 0).astype(self.dtype)
        mine = self.anchors[self.mask].astype(self.dtype)[:, :, None, None]
        with np.errstate(over="ignore", invalid="ignore"):
            centre = (values[:, :2] + place) / cells[:, None, None]
            half = exp(values[:, 2:4]) * mine / pixels[:, None, None] / 2
            boxes = np.concatenate([centre - half, centre + half], 1).transpose(0, 2, 3, 1).reshape(-1, 4)
            corners = from_centre(truth[:, 1:])
            self.need_pairs("overlaps of boxes and true boxes", len(boxes) * len(corners), PAIR)
            most = iou(boxes[:, None], corners).max(1).reshape(len(values), *cells[::-1])
        error[:, 4][most > p.thresh] = 0
        sizes = np.concatenate([-self.anchors / pixels, self.anchors / pixels], 1) / 2
        true_sizes = np.concatenate([-truth[:, 3:], truth[:, 3:]], 1) / 2
        nearest = iou(true_sizes[:, None], sizes).argmax(1)
        for row, label, anchor in zip(truth.astype(np.float64), labels, nearest):
            if anchor in self.mask:
                box = self.mask.index(anchor)
                x, y = (int(whole(at, 0, most - 1)) for at, most in zip(row[1:3] * cells, cells))
                self.responsible(
                    values[box, :, y, x], row, int(label), self.anchors[anchor], (x, y), error[box, :, y, x]
                )

    def responsible(
        self,
        values: np.ndarray,
        truth: np.ndarray,
        label: int,
        anchor: np.ndarray,
        place: tuple[int, int],
        error: np.ndarray,
    ) -> None:
        """The errors (5 + classes,) of the box that is responsible for a true one."""
        p, cells = self.p, self.cells
        scale = p.coord_scale * (2 - truth[3] * truth[4])
        error[:2] = scale * (values[:2] - (truth[1:3] * cells - place))
        error[2:4] = scale * (values[2:4] - log(truth[3:] * cells * p.anchors_scale / anchor))
        error[4] = (values[4] - 1) * (p.object_scale if p.use_logic_gradient else 1)
        again = error[5:].any()  # another true box has it too: both labels are right
        if not again:
            error[5:] = p.class_scale * values[5:]
        error[5 + label] = (1 if again else p.class_scale) * (values[5 + label] - 1)
