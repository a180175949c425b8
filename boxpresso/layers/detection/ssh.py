"""SSHProposal, SSHAnchorTarget: the boxes of one detection module of SSH, and what it learns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...data.boxes import best
from ...device import Blob
from ..core import Trait
from ..core.param_str import settings
from .anchor_base import AnchorTargets
from .plain_proposal import PlainProposal, anchors_of


class SSHProposal(
    PlainProposal,
    type="SSHProposal",
    param="python_param",
    bottoms=3,
    tops=(1, 2),
    traits=Trait.PROPOSES | Trait.IMAGE_INFO,
):
    """The best boxes of one detection module of SSH, with their scores.

    This is the ProposalLayer of SSH.layers.proposal_layer. The anchors at each place are moved by the offsets and clipped to
    the image; those with a side below `anchor_min_size` * scale are left out. In TEST the `n_dets_per_module` best stay, best
    first, not suppressed. In TRAIN, of the `anchor_n_pre_nms` best the first `anchor_n_post_nms` stay that overlap no better
    one by `nms_thresh` or more. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), probabilities: first all backgrounds, then all objects.
    bottom 1
        (1, 4 A, H, W), offsets.
    bottom 2
        (1, 3), im_info: height, width and scale of the net's input.
    python_param
        `param_str` holds `feat_stride` (16), `scales` (8, 16, 32), `ratios` (0.5, 1, 2), `base_size` (16), and of SSH's
        configuration `nms_thresh` (0.3), `anchor_n_pre_nms` (1000), `anchor_n_post_nms` (300), `n_dets_per_module` (1000),
        `anchor_min_size` (4 in TRAIN, 0 in TEST).

    Returns
    -------
    top 0
        (R, 5), boxes: image, xmin, ymin, xmax, ymax. R may be 0, where SSH gives one box of 16 pixels.
    top 1
        (R, 1), their scores.

    Raises
    ------
    LayerError
        For bottoms of the wrong shape.

    Source
    ------
    Najibi et al. 2017 (SSH) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SSHProposal" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> scores, offsets = [[[[0.5, 0.25]], [[0.5, 0.75]]]], [[[[0, 0]]] * 4]
    >>> run_layer(text, scores, offsets, [[16, 32, 1]]).tolist()
    [[0.0, 16.0, 0.0, 31.0, 15.0], [0.0, 0.0, 0.0, 16.0, 15.0]]
    """

    replaces = ("SSH.layers.proposal_layer.ProposalLayer",)
    list_shapes = (-1, 5), (-1, 1)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        train = self.phase == "TRAIN"
        s = self.settings = settings(
            self,
            {
                "feat_stride": 16, "scales": (8, 16, 32), "ratios": (0.5, 1, 2), "angles": (0,), "base_size": 16,
                "nms_thresh": 0.3, "anchor_n_pre_nms": 1000, "anchor_n_post_nms": 300, "n_dets_per_module": 1000,
                "anchor_min_size": 4 if train else 0,
            },
        )  # fmt: skip
        self.anchors, self.stride = anchors_of(self, bottom, s), s["feat_stride"]
        self.limits = {
            "rpn_pre_nms_top_n": s["anchor_n_pre_nms" if train else "n_dets_per_module"],
            "rpn_post_nms_top_n": s["anchor_n_post_nms"] if train else 0,
            "rpn_nms_thresh": s["nms_thresh"] if train else None, "rpn_min_size": s["anchor_min_size"],
        }  # fmt: skip


class SSHAnchorTarget(AnchorTargets, type="SSHAnchorTarget", param="python_param", bottoms=(3, 5), tops=4):
    """The targets of one detection module of SSH, with hard example mining.

    This is the AnchorTargetLayer of SSH.layers.anchor_target_layer. All that is not said here is as in AnchorTarget.

    An anchor gets label 1 from an overlap of `positive_overlap` on; that a true box has none is well, unless
    `force_fg_for_each_gt`. With bottom 4 the labels that are too many are not drawn: the objects with the lowest probability
    stay (unless `hard_positive_mining` is false), and the background with the highest. Where no anchor is inside the image, all
    count. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), scores. Only the shape is read.
    bottom 1
        (G, 5), true boxes: xmin, ymin, xmax, ymax, label.
    bottom 2
        (1, 3), im_info.
    bottom 3
        Optional: the image. It is not read.
    bottom 4
        Optional: (1, 2 A, H, W), probabilities: first all backgrounds, then all objects.
    python_param
        `param_str` as in AnchorTarget, with these differences: `positive_overlap` or `rpn_positive_overlap` (0.5),
        `rpn_negative_overlap` (0.3), `rpn_fg_fraction` (0.25), `force_fg_for_each_gt` (False), `hard_positive_mining`
        (True).

    Returns
    -------
    top 0, ..., top 3
        As of AnchorTarget.

    Raises
    ------
    LayerError
        As AnchorTarget, and for probabilities of another shape than the scores.

    Source
    ------
    Najibi et al. 2017 (SSH) and its code. Among equal probabilities the first place, then the first anchor, goes first.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "SSHAnchorTarget"
    ... python_param { param_str: "{scales: [1], ratios: [1], rpn_batchsize: 1, rpn_fg_fraction: 0}" }'''
    >>> probabilities = [[[[0.9, 0.1]], [[0.1, 0.9]]]]
    >>> run_layer(text, probabilities, [[90, 90, 99, 99, 1]], [[16, 32, 1]], [0], probabilities, tops=4)[0].tolist()
    [[[[-1.0, 0.0]]]]
    """

    replaces = ("SSH.layers.anchor_target_layer.AnchorTargetLayer",)
    further: ClassVar[dict[str, Any]] = {
        "rpn_positive_overlap": 0.5, "rpn_fg_fraction": 0.25, "positive_overlap": None, "force_fg_for_each_gt": False,
        "hard_positive_mining": True,
    }  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        least = self.settings["positive_overlap"]
        if least is not None:
            self.need(isinstance(least, (int, float)), f"positive_overlap must be a number, got {least!r}")
            self.settings["rpn_positive_overlap"] = least

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        if len(bottom) > 4:
            self.need(
                bottom[4].shape == bottom[0].shape,
                f"bottom 4, the probabilities, must be {bottom[0].shape}, got {bottom[4].shape}",
            )

    def targets(self, bottom: list[Blob], every: np.ndarray) -> list[np.ndarray]:
        self.chances: np.ndarray | None = None
        if len(bottom) > 4:
            objects = np.asarray(bottom[4].data)[0, len(self.anchors) :]
            self.chances = np.nan_to_num(objects.transpose(1, 2, 0).reshape(-1))
        return super().targets(bottom, every)

    def inside(self, every: np.ndarray, info: np.ndarray) -> np.ndarray:
        at = super().inside(every, info)
        self.at = at if len(at) else np.arange(len(every))
        return self.at

    def label(self, shared: np.ndarray, turn: np.ndarray, ignored: np.ndarray) -> np.ndarray:
        s, labels = self.settings, np.full(len(shared), -1.0)
        most = shared.max(1, initial=0)
        labels[most < s["rpn_negative_overlap"]] = 0
        if s["force_fg_for_each_gt"] and shared.size:
            labels[(shared == shared.max(0)).any(1)] = 1
        if shared.size:
            labels[most >= s["rpn_positive_overlap"]] = 1
        self.choose(labels, 1, int(s["rpn_fg_fraction"] * s["rpn_batchsize"]))
        self.choose(labels, 0, s["rpn_batchsize"] - int((labels == 1).sum()))
        return labels

    def choose(self, labels: np.ndarray, label: int, most: int) -> None:
        """Makes all but `most` of that label -1: the easy ones where probabilities are known, else at random."""
        if self.chances is None or (label and not self.settings["hard_positive_mining"]):
            self.leave_out(labels, label, most)
            return
        mine = np.flatnonzero(labels == label)
        hard = self.chances[self.at[mine]] * (-1 if label else 1)
        labels[np.delete(mine, best(hard, most))] = -1
