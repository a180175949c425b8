"""DetectNet's Python layers: from maps of coverage to lists of boxes, and how many of these are right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...data.detectnet import grid_boxes, group_rectangles, judged
from ...device import Blob
from ...device.functions import logarithm
from ...proto.errors import LayerError
from ..core import Layer, Trait
from ..core.param_str import read_param_str

MOST = 50  # boxes of an image
PAIRS, LEAST = 2**30, 2**12  # pairs of boxes that ScoreDetections compares, and as how many one true box counts


class GridBoxes(Layer):
    """What ClusterDetections and ClusterGroundtruth share: a list of boxes for each class from maps of a grid."""

    names: ClassVar[tuple[str, ...]] = ()  # of the numbers of param_str, num_classes last

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        text = self.param.python_param.param_str
        try:
            values: Any = read_param_str(text)
        except LayerError:
            values = None
        values = list(values) if isinstance(values, (list, tuple)) else []
        if len(values) == len(self.names) - 1:
            values.append(1)
        whole = [isinstance(v, (int, float)) and math.isfinite(v) for v in values]
        self.need(
            len(values) == len(self.names) and all(whole),
            f"param_str must be '{', '.join(self.names)}', numbers of which the last may be left out; got {text!r}",
        )
        self.options: dict[str, float] = dict(zip(self.names, values))
        self.size = (int(self.options["image_size_x"]), int(self.options["image_size_y"]))
        self.stride = int(self.options["stride"])
        self.need(
            0 < self.stride <= min(self.size),
            f"a stride of {self.stride} does not fit an image of {self.size[0]}x{self.size[1]}",
        )
        count = int(self.options["num_classes"])
        self.need(len(top) == count, f"has {count} classes and needs a top for each, got {len(top)}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        cover, corners = self.axes(bottom[0], 4), self.axes(bottom[1], 4)
        self.need(cover[1] == len(top), f"bottom 0, the coverage, must have {len(top)} classes, got {cover}")
        self.need(corners[1] == 4, f"bottom 1, the boxes, must have 4 numbers, got {corners}")
        self.need(
            cover[0] == corners[0] and cover[2:] == corners[2:],
            f"its bottoms must be of one grid, got {cover} and {corners}",
        )
        wide, high = (side // self.stride for side in self.size)
        self.need(
            cover[2] >= high and cover[3] >= wide,
            f"an image of {self.size} has {high} x {wide} cells, got a grid of {cover[2:]}",
        )
        for blob in top:
            blob.reshape(cover[0], MOST, 5)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        cover, corners = (np.array(blob.data) for blob in bottom)
        for kind, blob in enumerate(top):
            table = np.zeros(blob.shape, np.float32)
            for i in range(len(cover)):
                rows = self.boxes(cover[i, kind], corners[i])[:MOST]
                with np.errstate(over="ignore"):
                    table[i, : len(rows), : rows.shape[1]] = rows.astype(np.float16)  # as those layers store them
            blob.data[...] = table

    def boxes(self, cover: np.ndarray, corners: np.ndarray) -> np.ndarray:
        """The boxes of one image and class."""
        raise NotImplementedError(f"{self} has no boxes")

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is none."""


