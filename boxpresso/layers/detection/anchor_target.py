"""AnchorTarget, DontcareAnchorTarget, FrcnnAnchorTarget, FPNAnchorTarget, RotateAnchorTarget: the targets of a region
proposal network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...data.boxes import PAIR
from ...device import Blob
from . import dontcare, pyramid
from .anchor_base import AnchorTargets
from .rcnn import Rotated


class AnchorTarget(AnchorTargets, type="AnchorTarget", param="python_param", bottoms=(3, 4), tops=4):
    """The targets of a region proposal network: a label, box offsets and loss weights for each anchor.

    This is the AnchorTargetLayer of py-faster-rcnn's rpn.anchor_target_layer.

    Only anchors inside the image (by `allowed_border`) count. An anchor gets label 1 from an overlap of
    `rpn_positive_overlap` on; so do, for each true box, the anchors that overlap it most. An anchor whose overlaps
    are all below `rpn_negative_overlap` gets label 0. All others get -1.

    At most `rpn_batchsize` of the labelled anchors are drawn at random, with the net's seed; of these at most the
    fraction `rpn_fg_fraction` has label 1. The rest get label -1.

    Where the scores have another number of anchors than the settings make, see Proposal.

    A true box with a label below 0 is one that nothing is to be learned of (LSI-Faster R-CNN): anchors that overlap it by
    more than `rpn_dontcare_overlap`, or most, get label -1 unless another true box makes them objects.

    Without true boxes every anchor is background; py-faster-rcnn fails in that case. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), scores of A anchors at each place. Only the shape is read.
    bottom 1
        (G, 5), true boxes: xmin, ymin, xmax, ymax, label. Further axes of 1 may follow; a sixth number is not read.
    bottom 2
        (1, 3), im_info: height and width of the net's input, and its scale.
    bottom 3
        Optional: the image. It is not read.
    python_param
        `param_str` holds the settings by name. Those of the anchors: `feat_stride` (16): pixels per place;
        `scales` (8, 16, 32); `ratios` (0.5, 1, 2); `base_size` (16); `allowed_border` (0): pixels by which an anchor
        may leave the image. Those of py-faster-rcnn's cfg.TRAIN, with its defaults: `rpn_positive_overlap` (0.7),
        `rpn_negative_overlap` (0.3), `rpn_clobber_positives` (False): whether label 0 wins over label 1,
        `rpn_fg_fraction` (0.5), `rpn_batchsize` (256), `rpn_bbox_inside_weights` (1, 1, 1, 1),
        `rpn_positive_weight` (-1: uniform weights): otherwise the share of label 1 in the outside weights;
        `rpn_dontcare_overlap` (0.1).

    Returns
    -------
    top 0
        (1, 1, A H, W), labels: 1 object, 0 background, -1 neither.
    top 1
        (1, 4 A, H, W), offsets to the true box that an anchor overlaps most.
    top 2
        (1, 4 A, H, W), weights inside the loss: `rpn_bbox_inside_weights` where the label is 1, else 0.
    top 3
        (1, 4 A, H, W), weights outside the loss: 1 / the number of anchors drawn, where an anchor is drawn.

    Raises
    ------
    LayerError
        For more than one image, scores whose channels are not 2 A, true boxes that are not (G, 5), an im_info with
        fewer than two numbers, an `rpn_positive_weight` that is 0 or is 1 or more, an `rpn_batchsize` below 1, an
        `rpn_fg_fraction` that is not from 0 to 1, or a `param_str` that cannot be read.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN), and py-faster-rcnn.

    Examples
    --------
    Two anchors side by side, of which the first is the true box:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "AnchorTarget" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> truth, info, image = [[0, 0, 15, 15, 1]], [[16, 32, 1]], [0]
    >>> labels, offsets, inside, outside = run_layer(text, [[[[0, 0]]] * 2], truth, info, image, tops=4)
    >>> labels.tolist(), offsets.shape
    ([[[[1.0, 0.0]]]], (1, 4, 1, 2))
    >>> inside[0, 0].tolist(), outside[0, 0].tolist()
    ([[1.0, 0.0]], [[0.5, 0.5]])
    """

    replaces: ClassVar[tuple[str, ...]] = (
        "rpn.anchor_target_layer.AnchorTargetLayer",
        "pylayer.anchor_target_layer.AnchorTargetLayer",
    )

    @classmethod
    def variant(cls, module: str, axes: Sequence[int], tops: int) -> str:
        if cls is not AnchorTarget or len(axes) < 5:
            return cls.type
        if len(axes) == 6 and axes[1] == 2:  # true boxes, where a pyramid has the scores of its second level
            return "DontcareAnchorTarget"
        return "MNCAnchorTarget" if module.startswith("pylayer.") else "FPNAnchorTarget"


class DontcareAnchorTarget(AnchorTarget, type="DontcareAnchorTarget", bottoms=6, tops=4):
    """AnchorTarget where some true boxes are hard, and in some areas of the image objects are not marked.

    This is the AnchorTargetLayer of rpn.anchor_target_layer with six bottoms. All that is not said here is as in
    AnchorTarget. Label -1 has an anchor that lies in the areas by more than `dontcare_area_intersection_hi` of its own
    area, summed over the areas; one that overlaps a hard true box by `rpn_positive_overlap` or more; and of each hard true
    box the anchor that overlaps it most. There is no gradient.

    Parameters
    ----------
    bottom 0, ..., bottom 3
        As of AnchorTarget.
    bottom 4
        (G,), 1 for a true box that is hard: hidden by others, cut by the edge or small.
    bottom 5
        (D, 4), areas: xmin, ymin, xmax, ymax.
    python_param
        `param_str` as in AnchorTarget, where `allowed_border` is 1000; `preclude_hard_samples` (True): False takes hard true
        boxes for others; `dontcare_area_intersection_hi` (0.5).

    Returns
    -------
    top 0, top 1, top 2, top 3
        As of AnchorTarget.

    Raises
    ------
    LayerError
        As AnchorTarget, and for bottoms 4 and 5 of another shape.

    Source
    ------
    py-faster-rcnn for KITTI (bupt2-213/object_detection_caffe), as TFFRCNN.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DontcareAnchorTarget" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> bottoms = [[[[0, 0, 0]]] * 2], [[0, 0, 15, 15, 1]], [[16, 48, 1]], [0], [0], [[30, 0, 60, 15]]
    >>> run_layer(text, *bottoms, tops=4)[0].tolist()
    [[[[1.0, 0.0, -1.0]]]]
    """

    further: ClassVar[dict[str, Any]] = {**dontcare.SETTINGS, "allowed_border": 1000}

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        dontcare.check_marks(self, bottom[1], bottom[4], bottom[5], 4)

    def not_learned(
        self, bottom: list[Blob], anchors: np.ndarray, truth: np.ndarray, shared: np.ndarray
    ) -> np.ndarray:  # fmt: skip
        of_hard = shared[:, dontcare.hard_of(self, bottom[4])]
        result = dontcare.in_areas(self, anchors, bottom[5])
        if of_hard.size:
            result |= (of_hard >= self.settings["rpn_positive_overlap"]).any(1)
            result[of_hard.argmax(0)] = True
        return np.flatnonzero(result)


class RotateAnchorTarget(AnchorTarget, type="RotateAnchorTarget", bottoms=(3, 4), tops=4):
    """AnchorTarget for rotated anchors.

    This is the AnchorTargetLayer of RRPN's rotation.anchor_target_layer. All that is not said here is as in
    AnchorTarget. Offsets have five numbers.

    An anchor that overlaps a true box most gets label 1 only when it is turned by `r_positive_angle_filter` degrees
    or less against it. With `rpn_clobber_positives`, an anchor with an overlap of `rpn_positive_overlap` or more
    that is turned by more than `r_negative_angle_filter` degrees gets label 0.

    An anchor is inside the image when its own corners are. RRPN differs here: it takes the height of the image for
    its width. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), scores. Only the shape is read.
    bottom 1
        (G, 6), true boxes: centre x, centre y, height, width, angle in degrees, label.
    bottom 2
        (1, 3), im_info: height, width, scale.
    bottom 3
        The image. It is not read.
    python_param
        `param_str` holds the settings of AnchorTarget, with these differences: `ratios` (0.2, 0.5, 1), `angles`
        (-30, 0, 30, 60, 90, 120), `rpn_bbox_inside_weights` (1, 1, 1, 1, 1), `r_positive_angle_filter` (15),
        `r_negative_angle_filter` (15).

    Returns
    -------
    top 0
        (1, 1, A H, W), labels: 1 object, 0 background, -1 neither.
    top 1, top 2, top 3
        (1, 5 A, H, W) each: offsets, weights inside and weights outside of the loss.

    Raises
    ------
    LayerError
        As AnchorTarget; true boxes must be (G, 6).

    Source
    ------
    Ma et al. 2018 (RRPN) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "RotateAnchorTarget"
    ... python_param { param_str: "{scales: [1], ratios: [1], angles: [0], allowed_border: 2}" }'''
    >>> truth, info, image = [[7, 7, 16, 16, 0, 1]], [[16, 32, 1]], [0]
    >>> labels, offsets, inside, outside = run_layer(text, [[[[0, 0]]] * 2], truth, info, image, tops=4)
    >>> labels.tolist(), offsets.shape
    ([[[[1.0, 0.0]]]], (1, 5, 1, 2))
    """

    replaces = ("rotation.anchor_target_layer.AnchorTargetLayer",)
    boxes = Rotated
    extra: ClassVar[dict[str, Any]] = {"ratios": (0.2, 0.5, 1), "angles": (-30, 0, 30, 60, 90, 120),
                                       "r_positive_angle_filter": 15, "r_negative_angle_filter": 15}  # fmt: skip


class FrcnnAnchorTarget(AnchorTarget, type="FrcnnAnchorTarget", bottoms=(3, 4), tops=4):
    """AnchorTarget of makefile/frcnn, whose settings are in a JSON file beside the net.

    All is as in AnchorTarget, with py-faster-rcnn's numbers, which `param_str` may change. The anchors of that file are
    given with `Net(..., anchors="config.json")`. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As of AnchorTarget; true boxes are (G, 5, 1, 1).
    python_param
        `param_str`, as in AnchorTarget.

    Returns
    -------
    top 0, top 1, top 2, top 3
        As of AnchorTarget.

    Raises
    ------
    LayerError
        As AnchorTarget.

    Source
    ------
    makefile/frcnn, and py-faster-rcnn for the numbers.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FrcnnAnchorTarget" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> truth, info = [[[[0]], [[0]], [[15]], [[15]], [[1]]]], [[16, 32, 1]]
    >>> run_layer(text, [[[[0, 0]]] * 2], truth, info, tops=4)[0].tolist()
    [[[[1.0, 0.0]]]]
    """


class FPNAnchorTarget(
    AnchorTarget, type="FPNAnchorTarget", param=("python_param", "module_param"), bottoms=(3, None), tops=4
):
    """AnchorTarget over the levels of a feature pyramid at once: one draw of anchors from all of them. There is no
    gradient.

    Parameters
    ----------
    bottom 0, ..., L - 1
        (1, 2 A, H, W), scores of each level. Only the shapes are read.
    bottom L
        (G, 5), true boxes: xmin, ymin, xmax, ymax, label.
    bottom L + 1
        (1, 3), im_info.
    python_param, module_param
        `param_str` as in AnchorTarget, with these differences: `feat_stride` or `feat_strides` (4, 8, 16, 32, 64): one
        for each level, around which its anchors lie; `anchor_scales` (8, 16) and `anchor_ratios` (0.5, 1, 2) of a
        Module; `scales` (16, 32) and `ratios` of a Python layer; `allowed_border` (0, of a Python layer 1000).

    Returns
    -------
    top 0
        (1, 1, A S, 1) for S places of all levels, labels, by level, anchor and place; of a Python layer (1, A S).
    top 1, top 2, top 3
        (1, 4 A, S, 1) each, offsets and weights; of a Python layer (1, 4 A, S).

    Raises
    ------
    LayerError
        As AnchorTarget, and for a number of strides that is not that of the levels.

    Source
    ------
    unsky/FPN (a Python layer rpn.anchor_target_layer with more bottoms), makefile/frcnn (a Module).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "FPNAnchorTarget" python_param { param_str: "{feat_strides: [16, 32], scales: [1], ratios: [1]}" }'''
    >>> truth, info = [[0, 0, 15, 15, 1]], [[32, 32, 1]]
    >>> run_layer(text, [[[[0, 0]]] * 2], [[[[0]]] * 2], truth, info, tops=4)[0].tolist()
    [[1.0, 0.0, 0.0]]
    """

    further: ClassVar[dict[str, Any]] = {
        "feat_stride": None, "feat_strides": None, "anchor_scales": None, "anchor_ratios": None, "scales": None,
        "allowed_border": None,
    }  # fmt: skip

    def make_anchors(self, bottom: list[Blob]) -> None:
        s, self.levels = self.settings, len(bottom) - 2
        self.module = bool(self.param.module_param.type)
        self.strides = pyramid.strides(self, s, self.levels)
        if s["allowed_border"] is None:
            s["allowed_border"] = 0 if self.module else 1000
        border = s["allowed_border"]
        self.need(isinstance(border, (int, float)), f"allowed_border must be a number, got {border!r}")
        count = bottom[0].shape[1] // 2 if len(bottom[0].shape) > 1 else 0
        self.of_levels = pyramid.level_anchors(self.strides, s, self.module, count)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.sizes = []
        for level in range(self.levels):
            images, channels, height, width = self.axes(bottom[level], 4, f"bottom {level}, the scores,")
            count = len(self.of_levels[level])
            self.need(images == 1, f"takes one image at a time, got {images}")
            self.need(
                channels == 2 * count,
                f"bottom {level} must have {2 * count} channels for {count} anchors, got {channels}",
            )
            self.sizes.append((height, width))
        truth, info = bottom[self.levels :]
        self.need(
            truth.shape[1:2] == (5,) and truth.count == 5 * truth.shape[0],
            f"bottom {self.levels}, the true boxes, must be (G, 5), got {truth.shape}",
        )
        self.need(info.count >= 2, f"bottom {self.levels + 1}, im_info, must be (1, 3), got {info.shape}")
        count, places = len(self.of_levels[0]), sum(h * w for h, w in self.sizes)
        top[0].reshape(*((1, 1, count * places, 1) if self.module else (1, count * places)))
        for blob in top[1:]:
            blob.reshape(1, 4 * count, places, *((1,) if self.module else ()))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.drawn = self.draws()
        truth = np.asarray(bottom[self.levels].data).astype(np.float64).reshape(-1, 5)
        info = np.asarray(bottom[self.levels + 1].data).reshape(-1)
        of_level = [
            self.boxes.everywhere(anchors, *size, stride)
            for anchors, size, stride in zip(self.of_levels, self.sizes, self.strides)
        ]
        every = np.concatenate(of_level)
        at = np.flatnonzero(self.boxes.inside(every, info[0], info[1], self.settings["allowed_border"]))
        anchors = every[at]
        self.need_pairs("overlaps of anchors and true boxes", len(anchors) * len(truth), PAIR)
        shared = self.boxes.overlaps(self.device, anchors, truth[:, :-1])
        of_anchors = self.label(shared, self.boxes.turn(anchors[:, None], truth), np.zeros(len(truth), bool))
        targets = np.zeros(anchors.shape)
        if shared.size:
            targets = self.boxes.encode(anchors, truth[shared.argmax(1), :-1])
        if not self.module:
            targets[of_anchors != 1] = 0  # as in unsky/FPN
        labels = np.full(len(every), -1.0)
        labels[at] = of_anchors
        top[0].data[...] = self.level_by_level(labels[:, None], 1).reshape(top[0].shape)
        for blob, values in zip(top[1:], (targets, *self.weights(of_anchors))):
            whole = np.zeros(every.shape)
            whole[at] = values
            blob.data[...] = self.level_by_level(whole, 2).reshape(blob.shape)

    def level_by_level(self, rows: np.ndarray, joined: int) -> np.ndarray:
        """Rows by level, place and anchor as (1, A columns, places); labels (joined=1) as those of each level in
        turn."""
        parts, start, count = [], 0, len(self.of_levels[0])
        for height, width in self.sizes:
            end = start + height * width * count
            part = rows[start:end].reshape(height * width, count * rows.shape[1]).T
            parts.append(part.reshape(1, part.size) if joined == 1 else part[None])
            start = end
        return np.concatenate(parts, joined)
