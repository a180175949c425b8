"""DecodeBBox: regions moved by what a detector says of them, for the next stage of a cascade."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ...device.functions import exp
from ..core import Layer, Trait


class DecodeBBox(
    Layer,
    type="DecodeBBox",
    param=("decode_bbox_param", "bbox_reg_param"),
    bottoms=(2, 3),
    tops=1,
    traits=Trait.CHOOSES_ROWS | Trait.RESTORES,
):
    """Regions moved by the offsets that a detector predicts, for the next stage of a cascade.

    Each region is moved by offset * std + mean. Its centre is the middle of its first and last pixel. In TRAIN,
    regions whose end lies before their start are left out; so are those whose overlap is `gt_iou_thr` or more,
    because they are the true boxes themselves. There is no gradient.

    makefile/frcnn has another form, with offsets (R, 4 C), scores (R, C) and regions as bottoms. Here it takes the
    offsets of the best class but the background. That program takes instead the last class with a score above the
    first one's.

    Parameters
    ----------
    bottom 0
        (R, 8), class-agnostic offsets, of which the last four are read; or (R, 4 C) in makefile/frcnn's form.
    bottom 1
        (R, 5), regions: image, xmin, ymin, xmax, ymax; or scores (R, C) in makefile/frcnn's form.
    bottom 2
        Optional, in TRAIN only: (R, C), the matched true boxes, whose last number is their overlap with the region.
        In makefile/frcnn's form: the regions (R, 5).
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0) and `bbox_std` (1, 1, 1, 1), four numbers each.
    decode_bbox_param
        `gt_iou_thr` (0.95): the overlap from which a region counts as a true box.

    Returns
    -------
    top 0
        (K, 5), the moved regions: image, xmin, ymin, xmax, ymax.

    Raises
    ------
    LayerError
        For offsets that are not (R, 8), regions that are not (R, 5), scores of fewer than two classes, bottoms with
        different numbers of rows, a third bottom outside TRAIN, or a `bbox_mean` or `bbox_std` that is not four
        numbers, std above 0.

    Source
    ------
    Cai and Vasconcelos 2018 (Cascade R-CNN) and its Caffe. There it is an error when no region is left.

    Examples
    --------
    Both regions move by half of their width; in TRAIN the second one is left out as a true box:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DecodeBBox" decode_bbox_param { gt_iou_thr: 0.95 }'
    >>> offsets, regions, matched = [[0, 0, 0, 0, 0.5, 0, 0, 0]] * 2, [[0, 10, 10, 19, 19]] * 2, [[0.5], [1]]
    >>> run_layer(text, offsets, regions).tolist()
    [[0.0, 15.0, 10.0, 24.0, 19.0], [0.0, 15.0, 10.0, 24.0, 19.0]]
    >>> run_layer(text, offsets, regions, matched, phase="TRAIN").tolist()
    [[0.0, 15.0, 10.0, 24.0, 19.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        if self.phase == "TEST":
            self.traits &= ~Trait.CHOOSES_ROWS  # all rows stay
        p = self.param.bbox_reg_param
        self.mean, self.std = np.zeros(4), np.ones(4)
        if p.bbox_mean and p.bbox_std:
            self.need(
                len(p.bbox_mean) == len(p.bbox_std) == 4 and min(p.bbox_std) > 0,
                f"bbox_mean and bbox_std must be four numbers each, std above 0; got {list(p.bbox_mean)}, {list(p.bbox_std)}",
            )
            self.mean, self.std = np.array(p.bbox_mean), np.array(p.bbox_std)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = [(*blob.shape, 1)[:2] for blob in bottom]
        count = rows[0][0]
        self.by_score = len(bottom) == 3 and rows[1][1] * 4 == rows[0][1] and rows[2][1] == 5
        regions = rows[2 if self.by_score else 1]
        self.need(regions == (count, 5), f"the regions must be ({count}, 5), got {regions}")
        if self.by_score:
            self.need(rows[1][1] > 1, f"scores must be of two classes or more, got {rows[1]}")
        else:
            self.need(rows[0][1] == 8, f"bottom 0, the offsets, must be (R, 8), got {bottom[0].shape}")
            self.need(len(bottom) == 2 or self.phase == "TRAIN", "a third bottom is for TRAIN alone")
        self.need(all(row[0] == count for row in rows), f"bottoms must have the same number of rows, got {rows}")
        self.need(all(row[1] > 0 for row in rows), f"bottoms must have columns, got {rows}")
        for i, blob in enumerate(bottom):
            self.need(
                blob.shape[2:].count(1) == len(blob.shape[2:]), f"bottom {i} must be (R, C), got the shape {blob.shape}"
            )
        top[0].reshape(*bottom[2 if self.by_score else 1].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        arrays = [
            np.asarray(blob.data).reshape(blob.shape[0], blob.shape[1] if len(blob.shape) > 1 else 1) for blob in bottom
        ]
        offsets, regions = (
            arrays[0].reshape(len(arrays[0]), arrays[0].shape[1] // 4, 4),
            arrays[2 if self.by_score else 1],
        )
        which = arrays[1][:, 1:].argmax(1) + 1 if self.by_score else np.ones(len(regions), int)
        by = offsets[np.arange(len(regions)), which] * self.std.astype(self.dtype) + self.mean.astype(self.dtype)
        size = regions[:, 3:] - regions[:, 1:3] + 1
        with np.errstate(over="ignore", invalid="ignore"):
            grown = size * exp(by[:, 2:])
            start = by[:, :2] * size + (regions[:, 1:3] + regions[:, 3:]) / 2 - (grown - 1) / 2
            boxes = np.concatenate([start, start + grown - 1], 1)
        keep = np.ones(len(boxes), bool)
        if self.phase == "TRAIN":
            keep = ~((boxes[:, 0] > boxes[:, 2]) | (boxes[:, 1] > boxes[:, 3]))
            if len(arrays) == 3 and not self.by_score:
                keep &= arrays[2][:, -1] < self.param.decode_bbox_param.gt_iou_thr
        top[0].reshape(int(keep.sum()), *top[0].shape[1:])
        top[0].data[...] = np.concatenate([regions[keep, :1], boxes[keep]], 1).reshape(top[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return False
