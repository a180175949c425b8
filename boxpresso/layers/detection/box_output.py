"""BoxOutput: regions from the maps of MS-CNN's proposal network."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ...device.functions import log
from ..core import Trait
from ..core.param_str import NUMBERS, kind_of, settings
from . import fields
from .field_regions import FieldRegions


class BoxOutput(
    FieldRegions,
    type="BoxOutput",
    param=("box_output_param", "bbox_reg_param", "python_param"),
    bottoms=(1, None),
    tops=(1, 2),
    traits=Trait.PROPOSES,
):
    """Regions from the maps of a multi-scale proposal network, one bottom for each field.

    The score of a place is the best of its classes minus that of the background. It counts from `fg_thr` on. Its box is
    the field moved by the offsets, the centre by at most 1 / `field_xyr` of the field, the size at most `field_whr`
    times; cut at the map's pixels, it counts when both its sides have `min_size` or more. Of an image's boxes the
    `max_nms_num` best are taken, and of these the first `max_post_nms_num` that overlap no better one by `iou_thr` or
    more. For both numbers 0 means all. There is no gradient.

    Parameters
    ----------
    bottom 0, 1, ...
        (N, C + 4, H, W): scores, the background's first, then offsets.
    box_output_param
        `fg_thr` (0), `iou_thr` (0.5), `nms_type` ("IOU", the only one); `field_w`, `field_h` and `downsample_rate`, one
        each for every bottom; `field_whr` (2), `field_xyr` (2), `max_nms_num` (0), `max_post_nms_num` (0), `min_size`
        (15).
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0) and `bbox_std` (1, 1, 1, 1) of the offsets.
    python_param
        `param_str` holds the settings of `box_output_param` by name, each of which goes before its field.

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax, the last two first corner plus size. R may be 0.
    top 1
        Optional. (R, 6, 1, 1), the same and the score.

    Raises
    ------
    LayerError
        For another `nms_type`; lists that have not one number for each bottom; bounds that make no sense; a `bbox_mean`
        or `bbox_std` that is not four numbers; bottoms without five channels, or of different numbers of images.

    Source
    ------
    Cai et al. 2016 (MS-CNN) and its Caffe. It suppresses above the threshold, and without any region its output is a
    region of its own, (1, 1, 10, 10); here the tops are then empty.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "BoxOutput" box_output_param { field_w: 20 field_h: 20 downsample_rate: 32 }'
    >>> regions, scored = run_layer(text, [[[[0.25]], [[0.75]], [[0]], [[0]], [[0]], [[0]]]], tops=2)
    >>> scored[:, :, 0, 0].tolist()
    [[0.0, 6.0, 6.0, 26.0, 26.0, 0.5]]
    """

    pixels = False

    array_copies = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.box_output_param
        names = (
            "fg_thr",
            "iou_thr",
            "nms_type",
            "field_whr",
            "field_xyr",
            "max_nms_num",
            "max_post_nms_num",
            "min_size",
        )
        lists = ("field_w", "field_h", "downsample_rate")
        defaults = {name: getattr(p, name) for name in names} | {name: list(getattr(p, name)) for name in lists}
        s = self.settings = settings(self, defaults)
        self.need(s["nms_type"] == "IOU", f"nms_type must be IOU here, got {s['nms_type']!r}")
        for name in lists:
            self.need(
                kind_of(s[name]) == NUMBERS
                and len(s[name]) == len(bottom)
                and 0 < min(s[name]) <= max(s[name]) < np.inf,
                f"{name} must be one number above 0 for each of {len(bottom)} bottoms, got {s[name]!r}",
            )
        limits = s["max_nms_num"], s["max_post_nms_num"]
        self.need(np.isfinite(limits).all(), f"max_nms_num and max_post_nms_num must be finite, got {limits}")
        self.need(s["field_whr"] > 1 and s["field_xyr"] > 0, "field_whr must be above 1 and field_xyr above 0")
        self.restored = fields.Deviation(self)
        self.deviation = self.restored.mean, self.restored.std
        self.groups = [(np.array([[w], [h]]), rate) for w, h, rate in zip(*(s[name] for name in lists))]
        self.limits, self.threshold = (int(s["max_nms_num"]), int(s["max_post_nms_num"])), s["iou_thr"]
        self.bounds, self.least = (1 / s["field_xyr"], float(log(s["field_whr"]))), (s["fg_thr"], s["min_size"])

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for i, blob in enumerate(bottom):
            self.axes(blob, 4, f"bottom {i}")
            self.need(blob.shape[1] > 5, f"bottom {i} must have scores of two classes and 4 offsets, got {blob.shape}")
        images = {blob.shape[0] for blob in bottom}
        self.need(len(images) == 1, f"all bottoms must have the same images, got {sorted(images)}")
        self.images = images.pop()
        self.ready(bottom, top)
