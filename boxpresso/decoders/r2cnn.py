"""R2CNN: regions with a rotated box of text each, given by the two upper corners and the height."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..data.inputs import Numpy
from ..device.functions import arctan2, exp, length
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import Settings, picture_input
from .detections import Detections
from .rcnn import OVERLAP, FasterRcnn


class R2cnn(FasterRcnn):
    """Faster R-CNN with an output inclined_rect_pred (R, 5 C): of each class the offsets of the first two corners from the
    centre of the region, as parts of its sides, and the logarithm of the height over the region's.

    The other two corners lie below them, at right angles. Rotated boxes suppress each other.

    Source
    ------
    Jiang et al. 2017; beacandler/R2CNN.
    """

    NAME = "r2cnn"
    TITLE = "R2CNN: Faster R-CNN with an output inclined_rect_pred, rotated boxes of text"
    NAMES = {1: "text"}

    @staticmethod
    def blobs_of(net: Net) -> dict[str, str | None]:
        blobs = FasterRcnn.blobs_of(net)
        blobs.pop("an output bbox_pred")
        info = blobs.pop("an input im_info")
        offsets = next((name for name in net.outputs if "inclined_rect_pred" in name), None)
        return {**blobs, "an output inclined_rect_pred": offsets, "an input im_info": info}

    @property
    def names(self) -> Mapping[int, str]:
        return self.NAMES if self.classes == 2 else {}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        regions, scores, offsets = (values[name].astype(np.float64) for name in self.blobs)
        if not len(regions):
            return Detections.none(self.names, angles=np.zeros(0), quadrilaterals=np.zeros((0, 4, 2)))
        scores = scores.reshape(len(regions), -1)
        classes = scores.shape[1]
        offsets = offsets.reshape(len(regions), -1, 5)
        if offsets.shape[1] not in (classes, 2):
            raise ModelError(
                f"{self.offsets!r} has offsets of {offsets.shape[1]} classes, {self.scores!r} scores of {classes}; they must "
                "be of the same, or the offsets of 2 (background and object)"
            )
        _, _, height, width = self.net.blobs[picture_input(self.net, others=[self.info])[0]].shape
        across = np.tile(self.fit(shape[1], shape[0], (width, height))[1], 2)
        label, row = np.nonzero(((scores >= np.float32(settings.threshold)) & (np.arange(classes) > 0)).T)
        order = np.lexsort((-scores[row, label], label))
        label, row = label[order], row[order]
        quads = corners(regions[row, 1:5] / across, offsets[row, label if offsets.shape[1] == classes else 1])
        finite = np.isfinite(quads).all((1, 2))
        label, row, quads = label[finite], row[finite], quads[finite]
        side = quads[:, 1] - quads[:, 0]
        angle = np.degrees(arctan2(-side[:, 1], side[:, 0]))
        size = length(quads[:, [1, 3]] - quads[:, :1])
        flat = np.concatenate([quads.mean(1), size, np.radians(-angle)[:, None]], 1)
        starts = np.searchsorted(label, np.arange(classes + 1))
        overlap = OVERLAP if settings.overlap is None else settings.overlap
        stay = suppress_boxes(self.net.device, flat, overlap, starts=starts)
        quads = np.clip(quads[stay], 0, np.array([shape[1] - 1, shape[0] - 1]))
        boxes = np.concatenate([quads.min(1), quads.max(1)], 1) if len(quads) else np.zeros((0, 4))
        return Detections(
            boxes, scores[row[stay], label[stay]], label[stay], self.names, angles=angle[stay], quadrilaterals=quads
        )


def corners(regions: Numpy, offsets: Numpy) -> Numpy:
    """(N, 4, 2): the corners, clockwise from the first, of offsets (N, 5) from regions (N, 4)."""
    size = regions[:, 2:] - regions[:, :2] + 1
    centre = regions[:, :2] + 0.5 * size
    first, second = (offsets[:, at : at + 2] * size + centre for at in (0, 2))
    side = second - first
    along = length(side)[:, None]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        down = np.stack([-side[:, 1], side[:, 0]], 1) / along * exp(offsets[:, 4:]) * size[:, 1:]
    return np.stack([first, second, second + down, first + down], 1)
