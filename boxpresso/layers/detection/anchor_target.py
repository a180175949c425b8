"""AnchorTarget, RotateAnchorTarget: the targets of a region proposal network."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from ..core.param_str import settings
from . import suppress
from .rcnn import Boxes, Rotated, Upright


class AnchorTarget(Layer, type="AnchorTarget", param="python_param", bottoms=4, tops=4):
    """py-faster-rcnn's rpn.anchor_target_layer AnchorTargetLayer.

    Bottoms: scores (1, 2 A, H, W), of which only the shape is read; true boxes (G, 5): xmin, ymin, xmax, ymax, label;
    im_info (1, 3); the image, not read. Tops: labels (1, 1, A H, W): 1 object, 0 background, -1 neither; offsets to the
    true box that an anchor overlaps most (1, 4 A, H, W); weights inside and outside of the loss, of the same shape.

    Anchors inside the image (by allowed_border) count: 1 from an overlap of rpn_positive_overlap on, and for each true box
    those that overlap it most; 0 below rpn_negative_overlap. Of these at most rpn_batchsize, of which rpn_fg_fraction 1,
    are drawn at random, with the net's seed. The weights: inside 1 where the label is 1, outside 1 / the number drawn.

    param_str: 'feat_stride', 'scales', 'ratios', 'allowed_border' (0), and what py-faster-rcnn's cfg.TRAIN holds, with its
    defaults: rpn_positive_overlap (0.7), rpn_negative_overlap (0.3), rpn_clobber_positives (False), rpn_fg_fraction (0.5),
    rpn_batchsize (256), rpn_bbox_inside_weights (1, 1, 1, 1), rpn_positive_weight (-1: uniform). No gradient.
    Source: Ren et al. 2015. Without true boxes every anchor is background, where py-faster-rcnn fails.
    """

    boxes: ClassVar[Boxes] = Upright
    extra: ClassVar[dict[str, Any]] = {"ratios": (0.5, 1, 2), "angles": (0,), "r_positive_angle_filter": 180,
                                       "r_negative_angle_filter": 180}  # fmt: skip
    kernels: ClassVar[Kernels] = suppress.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        defaults = {
            "feat_stride": 16, "scales": (8, 16, 32), "base_size": 16, "allowed_border": 0, "rpn_positive_overlap": 0.7,
            "rpn_negative_overlap": 0.3, "rpn_clobber_positives": False, "rpn_fg_fraction": 0.5, "rpn_batchsize": 256,
            "rpn_bbox_inside_weights": (1.0,) * self.boxes.columns, "rpn_positive_weight": -1.0,
        }  # fmt: skip
        s = self.settings = settings(self, {**defaults, **self.extra})
        weight = s["rpn_positive_weight"]
        self.need(
            weight < 0 or 0 < weight < 1, f"rpn_positive_weight must be negative or between 0 and 1, got {weight}"
        )
        self.need(s["rpn_batchsize"] > 0, f"rpn_batchsize must be at least 1, got {s['rpn_batchsize']}")
        self.anchors = self.boxes.anchors(s["base_size"], s["ratios"], s["scales"], s["angles"])

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0, the scores,")
        count, columns = len(self.anchors), self.boxes.columns
        self.need(images == 1, f"takes one image at a time, got {images}")
        self.need(channels == 2 * count, f"bottom 0 must have {2 * count} channels for {count} anchors, got {channels}")
        self.need(
            bottom[1].shape[1:] == (columns + 1,),
            f"bottom 1, the true boxes, must be (G, {columns + 1}), a box and its label; got {bottom[1].shape}",
        )
        self.need(bottom[2].count >= 2, f"bottom 2, im_info, must be (1, 3), got {bottom[2].shape}")
        top[0].reshape(1, 1, count * height, width)
        for blob in top[1:]:
            blob.reshape(1, count * columns, height, width)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        height, width = bottom[0].shape[2:]
        self.drawn = self.draws()
        truth = np.asarray(bottom[1].data).astype(np.float64)
        info = np.asarray(bottom[2].data).reshape(-1)
        every = self.boxes.everywhere(self.anchors, height, width, self.settings["feat_stride"])
        at = np.flatnonzero(self.boxes.inside(every, info[0], info[1], self.settings["allowed_border"]))
        anchors = every[at]
        shared = self.boxes.overlaps(self.device, anchors, truth[:, :-1])
        of_anchors = self.label(shared, self.boxes.turn(anchors, truth))
        targets = np.zeros(anchors.shape)
        if shared.size:
            targets = self.boxes.encode(anchors, truth[shared.argmax(1), :-1])
        inside, outside = self.weights(of_anchors)
        labels = np.full(len(every), -1.0)
        labels[at] = of_anchors
        count = len(self.anchors)
        top[0].data[...] = labels.reshape(height, width, count).transpose(2, 0, 1).reshape(top[0].shape)
        for blob, values in zip(top[1:], (targets, inside, outside)):
            whole = np.zeros(every.shape)
            whole[at] = values
            blob.data[...] = whole.reshape(height, width, -1).transpose(2, 0, 1)[None]

    def label(self, shared: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """1, 0 or -1 for each anchor, from its overlaps with the true boxes (A, G)."""
        s = self.settings
        labels = np.full(len(shared), -1.0)
        if not shared.shape[1]:
            labels[:] = 0
        elif len(shared):
            most, turned = shared.max(1), turn[np.arange(len(turn)), shared.argmax(1)]
            background = most < s["rpn_negative_overlap"]
            if not s["rpn_clobber_positives"]:
                labels[background] = 0
            labels[((shared == shared.max(0)) & (turn <= s["r_positive_angle_filter"])).any(1)] = 1
            labels[most >= s["rpn_positive_overlap"]] = 1
            if s["rpn_clobber_positives"]:
                far = (most >= s["rpn_positive_overlap"]) & (turned > s["r_negative_angle_filter"])
                labels[background | far] = 0
        positive = int(s["rpn_fg_fraction"] * s["rpn_batchsize"])
        self.leave_out(labels, 1, positive)
        self.leave_out(labels, 0, s["rpn_batchsize"] - int((labels == 1).sum()))
        return labels

    def leave_out(self, labels: np.ndarray, label: int, most: int) -> None:
        """Makes all but `most` of that label -1, at random."""
        mine = np.flatnonzero(labels == label)
        if len(mine) > most:
            labels[self.drawn.choice(mine, size=len(mine) - most, replace=False)] = -1

    def weights(self, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inside and outside weights (A, columns) for these labels."""
        s, columns = self.settings, self.boxes.columns
        inside = np.where((labels == 1)[:, None], np.asarray(s["rpn_bbox_inside_weights"], np.float64), 0)
        positive, negative = (labels == 1).sum(), (labels == 0).sum()
        share = s["rpn_positive_weight"]
        if share < 0:
            each = (1 / max(1, positive + negative),) * 2
        else:
            each = share / max(1, positive), (1 - share) / max(1, negative)
        outside = np.where(labels == 1, each[0], np.where(labels == 0, each[1], 0))
        return inside, np.repeat(outside[:, None], columns, 1)

    def allow_force_backward(self, index: int) -> bool:
        return False


class RotateAnchorTarget(AnchorTarget, type="RotateAnchorTarget", bottoms=4, tops=4):
    """AnchorTarget for rotated anchors: RRPN's rotation.anchor_target_layer AnchorTargetLayer.

    True boxes (G, 6): centre x, centre y, height, width, angle in degrees, label; offsets have five numbers. An anchor that
    overlaps a true box most is 1 only when it is turned by r_positive_angle_filter (15 degrees) or less against it; with
    rpn_clobber_positives one turned by more than r_negative_angle_filter (15) is 0. Unlike RRPN, which takes the height of
    the image for its width here, an anchor is inside by its own corners. Source: Ma et al. 2018.
    """

    boxes = Rotated
    extra: ClassVar[dict[str, Any]] = {"ratios": (0.2, 0.5, 1), "angles": (-30, 0, 30, 60, 90, 120),
                                       "r_positive_angle_filter": 15, "r_negative_angle_filter": 15}  # fmt: skip
