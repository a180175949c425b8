"""YOLO's detections by kernels: boxes, order and suppression; the host is told how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer
from . import choice, suppress
from .choice import Choice
from .order import Order

MOST_LISTED = 2**14  # scores of an image, at first; where a forward has more, so many are listed from there on

kernels = Kernels(Path(__file__).with_name("yolo_choice.cu"), UNFUSED)
FILES = kernels, *choice.FILES


class YoloChoice(Choice):
    """The choice of a layer of YOLO's detections on its device.

    Parameters
    ----------
    layer
        The layer.
    param
        Its num_box, num_classes, confidence_threshold and nms_threshold.
    anchors
        (num_box, 2), width and height, of each bottom.
    scales
        Of each bottom, what a unit of a place is divided by in its anchors.
    exclusive
        Whether the classes of a box exclude each other.
    """

    most = 0  # scores of an image that are listed

    def __init__(
        self, layer: Layer, param: Any, anchors: Sequence[np.ndarray], scales: Sequence[int], exclusive: bool
    ) -> None:
        super().__init__(layer)
        self.p, self.scales, self.exclusive = param, scales, exclusive
        self.anchors = [layer.device.table(each, layer.dtype) for each in anchors]
        self.classes = 1 if exclusive else int(param.num_classes)

    def reshape(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Takes the shapes of the bottoms, and counts the rows that there can be."""
        p, (images, *_) = self.p, shapes[0]
        counts = [p.num_box * height * width for _, _, height, width in shapes]
        self.images, self.places = images, sum(counts)
        self.maps = [
            kernels.struct(
                "Map", boxes=p.num_box, classes=p.num_classes, height=height, width=width, first=sum(counts[:i]),
                places=self.places, exclusive=int(self.exclusive), scale=float(self.scales[i]),
            )
            for i, (_, _, height, width) in enumerate(shapes)
        ]  # fmt: skip
        self.counts = [images * count for count in counts]
        self.most = max(MOST_LISTED, self.most)
        self.list_scores()

    def list_scores(self) -> None:
        """Makes room for `most` scores of each image."""
        images, items, scratch = self.images, self.places * self.classes, self.scratch
        most = min(items, self.most)
        self.count_rows(images, items, images * most)
        if not self.rows:
            return
        self.best = Order(scratch, images, items, most, self.dtype, counted=True)
        self.boxes = scratch("boxes", (images * self.places, 4), self.dtype)
        self.labels = scratch("labels", (images, self.places)) if self.exclusive else None
        self.reserve(self.best, 4, self.dtype)

    def launch(self, bottom: Sequence[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be what `finish` reads."""
        images, best, boxes, labels = self.images, self.best, self.boxes, self.labels
        top.reshape(1, 1, self.rows + 1, 7)
        bound, threshold = kernels.on(self.device), float(np.float32(self.p.confidence_threshold))
        for count, blob, anchors, places in zip(self.counts, bottom, self.anchors, self.maps):
            bound.yolo_places(count, blob.data, anchors, boxes, best.values, labels, places, best.room, threshold)
        best.sort(self.device)
        listed, _ = self.listed(best, boxes, self.classes)
        least = suppress.least_overlap(float(np.float32(self.p.nms_threshold)), self.dtype)
        survivors, stay = self.stay(best, listed, least)
        out = self.starts(stay)
        rows = kernels.struct("Rows", images=images, places=self.places, most=best.most, classes=self.classes)
        bound.yolo_rows(
            max(self.rows, images), best.best, listed, best.order, survivors, best.start, out, best.sums, labels, top.data,
            rows,
        )  # fmt: skip

    def finish(self, bottom: Sequence[Blob], top: Blob) -> int:
        """Gives the top its shape, a row for each image where there are no detections, and says how many there are."""
        top.reshape(1, 1, self.rows + 1, 7)
        count, more = self.read_numbers(top, 7 * self.rows, 2)
        while more:  # an image has more scores than were listed
            self.most *= 4
            self.list_scores()
            self.launch(bottom, top)
            count, more = self.read_numbers(top, 7 * self.rows, 2)
        top.reshape(1, 1, count or self.images, 7)
        return count