class ClusterGroundtruth(GridBoxes, type="ClusterGroundtruth", param="python_param", bottoms=2, tops=(1, None)):
    """The true boxes of each class from maps of labels: those of all cells with coverage, each once.

    Parameters
    ----------
    bottom 0
        (N, classes, H, W), the coverage.
    bottom 1
        (N, 4, H, W), left, top, right, bottom of the box from the corner of the cell.
    python_param
        `param_str`: "image_size_x, image_size_y, stride, num_classes", the last 1 where it is left out.

    Returns
    -------
    top 0, ...
        One for each class: (N, 50, 5), xmin, ymin, xmax, ymax in pixels, rounded to float16, and 0; rows of 0 follow the
        boxes. Of more than 50 boxes the first are kept, in the order of the cells.

    Raises
    ------
    LayerError
        For a param_str that does not fit, or bottoms of another shape.

    Source
    ------
    NVIDIA's Caffe, caffe.layers.detectnet.clustering.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> cover, box = [[[[1, 1]]]], [[[[2, -6]], [[1, 1]], [[14, 6]], [[7, 7]]]]  # of one box, from two cells
    >>> run_layer('type: "ClusterGroundtruth" python_param { param_str: "16, 8, 8" }', cover, box)[0, :2].tolist()
    [[2.0, 1.0, 14.0, 7.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
    """

    replaces = ("caffe.layers.detectnet.clustering.ClusterGroundtruth",)
    names = ("image_size_x", "image_size_y", "stride", "num_classes")

    def boxes(self, cover: np.ndarray, corners: np.ndarray) -> np.ndarray:
        rows = grid_boxes(cover, corners, self.size, self.stride, 0)
        return np.array(list(dict.fromkeys(map(tuple, rows.tolist())))).reshape(-1, 4)


class ClusterDetections(GridBoxes, type="ClusterDetections", param="python_param", bottoms=2, tops=(1, None)):
    """The boxes of each class that cells agree on: those of cells with enough coverage, grouped as by groupRectangles.

    Boxes are cut to whole pixels before they are grouped. Boxes lower than min_height are left out.

    Parameters
    ----------
    bottom 0
        (N, classes, H, W), the predicted coverage.
    bottom 1
        (N, 4, H, W), left, top, right, bottom of the box from the corner of the cell.
    python_param
        `param_str`: "image_size_x, image_size_y, stride, gridbox_cvg_threshold, gridbox_rect_threshold, gridbox_rect_eps,
        min_height, num_classes", the last 1 where it is left out. A group counts with more than gridbox_rect_threshold
        boxes; two boxes are alike where no side differs by more than gridbox_rect_eps times their mean size.

    Returns
    -------
    top 0, ...
        One for each class: (N, 50, 5), xmin, ymin, xmax, ymax in pixels and the logarithm of the number of cells, rounded
        to float16; rows of 0 follow the boxes. Of more than 50 boxes the first are kept.

    Raises
    ------
    LayerError
        For a param_str that does not fit, or bottoms of another shape.

    Source
    ------
    NVIDIA's Caffe, caffe.layers.detectnet.clustering; OpenCV's groupRectangles.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> cover, box = [[[[0.9, 0.7]]]], [[[[2, -6]], [[1, 1]], [[14, 6]], [[7, 7]]]]
    >>> text = 'type: "ClusterDetections" python_param { param_str: "16, 8, 8, 0.6, 1, 0.02, 4" }'
    >>> [round(v, 2) for v in run_layer(text, cover, box)[0, 0].tolist()]
    [2.0, 1.0, 14.0, 7.0, 0.69]
    """

    replaces = ("caffe.layers.detectnet.clustering.ClusterDetections",)
    names = (
        "image_size_x", "image_size_y", "stride", "gridbox_cvg_threshold", "gridbox_rect_threshold", "gridbox_rect_eps",
        "min_height", "num_classes",
    )  # fmt: skip

    def boxes(self, cover: np.ndarray, corners: np.ndarray) -> np.ndarray:
        settings = self.options
        rows = grid_boxes(cover, corners, self.size, self.stride, settings["gridbox_cvg_threshold"])
        rows = rows[np.isfinite(rows).all(1) & (np.abs(rows) < 2**30).all(1)]
        if not rows.any():
            return np.zeros((0, 5))
        whole = np.trunc(np.column_stack([rows[:, :2], rows[:, 2:] - rows[:, :2]])).astype(int)
        groups = group_rectangles(whole.tolist(), int(settings["gridbox_rect_threshold"]), settings["gridbox_rect_eps"])
        large = [(x, y, x + w, y + h, logarithm(n)) for (x, y, w, h), n in groups if h >= settings["min_height"]]
        return np.array(large).reshape(-1, 5)


