"""Which boxes of a region proposal network become regions: Proposal's choice, as the host makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...data.boxes import best
from ...device import Device
from .rcnn import Boxes


def limits(train: bool) -> dict[str, Any]:
    """The settings of a choice that py-faster-rcnn's cfg holds, with its defaults."""
    return {
        "rpn_pre_nms_top_n": 12000 if train else 6000, "rpn_post_nms_top_n": 2000 if train else 300,
        "rpn_nms_thresh": 0.7, "rpn_min_size": 16,
    }  # fmt: skip


def least_above_0(limit: int, count: int) -> int:
    """The smaller of a limit, of which 0 and less are none, and a count."""
    return min(limit, count) if limit > 0 else count


def chosen(
    device: Device, kind: Boxes, boxes: np.ndarray, scores: np.ndarray, settings: Mapping[str, Any], scale: float
) -> np.ndarray:
    """The indices of the boxes (N, columns) that become regions, best first.

    Of those that are large enough in an image of that scale and have a score, the best; of these, unless `rpn_nms_thresh` is
    None, the first that overlap no better one too much.
    """
    large = np.flatnonzero(kind.large(boxes, settings["rpn_min_size"] * scale) & ~np.isnan(scores))
    before, after = int(settings["rpn_pre_nms_top_n"]), int(settings["rpn_post_nms_top_n"])
    order = large[best(scores[large], before if before > 0 else -1)]
    if settings["rpn_nms_thresh"] is None:
        return np.asarray(order)
    stay = kind.suppress(device, boxes[order], settings["rpn_nms_thresh"], after if after > 0 else -1)
    return np.asarray(order[stay])
