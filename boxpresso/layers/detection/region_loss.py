"""RegionLoss: the training loss of YOLOv2."""

from __future__ import annotations

import numpy as np

from ...data.boxes import PAIR, from_centre, iou
from ...device import Blob
from ...device.functions import exp, log, whole
from .yolo_base import YoloLoss


class RegionLoss(YoloLoss, type="RegionLoss", param="region_loss_param", bottoms=2, tops=1, loss=True):
    """The training loss of YOLOv2: the sum of squared errors of all boxes / N.

    The anchor whose shape is nearest to a true box is responsible for it, at the place of its centre. With o, x and y the
    sigmoids of the objectness and of the place, and p the softmax of the classes, the errors are

    - o: noobject_scale * o * o (1 - o); 0 where the box overlaps a true one by more than `thresh`. Of a responsible box
      object_scale * (o - t) * o (1 - o), where t is its overlap with the true box, or 1 without `rescore`.
    - x and y, of responsible boxes only: scale * (x - t) * x (1 - x); width and height: scale * (w - log of the true width in
      anchors). scale is coord_scale with `rescore`, else coord_scale * (2 - true area).
    - Classes, of responsible boxes only: class_scale * (p - (1 for the label)).

    The gradient is that of darknet, not of this sum: error / N.

    Parameters
    ----------
    bottom 0
        (N, num (5 + num_class), H, W). The numbers of each box at a place are: x, y, width, height, objectness, classes.
    bottom 1
        (N, ..., 5), true boxes: label from 0, centre x, centre y, width, height, as fractions of the image. Of each image
        only the boxes before the first one of width 0 count.
    region_loss_param
        `num_class` (20), `num` (5), `biases`: the anchors, pairs (width, height) in places; `object_scale` (1),
        `noobject_scale` (0.5), `class_scale` (1), `coord_scale` (5), `thresh` (0.2), `rescore` (1), `bias_match` (1): 0
        compares true shapes with those of the boxes instead of the anchors. `side`, `softmax`, `jitter`, `absolute`,
        `random` and `class_map` are not read.

    Returns
    -------
    top 0
        The loss, one number.

    Raises
    ------
    LayerError
        For `coords` other than 4 or a `softmax_tree`, fewer than `num` anchors (with none at all, as nets have that only
        take weights, in forward), bottoms of the wrong shape, labels that are
        not from 0 to `num_class` - 1, or a gradient asked for the true boxes.

    Source
    ------
    Redmon and Farhadi 2016 (YOLO9000), and MobileNet-YOLO's Caffe, which pulls all boxes towards their anchors for the first
    12800 images as well. A true box at the far border belongs to the last place.

    Examples
    --------
    One box, at the right place, whose objectness is wrong by 0.5 and whose class is certain:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "RegionLoss" region_loss_param { num_class: 1 num: 1 biases: 1 biases: 1 }'
    >>> run_layer(text, [[[[0]]] * 6], [[[0, 0.5, 0.5, 1, 1]]]).item()
    0.015625
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.p = self.param.region_loss_param
        self.need(p.coords == 4, f"coords must be 4, got {p.coords}")
        self.need(not p.softmax_tree, "softmax_tree is not supported; classes have one softmax")
        self.need(
            p.num > 0 and (len(p.biases) >= 2 * p.num or not p.biases),
            f"biases must be {2 * p.num} numbers, a width and a height for each of {p.num} anchors; got {len(p.biases)}",
        )
        self.anchors = np.array(p.biases[: 2 * p.num], np.float64).reshape(-1, 2)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(len(self.anchors), f"biases, the {self.p.num} anchors, are missing: without them there is no loss")
        shape = (self.images, self.p.num, 5 + self.p.num_class, *self.cells[::-1])
        values = np.array(bottom[0].data, np.float64).reshape(shape)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in (values[:, :, :2], values[:, :, 4:5]):
                part[...] = 1 / (1 + exp(-part))
            classes = values[:, :, 5:]
            classes -= classes.max(2, keepdims=True, initial=-np.inf)
            classes[...] = exp(classes)
            classes /= classes.sum(2, keepdims=True)
            error = np.zeros(shape)
            for image, truth in enumerate(self.truths(bottom[1])):
                self.errors_of(values[image], truth.astype(np.float64), error[image])
        self.error.data[...] = error.reshape(self.error.shape)
        top[0].data[...] = np.square(error).sum() / max(1, self.images)

    def errors_of(self, values: np.ndarray, truth: np.ndarray, error: np.ndarray) -> None:
        """The errors (num, 5 + classes, H, W) of one image, into `error`."""
        p, cells = self.p, self.cells
        objects = values[:, 4]
        error[:, 4] = p.noobject_scale * objects * objects * (1 - objects)
        if not len(truth):
            return
        labels = whole(truth[:, 0], -1, p.num_class)
        self.need(
            ((truth[:, 0] >= 0) & (truth[:, 0] < p.num_class)).all(),
            f"labels of true boxes must be from 0 to {p.num_class - 1}, got {truth[:, 0].min():g} to {truth[:, 0].max():g}",
        )
        place = np.stack(np.meshgrid(*map(np.arange, cells)), 0)
        sizes = exp(values[:, 2:4]) * self.anchors[:, :, None, None] / cells[:, None, None]
        centres = (values[:, :2] + place) / cells[:, None, None]
        boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], 1).transpose(0, 2, 3, 1)
        corners = from_centre(truth[:, 1:])
        self.need_pairs("overlaps of boxes and true boxes", boxes.size // 4 * len(corners), PAIR)
        most = iou(boxes[..., None, :], corners).max(-1)
        error[:, 4][most > p.thresh] = 0
        for row, label, corner in zip(truth, labels, corners):
            x, y = (int(whole(at, 0, most - 1)) for at, most in zip(row[1:3] * cells, cells))
            shapes = self.anchors / cells if p.bias_match else sizes[:, :, y, x]
            nearest = int(iou(centred(shapes), centred(row[3:])).argmax())
            mine, wrong = values[nearest, :, y, x], error[nearest, :, y, x]
            scale = p.coord_scale * (1 if p.rescore else 2 - row[3] * row[4])
            wrong[:2] = scale * (mine[:2] - (row[1:3] * cells - (x, y))) * mine[:2] * (1 - mine[:2])
            wrong[2:4] = scale * (mine[2:4] - log(row[3:] * cells / self.anchors[nearest]))
            target = iou(boxes[nearest, y, x], corner) if p.rescore else 1
            wrong[4] = p.object_scale * (mine[4] - target) * mine[4] * (1 - mine[4])
            wrong[5:] = p.class_scale * (mine[5:] - (np.arange(p.num_class) == label))


def centred(sizes: np.ndarray) -> np.ndarray:
    """Boxes (..., 4) of these sizes (..., 2) around 0."""
    return np.concatenate([-sizes / 2, sizes / 2], -1)
