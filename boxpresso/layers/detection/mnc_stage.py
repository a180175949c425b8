"""MNCMask, MNCStageBridge: from one stage of Multi-task Network Cascades to the next."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer, Trait
from ..core.param_str import settings
from .mask_targets import INFO, MaskedTargets, overlap_of
from .rcnn import Upright
from .target_base import Drawn, give

kernels = Kernels(Path(__file__).with_name("mnc_stage.cu"), UNFUSED)


class MNCMask(Layer, type="MNCMask", param="python_param", bottoms=(1, 3), tops=(1, 2)):
    """The predicted masks of MNC as images; while training also the label of each, by its overlap with the true mask.

    This is the MaskLayer of MNC's pylayer.mask_layer. A mask has the label of its region where it overlaps the true mask by
    `fg_seg_thresh` or more, else 0. With labels, the gradient passes where the label is above 0 alone.

    Parameters
    ----------
    bottom 0
        (R, M M), probabilities.
    bottom 1
        While training: (G, H, W), true masks.
    bottom 2
        While training: (R, 12), top 7 of MNCProposalTarget.
    python_param
        `param_str` may hold `fg_seg_thresh` (0.5).

    Returns
    -------
    top 0
        (R, 1, M, M).
    top 1
        While training: (R, 1), labels.

    Raises
    ------
    LayerError
        For masks that are not square, one bottom with two tops, or numbers that do not fit the true masks.

    Source
    ------
    Dai et al. 2016 (MNC) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MNCMask"', [[0.1, 0.2, 0.3, 0.4]]).shape
    (1, 1, 2, 2)
    """

    replaces = ("pylayer.mask_layer.MaskLayer",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.least = settings(self, {"fg_seg_thresh": 0.5})["fg_seg_thresh"]
        self.need(
            len(bottom) == 2 * len(top) - 1,
            f"has {len(bottom)} bottoms and {len(top)} tops; it takes 1 and 1, or 3 and 2",
        )
        self.positive = np.zeros(0, bool)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = bottom[0].shape[0] if bottom[0].shape else 0
        side = isqrt(prod(bottom[0].shape[1:]))
        self.need(
            rows * side * side == bottom[0].count, f"bottom 0 must be (R, M M), square masks; got {bottom[0].shape}"
        )
        if len(top) == 1:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])
        top[0].reshape(rows, 1, side, side)
        if len(top) > 1:
            self.need(len(bottom[1].shape) >= 3, f"bottom 1, the true masks, must be (G, H, W), got {bottom[1].shape}")
            top[1].reshape(rows, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(top) < 2:
            self.pass_on_data(bottom[0], top[0])
            return
        top[0].data[...] = np.asarray(bottom[0].data).reshape(top[0].shape)
        rows = top[0].shape[0]
        shape = bottom[2].shape
        self.need(shape[:1] == (rows,) and prod(shape[1:]) == INFO, f"bottom 2 must be ({rows}, {INFO}), got {shape}")
        info = np.asarray(bottom[2].data).reshape(rows, INFO)
        masks = np.asarray(bottom[1].data).reshape(prod(bottom[1].shape[:-2]), *bottom[1].shape[-2:])
        known = info[:, 0] != -1
        fits = (info[known, 0] >= 0) & (info[known, 0] < len(masks)) & (np.abs(info[known, 4:]) < 2**14).all(1)
        self.need(fits.all(), "bottom 2 names a true mask that is not there, or a box that is no box")
        predicted = np.asarray(top[0].data)[:, 0]
        labels = np.zeros(rows)
        for i in np.flatnonzero(known):
            if overlap_of(predicted[i], info[i], masks) >= self.least:
                labels[i] = info[i, 3]
        self.positive = labels > 0
        top[1].data[...] = labels[:, None]

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "only bottom 0 has a gradient; set propagate_down: false for the others")
        if propagate_down[0] and len(top) > 1:
            diff = np.array(top[0].diff)
            diff[~self.positive] = 0
            bottom[0].diff[...] = diff.reshape(bottom[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class MNCStageBridge(
    MaskedTargets,
    type="MNCStageBridge",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=(4, 7),
    tops=(1, 8),
):
    """From the regions and offsets of one stage of MNC to the regions of the next, while training with their targets.

    This is the StageBridgeLayer of MNC's pylayer.stage_bridge_layer. At TEST each region moves by the offsets of the
    class with the greatest score, and is clipped to the image. While training it is the best class but the background; the
    true boxes are added, and all regions are given, those with an overlap of `bbox_thresh` or more first, with the targets
    that MNCProposalTarget makes. Regions and offsets get the gradient of the boxes, where they are not clipped; with
    `use_clip` that of the offsets is cut to 1 / clip_base.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        (R, 5), regions; (R, 4 C), offsets; (R, C), scores.
    bottom 3
        At TEST (1, 3), im_info. While training the true boxes (G, 5), and then true masks, im_info and sizes of masks.
    python_param
        `param_str` holds `num_classes` (while training), `use_clip` (0), `clip_base` (64), `bbox_thresh` (0.5), `mask_size`
        (21), and those of box targets, as in ProposalTarget.

    Returns
    -------
    top 0
        (D, 5), regions.
    top 1, ..., top 7
        While training: labels, masks, their weights, (D, 12) as MNCProposalTarget's top 7, offsets and both weights.

    Raises
    ------
    LayerError
        As MNCProposalTarget, and for bottoms of different numbers of rows.

    Source
    ------
    Dai et al. 2016 (MNC) and its code, whose gradient takes that of the corners for one of centres and sizes.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MNCStageBridge"'
    >>> run_layer(text, [[0, 0, 0, 9, 9]], [[0] * 4 + [0.5, 0, 0, 0]], [[0.2, 0.8]], [[20, 20, 1]]).tolist()
    [[0.0, 5.0, 0.0, 15.0, 10.0]]
    """

    replaces = ("pylayer.stage_bridge_layer.StageBridgeLayer",)
    extra: ClassVar[dict[str, Any]] = {
        **MaskedTargets.extra, "num_classes": 2, "use_clip": 0, "clip_base": 64, "bbox_thresh": 0.5, "mask_size": 21,
        "feat_stride": 16,
    }  # fmt: skip

    kernels = kernels

    array_copies = 3

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.trains = len(top) > 1
        self.need(
            (len(bottom), len(top)) in ((4, 1), (7, 8)),
            f"has {len(bottom)} bottoms and {len(top)} tops; it takes 4 and 1, or 7 and 8 while training",
        )
        self.read_settings()
        if not self.trains:
            self.traits &= ~Trait.CHOOSES_ROWS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = bottom[0].shape[0] if bottom[0].shape else 0
        self.need(bottom[0].count == 5 * rows, f"bottom 0, the regions, must be (R, 5), got {bottom[0].shape}")
        scores = prod(bottom[2].shape[1:])
        fits = bottom[1].shape[:1] == bottom[2].shape[:1] == (rows,) and prod(bottom[1].shape[1:]) == 4 * scores
        self.need(
            fits and scores > 1,
            f"offsets and scores must be (R, 4 C) and (R, C) for {rows} regions, got {bottom[1].shape}, {bottom[2].shape}",
        )
        self.columns = scores
        info = bottom[5 if self.trains else 3]
        self.need(info.count >= 3, f"im_info must be (1, 3), got {info.shape}")
        top[0].reshape(rows, 5)
        if not self.trains:
            return
        truth, side, each = bottom[3], self.settings["mask_size"], 4 * self.classes
        self.need(
            truth.shape[1:2] == (5,) and truth.count == 5 * truth.shape[0],
            f"bottom 3, the true boxes, must be (G, 5), got {truth.shape}",
        )
        self.check_masks(bottom[4], bottom[6], truth.shape[0])
        shapes = [(1,), (1, 1, side, side), (1, 1, side, side), (1, INFO), (1, each), (1, each), (1, each)]
        for blob, shape in zip(top[1:], shapes):
            blob.reshape(*shape)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        return bottom[0].shape[0] + bottom[3].shape[0] if self.trains else 0

    def moved(self, bottom: list[Blob], info: np.ndarray) -> np.ndarray:
        """The regions (R, 4) of the next stage; those that are not clipped are `free`."""
        self.regions = np.asarray(bottom[0].data).reshape(-1, 5).astype(np.float64)
        rows = len(self.regions)
        scores = np.asarray(bottom[2].data).reshape(rows, self.columns)
        first = 1 if self.trains else 0
        self.of = scores[:, first:].argmax(1) + first if rows else np.zeros(0, int)
        by = np.asarray(bottom[1].data).astype(np.float64).reshape(rows, self.columns, 4)
        self.by = by[np.arange(rows), self.of]
        boxes = Upright.decode(self.regions[:, 1:], self.by)
        clipped = Upright.clip(boxes, info[0], info[1])
        self.free = clipped == boxes
        return clipped

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.trains:
            regions, offsets, scores, info_there = (blob.data for blob in bottom)
            bound = kernels.on(self.device)
            bound.stage_regions(top[0].shape[0], regions, offsets, scores, info_there, top[0].data, self.columns)
            return
        info = np.asarray(bottom[5].data).reshape(-1)
        boxes = self.moved(bottom, info)
        truth = np.asarray(bottom[3].data).reshape(-1, 5).astype(np.float64)
        self.check_truth(truth)
        every = np.concatenate([boxes, Upright.clip(truth[:, :4], info[0], info[1])])
        self.need_pairs("overlaps of regions and true boxes", len(every) * len(truth))
        matched, most = self.boxes.nearest(self.device, every, truth[:, :4])
        objects = np.flatnonzero(most >= self.settings["bbox_thresh"])
        self.chosen = np.append(objects, np.flatnonzero(~(most >= self.settings["bbox_thresh"])))
        count, matched = len(objects), matched[self.chosen]
        labels = np.zeros(len(self.chosen))
        labels[:count] = truth[matched[:count], 4]
        regions = np.column_stack([np.zeros(len(self.chosen)), every[self.chosen]])
        drawn = Drawn(regions, truth, matched, count, labels)
        give(top[0], regions)
        give(top[1], labels)
        self.give_offsets(drawn, top[5:])
        self.give_masks(drawn, bottom[4], bottom[6], float(info[2]), top[2:5])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not any(propagate_down[2:]), "only bottoms 0 and 1 have a gradient; set propagate_down for the others"
        )
        if not self.trains:
            self.moved(bottom, np.asarray(bottom[3].data).reshape(-1))
        rows = len(self.regions)
        whole = np.zeros((rows, 4))
        chosen = self.chosen if self.trains else np.arange(rows)
        mine = np.flatnonzero(chosen < rows)
        whole[chosen[mine]] = np.asarray(top[0].diff)[mine, 1:]
        regions, offsets = Upright.decode_backward(self.regions[:, 1:], self.by, whole * self.free)
        if propagate_down[0]:
            bottom[0].diff[...] = np.column_stack([np.zeros(rows), regions]).reshape(bottom[0].shape)
        if propagate_down[1]:
            if self.settings["use_clip"]:
                most = 1 / float(self.settings["clip_base"])
                offsets = np.clip(offsets, -most, most)
            spread = np.zeros((rows, self.columns, 4))
            spread[np.arange(rows), self.of] = offsets
            bottom[1].diff[...] = spread.reshape(bottom[1].shape)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
