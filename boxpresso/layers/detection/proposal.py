"""Proposal, FrcnnProposal, RotateProposal: from the output of a region proposal network to regions of interest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import Blob, Kernels
from ..core import Trait
from ..core.doubt import warn_of_nan
from ..core.param_str import given_names, settings
from . import proposal_choice, suppress
from .anchors import away, choose_anchors
from .choosing import ChoosingBy
from .proposal_choice import ProposalChoice
from .proposal_limits import limits
from .rcnn import Boxes, Rotated, Upright

OTHERS = (  # proposal_param of programs whose Proposal is another
    "stride", "im_min_w", "im_min_h", "top_num", "nms_num", "anchor_num", "anchor_base_size", "anchor_scale",
    "anchor_ratio", "max_rois", "base_h", "base_w", "feat_stride_h", "feat_stride_w", "pvanet_mode", "enable_softmax",
    "nproposal_mode", "im_h", "im_w", "nms_scale",
)  # fmt: skip


class Proposal(
    ChoosingBy[ProposalChoice],
    type="Proposal",
    param=("proposal_param", "python_param"),
    bottoms=3,
    tops=(1, 2),
    traits=Trait.PROPOSES | Trait.IMAGE_INFO,
):
    """Regions of interest from the output of a region proposal network: scores, box offsets, suppression.

    The anchors at each place are moved by the offsets and clipped to the image. Then the regions are chosen:

    1. Those with both sides of at least `min_size` * scale.
    2. Of these the `pre_nms_topn` best.
    3. Of these the first `post_nms_topn` that overlap no better one by `nms_thresh` or more.

    Among equal scores the first place, then the first anchor, wins. There is no gradient.

    Where the scores have another number of anchors than the settings make, and these do not give the scales, the
    anchors are those of `Net(..., anchors=)`. Without, the scales are as many halvings of the largest as the number
    asks for, with a warning; a number that no list of scales makes is an error.

    The settings are given in `proposal_param` (PVANET) or in `python_param` (as for the ProposalLayer of
    py-faster-rcnn's rpn.proposal_layer). The defaults of PVANET's form, written out:

    proposal_param { feat_stride: 16 base_size: 16 min_size: 16 ratio: 0.5 ratio: 1 ratio: 2 scale: 8 scale: 16
    scale: 32 pre_nms_topn: 6000 post_nms_topn: 300 nms_thresh: 0.7 }

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores of A anchors at each place: first all backgrounds, then all objects.
    bottom 1
        (N, 4 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale of the net's input. PVANET's has more numbers.
    proposal_param
        `feat_stride` (16): pixels per place; `base_size` (16); `min_size` (16), or `rpn_min_size`; `ratio` (0.5, 1, 2);
        `scale` (8, 16, 32); `pre_nms_topn` (6000); `post_nms_topn` (300); `nms_thresh` (0.7), or `rpn_nms_thresh`.
    python_param
        `param_str` holds settings by name: `feat_stride`, `scales`, `ratios`, `base_size` (16), and what
        py-faster-rcnn's cfg holds, with its defaults: `rpn_pre_nms_top_n` (12000 in TRAIN, 6000 in TEST),
        `rpn_post_nms_top_n` (2000 in TRAIN, 300 in TEST), `rpn_nms_thresh` (0.7), `rpn_min_size` (16).

    Returns
    -------
    top 0
        (R, 5), regions (image, xmin, ymin, xmax, ymax) in pixels of the net's input. R may be 0.
    top 1
        (R, 1), their scores.

    Raises
    ------
    LayerError
        For settings that are not numbers, a list of scales or ratios that is empty or has numbers that are not above
        0, a `feat_stride` or `base_size` that is not above 0, bottoms of the wrong shape, a `param_str` that cannot
        be read, or a field of `proposal_param` of other programs, such as `stride` or `anchor_scale`.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN), py-faster-rcnn and PVANET. PVANET keeps the small regions, with a score of 0, and
    fills its top with what is left over.

    Examples
    --------
    One anchor of 16 x 16 pixels at two places, with offsets of 0:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Proposal" proposal_param { ratio: 1 scale: 1 }'
    >>> scores, offsets = [[[[0.5, 0.25]], [[0.5, 0.75]]]], [[[[0, 0]]] * 4]
    >>> run_layer(text, scores, offsets, [[16, 32, 1]]).tolist()
    [[0.0, 16.0, 0.0, 31.0, 15.0], [0.0, 0.0, 0.0, 16.0, 15.0]]
    """

    replaces = ("rpn.proposal_layer.ProposalLayer",)
    list_shapes: ClassVar[tuple[tuple[int, ...], ...]] = (-1, 5), (-1, 1)
    boxes: ClassVar[Boxes] = Upright
    trailing: ClassVar[tuple[int, ...]] = ()  # further axes of the tops
    ratios: ClassVar[tuple[float, ...]] = (0.5, 1, 2)
    angles: ClassVar[tuple[float, ...]] = (0,)
    suppression: ClassVar[Kernels] = suppress.kernels
    files = proposal_choice.FILES

    @classmethod
    def variant(cls, module: str, axes: Sequence[int], tops: int) -> str:
        return "FPNProposal" if cls is Proposal and len(axes) > 4 else cls.type

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.proposal_param
        for name in OTHERS:
            seen = getattr(p, name)
            listed = len(seen) if hasattr(seen, "__len__") else p.HasField(name)
            self.need(not listed, f"proposal_param: {name} is another program's Proposal, which is not supported")
        defaults: dict[str, Any] = {
            "feat_stride": 16, "scales": (8, 16, 32), "ratios": self.ratios, "angles": self.angles, "base_size": 16,
            **limits(self.phase == "TRAIN"),
        }  # fmt: skip
        cpp = self.param.HasField("proposal_param")
        if cpp:
            defaults.update(rpn_pre_nms_top_n=p.pre_nms_topn, rpn_post_nms_top_n=p.post_nms_topn)
            defaults.update(feat_stride=p.feat_stride, base_size=p.base_size)
            defaults.update(scales=list(p.scale) or defaults["scales"], ratios=list(p.ratio) or defaults["ratios"])
            defaults.update(
                rpn_nms_thresh=p.rpn_nms_thresh if p.HasField("rpn_nms_thresh") else p.nms_thresh,
                rpn_min_size=p.rpn_min_size if p.HasField("rpn_min_size") else p.min_size,
            )
        s = self.settings = settings(self, defaults)
        listed = given_names(self) | ({"scales"} if p.scale else set()) | ({"ratios"} if p.ratio else set())
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        self.anchors = choose_anchors(self, self.boxes, s, channels, listed, away if cpp else np.round)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, offsets, info = bottom
        images, _, height, width = self.axes(scores, 4, "bottom 0, the scores,")
        count, columns = len(self.anchors), self.boxes.columns
        for i, blob, each in ((0, scores, 2), (1, offsets, columns)):
            wanted = (images, each * count, height, width)
            self.need(blob.shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {blob.shape}")
        self.need(
            info.shape[:1] in ((1,), (images,))
            and len(info.shape) > 1
            and info.shape[1] >= 3
            and info.count == info.shape[0] * info.shape[1],
            f"bottom 2, im_info, must be ({images}, 3): height, width, scale of each image; got {info.shape}",
        )
        stride = self.settings["feat_stride"]
        self.choice = self.choice or ProposalChoice(self, self.settings, self.boxes, [self.anchors], [stride])
        self.choice.reshape(images, [(height, width)], info.shape[:2])
        self.shape(top, 1)  # forward knows how many there are
        if len(top) > 1:  # as the programs give it before their first forward
            top[1].reshape(1, 1, 1, 1)

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob, columns in zip(top, (self.boxes.columns + 1, 1)):
            blob.reshape(rows, columns, *self.trailing)

    def launch(self, choice: ProposalChoice, bottom: list[Blob], top: list[Blob]) -> None:
        scores, offsets, info = bottom
        self.shape(top, choice.rows + 1)
        choice.launch([scores], [offsets], info, top[0].data, top[1].data if len(top) > 1 else None)

    def finish(self, choice: ProposalChoice, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.shape_by_count(top, choice.rows):
            warn_of_nan(self, bottom)


class FrcnnProposal(Proposal, type="FrcnnProposal", bottoms=3, tops=(1, 2)):
    """Proposal of makefile/frcnn: regions of interest with tops of four axes.

    All is as in Proposal, but the settings are different: in that program they are in a file beside the net, which
    is not read here. The numbers are therefore those of py-faster-rcnn, and `param_str` may change them. Of
    `proposal_param` only `feat_stride` counts; it takes precedence over that of `param_str`. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores: first all backgrounds, then all objects.
    bottom 1
        (N, 4 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale.
    proposal_param
        `feat_stride` (16).
    python_param
        `param_str`, as in Proposal.

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax.
    top 1
        (R, 1, 1, 1), their scores.

    Raises
    ------
    LayerError
        As Proposal, for `param_str` and bottoms.

    Source
    ------
    makefile/frcnn, and py-faster-rcnn for the numbers.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FrcnnProposal" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> regions = run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0]]] * 4], [[16, 16, 1]])
    >>> regions.shape, regions.ravel().tolist()
    ((1, 5, 1, 1), [0.0, 0.0, 0.0, 15.0, 15.0])
    """

    list_shapes = (-1, 5, 1, 1), (-1, 1, 1, 1)
    trailing = (1, 1)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        stride = self.param.proposal_param.feat_stride
        self.param.ClearField("proposal_param")
        super().setup(bottom, top)
        if stride:
            self.settings["feat_stride"] = stride


class RotateProposal(Proposal, type="RotateProposal", bottoms=3, tops=(1, 2)):
    """Rotated regions of interest from the output of a region proposal network.

    This is the ProposalLayer of RRPN's rotation.rproposal_layer. Settings and choice are as in Proposal. Regions are
    not clipped to the image. A region is suppressed when it overlaps a better one by more than the threshold.
    There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores: first all backgrounds, then all objects.
    bottom 1
        (N, 5 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale.
    proposal_param
        As in Proposal, with a default `ratio` of 0.2, 0.5, 1.
    python_param
        `param_str` as in Proposal, with `ratios` (0.2, 0.5, 1) and `angles` (-30, 0, 30, 60, 90, 120), in degrees.

    Returns
    -------
    top 0
        (R, 6), regions: image, centre x, centre y, height, width, angle in degrees from -45 to 135, anti-clockwise.
    top 1
        (R, 1), their scores.

    Raises
    ------
    LayerError
        As Proposal; `angles` must be a list of numbers.

    Source
    ------
    Ma et al. 2018 (RRPN) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "RotateProposal" python_param { param_str: "{scales: [1], ratios: [1], angles: [0]}" }'
    >>> run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0]]] * 5], [[16, 16, 1]]).tolist()
    [[0.0, 7.0, 7.0, 16.0, 16.0, 0.0]]
    """

    replaces = ("rotation.rproposal_layer.ProposalLayer",)
    list_shapes = (-1, 6), (-1, 1)
    boxes = Rotated
    ratios = (0.2, 0.5, 1)
    angles = (-30, 0, 30, 60, 90, 120)
