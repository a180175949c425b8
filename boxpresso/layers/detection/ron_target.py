"""RONAnchorTarget, RONTarget: what one scale of RON learns, objectness and classes of its anchors."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

from ...data.boxes import PAIR
from ...device import Blob, Kernels
from ..core import Layer
from ..core.param_str import settings
from . import suppress
from .anchors import RON_RATIOS, check_lists
from .rcnn import Upright

COLUMNS = 6  # of a true box: xmin, ymin, xmax, ymax, label, image


class RONTargets(Layer):
    """What both have: anchors of one scale, the true boxes of a batch, a draw of background."""

    line: ClassVar[str]  # the setting that holds the numbers of this scale
    numbers: ClassVar[int]  # how many it has
    further: ClassVar[dict[str, Any]]
    kernels: ClassVar[Kernels] = suppress.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        defaults = {
            self.line: (), "base_size": 32, "ratios": RON_RATIOS, "fg_fraction": 0.25, "bg_thresh_hi": 0.3, **self.further,
        }  # fmt: skip
        s = self.settings = settings(self, defaults)
        numbers = s[self.line]
        parts = numbers.split(",") if isinstance(numbers, str) else numbers
        try:
            values = [float(part) for part in parts]
        except (TypeError, ValueError):
            values = []
        self.need(
            len(values) == self.numbers and min(values) >= 0 and values[0] > 0 and values[1] > 0,
            f"param_str must give {self.line}, {self.numbers} numbers such as 64,7,32,256; got {numbers!r}",
        )
        self.stride, scale, self.border, self.most = values[:4]
        self.need(0 < s["fg_fraction"] <= 1, f"fg_fraction must be above 0 and at most 1, got {s['fg_fraction']}")
        check_lists(self, s)
        self.need(s["base_size"] > 0, f"base_size must be above 0, got {s['base_size']}")
        self.anchors = Upright.anchors(s["base_size"], s["ratios"], (scale, scale + 1))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0, the scores,")
        count = len(self.anchors)
        self.need(channels == 2 * count, f"bottom 0 must have {2 * count} channels for {count} anchors, got {channels}")
        self.need(
            bottom[1].shape[1:2] == (COLUMNS,) and bottom[1].count == COLUMNS * bottom[1].shape[0],
            f"bottom 1, the true boxes, must be (G, {COLUMNS}), a box, its label and its image; got {bottom[1].shape}",
        )
        self.need(bottom[2].count >= 2 or not images, f"bottom 2, im_info, must be (N, 2), got {bottom[2].shape}")
        self.size = height, width
        top[0].reshape(images, 1, count * height, width)
        for blob in top[1:]:
            blob.reshape(images, 4 * count, height, width)

    def read(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray]:
        """All anchors, and the true boxes (G, 6)."""
        height, width = bottom[0].shape[2:]
        truth = np.asarray(bottom[1].data).astype(np.float64).reshape(-1, COLUMNS)
        wrong = np.flatnonzero(~np.isfinite(truth).all(1))
        if len(wrong):
            self.need(False, f"true box {wrong[0]} holds NaN or infinity: {truth[wrong[0]].tolist()}")
        every = Upright.everywhere(self.anchors, height, width, self.stride)
        info = np.asarray(bottom[2].data).reshape(-1) if bottom[2].count else np.zeros(2)
        self.at = np.flatnonzero(Upright.inside(every, info[0], info[1], self.border))
        return every, truth

    def draw(self, labels: np.ndarray) -> None:
        """Leaves as much background (0) among the labels of a whole batch as its objects ask for; the rest is -1."""
        draws, share = self.draws(), self.settings["fg_fraction"]
        objects, others = int((labels > 0).sum()), np.flatnonzero(labels == 0)
        most = objects * (1 - share) / share if objects else self.most
        if len(others) > most:
            labels.flat[draws.choice(others, size=int(len(others) - most), replace=False)] = -1

    def spread(self, values: np.ndarray, fill: float, every: int) -> np.ndarray:
        """Values (inside, columns) or (inside,) of one image as (A columns, H, W) of all anchors."""
        whole = np.full((every, *values.shape[1:]), fill, np.float64)
        whole[self.at] = values
        height, width = self.size
        return np.asarray(whole.reshape(height, width, len(self.anchors) * prod(whole.shape[1:])).transpose(2, 0, 1))

    def best(self, shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each anchor the true box that it overlaps most, and how much; 0 without true boxes."""
        if not shared.shape[1]:
            return np.zeros(len(shared), int), np.zeros(len(shared))
        return shared.argmax(1), shared.max(1, initial=0)

    def allow_force_backward(self, index: int) -> bool:
        return False


