"""BoxGroupOutput: regions from the feature maps of a multi-scale proposal network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ...device.functions import log
from ..core import Trait
from .field_regions import FieldRegions


class BoxGroupOutput(
    FieldRegions,
    type="BoxGroupOutput",
    param=("box_group_output_param", "bbox_reg_param"),
    bottoms=(2, None),
    tops=(1, 2),
    traits=Trait.PROPOSES,
):
    """Regions from the feature maps of a multi-scale proposal network.

    There are two bottoms for each group of fields (`box_group_param`). At each place of a map, a field lies around
    ((x + 0.5) stride, (y + 0.5) stride). The offsets are offset * std + mean. The centre of the field moves by
    offset * field, at most by 1 / `field_xyr` of it. The size grows by exp(offset), at most `field_whr` times.

    A box counts when 1 - background is at least `fg_thr` and when, clipped to the map's pixels, both its sides have
    `min_size` pixels or more. Of these the `max_nms_num` best of an image are taken; and of these the first
    `max_post_nms_num` that overlap no better one by `iou_thr` or more. For both numbers 0 means all.
    There is no gradient.

    Parameters
    ----------
    bottom 0, 2, ...
        (N G, C, H, W), probabilities of the G fields of one group; channel 0 is the background's.
    bottom 1, 3, ...
        (N G, 4, H, W), offsets.
    box_group_output_param
        `fg_thr` (0), `iou_thr` (0.5), `nms_type` ("IOU", the only one), `field_whr` (2), `field_xyr` (2),
        `max_nms_num` (0), `max_post_nms_num` (0), `min_size` (15), and one `box_group_param` for each group:
        `field_w` and `field_h`, one each for every field, and `stride`, in pixels per place.
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0) and `bbox_std` (1, 1, 1, 1) of the offsets.

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax. R may be 0.
    top 1
        (R, 6, 1, 1), the same and the score.

    Raises
    ------
    LayerError
        For another `nms_type`; an odd number of bottoms; a number of `box_group_param` that does not fit the bottoms;
        a group with different numbers of `field_w` and `field_h`, or without them or a `stride`; a `field_whr` of 1
        or less or a `field_xyr` of 0 or less; a `bbox_mean` or `bbox_std` that is not four numbers; offsets of the
        wrong shape, or groups with different numbers of images.

    Source
    ------
    Cascade R-CNN's Caffe. It differs in two points: it suppresses above the threshold, and without any region its
    output is a region of its own, (1, 1, 10, 10); here the tops are then empty.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "BoxGroupOutput"
    ... box_group_output_param { box_group_param { field_w: 20 field_h: 20 stride: 32 } }'''
    >>> regions, scored = run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0]]] * 4], tops=2)
    >>> scored[:, :, 0, 0].tolist()
    [[0.0, 6.0, 6.0, 25.0, 25.0, 0.75]]
    """

    list_shapes = (-1, 5, 1, 1), (-1, 6, 1, 1)
    pixels = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p, regression = self.param.box_group_output_param, self.param.bbox_reg_param
        self.need(p.nms_type == "IOU", f"nms_type must be IOU here, got {p.nms_type!r}")
        self.need(len(bottom) % 2 == 0, f"takes two bottoms for each group, got {len(bottom)}")
        groups = len(p.box_group_param)
        self.need(
            groups == len(bottom) // 2, f"{len(bottom)} bottoms need {len(bottom) // 2} box_group_param, got {groups}"
        )
        for group in p.box_group_param:
            count = len(group.field_w)
            self.need(
                count > 0 and count == len(group.field_h), "each box_group_param needs as many field_w as field_h"
            )
            self.need(group.stride > 0, "each box_group_param needs a stride")
        self.need(p.field_whr > 1 and p.field_xyr > 0, "field_whr must be above 1 and field_xyr above 0")
        self.mean, self.std = np.zeros(4), np.ones(4)
        if regression.bbox_mean and regression.bbox_std:
            both = list(regression.bbox_mean), list(regression.bbox_std)
            self.need(
                len(both[0]) == len(both[1]) == 4, f"bbox_mean and bbox_std must be four numbers each, got {both}"
            )
            self.mean, self.std = map(np.array, both)
        self.deviation = self.mean, self.std
        self.groups = [(np.array([group.field_w, group.field_h]), group.stride) for group in p.box_group_param]
        self.limits, self.threshold, self.least = (p.max_nms_num, p.max_post_nms_num), p.iou_thr, (p.fg_thr, p.min_size)
        self.bounds = 1 / p.field_xyr, float(log(p.field_whr))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images = set()
        for group, scores, offsets in zip(self.param.box_group_output_param.box_group_param, bottom[::2], bottom[1::2]):
            rows, channels, height, width = self.axes(scores, 4, "the probabilities")
            self.need(channels > 0, f"the probabilities have no channel, their shape is {scores.shape}")
            self.need(
                offsets.shape == (rows, 4, height, width),
                f"offsets must be {(rows, 4, height, width)}, got {offsets.shape}",
            )
            self.need(rows % len(group.field_w) == 0, f"{rows} rows are no multiple of {len(group.field_w)} fields")
            images.add(rows // len(group.field_w))
        self.need(len(images) == 1, f"all groups must have the same images, got {sorted(images)}")
        self.images = images.pop()
        self.ready(bottom, top)

    def maps(self, bottom: Sequence[Blob]) -> tuple[Sequence[Blob], Sequence[Blob]]:
        return bottom[::2], bottom[1::2]
