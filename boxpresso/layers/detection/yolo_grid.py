"""YoloDetectionLoss, YoloV2Loss, EvalDetection: YOLO's, with true boxes that lie in a grid, one for each cell (BoxData); and
RegionEvalDetection, whose true boxes are rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.boxes import PAIR, from_centre, iou
from ...device import Blob
from ...device.functions import exp, whole
from ..core import Layer
from .yolo_base import ErrorLoss

LEAST = 0.005  # score of a box of RegionEvalDetection that counts
EACH = 7  # numbers of a cell: difficult, whether it has an object, its class, centre x, centre y, width, height


class Objects(NamedTuple):
    """The objects of one image.

    Attributes
    ----------
    cells
        (T,), the numbers of their cells.
    labels
        (T,), their classes.
    boxes
        (T, 4), centre x, centre y, width, height, as fractions of the image.
    """

    cells: np.ndarray
    labels: np.ndarray
    boxes: np.ndarray


def check_sizes(layer: Layer, *sizes: int) -> None:
    """Raises LayerError unless side, classes and boxes of a cell are above 0."""
    layer.need(min(sizes) > 0, f"side, classes and num_object must be above 0, got {sizes}")


def check_grid(layer: Layer, bottom: list[Blob], side: int, each: int) -> None:
    """Raises LayerError unless bottom 0 has `each` numbers for each cell, and bottom 1 EACH."""
    shape, labels, cells = bottom[0].shape, bottom[1].shape, side**2
    layer.need(
        len(shape) > 1 and bottom[0].count == shape[0] * each * cells,
        f"bottom 0 must have {each} numbers for each of {side} x {side} cells, got {shape}",
    )
    layer.need(
        labels[:1] == shape[:1] and bottom[1].count == shape[0] * EACH * cells,
        f"bottom 1 must have {EACH} numbers for each of {side} x {side} cells and {shape[0]} images, got {labels}",
    )


def objects_of(layer: Layer, row: np.ndarray, side: int, classes: int) -> Objects:
    """The objects of one image, of its row of bottom 1. Raises LayerError for a label that is no class."""
    cells = side**2
    at = np.flatnonzero(row[cells : 2 * cells])
    labels = row[2 * cells + at]
    wrong = np.flatnonzero(~((labels > -1) & (labels < classes)))
    if len(wrong):
        layer.need(False, f"cell {at[wrong[0]]} has the label {labels[wrong[0]]:g}, labels are 0 to {classes - 1}")
    return Objects(at, labels.astype(int), row[3 * cells :].reshape(cells, 4)[at])


class GridLoss(ErrorLoss):
    """A loss of numbers for each cell of a grid of `side` * `side`, with the true boxes in the same grid.

    A subclass's setup reads `side`, `classes` and `boxes`, how many a cell has; `each` is how many numbers a cell has, and
    `errors_of` gives the errors of one image, whose gradient they are, and parts of the loss.
    """

    side: int
    classes: int
    boxes: int
    each: int

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        check_grid(self, bottom, self.side, self.each)
        shape = bottom[0].shape
        self.images = shape[0]
        self.error.reshape(*shape)
        top[0].reshape()

    def errors_of(self, values: np.ndarray, truth: Objects, error: np.ndarray) -> np.ndarray:
        """Of one image the errors (each, side * side), into `error`; what the loss adds up."""
        raise NotImplementedError(f"{self} has no errors_of")

    def loss_of(self, parts: np.ndarray, objects: int) -> float:
        """The loss, from the sums of what errors_of gives, and the number of objects of the batch."""
        raise NotImplementedError(f"{self} has no loss_of")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        values = np.array(bottom[0].data, np.float64).reshape(self.images, self.each, self.side**2)
        rows = np.asarray(bottom[1].data).astype(np.float64).reshape(self.images, EACH * self.side**2)
        error, parts, count = np.zeros(values.shape), np.zeros(6), 0
        for image in range(self.images):
            truth = objects_of(self, rows[image], self.side, self.classes)
            count += len(truth.cells)
            parts += self.errors_of(values[image], truth, error[image])
        self.error.data[...] = error.reshape(self.error.shape)
        top[0].data[...] = self.loss_of(parts, count)


class YoloDetectionLoss(GridLoss, type="YoloDetectionLoss", param="detection_loss_param", bottoms=2, tops=1, loss=True):
    """The training loss of YOLO's first version. A DetectionLoss with `side`, `num_class` or `num_object` is this layer.

    A cell has the scores c of its classes, then an objectness o for each of its boxes, then of each box x, y, width and height.
    Of the boxes of a cell with an object that is responsible which overlaps the true box most, or, if none does, the nearest
    by the Euclidean distance of the four numbers. The loss is the sum of the means of

    - class_scale * sum((c - (1 for the label))^2), of cells with an object;
    - object_scale * (o - 1)^2, of responsible boxes;
    - noobject_scale * o^2, of all others;
    - coord_scale * the sum of (b - t)^2 over the four numbers, of responsible boxes.

    x and y are fractions of the image, with `constriant` of the cell; with `sqrt` width and height are square roots. The
    gradient is its program's, not of these means: half of the derivative of each sum, divided by the number of images, with
    the overlap in the place of 1 for the objectness of responsible boxes. Without an object the means over objects are 0.

    Parameters
    ----------
    bottom 0
        (N, ...), num_class + 5 num_object numbers for each cell: all cells of the first, then of the second.
    bottom 1
        (N, 7 side side), BoxData's: for each cell whether its object is difficult, whether it has one, and its class, in a row
        of cells each; then for each cell centre x, centre y, width and height.
    detection_loss_param
        `side` (7), `num_class` (20), `num_object` (2), `object_scale` (1), `noobject_scale` (0.5), `class_scale` (1),
        `coord_scale` (5), `sqrt` (true), `constriant` (false).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Sizes that are not above 0 or that the bottoms do not fit; a label that is no class; a gradient of the labels.

    Source
    ------
    Redmon et al. 2016 (YOLO), and yeahkun/caffe-yolo.

    Examples
    --------
    One cell, one class and one box, which is right but for its objectness:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "YoloDetectionLoss" detection_loss_param { side: 1 num_class: 1 num_object: 1 }'
    >>> run_layer(text, [[1, 0.5, 0.5, 0.5, 0.5, 1]], [[0, 1, 0, 0.5, 0.5, 0.25, 1]]).item()
    0.25
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.p = self.param.detection_loss_param
        self.side, self.classes, self.boxes = p.side, p.num_class, p.num_object
        check_sizes(self, self.side, self.classes, self.boxes)
        self.each = self.classes + 5 * self.boxes

    def errors_of(self, values: np.ndarray, truth: Objects, error: np.ndarray) -> np.ndarray:
        p, count, at = self.p, len(truth.cells), truth.cells
        first, rows = self.classes + self.boxes, np.arange(count)
        objectness = values[self.classes : first]
        error[self.classes : first] = p.noobject_scale * objectness
        place = np.stack([at % self.side, at // self.side], 1)
        boxes = values[first:, at].reshape(self.boxes, 4, count).transpose(2, 0, 1)  # (T, boxes, 4)
        whole_boxes = boxes.copy()
        if p.constriant:
            whole_boxes[..., :2] = (place[:, None] + boxes[..., :2]) / self.side
        if p.sqrt:
            whole_boxes[..., 2:] = np.square(boxes[..., 2:])
        shared = iou(from_centre(whole_boxes), from_centre(truth.boxes)[:, None])
        far = np.square(whole_boxes - truth.boxes[:, None]).sum(-1)
        best = np.where(shared.max(1) > 0, shared.argmax(1), far.argmin(1)) if count else rows
        wanted = truth.boxes.copy()
        if p.constriant:
            wanted[:, :2] = wanted[:, :2] * self.side - place
        if p.sqrt:
            wanted[:, 2:] = np.sqrt(wanted[:, 2:])
        off = boxes[rows, best] - wanted
        own = objectness[best, at]
        error[self.classes + best, at] = p.object_scale * (own - shared[rows, best])
        for k in range(4):
            error[first + 4 * best + k, at] = p.coord_scale * off[:, k]
        wrong = values[: self.classes, at] - (np.arange(self.classes)[:, None] == truth.labels)
        error[: self.classes, at] = p.class_scale * wrong
        others = np.square(objectness).sum() - np.square(own).sum()
        squares = [np.square(part).sum() for part in (wrong, own - 1, off)]
        return np.array([*squares, others, self.boxes * self.side**2 - count, 0])

    def loss_of(self, parts: np.ndarray, objects: int) -> float:
        p = self.p
        of_objects = p.class_scale * parts[0] + p.object_scale * parts[1] + p.coord_scale * parts[2]
        return float(of_objects / max(1, objects) + p.noobject_scale * parts[3] / max(1, parts[4]))


class YoloV2Loss(GridLoss, type="YoloV2Loss", param="yolo_v2_loss_param", bottoms=2, tops=1, loss=True):
    """A training loss of YOLO with anchors, on numbers as they are: no logistic function and no softmax.

    A cell has for each anchor x, y, width, height, objectness o and the scores of its classes. Its box is
    ((column + x) / side, (row + y) / side, exp(width) * the anchor's width, exp(height) * its height). Of the anchors that
    one is responsible for a true box whose shape overlaps its shape most, in the cell of its centre. The errors, which are the
    gradient but for 1 / N, are

    - noobject_scale * o; 0 where the box overlaps a true one by more than `thresh`. Of responsible boxes
      object_scale * (o - t), where t is the overlap with the true box, or 1 without `rescore`;
    - scale * (b - t) for centres and scale * (b - t) * b for width and height b, of responsible boxes, with
      scale = box_scale * (2 - x * y) of the true centre;
    - class_scale * (score - (1 for the label)), of responsible boxes.

    The loss is what its program prints: noobject_scale * the sum of |o| of all boxes, divided by the number of those that
    are not responsible (1 at least), and over responsible ones the means of object_scale * (1 - o), of
    class_scale * |score - 1| of the label, of 1 - overlap, and of 1 where the overlap is a half at most. Without an object it
    is the first part alone.

    Parameters
    ----------
    bottom 0
        (N, ...), for each anchor 5 + num_classes numbers of all cells each.
    bottom 1
        (N, 7 side side), as of YoloDetectionLoss.
    yolo_v2_loss_param
        `side`, `num_classes`, `num_object` (all required); `biaes`: the anchors, pairs (width, height), as fractions of the
        image; `box_scale`, `class_scale`, `noobject_scale`, `object_scale` (0.5 each), `rescore` (true), `thresh` (0.7);
        `constraint` is not read.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Sizes that are not above 0, other than `num_object` anchors, `anchors` (of another program's layer of this name),
        bottoms of another size, a label that is no class, a gradient of the labels.

    Source
    ------
    karta0807913/caffe-yolo-9000, which pulls all boxes towards their anchors for the first 12800 images as well. A true box at
    the far border belongs to the last cell.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "YoloV2Loss"
    ... yolo_v2_loss_param { side: 1 num_classes: 1 num_object: 1 biaes: 1 biaes: 1 object_scale: 1 }'''
    >>> run_layer(text, [[0.5, 0.5, 0, 0, 0.25, 1]], [[0, 1, 0, 0.5, 0.5, 1, 1]]).item()
    0.875
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.p = self.param.yolo_v2_loss_param
        self.need(not p.anchors, "yolo_v2_loss_param: anchors is of another program's layer, which is not supported")
        self.side, self.classes, self.boxes = p.side, p.num_classes, p.num_object
        check_sizes(self, self.side, self.classes, self.boxes)
        self.need(
            len(p.biaes) == 2 * self.boxes,
            f"biaes must be {2 * self.boxes} numbers, a width and a height for each of {self.boxes} boxes, got {len(p.biaes)}",
        )
        self.each = (5 + self.classes) * self.boxes
        self.anchors = np.array(p.biaes, np.float64).reshape(-1, 2)

    def errors_of(self, values: np.ndarray, truth: Objects, error: np.ndarray) -> np.ndarray:
        p, side = self.p, self.side
        shape = (self.boxes, 5 + self.classes, side**2)
        values, error = values.reshape(shape), error.reshape(shape)
        places = np.arange(side**2)
        cell = np.stack([places % side, places // side], 0)
        with np.errstate(over="ignore"):
            sizes = exp(values[:, 2:4]) * self.anchors[:, :, None]
        boxes = np.concatenate([(cell + values[:, :2]) / side, sizes], 1).transpose(0, 2, 1)  # (boxes, cells, 4)
        error[:, 4] = p.noobject_scale * values[:, 4]
        parts = np.zeros(6)
        parts[4] = np.abs(values[:, 4]).sum()
        parts[5] = self.boxes * side**2 - len(truth.cells)
        if not len(truth.cells):
            return parts
        self.need_pairs("overlaps of boxes and true boxes", boxes.size // 4 * len(truth.cells), PAIR)
        shared = iou(from_centre(boxes)[:, :, None], from_centre(truth.boxes))  # (boxes, cells, T)
        error[:, 4][shared.max(-1) > p.thresh] = 0
        centred = np.concatenate([-self.anchors / 2, self.anchors / 2], 1)
        for i, box in enumerate(truth.boxes):
            column, row = (int(whole(at, 0, side - 1)) for at in box[:2] * side)
            at = row * side + column
            own = int(iou(centred, np.concatenate([-box[2:] / 2, box[2:] / 2])).argmax())
            mine, wrong, overlap = values[own, :, at], error[own, :, at], shared[own, at, i]
            off = p.box_scale * (2 - box[0] * box[1]) * (boxes[own, at] - box)
            wrong[:4] = off * np.concatenate([[1, 1], boxes[own, at, 2:]])
            wrong[4] = p.object_scale * (mine[4] - (overlap if p.rescore else 1))
            label = truth.labels[i]
            wrong[5:] = p.class_scale * (mine[5:] - (np.arange(self.classes) == label))
            parts[:4] += 1 - mine[4], abs(mine[5 + label] - 1), 1 - overlap, overlap <= 0.5
        return parts

    def loss_of(self, parts: np.ndarray, objects: int) -> float:
        p, of_objects = self.p, parts[:4] / max(1, objects)
        scales: Any = [p.object_scale, p.class_scale, 1, 1]
        return float(p.noobject_scale * parts[4] / max(1, parts[5]) + (of_objects * scales).sum())


class EvalDetection(Layer, type="EvalDetection", param="eval_detection_param", bottoms=(2, 3), tops=1):
    """Which boxes of YOLO's first version are right: for each image how many objects there are of each class, then four
    numbers for each box.

    A box has the likeliest class of its cell, and as its score the objectness ("OBJ"), the score of the class ("PROB") or
    their product ("MULTIPLY"). With `nms` of 0 or more, boxes that overlap a better one by that are left out, whatever their
    classes. By class, the best first, a box is right whose overlap with the object of its class that it overlaps most is
    `threshold` at least, and is the first there; a box on a difficult object is neither right nor wrong. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1
        As of YoloDetectionLoss.
    bottom 2
        Optional: the images. They are not read.
    eval_detection_param
        `side` (7), `num_class` (20), `num_object` (2), `threshold` (0.5), `sqrt` (true), `constriant` (true), `score_type`
        (MULTIPLY), `nms` (-1).

    Returns
    -------
    top 0
        (N, num_class + 4 side side num_object): numbers of objects that are not difficult, then rows (class, score, 1 for
        right, 1 for wrong), 0 behind the last box.

    Raises
    ------
    LayerError
        Sizes that are not above 0 or that the bottoms do not fit; a label that is no class; a gradient is asked for.

    With `biases` it is caffe-yolov2's layer of this name, RegionEvalDetection.

    Source
    ------
    yeahkun/caffe-yolo.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "EvalDetection" eval_detection_param { side: 1 num_class: 1 num_object: 1 sqrt: false }'
    >>> run_layer(text, [[0.5, 0.5, 0.5, 0.5, 1, 1]], [[0, 1, 0, 0.5, 0.5, 1, 1]]).tolist()
    [[1.0, 0.0, 0.25, 1.0, 0.0]]
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        return "RegionEvalDetection" if param.eval_detection_param.biases else ""

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.p = self.param.eval_detection_param
        self.side, self.classes, self.boxes = p.side, p.num_class, p.num_object
        check_sizes(self, self.side, self.classes, self.boxes)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        check_grid(self, bottom, self.side, self.classes + 5 * self.boxes)
        self.give_shape(bottom, top)

    def give_shape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(bottom[0].shape[0], self.classes + 4 * self.side**2 * self.boxes)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, cells = bottom[0].shape[0], self.side**2
        values = np.asarray(bottom[0].data).astype(np.float64).reshape(images, -1, cells) if images else ()
        rows = np.asarray(bottom[1].data).astype(np.float64).reshape(images, -1) if images else ()
        result = np.zeros(top[0].shape)
        for image, (own, row) in enumerate(zip(values, rows)):
            truth, difficult = self.truth_of(row)
            np.add.at(result[image], truth.labels[~difficult], 1)
            detections = self.judged(*self.boxes_of(own), truth, difficult)
            result[image, self.classes : self.classes + detections.size] = detections.ravel()
        top[0].data[...] = result

    def truth_of(self, row: np.ndarray) -> tuple[Objects, np.ndarray]:
        """The objects of one image, and whether each is difficult."""
        truth = objects_of(self, row, self.side, self.classes)
        return truth, row[truth.cells] == 1

    def boxes_of(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of one image's numbers (K, cells) the score and the class of each box, and the boxes (B, 4) by their centres."""
        p, cells = self.p, np.arange(self.side**2)
        likely, labels = values[: self.classes].max(0), values[: self.classes].argmax(0)
        objectness = values[self.classes : self.classes + self.boxes]
        boxes = values[self.classes + self.boxes :].reshape(self.boxes, 4, len(cells)).transpose(2, 0, 1)
        if p.constriant:
            place = np.stack([cells % self.side, cells // self.side], 1)
            boxes = np.concatenate([(place[:, None] + boxes[..., :2]) / self.side, boxes[..., 2:]], -1)
        if p.sqrt:
            boxes = np.concatenate([boxes[..., :2], np.square(boxes[..., 2:])], -1)
        return self.scores(objectness, likely).T.ravel(), np.repeat(labels, self.boxes), boxes.reshape(-1, 4)

    def scores(self, objectness: np.ndarray, likely: np.ndarray) -> np.ndarray:
        """By score_type, in the shape of the objectness."""
        return np.asarray(
            [objectness, np.broadcast_to(likely, objectness.shape), objectness * likely][self.p.score_type]
        )

    def left_over(self, order: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Those of the boxes `order` that count."""
        return order

    def judged(
        self, scores: np.ndarray, of_boxes: np.ndarray, centred: np.ndarray, truth: Objects, difficult: np.ndarray
    ) -> np.ndarray:
        """The boxes (B, 4) of one image: class, score, whether right, whether wrong."""
        p, boxes = self.p, from_centre(centred)
        order = np.argsort(-scores, kind="stable")
        if p.nms >= 0:
            chosen: list[int] = []
            for i in order:
                if not (iou(boxes[chosen], boxes[i]) >= p.nms).any():
                    chosen.append(i)
            order = np.array(chosen, int)
        order = self.left_over(order, scores)
        order = order[np.argsort(of_boxes[order], kind="stable")]
        result = np.column_stack([of_boxes[order], scores[order], np.zeros(len(order)), np.ones(len(order))])
        taken = np.zeros(len(truth.cells), bool)
        for row, box in zip(result, boxes[order]):
            own = np.flatnonzero(truth.labels == row[0])
            shared = iou(from_centre(truth.boxes[own]), box)
            if not len(own) or shared.max() < p.threshold:
                continue
            at = own[shared.argmax()]
            row[2:] = (0, 0) if difficult[at] else (0, 1) if taken[at] else (1, 0)
            taken[at] = True
        return result

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down), "has no gradient; set propagate_down: false for its bottoms")

    def allow_force_backward(self, index: int) -> bool:
        return False


class RegionEvalDetection(
    EvalDetection, type="RegionEvalDetection", param="eval_detection_param", bottoms=(2, 3), tops=1
):
    """Which boxes of YOLOv2 are right: the EvalDetection of caffe-yolov2, which has `biases`.

    Boxes are those of RegionLoss. Each has its likeliest class, and as its score the objectness ("OBJ"), the part of the
    class in the softmax ("PROB") or their product ("MULTIPLY"). What follows is EvalDetection's, but that boxes with a score
    below 0.005 do not count, and that no object is difficult. Its program leaves both marks of a box 0 that overlaps no
    object of its class enough; here it is wrong. With `nms` below 0 its program counts no box; here it counts all.

    Parameters
    ----------
    bottom 0
        The map (N, num_object (5 + num_class), side, side): for each anchor x, y, width, height, objectness and classes.
    bottom 1
        True boxes (N, ..., 5) as of RegionLoss: class, centre x, centre y, width, height; those before the first whose x is 0.
    bottom 2
        Optional: the images. They are not read.
    eval_detection_param
        `side`, `num_class`, `num_object`, `threshold` (0.5), `score_type` (MULTIPLY), `nms` (-1); `biases`: the anchors, pairs
        (width, height) in cells. `sqrt` and `constriant` are not read.

    Returns
    -------
    top 0
        (N, num_class + 4 side side num_object), as of EvalDetection.

    Raises
    ------
    LayerError
        Sizes that are not above 0 or that the bottoms do not fit; another number of biases; a label that is no class; a
        gradient is asked for.

    Source
    ------
    ahmedezzat85/caffe-yolov2.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "EvalDetection" eval_detection_param { side: 1 num_class: 1 num_object: 1 biases: 1 biases: 1 }'
    >>> run_layer(text, [[[[0]]] * 6], [[[0, 0.5, 0.5, 1, 1], [0, 0, 0, 0, 0]]]).tolist()
    [[1.0, 0.0, 0.5, 1.0, 0.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        wanted = 2 * self.boxes
        self.need(
            len(self.p.biases) == wanted,
            f"biases must be {wanted} numbers, a width and a height for each of {self.boxes} boxes, got {len(self.p.biases)}",
        )
        self.anchors = np.array(self.p.biases, np.float64).reshape(-1, 2)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, *sizes = self.axes(bottom[0], 4)
        wanted = [self.boxes * (5 + self.classes), self.side, self.side]
        self.need(sizes == wanted, f"bottom 0 must be {(images, *wanted)}, got {bottom[0].shape}")
        labels = bottom[1]
        self.need(
            labels.shape[:1] == (images,) and labels.count % (5 * max(1, images)) == 0,
            f"bottom 1, the true boxes, must be ({images}, ..., 5), got {labels.shape}",
        )
        self.give_shape(bottom, top)

    def truth_of(self, row: np.ndarray) -> tuple[Objects, np.ndarray]:
        rows = row.reshape(-1, 5)
        end = np.flatnonzero(rows[:, 1] == 0)
        rows = rows[: end[0]] if len(end) else rows
        labels, kinds = rows[:, 0], self.classes
        self.need(
            ((labels > -1) & (labels < kinds)).all(),
            f"true boxes have the labels {labels}, labels are 0 to {kinds - 1}",
        )
        return Objects(np.arange(len(rows)), labels.astype(int), rows[:, 1:]), np.zeros(len(rows), bool)

    def boxes_of(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cells = np.arange(self.side**2)
        values = values.reshape(self.boxes, 5 + self.classes, len(cells))
        place = np.stack([cells % self.side, cells // self.side], 0)
        with np.errstate(over="ignore", invalid="ignore"):
            centres, objectness = 1 / (1 + exp(-values[:, :2])), 1 / (1 + exp(-values[:, 4]))
            sizes = exp(values[:, 2:4]) * self.anchors[:, :, None]
            parts = exp(values[:, 5:] - values[:, 5:].max(1, keepdims=True))
        parts /= parts.sum(1, keepdims=True)
        boxes = np.concatenate([centres + place, sizes], 1) / self.side  # (boxes, 4, cells)
        scores = self.scores(objectness, parts.max(1))
        return scores.T.ravel(), parts.argmax(1).T.ravel(), boxes.transpose(2, 0, 1).reshape(-1, 4)

    def left_over(self, order: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.asarray(order[scores[order] >= LEAST])