class RONAnchorTarget(RONTargets, type="RONAnchorTarget", param="python_param", bottoms=(3, 4), tops=4):
    """The targets of RON's objectness and boxes at one scale: labels, offsets and weights of each anchor.

    This is the AnchorTargetLayer of RON's ron_layer.anchor_target_layer. The anchors are those of RONDetection. An anchor
    inside the image has label 1 from an overlap of `fg_thresh` on; so has the anchor that overlaps a true box most, where
    that is more than `bg_thresh_hi` - 0.2. It has label 0 with an overlap above `bg_thresh_lo` and below
    `bg_thresh_hi`. All others have -1. Of the labels 0 of all images as many stay, drawn at random, as make the labels 1
    the fraction `fg_fraction`; without a label 1, the last of the four numbers. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores. Only the shape is read.
    bottom 1
        (G, 6), true boxes of all images: xmin, ymin, xmax, ymax, label, image.
    bottom 2
        (N, 2), height and width of the net's input.
    bottom 3
        Optional: the images. They are not read.
    python_param
        `param_str` holds `stride_scale_border_batchsize` (required): pixels per place, the smaller scale, pixels by which
        an anchor may leave the image, and that number of labels 0, such as 64,7,32,256. And of RON's configuration:
        `base_size` (32), `ratios` (0.333, 0.5, 1, 2, 3), `fg_thresh` (0.5), `bg_thresh_hi` (0.3), `bg_thresh_lo` (0.001),
        `fg_fraction` (0.25), `bbox_inside_weights` (1, 1, 1, 1).

    Returns
    -------
    top 0
        (N, 1, A H, W), labels.
    top 1
        (N, 4 A, H, W), offsets to the true box of its image that an anchor overlaps most; 0 outside of the image, and
        without true boxes.
    top 2
        (N, 4 A, H, W), weights inside the loss: `bbox_inside_weights` where the label is 1, else 0.
    top 3
        (N, 4 A, H, W), weights outside the loss: 1 / the labels of the image that are 0 or 1, where the label is.

    Raises
    ------
    LayerError
        For four numbers that are not given, bottoms of the wrong shape, or a true box with NaN or infinity.

    Source
    ------
    Kong et al. 2017 (RON) and its code, which fails on an image without true boxes; here its labels are -1.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> settings = "{stride_scale_border_batchsize: [16, 1, 99, 8], base_size: 16, ratios: [1]}"
    >>> text = f'type: "RONAnchorTarget" python_param {{ param_str: "{settings}" }}'
    >>> labels, *_ = run_layer(text, [[[[0]]] * 4], [[0, 0, 15, 15, 3, 0]], [[16, 16]], tops=4)
    >>> labels.tolist()
    [[[[1.0], [0.0]]]]
    """

    replaces = ("ron_layer.anchor_target_layer.AnchorTargetLayer",)
    line, numbers = "stride_scale_border_batchsize", 4
    further: ClassVar[dict[str, Any]] = {
        "fg_thresh": 0.5, "bg_thresh_lo": 0.001, "bbox_inside_weights": (1.0, 1.0, 1.0, 1.0)
    }  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        weights = self.settings["bbox_inside_weights"]
        self.need(np.shape(weights) == (4,), f"bbox_inside_weights must have 4 numbers, got {weights!r}")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        s, images = self.settings, bottom[0].shape[0]
        every, truth = self.read(bottom)
        anchors = every[self.at]
        self.need_pairs("overlaps of anchors and true boxes", len(anchors) * len(truth), PAIR)
        shared = Upright.overlaps(self.device, anchors, truth[:, :4])
        labels = np.full((images, len(anchors)), -1.0)
        targets = np.zeros((images, len(anchors), 4))
        for image in range(images):
            mine = np.flatnonzero(truth[:, 5] == image)
            matched, most = self.best(shared[:, mine])
            labels[image, (most < s["bg_thresh_hi"]) & (most > s["bg_thresh_lo"])] = 0
            if len(mine) and len(anchors):
                nearest = shared[:, mine].argmax(0)
                enough = shared[nearest, mine] > s["bg_thresh_hi"] - 0.2
                labels[image, nearest[enough]] = 1
                targets[image] = Upright.encode(anchors, truth[mine[matched], :4])
            labels[image, most >= s["fg_thresh"]] = 1
        self.draw(labels)
        counts = np.maximum(1, (labels >= 0).sum(1))
        inside = np.where(labels[..., None] == 1, np.asarray(s["bbox_inside_weights"], np.float64), 0)
        outside = np.where(labels >= 0, 1 / counts[:, None], 0)[..., None] * np.ones(4)
        for image in range(images):
            top[0].data[image] = self.spread(labels[image], -1, len(every)).reshape(top[0].shape[1:])
            for blob, values in zip(top[1:], (targets, inside, outside)):
                blob.data[image] = self.spread(values[image], 0, len(every))


