"""Proposals by kernels alone: boxes, their order and suppression are found on the device, and the host is told how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Layer
from . import choice
from .choice import RegionChoice
from .order import Order
from .rcnn import Boxes

kernels = Kernels(Path(__file__).with_name("proposal_choice.cu"), UNFUSED)
FILES = kernels, *choice.FILES


class ProposalChoice(RegionChoice):
    """The choice of regions from one map of scores, or from all levels of a feature pyramid at once.

    Parameters
    ----------
    layer
        The layer.
    settings
        Its settings, by the names of py-faster-rcnn; where `rpn_nms_thresh` is None nothing is suppressed, and with
        `whole_sides` upright boxes are measured and clipped as RPN's.
    boxes
        The kind of boxes.
    anchors
        (A, columns) of each level, around the first place.
    strides
        Of each level, the pixels from one place to the next.
    """

    def __init__(
        self,
        layer: Layer,
        settings: Mapping[str, Any],
        boxes: Boxes,
        anchors: Sequence[np.ndarray],
        strides: Sequence[float],
    ) -> None:
        limits = [settings[f"rpn_{name}_nms_top_n"] for name in ("pre", "post")]
        layer.need(
            np.isfinite(limits).all(), f"it takes so many boxes before and after suppression: {limits}; give numbers"
        )
        before, after = map(int, limits)
        super().__init__(layer, boxes.columns, before, after, settings["rpn_nms_thresh"])
        self.settings = settings
        self.anchors = [layer.device.table(each, np.float64) for each in anchors]
        self.strides = [float(stride) for stride in strides]

    def reshape(self, images: int, sizes: Sequence[tuple[int, int]], info: Sequence[int]) -> None:
        """Takes the sizes (height, width) of the levels and of im_info, and counts the rows that there can be."""
        counts = [len(anchors) * height * width for anchors, (height, width) in zip(self.anchors, sizes)]
        firsts = np.cumsum([0, *counts]).tolist()
        if not self.resize(images if info[0] else 0, firsts[-1]):
            return
        self.levels = [
            kernels.struct(
                "Places", anchors=len(anchors), height=height, width=width, info_rows=info[0], info_columns=info[1],
                first=first, items=self.items, stride=stride,
            )
            for anchors, (height, width), first, stride in zip(self.anchors, sizes, firsts, self.strides)
        ]  # fmt: skip
        self.counts = [images * count for count in counts]

    def launch(
        self, scores: Sequence[Blob], offsets: Sequence[Blob], info: Blob, regions: AnyArray, chances: AnyArray | None
    ) -> tuple[Order, AnyArray | None, AnyArray]:
        """Launches all, as `choose`, from the scores and offsets of each level."""

        def decode() -> None:
            bound = kernels.on(self.device)
            kernel = bound.proposal_boxes if self.columns == 4 else bound.proposal_rotated
            least: tuple[float, ...] = (float(self.settings["rpn_min_size"]),)
            if self.columns == 4:
                least += (int(self.settings.get("whole_sides", False)),)
            for count, score, by, anchors, places in zip(self.counts, scores, offsets, self.anchors, self.levels):
                arrays = score.data, by.data, info.data, anchors, self.boxes, self.best.values
                kernel(count, *arrays, places, self.best.room, *least)

        return self.choose(decode, regions, chances)
