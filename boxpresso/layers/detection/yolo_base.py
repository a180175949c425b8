"""What the training losses of YOLOv2 and YOLOv3 share: their shapes, and the true boxes of an image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...device import Blob
from ..core import Layer


class YoloLoss(Layer):
    """A loss of a map (N, num * (5 + num_class), H, W) and true boxes (N, ..., 5).

    A subclass's setup gives `p`, its parameter message with `num` and `num_class`, and `error`, a blob.
    """

    p: Any
    error: Blob

    array_copies = 5

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
