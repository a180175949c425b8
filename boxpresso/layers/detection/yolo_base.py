"""What the training losses of YOLO share: errors that are the gradient; of YOLOv2 and YOLOv3 shapes and true boxes, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer


class ErrorLoss(Layer):
    """A loss of bottom 0, whose gradient is `error`, of its shape, which forward makes, divided by the number of `images`.

    Bottom 1 is true boxes. A subclass's reshape sets `images`, and the shape of `error`.
    """

    kernels = Kernels("yolov3.cu")
    array_copies = 5
    images: int

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.error = Blob((), self.dtype, self.device)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "true boxes have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            self.kernels.yolo_backward(
                bottom[0].count, self.error.data, top[0].diff, bottom[0].diff, 1 / max(1, self.images)
            )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class YoloLoss(ErrorLoss):
    """A loss of a map (N, num * (5 + num_class), H, W) and true boxes (N, ..., 5).

    A subclass's setup gives `p`, its parameter message with `num` and `num_class`.
    """

    p: Any

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.images, channels, height, width = self.axes(bottom[0], 4)
        wanted = self.p.num * (5 + self.p.num_class)
        self.need(
            channels == wanted, f"bottom 0 must have {wanted} channels for {self.p.num} boxes, got {bottom[0].shape}"
        )
        labels = bottom[1]
        self.need(
            labels.shape[:1] == (self.images,) and labels.count % (5 * max(1, self.images)) == 0,
            f"bottom 1, the true boxes, must be ({self.images}, ..., 5), got {labels.shape}",
        )
        self.cells = np.array([width, height])
        self.error.reshape(*bottom[0].shape)
        top[0].reshape()

    def truths(self, labels: Blob) -> Iterator[np.ndarray]:
        """The true boxes (T, 5) of each image: those before the first whose width is 0."""
        for rows in np.asarray(labels.data).reshape(self.images, -1, 5) if self.images else ():
            end = np.flatnonzero(rows[:, 3] == 0)
            yield rows[: end[0]] if len(end) else rows
