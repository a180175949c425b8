"""DetectionOutput by kernels alone: candidates, suppression and rows are found on the device, and the host is told how many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ...device.kernel import StructValue
from ..core import Layer
from . import device_choice
from .device_choice import DeviceChoice
from .order import MOST_ROWS, Order, sortable

kernels = Kernels(Path(__file__).with_name("detection_device.cu"), UNFUSED)
FILES = kernels, *device_choice.FILES


class DeviceDetections(DeviceChoice):
    """The choice of a DetectionOutput layer on its device.

    Parameters
    ----------
    layer
        Its param is read once.
    coding
        How locations say boxes.
    """

    def __init__(self, layer: Layer, coding: StructValue) -> None:
        super().__init__(layer)
        self.coding = coding
        self.p: Any = layer.param.detection_output_param
        nms = self.p.nms_param
        self.top_k = nms.top_k if nms.HasField("top_k") else -1
        self.threshold = self.p.confidence_threshold if self.p.HasField("confidence_threshold") else -np.inf

    def reshape(self, batch: int, priors: int, corners: int) -> None:
        """Takes the sizes of the bottoms, and counts the rows that there can be."""
        p, labels = self.p, self.p.num_classes
        self.batch, self.priors, self.corners, self.rows = batch, priors, corners, 0
        self.groups, self.columns = batch * labels, 7 + corners
        foreground = labels - (0 <= p.background_label_id < labels)
        most = min(self.top_k, priors) if self.top_k >= 0 else priors
        rows = foreground * most if p.keep_top_k < 0 else min(p.keep_top_k, foreground * most)
        if sortable(self.groups, priors) and batch * rows <= MOST_ROWS:
            self.rows = batch * rows

    def launch(self, bottom: list[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be their number."""
        p, device, scratch = self.p, self.device, self.scratch
        dtype, labels = self.dtype, p.num_classes
        loc, conf, prior = (blob.data for blob in bottom[:3])
        objectness, first = (bottom[3].data, bottom[4].data) if len(bottom) == 5 else (None, None)
        variances = device.part(prior, 4 * self.priors, (4 * self.priors,))
        top.reshape(1, 1, self.rows + 1, self.columns)
        best = Order(scratch, self.groups, self.priors, self.top_k, dtype)
        heads = kernels.struct(
            "Heads", batch=self.batch, priors=self.priors, labels=labels, background=p.background_label_id,
            loc_labels=1 if p.share_location else labels, size=4 + self.corners, most=best.most, rows=self.rows,
            clip=int(p.clip),
        )  # fmt: skip
        bound, count = kernels.on(device), self.groups * best.most
        bound.detection_values(
            self.groups * self.priors,
            conf,
            objectness,
            best.values,
            heads,
            best.room,
            self.threshold,
            p.objectness_score,
        )
        best.sort(device)
        boxes = scratch("boxes", (count, 4), dtype)
        bound.detection_boxes(
            count, prior, variances, loc, first, best.order, best.start, boxes, heads, self.coding,
        )  # fmt: skip
        survivors, stay = self.stay(best, boxes, p.nms_param.nms_threshold, eta=p.nms_param.eta, above=True)
        out = self.taken(best, survivors, stay, labels, p.keep_top_k)
        bound.detection_rows(
            max(count, self.batch), best.best, boxes, best.order, survivors, best.start, out, top.data, loc, prior, variances,
            heads,
        )  # fmt: skip

    def finish(self, top: Blob) -> int:
        """Gives the top its shape, a row for each image where there are no detections, and says how many there are."""
        top.reshape(1, 1, self.rows + 1, self.columns)
        (count,) = self.read_numbers(top, self.rows * self.columns)
        top.reshape(1, 1, count or self.batch, self.columns)
        return count
