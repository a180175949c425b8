"""DetectionOutput's choice by kernels: candidates, suppression and rows; the host is told how many there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ...device.kernel import StructValue
from ..core import Layer
from . import choice
from .choice import Choice
from .order import Order

kernels = Kernels(Path(__file__).with_name("detection_choice.cu"), UNFUSED)
lists = Kernels(Path(__file__).with_name("detection_lists.cpp"))
FILES = kernels, lists, *choice.FILES


class DetectionChoice(Choice):
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

    def reshape(self, batch: int, priors: int, corners: int, states: int = 0) -> None:
        """Takes the sizes of the bottoms, and counts the rows that there can be. states: of a box, which bottom 3 holds."""
        p, labels = self.p, self.p.num_classes
        self.batch, self.priors, self.corners, self.states = batch, priors, corners, states
        self.groups, self.columns = batch * labels, 7 + corners + states
        foreground = labels - (0 <= p.background_label_id < labels)
        most = min(self.top_k, priors) if self.top_k >= 0 else priors
        rows = foreground * most if p.keep_top_k < 0 else min(p.keep_top_k, foreground * most)
        self.count_rows(self.groups, priors, batch * rows)
        if not self.rows:
            return
        self.best = Order(self.scratch, self.groups, priors, self.top_k, self.dtype)
        self.boxes = self.scratch("boxes", (self.groups * self.best.most, 4), self.dtype)
        self.reserve(self.best, 4, self.dtype, p.nms_param.eta)
        self.heads = kernels.struct(
            "Heads", batch=batch, priors=priors, labels=labels, background=p.background_label_id,
            loc_labels=1 if p.share_location else labels, size=4 + corners, most=self.best.most, rows=self.rows,
            clip=int(p.clip), states=states,
        )  # fmt: skip

    def launch(self, bottom: list[Blob], top: Blob) -> None:
        """Launches all. The top has its rows then, and behind the last that there can be their number."""
        p, device, best, boxes, heads = self.p, self.device, self.best, self.boxes, self.heads
        labels = p.num_classes
        loc, conf, prior = (blob.data for blob in bottom[:3])
        objectness, first = (bottom[3].data, bottom[4].data) if len(bottom) == 5 else (None, None)
        variances = device.part(prior, 4 * self.priors, (4 * self.priors,))
        top.reshape(1, 1, self.rows + 1, self.columns)
        bound, count = kernels.on(device), self.groups * best.most
        if best.in_tiles:
            bound.detection_values(
                self.groups * self.priors, conf, objectness, best.values, heads, best.room, self.threshold,
                p.objectness_score,
            )  # fmt: skip
        else:
            lists.on(device).detection_lists(
                self.batch, conf, objectness, best.values, best.at, best.sizes, self.priors, labels, p.background_label_id,
                self.threshold, p.objectness_score,
            )  # fmt: skip
        best.sort(device, listed=not best.in_tiles)
        bound.detection_boxes(
            count, prior, variances, loc, first, best.order, best.start, boxes, heads, self.coding,
        )  # fmt: skip
        survivors, stay = self.stay(best, boxes, p.nms_param.nms_threshold, eta=p.nms_param.eta, above=True)
        out = self.taken(best, survivors, stay, labels, p.keep_top_k)
        bound.detection_rows(
            max(count, self.batch), best.best, boxes, best.order, survivors, best.start, out, top.data, loc, prior,
            bottom[3].data if self.states else None, heads,
        )  # fmt: skip

    def finish(self, top: Blob) -> int:
        """Gives the top its shape, a row for each image where there are no detections, and says how many there are."""
        top.reshape(1, 1, self.rows + 1, self.columns)
        (count,) = self.read_numbers(top, self.rows * self.columns)
        top.reshape(1, 1, count or self.batch, self.columns)
        return count
