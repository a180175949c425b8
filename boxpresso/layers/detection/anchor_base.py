"""AnchorTargets: what the layers share that give a region proposal network its targets: anchors, labels, weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...data.boxes import PAIR
from ...device import Blob, Kernels
from ..core import Layer
from ..core.param_str import given_names, settings
from . import suppress
from .anchors import choose_anchors
from .rcnn import Boxes, Upright


class AnchorTargets(Layer):
    """A layer whose bottoms are scores, true boxes and im_info; its settings are AnchorTarget's."""

    boxes: ClassVar[Boxes] = Upright
    extra: ClassVar[dict[str, Any]] = {"ratios": (0.5, 1, 2), "angles": (0,), "r_positive_angle_filter": 180,
                                       "r_negative_angle_filter": 180}  # fmt: skip
    further: ClassVar[dict[str, Any]] = {}
    kernels: ClassVar[Kernels] = suppress.kernels

    array_copies = 3
    passed_over: np.ndarray = np.zeros(0, int)  # the anchors that not_learned told, in forward

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        defaults = {
            "feat_stride": 16, "scales": (8, 16, 32), "base_size": 16, "allowed_border": 0, "rpn_positive_overlap": 0.7,
            "rpn_negative_overlap": 0.3, "rpn_clobber_positives": False, "rpn_fg_fraction": 0.5, "rpn_batchsize": 256,
            "rpn_bbox_inside_weights": (1.0,) * self.boxes.columns, "rpn_positive_weight": -1.0,
            "rpn_dontcare_overlap": 0.1,
        }  # fmt: skip
        s = self.settings = settings(self, {**defaults, **self.extra, **self.further})
        weight = s["rpn_positive_weight"]
        self.need(
            weight < 0 or 0 < weight < 1, f"rpn_positive_weight must be negative or between 0 and 1, got {weight}"
        )
        share, size = s["rpn_fg_fraction"], s["rpn_batchsize"]
        self.need(
            isinstance(size, (int, float)) and size > 0 and float(size).is_integer(),
            f"rpn_batchsize must be a whole number from 1, got {size!r}",
        )
        s["rpn_batchsize"] = int(size)
        self.need(
            isinstance(share, (int, float)) and 0 <= share <= 1, f"rpn_fg_fraction must be from 0 to 1, got {share!r}"
        )
        self.make_anchors(bottom)

    def make_anchors(self, bottom: list[Blob]) -> None:
        """The anchors of a place, (A, columns)."""
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        self.anchors = choose_anchors(self, self.boxes, self.settings, channels, given_names(self))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0, the scores,")
        count, columns = len(self.anchors), self.boxes.columns
        self.need(images == 1, f"takes one image at a time, got {images}")
        self.need(channels == 2 * count, f"bottom 0 must have {2 * count} channels for {count} anchors, got {channels}")
        rows, each = (*bottom[1].shape, 0, 0)[:2]
        self.need(
            each in (columns + 1, columns + 2) and bottom[1].count == rows * each,
            f"bottom 1, the true boxes, must be (G, {columns + 1}), a box and its label; got {bottom[1].shape}",
        )
        self.need(bottom[2].count >= 2, f"bottom 2, im_info, must be (1, 3), got {bottom[2].shape}")
        top[0].reshape(1, 1, count * height, width)
        for blob in top[1:]:
            blob.reshape(1, count * columns, height, width)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        height, width = bottom[0].shape[2:]
        every = self.boxes.everywhere(self.anchors, height, width, self.settings["feat_stride"])
        labels, *values = self.targets(bottom, every)
        count = len(self.anchors)
        top[0].data[...] = labels.reshape(height, width, count).transpose(2, 0, 1).reshape(top[0].shape)
        for blob, value in zip(top[1:], values):
            blob.data[...] = value.reshape(height, width, blob.shape[1]).transpose(2, 0, 1)[None]

    def targets(self, bottom: list[Blob], every: np.ndarray) -> list[np.ndarray]:
        """The labels (A,) of all anchors, and offsets and weights (A, columns)."""
        self.drawn = self.draws()
        truth = np.asarray(bottom[1].data).astype(np.float64).reshape(bottom[1].shape[:2])
        truth = truth[:, : self.boxes.columns + 1]
        info = np.asarray(bottom[2].data).reshape(-1)
        at = self.inside(every, info)
        anchors, ignored = every[at], truth[:, -1] < 0
        self.need_pairs("overlaps of anchors and true boxes", len(anchors) * len(truth), PAIR)
        shared = self.boxes.overlaps(self.device, anchors, truth[:, :-1])
        self.passed_over = self.not_learned(bottom, anchors, truth, shared)
        of_anchors = self.label(shared, self.boxes.turn(anchors[:, None], truth), ignored)
        targets = np.zeros(anchors.shape)
        if not ignored.all() and len(anchors):
            matched = np.where(ignored, -1, shared).argmax(1)
            targets = self.boxes.encode(anchors, truth[matched, :-1])
        labels = np.full(len(every), -1.0)
        labels[at] = of_anchors
        result: list[np.ndarray] = [labels]
        for values in (targets, *self.weights(of_anchors)):
            whole = np.zeros(every.shape)
            whole[at] = values
            result.append(whole)
        return result

    def inside(self, every: np.ndarray, info: np.ndarray) -> np.ndarray:
        """The numbers of the anchors that count."""
        return np.flatnonzero(self.boxes.inside(every, info[0], info[1], self.settings["allowed_border"]))

    def not_learned(
        self, bottom: list[Blob], anchors: np.ndarray, truth: np.ndarray, shared: np.ndarray
    ) -> np.ndarray:  # fmt: skip
        """The numbers of the anchors with label -1 whatever they overlap: here none."""
        return np.zeros(0, int)

    def label(self, shared: np.ndarray, turn: np.ndarray, ignored: np.ndarray) -> np.ndarray:
        """1, 0 or -1 for each anchor, from its overlaps with the true boxes (A, G) and which of these are ignored."""
        s = self.settings
        labels = np.full(len(shared), -1.0)
        if not shared.shape[1]:
            labels[:] = 0
        elif len(shared):
            most, nearest = shared.max(1), shared.argmax(1)
            turned = turn[np.arange(len(turn)), nearest]
            background = most < s["rpn_negative_overlap"]
            best = (shared == shared.max(0)) & (turn <= s["r_positive_angle_filter"])
            if not s["rpn_clobber_positives"]:
                labels[background] = 0
            labels[best[:, ignored].any(1) | (shared[:, ignored] > s["rpn_dontcare_overlap"]).any(1)] = -1
            labels[best[:, ~ignored].any(1)] = 1
            labels[(most >= s["rpn_positive_overlap"]) & ~ignored[nearest]] = 1
            if s["rpn_clobber_positives"]:
                far = (most >= s["rpn_positive_overlap"]) & (turned > s["r_negative_angle_filter"])
                labels[background | far] = 0
        labels[self.passed_over] = -1
        self.leave_out(labels, 1, int(s["rpn_fg_fraction"] * s["rpn_batchsize"]))
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