class RONTarget(RONTargets, type="RONTarget", param="python_param", bottoms=(3, 4), tops=1):
    """The labels of RON's classes at one scale, of the anchors that its objectness lets through.

    This is the DetTargetLayer of RON's ron_layer.det_target_layer. The anchors are those of RONDetection. An anchor inside
    the image has the label of the true box of its image that it overlaps most from an overlap of
    `det_positive_overlap` on; the anchor that overlaps a true box most has its label where that is more than
    `bg_thresh_hi`. Below `bg_thresh_hi` it has label 0, between the two -1. Where the objectness is below `prob` the label
    is -1. Of the labels 0 of all images as many stay as RONAnchorTarget says. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), probabilities: first all backgrounds, then all objects.
    bottom 1
        (G, 6), true boxes of all images: xmin, ymin, xmax, ymax, label, image.
    bottom 2
        (N, 2), height and width of the net's input.
    python_param
        `param_str` holds `stride_scale_border_batchsize_numcls` (required), as in RONAnchorTarget with the number of
        classes after it, such as 64,7,32,256,21; and of RON's configuration `base_size` (32), `ratios` (0.333, 0.5, 1,
        2, 3), `det_positive_overlap` (0.6), `bg_thresh_hi` (0.3), `fg_fraction` (0.25), `prob` (0.03).

    Returns
    -------
    top 0
        (N, 1, A H, W), labels.

    Raises
    ------
    LayerError
        As RONAnchorTarget, and for a label that is no class.

    Source
    ------
    Kong et al. 2017 (RON) and its code. Of two true boxes with the same nearest anchor the last gives its label.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> settings = "{stride_scale_border_batchsize_numcls: [16, 1, 99, 8, 4], base_size: 16, ratios: [1]}"
    >>> text = f'type: "RONTarget" python_param {{ param_str: "{settings}" }}'
    >>> run_layer(text, [[[[0.5]]] * 4], [[0, 0, 15, 15, 3, 0]], [[16, 16]]).tolist()
    [[[[3.0], [0.0]]]]
    """

    replaces = ("ron_layer.det_target_layer.DetTargetLayer",)
    line, numbers = "stride_scale_border_batchsize_numcls", 5
    further: ClassVar[dict[str, Any]] = {"det_positive_overlap": 0.6, "prob": 0.03}

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        s, images, count = self.settings, bottom[0].shape[0], len(self.anchors)
        every, truth = self.read(bottom)
        label = truth[:, 4]
        self.need(
            not len(label) or (label.min() >= 0 and (label == np.floor(label)).all()),
            "labels of true boxes must be whole numbers from 0",
        )
        anchors = every[self.at]
        self.need_pairs("overlaps of anchors and true boxes", len(anchors) * len(truth), PAIR)
        shared = Upright.overlaps(self.device, anchors, truth[:, :4])
        objects = np.asarray(bottom[0].data)[:, count:].transpose(0, 2, 3, 1).reshape(images, len(every))[:, self.at]
        labels = np.full((images, len(anchors)), -1.0)
        for image in range(images):
            mine = np.flatnonzero(truth[:, 5] == image)
            matched, most = self.best(shared[:, mine])
            labels[image, most < s["bg_thresh_hi"]] = 0
            if len(mine) and len(anchors):
                nearest = shared[:, mine].argmax(0)
                enough = shared[nearest, mine] > s["bg_thresh_hi"]
                labels[image, nearest[enough]] = label[mine[enough]]
                sure = most >= s["det_positive_overlap"]
                labels[image, sure] = label[mine[matched[sure]]]
        labels[objects < s["prob"]] = -1
        self.draw(labels)
        for image in range(images):
            top[0].data[image] = self.spread(labels[image], -1, len(every)).reshape(top[0].shape[1:])
