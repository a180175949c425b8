"""RPN: the regions of Faster R-CNN's programs in C++, whose test nets have no Python layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ..core import Trait
from .anchors import away, choose_anchors
from .plain_proposal import PlainProposal
from .rcnn import Upright


class RPN(
    PlainProposal, type="RPN", param="rpn_param", bottoms=3, tops=(1, 2), traits=Trait.PROPOSES | Trait.IMAGE_INFO
):
    """Regions of one image from the output of a region proposal network, by the RPN layer of programs in C++.

    As `Proposal` has it: the anchors at each place are moved by the offsets, the best are taken, and those that overlap no
    better one by `nms_thresh` or more. There are three differences:

    - the sides that have to be at least `boxminsize` * scale are measured before the region is clipped, as x2 - x1;
    - a region is clipped to 0 and to the image's width and height, not to its last pixels;
    - anchors are cut to whole numbers.

    Among equal scores the first place, then the first anchor, wins. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), scores of A anchors at each place: first all backgrounds, then all objects.
    bottom 1
        (1, 4 A, H, W), offsets.
    bottom 2
        (1, 3 or more), im_info: height, width and scale of the net's input.
    rpn_param
        `feat_stride`: pixels per place; `basesize`: of the first anchor; `scale`, `ratio`: lists. They must be given.
        `boxminsize` (0); `per_nms_topn` (0) and `post_nms_topn` (0): 0 takes all; `nms_thresh` (0).

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax, in pixels of the net's input. R may be 0.
    top 1
        (R, 1, 1, 1), their scores.

    Raises
    ------
    LayerError
        A feat_stride, basesize, scale or ratio that is missing or 0, bottoms of the wrong shape, more than one image.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN); zhanglaplace/faster-rcnn-cplusplus2, whose layer others have taken over.

    Examples
    --------
    One anchor of 16 x 16 pixels at two places, with offsets of 0:

    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "RPN" rpn_param { feat_stride: 16 basesize: 16 scale: 1 ratio: 1 boxminsize: 16 nms_thresh: 0.7 }'''
    >>> scores, offsets = [[[[0.5, 0.25]], [[0.5, 0.75]]]], [[[[0, 0]]] * 4]
    >>> run_layer(text, scores, offsets, [[16, 32, 1]]).reshape(-1, 5).tolist()
    [[0.0, 16.0, 0.0, 32.0, 16.0], [0.0, 0.0, 0.0, 16.0, 16.0]]
    """

    list_shapes = (-1, 5, 1, 1), (-1, 1, 1, 1)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.rpn_param
        for name in ("feat_stride", "basesize"):
            self.need(getattr(p, name) > 0, f"rpn_param: {name} must be above 0, got {getattr(p, name)}")
        for name in ("scale", "ratio"):
            values = list(getattr(p, name))
            self.need(
                values and all(0 < each < np.inf for each in values),
                f"rpn_param: {name} must be numbers above 0, got {values}",
            )
        settings = {"base_size": p.basesize, "scales": list(p.scale), "ratios": list(p.ratio), "angles": (0,)}
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        self.anchors = np.trunc(choose_anchors(self, Upright, settings, channels, ("scales", "ratios"), away))
        self.stride = p.feat_stride
        self.limits = {
            "rpn_pre_nms_top_n": p.per_nms_topn, "rpn_post_nms_top_n": p.post_nms_topn, "rpn_nms_thresh": p.nms_thresh,
            "rpn_min_size": p.boxminsize, "whole_sides": True,
        }  # fmt: skip

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob, few in zip(top, (5, 1)):
            blob.reshape(rows, few, 1, 1)
