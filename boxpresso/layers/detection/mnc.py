"""MNCProposal, MNCAnchorTarget, MNCProposalTarget: the regions of Multi-task Network Cascades, and what is learned of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import AnyArray, Blob
from ..core import Trait
from ..core.param_str import settings
from . import proposal_choice
from .anchor_base import AnchorTargets
from .mask_targets import INFO, MaskedTargets
from .plain_proposal import PlainProposal, anchors_of
from .proposal_choice import ProposalChoice
from .rcnn import Upright
from .target_base import give


class MNCProposal(
    PlainProposal,
    type="MNCProposal",
    param="python_param",
    bottoms=3,
    tops=(1, 2),
    traits=Trait.PROPOSES | Trait.IMAGE_INFO,
):
    """Proposal of MNC, whose regions pass their gradient on to the offsets.

    This is the ProposalLayer of MNC's pylayer.proposal_layer. The regions are those of Proposal. The gradient of a corner that
    is clipped to the image is 0. With `use_clip` gradients are cut to 1 / clip_base.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As of Proposal, of one image: scores, offsets and im_info. The offsets alone get a gradient.
    python_param
        `param_str` as in Proposal, and `use_clip` (0), `clip_base` (256).

    Returns
    -------
    top 0
        (R, 5), regions.
    top 1
        Optional: (1, R), the number of the anchor of each region, by row, column and anchor.

    Raises
    ------
    LayerError
        For bottoms of the wrong shape.

    Source
    ------
    Dai et al. 2016 (MNC) and its code, whose gradient of a region that leaves the image is 0 as a whole, and whose sizes in it
    are one pixel smaller.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MNCProposal" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> scores, offsets = [[[[0.5, 0.25]], [[0.5, 0.75]]]], [[[[0, 0]]] * 4]
    >>> regions, numbers = run_layer(text, scores, offsets, [[16, 32, 1]], tops=2)
    >>> numbers.tolist()
    [[1.0, 0.0]]
    """

    replaces = ("pylayer.proposal_layer.ProposalLayer",)
    list_shapes = (-1, 5), (1, -1)
    every: np.ndarray  # the anchors at all places of maps of that `size`
    size: tuple[int, int] | None = None
    taken: AnyArray  # the boxes that the last forward has chosen come first

    array_copies = 5

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        train = self.phase == "TRAIN"
        s = self.settings = self.limits = settings(
            self,
            {
                "feat_stride": 16, "scales": (8, 16, 32), "ratios": (0.5, 1, 2), "angles": (0,), "base_size": 16,
                "rpn_pre_nms_top_n": 12000 if train else 6000, "rpn_post_nms_top_n": 2000 if train else 300,
                "rpn_nms_thresh": 0.7, "rpn_min_size": 16, "use_clip": 0, "clip_base": 256, "gradient_scale": 1,
            },
        )  # fmt: skip
        self.anchors, self.stride = anchors_of(self, bottom, s), s["feat_stride"]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        assert self.choice is not None
        self.choice.scratch.ask("numbers of boxes", (self.choice.rows,), np.int32)

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob, shape in zip(top, ((rows, 5), (1, rows))):
            blob.reshape(*shape)

    def launch(self, choice: ProposalChoice, bottom: list[Blob], top: list[Blob]) -> None:
        scores, offsets, info = bottom
        self.shape(top, choice.rows + 1)
        best, survivors, out = choice.launch([scores], [offsets], info, top[0].data, None)
        self.taken = choice.scratch["numbers of boxes"]
        proposal_choice.kernels.on(self.device).proposal_numbers(
            choice.rows, best.order, survivors, out, self.taken, top[1].data if len(top) > 1 else None
        )

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.taken = np.zeros(0, np.int32)
        super().forward_empty(bottom, top)

    def places(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray]:
        """The anchors at all places and their offsets, both (H * W * A, 4), by row, column and anchor."""
        height, width = bottom[0].shape[2:]
        if self.size != (height, width):
            self.every, self.size = Upright.everywhere(self.anchors, height, width, self.stride), (height, width)
        return self.every, np.asarray(bottom[1].data)[0].transpose(1, 2, 0).reshape(-1, 4)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not (propagate_down[0] or propagate_down[2]),
            "scores and im_info have no gradient; set propagate_down: false for bottoms 0 and 2",
        )
        if not propagate_down[1]:
            return
        taken = np.asarray(self.taken)[: top[0].shape[0]]
        every, by = self.places(bottom)
        info, moved = np.asarray(bottom[2].data).reshape(-1), Upright.decode(every[taken], by[taken])
        free = Upright.clip(moved, info[0], info[1]) == moved
        diff = np.asarray(top[0].diff)[:, 1:].astype(np.float64) * free
        _, offsets = Upright.decode_backward(every[taken], by[taken].astype(np.float64), diff)
        if self.settings["use_clip"]:
            most = 1 / float(self.settings["clip_base"])
            offsets = np.clip(offsets, -most, most)
        whole = np.zeros((len(every), 4))
        whole[taken] = offsets
        _, channels, height, width = bottom[1].shape
        bottom[1].diff[...] = whole.reshape(height, width, channels).transpose(2, 0, 1)[None]

    def allow_force_backward(self, index: int) -> bool:
        return index == 1


class MNCAnchorTarget(AnchorTargets, type="MNCAnchorTarget", param="python_param", bottoms=5, tops=4):
    """AnchorTarget of MNC, which also learns from the anchors of the regions that were drawn.

    This is the AnchorTargetLayer of MNC's pylayer.anchor_target_layer with five bottoms. All is as in AnchorTarget; then the
    anchors of bottom 4 get label 0, and those of bottom 3 label 1, where they are inside the image. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As of AnchorTarget.
    bottom 3, bottom 4
        Numbers of anchors, by row, column and anchor: of objects and of background.
    python_param
        As of AnchorTarget.

    Returns
    -------
    top 0, ..., top 3
        As of AnchorTarget.

    Raises
    ------
    LayerError
        As AnchorTarget.

    Source
    ------
    Dai et al. 2016 (MNC) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MNCAnchorTarget" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> truth, info = [[0, 0, 15, 15, 1]], [[16, 32, 1]]
    >>> run_layer(text, [[[[0, 0]]] * 2], truth, info, [1], [0], tops=4)[0].tolist()
    [[[[0.0, 1.0]]]]
    """

    def targets(self, bottom: list[Blob], every: np.ndarray) -> list[np.ndarray]:
        self.labelled = [(np.asarray(bottom[i].data).reshape(-1), label) for i, label in ((4, 0), (3, 1))]
        return super().targets(bottom, every)

    def inside(self, every: np.ndarray, info: np.ndarray) -> np.ndarray:
        self.at = super().inside(every, info)
        return self.at

    def label(self, shared: np.ndarray, turn: np.ndarray, ignored: np.ndarray) -> np.ndarray:
        labels = super().label(shared, turn, ignored)
        for numbers, label in self.labelled:
            labels[np.isin(self.at, numbers)] = label
        return labels


class MNCProposalTarget(
    MaskedTargets,
    type="MNCProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=(3, 6),
    tops=(5, 10),
):
    """ProposalTarget of MNC: regions of several ranges of overlap, with box targets and masks.

    This is the ProposalTargetLayer of MNC's pylayer.proposal_target_layer. All that is not said here is as in
    ProposalTarget. Of the regions with an overlap from fg_thresh_lo to fg_thresh_hi, at most `fg_fraction` * `batch_size` are
    drawn; of the rest of the batch the fraction `bg_fraction` from bg_thresh_lo to bg_thresh_hi; each of these settings may
    be a list, of one number for each range. The gradient of top 0 goes to the regions of bottom 0 that were drawn.

    Parameters
    ----------
    bottom 0, bottom 1
        As of ProposalTarget: regions and true boxes.
    bottom 2
        (1, 3), im_info: the scale leads to the picture.
    bottom 3, bottom 4
        Optional: (G, H, W), true masks, and (G, 2), their heights and widths in the picture.
    bottom 5
        Optional: (1, R), the number of the anchor of each region.
    python_param
        `param_str` holds `num_classes` (required), `bp_all` (1): 0 passes the gradient of objects alone; and of MNC's
        configuration `batch_size` (64), `fg_fraction` (0.3), `fg_thresh_lo` (0.5), `fg_thresh_hi` (1), `bg_fraction` (0.85,
        0.15), `bg_thresh_lo` (0.1, 0), `bg_thresh_hi` (0.5, 0.1), `mask_size` (21), and those of box targets, as in
        ProposalTarget.

    Returns
    -------
    top 0, ..., top 4
        As of ProposalTarget.
    top 5, top 6
        Optional: (D, 1, M, M), masks and their weights, 1 of objects.
    top 7
        Optional: (D, 12): the true box, height, width, label, box and true box in the picture; -1 of background.
    top 8, top 9
        Optional: (1, F) and (1, B), the anchors of objects and of background.

    Raises
    ------
    LayerError
        As ProposalTarget, and for masks that are not one for each true box.

    Source
    ------
    Dai et al. 2016 (MNC) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MNCProposalTarget" python_param { param_str: "num_classes: 2" }'
    >>> regions, labels, *_ = run_layer(text, [[0, 0, 0, 9, 1]], [[0, 0, 9, 9, 1]], [[10, 10, 1]], tops=5)
    >>> regions.tolist(), labels.tolist()
    ([[0.0, 0.0, 0.0, 9.0, 9.0], [0.0, 0.0, 0.0, 9.0, 1.0]], [1.0, 0.0])
    """

    replaces = ("pylayer.proposal_target_layer.ProposalTargetLayer",)
    extra: ClassVar[dict[str, Any]] = {
        **MaskedTargets.extra, "batch_size": 64, "fg_fraction": (0.3,), "fg_thresh_lo": (0.5,), "fg_thresh_hi": (1.0,),
        "bg_fraction": (0.85, 0.15), "bg_thresh_lo": (0.1, 0.0), "bg_thresh_hi": (0.5, 0.1), "mask_size": 21, "bp_all": 1,
    }  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_settings()
        self.need_share("bg_fraction")
        self.need(
            (len(bottom), len(top)) in ((3, 5), (5, 8), (6, 10)),
            f"has {len(bottom)} bottoms and {len(top)} tops; it takes 3 and 5, 5 and 8, or 6 and 10",
        )
        for kind in ("fg", "bg"):
            names = [f"{kind}_{name}" for name in ("fraction", "thresh_lo", "thresh_hi")]
            lists = [np.atleast_1d(self.settings[name]).astype(np.float64) for name in names]
            self.need(len({len(v) for v in lists}) == 1, f"{', '.join(names)} must be lists of one length")
            self.settings.update(zip(names, lists))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.check_bottoms(bottom)
        self.need(bottom[2].count >= 3, f"bottom 2, im_info, must be (1, 3), got {bottom[2].shape}")
        side, each = self.settings["mask_size"], 4 * self.classes
        if len(bottom) > 3:
            self.check_masks(bottom[3], bottom[4], bottom[1].shape[0])
        shapes = [(1, 5), (1,), (1, each), (1, each), (1, each), (1, 1, side, side), (1, 1, side, side), (1, INFO)]
        for blob, shape in zip(top, [*shapes, (1, 1), (1, 1)]):
            blob.reshape(*shape)

    def draw(self, boxes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        s, draws = self.settings, self.drawn
        matched, most = self.boxes.nearest(self.device, boxes, truth[:, :-1])
        kinds: list[np.ndarray] = []
        left = self.whole
        for kind in ("fg", "bg"):
            drawn = [np.zeros(0, int)]
            for part, low, high in zip(*(s[f"{kind}_{name}"] for name in ("fraction", "thresh_lo", "thresh_hi"))):
                mine = np.flatnonzero((most >= low) & (most <= high))
                count = self.drawn_of(len(mine), part, left)
                drawn.append(draws.choice(mine, size=count, replace=False) if len(mine) else mine)
            kinds.append(np.unique(np.concatenate(drawn)))
            left -= len(kinds[-1])
        self.chosen = np.concatenate(kinds)
        self.kinds = kinds
        return self.chosen, matched[self.chosen], len(kinds[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn = self.sample(bottom)
        self.give(drawn, top)
        if len(bottom) > 3:
            self.give_masks(drawn, bottom[3], bottom[4], float(np.asarray(bottom[2].data).reshape(-1)[2]), top[5:8])
        if len(bottom) > 5:
            numbers = np.asarray(bottom[5].data).reshape(-1)
            for blob, kind in zip(top[8:], self.kinds):
                give(blob, numbers[kind[kind < len(numbers)]][None])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "only bottom 0, the regions, has a gradient; set propagate_down")
        if propagate_down[0]:
            passed = len(self.chosen) if self.settings["bp_all"] else len(self.kinds[0])
            rows = np.flatnonzero(self.chosen[:passed] < bottom[0].shape[0])
            diff = np.zeros((bottom[0].shape[0], 5))
            np.add.at(diff, self.chosen[rows], np.asarray(top[0].diff)[rows])
            bottom[0].diff[...] = diff.reshape(bottom[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