class ScoreDetections(Layer, type="ScoreDetections", bottoms=2, tops=1, traits=Trait.CHOOSES_ROWS):
    """Says which boxes are right: each true box in turn takes the first free one that overlaps it by 0.7 or more.

    Parameters
    ----------
    bottom 0
        (N, 50, 5), the true boxes, of ClusterGroundtruth; rows whose corners are all 0 are no boxes.
    bottom 1
        (N, 50, 5), the boxes, of ClusterDetections.

    Returns
    -------
    top 0
        (N, 50, 5), xmin, ymin, xmax, ymax, and 1 for a right box, 2 for a wrong one, 3 for a true box that was missed;
        rows of 0 follow. Where an image needs more than 50 rows, there are as many as it needs.

    Raises
    ------
    LayerError
        For bottoms of other shapes.

    Source
    ------
    NVIDIA's Caffe, caffe.layers.detectnet.mean_ap, which fails where more than 50 rows are needed.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ScoreDetections"', [[[0, 0, 9, 9, 0]]], [[[0, 0, 9, 8, 1], [20, 0, 29, 9, 1]]])[0, :3, 4].tolist()
    [1.0, 2.0, 0.0]
    """

    replaces = ("caffe.layers.detectnet.mean_ap.ScoreDetections",)
    array_copies = 3

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        truth, detections = (self.axes(blob, 3) for blob in bottom)
        self.need(truth[2] == detections[2] == 5, f"its bottoms must have rows of 5, got {truth} and {detections}")
        self.need(truth[0] == detections[0], f"its bottoms must be of as many images, got {truth} and {detections}")
        pairs = truth[0] * truth[1] * max(detections[1], LEAST)
        self.need(
            pairs <= PAIRS,
            f"{truth[0]} images of {truth[1]} true boxes and {detections[1]} boxes are too many to compare; give fewer images",
        )
        top[0].reshape(truth[0], MOST, 5)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        truth, detections = (np.array(blob.data, np.float64)[..., :4] for blob in bottom)
        images = [
            judged(*(boxes[i][(boxes[i] != 0).any(1)] for boxes in (truth, detections))) for i in range(len(truth))
        ]
        out = np.zeros((len(truth), max([MOST, *map(len, images)]), 5))
        for table, rows in zip(out, images):
            table[: len(rows)] = rows
        top[0].reshape(*out.shape)
        top[0].data[...] = out

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is none."""


class PrecisionRecall(Layer, type="PrecisionRecall", bottoms=1, tops=3):
    """Precision and recall of judged boxes, and their product, which DetectNet calls mAP.

    Parameters
    ----------
    bottom 0
        (N, R, 5), of ScoreDetections: the last number of a row is 1, 2 or 3, or 0.

    Returns
    -------
    top 0
        (1), precision * recall / 100.
    top 1
        (1), precision, in percent: right boxes of all; 0 without a box.
    top 2
        (1), recall, in percent: true boxes that were found; 0 without a true box.

    Raises
    ------
    LayerError
        For a bottom of another shape.

    Source
    ------
    NVIDIA's Caffe, caffe.layers.detectnet.mean_ap, mAP.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> rows = [[[0, 0, 9, 9, 1], [20, 0, 29, 9, 2], [0, 0, 1, 1, 3], [0, 0, 0, 0, 0]]]
    >>> [v.item() for v in run_layer('type: "PrecisionRecall"', rows, tops=3)]
    [25.0, 50.0, 50.0]
    """

    replaces = ("caffe.layers.detectnet.mean_ap.mAP",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(self.axes(bottom[0], 3)[2] == 5, f"its bottom must have rows of 5, got {bottom[0].shape}")
        for blob in top:
            blob.reshape(1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        marks = np.array(bottom[0].data)[..., 4]
        right, wrong, missed = (int((marks == mark).sum()) for mark in (1, 2, 3))
        precision, recall = (100 * right / (right + other) if right + other else 0.0 for other in (wrong, missed))
        for blob, value in zip(top, (precision * recall / 100, precision, recall)):
            blob.data[...] = value

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is none."""
