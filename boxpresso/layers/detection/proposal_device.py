"""Proposal by kernels alone: boxes, their order and suppression are found on the device, and the host is told how many."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer, doubt
from . import order, suppress
from .order import MOST_ROWS, Order, Scratch, sortable, starts_of, told

kernels = Kernels(Path(__file__).with_name("proposal_device.cu"), UNFUSED)
FILES = kernels, order.kernels, suppress.kernels, doubt.kernels


class DeviceProposals:
    """The choice of a Proposal layer of upright boxes on its device.

    Parameters
    ----------
    layer
        The layer.
    settings
        Its settings, by the names of py-faster-rcnn.
    anchors
        (A, 4), around the first place.

    Attributes
    ----------
    rows
        At most so many there can be; 0 where the host has to look: there is nothing to find, or more than kernels can count.
    """

    rows = 0

    def __init__(self, layer: Layer, settings: Mapping[str, Any], anchors: np.ndarray) -> None:
        self.layer, self.device, self.settings = layer, layer.device, settings
        self.anchors = layer.device.table(anchors, np.float64)
        self.before, self.after = (int(settings[f"rpn_{name}_nms_top_n"]) for name in ("pre", "post"))
        self.scratch = Scratch(layer.device)

    def reshape(self, images: int, height: int, width: int, info: tuple[int, ...]) -> None:
        """Takes the sizes of the bottoms, and counts the rows that there can be."""
        self.images, self.items, self.rows = images, len(self.anchors) * height * width, 0
        self.places = kernels.struct(
            "Places", anchors=len(self.anchors), height=height, width=width, info_rows=info[0], info_columns=info[1],
            stride=float(self.settings["feat_stride"]),
        )  # fmt: skip
        self.most = min(self.before, self.items) if self.before > 0 else self.items
        self.each = min(self.after, self.most) if self.after > 0 else self.most
        if sortable(images, self.items) and info[0] and images * self.each <= MOST_ROWS:
            self.rows = images * self.each

    def launch(self, bottom: list[Blob], top: list[Blob], trailing: tuple[int, ...]) -> None:
        """Launches all. The tops have their rows then, and the first behind the last that there can be their number."""
        device, scratch, s, dtype = self.device, self.scratch, self.settings, self.layer.dtype
        self.shape(top, self.rows + 1, trailing)
        best = Order(scratch, self.images, self.items, self.most, dtype)
        boxes = scratch("boxes", (self.images * self.items, 4), dtype)
        listed, kept = (
            scratch("listed", (self.images * best.most, 4), dtype),
            scratch("kept", (self.images * best.most,)),
        )
        stay, out = scratch("stay", (self.images,)), scratch("out", (self.images + 1,))
        scores, offsets, info = (blob.data for blob in bottom)
        bound = kernels.on(device)
        bound.proposal_boxes(
            self.images * self.items, scores, offsets, info, self.anchors, boxes, best.values, self.places, best.room,
            float(s["rpn_min_size"]),
        )  # fmt: skip
        best.sort(device)
        bound.proposal_listed(self.images * best.most, boxes, best.order, best.start, listed, self.items, best.most)
        suppress.launch_upright(
            device, listed, best.start, kept, stay, suppress.least_overlap(s["rpn_nms_thresh"], dtype), self.each, best.most,
            scratch, suppress.KEPT_WORDS, last=1,
        )  # fmt: skip
        starts_of(device, stay, out)
        second = top[1].data if len(top) > 1 else None
        bound.proposal_rows(
            self.rows, listed, best.best, kept, best.start, out, top[0].data, second, self.each, self.images
        )

    def finish(self, top: list[Blob], trailing: tuple[int, ...]) -> int:
        """Gives the tops their shapes, and says how many rows there are."""
        self.shape(top[:1], self.rows + 1, trailing)
        count = told(top[0].data, 5 * self.rows)
        self.shape(top, count, trailing)
        return count

    def shape(self, top: list[Blob], rows: int, trailing: tuple[int, ...]) -> None:
        """Gives the tops so many rows."""
        for blob, columns in zip(top, (5, 1)):
            blob.reshape(rows, columns, *trailing)
