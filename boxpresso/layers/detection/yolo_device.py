"""YOLO's detections by kernels alone: boxes, order and suppression are found on the device; the host is told how many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Layer
from . import device_choice, suppress
from .device_choice import DeviceChoice
from .order import MOST_ROWS, ON_DEVICE, Order, sortable

MOST_LISTED = 2**14  # scores of an image, at most; with more the host chooses

kernels = Kernels(Path(__file__).with_name("yolo_device.cu"), UNFUSED)
FILES = kernels, *device_choice.FILES


class DeviceYolo(DeviceChoice):
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
        self.images, self.places, self.rows = images, sum(counts), 0
        self.maps = [
            kernels.struct(
                "Map", boxes=p.num_box, classes=p.num_classes, height=height, width=width, first=sum(counts[:i]),
                places=self.places, exclusive=int(self.exclusive), scale=float(self.scales[i]),
            )
            for i, (_, _, height, width) in enumerate(shapes)
        ]  # fmt: skip
        self.counts = [images * count for count in counts]
        self.most = min(self.places * self.classes, MOST_LISTED)
        if ON_DEVICE[self.device.kind] and sortable(images, self.places * self.classes):
            self.rows = images * self.most if 7 * images * self.most < MOST_ROWS else 0

    def decode(
        self, bottom: Sequence[Blob], boxes: AnyArray, values: AnyArray, labels: AnyArray | None, room: int
    ) -> None:
        """Launches what finds the boxes and scores of all places."""
        bound, threshold = kernels.on(self.device), float(np.float32(self.p.confidence_threshold))
        for count, blob, anchors, places in zip(self.counts, bottom, self.anchors, self.maps):
            bound.yolo_places(count, blob.data, anchors, boxes, values, labels, places, room, threshold)

    def decoded(self, bottom: Sequence[Blob]) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Boxes (images, places, 4), scores (images, places * classes), NaN where they are no detections, and labels (images,
        places), or none where each class has its scores."""
        device, items = self.device, self.places * self.classes
        boxes = device.empty((self.images, self.places, 4), self.dtype)
        values = device.empty((self.images, items), self.dtype)
        labels = device.empty((self.images, self.places if self.exclusive else 0), np.int32)
        self.decode(bottom, boxes, values, labels if self.exclusive else None, items)
        return boxes, values, labels

    def launch(self, bottom: Sequence[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be what `finish` reads."""
        scratch, images = self.scratch, self.images
        top.reshape(1, 1, self.rows + 1, 7)
        best = Order(scratch, images, self.places * self.classes, self.most, self.dtype, counted=True)
        boxes = scratch("boxes", (images * self.places, 4), self.dtype)
        labels = scratch("labels", (images, self.places)) if self.exclusive else None
        self.decode(bottom, boxes, best.values, labels, best.room)
        best.sort(self.device)
        listed, _ = self.listed(best, boxes, self.classes)
        least = suppress.least_overlap(float(np.float32(self.p.nms_threshold)), self.dtype)
        survivors, stay = self.stay(best, listed, least)
        out = self.starts(stay)
        rows = kernels.struct("Rows", images=images, places=self.places, most=best.most, classes=self.classes)
        kernels.on(self.device).yolo_rows(
            max(self.rows, images), best.best, listed, best.order, survivors, best.start, out, best.sums, labels, top.data,
            rows,
        )  # fmt: skip

    def finish(self, top: Blob) -> int | None:
        """Gives the top its shape, a row for each image where there are no detections, and says how many there are.

        Returns None where an image has more scores than were listed.
        """
        top.reshape(1, 1, self.rows + 1, 7)
        count, more = self.read_numbers(top, 7 * self.rows, 2)
        top.reshape(1, 1, count or self.images, 7)
        return None if more else count
