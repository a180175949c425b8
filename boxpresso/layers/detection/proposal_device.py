"""Proposals by kernels alone: boxes, their order and suppression are found on the device, and the host is told how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Layer, doubt
from . import order, suppress
from .order import MOST_ROWS, Order, Scratch, sortable, starts_of
from .rcnn import Boxes

kernels = Kernels(Path(__file__).with_name("proposal_device.cu"), UNFUSED)
FILES = kernels, order.kernels, suppress.kernels, doubt.kernels


class DeviceProposals:
    """The choice of regions on a layer's device: from one map of scores, or from all levels of a feature pyramid at once.

    Parameters
    ----------
    layer
        The layer.
    settings
        Its settings, by the names of py-faster-rcnn; where `rpn_nms_thresh` is None nothing is suppressed.
    boxes
        The kind of boxes.
    anchors
        (A, columns) of each level, around the first place.
    strides
        Of each level, the pixels from one place to the next.

    Attributes
    ----------
    rows
        At most so many there can be; 0 where the host has to look: there is nothing to find, or more than kernels can count.
    count
        (1,), how many there are, for kernels that follow `launch`.
    """

    rows = 0
    count: AnyArray

    def __init__(
        self,
        layer: Layer,
        settings: Mapping[str, Any],
        boxes: Boxes,
        anchors: Sequence[np.ndarray],
        strides: Sequence[float],
    ) -> None:
        self.layer, self.device, self.settings, self.columns = layer, layer.device, settings, boxes.columns
        self.anchors = [layer.device.table(each, np.float64) for each in anchors]
        self.strides = [float(stride) for stride in strides]
        self.before, self.after = (int(settings[f"rpn_{name}_nms_top_n"]) for name in ("pre", "post"))
        self.scratch = Scratch(layer.device)

    def reshape(self, images: int, sizes: Sequence[tuple[int, int]], info: Sequence[int]) -> None:
        """Takes the sizes (height, width) of the levels and of im_info, and counts the rows that there can be."""
        counts = [len(anchors) * height * width for anchors, (height, width) in zip(self.anchors, sizes)]
        firsts = np.cumsum([0, *counts]).tolist()
        self.images, self.items, self.rows = images, firsts[-1], 0
        if not sortable(images, self.items):
            return
        self.levels = [
            kernels.struct(
                "Places", anchors=len(anchors), height=height, width=width, info_rows=info[0], info_columns=info[1],
                first=first, items=self.items, stride=stride,
            )
            for anchors, (height, width), first, stride in zip(self.anchors, sizes, firsts, self.strides)
        ]  # fmt: skip
        self.counts = [images * count for count in counts]
        self.most = min(self.before, self.items) if self.before > 0 else self.items
        self.each = min(self.after, self.most) if self.after > 0 else self.most
        if info[0] and images * self.each <= MOST_ROWS:
            self.rows = images * self.each

    def launch(
        self, scores: Sequence[Blob], offsets: Sequence[Blob], info: Blob, regions: AnyArray, chances: AnyArray | None
    ) -> None:
        """Launches all.

        Parameters
        ----------
        scores, offsets
            Of each level.
        regions
            (rows + 1, 1 + columns), gets the rows, and behind `rows` of them their number.
        chances
            (rows, 1), gets their scores; or None.
        """
        device, scratch, s, dtype, columns = self.device, self.scratch, self.settings, self.layer.dtype, self.columns
        best = Order(scratch, self.images, self.items, self.most, dtype)
        listed_count = self.images * best.most
        boxes = scratch("boxes", (self.images * self.items, columns), dtype)
        listed, thresh = scratch("listed", (listed_count, columns), dtype), s["rpn_nms_thresh"]
        turned = scratch("turned", (listed_count, columns), dtype) if columns == 5 else None
        bound = kernels.on(device)
        decode = bound.proposal_boxes if columns == 4 else bound.proposal_rotated
        for count, score, by, anchors, places in zip(self.counts, scores, offsets, self.anchors, self.levels):
            decode(
                count, score.data, by.data, info.data, anchors, boxes, best.values, places, best.room,
                float(s["rpn_min_size"]),
            )  # fmt: skip
        best.sort(device)
        bound.proposal_listed(
            listed_count, boxes, best.order, best.start, listed, turned, self.items, best.most, columns
        )
        kept, out = None, best.start
        if thresh is not None:
            kept, stay = scratch("kept", (listed_count,)), scratch("stay", (self.images,))
            out = scratch("out", (self.images + 1,))
            self.suppress(listed if turned is None else turned, best, kept, stay, thresh)
            starts_of(device, stay, out)
        self.count = device.part(out, self.images, (1,))
        bound.proposal_rows(
            self.rows, listed, best.best, kept, best.start, out, regions, chances, self.each, self.images, columns
        )

    def suppress(self, boxes: AnyArray, best: Order, kept: AnyArray, stay: AnyArray, thresh: float) -> None:
        """Launches what finds those of the listed boxes that stay."""
        device, scratch, words = self.device, self.scratch, suppress.KEPT_WORDS
        if self.columns == 4:
            least = suppress.least_overlap(thresh, self.layer.dtype)
            suppress.launch_upright(
                device, boxes, best.start, kept, stay, least, self.each, best.most, scratch, words, last=1
            )
        else:
            suppress.launch_rotated(
                device, boxes, best.start, kept, stay, float(thresh), self.each, best.most, scratch, words
            )
