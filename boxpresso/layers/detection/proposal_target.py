"""ProposalTarget, DontcareProposalTarget, FrcnnProposalTarget, FPNProposalTarget, RotateProposalTarget: the regions that a
detector learns from, and their targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import Blob
from ..core import Trait
from . import dontcare, fields, group_target, pyramid
from .rcnn import Rotated
from .target_base import RegionTargets, give, put


class ProposalTarget(
    RegionTargets,
    type="ProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=2,
    tops=(5, 7),
):
    """The regions that a detector learns from, with their labels, box offsets and loss weights.

    This is the ProposalTargetLayer of py-faster-rcnn's rpn.proposal_target_layer. It takes one image at a time. With
    six or seven tops it is the layer of MS-CNN and Cascade R-CNN, of several images; group_target.py says how that one
    chooses.

    The true boxes are regions too (unless `append_gtbox` is false). Of the regions with an overlap of `fg_thresh` or
    more, at most `fg_fraction` * `batch_size` are drawn at random, with the net's seed. Of those with an overlap below
    `bg_thresh_hi` and of `bg_thresh_lo` or more, as many are drawn as `batch_size` leaves. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 5), regions: image, xmin, ymin, xmax, ymax.
    bottom 1
        (G, 5), true boxes of one image: xmin, ymin, xmax, ymax, label. Of MS-CNN's layer (G, 7 or 8): image, xmin,
        ymin, xmax, ymax, label, whether to ignore it.
    python_param
        `param_str` holds `num_classes` (required), with the background, and what py-faster-rcnn's cfg.TRAIN holds,
        with its defaults: `batch_size` (128; -1 takes all, as R-FCN does for OHEM), `fg_fraction` (0.25), `fg_thresh`
        (0.5), `bg_thresh_hi` (0.5), `bg_thresh_lo` (0.1; its end-to-end recipe says 0), `bbox_inside_weights`
        (1, 1, 1, 1), `bbox_normalize_targets_precomputed` (False; end-to-end True), `bbox_normalize_means`
        (0, 0, 0, 0), `bbox_normalize_stds` (0.1, 0.1, 0.2, 0.2). Also `append_gtbox` (True). With `num_classes: 2`
        every label but 0 is at place 1: R-FCN's class-agnostic boxes.
    proposal_target_param
        The same settings by other names: `cls_num` (or `n_classes`), `batch_size`, `fg_fraction`, `fg_thr`,
        `bg_thr_hg`, `bg_thr_lw`, `append_gtbox`. A setting in `param_str` takes precedence. MS-CNN's layer also reads
        `num_img_per_batch`, `img_width`, `img_height`, `iou_weighted`, `bbox_thr_lw`, `bbox_thr_hg` and
        `pickup_discard`.
    bbox_reg_param
        `bbox_mean` and `bbox_std`: the means and stds that normalize the offsets. Both together turn on
        `bbox_normalize_targets_precomputed`.

    Returns
    -------
    top 0
        (D, 5), the regions drawn, objects first.
    top 1
        (D,), their labels, 0 for background.
    top 2
        (D, 4 C), offsets to the true box that each overlaps most, at the place of its label.
    top 3
        (D, 4 C), weights inside the loss: `bbox_inside_weights` at the place of the label of an object, else 0.
    top 4
        (D, 4 C), weights outside the loss: 1 where the weights inside are above 0.
    top 5
        MS-CNN's. (D, 6, 1, 1), matched true boxes: label, xmin, ymin, xmax, ymax, overlap; 0 for background.
    top 6
        Optional, MS-CNN's. (D, 1, 1, 1), weights of the regions in the loss of classes.

    Raises
    ------
    LayerError
        For `num_classes` below 2, a `batch_size` that is neither a whole number above 0 nor -1, an `fg_fraction` that is
        not from 0 to 1, weights, means or stds that are not four numbers, bottoms of the wrong shape, regions of another
        image than 0, a true box with NaN or infinity, or with a label that is not a whole number from 0 and below
        `num_classes` (unless that is 2), or a `param_str` that cannot be read.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN), and py-faster-rcnn.

    Examples
    --------
    A true box, and a region that overlaps it by 0.2 and so is background:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ProposalTarget" python_param { param_str: "num_classes: 2" }'
    >>> regions, labels, offsets, inside, outside = run_layer(text, [[0, 0, 0, 9, 1]], [[0, 0, 9, 9, 1]], tops=5)
    >>> regions.tolist(), labels.tolist()
    ([[0.0, 0.0, 0.0, 9.0, 9.0], [0.0, 0.0, 0.0, 9.0, 1.0]], [1.0, 0.0])
    >>> inside[0].tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    """

    replaces = ("rpn.proposal_target_layer.ProposalTargetLayer",)
    grouped = False  # whether it is D-X-Y's, with bbox_reg_param

    @classmethod
    def variant(cls, module: str, axes: Sequence[int], tops: int) -> str:
        if cls is ProposalTarget and tops == 5 and len(axes) == 4:
            return "DontcareProposalTarget"
        if cls is not ProposalTarget or tops < 7:
            return cls.type
        if tops == 7:
            return "MaskProposalTarget" if len(axes) == 3 else "ViewpointProposalTarget"
        inclined = tops == 8 and len(axes) == 3 and axes[2] == 2
        return "InclinedProposalTarget" if inclined else "FPNProposalTarget"

    def deviations(self) -> tuple[Any, Any, str]:
        if self.grouped:
            if (self.deviation.std == 1).all() and not self.deviation.mean.any():
                return None, None, f"learns the targets of {self.name!r}, whose bbox_reg_param says no bbox_std"
            return self.deviation.mean, self.deviation.std, ""
        s = self.settings
        if s["bbox_normalize_targets_precomputed"]:
            return s["bbox_normalize_means"], s["bbox_normalize_stds"], ""
        stds = ",".join(f"{value:g}" for value in s["bbox_normalize_stds"])
        return None, None, (
            f"learns the targets of {self.name!r}, which has bbox_normalize_targets_precomputed False; if another program "
            f"trained it with that True, give --stds {stds}"
        )  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.grouped = len(top) > 5
        if self.grouped:
            self.setup_grouped()
        else:
            self.read_settings()

    def setup_grouped(self) -> None:
        """Reads the parameters of MS-CNN's layer."""
        p = self.param.proposal_target_param
        self.deviation, self.aware = fields.Deviation(self), self.param.bbox_reg_param.cls_aware
        self.places = p.cls_num if self.aware else 2
        self.need(
            p.cls_num > 1, f"proposal_target_param must give cls_num, 2 or more with the background; got {p.cls_num}"
        )
        self.need(
            p.batch_size > 0 or p.batch_size == -1, f"batch_size must be above 0, or -1 for all, got {p.batch_size}"
        )
        self.need(0 <= p.fg_fraction <= 1, f"fg_fraction must be from 0 to 1, got {p.fg_fraction}")
        self.need(p.fg_thr >= p.bg_thr_hg, f"fg_thr {p.fg_thr} is below bg_thr_hg {p.bg_thr_hg}")

    def reshape_grouped(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The shapes of MS-CNN's layer, with one row until forward knows how many there are."""
        for i, (subject, least, most) in enumerate((("regions", 5, 5), ("true boxes", 7, 8))):
            shape = (*bottom[i].shape, 1, 1)[:2]
            self.need(
                least <= shape[1] <= most and bottom[i].count == shape[0] * shape[1],
                f"bottom {i}, the {subject}, must be (R, {least}), got {bottom[i].shape}",
            )
        each = 4 * self.places
        for blob, few in zip(top, (5, 1, each, each, each, group_target.COLUMNS, 1)):
            blob.reshape(max(1, self.param.proposal_target_param.batch_size), few, 1, 1)

    def forward_grouped(self, bottom: list[Blob], top: list[Blob]) -> None:
        """MS-CNN's choice."""
        regions, truth = (np.asarray(b.data).astype(np.float64).reshape(*b.shape[:2]) for b in bottom)
        p, labels = self.param.proposal_target_param, truth[truth[:, 0] >= 0, 5]
        self.need(np.isfinite(truth).all(), "a true box holds NaN or infinity")
        self.need(
            not len(labels) or (labels.min() >= 0 and (labels.max() < p.cls_num or not self.aware)),
            f"a true box has the label {labels.max(initial=0):g}, cls_num is {p.cls_num}",
        )
        chosen = group_target.choose(self, p, self.deviation, self.aware, regions, truth)
        rows = len(chosen.labels)
        for blob in top[2:5]:
            blob.reshape(rows, 4 * self.places, 1, 1)
        for blob, values in zip(top[2:5], (chosen.offsets, chosen.inside, chosen.inside)):
            put(blob, 4, chosen.rows, chosen.at, values)
        parts = chosen.boxes, chosen.labels[:, None], chosen.pairs, chosen.weights[:, None]
        for blob, part in zip([*top[:2], *top[5:]], parts):
            give(blob, part, (1, 1))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.grouped:
            self.reshape_grouped(bottom, top)
            return
        columns = self.boxes.columns
        self.check_bottoms(bottom)
        top[0].reshape(1, columns + 1)  # forward knows how many there are
        top[1].reshape(1, 1)
        for blob in top[2:]:
            blob.reshape(1, columns * self.classes)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        return 0 if self.grouped else super().most_rows(bottom)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.grouped:
            self.forward_grouped(bottom, top)
            return
        self.give(self.sample(bottom), top)


class DontcareProposalTarget(ProposalTarget, type="DontcareProposalTarget", bottoms=4, tops=5):
    """ProposalTarget where some true boxes are hard, and in some areas of the image objects are not marked.

    This is the ProposalTargetLayer of rpn.proposal_target_layer with four bottoms. All that is not said here is as in
    ProposalTarget. Neither object nor background is a region that overlaps a hard true box by `fg_thresh` or more, or
    that lies in the areas by more than `dontcare_area_intersection_hi` of its own area, summed over the areas. With
    `append_gtbox` the true boxes that are not hard are regions, and once more those boxes, each moved at random by up to a
    fortieth of its width and height. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1
        As of ProposalTarget.
    bottom 2
        (G,), 1 for a true box that is hard.
    bottom 3
        (D, 4), areas: xmin, ymin, xmax, ymax.
    python_param
        `param_str` as in ProposalTarget; `preclude_hard_samples` (True), `dontcare_area_intersection_hi` (0.5).

    Returns
    -------
    top 0, ..., top 4
        As of ProposalTarget.

    Raises
    ------
    LayerError
        As ProposalTarget, and for bottoms 2 and 3 of another shape.

    Source
    ------
    py-faster-rcnn for KITTI (bupt2-213/object_detection_caffe), as TFFRCNN.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DontcareProposalTarget" python_param { param_str: "{num_classes: 2, append_gtbox: False}" }'
    >>> regions, truth, areas = [[0, 0, 0, 9, 9], [0, 0, 0, 1, 9]], [[0, 0, 9, 9, 1]], [[0, 0, 2, 9]]
    >>> run_layer(text, regions, truth, [0], areas, tops=5)[1].tolist()
    [1.0]
    """

    extra: ClassVar[dict[str, Any]] = {**ProposalTarget.extra, **dontcare.SETTINGS}

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        dontcare.check_marks(self, bottom[1], bottom[2], bottom[3], 2)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        own = bottom[1].shape[0] if self.settings["append_gtbox"] else 0
        rows, batch = bottom[0].shape[0] + 2 * own, int(self.settings["batch_size"])
        return rows if batch < 0 else min(batch, rows)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.hard, self.areas = dontcare.hard_of(self, bottom[2]), bottom[3]
        super().forward(bottom, top)

    def own_regions(self, truth: np.ndarray) -> np.ndarray:
        easy = np.asarray(truth[~self.hard, :-1])
        size = easy[:, 2:] - easy[:, :2] + 1
        move = (self.drawn.random(size.shape) - 0.5) * dontcare.JITTER * size
        return np.concatenate([easy, easy + np.tile(move, 2).astype(easy.dtype)])

    def learned(self, boxes: np.ndarray, truth: np.ndarray) -> np.ndarray:
        result = ~dontcare.in_areas(self, boxes, self.areas)
        if self.hard.any():
            _, most = self.boxes.nearest(self.device, boxes, truth[self.hard, :-1])
            result &= most < self.settings["fg_thresh"]
        return np.asarray(result)


class RotateProposalTarget(ProposalTarget, type="RotateProposalTarget", bottoms=2, tops=5):
    """ProposalTarget for rotated regions.

    This is the ProposalTargetLayer of RRPN's rotation.rproposal_target_layer. All that is not said here is as in
    ProposalTarget. Offsets have five numbers.

    A region is an object only when it is turned by `r_positive_angle_filter` degrees or less against its true box.
    A region with the overlap of an object that is turned by more than `r_negative_angle_filter` degrees is
    background. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 6), regions: image, centre x, centre y, height, width, angle in degrees.
    bottom 1
        (G, 6), true boxes: the same without the image, and a label.
    python_param
        `param_str` as in ProposalTarget, with these differences: `bbox_inside_weights` (1, 1, 1, 1, 1),
        `bbox_normalize_means` (0, 0, 0, 0, 0), `bbox_normalize_stds` (0.1, 0.1, 0.2, 0.2, 1),
        `r_positive_angle_filter` (15), `r_negative_angle_filter` (15).
    proposal_target_param, bbox_reg_param
        As in ProposalTarget.

    Returns
    -------
    top 0
        (D, 6), the regions drawn, objects first.
    top 1
        (D,), their labels, 0 for background.
    top 2, top 3, top 4
        (D, 5 C) each: offsets, weights inside and weights outside of the loss.

    Raises
    ------
    LayerError
        As ProposalTarget; regions and true boxes must have six numbers, and weights, means and stds five.

    Source
    ------
    Ma et al. 2018 (RRPN) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "RotateProposalTarget" python_param { param_str: "num_classes: 2" }'
    >>> regions, labels, *targets = run_layer(text, [[0, 5, 5, 2, 8, 0]], [[5, 5, 8, 8, 0, 1]], tops=5)
    >>> regions.tolist(), labels.tolist(), targets[0].shape
    ([[0.0, 5.0, 5.0, 8.0, 8.0, 0.0], [0.0, 5.0, 5.0, 2.0, 8.0, 0.0]], [1.0, 0.0], (2, 10))
    """

    replaces = ("rotation.rproposal_target_layer.ProposalTargetLayer",)
    array_copies = 2
    boxes = Rotated
    extra: ClassVar[dict[str, Any]] = {
        "bbox_normalize_stds": (0.1, 0.1, 0.2, 0.2, 1), "r_positive_angle_filter": 15, "r_negative_angle_filter": 15
    }  # fmt: skip


class FrcnnProposalTarget(ProposalTarget, type="FrcnnProposalTarget", bottoms=(2, 3), tops=5):
    """ProposalTarget of makefile/frcnn, whose settings are in a JSON file beside the net.

    All is as in ProposalTarget, but the settings are those of that program's files: `bg_thresh_lo` 0 and normalized
    offsets. Where fewer regions are drawn than `batch_size`, background is repeated. At a later `stage` of a cascade,
    the thresholds are 0.1 higher for each, and regions that overlap a true box by `gt_iou_thr` or more are left out
    first. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax.
    bottom 1
        (G, 5, 1, 1), true boxes: xmin, ymin, xmax, ymax, label.
    bottom 2
        Optional: im_info. It is not read.
    proposal_target_param
        `cls_num` (a net finds it from the loss that reads the offsets): the classes with the background; `stage` (0);
        `gt_iou_thr` (0.95).
    python_param
        `param_str` as in ProposalTarget.

    Returns
    -------
    top 0, ..., top 4
        As of ProposalTarget, with axes of 1 after them.

    Raises
    ------
    LayerError
        As ProposalTarget.

    Source
    ------
    makefile/frcnn and its configuration files. Among true boxes that a region overlaps alike, the last wins there.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FrcnnProposalTarget" proposal_target_param { cls_num: 2 } python_param { param_str: "batch_size: 4" }'
    >>> regions, labels, *_ = run_layer(text, [[0, 0, 0, 9, 1]], [[0, 0, 9, 9, 1]], tops=5)
    >>> regions.shape, labels.ravel().tolist()
    ((4, 5, 1, 1), [1.0, 0.0, 0.0, 0.0])
    """

    offsets_top = 2
    trailing, fills_up = (1, 1), True
    changed: ClassVar[dict[str, Any]] = {
        "num_classes": 0, "batch_size": 128, "fg_fraction": 0.25, "fg_thresh": 0.5, "bg_thresh_hi": 0.5, "bg_thresh_lo": 0.0,
        "append_gtbox": True, "bbox_normalize_targets_precomputed": True,
    }  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.stage = self.param.proposal_target_param.stage
        for name in ("fg_thresh", "bg_thresh_hi"):
            self.settings[name] += 0.1 * self.stage

    def screen(self, regions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        if not self.stage or not len(truth):
            return regions
        boxes, true = regions[:, 1:].astype(np.float64), truth[:, :-1].astype(np.float64)
        _, most = self.boxes.nearest(self.device, boxes, true)
        return np.asarray(regions[most < self.param.proposal_target_param.gt_iou_thr])

    def draw(self, boxes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        chosen, matched, objects = super().draw(boxes, truth)
        missing = int(self.settings["batch_size"]) - len(chosen)
        if missing > 0 and len(chosen) > objects:
            chosen = np.append(chosen, np.resize(chosen[objects:], missing))
            matched = np.append(matched, np.resize(matched[objects:], missing))
        return chosen, matched, objects


class FPNProposalTarget(
    ProposalTarget,
    type="FPNProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param", "module_param"),
    bottoms=(2, 3),
    tops=(6, None),
    traits=Trait.CHOOSES_ROWS,
):
    """ProposalTarget for a feature pyramid: the regions drawn, sorted by the level that their size belongs to.

    A level without any has one region of zeros, with label -1 and weights of 0. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1
        As of ProposalTarget: regions and true boxes.
    bottom 2
        Optional: the image. It is not read.
    python_param, module_param
        `param_str` as in ProposalTarget. Of a Module the settings are FrcnnProposalTarget's.
    proposal_target_param
        `cls_num`: the classes, where `param_str` does not give num_classes; a net finds it from the loss that reads the
        offsets.

    Returns
    -------
    top 0, ..., L - 1
        (K, 5), the regions of each level from 2 on; of a Module with axes of 1 after them, as all tops.
    top L, ..., L + 3
        Labels, offsets and both weights of all regions, by level.

    Raises
    ------
    LayerError
        As ProposalTarget.

    Source
    ------
    unsky/FPN (Python layers with eight tops), which fills every level up to `batch_size` with such regions of zeros, or
    with four of them where it is empty; makefile/frcnn (a Module).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FPNProposalTarget" python_param { param_str: "num_classes: 2" }'
    >>> small, large, labels, *_ = run_layer(text, [[0, 0, 0, 9, 1]], [[0, 0, 9, 9, 1]], tops=6)
    >>> len(small), large.tolist(), labels.tolist()
    (2, [[0.0, 0.0, 0.0, 0.0, 0.0]], [1.0, 0.0, -1.0])
    """

    replaces = ("rpn.proposal_target_layer_mrcnn.ProposalMergeRcnnTargetLayer",)
    offsets_top = 5

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.changed = {"num_classes": 0}  # type: ignore[misc]
        if self.param.module_param.type:
            self.changed, self.trailing = FrcnnProposalTarget.changed, (1, 1)  # type: ignore[misc]
        super().setup(bottom, top[:5])
        self.levels = len(top) - 4

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, [top[0], *top[self.levels :]])
        for blob in top[: self.levels]:
            blob.reshape(1, 5, *self.trailing)
        for blob in top[self.levels :]:  # a row of each level
            blob.reshape(self.levels, *blob.shape[1:], *([1] * (len(self.trailing) + 2 - len(blob.shape))))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn = self.sample(bottom)
        rows = pyramid.by_level(drawn.regions[:, 1:], self.levels)
        order = np.concatenate(rows)  # the number behind the last is that of an empty level's region
        regions = np.concatenate([drawn.regions, np.zeros((1, 5), drawn.regions.dtype)])
        labels, matched = np.append(drawn.labels, -1.0)[order], np.append(drawn.matched, 0)[order]
        for blob, mine in zip(top, rows):
            give(blob, regions[mine], self.trailing)
        give(top[self.levels], labels[:, None] if self.trailing else labels, self.trailing)
        self.give_offsets(
            drawn._replace(regions=regions[order], labels=labels, matched=matched), top[self.levels + 1 :]
        )
