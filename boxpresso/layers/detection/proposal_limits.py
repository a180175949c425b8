"""How many boxes of a region proposal network become regions: the settings of that choice, with py-faster-rcnn's defaults."""

from __future__ import annotations

from typing import Any


def limits(train: bool) -> dict[str, Any]:
    """The settings of a choice that py-faster-rcnn's cfg holds, with its defaults."""
    return {
        "rpn_pre_nms_top_n": 12000 if train else 6000, "rpn_post_nms_top_n": 2000 if train else 300,
        "rpn_nms_thresh": 0.7, "rpn_min_size": 16,
    }  # fmt: skip
